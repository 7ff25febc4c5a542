//! `rana import`: reads files into a graph store.

use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Instant;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use rana::graph::format::{Column, Columns, DelimitedOptions, Format, Header, Source};
use rana::graph::{
    Duplicates, HeldOut, ImportOptions, ImportReport, Imported, Literals, Store, TypeTriples, import,
};
use serde::Serialize;

use crate::error::CliError;
use crate::human_numbers::{bytes, size, thousands};
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::table;

/// Read a graph in any supported format into a graph store.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana import facts.tsv --out kg
  rana import graph.nt.gz labels.ttl --out kg --language en
  rana import edges.csv --columns h,t,r --out kg
  rana import edges.parquet --head subj --relation pred --tail obj --out kg
  zcat dump.nt.gz | rana import - --format ntriples --out kg
  rana import FB15k-237 --splits --out fb     (train is the graph, valid and test are held out)
  rana import NELL-One --out nell      (a release directory: its tasks come along)

Formats: delimited text (TSV, CSV, any delimiter), N-Triples, N-Quads, Turtle, TriG, RDF/XML, \
Parquet, and the NELL-One release directory. gzip and zstd are decompressed. The format is detected \
from the content and the file name.

Literals (numbers, dates, texts) are left out and counted, unless --literals keep makes each one \
an entity. rdfs:label and skos:prefLabel become labels, rdf:type becomes types.

Held-out facts (--valid, --test, --splits) are stored with the graph to evaluate vectors. They \
are not part of it.")]
pub(crate) struct ImportArgs {
    /// Files, directories, or `-` for standard input.
    #[arg(required = true, value_name = "SRC", value_hint = ValueHint::AnyPath)]
    sources: Vec<PathBuf>,
    /// The graph store to write; an existing store is replaced.
    #[arg(long, value_name = "KG", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// The format of the sources, instead of detecting it: tsv, csv, ntriples, nquads, turtle, trig, rdfxml, parquet,
    /// nell-one.
    #[arg(long)]
    format: Option<FormatArg>,
    /// Skip and count malformed content, instead of stopping at the first error.
    #[arg(long)]
    lenient: bool,
    /// What to do with repeated facts.
    #[arg(long, default_value = "remove", value_parser = duplicates())]
    duplicates: Duplicates,

    /// A file of facts to hold out for validation. May be repeated.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = "Held-out facts")]
    valid: Vec<PathBuf>,
    /// A file of facts to hold out for testing. May be repeated.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = "Held-out facts")]
    test: Vec<PathBuf>,
    /// In a directory with train, valid and test files, hold out valid and test; without this option all of them
    /// become the graph.
    #[arg(long, help_heading = "Held-out facts")]
    splits: bool,

    /// The character between columns (`tab`, `,`, …), instead of detecting it from the first lines.
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Tables")]
    delimiter: Option<u8>,
    /// Whether the first line names the columns.
    #[arg(long, default_value = "auto", value_parser = header(), help_heading = "Tables")]
    header: Header,
    /// The order of the columns, with `_` for a column to skip; for instance `h,t,r` or `h,r,t,_`.
    #[arg(long, value_parser = Columns::from_order, conflicts_with_all = ["head", "relation", "tail"], help_heading = "Tables")]
    columns: Option<Columns>,
    /// The column of heads: its name or its number, counted from one.
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    head: Option<Column>,
    /// The column of relations.
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    relation: Option<Column>,
    /// The column of tails.
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    tail: Option<Column>,

    /// How large a compressed file may be after decompression, such as 20G; any size if not given.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_decompressed: Option<u64>,
    /// What to do with literals that are not labels: leave them out, or make each one an entity.
    #[arg(long, default_value = "drop", value_parser = literals(), help_heading = "Meaning")]
    literals: Literals,
    /// Whether triples that state a type are also kept as facts.
    #[arg(long, default_value = "keep", value_parser = type_triples(), help_heading = "Meaning")]
    type_triples: TypeTriples,
    /// A relation that states a type, in addition to rdf:type (Wikidata: P31). May be repeated.
    #[arg(long, value_name = "NAME", help_heading = "Meaning")]
    type_relation: Vec<String>,
    /// A relation that states a label, in addition to rdfs:label and skos:prefLabel. May be repeated.
    #[arg(long, value_name = "NAME", help_heading = "Meaning")]
    label_relation: Vec<String>,
    /// The preferred language of labels, such as `en`.
    #[arg(long, value_name = "TAG", help_heading = "Meaning")]
    language: Option<String>,
}

