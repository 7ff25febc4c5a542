//! [`FusedModel`]: a trained model and the evidence in the graph, weighted for each relation.

use rana_fewshot::{AdaptedRelation, Direction, FewShotModel, Support, SupportError};

use super::adapted_relation::{FusedRelation, Usual, Weighed};
use super::evidence::Values;
use super::evidence_kind::EvidenceKind;
use super::sources::Sources;
use super::support_record::support_records;
use super::trust::TrustedSource;

/// A trained model and other evidence: the score of a tail is the sum of what all sources say of it, each weighted by
/// how far it is trusted in general and by its leave-one-out score on the support.
#[derive(Clone)]
pub struct FusedModel {
    sources: Sources,
    trusted: Vec<TrustedSource>,
    direction: Direction,
}

impl FusedModel {
    /// The model of sources and the trust in them.
    #[must_use]
    pub fn new(sources: Sources, trusted: Vec<TrustedSource>) -> Self {
        Self { sources, trusted, direction: Direction::Tails }
    }

    /// The same, with reasons worded for answers in this direction. For heads, supports and pairs are turned around
    /// before the model sees them.
    #[must_use]
    pub fn asking(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }

    /// How far each source is trusted.
    #[must_use]
    pub fn trusted(&self) -> &[TrustedSource] {
        &self.trusted
    }

    /// The relation of a support, with a type that can explain its scores.
    ///
    /// # Errors
    /// If a source cannot answer for the support.
    pub fn fuse(&self, support: &Support<'_>) -> Result<FusedRelation, SupportError> {
        let kinds: Vec<EvidenceKind> = self.trusted.iter().map(|of| of.evidence).collect();
        let records = support_records(&self.sources, &kinds, support)?;
        let mut relation = FusedRelation {
            sources: self.sources.clone(),
            direction: self.direction,
            tails: Vec::new(),
            few: Vec::new(),
            pairs: Vec::new(),
            usual: Usual::default(),
        };
        for (of, record) in self.trusted.iter().zip(&records) {
            let evidence = self.sources.adapt(of.evidence, support)?;
            let weighed = Weighed { weight: of.weight(record, support.pairs.len()), evidence };
            match weighed.evidence.values {
                Values::Tails(_) => relation.tails.push(weighed),
                Values::Few(_) => relation.few.push(weighed),
                Values::Pairs(_) => relation.pairs.push(weighed),
            }
        }
        relation.usual = Usual::new(&relation, support.candidates);
        Ok(relation)
    }
}

impl FewShotModel for FusedModel {
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        Ok(Box::new(self.fuse(support)?))
    }
}
