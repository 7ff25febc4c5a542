//! What the tests of several files need.

use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};
use rana_graph::{EntityId, Graph};

/// Scores by a table over all pairs of entities. The support has no effect.
#[derive(Clone)]
pub(crate) struct ByTable {
    pub(crate) table: Vec<u8>,
    pub(crate) entities: usize,
}

impl FewShotModel for ByTable {
    fn adapt(&self, _: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        Ok(Box::new(self.clone()))
    }
}

impl AdaptedRelation for ByTable {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        let pairs = heads.iter().flat_map(|head| candidates.iter().map(move |tail| (head, tail)));
        for ((head, tail), out) in pairs.zip(out) {
            *out = self.table[head.index() * self.entities + tail.index()].into();
        }
    }
}

/// Scores a tail by how often it is a tail of the support.
pub(crate) struct Copies;

impl FewShotModel for Copies {
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        let tails: Vec<EntityId> = support.pairs.iter().map(|pair| pair.tail).collect();
        Ok(Box::new(ByTail(move |tail| tails.iter().filter(|&&of| of == tail).count() as f32)))
    }
}

/// Scores a tail by its background facts.
pub(crate) struct Popularity(pub(crate) Graph);

impl FewShotModel for Popularity {
    fn adapt(&self, _: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        let graph = self.0.clone();
        Ok(Box::new(ByTail(move |tail| graph.degree(tail) as f32)))
    }
}

struct ByTail<F>(F);

impl<F: Fn(EntityId) -> f32 + Send + Sync> AdaptedRelation for ByTail<F> {
    fn scores(&self, _: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        for row in out.chunks_exact_mut(candidates.len()) {
            row.iter_mut().zip(candidates).for_each(|(out, &tail)| *out = (self.0)(tail));
        }
    }
}

/// Scores everything with NaN.
#[derive(Clone, Copy)]
pub(crate) struct Diverged;

impl FewShotModel for Diverged {
    fn adapt(&self, _: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        Ok(Box::new(*self))
    }
}

impl AdaptedRelation for Diverged {
    fn scores(&self, _: &[EntityId], _: &[EntityId], out: &mut [f32]) {
        out.fill(f32::NAN);
    }
}
