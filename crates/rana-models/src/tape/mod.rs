//! A tape: gradients of models that are made of matrices (reverse-mode automatic differentiation).
//!
//! A model computes with matrices on a [`Tape`]. Each operation puts its result on the tape, together with the way back
//! to its inputs. [`Tape::backward`] walks the tape from the loss to the weights.
//!
//! ```text
//! let mut tape = Tape::new(&weights).with_dropout(key);     // or Tape::forward_only(&weights)
//! let x = tape.rows(gathered, dim);                         // a leaf that learns; tape.constant(…) does not
//! let (w, b) = (tape.weight(&block), tape.weight(&bias));   // leaves of the flat weights
//! let y = tape.linear(x, w, Some(b));                       // n × inputs → n × outputs
//! let y = tape.tanh(y);
//! let loss = tape.mean(y);                                  // 1 × 1
//! let gradients = tape.backward(loss);
//! gradients.weights;                                        // flat, in the layout of the weights
//! gradients.of(x);                                          // of a leaf that learns
//! ```
//!
//! | file | operations |
//! | --- | --- |
//! | `tape.rs` | the tape itself: leaves, values, the way back |
//! | `linear.rs` | matrix products |
//! | `elementwise.rs` | sums, products and activations, number by number; rows and columns broadcast |
//! | `arrangement.rs` | rows gathered, columns and rows side by side, slices, reshaping |
//! | `segments.rs` | sums, means, maxima and softmax over groups of rows |
//! | `attention.rs` | queries that attend to the keys of their group |
//! | `lstm.rs` | the cell of an LSTM |
//! | `norm.rs` | layer norm |
//! | `dropout.rs`, `dropped_rows.rs` | dropout, and rows gathered with it |
//! | `products.rs` | products and lengths of rows |
//! | `loss.rs` | margin, sum, mean |
//!
//! Matrices are row-major. Shapes that do not fit are a mistake of the caller and panic. The same inputs give the same
//! bits with any number of threads: what runs in parallel writes to its own rows, and sums over rows are made in fixed
//! parts. A row of a result depends only on the same row of the inputs, to the last bit, wherever the operation is one
//! of rows; so a score does not depend on its batch.

#![allow(dead_code, unused_imports, reason = "operations of models that follow")]

mod arrangement;
mod attention;
mod dropout;
mod dropped_rows;
mod elementwise;
mod linear;
mod loss;
mod lstm;
mod norm;
mod products;
mod segments;
#[expect(clippy::module_inception, reason = "the tape itself, beside its operations")]
mod tape;
#[cfg(test)]
mod tests;

pub(crate) use attention::Heads;
pub(crate) use dropout::DropoutKey;
pub(crate) use lstm::{Lstm, LstmState};
pub(crate) use norm::Spread;
pub(crate) use segments::Segments;
pub(crate) use tape::{Gradients, Tape, Var};
