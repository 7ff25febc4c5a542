//! `rana export`: writes a graph in another format.

use std::io;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use rana::embed::format::{TableFormat, VectorFiles, export_vectors};
use rana::embed::{EmbeddingSet, ModelKind, Norm};
use rana::export_neo4j;
use rana::graph::format::{ExportError, FactFormat, export_facts, export_release};
use rana::graph::{Fact, Store, write_file_atomically};
use rana::models::OpenedRun;
use serde::Serialize;

use super::stored_vectors::{only_vectors, vectors_path};
use crate::error::CliError;
use crate::human_numbers::thousands;
use crate::terminal::{BOLD, Terminal, data_output};

/// Write the facts or the vectors of a graph store to files of another format.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana export kg --format tsv --out facts.tsv
  rana export learned --format tsv --out facts.tsv           (with the facts of `rana update`)
  rana export kg --format ntriples --out - | gzip > graph.nt.gz
  rana export kg --format nell-one --out benchmark      (a directory: facts, tasks, candidates, filter)
  rana export kg --format npy --out vectors             (a directory: entity2vec.npy, relation2vec.npy)
  rana export kg --format neo4j --out neo4j             (a directory: nodes.csv, relationships.csv, relation_vectors.csv)

safetensors, npy and text (entity2vec.TransE) are formats of vectors, neo4j has facts and the vectors of TransE if there \
are any, and the others have facts. \
N-Triples: a name that is not an IRI is written as urn:rana:name:… and read back as it was; labels \
are written as rdfs:label.")]
pub(crate) struct ExportArgs {
    /// The graph store, or a learned directory: its graph with all updates.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// The format to write.
    #[arg(long, value_parser = target())]
    format: Target,
    /// The file (or directory, for nell-one and vectors) to write; `-` for standard output.
    #[arg(long, value_hint = ValueHint::AnyPath)]
    out: PathBuf,
    /// Also write the facts of the tasks, after those of the background.
    #[arg(long)]
    with_tasks: bool,
    /// The model whose vectors to write; not needed if the graph has vectors of one model only.
    #[arg(long)]
    model: Option<ModelKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Facts(FactFormat),
    Release,
    Neo4j,
    Vectors(TableFormat),
}

fn target() -> impl TypedValueParser<Value = Target> {
    let names = ["tsv", "ntriples", "parquet", "nell-one", "neo4j", "safetensors", "npy", "text"];
    PossibleValuesParser::new(names).map(|text| {
        if text == "neo4j" {
            return Target::Neo4j;
        }
        let vectors = || text.parse().map_or(Target::Release, Target::Vectors);
        text.parse().map_or_else(|_| vectors(), Target::Facts)
    })
}

impl ExportArgs {
    /// Rejects options that contradict each other.
    fn check(&self, to_stdout: bool, terminal: &Terminal) -> Result<(), CliError> {
        let is_directory = !matches!(self.format, Target::Facts(_));
        let problem = match self.format {
            _ if is_directory && to_stdout => "this format is a directory and cannot go to standard output",
            Target::Release if self.with_tasks => {
                "a NELL-One release always has the tasks; leave --with-tasks out"
            }
            Target::Vectors(_) if self.with_tasks => {
                "--with-tasks is for facts, not for vectors; leave it out"
            }
            Target::Neo4j if self.with_tasks => "--with-tasks is not for neo4j; leave it out",
            Target::Facts(_) | Target::Release | Target::Neo4j if self.model.is_some() => {
                "--model is for vectors, not for facts; leave it out, or choose a format of vectors"
            }
            _ if to_stdout => return terminal.refuse_json("the facts"),
            _ => return Ok(()),
        };
        Err(CliError::Usage(problem.to_owned()))
    }
}

/// A graph store, or the graph of a learned directory with its updates.
fn opened(path: &Path) -> Result<Store, CliError> {
    match OpenedRun::is_at(path) {
        true => Ok(OpenedRun::open(path, None, None)?.store),
        false => Ok(Store::open(path)?),
    }
}

