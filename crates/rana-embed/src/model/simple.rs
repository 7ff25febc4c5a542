//! SimplE: `½ (⟨h_H, r, t_T⟩ + ⟨t_H, r⁻¹, h_T⟩)`.
//!
//! The first half of an entity row is the entity as a head, the second half as a tail; the first
//! half of a relation row is the relation, the second half its inverse.

use super::model::Model;
use crate::side::Side;

/// The query swaps the halves: the head half of the anchor is compared with the tail half of the answer.
pub(crate) struct SimplE;

impl Model for SimplE {
    #[inline(always)]
    fn query(side: Side, anchor: &[f32], relation: &[f32], query: &mut [f32]) {
        let half = anchor.len() / 2;
        let (forward, inverse) = directions(side, relation);
        let (as_head, as_tail) = query.split_at_mut(half);
        multiply(as_tail, &anchor[..half], forward);
        multiply(as_head, &anchor[half..], inverse);
    }

    #[inline(always)]
    fn backward(
        side: Side,
        anchor: &[f32],
        relation: &[f32],
        query_gradient: &[f32],
        anchor_gradient: &mut [f32],
        relation_gradient: &mut [f32],
    ) {
        let half = anchor.len() / 2;
        let (forward, inverse) = directions(side, relation);
        let (g_head, g_tail) = query_gradient.split_at(half);
        let (da_head, da_tail) = anchor_gradient.split_at_mut(half);
        multiply(da_head, g_tail, forward);
        multiply(da_tail, g_head, inverse);
        let (first, second) = relation_gradient.split_at_mut(half);
        let (d_forward, d_inverse) = match side {
            Side::Tail => (first, second),
            Side::Head => (second, first),
        };
        multiply(d_forward, g_tail, &anchor[..half]);
        multiply(d_inverse, g_head, &anchor[half..]);
    }
}

/// The two halves of a relation row, swapped for a query for a head.
#[inline(always)]
fn directions(side: Side, relation: &[f32]) -> (&[f32], &[f32]) {
    let (forward, inverse) = relation.split_at(relation.len() / 2);
    match side {
        Side::Tail => (forward, inverse),
        Side::Head => (inverse, forward),
    }
}

#[inline(always)]
fn multiply(out: &mut [f32], a: &[f32], b: &[f32]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = 0.5 * a * b;
    }
}
