//! [`GmatchingConfig`]: every choice of GMatching, those of its paper and those of its public code.
//!
//! Where the public code departs from the paper (Xiong et al., EMNLP 2018, sections 4.1 and 4.2), the field says so;
//! the default is the paper, and the presets for benchmarks say what they take from the code.

use serde::{Deserialize, Serialize};

use crate::choices::choices;
use crate::matching::{MatchingSettings, Similarity};
use crate::training::{ConfigError, FieldChecks, Init, TrainerConfig, require};

choices!(
    /// How an entity with fewer neighbours than there is room for is averaged.
    Padding, "treatment of padding", {
        /// Over its neighbours.
        #[default]
        Masked => "masked",
        /// As in the public code: the bias is added once per place, empty or not, and the sum is divided by the
        /// number of neighbours. So the fewer neighbours, the larger the bias.
        Counted => "counted",
    }
);
choices!(
    /// How a support of several pairs is matched. The paper has one pair.
    FewShots, "treatment of several supports", {
        /// Queries are matched with the mean of the encoded pairs, as in the public code.
        #[default]
        Mean => "mean",
        /// Queries are matched with each pair, and the best match counts.
        Max => "max",
    }
);

/// Every choice of GMatching; those of its training are in [`TrainerConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GmatchingConfig {
    // The neighbour encoder, section 4.1.
    /// The most neighbours of an entity, the first in file order. The public code advises 50.
    pub neighbours: usize,
    /// How empty places count.
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

    // The matching processor, section 4.2.
    /// Whether two layers and a norm stand between the neighbour encoder and matching. Only the public code has them.
    pub pair_encoder: bool,
    /// The share of numbers that these layers drop in training. 0.2 in the public code.
    pub pair_dropout: f32,
    /// K, the steps of the matching processor. 2 in the public code; with 0 a pair is compared as it is.
    pub process_steps: usize,
    /// Whether the first step sees the reference. It does in the paper; in the public code it sees zeros.
    pub start_with_reference: bool,
    /// How a query is compared with the reference: by the cosine in the paper, by the inner product in the code.
    pub similarity: Similarity,
    /// How a support of several pairs is matched.
    pub few_shots: FewShots,
    /// How weights start.
    pub init: Init,

    // The loss.
    /// γ, the margin between a true pair and its negative.
    pub margin: f32,
    /// Negatives per query; the paper and the code have one.
    #[serde(rename = "J")]
    pub negatives: usize,
}

impl Default for GmatchingConfig {
    /// The paper.
    fn default() -> Self {
        Self {
            neighbours: 50,
            padding: Padding::default(),
            neighbour_dropout: 0.0,
            standardise: false,
            hide_own_edges: true,
            fine_tune: false,
            pair_encoder: false,
            pair_dropout: 0.0,
            process_steps: 2,
            start_with_reference: true,
            similarity: Similarity::default(),
            few_shots: FewShots::default(),
            init: Init::default(),
            margin: 5.0,
            negatives: 1,
        }
    }
}

impl GmatchingConfig {
    /// Checks every field, also together with those of the trainer.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    pub fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        use FieldChecks as Is;
        Is::count("neighbours", self.neighbours, 1)?;
        Is::share("neighbour_dropout", self.neighbour_dropout)?;
        Is::share("pair_dropout", self.pair_dropout)?;
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
