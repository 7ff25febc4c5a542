//! [`ModelKind`]: a score function, chosen by name.

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use super::complex::ComplEx;
use super::distmult::DistMult;
use super::layout::Layout;
use super::model::Model;
use super::norm::Norm;
use super::rotate::RotatE;
use super::simple::SimplE;
use super::transe::TransE;
use crate::side::Side;
use crate::similarity::Similarity;

/// A score function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// A relation is a translation from head to tail (Bordes et al., 2013).
    #[default]
    TransE,
    /// A relation weighs each coordinate (Yang et al., 2015). It is the same in both directions.
    DistMult,
    /// DistMult over complex numbers, with the conjugate of the tail (Trouillon et al., 2016).
    Complex,
    /// Two vectors per entity, one as head and one as tail (Kazemi and Poole, 2018).
    Simple,
    /// A relation rotates each complex coordinate (Sun et al., 2019).
    RotatE,
}

rana_graph::named!(ModelKind, "model", {
    TransE => "transe",
    DistMult => "distmult",
    Complex => "complex",
    Simple => "simple",
    RotatE => "rotate",
});

/// Calls a function that is generic over the model.
macro_rules! with_model {
    ($kind:expr, $function:ident($($argument:expr),*)) => {
        match $kind {
            ModelKind::TransE => $function::<TransE>($($argument),*),
            ModelKind::DistMult => $function::<DistMult>($($argument),*),
            ModelKind::Complex => $function::<ComplEx>($($argument),*),
            ModelKind::Simple => $function::<SimplE>($($argument),*),
            ModelKind::RotatE => $function::<RotatE>($($argument),*),
        }
    };
}

impl ModelKind {
    /// Whether rows have two halves, so that the dimension must be even.
    #[must_use]
    pub const fn has_halves(self) -> bool {
        matches!(self, Self::Complex | Self::Simple | Self::RotatE)
    }

    /// The width of a relation row, for entity rows of `dim` numbers.
    #[must_use]
    pub const fn relation_width(self, dim: usize) -> usize {
        match self {
            Self::RotatE => dim / 2,
            _ => dim,
        }
    }

    /// The similarity of queries and entity rows.
    #[must_use]
    pub const fn similarity(self, norm: Norm) -> Similarity {
        match (self, norm) {
            (Self::TransE, Norm::L1) => Similarity::L1,
            (Self::TransE, Norm::L2) => Similarity::L2,
            (Self::DistMult | Self::Complex | Self::Simple, _) => Similarity::Dot,
            (Self::RotatE, _) => Similarity::Modulus,
        }
    }

    pub(crate) const fn entity_layout(self) -> Layout {
        match self {
            Self::Complex | Self::RotatE => Layout::Complex,
            _ => Layout::Real,
        }
    }

    /// `None` if relation rows are angles, which are not regularised.
    pub(crate) const fn relation_layout(self) -> Option<Layout> {
        match self {
            Self::Complex => Some(Layout::Complex),
            Self::RotatE => None,
            _ => Some(Layout::Real),
        }
    }

    /// Builds a query from each pair of an entity row and a relation row. The rows have `dim` and
    /// [`relation_width`](Self::relation_width) numbers and are contiguous.
    ///
    /// # Panics
    /// If the three blocks do not hold the same number of rows.
    pub fn queries(self, dim: usize, side: Side, anchors: &[f32], relations: &[f32], queries: &mut [f32]) {
        let width = self.relation_width(dim);
        assert_eq!(anchors.len(), queries.len());
        assert_eq!(anchors.len() / dim, relations.len() / width);
        with_model!(self, queries_of(dim, width, side, anchors, relations, queries));
    }

    /// Propagates the gradients at many queries back to the rows they were built from.
    ///
    /// # Panics
    /// If the blocks do not hold the same number of rows.
    #[expect(clippy::too_many_arguments, reason = "three inputs and two outputs of one step")]
    pub fn backward(
        self,
        dim: usize,
        side: Side,
        anchors: &[f32],
        relations: &[f32],
        query_gradients: &[f32],
        anchor_gradients: &mut [f32],
        relation_gradients: &mut [f32],
    ) {
        let width = self.relation_width(dim);
        assert_eq!(anchors.len(), query_gradients.len());
        assert_eq!(anchors.len(), anchor_gradients.len());
        assert_eq!(relations.len(), relation_gradients.len());
        assert_eq!(anchors.len() / dim, relations.len() / width);
        let (inputs, outputs) =
            ((anchors, relations, query_gradients), (anchor_gradients, relation_gradients));
        with_model!(self, backward_of(dim, width, side, inputs, outputs));
    }
}

fn queries_of<M: Model>(
    dim: usize,
    width: usize,
    side: Side,
    anchors: &[f32],
    relations: &[f32],
    queries: &mut [f32],
) {
    Arch::new().dispatch(Queries::<M> { dim, width, side, anchors, relations, queries, model: PhantomData });
}

struct Queries<'a, M> {
    dim: usize,
    width: usize,
    side: Side,
    anchors: &'a [f32],
    relations: &'a [f32],
    queries: &'a mut [f32],
    model: PhantomData<M>,
}

impl<M: Model> WithSimd for Queries<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.anchors.chunks_exact(self.dim).zip(self.relations.chunks_exact(self.width));
        for ((anchor, relation), query) in rows.zip(self.queries.chunks_exact_mut(self.dim)) {
            M::query(self.side, anchor, relation, query);
        }
    }
}

type Inputs<'a> = (&'a [f32], &'a [f32], &'a [f32]);
type Outputs<'a> = (&'a mut [f32], &'a mut [f32]);

fn backward_of<M: Model>(dim: usize, width: usize, side: Side, inputs: Inputs<'_>, outputs: Outputs<'_>) {
    Arch::new().dispatch(Backward::<M> { dim, width, side, inputs, outputs, model: PhantomData });
}

struct Backward<'a, M> {
    dim: usize,
    width: usize,
    side: Side,
    inputs: Inputs<'a>,
    outputs: Outputs<'a>,
    model: PhantomData<M>,
}

impl<M: Model> WithSimd for Backward<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { dim, width, side, .. } = self;
        let (anchors, relations, query_gradients) = self.inputs;
        let (anchor_gradients, relation_gradients) = self.outputs;
        let rows = anchors.chunks_exact(dim).zip(relations.chunks_exact(width));
        let rows = rows.zip(query_gradients.chunks_exact(dim));
        let gradients =
            anchor_gradients.chunks_exact_mut(dim).zip(relation_gradients.chunks_exact_mut(width));
        for (((anchor, relation), query), (for_anchor, for_relation)) in rows.zip(gradients) {
            M::backward(side, anchor, relation, query, for_anchor, for_relation);
        }
    }
}
