//! [`Evidence`]: one thing that speaks for a tail, with a value and a reason.

use rana_fewshot::AdaptedRelation;
use rana_graph::{EntityId, Graph, RelationId};
use serde::{Deserialize, Serialize};

use crate::paths::same_name;

/// The sources of evidence. Each is one number per pair, and can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceKind {
    /// The score of the trained model: how close the tail is to where the adapted relation leads from the head.
    Translation,
    /// The same without any training of a model: how close the tail is to where the mean translation of the support
    /// leads from the head.
    MeanTranslation,
    /// What the vectors of a bilinear model say: the products of the pair's numbers, weighed by those of the support.
    Product,
    /// One-hop rules: the share of the support that is joined by a relation that joins the pair.
    Rule,
    /// Whether the pair is joined by any edges, and by how many.
    Edge,
    /// Two-hop rules: paths that lead from the heads of the support to their tails, and seldom elsewhere.
    Path,
    /// The share of the support with this very tail.
    Copy,
    /// How alike the relations of the tail and those of the support's tails are.
    Signature,
    /// The share of the support with a tail of the same type.
    Type,
    /// How many edges the tail has.
    Popularity,
    /// Words that the labels of head and tail share, the rare ones counting more.
    Name,
}

impl EvidenceKind {
    /// Whether its values are distances or products of vectors, whose scale differs from support to support.
    pub(super) fn is_of_vectors(self) -> bool {
        matches!(self, Self::Translation | Self::MeanTranslation | Self::Product)
    }

    /// What the source looks at, as the subject of a sentence that ends in "speaks for it".
    #[must_use]
    pub fn subject(self) -> &'static str {
        match self {
            Self::Translation | Self::MeanTranslation => "the place where the relation leads",
            Self::Product => "the product of the vectors",
            Self::Rule => "the relation that joins the pair",
            Self::Edge => "the edge that joins the pair",
            Self::Path => "the path between the pair",
            Self::Copy => "its being a tail of an example",
            Self::Signature => "the set of relations it has",
            Self::Type => "its type",
            Self::Popularity => "the number of its facts",
            Self::Name => "the likeness of the names",
        }
    }
}

rana_graph::named!(EvidenceKind, "evidence", {
    Translation => "translation",
    MeanTranslation => "mean-translation",
    Product => "product",
    Rule => "rule",
    Edge => "edge",
    Path => "path",
    Copy => "copy",
    Signature => "signature",
    Type => "type",
    Popularity => "popularity",
    Name => "name",
});

/// What a source says of a relation, once it has seen its support.
pub struct Evidence {
    /// Which source it is.
    pub kind: EvidenceKind,
    /// What it says.
    pub values: Values,
    /// Why, for a head, a tail and their value; none where it says nothing.
    pub reason: Box<dyn Fn(EntityId, EntityId, f32) -> Option<Reason> + Send + Sync>,
}

/// The values of a source, by what they depend on.
pub enum Values {
    /// On the tail alone.
    Tails(Box<dyn Fn(EntityId) -> f32 + Send + Sync>),
    /// On the pair, and they are zero but for a few tails of each head, which are handed over once each.
    Few(Box<FewValues>),
    /// On the pair.
    Pairs(Box<dyn AdaptedRelation>),
}

impl Values {
    /// The values of some tails of a head.
    #[must_use]
    pub fn of(&self, head: EntityId, tails: &[EntityId]) -> Vec<f32> {
        let mut found = vec![0.0; tails.len()];
        match self {
            Self::Tails(value) => found.iter_mut().zip(tails).for_each(|(out, &tail)| *out = value(tail)),
            Self::Few(values) => values(head, &mut |other, value| {
                for (out, _) in found.iter_mut().zip(tails).filter(|(_, tail)| **tail == other) {
                    *out = value;
                }
            }),
            Self::Pairs(relation) => relation.scores(&[head], tails, &mut found),
        }
        found
    }
}

/// Hands over the tails of a head that have a value, and the value.
pub type FewValues = dyn Fn(EntityId, &mut dyn FnMut(EntityId, f32)) + Send + Sync;

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
    /// The reason as a sentence.
    #[must_use]
    pub fn text(&self, graph: &Graph) -> String {
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
                let path: Vec<String> = by.iter().map(|&by| relation(by)).collect();
                format!("connected by {}, like {supports} of {of} examples", path.join(" then "))
            }
            Self::Edge { by } => format!("already connected by {}", relation(*by)),
            Self::Copied { supports, of } => format!("it is the tail of {supports} of {of} examples"),
            Self::SameRelations { share } => {
                format!("it has relations that tails of the examples have ({:.0} % alike)", 100.0 * share)
            }
            Self::SameType { share } => {
                format!("its type is that of {:.0} % of the tails of the examples", 100.0 * share)
            }
            Self::Popular { facts: 1 } => "it has 1 fact of other relations".to_owned(),
            Self::Popular { facts } => format!("it has {facts} facts of other relations"),
            Self::Named { share } => format!("the names share words ({:.0} %)", 100.0 * share),
        }
    }
}
