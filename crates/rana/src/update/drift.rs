//! [`Drift`]: how far a graph has gone from the one that was learned from.

use rana_graph::{Graph, GraphUpdate};
use serde::{Deserialize, Serialize};

/// With more changed facts than this share, or more placed entities, learn again.
///
/// Trained entities do not move when their facts change, and placed ones only follow their neighbours. The bound is a guess
/// (`docs/experiments/2026-11-19-updates.md`).
const TOO_FAR: f64 = 0.1;

/// How far a graph has gone from the one that was learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Facts that were added or removed since, as a share of those that were learned from.
    pub changed_facts: f64,
    /// Entities that were placed by their neighbours, as a share of all.
    pub placed_entities: f64,
    /// Whether it is time to learn again: one of the two is above a tenth.
    pub learn_again: bool,
}

impl Drift {
    /// The drift of a graph with all its changes.
    #[must_use]
    pub fn of(base: &Graph, changes: &GraphUpdate) -> Self {
        let (entities, _) = changes.new_names(base);
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        let changed_facts = share(changes.added.len() + changes.removed.len(), base.facts().len());
        let placed_entities = share(entities, base.entity_count() + entities);
        Self { changed_facts, placed_entities, learn_again: changed_facts.max(placed_entities) > TOO_FAR }
    }
}
