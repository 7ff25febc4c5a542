//! [`Explanation`]: what speaks for an answer, and what against it.

use std::cmp::Reverse;

use rana_fewshot::fused::EvidenceKind;
use rana_graph::{EntityId, Graph, Pair, RelationId};
use serde::Serialize;

use super::entity_ref::EntityRef;
use super::learned::{LearnedRelation, Scorer};
use super::paths::{FoundPath, PathSignature, paths};

/// Paths and neighbours that are named; more would not be read.
const MOST_PATHS: usize = 8;
const MOST_NEIGHBOURS: usize = 8;
/// What adds less to a score, or takes less from it, is not worth a sentence.
const WORTH_SAYING: f32 = 0.05;
/// Other candidates that an answer is compared with.
const COMPARED: usize = 16;

/// What speaks for an answer, and what against it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The head.
    pub head: EntityRef,
    /// The tail.
    pub tail: EntityRef,
    /// The score of the answer.
    pub score: f32,
    /// The chance that it is right; none where too few examples tell.
    pub confidence: Option<f32>,
    /// What speaks for it, the strongest first.
    pub text: Vec<String>,
    /// What speaks against it, the strongest first.
    pub against: Vec<String>,
    /// The pair of the support that it resembles most, if RANA's distance to one tells.
    pub resembles: Option<Resembled>,
    /// The neighbours of that pair that RANA's attention looked at, the largest weights first.
    pub attention: Vec<AttentionEdge>,
    /// Paths between the pair, those that most of the support has first.
    pub paths: Vec<SharedPath>,
    /// What each source of evidence adds, the strongest first; none for RANA alone.
    pub sources: Vec<SourceShare>,
}

/// A pair of the support that an answer resembles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resembled {
    /// Its head.
    pub head: EntityRef,
    /// Its tail.
    pub tail: EntityRef,
    /// The distance of the answer, with the relation that this pair alone stands for.
    pub distance: f32,
}

/// A neighbour that RANA's attention looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttentionEdge {
    /// Whose neighbour it is.
    pub of: EntityRef,
    /// Which end of the pair that is: `head` or `tail`.
    pub end: &'static str,
    /// The relation to the neighbour.
    #[serde(flatten)]
    pub step: Step,
    /// The neighbour.
    pub neighbour: EntityRef,
    /// α of eq. 4.
    pub weight: f32,
}

/// A relation on a way, forwards or backwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The relation.
    pub relation: String,
    /// Whether it is taken backwards.
    pub inverse: bool,
}

/// A path between a head and a tail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedPath {
    /// One or two steps.
    pub steps: Vec<Step>,
    /// The entities on the way, head and tail included.
    pub nodes: Vec<EntityRef>,
    /// How many pairs of the support are joined in the same way.
    pub supports: usize,
    /// How many pairs the support has.
    pub of: usize,
}

/// What a source of evidence adds to a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceShare {
    /// The source.
    pub evidence: String,
    /// What it adds, beside what it adds for other candidates in the mean.
    pub score: f32,
    /// Why, if it says anything.
    pub text: Option<String>,
}

