//! [`RelationScorers`]: all relations that are considered, and the signs of each for a pair of entities.

use std::sync::Arc;

use rana_eval::confidence::{RelationSigns, Tails};
use rana_fewshot::{FewShotModel, SupportError};
use rana_graph::{Graph, Pair, RelationId};
use rana_models::paths::EdgeIndex;
use rayon::prelude::*;

use super::considered_relation::{ConsideredRelation, rivals};

/// How many pairs of a relation are looked at. More would take longer and hardly tell more.
pub(crate) const MOST_EXAMPLES: usize = 30;
/// How many relations are looked at closely: those whose ends the pair is most like.
const LOOKED_AT: usize = 40;

/// At most so many of some things, evenly among all.
pub(crate) fn evenly<T: Copy>(all: &[T], most: usize) -> Vec<T> {
    all.iter().copied().step_by(all.len().div_ceil(most).max(1)).collect()
}

/// All relations that are considered, and what scores them.
pub(crate) struct RelationScorers {
    pub(super) graph: Graph,
    pub(super) edges: Arc<EdgeIndex>,
    /// What scores tails, and what scores heads.
    pub(super) models: [Arc<dyn FewShotModel>; 2],
    /// The factors of their scores.
    pub(super) temperatures: [f64; 2],
    /// The entities that an answer is compared with.
    pub(super) rivals: Tails,
    relations: Vec<ConsideredRelation>,
}

/// A relation and what speaks for it.
#[derive(Clone, Copy)]
pub(crate) struct Considered<'s> {
    pub(crate) relation: &'s ConsideredRelation,
    pub(crate) signs: RelationSigns,
    /// Whether it was looked at closely; of others only the likeness is known.
    pub(crate) is_close: bool,
}

impl RelationScorers {
    /// No relations yet.
    pub(crate) fn new(
        graph: &Graph,
        edges: Arc<EdgeIndex>,
        models: [Arc<dyn FewShotModel>; 2],
        temperatures: [f64; 2],
    ) -> Self {
        let rivals = rivals(graph);
        Self { graph: graph.clone(), edges, models, temperatures, rivals, relations: Vec::new() }
    }

    /// Adds relations with pairs that they hold for.
    #[must_use]
    pub(crate) fn with(mut self, relations: Vec<(RelationId, Vec<Pair>)>) -> Self {
        let new: Vec<ConsideredRelation> = relations
            .into_par_iter()
            .map(|(relation, support)| self.relation(Some(relation), &support))
            .collect();
        self.relations.extend(new);
        self
    }

    /// A relation with pairs that it holds for.
    pub(crate) fn relation(&self, relation: Option<RelationId>, support: &[Pair]) -> ConsideredRelation {
        ConsideredRelation::new(self, relation, evenly(support, MOST_EXAMPLES))
    }

    /// The relations for which something speaks that they hold between a pair, and some others that are given. Those
    /// that the pair is most like are looked at closely and come first.
    pub(crate) fn consider<'s>(
        &'s self,
        pair: Pair,
        others: &'s [ConsideredRelation],
        is_left_out: impl Fn(&ConsideredRelation) -> bool + Sync,
    ) -> Result<Vec<Considered<'s>>, SupportError> {
        let mut all: Vec<Considered<'s>> = self
            .relations
            .par_iter()
            .chain(others)
            .filter(|relation| !is_left_out(relation))
            .map(|relation| Considered { relation, signs: relation.likeness(self, pair), is_close: false })
            .collect();
        // Equal ones stay in their order.
        all.sort_by(|one, other| other.signs.likeness().total_cmp(&one.signs.likeness()));
        let close = all.len().min(LOOKED_AT);
        let is_given = |of: &Considered<'_>| others.iter().any(|other| std::ptr::eq(other, of.relation));
        all.par_iter_mut().enumerate().try_for_each(|(at, of)| {
            if at < close || is_given(of) {
                of.signs = of.relation.signs(self, pair, of.signs)?;
                of.is_close = true;
            }
            Ok(())
        })?;
        all.sort_by_key(|of| !of.is_close);
        Ok(all)
    }
}
