//! Imports files into a graph with its tasks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::format::{
    Columns, DelimitedOptions, Format, FormatError, Literal, ReadOptions, Sink, Source, Statement, detect,
    is_release, read_facts, read_release, release_size,
};
use crate::graph::Graph;
use crate::graph_builder::{Duplicates, GraphBuilder, LabelRank};
use crate::held_out::{HeldOut, HeldOutReport};
use crate::observer::{Observer, Unit};
use crate::prefixes::Prefixes;
use crate::skipped::Skipped;
use crate::statement_batch::{Batch, BatchSender, Disconnected, Kind, NamedStatement, pipeline};
use crate::store::{Counts, Input, Store};
use crate::tasks::{TaskSet, TaskSetBuilder};

/// The relation that states a type in RDF.
pub const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
/// The relations that state a label in RDF.
pub const LABEL_RELATIONS: [&str; 2] =
    ["http://www.w3.org/2000/01/rdf-schema#label", "http://www.w3.org/2004/02/skos/core#prefLabel"];

/// What to do with literal values (numbers, dates, texts) that are not labels.
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
    /// The format of every source; detected from content and name if not set.
    pub format: Option<Format>,
    /// How to read delimited text and which columns to take.
    pub delimited: DelimitedOptions,
    /// What to do with literals.
    pub literals: Literals,
    /// What to do with the triples that state types.
    pub type_triples: TypeTriples,
    /// Relations that state a type, in addition to `rdf:type` (Wikidata: `P31`).
    pub type_relations: Vec<String>,
    /// Relations that state a label, in addition to `rdfs:label` and `skos:prefLabel`.
    pub label_relations: Vec<String>,
    /// The wanted language of labels. If it is not set, labels without a language tag are preferred.
    pub language: Option<String>,
    /// What to do with repeated facts.
    pub duplicates: Duplicates,
    /// Skip malformed content and count it, instead of stopping at the first.
    pub lenient: bool,
    /// Sources of facts to hold out for validation, read after the main ones in the same way.
    pub valid: Vec<Source>,
    /// Sources of facts to hold out for testing, read last.
    pub test: Vec<Source>,
    /// Hold out the `valid` and `test` files of source directories, instead of reading them into
    /// the graph.
    pub splits: bool,
    /// How many bytes a compressed source may have after decompression; any number if not set.
    pub max_decompressed: Option<u64>,
}

/// The result of an import: the graph, its tasks, and a report.
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

/// What an import has read and skipped.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// What was read from each source.
    pub sources: Vec<SourceReport>,
    /// Counts of the imported graph.
    pub counts: Counts,
    /// Repeated facts; removed unless duplicates are kept.
    pub duplicates: u64,
    /// What was done with them.
    pub duplicates_policy: Duplicates,
    /// Facts that join an entity with itself; they are kept.
    pub self_loops: u64,
    /// Counts of the held-out facts, for each list that has a source.
    pub held_out: BTreeMap<HeldOut, HeldOutReport>,
    /// Tasks whose relation has no candidates.
    pub tasks_without_candidates: u64,
    /// Messages of the first malformed places that were skipped.
    pub first_malformed: Vec<String>,
}

/// What an import has read from one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SourceReport {
    /// The source as it was given.
    pub name: String,
    /// The format it was read in.
    pub format: String,
    /// The list of held-out facts it was read into, none if it was read into the graph.
    pub held_out: Option<HeldOut>,
    /// Its size, before decompression.
    pub bytes: u64,
    /// Statements that became facts, duplicates included.
    pub facts: u64,
    /// Statements that became labels.
    pub labels: u64,
    /// Statements that gave an entity a type.
    pub types: u64,
    /// Literal values that are not labels.
    pub literals: u64,
    /// Literal values among them that were left out.
    pub literals_dropped: u64,
    /// Malformed places skipped.
    pub malformed: u64,
}

