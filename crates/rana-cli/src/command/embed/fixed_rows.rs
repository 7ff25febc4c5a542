//! `rana embed --fixed-entities FILE --fixed-relations FILE`: rows that are known already.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use rana::embed::{FixedRows, VectorError};
use rana::graph::Graph;

/// The files of rows that do not learn.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Rows that are known already")]
pub(crate) struct FixedRowFiles {
    /// Rows of entities that stay as they are, while the others are trained to their places: lines of a name, a tab and
    /// numbers, or a file as for --entities.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "entities")]
    fixed_entities: Option<PathBuf>,
    /// Rows of relations that stay as they are: lines of a name, a tab and numbers, or a file as for --relations.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "entities")]
    fixed_relations: Option<PathBuf>,
}

impl FixedRowFiles {
    pub(super) fn read(&self, graph: &Graph) -> Result<FixedRows, VectorError> {
        let mut fixed = FixedRows::default();
        if let Some(path) = &self.fixed_entities {
            fixed = fixed.with_entities(path, graph)?;
        }
        if let Some(path) = &self.fixed_relations {
            fixed = fixed.with_relations(path, graph)?;
        }
        Ok(fixed)
    }

    /// The options that name these files, each after a blank.
    pub(super) fn options(&self) -> String {
        [("--fixed-entities", &self.fixed_entities), ("--fixed-relations", &self.fixed_relations)]
            .iter()
            .filter_map(|(option, path)| Some(format!(" {option} {}", path.as_ref()?.display())))
            .collect()
    }
}
