//! [`Norm`]: the distance of TransE.

use serde::{Deserialize, Serialize};

/// The distance of TransE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// The sum of absolute differences.
    #[default]
    L1,
    /// The Euclidean distance.
    L2,
}

rana_graph::named!(Norm, "norm", { L1 => "l1", L2 => "l2" });
