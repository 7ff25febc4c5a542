//! [`HireConfig`]: every choice of HiRe, those of its paper and those of its public code.
//!
//! Where the public code departs from the paper, the field says so. Defaults follow the paper wherever it states a value.

use serde::{Deserialize, Serialize};

use crate::choices::choices;
use crate::relation_meta::{LossSettings, SupportNegatives, SupportReduction};
use crate::training::{ConfigError, FieldChecks, Init, TrainerConfig, require};

choices!(
    /// What is added to the result of self-attention in the meta relation learner.
    Residual, "residual", {
        /// Its input, as in a transformer.
        #[default]
        Input => "input",
        /// Itself, as in the public code, less what drop path takes away.
        Itself => "itself",
    }
);
choices!(
    /// Whose transfer vectors project the entities of a pair.
    EntityTransfers, "choice of entity transfers", {
        /// Their own, as TransD has it.
        #[default]
        Own => "own",
        /// Those of the first support pair for all pairs of the task, as in the public code; the inner step moves them.
        FirstSupport => "first_support",
    }
);
choices!(
    /// What the transfer vector of a relation starts from.
    RelationTransfers, "start of relation transfers", {
        /// One for all relations, which is learned; the inner step makes it that of the relation.
        #[default]
        Shared => "shared",
        /// Each relation has its own, as in the public code. Those of dev and test relations stay as they were drawn.
        PerRelation => "per_relation",
    }
);
choices!(
    /// When the inner step moves transfer vectors.
    TransferStep, "step of transfers", {
        /// In training and in evaluation.
        #[default]
        Always => "always",
        /// Only in training, as in the public code.
        TrainingOnly => "training_only",
    }
);

/// Every choice of HiRe; those of its training are in [`TrainerConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HireConfig {
    // The transformer-based meta relation learner.
    /// What is added to the result of self-attention.
    pub residual: Residual,
    /// Hidden units of the feed-forward part, as a multiple of the length of a pair's vector; 4 in the code.
    pub hidden_ratio: usize,
    /// The share of components that is dropped in training; 0.2 in the code.
    pub dropout: f32,
    /// The share of attention weights that is dropped in training; 0.2 in the code.
    pub attention_dropout: f32,
    /// The share of tasks whose relation becomes zero in training, and of contexts likewise; 0.2 in the public code,
    /// which drops what has no other path.
    pub drop_path: f32,
    /// How weights start.
    pub init: Init,

    // The contrastive loss of contexts.
    /// λ, the weight of the contrastive loss; without one, contexts are not looked at.
    pub context_weight: f32,
    /// τ, its temperature; 0.1 in the code.
    pub temperature: f32,
    /// Contexts with random relations that each context is contrasted with; 1 in the code.
    pub corrupted_contexts: usize,
    /// The most neighbours of an entity, the first in file order; the context of a pair has those of both entities.
    pub neighbours: usize,
    /// Whether contexts leave out the edges of the task's own relation. They exist only where background relations are
    /// tasks.
    pub hides_own_edges: bool,

    // The score of MTransD and its losses.
    /// Whose transfer vectors project entities.
    pub entity_transfers: EntityTransfers,
    /// What the transfer vectors of relations start from.
    pub relation_transfers: RelationTransfers,
    /// When the inner step moves them.
    pub transfer_step: TransferStep,
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
    /// Whether entity rows learn, vectors and transfer vectors.
    pub train_entities: bool,
}

impl Default for HireConfig {
    /// The paper.
    fn default() -> Self {
        Self {
            residual: Residual::default(),
            hidden_ratio: 4,
            dropout: 0.2,
            attention_dropout: 0.2,
            drop_path: 0.0,
            init: Init::Torch,
            context_weight: 0.05,
            temperature: 0.1,
            corrupted_contexts: 1,
            neighbours: 50,
            hides_own_edges: true,
            entity_transfers: EntityTransfers::default(),
            relation_transfers: RelationTransfers::default(),
            transfer_step: TransferStep::default(),
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

impl HireConfig {
    /// Checks every field, also together with those of the trainer.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    pub fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        use FieldChecks as Is;
        require(
            (1..=64).contains(&self.hidden_ratio),
            "hidden_ratio",
            self.hidden_ratio,
            "between 1 and 64",
        )?;
        Is::share("dropout", self.dropout)?;
        Is::share("attention_dropout", self.attention_dropout)?;
        Is::share("drop_path", self.drop_path)?;
        Is::at_least_zero("context_weight", self.context_weight)?;
        Is::positive("temperature", self.temperature)?;
        Is::count("corrupted_contexts", self.corrupted_contexts, 1)?;
        Is::count("neighbours", self.neighbours, 0)?;
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
