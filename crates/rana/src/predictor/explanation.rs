//! [`Explanation`]: what speaks for an answer, and what against it.

use std::cmp::Reverse;
use std::collections::HashSet;

use rana_fewshot::{AttentionWeight, SourceReason};
use rana_graph::{EntityId, Graph, Pair, RelationId};
use rana_models::paths::{Path, same_name};
use serde::Serialize;

use super::learned_relation::LearnedRelation;
use super::named_entity::NamedEntity;

/// Paths that are named; more would not be read.
const MOST_PATHS: usize = 8;
/// What adds less to a score, or takes less from it, is not worth a sentence.
pub(crate) const WORTH_SAYING: f32 = 0.05;
/// Other candidates that an answer is compared with.
const COMPARED: usize = 16;

/// What speaks for an answer, and what against it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The head.
    pub head: NamedEntity,
    /// The tail.
    pub tail: NamedEntity,
    /// The score of the answer.
    pub score: f32,
    /// The chance that it is right; none where too few examples tell.
    pub confidence: Option<f32>,
    /// What speaks for it, the strongest first.
    pub text: Vec<String>,
    /// What speaks against it, the strongest first.
    pub against: Vec<String>,
    /// The pair of the support that it resembles most, if the model can tell.
    pub resembles: Option<Resembled>,
    /// The neighbours of that pair that attention looked at, the largest weights first; none for models without.
    pub attention: Vec<AttentionEdge>,
    /// Paths between the pair, those that most of the support has first.
    pub paths: Vec<SharedPath>,
    /// What each source of evidence adds, the strongest first; none for models without.
    pub sources: Vec<SourceShare>,
}

/// A pair of the support that an answer resembles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resembled {
    /// Its head.
    pub head: NamedEntity,
    /// Its tail.
    pub tail: NamedEntity,
    /// The distance of the answer to the relation that this pair alone gives.
    pub distance: f32,
}

/// A neighbour that attention looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttentionEdge {
    /// Whose neighbour it is.
    pub of: NamedEntity,
    /// Which end of the pair that is: `head` or `tail`.
    pub end: &'static str,
    /// The relation to the neighbour.
    #[serde(flatten)]
    pub step: Step,
    /// The neighbour.
    pub neighbour: NamedEntity,
    /// Its share of the attention.
    pub weight: f32,
}

/// A relation on a way, forwards or backwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The relation.
    pub relation: String,
    /// What to call it: its label, or the last part of an IRI.
    pub label: String,
    /// Whether it is taken backwards.
    pub inverse: bool,
}

/// A path between a head and a tail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedPath {
    /// One or two steps.
    pub steps: Vec<Step>,
    /// The entities on the way, head and tail included.
    pub nodes: Vec<NamedEntity>,
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

