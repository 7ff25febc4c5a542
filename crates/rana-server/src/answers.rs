//! [`Answers`]: which ends of facts are answered, in requests and responses.

use rana::predictor::Direction;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which ends of facts are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answers {
    /// The tails of a head.
    #[default]
    Tails,
    /// The heads of a tail.
    Heads,
}

impl From<Answers> for Direction {
    fn from(answers: Answers) -> Self {
        match answers {
            Answers::Tails => Self::Tails,
            Answers::Heads => Self::Heads,
        }
    }
}

impl From<Direction> for Answers {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Tails => Self::Tails,
            Direction::Heads => Self::Heads,
        }
    }
}
