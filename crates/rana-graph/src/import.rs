//! From outside files to a graph with its tasks.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::batch::FactBatch;
use crate::format::{
    DelimitedOptions, Format, FormatError, Literal, ReadOptions, Sink, Source, Statement, detect, is_release,
    read_facts, read_release,
};
use crate::graph::{Duplicates, Graph, GraphBuilder, LabelRank};
use crate::progress::{Progress, Unit};
use crate::store::{Counts, Input};
use crate::tasks::{TaskSet, TaskSetBuilder};

/// The relation that states a type in RDF.
pub const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
/// The relations that state a label in RDF.
pub const LABEL_RELATIONS: [&str; 2] =
    ["http://www.w3.org/2000/01/rdf-schema#label", "http://www.w3.org/2004/02/skos/core#prefLabel"];

/// What to do with literal values (numbers, dates, texts) that are no labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Literals {
    /// Leave them out, and count them.
    #[default]
    Drop,
    /// Make each distinct literal an entity, named by its N-Triples form.
    Keep,
}

/// What to do with the triples that state types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TypeTriples {
    /// They become types and stay facts of the graph.
    #[default]
    Keep,
    /// They become types only.
    Drop,
}

/// How to import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format of every source; told from content and name if not given.
    pub format: Option<Format>,
    /// How to read delimited text and which columns to take.
    pub delimited: DelimitedOptions,
    /// What to do with literals.
    pub literals: Literals,
    /// What to do with the triples that state types.
    pub type_triples: TypeTriples,
    /// Relations that state a type, beside `rdf:type` (Wikidata: `P31`).
    pub type_relations: Vec<String>,
    /// Relations that state a label, beside `rdfs:label` and `skos:prefLabel`.
    pub label_relations: Vec<String>,
    /// The language labels are wanted in; without one, labels without a language tag come first.
    pub language: Option<String>,
    /// What to do with repeated facts.
    pub duplicates: Duplicates,
    /// Skip malformed content and count it, instead of stopping at the first.
    pub lenient: bool,
}

/// What an import gives: the graph, its tasks, and an account of what was read.
#[derive(Debug)]
pub struct Imported {
    /// The graph.
    pub graph: Graph,
    /// Its tasks; none unless a release directory was read.
    pub tasks: TaskSet,
    /// The files it was made from, with their hashes.
    pub inputs: Vec<Input>,
    /// What was read, what was skipped and why.
    pub report: ImportReport,
}

/// An account of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// What was read from each source.
    pub sources: Vec<SourceReport>,
    /// What the graph holds now.
    pub counts: Counts,
    /// Facts met again; removed unless duplicates are kept.
    pub duplicates: u64,
    /// What was done with them.
    pub duplicates_policy: Duplicates,
    /// Facts that join an entity with itself; they are kept.
    pub self_loops: u64,
    /// Tasks for whose relation no candidates are listed.
    pub tasks_without_candidates: u64,
    /// Messages of the first malformed places that were skipped.
    pub first_malformed: Vec<String>,
}

/// An account of one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SourceReport {
    /// The source as it was given.
    pub name: String,
    /// The format it was read in.
    pub format: String,
    /// Its size, before decompression.
    pub bytes: u64,
    /// Statements that became facts, duplicates included.
    pub facts: u64,
    /// Statements that became labels.
    pub labels: u64,
    /// Statements that gave an entity a type.
    pub types: u64,
    /// Literal values met that are no labels.
    pub literals: u64,
    /// Literal values among them that were left out.
    pub literals_dropped: u64,
    /// Malformed places skipped.
    pub malformed: u64,
}

/// How many messages of skipped places a report keeps.
const KEPT_MESSAGES: usize = 10;