/// Imports one or several sources into one graph.
///
/// A release directory (NELL-One, Wiki-One) contains tasks and must be the only source; all other sources
/// are read one after the other into the same graph. Held-out facts are read last, so the entities and
/// relations of the graph itself have the first ids.
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
/// At the first source that cannot be read or has no known format, and unless `lenient` at the first
/// malformed place, with file, line and column.
pub fn import(
    sources: &[Source],
    options: &ImportOptions,
    progress: &dyn Observer,
) -> Result<Imported, FormatError> {
    if let Some(directory) = release_directory(sources, options)? {
        return import_release(directory, options, progress);
    }
    let sources = plan(sources, options)?;
    let total = sources.iter().map(|planned| planned.source.size()).sum::<Option<u64>>();
    progress.begin("reading", total, Unit::Bytes);
    let mut builder = GraphBuilder::new(options.duplicates);
    let read = pipeline(
        |sender| read_sources(&sources, options, progress, sender),
        |batch| {
            add(&mut builder, batch);
            Ok(())
        },
    );
    progress.end();
    Ok(finish(builder, read?, &sources, options))
}

/// The release directory among the sources, if there is one; it must be the only source.
fn release_directory<'s>(
    sources: &'s [Source],
    options: &ImportOptions,
) -> Result<Option<&'s Path>, FormatError> {
    let is_set = options.format == Some(Format::Release);
    let found = sources.iter().filter_map(Source::path).find(|path| is_set || is_release(path));
    match found {
        Some(path) if sources.len() > 1 => Err(FormatError::Release {
            file: path.display().to_string(),
            problem: "a release directory contains tasks, so it must be the only source".to_owned(),
        }),
        found => Ok(found),
    }
}

/// A source that is not a directory, and where its facts go.
struct Planned {
    source: Source,
    /// The list its facts are held out in, none if they go into the graph.
    held_out: Option<HeldOut>,
}

/// The files to read in their order: those of the graph, then those held out.
fn plan(sources: &[Source], options: &ImportOptions) -> Result<Vec<Planned>, FormatError> {
    let mut planned = Vec::new();
    for source in sources {
        planned.extend(expand(source, None, options.splits)?);
    }
    for (part, sources) in [(HeldOut::Valid, &options.valid), (HeldOut::Test, &options.test)] {
        for source in sources {
            planned.extend(expand(source, Some(part), false)?);
        }
    }
    // The sort is stable: within the graph and within each list the order stays.
    planned.sort_by_key(|planned| planned.held_out);
    Ok(planned)
}

/// The names under which a directory may keep the splits of a link-prediction benchmark.
const SPLIT_FILES: [(&str, Option<HeldOut>); 3] =
    [("train", None), ("valid", Some(HeldOut::Valid)), ("test", Some(HeldOut::Test))];

/// A source itself, or the fact files in a directory: `train`, `valid` and `test` with any ending.
///
/// With `splits` each goes to the list of its name, otherwise all go to `held_out`.
fn expand(source: &Source, held_out: Option<HeldOut>, splits: bool) -> Result<Vec<Planned>, FormatError> {
    if let Some(path) = source.path().filter(|path| Store::is_store(path)) {
        return Err(FormatError::IsStore { file: path.display().to_string() });
    }
    let Some(directory) = source.path().filter(|path| path.is_dir()) else {
        if splits {
            return Err(FormatError::Splits {
                file: source.name(),
                problem: "splits are looked for in a directory with train, valid and test files. Name single files \
                          to hold out one by one",
            });
        }
        return Ok(vec![Planned { source: source.clone(), held_out }]);
    };
    let found: Vec<Planned> = split_files(directory)?
        .into_iter()
        .map(|(path, part)| Planned {
            source: Source::Path(path),
            held_out: if splits { part } else { held_out },
        })
        .collect();
    let has = |wanted: fn(&Planned) -> bool| found.iter().any(wanted);
    if splits && !(has(|file| file.held_out.is_none()) && has(|file| file.held_out.is_some())) {
        return Err(FormatError::Splits {
            file: source.name(),
            problem: "the splits need a train file, and a valid or a test file beside it",
        });
    }
    Ok(found)
}

