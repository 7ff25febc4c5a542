//! [`FusedModel`]: a trained model and the evidence in the graph, weighted for each relation.

use std::borrow::Cow;

use rana_fewshot::{
    AdaptedRelation, CandidatePlaces, FewShotModel, Reasons, SourceReason, Support, SupportError,
};
use rana_graph::{EntityId, Pair};

use super::evidence::{Evidence, EvidenceKind, Reason, Values};
use super::leave_one_out::support_records;
use super::sources::Sources;
use super::trust::TrustedSource;

/// A trained model and other evidence: the score of a tail is the sum of what all sources say of it, each weighted by
/// how far it is trusted in general and by its leave-one-out score on the support.
#[derive(Clone)]
pub struct FusedModel {
    sources: Sources,
    trusted: Vec<TrustedSource>,
}

impl FusedModel {
    /// The model of sources and the trust in them.
    #[must_use]
    pub fn new(sources: Sources, trusted: Vec<TrustedSource>) -> Self {
        Self { sources, trusted }
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
            tails: Vec::new(),
            few: Vec::new(),
            pairs: Vec::new(),
            usual: Usual::default(),
        };
        for (of, record) in self.trusted.iter().zip(&records) {
            let evidence = self.sources.adapt(of.evidence, support)?;
            let weighed = Weighed { weight: of.trust.weight(record, support.pairs.len()), evidence };
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

/// Evidence and what it counts.
struct Weighed {
    weight: f32,
    evidence: Evidence,
}

/// A relation that all sources have seen the support of.
pub struct FusedRelation {
    sources: Sources,
    tails: Vec<Weighed>,
    few: Vec<Weighed>,
    pairs: Vec<Weighed>,
    usual: Usual,
}

/// What one source adds to the score of a pair, and why.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Contribution {
    /// The source.
    pub evidence: EvidenceKind,
    /// What it adds to the score.
    pub score: f32,
    /// How much more that is than what it adds for other tails in the mean: below zero, it speaks against the pair.
    pub lead: f32,
    /// Why, if it says anything.
    pub reason: Option<Reason>,
}

impl FusedRelation {
    /// What each source adds to the score of a pair and how that compares to `others`, the most important first.
    #[must_use]
    pub fn explain(&self, head: EntityId, tail: EntityId, others: &[EntityId]) -> Vec<Contribution> {
        let all = self.tails.iter().chain(&self.few).chain(&self.pairs);
        let tails: Vec<EntityId> = std::iter::once(tail).chain(others.iter().copied()).collect();
        let mut parts: Vec<Contribution> = all
            .map(|of| {
                let values = of.evidence.values.of(head, &tails);
                let (value, others) = (values[0], &values[1..]);
                let usual = others.iter().sum::<f32>() / others.len().max(1) as f32;
                let reason = (of.evidence.reason)(head, tail, value);
                Contribution {
                    evidence: of.evidence.kind,
                    score: of.weight * value,
                    lead: of.weight * (value - usual),
                    reason,
                }
            })
            .collect();
        parts.sort_by(|one, other| other.lead.abs().total_cmp(&one.lead.abs()));
        parts
    }

    /// What the tail alone says.
    fn prior(&self, tail: EntityId) -> f32 {
        let parts = self.tails.iter().map(|of| match &of.evidence.values {
            Values::Tails(value) => of.weight * value(tail),
            Values::Few(_) | Values::Pairs(_) => 0.0,
        });
        parts.sum()
    }
}

/// The candidates that are mostly asked for, and what does not change from head to head.
#[derive(Default)]
struct Usual {
    candidates: Vec<EntityId>,
    places: CandidatePlaces,
    /// What the tail alone says of each.
    prior: Vec<f32>,
}

impl Usual {
    fn new(relation: &FusedRelation, candidates: &[EntityId]) -> Self {
        Self {
            candidates: candidates.to_vec(),
            places: CandidatePlaces::new(candidates),
            prior: candidates.iter().map(|&tail| relation.prior(tail)).collect(),
        }
    }
}

impl FusedRelation {
    /// What the tails alone say of some candidates, and where each of them stands.
    fn seen(&self, candidates: &[EntityId]) -> (Cow<'_, [f32]>, Cow<'_, CandidatePlaces>) {
        let usual = &self.usual;
        if usual.candidates == candidates {
            return (Cow::Borrowed(&usual.prior), Cow::Borrowed(&usual.places));
        }
        let prior = candidates.iter().map(|&tail| {
            let place = usual.places.of(&usual.candidates, tail).next();
            place.map_or_else(|| self.prior(tail), |place| usual.prior[place])
        });
        (prior.collect(), Cow::Owned(CandidatePlaces::new(candidates)))
    }
}

impl AdaptedRelation for FusedRelation {
    /// What each source adds, and what the model that is a source of evidence looked at.
    fn reasons(&self, pair: Pair, others: &[EntityId]) -> Reasons {
        let sources = self.explain(pair.head, pair.tail, others).into_iter().map(|part| SourceReason {
            source: part.evidence.to_string(),
            lead: part.lead,
            text: part.reason.map(|reason| reason.text(self.sources.graph())),
            subject: part.evidence.subject(),
        });
        let of_model = self.pairs.iter().find(|of| of.evidence.kind == EvidenceKind::Translation);
        let looked_at = match of_model.map(|of| &of.evidence.values) {
            Some(Values::Pairs(relation)) => relation.reasons(pair, others),
            _ => Reasons::default(),
        };
        Reasons { sources: sources.collect(), ..looked_at }
    }

    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        let width = candidates.len();
        let (prior, places) = self.seen(candidates);
        out.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(&prior));
        let mut scores = vec![0.0; out.len()];
        for of in &self.pairs {
            if let Values::Pairs(relation) = &of.evidence.values {
                relation.scores(heads, candidates, &mut scores);
                out.iter_mut().zip(&scores).for_each(|(out, score)| *out += of.weight * score);
            }
        }
        for (&head, row) in heads.iter().zip(out.chunks_exact_mut(width)) {
            for of in &self.few {
                if let Values::Few(values) = &of.evidence.values {
                    values(head, &mut |tail, value| {
                        places.of(candidates, tail).for_each(|place| row[place] += of.weight * value);
                    });
                }
            }
        }
    }
}
