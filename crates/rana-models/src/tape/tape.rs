//! [`Tape`]: matrices in the order they were computed, each with the way back to its inputs.

use std::borrow::Cow;

use super::dropout::DropoutKey;
use crate::real::{Real, add_scaled};
use crate::training::Block;

/// A matrix on a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Var(usize);

/// The way back of an operation: adds to the gradients of its inputs, given that of its result.
type Backward<T> = Box<dyn Fn(&mut BackPass<'_, T>) + Send + Sync>;

struct Node<'w, T: Real> {
    rows: usize,
    columns: usize,
    values: Cow<'w, [T]>,
    source: Source<T>,
}

/// Where a matrix came from.
enum Source<T: Real> {
    /// Nothing that learns leads to it.
    Constant,
    /// A leaf whose gradient is asked for.
    Leaf,
    /// A part of the weights, by where it starts.
    Weight(usize),
    Operation(Backward<T>),
}

/// Matrices in the order they were computed.
pub(crate) struct Tape<'w, T: Real> {
    weights: &'w [T],
    nodes: Vec<Node<'w, T>>,
    learns: bool,
    dropout: Option<DropoutKey>,
    /// How many operations dropped something.
    dropouts: u64,
}

impl<'w, T: Real> Tape<'w, T> {
    /// An empty tape over some weights, which learn.
    pub(crate) fn new(weights: &'w [T]) -> Self {
        Self { weights, nodes: Vec::new(), learns: true, dropout: None, dropouts: 0 }
    }

    /// An empty tape on which nothing learns: no way back is kept.
    pub(crate) fn forward_only(weights: &'w [T]) -> Self {
        Self { learns: false, ..Self::new(weights) }
    }

    /// The same with dropout; without a key, [`dropout`](Self::dropout) changes nothing.
    pub(crate) fn with_dropout(self, key: Option<DropoutKey>) -> Self {
        Self { dropout: key, ..self }
    }

    /// The key of the next dropout and its number, if there is dropout.
    pub(super) fn next_dropout(&mut self) -> Option<(DropoutKey, u64)> {
        let key = self.dropout?;
        self.dropouts += 1;
        Some((key, self.dropouts - 1))
    }

    /// A block of the weights. A bias is a column.
    pub(crate) fn weight(&mut self, block: &Block) -> Var {
        let values = Cow::Borrowed(block.of(self.weights));
        let source = if self.learns { Source::Weight(block.range().start) } else { Source::Constant };
        self.node(block.rows, block.columns, values, source)
    }

    /// Rows of some table, one behind the other; they learn.
    pub(crate) fn rows(&mut self, values: Vec<T>, columns: usize) -> Var {
        let source = if self.learns { Source::Leaf } else { Source::Constant };
        self.node(values.len() / columns, columns, Cow::Owned(values), source)
    }

    /// Rows that do not learn.
    pub(crate) fn constant(&mut self, values: impl Into<Cow<'w, [T]>>, columns: usize) -> Var {
        let values = values.into();
        self.node(values.len() / columns, columns, values, Source::Constant)
    }

    /// A matrix of zeros.
    pub(crate) fn zeros(&mut self, rows: usize, columns: usize) -> Var {
        self.node(rows, columns, Cow::Owned(vec![T::ZERO; rows * columns]), Source::Constant)
    }

    /// The same values without a way back.
    pub(crate) fn detached(&mut self, x: Var) -> Var {
        let (rows, columns) = self.shape(x);
        self.node(rows, columns, Cow::Owned(self.values(x).to_vec()), Source::Constant)
    }

