//! [`Sources`]: everything evidence is taken from, and the adaptation of each source to a support.

use std::sync::Arc;

use rana_embed::Table;
use rana_graph::{Graph, RelationId};

use super::edges::{EdgeIndex, Sight};
use super::evidence::{Evidence, EvidenceKind};
use super::{joined, names, tails, vectors};
use crate::model::{Support, SupportError};
use crate::rana::RanaModel;

/// What evidence is taken from.
pub struct Sources<'g> {
    graph: &'g Graph,
    edges: Arc<EdgeIndex>,
    rana: RanaModel<'g>,
    products: Option<Table>,
}

impl<'g> Sources<'g> {
    /// The sources on the edges of a graph, with a trained RANA and perhaps the vectors of a bilinear model.
    #[must_use]
    pub fn new(
        graph: &'g Graph,
        edges: Arc<EdgeIndex>,
        rana: RanaModel<'g>,
        products: Option<Table>,
    ) -> Self {
        Self { graph, edges, rana, products }
    }

    /// The model whose score is one of the sources.
    #[must_use]
    pub fn rana(&self) -> &RanaModel<'g> {
        &self.rana
    }

    /// What evidence about a relation may see.
    pub(super) fn sight(&self, relation: Option<RelationId>) -> Sight<'_> {
        self.edges.without(relation)
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
    /// If RANA cannot answer for the support.
    pub(super) fn adapt<'a>(
        &'a self,
        kind: EvidenceKind,
        support: &Support<'_>,
    ) -> Result<Evidence<'a>, SupportError> {
        let sight = self.sight(support.relation);
        Ok(match kind {
            EvidenceKind::Translation => vectors::translation(&self.rana, support)?,
            EvidenceKind::Product => {
                // A source without vectors is none of `kinds`.
                let table = self.products.as_ref().ok_or(SupportError::NoProducts)?;
                vectors::product(table, support)
            }
            EvidenceKind::Rule => joined::rule(sight, support),
            EvidenceKind::Edge => joined::edge(sight),
            EvidenceKind::Path => joined::path(sight, support),
            EvidenceKind::Name => names::name(self.edges.names()),
            EvidenceKind::Copy => tails::copy(support),
            EvidenceKind::Signature => tails::signature(sight, support),
            EvidenceKind::Type => tails::types(self.graph, support),
        })
    }
}