pub(crate) fn run(args: &ExportArgs, terminal: &Terminal) -> Result<(), CliError> {
    let to_stdout = args.out == Path::new("-");
    args.check(to_stdout, terminal)?;
    let store = opened(&args.store)?;
    let failed =
        |error: ExportError| CliError::Export { file: args.out.display().to_string(), source: error.into() };
    let written = match args.format {
        Target::Vectors(format) => return vectors(args, &store, format, terminal),
        Target::Neo4j => {
            // The library of Neo4j has one model of vectors: translations.
            let path = vectors_path(&args.store, ModelKind::TransE);
            let set = path.is_dir().then(|| EmbeddingSet::open(&path, &store.graph)).transpose()?;
            export_neo4j(&args.out, &store.graph, set.as_ref())?;
            store.graph.facts().len()
        }
        Target::Release => {
            export_release(&args.out, &store.graph, &store.tasks).map_err(failed)?;
            store.graph.facts().len()
        }
        Target::Facts(format) => {
            let facts = facts(&store, args.with_tasks);
            if to_stdout {
                let out = io::BufWriter::with_capacity(256 * 1024, data_output());
                export_facts(&store.graph, &facts, format, out).map_err(failed)?;
                return Ok(());
            }
            write_file_atomically::<ExportError>(&args.out, |out| {
                export_facts(&store.graph, &facts, format, out)
            })
            .map_err(failed)?;
            facts.len()
        }
    };
    let account = ExportAccount { out: args.out.display().to_string(), facts: written as u64 };
    terminal.account(&account, |out| {
        writeln!(out, "wrote {BOLD}{}{BOLD:#}: {} facts", account.out, thousands(account.facts))
    })
}

/// Writes the vectors kept with the graph as two files.
fn vectors(
    args: &ExportArgs,
    store: &Store,
    format: TableFormat,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let path = match args.model {
        Some(model) => vectors_path(&args.store, model),
        None => only_vectors(&args.store)?,
    };
    let set = EmbeddingSet::open(path, &store.graph)?;
    std::fs::create_dir_all(&args.out)
        .map_err(|source| CliError::io(&args.out, "create the directory", source))?;
    let ending = match format {
        TableFormat::Safetensors | TableFormat::Npy => format.name(),
        // The published text files end in TransE, for every model.
        TableFormat::Text => "TransE",
    };
    let file = |name: &str| args.out.join(format!("{name}.{ending}"));
    let files =
        VectorFiles { entities: file("entity2vec"), relations: file("relation2vec"), format: Some(format) };
    export_vectors(&files, &store.graph, &set.entities, &set.relations, set.metadata.relation_rows)?;
    let account = VectorsAccount {
        entities: files.entities.display().to_string(),
        relations: files.relations.display().to_string(),
        model: set.metadata.model,
        norm: set.metadata.norm,
        dim: set.entities.dim(),
    };
    terminal.account(&account, |out| {
        let VectorsAccount { entities, relations, model, norm, dim } = &account;
        writeln!(out, "wrote {BOLD}{entities}{BOLD:#} and {BOLD}{relations}{BOLD:#}: dim {dim}")?;
        writeln!(
            out,
            "to read them back: rana embed KG --entities … --relations … --model {model} --norm {norm}"
        )
    })
}

#[derive(Serialize)]
struct VectorsAccount {
    entities: String,
    relations: String,
    model: ModelKind,
    norm: Norm,
    dim: usize,
}

/// The facts to write: those of the background, then those of the tasks if asked for.
fn facts(store: &Store, with_tasks: bool) -> Vec<Fact> {
    let mut facts = store.graph.facts().to_vec();
    if with_tasks {
        facts.extend(store.tasks.iter().flat_map(|task| {
            task.facts.iter().map(move |pair| Fact {
                head: pair.head,
                relation: task.relation,
                tail: pair.tail,
            })
        }));
    }
    facts
}

#[derive(Serialize)]
struct ExportAccount {
    out: String,
    facts: u64,
}
