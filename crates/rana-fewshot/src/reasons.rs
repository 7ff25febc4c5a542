//! [`Reasons`]: why a model scored a pair as it did, as data.

use rana_graph::{Edge, EntityId, Pair};

/// Why a model scored a pair as it did. Each model fills in the fields that it can.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// The pair of the support that it resembles most, with its distance if scored by that pair alone.
    pub resembles: Option<(Pair, f32)>,
    /// Attention over the neighbours of that pair, the largest weights first.
    pub attention: Vec<AttentionWeight>,
    /// The contribution of each source of evidence, strongest first.
    pub sources: Vec<SourceReason>,
}

/// The attention to one neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionWeight {
    /// The entity whose neighbour it is.
    pub of: EntityId,
    /// Whether this entity is the head of the pair; otherwise the tail.
    pub is_head: bool,
    /// The neighbour and the relation to it.
    pub edge: Edge,
    /// Its share of the attention.
    pub weight: f32,
}

/// The contribution of one source of evidence to a score.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceReason {
    /// The name of the source.
    pub source: String,
    /// Its contribution, minus its mean contribution for other tails. Below zero it is evidence against the pair.
    pub lead: f32,
    /// The reason as text, if there is one.
    pub text: Option<String>,
    /// What other candidates have that this one lacks, as a sentence; for evidence that speaks against it.
    pub doubt: String,
}
