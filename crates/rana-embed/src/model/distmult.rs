//! DistMult: `⟨h, r, t⟩`.

use super::model::Model;
use crate::side::Side;

/// The query is the coordinate-wise product, for either side.
pub(crate) struct DistMult;

impl Model for DistMult {
    #[inline(always)]
    fn query(_: Side, anchor: &[f32], relation: &[f32], query: &mut [f32]) {
        for ((query, anchor), relation) in query.iter_mut().zip(anchor).zip(relation) {
            *query = anchor * relation;
        }
    }

    #[inline(always)]
    fn backward(
        _: Side,
        anchor: &[f32],
        relation: &[f32],
        query_gradient: &[f32],
        anchor_gradient: &mut [f32],
        relation_gradient: &mut [f32],
    ) {
        let gradients = anchor_gradient.iter_mut().zip(relation_gradient);
        for (((for_anchor, for_relation), query), (anchor, relation)) in
            gradients.zip(query_gradient).zip(anchor.iter().zip(relation))
        {
            *for_anchor = query * relation;
            *for_relation = query * anchor;
        }
    }
}
