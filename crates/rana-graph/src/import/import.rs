//! Imports files into a graph with its tasks.

use std::collections::BTreeMap;
use std::path::Path;

use super::import_options::{ImportOptions, Literals, TypeTriples};
use super::import_report::{ImportReport, Imported, SourceReport};
use super::interpreter::Interpreter;
use super::planned_sources::{Planned, plan};
use crate::format::{
    Columns, Format, FormatError, ReadOptions, Source, detect, is_release, read_facts, read_release,
    release_size,
};
use crate::graph_builder::GraphBuilder;
use crate::held_out::HeldOut;
use crate::malformed_input::MalformedInput;
use crate::observer::{Observer, Unit};
use crate::prefixes::Prefixes;
use crate::statement_batch::{Batch, BatchSender, Kind, NamedStatement, pipeline};
use crate::store::{Counts, Input};
use crate::tasks::TaskSetBuilder;

/// Imports one or several sources into one graph.
///
/// A release directory (NELL-One, Wiki-One) contains tasks and must be the only source; all other sources
/// are read one after the other into the same graph. Held-out facts are read last, so the entities and
/// relations of the graph itself have the first ids.
///
/// ```
/// use rana_graph::{ImportOptions, import, format::Source};
/// let facts = Source::Memory { name: "cities.csv".into(), bytes: b"paris,capital_of,france\n"[..].into() };
/// let imported = import(&[facts], &ImportOptions::default(), &())?;
/// assert_eq!(imported.report.counts.entities, 2);
/// # Ok::<(), rana_graph::format::FormatError>(())
/// ```
///
/// # Errors
/// At the first source that cannot be read or has no known format, and unless `lenient` at the first
/// malformed place, with file, line and column. [`FormatError::Stopped`] if `progress` asks to stop.
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
    let held_out = sources.iter().filter_map(|planned| planned.held_out);
    Ok(finish(builder, read?, held_out, options))
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

/// What was read from all sources.
pub(super) struct Read {
    pub(super) inputs: Vec<Input>,
    pub(super) reports: Vec<SourceReport>,
    pub(super) skipped: MalformedInput,
    pub(super) prefixes: Prefixes,
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
        skipped: MalformedInput::new(options.lenient),
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
            observer: progress,
            statements: 0,
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

/// Adds a batch of statements to a graph.
pub(super) fn add(builder: &mut GraphBuilder, batch: &Batch) {
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

pub(super) fn finish(
    mut builder: GraphBuilder,
    read: Read,
    held_out: impl Iterator<Item = HeldOut>,
    options: &ImportOptions,
) -> Imported {
    let (duplicates, self_loops) = (builder.duplicate_count(), builder.self_loop_count());
    let held_out = held_out.map(|part| (part, builder.held_out_report(part))).collect();
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
    let mut skipped = MalformedInput::new(options.lenient);
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