/// Imports one or several sources into one graph.
///
/// A release directory (NELL-One, Wiki-One) comes alone and brings its tasks; all other sources
/// are read one after the other into the same graph.
///
/// ```
/// use rana_graph::{ImportOptions, import, format::Source};
/// let facts = Source::Memory { name: "cities.csv".into(), bytes: b"paris,capital_of,france\n" };
/// let imported = import(&[facts], &ImportOptions::default(), &())?;
/// assert_eq!(imported.report.counts.entities, 2);
/// # Ok::<(), rana_graph::format::FormatError>(())
/// ```
///
/// # Errors
/// At the first source that cannot be read or understood, and unless `lenient` at the first
/// malformed place, with file, line and column.
pub fn import(
    sources: &[Source],
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<Imported, FormatError> {
    if let Some(directory) = release_directory(sources, options)? {
        return import_release(directory, options, progress);
    }
    let sources = expand_directories(sources)?;
    let total = sources.iter().map(Source::size).sum::<Option<u64>>();
    progress.begin("reading", total, Unit::Bytes);
    let mut importer = Importer::new(options);
    let mut inputs = Vec::with_capacity(sources.len());
    for (number, source) in sources.iter().enumerate() {
        inputs.push(importer.read(number, source, progress)?);
    }
    progress.end();
    Ok(importer.finish(inputs))
}

/// The release directory among the sources, if there is one; it must be alone.
fn release_directory<'s>(
    sources: &'s [Source],
    options: &ImportOptions,
) -> Result<Option<&'s Path>, FormatError> {
    let asked = options.format == Some(Format::Release);
    let found = sources.iter().filter_map(Source::path).find(|path| asked || is_release(path));
    match found {
        Some(path) if sources.len() > 1 => Err(FormatError::Release {
            file: path.display().to_string(),
            problem: "a release directory brings its own tasks, so it must be the only source".to_owned(),
        }),
        Some(path) if options.format.is_some_and(|format| format != Format::Release) => {
            Err(FormatError::Release {
                file: path.display().to_string(),
                problem:
                    "this is a release directory; leave --format out, or give the files in it one by one"
                        .to_owned(),
            })
        }
        found => Ok(found),
    }
}

/// The names under which a directory may keep the splits of a link-prediction benchmark.
const SPLIT_FILES: [&str; 3] = ["train", "valid", "test"];

/// Replaces directories by the fact files in them: `train`, `valid` and `test` with any ending.
fn expand_directories(sources: &[Source]) -> Result<Vec<Source>, FormatError> {
    let mut expanded = Vec::new();
    for source in sources {
        match source.path() {
            Some(path) if path.is_dir() => expanded.extend(split_files(path)?.into_iter().map(Source::Path)),
            _ => expanded.push(source.clone()),
        }
    }
    Ok(expanded)
}

fn split_files(directory: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let name = directory.display().to_string();
    let entries = std::fs::read_dir(directory).map_err(FormatError::io(&name, "list the directory"))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    let stem = |path: &PathBuf| {
        path.file_name().and_then(|n| n.to_str()).and_then(|n| n.split('.').next()).map(str::to_owned)
    };
    let found: Vec<PathBuf> = SPLIT_FILES
        .iter()
        .flat_map(|split| files.iter().filter(|path| stem(path).as_deref() == Some(split)).cloned())
        .collect();
    if found.is_empty() {
        return Err(FormatError::Unrecognised {
            file: name,
            problem:
                "a directory with neither `path_graph` (a release) nor train, valid and test files. Give the \
                      files themselves"
                    .to_owned(),
        });
    }
    Ok(found)
}

/// Collects what the readers find.
struct Importer<'o> {
    options: &'o ImportOptions,
    builder: GraphBuilder,
    batch: FactBatch,
    sources: Vec<SourceReport>,
    current: SourceReport,
    malformed: Skipped,
}

impl<'o> Importer<'o> {
    fn new(options: &'o ImportOptions) -> Self {
        Self {
            options,
            builder: GraphBuilder::new(options.duplicates),
            batch: FactBatch::default(),
            sources: Vec::new(),
            current: SourceReport::default(),
            malformed: Skipped::new(options.lenient),
        }
    }

    fn read(
        &mut self,
        number: usize,
        source: &Source,
        progress: &dyn Progress,
    ) -> Result<Input, FormatError> {
        let mut open = source.open(progress)?;
        let format = match self.options.format {
            Some(format) => format,
            None => detect(&open)?,
        };
        self.current =
            SourceReport { name: source.name(), format: format.to_string(), ..SourceReport::default() };
        let options =
            ReadOptions { delimited: &self.options.delimited, number, lenient: self.options.lenient };
        let skipped_before = self.malformed.count;
        read_facts(format, &mut open, &options, self)?;
        self.flush();
        let (bytes, sha256) = open.finish()?;
        self.current.bytes = bytes;
        self.current.malformed = self.malformed.count - skipped_before;
        self.sources.push(std::mem::take(&mut self.current));
        Ok(Input { name: source.name(), format: format.to_string(), bytes, sha256 })
    }

    fn fact(&mut self, head: &str, relation: &str, tail: &str) {
        if relation == RDF_TYPE || self.options.type_relations.iter().any(|name| name == relation) {
            self.current.types += 1;
            let entity = self.builder.intern_entity(head);
            self.builder.add_type(entity, tail);
            if self.options.type_triples == TypeTriples::Drop {
                return;
            }
        } else if self.options.label_relations.iter().any(|name| name == relation) {
            // Tables cannot mark literals, so a label may come as the tail of a fact.
            self.current.labels += 1;
            self.builder.add_label(head, tail, LabelRank::Untagged);
            return;
        }
        self.add(head, relation, tail);
    }

