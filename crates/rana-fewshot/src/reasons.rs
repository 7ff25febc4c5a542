//! [`Reasons`]: what a model looked at when it scored a pair, as data.

use rana_graph::{Edge, EntityId, Pair};

/// What a model looked at when it scored a pair; each model fills in what it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// The pair of the support that it resembles most, with its distance if scored by that pair alone.
    pub resembles: Option<(Pair, f32)>,
    /// Attention over the neighbours of that pair, the largest weights first.
    pub attention: Vec<AttentionWeight>,
    /// What each source of evidence adds, the strongest first.
    pub sources: Vec<SourceReason>,
}

/// The attention to one neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionWeight {
    /// Whose neighbour it is.
    pub of: EntityId,
    /// Whether that is the head of the pair, or else the tail.
    pub is_head: bool,
    /// The neighbour and the relation to it.
    pub edge: Edge,
    /// Its share of the attention.
    pub weight: f32,
}

/// What one source of evidence adds to a score.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceReason {
    /// The name of the source.
    pub source: String,
    /// What it adds beyond what it adds for other tails in the mean; below zero it speaks against the pair.
    pub lead: f32,
    /// Why, if it says anything.
    pub text: Option<String>,
    /// What the source looks at, as the subject of a sentence.
    pub subject: &'static str,
}