impl LearnedRelation {
    /// What speaks for an answer, and what against it.
    #[must_use]
    pub fn explain(&self, head: EntityId, tail: EntityId) -> Explanation {
        let graph = self.graph();
        let pair = Pair { head, tail };
        let direction = self.direction();
        let asked = direction.turn(pair);
        let (score, confidence, better) = self.score(asked);
        let paths = self.shared_paths(pair);
        let reasons = self.scorer.reasons(asked, &self.compared(asked.tail));
        let entity = |entity| NamedEntity::new(graph, entity);
        let resembles = reasons.resembles.map(|(of, distance)| {
            let of = direction.turn(of);
            Resembled { head: entity(of.head), tail: entity(of.tail), distance }
        });

        let mut text: Vec<String> = Vec::new();
        let spoken = |reason: &&SourceReason| reason.lead > WORTH_SAYING;
        text.extend(reasons.sources.iter().filter(spoken).filter_map(|reason| reason.text.clone()));
        let mut more = 0;
        for path in paths.iter().filter(|path| path.supports > 0) {
            let (said, through) = (path_text(path), through(path));
            match text.iter_mut().find(|text| **text == said) {
                Some(text) => text.push_str(&through),
                None if more < SPOKEN_PATHS => {
                    more += 1;
                    text.push(said + &through);
                }
                None => more += 1,
            }
        }
        if more > SPOKEN_PATHS {
            text.push(format!("connected by {} more paths that examples have", more - SPOKEN_PATHS));
        }
        if let Some(Resembled { head, tail, .. }) = &resembles {
            text.push(format!("most like the example `{}` → `{}`", head.label, tail.label));
        }

        let doubts = reasons.sources.iter().filter(|reason| reason.lead < -WORTH_SAYING);
        let mut against: Vec<String> =
            doubts.map(|reason| format!("{} ({:.2})", reason.doubt, reason.lead)).collect();
        if paths.is_empty() {
            against.push("no path of one or two edges joins the pair".to_owned());
        } else if paths.iter().all(|path| path.supports == 0) {
            against.push("no path between the pair is one that examples have".to_owned());
        }
        match better {
            0 => {}
            1 => against.push("another candidate scores higher".to_owned()),
            better => against.push(format!("{better} other candidates score higher")),
        }
        let attention = |of: &AttentionWeight| AttentionEdge {
            of: entity(of.of),
            end: direction.ends()[usize::from(!of.is_head)],
            step: step(graph, of.edge.relation),
            neighbour: entity(of.edge.entity),
            weight: of.weight,
        };
        let share = |reason: SourceReason| SourceShare {
            evidence: reason.source,
            score: reason.lead,
            text: reason.text,
        };
        Explanation {
            head: entity(head),
            tail: entity(tail),
            score,
            confidence,
            text,
            against,
            resembles,
            attention: reasons.attention.iter().map(attention).collect(),
            paths,
            sources: reasons.sources.into_iter().map(share).collect(),
        }
    }

    /// Some other candidates that an answer is compared with.
    fn compared(&self, tail: EntityId) -> Vec<EntityId> {
        let candidates = self.candidates();
        let step = candidates.len().div_ceil(COMPARED).max(1);
        candidates.iter().copied().step_by(step).filter(|&other| other != tail).collect()
    }

    /// The paths between a pair, each by its relations once, those that most of the support has first.
    fn shared_paths(&self, pair: Pair) -> Vec<SharedPath> {
        let graph = self.graph();
        let shared = self.support_paths();
        let supports = |path: &Path| shared.get(&path.by).copied().unwrap_or(0);
        let mut found = self.visible_edges().paths(pair);
        // The shortest and the most shared first; of equal ones those over few edges, which say more.
        let edges = |path: &Path| path.over.map_or(0, |over| graph.degree(over));
        found.sort_by_key(|path| (Reverse(supports(path)), path.by.len(), edges(path), path.by.clone()));
        let mut seen: HashSet<Vec<RelationId>> = HashSet::new();
        found.retain(|path| seen.insert(path.by.clone()));
        found.truncate(MOST_PATHS);
        let named = |path: Path| SharedPath {
            supports: supports(&path),
            of: self.support().len(),
            nodes: std::iter::once(pair.head)
                .chain(path.over)
                .chain([pair.tail])
                .map(|entity| NamedEntity::new(graph, entity))
                .collect(),
            steps: path.by.iter().map(|&by| step(graph, by)).collect(),
        };
        found.into_iter().map(named).collect()
    }
}

fn step(graph: &Graph, relation: RelationId) -> Step {
    let (name, label) = match relation.number() == same_name(graph).number() {
        true => ("the same name", "the same name".to_owned()),
        false => (
            graph.relation_name(relation),
            graph.relation_title(RelationId::forward(relation.number() as u32)),
        ),
    };
    Step { relation: name.to_owned(), label, inverse: relation.is_inverse() }
}

/// The most paths that are spoken of beside those of the sources.
const SPOKEN_PATHS: usize = 2;

/// The entity in the middle of a path, if it has one.
fn through(path: &SharedPath) -> String {
    match &path.nodes[..] {
        [_, middle, _] => format!(" (through {})", middle.label),
        _ => String::new(),
    }
}

/// In the words of evidence.
fn path_text(path: &SharedPath) -> String {
    let steps: Vec<String> = path
        .steps
        .iter()
        .map(|step| match step.relation == step.label && step.label == "the same name" {
            true => step.label.clone(),
            false => format!("`{}{}`", step.label, if step.inverse { "⁻¹" } else { "" }),
        })
        .collect();
    format!("connected by {}, like {} of {} examples", steps.join(" then "), path.supports, path.of)
}
