//! The recommended settings for a model and the size of a graph.

use crate::embed_config::{EmbedConfig, Updates, Validation};
use crate::loss::Loss;
use crate::model::ModelKind;
use crate::negatives::Negatives;
use crate::regulariser::Regulariser;

/// Graphs with at most this many facts are small: epochs are cheap, and rows have few facts to learn from.
const SMALL: usize = 50_000;
/// Graphs with at least this many facts are large: a few epochs are enough, and memory is scarce.
const LARGE: usize = 2_000_000;

impl EmbedConfig {
    /// Recommended settings of a model for a graph with this many facts.
    ///
    /// The choices for each model follow the presets. The dimension and the number of epochs are chosen so that
    /// training takes minutes on a laptop.
    #[must_use]
    pub fn recommended(model: ModelKind, facts: usize) -> Self {
        let base = Self { model, ..Self::of_model(model) };
        match facts {
            _ if facts <= SMALL => Self {
                epochs: 4 * base.epochs,
                batch: 256,
                negatives: Negatives { count: 128, shared_by: 128, ..base.negatives },
                validation: Validation { every: 20, patience: 3, facts: (facts / 20).min(1000) },
                ..base
            },
            _ if facts < LARGE => base,
            _ => Self {
                dim: 50,
                epochs: base.epochs / 3,
                batch: 8192,
                negatives: Negatives { count: 64, shared_by: 64, ..base.negatives },
                updates: Updates::LockFree,
                validation: Validation { every: 5, patience: 2, facts: 100 },
                ..base
            },
        }
    }

    fn of_model(model: ModelKind) -> Self {
        match model {
            ModelKind::TransE => Self { final_learning_rate: 0.02, epochs: 30, ..Self::default() },
            ModelKind::RotatE => Self {
                dim: 200,
                loss: Loss::SelfAdversarial { gamma: 9.0, temperature: 1.0 },
                final_learning_rate: 0.01,
                epochs: 24,
                ..Self::default()
            },
            ModelKind::DistMult | ModelKind::Complex | ModelKind::Simple => Self {
                dim: 200,
                inverses: true,
                loss: Loss::Softmax,
                regulariser: Regulariser::N3 { weight: 0.05 },
                negatives: Negatives { count: 512, shared_by: 512, ..Negatives::default() },
                final_learning_rate: 0.1,
                epochs: 12,
                ..Self::default()
            },
        }
    }
}
