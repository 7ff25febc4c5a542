//! `rana embed KG --entities FILE --relations FILE`: imports vectors that another program made.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use rana::embed::format::{TableFormat, VectorFiles, import_vectors};
use rana::embed::{EmbeddingMetadata, EmbeddingSet, ModelKind, Norm};
use rana::graph::Store;
use serde::Serialize;

use super::TableNorms;
use super::settings::SettingsArgs;
use crate::error::CliError;
use crate::human_numbers::thousands;
use crate::terminal::{BOLD, Terminal};

/// Options that only apply to training.
const TRAINING: [&str; 15] = [
    "preset",
    "config",
    "dim",
    "loss",
    "gamma",
    "negatives",
    "epochs",
    "batch",
    "learning_rate",
    "inverses",
    "updates",
    "seed",
    "facts",
    "resume",
    "print_config",
];

/// Options to import vectors instead of training them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Import instead of training")]
pub(super) struct ImportVectorsArgs {
    /// The vectors of the entities, one row per entity in the order of ids: .safetensors, .npy or text such as
    /// entity2vec.TransE.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "relations",
        conflicts_with_all = TRAINING)]
    entities: Option<PathBuf>,
    /// The vectors of the relations, in the order of `relation2ids` if the graph came with one.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "entities")]
    relations: Option<PathBuf>,
    /// The format of both files, if their extensions do not show it: safetensors, npy or text.
    #[arg(long, value_name = "FORMAT", requires = "entities")]
    format: Option<TableFormat>,
}

impl ImportVectorsArgs {
    pub(super) fn files(&self) -> Option<VectorFiles> {
        let (entities, relations) = (self.entities.clone()?, self.relations.clone()?);
        Some(VectorFiles { entities, relations, format: self.format })
    }
}

pub(super) fn run(
    files: &VectorFiles,
    settings: &SettingsArgs,
    store: &Store,
    out: &Path,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let vectors = import_vectors(files, &store.graph)?;
    let metadata = EmbeddingMetadata {
        model: settings.model(),
        norm: settings.norm.unwrap_or_default(),
        origin: format!("{}, {}", files.entities.display(), files.relations.display()),
        relation_rows: vectors.relation_rows,
        ..EmbeddingMetadata::default()
    };
    let set = EmbeddingSet::new(&store.graph, vectors.entities, vectors.relations, metadata)?;
    set.write(out)?;
    let account = ImportAccount {
        vectors: out.display().to_string(),
        model: set.metadata.model,
        norm: set.metadata.norm,
        entities: set.entities.rows(),
        relations: set.relations.rows(),
        dim: set.entities.dim(),
        norms: TableNorms::of(&set),
    };
    terminal.account(&account, |out| {
        writeln!(
            out,
            "read {} entity rows and {} relation rows of dimension {} as {BOLD}{}{BOLD:#}, norm {} (see --model, --norm)",
            thousands(account.entities as u64),
            thousands(account.relations as u64),
            account.dim,
            account.model,
            account.norm
        )?;
        account.norms.print(out)?;
        writeln!(out, "wrote {BOLD}{}{BOLD:#}", account.vectors)
    })
}

#[derive(Serialize)]
struct ImportAccount {
    vectors: String,
    model: ModelKind,
    norm: Norm,
    entities: usize,
    relations: usize,
    dim: usize,
    norms: TableNorms,
}
