//! RotatE: each complex coordinate of the head, rotated by the relation's angle, is compared with that of the tail.
//!
//! Real parts are in the first half of an entity row; a relation row holds angles in radians.

use super::model::Model;
use crate::elementary_functions::sin_cos;
use crate::side::Side;

/// The query is the anchor rotated forwards for a tail, backwards for a head.
pub(crate) struct RotatE;

impl Model for RotatE {
    #[inline(always)]
    fn query(side: Side, anchor: &[f32], relation: &[f32], query: &mut [f32]) {
        let half = relation.len();
        let sign = side.sign();
        let (a_re, a_im) = anchor.split_at(half);
        let (q_re, q_im) = query.split_at_mut(half);
        let (a_re, a_im) = (&a_re[..half], &a_im[..half]);
        let (q_re, q_im) = (&mut q_re[..half], &mut q_im[..half]);
        for k in 0..half {
            let (sin, cos) = sin_cos(sign * relation[k]);
            q_re[k] = a_re[k] * cos - a_im[k] * sin;
            q_im[k] = a_re[k] * sin + a_im[k] * cos;
        }
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
        let half = relation.len();
        let sign = side.sign();
        let (a_re, a_im) = anchor.split_at(half);
        let (g_re, g_im) = query_gradient.split_at(half);
        let (da_re, da_im) = anchor_gradient.split_at_mut(half);
        let (a_re, a_im) = (&a_re[..half], &a_im[..half]);
        let (g_re, g_im) = (&g_re[..half], &g_im[..half]);
        let (da_re, da_im) = (&mut da_re[..half], &mut da_im[..half]);
        let angle_gradient = &mut relation_gradient[..half];
        for k in 0..half {
            let (sin, cos) = sin_cos(sign * relation[k]);
            let (q_re, q_im) = (a_re[k] * cos - a_im[k] * sin, a_re[k] * sin + a_im[k] * cos);
            da_re[k] = g_re[k] * cos + g_im[k] * sin;
            da_im[k] = g_im[k] * cos - g_re[k] * sin;
            angle_gradient[k] = sign * (g_im[k] * q_re - g_re[k] * q_im);
        }
    }
}
