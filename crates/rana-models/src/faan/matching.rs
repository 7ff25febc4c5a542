//! Queries matched with the references that fit them (eqs. 8 to 11).
//!
//! ```text
//! δ_k = q · s_k,   β = softmax_k(δ)          (8, 9)
//! g = Σ_k β_k s_k                            (10)
//! φ = q · g                                  (11)
//! ```

use super::config::ReferenceScale;
use crate::real::Real;
use crate::tape::{Heads, Segments, Tape, Var};

/// The queries and the references of tasks.
pub(super) struct Matching {
    /// The queries of each task.
    pub(super) queries: Segments,
    /// The references of each task.
    pub(super) references: Segments,
    pub(super) scale: ReferenceScale,
}

impl Matching {
    /// A score for each query: a column.
    pub(super) fn scores<T: Real>(&self, tape: &mut Tape<'_, T>, queries: Var, references: Var) -> Var {
        let heads = Heads { queries: self.queries.clone(), keys: self.references.clone(), heads: 1 };
        let scale = match self.scale {
            ReferenceScale::None => 1.0,
            ReferenceScale::Width => 1.0 / (tape.shape(queries).1 as f64).sqrt(),
        };
        let weights = tape.attention_weights(queries, references, &heads, scale);
        let gathered = tape.attend(weights, references, &heads);
        tape.row_dot(queries, gathered)
    }
}
