//! [`DataMode`]: how the background graph takes part in meta-training.

use serde::{Deserialize, Serialize};

/// How the background graph takes part in meta-training.
///
/// MetaR's published MRR moves by almost a third with this choice, up on one benchmark and down on
/// the other, so every result should name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataMode {
    /// Train on the train tasks; entity vectors start from pre-training on the background.
    #[default]
    Pretrain,
    /// Train on the train tasks and on every background relation as a task; vectors start random.
    InTrain,
    /// Train on the train tasks only; vectors start random and the background is ignored.
    Discard,
    /// The tasks of [`InTrain`](Self::InTrain) with the start of [`Pretrain`](Self::Pretrain):
    /// what the public code of GANA and NP-FKGC does.
    InTrainPretrained,
}

rana_graph::named!(DataMode, "data mode", {
    Pretrain => "pretrain",
    InTrain => "in-train",
    Discard => "discard",
    InTrainPretrained => "in-train-pretrained",
});

impl DataMode {
    /// Whether every background relation is a meta-training task too.
    #[must_use]
    pub const fn uses_background_tasks(self) -> bool {
        matches!(self, Self::InTrain | Self::InTrainPretrained)
    }

    /// Whether entity vectors start from pre-training rather than at random.
    #[must_use]
    pub const fn starts_from_pretrained(self) -> bool {
        matches!(self, Self::Pretrain | Self::InTrainPretrained)
    }

    /// Whether the model may look at background facts at all, as neighbours or otherwise.
    #[must_use]
    pub const fn uses_background_graph(self) -> bool {
        !matches!(self, Self::Discard)
    }
}
