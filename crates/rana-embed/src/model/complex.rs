//! ComplEx: `Re ⟨h, r, conj t⟩` over complex coordinates, real parts in the first half of a row.

use super::model::Model;
use crate::side::Side;

/// The query is `h · r` for a tail and `t · conj r` for a head: conjugating a product keeps its
/// real part.
pub(crate) struct ComplEx;

impl Model for ComplEx {
    #[inline(always)]
    fn query(side: Side, anchor: &[f32], relation: &[f32], query: &mut [f32]) {
        let half = anchor.len() / 2;
        let sign = side.sign();
        let (a_re, a_im) = anchor.split_at(half);
        let (r_re, r_im) = relation.split_at(half);
        let (q_re, q_im) = query.split_at_mut(half);
        let (a_im, r_re, r_im) = (&a_im[..half], &r_re[..half], &r_im[..half]);
        let (q_re, q_im) = (&mut q_re[..half], &mut q_im[..half]);
        for k in 0..half {
            let turned = sign * r_im[k];
            q_re[k] = a_re[k] * r_re[k] - a_im[k] * turned;
            q_im[k] = a_re[k] * turned + a_im[k] * r_re[k];
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
        let half = anchor.len() / 2;
        let sign = side.sign();
        let (a_re, a_im) = anchor.split_at(half);
        let (r_re, r_im) = relation.split_at(half);
        let (g_re, g_im) = query_gradient.split_at(half);
        let (da_re, da_im) = anchor_gradient.split_at_mut(half);
        let (dr_re, dr_im) = relation_gradient.split_at_mut(half);
        let (a_im, r_re, r_im) = (&a_im[..half], &r_re[..half], &r_im[..half]);
        let (g_re, g_im) = (&g_re[..half], &g_im[..half]);
        let (da_re, da_im) = (&mut da_re[..half], &mut da_im[..half]);
        let (dr_re, dr_im) = (&mut dr_re[..half], &mut dr_im[..half]);
        for k in 0..half {
            let turned = sign * r_im[k];
            da_re[k] = g_re[k] * r_re[k] + g_im[k] * turned;
            da_im[k] = g_im[k] * r_re[k] - g_re[k] * turned;
            dr_re[k] = g_re[k] * a_re[k] + g_im[k] * a_im[k];
            dr_im[k] = sign * (g_im[k] * a_re[k] - g_re[k] * a_im[k]);
        }
    }
}
