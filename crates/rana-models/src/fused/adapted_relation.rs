//! [`FusedRelation`]: a relation after its support, with the weight of each source.

use std::borrow::Cow;

use rana_fewshot::{AdaptedRelation, CandidatePlaces, Direction, Reasons, SourceReason};
use rana_graph::{EntityId, Pair};

use super::evidence::{Evidence, Values};
use super::evidence_kind::EvidenceKind;
use super::reason::Reason;
use super::sources::Sources;

/// Evidence and what it counts.
pub(super) struct Weighed {
    pub(super) weight: f32,
    pub(super) evidence: Evidence,
}

/// A relation that all sources have seen the support of.
pub struct FusedRelation {
    pub(super) sources: Sources,
    /// How reasons are worded.
    pub(super) direction: Direction,
    pub(super) tails: Vec<Weighed>,
    pub(super) few: Vec<Weighed>,
    pub(super) pairs: Vec<Weighed>,
    pub(super) usual: Usual,
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
    /// Whether the source has a negative weight, so that more of it means less.
    pub is_negative: bool,
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
                    is_negative: of.weight < 0.0,
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
pub(super) struct Usual {
    candidates: Vec<EntityId>,
    places: CandidatePlaces,
    /// What the tail alone says of each.
    prior: Vec<f32>,
}

impl Usual {
    pub(super) fn new(relation: &FusedRelation, candidates: &[EntityId]) -> Self {
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
            text: part.reason.map(|reason| reason.text(self.sources.graph(), self.direction)),
            doubt: self.direction.words(part.evidence.doubt(part.is_negative)),
        });
        let of_model = self.pairs.iter().find(|of| of.evidence.kind == EvidenceKind::Translation);
        let looked_at = match of_model.map(|of| &of.evidence.values) {
            Some(Values::Pairs(relation)) => relation.reasons(pair, others),
            _ => Reasons::default(),
        };
        Reasons { sources: sources.collect(), ..looked_at }
    }

    fn kept_bytes(&self) -> usize {
        let of_pairs = self.pairs.iter().map(|of| match &of.evidence.values {
            Values::Pairs(relation) => relation.kept_bytes(),
            Values::Tails(_) | Values::Few(_) => 0,
        });
        let Usual { candidates, places: _, prior } = &self.usual;
        of_pairs.sum::<usize>() + size_of_val(&candidates[..]) + size_of_val(&prior[..])
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
