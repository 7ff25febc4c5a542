//! TransE: `h + r ≈ t`.

use super::model::Model;
use crate::side::Side;

/// The query is `h + r` for a tail and `t − r` for a head.
pub(crate) struct TransE;

impl Model for TransE {
    #[inline(always)]
    fn query(side: Side, anchor: &[f32], relation: &[f32], query: &mut [f32]) {
        let sign = side.sign();
        for ((query, anchor), relation) in query.iter_mut().zip(anchor).zip(relation) {
            *query = anchor + sign * relation;
        }
    }

    #[inline(always)]
    fn backward(
        side: Side,
        _: &[f32],
        _: &[f32],
        query_gradient: &[f32],
        anchor_gradient: &mut [f32],
        relation_gradient: &mut [f32],
    ) {
        let sign = side.sign();
        anchor_gradient.copy_from_slice(query_gradient);
        for (relation, query) in relation_gradient.iter_mut().zip(query_gradient) {
            *relation = sign * query;
        }
    }
}
