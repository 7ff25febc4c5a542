//! [`EvidenceKind`]: the list of all kinds of evidence.

use serde::{Deserialize, Serialize};

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