impl ImportArgs {
    fn options(&self) -> ImportOptions {
        let columns = self.columns.clone().unwrap_or(Columns {
            head: self.head.clone(),
            relation: self.relation.clone(),
            tail: self.tail.clone(),
        });
        ImportOptions {
            format: self.format.map(|format| format.format),
            delimited: DelimitedOptions {
                delimiter: self.delimiter.or(self.format.and_then(|format| format.delimiter)),
                header: self.header,
                columns,
            },
            literals: self.literals,
            type_triples: self.type_triples,
            type_relations: self.type_relation.clone(),
            label_relations: self.label_relation.clone(),
            language: self.language.clone(),
            duplicates: self.duplicates,
            lenient: self.lenient,
            valid: sources(&self.valid),
            test: sources(&self.test),
            splits: self.splits,
            max_decompressed: self.max_decompressed,
        }
    }
}

fn sources(arguments: &[PathBuf]) -> Vec<Source> {
    arguments.iter().map(Source::from_argument).collect()
}

pub(crate) fn run(args: &ImportArgs, terminal: &Terminal) -> Result<(), CliError> {
    let given = [&args.sources, &args.valid, &args.test];
    if given.into_iter().flatten().filter(|source| source.as_os_str() == "-").count() > 1 {
        return Err(CliError::Usage("standard input (`-`) can be given only once".to_owned()));
    }
    let start = Instant::now();
    let imported = import(&sources(&args.sources), &args.options(), &terminal.progress())?;
    let account = ImportAccount {
        store: args.out.display().to_string(),
        replaced: Store::is_store(&args.out),
        seconds: start.elapsed().as_secs_f64(),
        report: &imported.report,
    };
    let busy = terminal.busy("writing the store");
    store(&imported, &args.out)?;
    drop(busy);
    warn(&imported.report, terminal);
    let account = ImportAccount { seconds: start.elapsed().as_secs_f64(), ..account };
    terminal.account(&account, |out| print(&account, out))
}

/// Warns about content that is well formed but probably a mistake.
fn warn(report: &ImportReport, terminal: &Terminal) {
    if report.counts.triples == 0 {
        let literals: u64 = report.sources.iter().map(|source| source.literals_dropped).sum();
        let reason = if literals > 0 { "; all values are literals, see --literals keep" } else { "" };
        terminal.warn(&format!("no fact was read{reason}"));
    }
    for (part, held_out) in &report.held_out {
        if held_out.in_graph > 0 {
            let facts = thousands(held_out.in_graph);
            terminal.warn(&format!(
                "{facts} facts held out for {part} are also in the graph, so results on them will be too good"
            ));
        }
    }
    let tasks = &report.counts.tasks;
    if tasks.values().any(|split| split.relations > 0) {
        for (split, _) in tasks.iter().filter(|(_, split)| split.relations == 0) {
            terminal.warn(&format!("there is no {split} task"));
        }
    }
    let without_candidates = report.tasks_without_candidates;
    if without_candidates > 0 {
        terminal.warn(&format!(
            "{without_candidates} tasks have no candidates (rel2candidates.json does not list them)"
        ));
    }
}

/// Writes an imported graph to its store.
pub(crate) fn store(imported: &Imported, path: &std::path::Path) -> Result<(), CliError> {
    Store::write(path, &imported.graph, &imported.tasks, imported.inputs.clone())?;
    Ok(())
}

#[derive(Serialize)]
struct ImportAccount<'a> {
    store: String,
    replaced: bool,
    seconds: f64,
    #[serde(flatten)]
    report: &'a ImportReport,
}

