//! Where the vectors of a graph store are.

use std::path::{Path, PathBuf};

use rana::embed::{EmbeddingSet, ModelKind};

use crate::error::CliError;

/// The directory where a graph's vectors of a model are stored.
pub(crate) fn vectors_path(store: &Path, model: ModelKind) -> PathBuf {
    store.join("vectors").join(model.to_string())
}

/// The path of the vectors stored with a graph, if they are of one model.
pub(crate) fn only_vectors(store: &Path) -> Result<PathBuf, CliError> {
    let found: Vec<ModelKind> = ModelKind::ALL
        .iter()
        .copied()
        .filter(|&model| EmbeddingSet::read_metadata(vectors_path(store, model)).is_ok())
        .collect();
    match found[..] {
        [model] => Ok(vectors_path(store, model)),
        [] => Err(CliError::NoVectors { store: store.display().to_string() }),
        _ => {
            let names: Vec<String> = found.iter().map(ToString::to_string).collect();
            Err(CliError::Usage(format!(
                "{} has vectors of {}; choose one with --model",
                store.display(),
                names.join(", ")
            )))
        }
    }
}
