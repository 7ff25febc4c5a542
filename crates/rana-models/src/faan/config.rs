//! [`FaanConfig`]: every choice of FAAN, those of its paper and those of its public code.
//!
//! Equations carry the numbers of the paper (Sheng et al., EMNLP 2020). Where the public code departs from the paper, the
//! field says so; the default is the paper, and the presets for benchmarks say what they take from the code.

use serde::{Deserialize, Serialize};

use crate::choices::choices;
use crate::training::{ConfigError, FieldChecks, Init, RowUpdates, TrainerConfig, require};

choices!(
    /// What an entity becomes after its neighbours were looked at (eq. 5).
    EntityOutput, "output of the entity encoder", {
        /// `ReLU(W₁ e + W₂ c)`, as printed.
        #[default]
        Plain => "plain",
        /// `LayerNorm(e + ReLU(W₁ e + W₂ c))`, as in the public code.
        ResidualNorm => "residual_norm",
    }
);
choices!(
    /// How wide the transformer is.
    Width, "width of the transformer", {
        /// As wide as the vectors; each head sees a share of them.
        #[default]
        Vector => "vector",
        /// The input is repeated for each head, as in the public code: heads times as wide, and each head sees all of it.
        /// About heads² times as expensive.
        VectorPerHead => "vector_per_head",
    }
);
choices!(
    /// Which numbers form a head of the transformer.
    HeadLayout, "layout of heads", {
        /// The same share of every position.
        #[default]
        ByHead => "by_head",
        /// As in the public code, which reshapes without turning: shares of one position, then of the next, are dealt
        /// out to the heads in order. So a head compares shares of one position more than positions.
        Mixed => "mixed",
    }
);
choices!(
    /// What the products of the transformer's attention are divided by.
    AttentionScale, "scale of attention", {
        /// The root of the width of a head.
        #[default]
        HeadWidth => "head_width",
        /// The root of the width of a head divided by the number of heads, rounded down, as in the public code.
        HeadWidthOverHeads => "head_width_over_heads",
    }
);
choices!(
    /// What tells the positions of a pair apart (eq. 6).
    Positions, "positions", {
        /// Vectors that learn, from waves on.
        #[default]
        Learned => "learned",
        /// Waves of fixed lengths (Vaswani et al., 2017), as in the public code.
        Waves => "waves",
    }
);
choices!(
    /// What the products of a query with its references are divided by, before the softmax (eq. 8).
    ReferenceScale, "scale of references", {
        /// By nothing, as printed. The products of wide vectors are large: the best reference takes all.
        #[default]
        None => "none",
        /// By the root of their width, as in the public code.
        Width => "width",
    }
);

/// Every choice of FAAN; those of its training are in [`TrainerConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FaanConfig {
    // The adaptive neighbour encoder, eqs. 1 to 5.
    /// The most neighbours of an entity, the first in file order.
    pub neighbours: usize,
    /// Whether edges of the asked relation are hidden. It matters where background relations are tasks: there the edge
    /// that is asked for would be a neighbour. The public code has no such tasks.
    pub hide_own_edges: bool,
    /// The share of numbers of neighbours' vectors that is dropped in training. The paper tunes it; 0.3 in the code.
    pub input_dropout: f32,
    /// What an entity becomes.
    pub entity_output: EntityOutput,

    // The transformer over `[head, mask, tail]`, eqs. 6 and 7.
    /// Its layers: 3 for NELL, 4 for Wiki.
    pub layers: usize,
    /// Its heads: 4 for NELL, 8 for Wiki.
    pub heads: usize,
    /// Its width.
    pub width: Width,
    /// Which numbers form a head.
    pub head_layout: HeadLayout,
    /// The scale of its attention.
    pub attention_scale: AttentionScale,
    /// What tells positions apart.
    pub positions: Positions,
    /// The share of numbers that its layers drop in training. The paper tunes it; 0.2 in the code.
    pub layer_dropout: f32,
    /// How weights start.
    pub init: Init,

    // Matching and loss, eqs. 8 to 12.
    /// The scale of the products of queries and references.
    pub reference_scale: ReferenceScale,
    /// γ, the margin between a true pair and its negative.
    pub margin: f32,
    /// Negatives per query; the paper and the code have one.
    #[serde(rename = "J")]
    pub negatives: usize,

    // Tables.
    /// Whether the vectors of entities and relations learn.
    pub fine_tune: bool,
}

impl Default for FaanConfig {
    /// The paper.
    fn default() -> Self {
        Self {
            neighbours: 50,
            hide_own_edges: true,
            input_dropout: 0.3,
            entity_output: EntityOutput::default(),
            layers: 3,
            heads: 4,
            width: Width::default(),
            head_layout: HeadLayout::default(),
            attention_scale: AttentionScale::default(),
            positions: Positions::default(),
            layer_dropout: 0.2,
            init: Init::default(),
            reference_scale: ReferenceScale::default(),
            margin: 5.0,
            negatives: 1,
            fine_tune: false,
        }
    }
}

impl FaanConfig {
    /// Checks every field, also together with those of the trainer.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    pub fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        use FieldChecks as Is;
        Is::count("neighbours", self.neighbours, 0)?;
        Is::share("input_dropout", self.input_dropout)?;
        Is::share("layer_dropout", self.layer_dropout)?;
        require((1..=64).contains(&self.layers), "layers", self.layers, "between 1 and 64")?;
        require((1..=64).contains(&self.heads), "heads", self.heads, "between 1 and 64")?;
        Is::positive("margin", self.margin)?;
        Is::count("J", self.negatives, 1)?;
        require(
            self.fine_tune || trainer.max_norm.is_none(),
            "max_norm",
            trainer.max_norm.unwrap_or_default(),
            "left out if fine_tune is false",
        )?;
        require(
            self.fine_tune || trainer.entity_learning_rate.is_none(),
            "entity_learning_rate",
            trainer.entity_learning_rate.unwrap_or_default(),
            "left out if fine_tune is false",
        )?;
        // The trainer replays missed updates for the entities of tasks, not for their neighbours.
        require(
            !self.fine_tune || trainer.adam_rows == RowUpdates::Sparse,
            "adam_rows",
            trainer.adam_rows,
            "sparse if fine_tune is true",
        )
    }
}
