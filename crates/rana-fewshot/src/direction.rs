//! [`Direction`]: which end of facts is asked for.

use rana_graph::{Pair, RelationId};
use serde::{Deserialize, Serialize};

/// Which end of facts is asked for.
///
/// The heads of a tail are the tails of the inverse relation. Models score tails only: for heads, pairs and relation are
/// turned around before a model sees them, and answers are turned back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The tails of a head.
    #[default]
    Tails,
    /// The heads of a tail.
    Heads,
}

rana_graph::named!(Direction, "direction", {
    Tails => "tails",
    Heads => "heads",
});

impl Direction {
    /// A pair as a model sees it, or back: the end that is asked for is its tail.
    #[must_use]
    pub fn turn(self, pair: Pair) -> Pair {
        match self {
            Self::Tails => pair,
            Self::Heads => Pair { head: pair.tail, tail: pair.head },
        }
    }

    /// Pairs as a model sees them, or back.
    #[must_use]
    pub fn turn_all(self, pairs: &[Pair]) -> Vec<Pair> {
        pairs.iter().map(|&pair| self.turn(pair)).collect()
    }

    /// A relation as a model sees it, or back.
    #[must_use]
    pub fn turn_relation(self, relation: RelationId) -> RelationId {
        match self {
            Self::Tails => relation,
            Self::Heads => relation.inverse(),
        }
    }

    /// What the given end is called, and what the other end is called.
    #[must_use]
    pub const fn ends(self) -> [&'static str; 2] {
        match self {
            Self::Tails => ["head", "tail"],
            Self::Heads => ["tail", "head"],
        }
    }

    /// A sentence about heads and tails as it reads in this direction: for heads, the two words are exchanged.
    #[must_use]
    pub fn words(self, sentence: &str) -> String {
        match self {
            Self::Tails => sentence.to_owned(),
            Self::Heads => sentence.replace("head", "\u{0}").replace("tail", "head").replace('\u{0}', "tail"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::EntityId;

    #[test]
    fn turning_twice_changes_nothing() {
        let pair = Pair { head: EntityId(1), tail: EntityId(2) };
        let relation = RelationId::forward(3);
        for &direction in Direction::ALL {
            assert_eq!(direction.turn(direction.turn(pair)), pair);
            assert_eq!(direction.turn_relation(direction.turn_relation(relation)), relation);
            let sentence = "the tails of heads are tails";
            assert_eq!(direction.words(&direction.words(sentence)), sentence);
        }
        assert_eq!(Direction::Heads.turn(pair), Pair { head: EntityId(2), tail: EntityId(1) });
        assert!(Direction::Heads.turn_relation(relation).is_inverse());
        assert_eq!(Direction::Heads.words("it is the tail of 2 examples"), "it is the head of 2 examples");
    }
}
