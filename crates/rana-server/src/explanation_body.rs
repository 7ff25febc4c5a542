//! [`ExplanationBody`]: what speaks for an answer and what against it, as clients get it.

use rana::predictor::{AttentionEdge, Explanation, Resembled, SharedPath, SourceShare, Step};
use serde::Serialize;
use utoipa::ToSchema;

use crate::entity_body::Entity;

/// What speaks for an answer, and what against it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Explanation)]
pub(crate) struct ExplanationBody {
    /// The head.
    head: Entity,
    /// The tail.
    tail: Entity,
    /// The score of the answer.
    score: f32,
    /// The chance that it is right; null where too few examples tell.
    confidence: Option<f32>,
    /// What speaks for it, the strongest first.
    text: Vec<String>,
    /// What speaks against it, the strongest first.
    against: Vec<String>,
    /// The pair of the support that it resembles most.
    resembles: Option<ResembledPair>,
    /// The neighbours of that pair that attention looked at, the largest weights first.
    attention: Vec<AttendedNeighbour>,
    /// Paths between the pair, those that most of the support has first.
    paths: Vec<PathBetween>,
    /// What each source of evidence adds, the strongest first.
    sources: Vec<Source>,
}

/// A pair of the support that an answer resembles.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct ResembledPair {
    /// Its head.
    head: Entity,
    /// Its tail.
    tail: Entity,
    /// The distance of the answer, with the relation that this pair alone stands for.
    distance: f32,
}

/// A neighbour that attention looked at.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct AttendedNeighbour {
    /// Whose neighbour it is.
    of: Entity,
    /// Which end of the pair that is: `head` or `tail`.
    end: &'static str,
    /// The relation to the neighbour.
    relation: String,
    /// Whether it is taken backwards.
    inverse: bool,
    /// The neighbour.
    neighbour: Entity,
    /// The share of attention it got.
    weight: f32,
}

/// A path between a head and a tail.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct PathBetween {
    /// One or two steps.
    steps: Vec<PathStep>,
    /// The entities on the way, head and tail included.
    nodes: Vec<Entity>,
    /// How many pairs of the support are joined in the same way.
    supports: usize,
    /// How many pairs the support has.
    of: usize,
}

/// A relation on a path.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct PathStep {
    /// The relation.
    relation: String,
    /// Whether it is taken backwards.
    inverse: bool,
}

/// What a source of evidence adds to a score.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct Source {
    /// The source.
    evidence: String,
    /// What it adds, beside what it adds for other candidates in the mean.
    score: f32,
    /// Why, if it says anything.
    text: Option<String>,
}

impl From<Explanation> for ExplanationBody {
    fn from(explanation: Explanation) -> Self {
        let Explanation {
            head,
            tail,
            score,
            confidence,
            text,
            against,
            resembles,
            attention,
            paths,
            sources,
        } = explanation;
        Self {
            head: head.into(),
            tail: tail.into(),
            score,
            confidence,
            text,
            against,
            resembles: resembles.map(ResembledPair::from),
            attention: attention.into_iter().map(AttendedNeighbour::from).collect(),
            paths: paths.into_iter().map(PathBetween::from).collect(),
            sources: sources.into_iter().map(Source::from).collect(),
        }
    }
}

impl From<Resembled> for ResembledPair {
    fn from(Resembled { head, tail, distance }: Resembled) -> Self {
        Self { head: head.into(), tail: tail.into(), distance }
    }
}

impl From<AttentionEdge> for AttendedNeighbour {
    fn from(AttentionEdge { of, end, step, neighbour, weight }: AttentionEdge) -> Self {
        let Step { relation, inverse } = step;
        Self { of: of.into(), end, relation, inverse, neighbour: neighbour.into(), weight }
    }
}

impl From<SharedPath> for PathBetween {
    fn from(SharedPath { steps, nodes, supports, of }: SharedPath) -> Self {
        let step = |Step { relation, inverse }| PathStep { relation, inverse };
        Self {
            steps: steps.into_iter().map(step).collect(),
            nodes: nodes.into_iter().map(Entity::from).collect(),
            supports,
            of,
        }
    }
}

impl From<SourceShare> for Source {
    fn from(SourceShare { evidence, score, text }: SourceShare) -> Self {
        Self { evidence, score, text }
    }
}