    /// Adds the result of an operation, with the way back to its inputs.
    pub(super) fn push(
        &mut self,
        (rows, columns): (usize, usize),
        values: Vec<T>,
        inputs: &[Var],
        backward: impl Fn(&mut BackPass<'_, T>) + Send + Sync + 'static,
    ) -> Var {
        let learns = inputs.iter().any(|&input| self.learns(input));
        let source = if learns { Source::Operation(Box::new(backward)) } else { Source::Constant };
        self.node(rows, columns, Cow::Owned(values), source)
    }

    fn node(&mut self, rows: usize, columns: usize, values: Cow<'w, [T]>, source: Source<T>) -> Var {
        assert_eq!(values.len(), rows * columns, "values do not fit the shape");
        self.nodes.push(Node { rows, columns, values, source });
        Var(self.nodes.len() - 1)
    }

    /// Whether something that learns leads to a matrix.
    fn learns(&self, var: Var) -> bool {
        !matches!(self.nodes[var.0].source, Source::Constant)
    }

    /// Rows and columns.
    pub(crate) fn shape(&self, var: Var) -> (usize, usize) {
        (self.nodes[var.0].rows, self.nodes[var.0].columns)
    }

    /// The numbers of a matrix.
    pub(crate) fn values(&self, var: Var) -> &[T] {
        &self.nodes[var.0].values
    }

    /// The number of a 1 × 1 matrix.
    pub(crate) fn scalar(&self, var: Var) -> T {
        assert_eq!(self.shape(var), (1, 1), "not a scalar");
        self.values(var)[0]
    }

    /// The gradients of a 1 × 1 matrix at the weights and at the leaves that learn.
    pub(crate) fn backward(&self, loss: Var) -> Gradients<T> {
        assert_eq!(self.shape(loss), (1, 1), "gradients are those of a scalar");
        let mut weights = vec![T::ZERO; self.weights.len()];
        let mut gradients: Vec<Vec<T>> = (0..=loss.0).map(|_| Vec::new()).collect();
        gradients[loss.0] = vec![T::ONE];
        for at in (0..=loss.0).rev() {
            let (before, rest) = gradients.split_at_mut(at);
            let gradient = &mut rest[0];
            if gradient.is_empty() {
                continue;
            }
            match &self.nodes[at].source {
                Source::Leaf => {}
                Source::Constant => *gradient = Vec::new(),
                Source::Weight(start) => {
                    add_scaled(&mut weights[*start..*start + gradient.len()], T::ONE, gradient);
                    *gradient = Vec::new();
                }
                Source::Operation(backward) => {
                    let gradient = std::mem::take(gradient);
                    backward(&mut BackPass {
                        nodes: &self.nodes,
                        gradient: &gradient,
                        result: Var(at),
                        gradients: before,
                    });
                }
            }
        }
        Gradients { weights, leaves: gradients }
    }
}

/// The gradients of a loss.
pub(crate) struct Gradients<T> {
    /// At the weights, in their layout.
    pub(crate) weights: Vec<T>,
    leaves: Vec<Vec<T>>,
}

impl<T> Gradients<T> {
    /// At a leaf that learns, in its layout; `None` if the loss does not depend on it.
    pub(crate) fn of(&self, leaf: Var) -> Option<&[T]> {
        self.leaves.get(leaf.0).map(Vec::as_slice).filter(|gradient| !gradient.is_empty())
    }
}

/// What an operation sees on the way back.
pub(super) struct BackPass<'p, T: Real> {
    nodes: &'p [Node<'p, T>],
    /// The gradient at its result.
    pub(super) gradient: &'p [T],
    result: Var,
    gradients: &'p mut [Vec<T>],
}

impl<'p, T: Real> BackPass<'p, T> {
    /// The numbers of an input.
    pub(super) fn values(&self, var: Var) -> &'p [T] {
        let nodes: &'p [Node<'p, T>] = self.nodes;
        &nodes[var.0].values
    }

    /// The numbers of the result.
    pub(super) fn result(&self) -> &'p [T] {
        self.values(self.result)
    }

    /// The gradient of an input, to be added to; `None` if nothing that learns leads to it.
    pub(super) fn at(&mut self, input: Var) -> Option<&mut [T]> {
        let node = &self.nodes[input.0];
        if matches!(node.source, Source::Constant) {
            return None;
        }
        let gradient = &mut self.gradients[input.0];
        if gradient.is_empty() {
            gradient.resize(node.values.len(), T::ZERO);
        }
        Some(gradient)
    }
}
