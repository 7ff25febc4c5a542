//! What the tests of several files need.

use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};
use rana_graph::EntityId;

/// Scores by a table over all pairs of entities, whatever the support.
pub(crate) struct ByTable {
    pub(crate) table: Vec<u8>,
    pub(crate) entities: usize,
}

impl FewShotModel for ByTable {
    fn adapt(&self, _: &Support<'_>) -> Result<Box<dyn AdaptedRelation + '_>, SupportError> {
        Ok(Box::new(self))
    }
}

impl AdaptedRelation for &ByTable {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        let pairs = heads.iter().flat_map(|head| candidates.iter().map(move |tail| (head, tail)));
        for ((head, tail), out) in pairs.zip(out) {
            *out = self.table[head.index() * self.entities + tail.index()].into();
        }
    }
}

/// Scores everything with NaN.
pub(crate) struct Diverged;

impl FewShotModel for Diverged {
    fn adapt(&self, _: &Support<'_>) -> Result<Box<dyn AdaptedRelation + '_>, SupportError> {
        Ok(Box::new(self))
    }
}

impl AdaptedRelation for &Diverged {
    fn scores(&self, _: &[EntityId], _: &[EntityId], out: &mut [f32]) {
        out.fill(f32::NAN);
    }
}
