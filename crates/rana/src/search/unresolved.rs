//! [`Unresolved`]: why a text names no entity.

use std::fmt;

/// Why a text names no entity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unresolved {
    /// The text.
    pub text: String,
    /// Whether several entities have this label.
    pub is_ambiguous: bool,
    /// Names of entities that may be meant.
    pub suggestions: Vec<String>,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, is_ambiguous, suggestions } = self;
        let names = suggestions.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
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
