//! [`Network`]: what each matching model brings.

use super::matching_processor::MatchingProcessor;
use super::neighbourhoods::Slots;
use super::pair_encoder::PairEncoder;
use crate::real::Real;
use crate::tape::{Segments, Tape, Var};
use crate::training::{ConfigError, Init, TrainerConfig, WeightBlocks, require};

/// The settings that all matching models share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchingSettings {
    /// The most neighbours of an entity.
    pub(crate) neighbours: usize,
    /// Whether a relation that is asked for is hidden from its own encoders.
    pub(crate) hides_own_edges: bool,
    /// Whether rows are standardised before they are used.
    pub(crate) standardises: bool,
    /// Whether the rows of entities and relations learn.
    pub(crate) fine_tunes: bool,
    /// The margin between a true pair and its negative.
    pub(crate) margin: f32,
    /// Negatives per query.
    pub(crate) negatives: usize,
    /// How weights start.
    pub(crate) init: Init,
}

impl MatchingSettings {
    /// Checks what the settings have to do with each other and with those of the trainer.
    pub(crate) fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        require(
            !(self.standardises && self.fine_tunes),
            "standardise",
            self.standardises,
            "false if fine_tune is true",
        )?;
        require(
            self.fine_tunes || trainer.max_norm.is_none(),
            "max_norm",
            trainer.max_norm.unwrap_or_default(),
            "left out if fine_tune is false",
        )?;
        require(
            self.fine_tunes || trainer.entity_learning_rate.is_none(),
            "entity_learning_rate",
            trainer.entity_learning_rate.unwrap_or_default(),
            "left out if fine_tune is false",
        )
    }
}

/// What queries are matched with.
pub(crate) struct References {
    /// The references of all tasks, one row each.
    pub(crate) rows: Var,
    /// Which of them each task has. The best match counts.
    pub(crate) of_tasks: Segments,
    /// A number that is minimised too.
    pub(crate) loss: Option<Var>,
}

/// What each matching model brings. Entities have `dim` numbers, pairs twice as many.
pub(crate) trait Network: Send + Sync + 'static {
    fn settings(&self) -> &MatchingSettings;

    /// All weights.
    fn blocks(&self) -> &WeightBlocks;

    /// The encoder of pairs.
    fn pair_encoder(&self) -> &PairEncoder;

    /// What matches queries with references.
    fn processor(&self) -> &MatchingProcessor;

    /// Entities by their neighbours: a row for each group of slots.
    fn encode<T: Real>(&self, tape: &mut Tape<'_, T>, slots: &Slots) -> Var;

    /// The references of tasks, from the encoded pairs of their supports.
    fn references<T: Real>(&self, tape: &mut Tape<'_, T>, supports: Var, shots: &Segments) -> References;
}