impl LearnedRelation<'_> {
    /// What speaks for an answer, and what against it.
    #[must_use]
    pub fn explain(&self, head: EntityId, tail: EntityId) -> Explanation {
        let graph = self.graph();
        let pair = Pair { head, tail };
        let (score, confidence, better) = self.score(pair);
        let paths = self.shared_paths(pair);
        let (kinds, sources): (Vec<EvidenceKind>, Vec<SourceShare>) = self.sources(pair).into_iter().unzip();
        let (resembles, attention) = self.resembled(pair);

        let mut text: Vec<String> = Vec::new();
        let spoken = |share: &&SourceShare| share.score > WORTH_SAYING;
        text.extend(sources.iter().filter(spoken).filter_map(|share| share.text.clone()));
        for path in paths.iter().filter(|path| path.supports > 0) {
            let said = path_text(path);
            if !text.contains(&said) {
                text.push(said);
            }
        }
        if let Some(Resembled { head, tail, .. }) = &resembles {
            text.push(format!("it resembles `{}` → `{}` of the support", head.label, tail.label));
        }

        let mut against: Vec<String> = Vec::new();
        for (kind, share) in kinds.iter().zip(&sources).filter(|(_, share)| share.score < -WORTH_SAYING) {
            against.push(format!("{} less than for other candidates ({:.2})", doubt(*kind), share.score));
        }
        if paths.is_empty() {
            against.push("no path of one or two edges joins the pair".to_owned());
        } else if paths.iter().all(|path| path.supports == 0) {
            against.push("no path between the pair joins a pair of the support too".to_owned());
        }
        match better {
            0 => {}
            1 => against.push("another candidate scores higher".to_owned()),
            better => against.push(format!("{better} other candidates score higher")),
        }
        let [head, tail] = [head, tail].map(|entity| EntityRef::new(graph, entity));
        Explanation { head, tail, score, confidence, text, against, resembles, attention, paths, sources }
    }

    /// What each source adds beyond what it adds for other candidates.
    fn sources(&self, pair: Pair) -> Vec<(EvidenceKind, SourceShare)> {
        let Scorer::Fused(relation) = &self.scorer else { return Vec::new() };
        let graph = self.graph();
        let candidates = self.candidates();
        let step = candidates.len().div_ceil(COMPARED).max(1);
        let others: Vec<EntityId> =
            candidates.iter().copied().step_by(step).filter(|&other| other != pair.tail).collect();
        let parts = relation.explain(pair.head, pair.tail, &others).into_iter();
        parts
            .map(|part| {
                let (evidence, score) = (part.evidence.to_string(), part.lead);
                let text = part.reason.map(|reason| reason.text(graph));
                (part.evidence, SourceShare { evidence, score, text })
            })
            .collect()
    }

    /// The pair of the support that an answer resembles most, and the neighbours that attention looked at there.
    fn resembled(&self, pair: Pair) -> (Option<Resembled>, Vec<AttentionEdge>) {
        let graph = self.graph();
        let inspection = self.inspection();
        let parts = self.predictor.rana().score_parts(inspection, pair);
        let nearest = parts.by_support.iter().enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other));
        let Some((at, &distance)) = nearest else { return (None, Vec::new()) };
        let of = &inspection.support[at];
        let entity = |entity| EntityRef::new(graph, entity);
        let ends = [(of.pair.head, "head", &of.head), (of.pair.tail, "tail", &of.tail)];
        let mut attention: Vec<AttentionEdge> = ends
            .into_iter()
            .flat_map(|(whose, end, all)| {
                all.iter().map(move |at| AttentionEdge {
                    of: entity(whose),
                    end,
                    step: step(graph, at.edge.relation),
                    neighbour: entity(at.edge.entity),
                    weight: at.weight,
                })
            })
            .collect();
        attention.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        attention.truncate(MOST_NEIGHBOURS);
        let resembled = Resembled { head: entity(of.pair.head), tail: entity(of.pair.tail), distance };
        (Some(resembled), attention)
    }

    /// The paths between a pair, each way once, those that most of the support has first.
    fn shared_paths(&self, pair: Pair) -> Vec<SharedPath> {
        let graph = self.graph();
        let shared = self.support_paths();
        let supports = |by: &PathSignature| shared.get(by).copied().unwrap_or(0);
        let mut found = paths(graph, self.request.relation, pair);
        // The shortest and the most shared first; of equal ones those over few edges, which say more.
        let edges = |path: &FoundPath| path.over.map_or(0, |over| graph.degree(over));
        found.sort_by_key(|path| (Reverse(supports(&path.by)), path.by.1.is_some(), edges(path), path.by));
        let mut ways: Vec<PathSignature> = Vec::new();
        found.retain(|path| {
            !ways.contains(&path.by) && {
                ways.push(path.by);
                true
            }
        });
        found.truncate(MOST_PATHS);
        let named = |path: FoundPath| SharedPath {
            steps: std::iter::once(path.by.0).chain(path.by.1).map(|by| step(graph, by)).collect(),
            nodes: std::iter::once(pair.head)
                .chain(path.over)
                .chain([pair.tail])
                .map(|entity| EntityRef::new(graph, entity))
                .collect(),
            supports: supports(&path.by),
            of: self.support().len(),
        };
        found.into_iter().map(named).collect()
    }
}

fn step(graph: &Graph, relation: RelationId) -> Step {
    Step { relation: graph.relation_name(relation).to_owned(), inverse: relation.is_inverse() }
}

/// What a source doubts, as the beginning of a sentence.
fn doubt(kind: EvidenceKind) -> &'static str {
    match kind {
        EvidenceKind::Translation => "where the relation leads speaks for it",
        EvidenceKind::Product => "the products of the vectors speak for it",
        EvidenceKind::Rule => "the relations that join the pair speak for it",
        EvidenceKind::Edge => "that edges join the pair speaks for it",
        EvidenceKind::Path => "the paths between the pair speak for it",
        EvidenceKind::Copy => "the tails of the support speak for it",
        EvidenceKind::Signature => "the relations it has speak for it",
        EvidenceKind::Type => "its types speak for it",
        EvidenceKind::Name => "the names of the pair speak for it",
    }
}

/// As evidence says it.
fn path_text(path: &SharedPath) -> String {
    let steps: Vec<String> = path
        .steps
        .iter()
        .map(|step| format!("`{}{}`", step.relation, if step.inverse { "⁻¹" } else { "" }))
        .collect();
    format!(
        "{} of {} supports are joined by {}; so is this pair",
        path.supports,
        path.of,
        steps.join(" then ")
    )
}
