//! [`Model`]: what each link-prediction model implements.

use crate::side::Side;

/// How a model builds a query, and how it propagates a gradient back.
///
/// Rows are slices of the same length without padding. The functions are inlined into loops that are compiled for the
/// processor, so they should be plain loops over slices.
pub(crate) trait Model {
    /// Writes the query for one end of a fact, from the row at the other end.
    fn query(side: Side, anchor: &[f32], relation: &[f32], query: &mut [f32]);

    /// Writes the gradients at the two rows from the gradient at the query.
    fn backward(
        side: Side,
        anchor: &[f32],
        relation: &[f32],
        query_gradient: &[f32],
        anchor_gradient: &mut [f32],
        relation_gradient: &mut [f32],
    );
}
