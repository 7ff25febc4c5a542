//! [`Rule`]: a pattern that leads to facts of a relation.

use rana_graph::{EntityId, Graph, RelationId};
use rana_models::paths::same_name;

/// Pairs that are added to those that a rule leads to: of a rule that leads to few, little is known.
const DOUBT: f32 = 5.0;

/// What must hold of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleBody {
    /// A relation joins the pair.
    One(RelationId),
    /// Two relations join it, one behind the other.
    Two([RelationId; 2]),
    /// The head has a relation to an entity, and the tail is this one.
    HeadHas {
        /// The relation of the head, and the entity it leads to.
        edge: (RelationId, EntityId),
        /// The tail.
        tail: EntityId,
    },
    /// The tail has a relation to an entity, and the head is this one.
    TailHas {
        /// The relation of the tail, and the entity it leads to.
        edge: (RelationId, EntityId),
        /// The head.
        head: EntityId,
    },
}

/// A pattern that leads to facts of a relation, and how often it was right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The pattern.
    pub body: RuleBody,
    /// How many of the pairs that were looked at are known facts.
    pub right: u32,
    /// How many pairs that it leads to were looked at.
    pub of: u32,
}

impl Rule {
    /// The share of pairs that are facts, with some doubt: no rule is certain, least one that leads to few pairs.
    #[must_use]
    pub fn precision(&self) -> f32 {
        self.right as f32 / (self.of as f32 + DOUBT)
    }

    /// The rule as a sentence.
    #[must_use]
    pub fn text(&self, graph: &Graph) -> String {
        let relation = |by: RelationId| match by.number() == same_name(graph).number() {
            true => "the same name".to_owned(),
            false => format!("`{}`", graph.relation_title(by)),
        };
        let Self { body, right, of } = self;
        match body {
            RuleBody::One(by) => {
                format!("connected by {}; {right} of {of} such pairs are facts", relation(*by))
            }
            RuleBody::Two([first, second]) => {
                let (first, second) = (relation(*first), relation(*second));
                format!("connected by {first} then {second}; {right} of {of} such pairs are facts")
            }
            RuleBody::HeadHas { edge, .. } => format!(
                "the head has {} {}; {right} of {of} such heads have this tail",
                relation(edge.0),
                graph.entity_title(edge.1)
            ),
            RuleBody::TailHas { edge, .. } => format!(
                "the tail has {} {}; {right} of {of} such tails have this head",
                relation(edge.0),
                graph.entity_title(edge.1)
            ),
        }
    }
}
