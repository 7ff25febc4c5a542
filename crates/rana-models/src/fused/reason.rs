//! [`Reason`]: why a source of evidence speaks for a tail.

use rana_fewshot::Direction;
use rana_graph::{EntityId, Graph, RelationId};
use serde::Serialize;

use crate::paths::same_name;

/// Why a tail is likely, in parts that a program can use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "because")]
pub enum Reason {
    /// It is where the relation leads.
    Leads {
        /// How far from there.
        distance: f32,
    },
    /// The vectors of a bilinear model agree with those of the support.
    Agrees {
        /// How much.
        product: f32,
    },
    /// Relations join the pair, one behind the other, that join pairs of the support too.
    Joined {
        /// The relations on the way.
        by: Vec<RelationId>,
        /// How many pairs of the support they join.
        supports: usize,
        /// How many pairs the support has.
        of: usize,
    },
    /// A relation joins the pair.
    Edge {
        /// The relation.
        by: RelationId,
    },
    /// It is the tail of pairs of the support.
    Copied {
        /// How many.
        supports: usize,
        /// How many pairs the support has.
        of: usize,
    },
    /// It is the tail of an example whose head is like this one.
    LikeExample {
        /// The head of that example.
        example: EntityId,
        /// How alike the heads are, from 0 to 1.
        share: f32,
    },
    /// It has the relations that tails of the support have, from 0 to 1.
    SameRelations {
        /// How many of them, the rare ones counting more.
        share: f32,
    },
    /// It has a type that tails of the support have.
    SameType {
        /// The share of the support with such a tail.
        share: f32,
    },
    /// It has this many facts of any relation.
    Popular {
        /// How many.
        facts: usize,
    },
    /// The labels of the pair share words, from 0 to 1.
    Named {
        /// How much of them.
        share: f32,
    },
}

impl Reason {
    /// The reason as a sentence about an answer to a question in this direction. Paths are told from head to tail.
    #[must_use]
    pub fn text(&self, graph: &Graph, direction: Direction) -> String {
        let [given, answer] = direction.ends();
        let relation = |by: RelationId| match by.number() == same_name(graph).number() {
            true => "the same name".to_owned(),
            false => format!("`{}`", graph.relation_title(by)),
        };
        match self {
            Self::Leads { distance } => {
                format!("its vector is where the examples lead (distance {distance:.2})")
            }
            Self::Agrees { product } => format!("its vector fits those of the examples ({product:.2})"),
            Self::Joined { by, supports, of } => {
                let mut path: Vec<String> =
                    by.iter().map(|&by| relation(direction.turn_relation(by))).collect();
                if direction == Direction::Heads {
                    path.reverse();
                }
                format!("connected by {}, like {supports} of {of} examples", path.join(" then "))
            }
            Self::Edge { by } => format!("already connected by {}", relation(direction.turn_relation(*by))),
            Self::Copied { supports, of } => format!("it is the {answer} of {supports} of {of} examples"),
            Self::LikeExample { example, share } => {
                let of = graph.entity_title(*example);
                format!(
                    "it is the {answer} of {of}, which is like the {given} ({:.0} % alike)",
                    100.0 * share
                )
            }
            Self::SameRelations { share } => {
                format!("it has relations that {answer}s of the examples have ({:.0} % alike)", 100.0 * share)
            }
            Self::SameType { share } => {
                format!("its type is that of {:.0} % of the {answer}s of the examples", 100.0 * share)
            }
            Self::Popular { facts: 1 } => "it has 1 fact of other relations".to_owned(),
            Self::Popular { facts } => format!("it has {facts} facts of other relations"),
            Self::Named { share } => format!("the names share words ({:.0} %)", 100.0 * share),
        }
    }
}
