//! [`FsrlConfig`]: every choice of FSRL, those of its paper and those of its public code.
//!
//! Where the public code does what the paper does not say (Zhang et al., AAAI 2020), the field says so; the presets for
//! benchmarks say what they take from the code.

use serde::{Deserialize, Serialize};

use crate::choices::choices;
use crate::matching::{MatchingSettings, Similarity};
use crate::training::{ConfigError, FieldChecks, Init, TrainerConfig, require};

choices!(
    /// How attention treats the empty places of an entity with fewer neighbours than there is room for.
    Padding, "treatment of padding", {
        /// It does not see them.
        #[default]
        Masked => "masked",
        /// As in the public code: each is a neighbour of zeros that takes its share of the attention. So the fewer
        /// neighbours, the smaller the encoding.
        Attended => "attended",
    }
);

/// Every choice of FSRL; those of its training are in [`TrainerConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FsrlConfig {
    // The encoder of neighbours.
    /// The most neighbours of an entity, the first in file order.
    pub neighbours: usize,
    /// How attention treats empty places.
    pub padding: Padding,
    /// The share of numbers of neighbours' vectors that is dropped in training. 0.5 in the public code.
    pub neighbour_dropout: f32,
    /// Whether each vector is standardised first, as the public code does with those of ComplEx.
    pub standardise: bool,
    /// Whether edges of the asked relation are hidden. It matters where background relations are tasks: there the edge
    /// that is asked for would be a neighbour.
    pub hide_own_edges: bool,
    /// Whether the vectors of neighbours and relations learn.
    pub fine_tune: bool,

    // The encoder of pairs and the aggregator of supports.
    /// Whether two layers and a norm follow the encoder of neighbours, as in the public code.
    pub pair_encoder: bool,
    /// The share of numbers that these layers drop in training. 0.5 in the public code.
    pub pair_dropout: f32,
    /// How much the loss of the autoencoder counts: the mean of squared differences.
    pub reconstruction: f32,
    /// Whether the decoder is left out when the autoencoder's loss is minimised, as in the public code, whose decoder
    /// never learns.
    pub detach_decoder: bool,

    // The matching network.
    /// Its steps. 2 in the public code; with 0 a pair is compared as it is.
    pub process_steps: usize,
    /// Whether the first step sees the reference. In the public code it sees zeros.
    pub start_with_reference: bool,
    /// How a query is compared with the reference.
    pub similarity: Similarity,
    /// How weights start.
    pub init: Init,

    // The loss.
    /// The margin between a true pair and its negative.
    pub margin: f32,
    /// Negatives per query; the paper and the code have one.
    #[serde(rename = "J")]
    pub negatives: usize,
}

impl Default for FsrlConfig {
    /// The paper.
    fn default() -> Self {
        Self {
            neighbours: 30,
            padding: Padding::default(),
            neighbour_dropout: 0.0,
            standardise: false,
            hide_own_edges: true,
            fine_tune: false,
            pair_encoder: false,
            pair_dropout: 0.0,
            reconstruction: 1e-4,
            detach_decoder: false,
            process_steps: 2,
            start_with_reference: true,
            similarity: Similarity::Dot,
            init: Init::default(),
            margin: 5.0,
            negatives: 1,
        }
    }
}

impl FsrlConfig {
    /// Checks every field, also together with those of the trainer.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    pub fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        use FieldChecks as Is;
        Is::count("neighbours", self.neighbours, 1)?;
        Is::share("neighbour_dropout", self.neighbour_dropout)?;
        Is::share("pair_dropout", self.pair_dropout)?;
        Is::at_least_zero("reconstruction", self.reconstruction)?;
        Is::count("process_steps", self.process_steps, 0)?;
        Is::positive("margin", self.margin)?;
        Is::count("J", self.negatives, 1)?;
        require(
            self.pair_encoder || self.pair_dropout == 0.0,
            "pair_dropout",
            self.pair_dropout,
            "0 if pair_encoder is false",
        )?;
        self.settings().check(trainer)
    }

    /// What it shares with other matching models.
    pub(super) fn settings(&self) -> MatchingSettings {
        MatchingSettings {
            neighbours: self.neighbours,
            hides_own_edges: self.hide_own_edges,
            standardises: self.standardise,
            fine_tunes: self.fine_tune,
            margin: self.margin,
            negatives: self.negatives,
            init: self.init,
        }
    }
}
