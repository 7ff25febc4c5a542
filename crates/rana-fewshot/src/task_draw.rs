//! [`TaskDraw`]: how often each task is drawn.

use serde::{Deserialize, Serialize};

/// How often each task is drawn for an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TaskDraw {
    /// Every task equally often, as the public code of MetaR, GANA and HiRe does.
    #[default]
    #[serde(rename = "uniform")]
    Uniform,
    /// By the square root of the number of its facts: large relations count more, but do not drown the small ones.
    #[serde(rename = "square_root")]
    SquareRoot,
}

rana_graph::named!(TaskDraw, "way to draw tasks", { Uniform => "uniform", SquareRoot => "square_root" });

impl TaskDraw {
    /// Whether it is the usual one, so that settings of earlier runs stay the same.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The sums of the weights of tasks up to each of them, by the numbers of their facts; empty if all weigh the same.
    pub(crate) fn weight_ends(self, facts: impl Iterator<Item = usize>) -> Vec<f64> {
        match self {
            Self::Uniform => Vec::new(),
            Self::SquareRoot => facts
                .scan(0.0, |sum, facts| {
                    *sum += (facts as f64).sqrt();
                    Some(*sum)
                })
                .collect(),
        }
    }
}
