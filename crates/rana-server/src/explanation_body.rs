//! [`ExplanationBody`]: the evidence for and against an answer, in JSON responses.

use rana::predictor::{AttentionEdge, Explanation, Resembled, SharedPath, SourceShare, Step};
use serde::Serialize;
use utoipa::ToSchema;

use crate::entity_body::Entity;

/// The evidence for and against an answer.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Explanation)]
pub(crate) struct ExplanationBody {
    /// The head.
    head: Entity,
    /// The tail.
    tail: Entity,
    /// The score of the answer.
    score: f32,
    /// The probability that it is right; null if there are too few examples to estimate it.
    confidence: Option<f32>,
    /// The evidence for it as text, strongest first.
    text: Vec<String>,
    /// The evidence against it as text, strongest first.
    against: Vec<String>,
    /// The support pair that it resembles most.
    resembles: Option<ResembledPair>,
    /// The neighbours of that pair that the model attended to, largest weights first.
    attention: Vec<AttendedNeighbour>,
    /// Paths between head and tail; paths that most of the support has come first.
    paths: Vec<PathBetween>,
    /// The contribution of each source of evidence, strongest first.
    sources: Vec<Source>,
}

/// A support pair that an answer resembles.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct ResembledPair {
    /// Its head.
    head: Entity,
    /// Its tail.
    tail: Entity,
    /// The distance of the answer to the relation learned from this pair alone.
    distance: f32,
}

/// A neighbour that the model attended to.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct AttendedNeighbour {
    /// The entity whose neighbour it is.
    of: Entity,
    /// The end of the pair that this entity is: `head` or `tail`.
    end: &'static str,
    /// The relation to the neighbour.
    relation: String,
    /// What to call it: its label, or the last part of an IRI.
    label: String,
    /// Whether the fact points from the neighbour to the entity.
    inverse: bool,
    /// The neighbour.
    neighbour: Entity,
    /// The share of attention on it.
    weight: f32,
}

/// A path between a head and a tail.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct PathBetween {
    /// One or two steps.
    steps: Vec<PathStep>,
    /// The entities on the path, with head and tail.
    nodes: Vec<Entity>,
    /// How many support pairs have the same path.
    supports: usize,
    /// The number of support pairs.
    of: usize,
}

/// A relation on a path.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct PathStep {
    /// The relation.
    relation: String,
    /// What to call it: its label, or the last part of an IRI.
    label: String,
    /// Whether it is followed backwards.
    inverse: bool,
}

/// The contribution of a source of evidence to a score.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
struct Source {
    /// The source.
    evidence: String,
    /// Its contribution, minus its mean contribution over all candidates.
    score: f32,
    /// The reason as text, if there is one.
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
        let Step { relation, label, inverse } = step;
        Self { of: of.into(), end, relation, label, inverse, neighbour: neighbour.into(), weight }
    }
}

impl From<SharedPath> for PathBetween {
    fn from(SharedPath { steps, nodes, supports, of }: SharedPath) -> Self {
        let step = |Step { relation, label, inverse }| PathStep { relation, label, inverse };
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
