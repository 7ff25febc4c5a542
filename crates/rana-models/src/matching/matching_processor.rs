//! [`MatchingProcessor`]: matches a query pair with a reference in several steps of an LSTM (Xiong et al., section 4.2).
//!
//! ```text
//! h'₁, c₁ = LSTM(q, [h₀; s], c₀),   h₁ = h'₁ + q,   …,   score = h_K · s / (‖h_K‖ ‖s‖)
//! ```
//! The public code has twice as many hidden units. Those of the second half are overwritten by `s` and never read, so
//! they are left out here. What `s` adds to the gates is the same at every step and for all queries of a reference,
//! and is computed once; what `q` adds, once for all steps.

use crate::choices::choices;
use crate::real::Real;
use crate::tape::{Tape, Var};
use crate::training::{Block, WeightBlocks};

choices!(
    /// How a processed query is compared with its reference.
    Similarity, "similarity", {
        /// By the cosine, as the paper of GMatching has it.
        #[default]
        Cosine => "cosine",
        /// By the inner product, as the public code has it.
        Dot => "dot",
    }
);

/// Matches query pairs with references.
#[derive(Clone, Debug)]
pub(crate) struct MatchingProcessor {
    /// Numbers of a pair.
    width: usize,
    steps: usize,
    starts_with_reference: bool,
    similarity: Similarity,
    of_query: Block,
    of_state: Block,
    of_reference: Block,
    bias: Block,
}

impl MatchingProcessor {
    /// Adds the weights for pairs of `width` numbers. `starts_with_reference` says whether the first step sees the
    /// reference too.
    pub(crate) fn new(
        blocks: &mut WeightBlocks,
        width: usize,
        steps: usize,
        starts_with_reference: bool,
        similarity: Similarity,
    ) -> Self {
        // As PyTorch starts a cell whose hidden state is `[h; s]`.
        let fan = (2 * width, 2 * width);
        Self {
            width,
            steps,
            starts_with_reference,
            similarity,
            of_query: blocks.matrix("match.query", 4 * width, width, fan),
            of_state: blocks.matrix("match.state", 4 * width, width, fan),
            of_reference: blocks.matrix("match.reference", 4 * width, width, fan),
            bias: blocks.bias("match.bias", 4 * width, fan),
        }
    }

    /// A score for each query: a column. `references_of` says which reference each query is matched with.
    pub(super) fn scores<T: Real>(
        &self,
        tape: &mut Tape<'_, T>,
        queries: Var,
        references: Var,
        references_of: &[u32],
    ) -> Var {
        let processed = self.processed(tape, queries, references, references_of);
        let references = tape.gather_rows(references, references_of.to_vec());
        let products = tape.row_dot(processed, references);
        match self.similarity {
            Similarity::Dot => products,
            Similarity::Cosine => {
                let (one, other) = (tape.row_length(processed), tape.row_length(references));
                let lengths = tape.multiply(one, other);
                tape.divide(products, lengths)
            }
        }
    }

    /// `h_K` of each query.
    fn processed<T: Real>(&self, tape: &mut Tape<'_, T>, queries: Var, references: Var, of: &[u32]) -> Var {
        if self.steps == 0 {
            return queries;
        }
        let (weight, bias) = (tape.weight(&self.of_query), tape.weight(&self.bias));
        let by_query = tape.linear(queries, weight, Some(bias));
        let weight = tape.weight(&self.of_reference);
        let by_reference = tape.linear(references, weight, None);
        let by_both = if tape.shape(references).0 == 1 {
            tape.add_row(by_query, by_reference)
        } else {
            let by_reference = tape.gather_rows(by_reference, of.to_vec());
            tape.add(by_query, by_reference)
        };
        let mut gates = if self.starts_with_reference { by_both } else { by_query };
        let mut cell = tape.zeros(of.len(), self.width);
        let of_state = tape.weight(&self.of_state);
        for step in 1.. {
            let state = tape.lstm_state(gates, cell);
            let hidden = tape.slice_columns(state, 0..self.width);
            let processed = tape.add(queries, hidden);
            if step == self.steps {
                return processed;
            }
            cell = tape.slice_columns(state, self.width..2 * self.width);
            gates = tape.add_linear(by_both, processed, of_state);
        }
        unreachable!("the loop ends at its last step")
    }
}
