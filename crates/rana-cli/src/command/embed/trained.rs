//! [`Trained`]: the summary of a training, as JSON and as text.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rana::embed::{EmbedConfig, EmbeddingSet, Norms};
use serde::Serialize;

use crate::human_numbers::thousands;
use crate::terminal::{BOLD, DIM};

/// The norms of the rows of both tables.
#[derive(Serialize)]
pub(crate) struct TableNorms {
    entities: Option<Norms>,
    relations: Option<Norms>,
}

impl TableNorms {
    pub(crate) fn of(set: &EmbeddingSet) -> Self {
        Self { entities: set.entities.norms(), relations: set.relations.norms() }
    }

    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let tables = [("entity", self.entities), ("relation", self.relations)];
        for (name, norms) in tables.into_iter().filter_map(|(name, norms)| Some((name, norms?))) {
            writeln!(
                out,
                "{DIM}{name} norms: mean {:.3}, {:.3} to {:.3}{DIM:#}",
                norms.mean, norms.min, norms.max
            )?;
        }
        Ok(())
    }
}

/// The summary of a training.
#[derive(Serialize)]
pub(crate) struct Trained {
    pub(super) vectors: String,
    pub(super) config: EmbedConfig,
    pub(super) facts: usize,
    pub(super) validation_facts: usize,
    pub(super) outcome: &'static str,
    pub(super) seconds: f64,
    pub(super) facts_per_second: f64,
    pub(super) metrics: BTreeMap<String, f64>,
    pub(super) norms: TableNorms,
}

impl Trained {
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let metric = |name: &str| self.metrics.get(name).copied();
        writeln!(
            out,
            "trained {BOLD}{}{BOLD:#} (dim {}, seed {}, {} updates) on {} facts: {} epochs in {:.1} s",
            self.config.model,
            self.config.dim,
            self.config.seed,
            self.config.updates,
            thousands(self.facts as u64),
            metric("epochs").unwrap_or_default(),
            self.seconds,
        )?;
        if let (Some(mrr), Some(epoch)) = (metric("valid.mrr"), metric("valid.epoch")) {
            writeln!(
                out,
                "best on {} validation facts after epoch {epoch}: MRR {BOLD}{mrr:.3}{BOLD:#} (filtered, both sides)",
                thousands(self.validation_facts as u64)
            )?;
        }
        self.norms.print(out)
    }
}
