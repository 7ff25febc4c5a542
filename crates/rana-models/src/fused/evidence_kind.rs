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
    /// How alike the head and a head of the support with this very tail are.
    Analogy,
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

    /// Whether it says how much an answer and the support have in common, which cannot speak against the answer. A tail
    /// of the support can: most relations have each tail once.
    pub(super) fn compares_with_support(self) -> bool {
        match self {
            Self::Translation | Self::MeanTranslation | Self::Product => true,
            Self::Rule | Self::Path | Self::Analogy | Self::Signature | Self::Type => true,
            Self::Edge | Self::Copy | Self::Popularity | Self::Name => false,
        }
    }

    /// Why a tail has less than other candidates, as a sentence: because it has less of what the source looks for, or, if
    /// the source has a negative weight, because it has more.
    pub(super) fn doubt(self, is_negative: bool) -> &'static str {
        match (self, is_negative) {
            (Self::Translation | Self::MeanTranslation, _) => {
                "the vectors of other candidates are closer to where the examples lead"
            }
            (Self::Product, _) => "the vectors of other candidates fit those of the examples better",
            (Self::Rule, _) => "other candidates are connected by a relation that more examples have",
            (Self::Edge, false) => "other candidates are connected to the head by more facts",
            (Self::Edge, true) => {
                "it is already connected to the head, which is rare for this kind of relation"
            }
            (Self::Path, _) => "other candidates are connected by paths that more examples have",
            (Self::Copy, false) => "other candidates are the tail of more examples",
            (Self::Copy, true) => "it is the tail of an example, and tails are seldom repeated",
            (Self::Analogy, _) => "other candidates are the tails of examples that are more like the head",
            (Self::Signature, _) => {
                "other candidates have more of the relations that tails of the examples have"
            }
            (Self::Type, _) => "other candidates have the type of more tails of the examples",
            (Self::Popularity, false) => "other candidates have more facts",
            (Self::Popularity, true) => "it has more facts than other candidates",
            (Self::Name, false) => "the names of other candidates are more like that of the head",
            (Self::Name, true) => {
                "its name is like that of the head, which is rare for this kind of relation"
            }
        }
    }
}