fn print(account: &ImportAccount<'_>, out: &mut dyn Write) -> io::Result<()> {
    let rate = account.report.sources.iter().map(|source| source.facts).sum::<u64>() as f64
        / account.seconds.max(1e-9);
    print_report(account.report, out)?;
    let replaced = if account.replaced { "replaced" } else { "wrote" };
    writeln!(
        out,
        "{replaced} {BOLD}{}{BOLD:#} {DIM}in {:.2} s ({} facts/s){DIM:#}",
        account.store,
        account.seconds,
        thousands(rate as u64)
    )
}

/// Prints what was read, what was skipped and why.
pub(crate) fn print_report(report: &ImportReport, out: &mut dyn Write) -> io::Result<()> {
    let rows = report.sources.iter().map(|source| {
        [
            source.name.clone(),
            source.held_out.map_or("graph", HeldOut::name).to_owned(),
            source.format.clone(),
            bytes(source.bytes),
            thousands(source.facts),
            thousands(source.labels),
            thousands(source.types),
            thousands(source.literals_dropped),
            thousands(source.malformed),
        ]
    });
    let titles =
        ["read", "as", "format", "#size", "#facts", "#labels", "#types", "#literals left out", "#malformed"];
    writeln!(out, "{}", table(titles, rows))?;
    for message in &report.first_malformed {
        writeln!(out, "  skipped: {message}")?;
    }
    let (done, duplicates) = match report.duplicates_policy {
        Duplicates::Remove => ("removed", report.duplicates),
        Duplicates::Keep => ("kept", report.duplicates),
    };
    writeln!(
        out,
        "{BOLD}{}{BOLD:#} entities, {BOLD}{}{BOLD:#} relations, {BOLD}{}{BOLD:#} facts; duplicates {done}: {}, self-loops kept: {}",
        thousands(report.counts.entities),
        thousands(report.counts.relations),
        thousands(report.counts.triples),
        thousands(duplicates),
        thousands(report.self_loops),
    )?;
    for (part, held_out) in &report.held_out {
        writeln!(
            out,
            "held out for {part}: {BOLD}{}{BOLD:#} facts; {} duplicates {done}, {} also in the graph, \
             {} new entities, {} new relations",
            thousands(held_out.facts),
            thousands(held_out.duplicates),
            thousands(held_out.in_graph),
            thousands(held_out.new_entities),
            thousands(held_out.new_relations),
        )?;
    }
    if report.counts.tasks.values().any(|tasks| tasks.relations > 0) {
        let tasks = report.counts.tasks.iter().map(|(split, tasks)| {
            format!("{split} {} relations with {} facts", thousands(tasks.relations), thousands(tasks.facts))
        });
        writeln!(out, "tasks: {}", tasks.collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}

/// A format name of the command line. `tsv` and `csv` also set the delimiter.
#[derive(Clone, Copy, Debug)]
struct FormatArg {
    format: Format,
    delimiter: Option<u8>,
}

impl FromStr for FormatArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let delimiter = match text {
            "tsv" => Some(b'\t'),
            "csv" => Some(b','),
            _ => None,
        };
        Ok(Self { format: text.parse()?, delimiter })
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "comma" => Ok(b','),
        "space" => Ok(b' '),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() => Ok(*byte),
            _ => Err("expected one ASCII character, or tab, comma, space".to_owned()),
        },
    }
}

fn duplicates() -> impl TypedValueParser<Value = Duplicates> {
    PossibleValuesParser::new(["remove", "keep"])
        .map(|text| if text == "keep" { Duplicates::Keep } else { Duplicates::Remove })
}

fn literals() -> impl TypedValueParser<Value = Literals> {
    PossibleValuesParser::new(["drop", "keep"])
        .map(|text| if text == "keep" { Literals::Keep } else { Literals::Drop })
}

fn type_triples() -> impl TypedValueParser<Value = TypeTriples> {
    PossibleValuesParser::new(["keep", "drop"])
        .map(|text| if text == "drop" { TypeTriples::Drop } else { TypeTriples::Keep })
}

fn header() -> impl TypedValueParser<Value = Header> {
    PossibleValuesParser::new(["auto", "yes", "no"]).map(|text| match text.as_str() {
        "yes" => Header::Yes,
        "no" => Header::No,
        _ => Header::Auto,
    })
}