fn split_files(directory: &Path) -> Result<Vec<(PathBuf, Option<HeldOut>)>, FormatError> {
    let name = directory.display().to_string();
    let entries = std::fs::read_dir(directory).map_err(FormatError::io(&name, "list the directory"))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    let stem = |path: &PathBuf| {
        path.file_name().and_then(|n| n.to_str()).and_then(|n| n.split('.').next()).map(str::to_owned)
    };
    let mut found = Vec::new();
    for (split, part) in SPLIT_FILES {
        let files = files.iter().filter(|path| stem(path).as_deref() == Some(split));
        found.extend(files.map(|path| (path.clone(), part)));
    }
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

/// What was read from all sources.
struct Read {
    inputs: Vec<Input>,
    reports: Vec<SourceReport>,
    skipped: Skipped,
    prefixes: Prefixes,
}

/// Reads one source after the other and sends their statements to the thread that builds the graph.
fn read_sources(
    sources: &[Planned],
    options: &ImportOptions,
    progress: &dyn Observer,
    sender: &mut BatchSender,
) -> Result<Read, FormatError> {
    let mut read = Read {
        inputs: Vec::new(),
        reports: Vec::new(),
        skipped: Skipped::new(options.lenient),
        prefixes: Prefixes::default(),
    };
    for (number, Planned { source, held_out }) in sources.iter().enumerate() {
        let mut open = source.open(options.max_decompressed, progress)?;
        let format = match options.format {
            Some(format) => format,
            None => detect(&open)?,
        };
        let report = SourceReport {
            name: source.name(),
            format: format.to_string(),
            held_out: *held_out,
            ..SourceReport::default()
        };
        let mut interpreter = Interpreter {
            options,
            format,
            report,
            skipped: read.skipped.with_same_policy(),
            prefixes: &mut read.prefixes,
            sender,
        };
        let read_options = ReadOptions { delimited: &options.delimited, number };
        read_facts(format, &mut open, &read_options, &mut interpreter)?;
        let Interpreter { report, skipped, .. } = interpreter;
        let (bytes, sha256) = open.finish()?;
        read.reports.push(SourceReport { bytes, malformed: skipped.count, ..report });
        read.skipped.absorb(skipped);
        read.inputs.push(Input { name: source.name(), format: format.to_string(), bytes, sha256 });
    }
    Ok(read)
}

/// Decides what each statement of a source means, and counts them.
struct Interpreter<'a> {
    options: &'a ImportOptions,
    format: Format,
    report: SourceReport,
    skipped: Skipped,
    prefixes: &'a mut Prefixes,
    sender: &'a mut BatchSender,
}

impl Interpreter<'_> {
    fn fact(&mut self, names: [&str; 3]) -> Result<(), Disconnected> {
        let [head, relation, tail] = names;
        if relation == RDF_TYPE || self.options.type_relations.iter().any(|name| name == relation) {
            // The type of a held-out fact must not be known to the graph.
            if self.report.held_out.is_none() {
                self.report.types += 1;
                self.send(Kind::Type, names)?;
            }
            if self.options.type_triples == TypeTriples::Drop {
                return Ok(());
            }
        } else if self.is_label_in_a_table(relation) {
            // Tables cannot mark literals, so a label is the tail of a fact.
            self.report.labels += 1;
            return self.send(Kind::Label(LabelRank::Untagged), [head, "", tail]);
        }
        self.keep(names)
    }

    fn keep(&mut self, names: [&str; 3]) -> Result<(), Disconnected> {
        self.report.facts += 1;
        self.send(self.report.held_out.map_or(Kind::Fact, Kind::HeldOut), names)
    }

    fn is_label_in_a_table(&self, relation: &str) -> bool {
        self.options.label_relations.iter().any(|name| name == relation)
            || (!self.format.is_rdf() && LABEL_RELATIONS.contains(&relation))
    }

    fn literal(&mut self, head: &str, relation: &str, literal: Literal<'_>) -> Result<(), Disconnected> {
        let is_label = LABEL_RELATIONS.contains(&relation)
            || self.options.label_relations.iter().any(|name| name == relation);
        if is_label {
            self.report.labels += 1;
            let rank = label_rank(self.options.language.as_deref(), literal.language);
            return self.send(Kind::Label(rank), [head, "", literal.value]);
        }
        self.report.literals += 1;
        match self.options.literals {
            Literals::Drop => {
                self.report.literals_dropped += 1;
                Ok(())
            }
            Literals::Keep => self.keep([head, relation, literal.name]),
        }
    }

    fn send(&mut self, kind: Kind, names: [&str; 3]) -> Result<(), Disconnected> {
        self.sender.push(kind, names, None)
    }
}

