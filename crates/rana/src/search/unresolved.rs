//! [`Unresolved`]: why a text names no entity.

use std::fmt;

use rana_graph::{EntityId, Graph};

use crate::predictor::NamedEntity;

/// Why a text names no entity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unresolved {
    /// The text.
    pub text: String,
    /// Whether several entities have this label.
    pub is_ambiguous: bool,
    /// Names of entities that may be meant.
    pub suggestions: Vec<String>,
    /// The same for people: the short name, the label, and what tells entities of one label apart.
    pub described: Vec<String>,
}

impl Unresolved {
    /// A text that names none, or several, of some entities that may be meant.
    pub(super) fn new(graph: &Graph, text: &str, is_ambiguous: bool, meant: &[EntityId]) -> Self {
        let meant = NamedEntity::list(graph, meant);
        let describe = |entity: &NamedEntity| {
            let NamedEntity { label, short, distinction, .. } = entity;
            let label = Some(label).filter(|label| *label != short && !is_ambiguous);
            let details: Vec<&str> = label.into_iter().chain(distinction).map(String::as_str).collect();
            match details.is_empty() {
                true => format!("`{short}`"),
                false => format!("`{short}` ({})", details.join(", ")),
            }
        };
        Self {
            text: text.to_owned(),
            is_ambiguous,
            described: meant.iter().map(describe).collect(),
            suggestions: meant.into_iter().map(|entity| entity.name).collect(),
        }
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, is_ambiguous, suggestions, described } = self;
        let names = described.join(", ");
        match (is_ambiguous, suggestions.is_empty()) {
            (true, _) => write!(f, "several entities are called `{text}`; say one of their names: {names}"),
            (false, false) => write!(f, "there is no entity `{text}` in the graph; did you mean {names}?"),
            (false, true) => {
                write!(
                    f,
                    "there is no entity `{text}` in the graph; give the name or label of one that it has"
                )
            }
        }
    }
}
