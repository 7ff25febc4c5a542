//! [`Sources`]: everything evidence is taken from, and the adaptation of each source to a support.

use std::sync::Arc;

use rana_embed::Table;
use rana_fewshot::{FewShotModel, Support, SupportError};
use rana_graph::Graph;

use super::evidence::Evidence;
use super::evidence_kind::EvidenceKind;
use super::{analogy_evidence, name_evidence, path_evidence, tail_evidence, vector_evidence};
use crate::paths::{EdgeIndex, VisibleEdges};
use crate::vectors::MeanTranslation;

/// What evidence is taken from; a copy shares it.
#[derive(Clone)]
pub struct Sources {
    graph: Graph,
    edges: Arc<EdgeIndex>,
    model: Option<Arc<dyn FewShotModel>>,
    mean_translation: Option<MeanTranslation>,
    products: Option<Table>,
    scale_by_support: bool,
}

impl Sources {
    /// The sources that need no vectors, on the edges of a graph.
    #[must_use]
    pub fn new(graph: &Graph, edges: Arc<EdgeIndex>) -> Self {
        Self {
            graph: graph.clone(),
            edges,
            model: None,
            mean_translation: None,
            products: None,
            scale_by_support: true,
        }
    }

    /// The same, with the values of vectors as they are or divided by their deviation among the rivals of a support
    /// ([`scale_by_support`](super::FusedConfig::scale_by_support)).
    #[must_use]
    pub fn with_scale_by_support(self, scale_by_support: bool) -> Self {
        Self { scale_by_support, ..self }
    }

    pub(super) fn scales_by_support(&self) -> bool {
        self.scale_by_support
    }

    /// Also the score of a trained model.
    #[must_use]
    pub fn with_model(self, model: Arc<dyn FewShotModel>) -> Self {
        Self { model: Some(model), ..self }
    }

    /// Also the mean translation of vectors.
    #[must_use]
    pub fn with_mean_translation(self, of: MeanTranslation) -> Self {
        Self { mean_translation: Some(of), ..self }
    }

    /// Also products of the vectors of a bilinear model.
    #[must_use]
    pub fn with_products(self, products: Table) -> Self {
        Self { products: Some(products), ..self }
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

    /// The model whose score is one of the sources, if there is one.
    #[must_use]
    pub fn model(&self) -> Option<&Arc<dyn FewShotModel>> {
        self.model.as_ref()
    }

    /// The sources that there can be here.
    pub fn kinds(&self) -> impl Iterator<Item = EvidenceKind> + '_ {
        EvidenceKind::ALL.iter().copied().filter(|kind| match kind {
            EvidenceKind::Translation => self.model.is_some(),
            EvidenceKind::MeanTranslation => self.mean_translation.is_some(),
            EvidenceKind::Product => self.products.is_some(),
            EvidenceKind::Type => self.graph.has_types(),
            _ => true,
        })
    }

    /// What a source says of a relation.
    ///
    /// # Errors
    /// If the model cannot answer for the support, or the source is none of [`kinds`](Self::kinds).
    pub(super) fn adapt(&self, kind: EvidenceKind, support: &Support<'_>) -> Result<Evidence, SupportError> {
        let edges = VisibleEdges::without(&self.edges, support.relation);
        let missing = SupportError::NoVectors;
        Ok(match kind {
            EvidenceKind::Translation => {
                vector_evidence::translation(kind, &**self.model.as_ref().ok_or(missing)?, support)?
            }
            EvidenceKind::MeanTranslation => {
                vector_evidence::translation(kind, self.mean_translation.as_ref().ok_or(missing)?, support)?
            }
            EvidenceKind::Product => {
                vector_evidence::product(self.products.as_ref().ok_or(missing)?, support)
            }
            EvidenceKind::Rule => path_evidence::rule(&edges, support),
            EvidenceKind::Edge => path_evidence::edge(&edges),
            EvidenceKind::Path => path_evidence::path(&edges, support),
            EvidenceKind::Name => name_evidence::name(Arc::clone(&self.edges)),
            EvidenceKind::Copy => tail_evidence::copy(support),
            EvidenceKind::Analogy => analogy_evidence::analogy(&edges, self.graph.entity_count(), support),
            EvidenceKind::Signature => tail_evidence::signature(&edges, support),
            EvidenceKind::Type => tail_evidence::types(&self.graph, support),
            EvidenceKind::Popularity => tail_evidence::popularity(&edges),
        })
    }
}