impl Sink for Interpreter<'_> {
    fn statement(&mut self, statement: Statement<'_>, _: Option<u64>) -> Result<(), FormatError> {
        let sent = match statement {
            Statement::Fact { head, relation, tail } => self.fact([head, relation, tail]),
            Statement::Literal { head, relation, literal } => self.literal(head, relation, literal),
        };
        sent.map_err(|Disconnected| FormatError::disconnected())
    }

    fn malformed(&mut self, error: FormatError) -> Result<(), FormatError> {
        self.skipped.skip_or_fail(error)
    }

    fn prefix(&mut self, prefix: &str, namespace: &str) {
        self.prefixes.declare(prefix, namespace);
    }
}

/// Adds a batch of statements to a graph.
fn add(builder: &mut GraphBuilder, batch: &Batch) {
    builder.add_batch(batch);
    for NamedStatement { kind, names: [name, relation, value], .. } in batch.iter() {
        match kind {
            Kind::Fact => {}
            Kind::HeldOut(part) => {
                builder.add_held_out_named(part, name, relation, value);
            }
            Kind::Type => {
                let entity = builder.intern_entity(name);
                builder.add_type(entity, value);
                builder.add_type_relation(relation);
            }
            Kind::Label(rank) => builder.add_label(name, value, rank),
        }
    }
}

fn finish(mut builder: GraphBuilder, read: Read, sources: &[Planned], options: &ImportOptions) -> Imported {
    let (duplicates, self_loops) = (builder.duplicate_count(), builder.self_loop_count());
    let asked = sources.iter().filter_map(|planned| planned.held_out);
    let held_out = asked.map(|part| (part, builder.held_out_report(part))).collect();
    builder.set_prefixes(read.prefixes);
    let graph = builder.finish();
    let tasks = TaskSetBuilder::default().finish();
    let report = ImportReport {
        sources: read.reports,
        counts: Counts::of(&graph, &tasks),
        duplicates,
        duplicates_policy: options.duplicates,
        self_loops,
        held_out,
        tasks_without_candidates: 0,
        first_malformed: read.skipped.messages,
    };
    Imported { graph, tasks, inputs: read.inputs, report }
}

fn label_rank(wanted: Option<&str>, language: Option<&str>) -> LabelRank {
    match (wanted, language) {
        (Some(wanted), Some(language)) if language.eq_ignore_ascii_case(wanted) => LabelRank::Wanted,
        (Some(wanted), Some(language)) if is_regional(language, wanted) => LabelRank::Regional,
        (_, None) => LabelRank::Untagged,
        _ => LabelRank::Foreign,
    }
}

/// Whether a language tag is a longer form of another: `en-GB` of `en`.
fn is_regional(language: &str, wanted: &str) -> bool {
    match (language.get(..wanted.len()), language.get(wanted.len()..)) {
        (Some(begin), Some(rest)) => begin.eq_ignore_ascii_case(wanted) && rest.starts_with('-'),
        _ => false,
    }
}

/// Fails if an option is set that would be ignored, because the files of a release have fixed meanings.
fn refuse_options(directory: &Path, options: &ImportOptions) -> Result<(), FormatError> {
    let given = [
        ("format", options.format.is_some_and(|format| format != Format::Release)),
        ("splits", options.splits),
        ("valid", !options.valid.is_empty()),
        ("test", !options.test.is_empty()),
        ("type_relations", !options.type_relations.is_empty()),
        ("label_relations", !options.label_relations.is_empty()),
        ("literals", options.literals != Literals::default()),
        ("type_triples", options.type_triples != TypeTriples::default()),
        ("language", options.language.is_some()),
        ("delimited.delimiter", options.delimited.delimiter.is_some()),
        ("delimited.columns", options.delimited.columns != Columns::default()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(FormatError::ReleaseOption { file: directory.display().to_string(), option })
        }
        None => Ok(()),
    }
}

fn import_release(
    directory: &Path,
    options: &ImportOptions,
    progress: &dyn Observer,
) -> Result<Imported, FormatError> {
    refuse_options(directory, options)?;
    progress.begin("reading", Some(release_size(directory)), Unit::Bytes);
    let mut skipped = Skipped::new(options.lenient);
    let release = read_release(directory, options.duplicates, progress, &mut skipped)?;
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
        held_out: BTreeMap::new(),
        tasks_without_candidates: release.tasks.iter().filter(|task| task.candidates.is_empty()).count()
            as u64,
        first_malformed: skipped.messages,
    };
    Ok(Imported { graph: release.graph, tasks: release.tasks, inputs: release.inputs, report })
}
