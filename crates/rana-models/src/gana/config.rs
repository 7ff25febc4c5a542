//! [`GanaConfig`]: every choice of GANA, those of its paper and those of its public code.
//!
//! Where the public code departs from the paper, the field says so. The default is the paper where it says something.

use serde::{Deserialize, Serialize};

use crate::choices::choices;
use crate::relation_meta::{LossSettings, SupportNegatives, SupportReduction};
use crate::training::{ConfigError, FieldChecks, Init, TrainerConfig, require};

choices!(
    /// What the attention over neighbours makes of free places, where an entity has fewer than `neighbours`.
    FreePlaces, "treatment of free places", {
        /// They do not exist.
        #[default]
        Masked => "masked",
        /// Each is a neighbour of zeros that takes part in the softmax, as in the public code. An entity without
        /// neighbours loses its own vector too, which the code reads from the first place.
        Counted => "counted",
    }
);
choices!(
    /// Which state of the Bi-LSTM attends to its outputs. The public code had the first, then the second.
    FinalState, "final state", {
        /// The last hidden states.
        #[default]
        Hidden => "hidden",
        /// The last cell states.
        Cell => "cell",
    }
);
choices!(
    /// How the final states become the queries of the attention.
    StateReading, "reading of final states", {
        /// Those of a layer, forward and backward, are one query.
        #[default]
        ByLayer => "by_layer",
        /// The numbers of all states are cut into queries as they stand in memory, as in the public code: in a batch,
        /// a task attends with the states of others.
        Memory => "memory",
    }
);
choices!(
    /// What the hyperplane of a relation starts from.
    Normals, "start of normals", {
        /// One normal for all relations, which is learned; the inner step makes it that of the relation. So a relation
        /// that was never seen has a trained one too.
        #[default]
        Shared => "shared",
        /// Each relation has its own, as in the public code. Those of dev and test relations stay as they were drawn.
        PerRelation => "per_relation",
    }
);
choices!(
    /// Whether the projection takes a normal at its length.
    NormalLength, "length of normals", {
        /// Normals count as unit vectors, as TransH has them.
        #[default]
        Unit => "unit",
        /// A normal of another length projects onto no hyperplane; so does the public code.
        Free => "free",
    }
);
choices!(
    /// How the inner step moves the normal.
    NormalStep, "step of normals", {
        /// By its own gradient.
        #[default]
        Own => "own",
        /// By the gradient of the relation in training, and not at all in evaluation, as in the public code.
        RelationGradient => "relation_gradient",
    }
);

/// Every choice of GANA; those of its training are in [`TrainerConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GanaConfig {
    // The gated and attentive neighbour aggregator.
    /// The most neighbours of an entity, the first in file order.
    pub neighbours: usize,
    /// What attention makes of free places.
    pub free_places: FreePlaces,
    /// Whether support entities are seen without the edges of the task's own relation. They exist only where
    /// background relations are tasks; the public code shows them, though no relation to be tested has any.
    pub hides_own_edges: bool,
    /// The share of the components of neighbours and entities that is dropped in training; 0.5 in the code.
    pub dropout: f32,

    // The attentive Bi-LSTM.
    /// Hidden units of the Bi-LSTM, per layer and direction. The public code had 200, then 450, then 600.
    pub lstm_hidden: usize,
    /// Its layers; 2 in the code.
    pub lstm_layers: usize,
    /// The share of components that is dropped between its layers in training; 0.5 in the code.
    pub lstm_dropout: f32,
    /// Which state attends.
    pub final_state: FinalState,
    /// How states become queries.
    pub state_reading: StateReading,
    /// Whether dropout goes on in evaluation, chosen by the seed of the support. The public code never leaves training
    /// mode.
    pub evaluation_dropout: bool,
    /// How weights start.
    pub init: Init,

    // The score of MTransH and its losses.
    /// What normals start from.
    pub normals: Normals,
    /// Whether normals count as unit vectors.
    pub normal_length: NormalLength,
    /// How the inner step moves them.
    pub normal_step: NormalStep,
    /// γ, the margin between a true pair and its negative.
    pub margin: f32,
    /// Negatives per pair; the code has one.
    #[serde(rename = "J")]
    pub negatives: usize,
    /// Which negatives the support has in evaluation.
    pub test_negatives: SupportNegatives,

    // The inner step.
    /// Whether there is an inner step; without one the relation of the query is that of the support.
    pub inner_step: bool,
    /// β, the size of the inner step; 5 in the code.
    pub beta: f32,
    /// How the support loss is summed up.
    pub inner_reduction: SupportReduction,
    /// Whether the support loss is minimised too. The public code adds it, because it clears gradients too early.
    pub outer_includes_support: bool,

    // Tables.
    /// Whether the entity rows of the score learn; those of the aggregator never do.
    pub train_entities: bool,
}

impl Default for GanaConfig {
    /// The paper.
    fn default() -> Self {
        Self {
            neighbours: 50,
            free_places: FreePlaces::default(),
            hides_own_edges: true,
            dropout: 0.5,
            lstm_hidden: 200,
            lstm_layers: 2,
            lstm_dropout: 0.5,
            final_state: FinalState::default(),
            state_reading: StateReading::default(),
            evaluation_dropout: false,
            init: Init::Torch,
            normals: Normals::default(),
            normal_length: NormalLength::default(),
            normal_step: NormalStep::default(),
            margin: 1.0,
            negatives: 1,
            test_negatives: SupportNegatives::default(),
            inner_step: true,
            beta: 5.0,
            inner_reduction: SupportReduction::default(),
            outer_includes_support: false,
            train_entities: true,
        }
    }
}

impl GanaConfig {
    /// Checks every field, also together with those of the trainer.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    pub fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        use FieldChecks as Is;
        Is::count("neighbours", self.neighbours, 0)?;
        Is::share("dropout", self.dropout)?;
        Is::count("lstm_hidden", self.lstm_hidden, 1)?;
        let layers = self.lstm_layers;
        require((1..=16).contains(&layers), "lstm_layers", layers, "between 1 and 16")?;
        Is::share("lstm_dropout", self.lstm_dropout)?;
        Is::positive("margin", self.margin)?;
        Is::count("J", self.negatives, 1)?;
        Is::at_least_zero("beta", self.beta)?;
        require(
            self.train_entities || trainer.max_norm.is_none(),
            "max_norm",
            trainer.max_norm.unwrap_or_default(),
            "left out if train_entities is false",
        )?;
        require(
            self.train_entities || trainer.entity_learning_rate.is_none(),
            "entity_learning_rate",
            trainer.entity_learning_rate.unwrap_or_default(),
            "left out if train_entities is false",
        )
    }

    /// The settings of the losses.
    pub(super) fn losses(&self) -> LossSettings {
        LossSettings {
            margin: self.margin,
            beta: self.inner_step.then_some(self.beta),
            reduction: self.inner_reduction,
            includes_support: self.outer_includes_support,
            learns_rows: self.train_entities,
        }
    }
}