    fn add(&mut self, head: &str, relation: &str, tail: &str) {
        self.current.facts += 1;
        if self.batch.push([head, relation, tail], None) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let facts: Vec<[&str; 3]> = self.batch.facts().into_iter().map(|(fact, _)| fact).collect();
        self.builder.add_batch(&facts);
        self.batch.clear();
    }

    fn literal(&mut self, head: &str, relation: &str, literal: Literal<'_>) {
        let is_label = LABEL_RELATIONS.contains(&relation)
            || self.options.label_relations.iter().any(|name| name == relation);
        if is_label {
            self.current.labels += 1;
            let rank = label_rank(self.options.language.as_deref(), literal.language);
            self.builder.add_label(head, literal.value, rank);
            return;
        }
        self.current.literals += 1;
        match self.options.literals {
            Literals::Drop => self.current.literals_dropped += 1,
            Literals::Keep => {
                self.add(head, relation, literal.name);
            }
        }
    }

    fn finish(self, inputs: Vec<Input>) -> Imported {
        let Self { options, builder, sources, malformed, .. } = self;
        let (duplicates, self_loops) = (builder.duplicate_count(), builder.self_loop_count());
        let graph = builder.finish();
        let tasks = TaskSetBuilder::default().finish();
        let report = ImportReport {
            sources,
            counts: Counts::of(&graph, &tasks),
            duplicates,
            duplicates_policy: options.duplicates,
            self_loops,
            tasks_without_candidates: 0,
            first_malformed: malformed.messages,
        };
        Imported { graph, tasks, inputs, report }
    }
}

impl Sink for Importer<'_> {
    fn statement(&mut self, statement: Statement<'_>, _: Option<u64>) -> Result<(), FormatError> {
        match statement {
            Statement::Fact { head, relation, tail } => self.fact(head, relation, tail),
            Statement::Literal { head, relation, literal } => self.literal(head, relation, literal),
        }
        Ok(())
    }

    fn malformed(&mut self, error: FormatError) -> Result<(), FormatError> {
        self.malformed.take(error)
    }
}

/// Counts malformed places under `lenient`, stops at the first otherwise.
struct Skipped {
    lenient: bool,
    count: u64,
    messages: Vec<String>,
}

impl Skipped {
    fn new(lenient: bool) -> Self {
        Self { lenient, count: 0, messages: Vec::new() }
    }

    fn take(&mut self, error: FormatError) -> Result<(), FormatError> {
        if !self.lenient {
            return Err(error);
        }
        self.count += 1;
        if self.messages.len() < KEPT_MESSAGES {
            self.messages.push(error.to_string());
        }
        Ok(())
    }
}

fn label_rank(wanted: Option<&str>, language: Option<&str>) -> LabelRank {
    match (wanted, language) {
        (Some(wanted), Some(language)) if language.eq_ignore_ascii_case(wanted) => LabelRank::Wanted,
        (_, None) => LabelRank::Untagged,
        _ => LabelRank::Foreign,
    }
}

fn import_release(
    directory: &Path,
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<Imported, FormatError> {
    progress.begin("reading", None, Unit::Bytes);
    let mut skipped = Skipped::new(options.lenient);
    let release = read_release(directory, options.duplicates, progress, &mut |error| skipped.take(error))?;
    progress.end();
    let labels =
        release.graph.entities().filter(|&entity| release.graph.entity_label(entity).is_some()).count();
    let report = ImportReport {
        sources: vec![SourceReport {
            name: directory.display().to_string(),
            format: Format::Release.to_string(),
            bytes: release.inputs.iter().map(|input| input.bytes).sum(),
            facts: release.facts_read,
            labels: labels as u64,
            types: release.graph.entities().map(|entity| release.graph.types(entity).len() as u64).sum(),
            malformed: skipped.count,
            ..SourceReport::default()
        }],
        counts: Counts::of(&release.graph, &release.tasks),
        duplicates: release.duplicates,
        duplicates_policy: options.duplicates,
        self_loops: release.self_loops,
        tasks_without_candidates: release.tasks.iter().filter(|task| task.candidates.is_empty()).count()
            as u64,
        first_malformed: skipped.messages,
    };
    Ok(Imported { graph: release.graph, tasks: release.tasks, inputs: release.inputs, report })
}
