//! [`Sources`]: everything evidence is taken from, and the adaptation of each source to a support.

use std::sync::Arc;

use rana_embed::Table;
use rana_fewshot::{FewShotModel, Support, SupportError};
use rana_graph::Graph;

use super::evidence::{Evidence, EvidenceKind};
use super::{name_evidence, path_evidence, tail_evidence, vector_evidence};
use crate::paths::{EdgeIndex, VisibleEdges};

/// What evidence is taken from; a copy shares it.
#[derive(Clone)]
pub struct Sources {
    graph: Graph,
    edges: Arc<EdgeIndex>,
    model: Arc<dyn FewShotModel>,
    products: Option<Table>,
}

impl Sources {
    /// The sources on the edges of a graph, with a trained model and perhaps the vectors of a bilinear one.
    #[must_use]
    pub fn new(
        graph: &Graph,
        edges: Arc<EdgeIndex>,
        model: Arc<dyn FewShotModel>,
        products: Option<Table>,
    ) -> Self {
        Self { graph: graph.clone(), edges, model, products }
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The edges that paths may follow.
    #[must_use]
    pub fn edges(&self) -> &Arc<EdgeIndex> {
        &self.edges
    }

    /// The model whose score is one of the sources.
    #[must_use]
    pub fn model(&self) -> &Arc<dyn FewShotModel> {
        &self.model
    }

    /// The sources that there can be here.
    pub fn kinds(&self) -> impl Iterator<Item = EvidenceKind> + '_ {
        EvidenceKind::ALL.iter().copied().filter(|kind| match kind {
            EvidenceKind::Product => self.products.is_some(),
            EvidenceKind::Type => self.graph.has_types(),
            _ => true,
        })
    }

    /// What a source says of a relation.
    ///
    /// # Errors
    /// If the model cannot answer for the support.
    pub(super) fn adapt(&self, kind: EvidenceKind, support: &Support<'_>) -> Result<Evidence, SupportError> {
        let edges = VisibleEdges::without(&self.edges, support.relation);
        Ok(match kind {
            EvidenceKind::Translation => vector_evidence::translation(&*self.model, support)?,
            EvidenceKind::Product => {
                // A source without vectors is none of `kinds`.
                let table = self.products.as_ref().ok_or(SupportError::NoProducts)?;
                vector_evidence::product(table, support)
            }
            EvidenceKind::Rule => path_evidence::rule(&edges, support),
            EvidenceKind::Edge => path_evidence::edge(&edges),
            EvidenceKind::Path => path_evidence::path(&edges, support),
            EvidenceKind::Name => name_evidence::name(Arc::clone(&self.edges)),
            EvidenceKind::Copy => tail_evidence::copy(support),
            EvidenceKind::Signature => tail_evidence::signature(&edges, support),
            EvidenceKind::Type => tail_evidence::types(&self.graph, support),
        })
    }
}
