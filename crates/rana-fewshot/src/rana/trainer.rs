//! [`MetaTrainer`]: Algorithm 1, from episodes to parameters.

use std::collections::HashMap;
use std::sync::Arc;

use rana_graph::{EntityId, Graph, Pair, RelationId, Split, TaskSet};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::adam::{Adam, Moments, RowMoments, mean_norm};
use super::batch::{Contrasts, MetaTask};
use super::config::{RanaConfig, RanaConfigError, TrainEntities};
use super::diagnostics::Diagnostics;
use super::inputs::Inputs;
use super::model::{RanaModel, RowRoles};
use super::negatives::{Choice, Cutoffs, NegativeSampler, Pruned};
use super::neighbours::Neighbours;
use super::parameters::{DimensionMismatch, RanaParameters, StartVectors};
use super::run::RunError;
use super::step::step;
use super::weights::Layout;
use crate::episode::{Episode, EpisodeConfig, EpisodeError, EpisodeSampler};
use crate::fold::Fold;
use crate::mode::TrainingTasks;
use crate::seed::{Purpose, rng};

/// Why a model cannot be trained.
#[derive(Debug, thiserror::Error)]
pub enum MetaError {
    /// A field of the configuration cannot be used.
    #[error(transparent)]
    Config(#[from] RanaConfigError),
    /// The vectors do not fit RANA.
    #[error(transparent)]
    Dimension(#[from] DimensionMismatch),
    /// No episode can be drawn.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// The vectors know the tasks that training is to leave out.
    #[error(
        "fold is {fold}, but the vectors were trained on train tasks{}: they know what is left out. Make others with \
         `rana embed --fold {fold}`, or on the background alone", without.as_ref().map_or_else(String::new, |without| format!(" without fold {without}"))
    )]
    FoldIsKnown {
        /// What training is to leave out.
        fold: Fold,
        /// What the vectors were trained without.
        without: Option<String>,
    },
    /// There is nothing to choose the best model by.
    #[error(
        "there is no dev task to choose the best model by. Split the graph again with some (`rana split`)"
    )]
    NoDevTasks,
    /// More shots than a task has facts.
    #[error(
        "shots is {shots}; it must be smaller, or the dev task `{relation}` with its {facts} facts has no query left"
    )]
    TooFewFacts {
        /// The relation of the task.
        relation: String,
        /// How many facts it has.
        facts: usize,
        /// How many supports would take.
        shots: usize,
    },
    /// Nothing to rank the tails of a dev task among.
    #[error(
        "the dev task `{relation}` has no candidates, so the best model cannot be chosen by it. Give it some, or leave \
         it out of dev"
    )]
    NoCandidates {
        /// The relation of the task.
        relation: String,
    },
    /// The loss is no number any more.
    #[error("the loss of step {step} is {loss}: training has diverged. Lower learning_rate or eta")]
    Diverged {
        /// The step, counted from 1.
        step: u64,
        /// The loss.
        loss: f64,
    },
    /// The run directory cannot be written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The dev evaluation failed.
    #[error("the dev evaluation failed: {0}")]
    Validation(String),
}

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepReport {
    /// How many steps are done.
    pub step: u64,
    /// What was minimised.
    pub loss: f64,
    /// The batch from the inside.
    #[serde(flatten)]
    pub diagnostics: Diagnostics,
    /// The share of valid candidates that pruning refused.
    pub pruned_candidates: f64,
}

/// What a run logs now and then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LogEntry {
    /// The last step.
    #[serde(flatten)]
    pub last: StepReport,
    /// The mean loss since the entry before.
    pub mean_loss: f64,
    /// How many entity rows have learned.
    pub learned_rows: usize,
    /// Their mean norm.
    pub learned_row_norm: f64,
    /// The mean norm of the relation rows.
    pub relation_row_norm: f64,
}

/// What a dev evaluation found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ValidationReport {
    /// How many steps were done.
    pub step: u64,
    /// The MRR on dev.
    pub dev_mrr: f64,
    /// Whether it is the best so far.
    pub is_best: bool,
}

/// A line of a run's log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum LogLine {
    /// What a step looked like, ten times between dev evaluations.
    Step(LogEntry),
    /// A dev evaluation.
    Dev(ValidationReport),
}

/// The best parameters so far.
#[derive(Clone, Debug)]
pub struct Best {
    /// After how many steps.
    pub step: u64,
    /// Their MRR on dev.
    pub dev_mrr: f64,
    /// The parameters.
    pub parameters: Arc<RanaParameters>,
}

/// Everything that changes during training.
#[derive(Clone, Debug)]
pub struct TrainingState {
    /// How many steps are done.
    pub step: u64,
    /// The parameters now.
    pub parameters: RanaParameters,
    /// The best so far, if there was a dev evaluation.
    pub best: Option<Best>,
    /// Dev evaluations since then.
    pub misses: u64,
    pub(crate) weight_moments: Moments,
    pub(crate) relation_moments: Moments,
    pub(crate) row_moments: RowMoments,
    /// The losses since the last entry of the log.
    pub(crate) loss_sum: f64,
    pub(crate) loss_steps: u64,
}

/// How training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetaOutcome {
    /// All steps are done.
    Finished,
    /// There was no new best for too long.
    OutOfPatience,
    /// It was told to stop, and can go on.
    Stopped,
}

/// Who watches a training; every method does nothing unless told otherwise.
pub trait MetaObserver {
    /// A step is done.
    fn stepped(&mut self, _: &StepReport) {}
    /// An entry of the log is due.
    ///
    /// # Errors
    /// What is reported ends the training.
    fn logged(&mut self, _: &LogEntry) -> Result<(), MetaError> {
        Ok(())
    }
    /// A dev evaluation is done.
    ///
    /// # Errors
    /// What is reported ends the training.
    fn validated(&mut self, _: &ValidationReport) -> Result<(), MetaError> {
        Ok(())
    }
    /// A good moment to keep the state.
    ///
    /// # Errors
    /// What is reported ends the training.
    fn between_steps(&mut self, _: &TrainingState) -> Result<(), MetaError> {
        Ok(())
    }
    /// Whether to stop before the next step.
    fn should_stop(&self) -> bool {
        false
    }
}

impl MetaObserver for () {}

/// Bytes of an entity table that are worth a copy in huge pages: neighbours and negatives are everywhere in it.
const RESIDENT_BYTES: usize = 256 << 20;

/// Trains RANA on the tasks of a graph.
pub struct MetaTrainer<'a> {
    config: RanaConfig,
    layout: Layout,
    graph: &'a Graph,
    tasks: &'a TrainingTasks<'a>,
    episodes: EpisodeSampler<'a>,
    /// Where among the sampler's tasks each relation is.
    places: HashMap<RelationId, usize>,
    cutoffs: Cutoffs,
    neighbours: Neighbours<'a>,
    state: TrainingState,
}

impl<'a> MetaTrainer<'a> {
    /// A training from its start. `tasks` are those of the graph under the configuration's data mode.
    ///
    /// # Errors
    /// If the configuration, the vectors and the tasks do not go together.
    pub fn new(
        config: RanaConfig,
        graph: &'a Graph,
        tasks: &'a TrainingTasks<'a>,
        start: &StartVectors,
    ) -> Result<Self, MetaError> {
        config.check()?;
        let layout = Layout::new(&config, start.dim());
        let episodes = EpisodeSampler::new(
            tasks.iter(),
            EpisodeConfig {
                shots: config.shots,
                queries: config.queries,
                sampling: config.sampling,
                seed: config.seed,
                ..EpisodeConfig::default()
            },
        )?;
        let places =
            episodes.tasks().iter().enumerate().map(|(place, task)| (task.relation, place)).collect();
        let mut parameters = RanaParameters::initial(&config, &layout, start);
        if size_of_val(start.entities.values()) <= RESIDENT_BYTES {
            parameters.rows = parameters.rows.over(Arc::new(start.entities.resident()));
        }
        let state = TrainingState {
            step: 0,
            weight_moments: Moments::new(parameters.weights.len()),
            relation_moments: Moments::new(if config.train_relations {
                parameters.relations.len()
            } else {
                0
            }),
            row_moments: RowMoments::default(),
            parameters,
            best: None,
            misses: 0,
            loss_sum: 0.0,
            loss_steps: 0,
        };
        Ok(Self {
            cutoffs: Cutoffs::new(episodes.tasks().iter().copied()),
            neighbours: Neighbours::fixed(graph, &config),
            config,
            layout,
            graph,
            tasks,
            episodes,
            places,
            state,
        })
    }

    /// Checks that there are dev tasks, and that each leaves a query and has candidates.
    ///
    /// # Errors
    /// If not.
    pub fn check_dev(config: &RanaConfig, graph: &Graph, tasks: &TaskSet) -> Result<(), MetaError> {
        if tasks.of(Split::Dev).next().is_none() {
            return Err(MetaError::NoDevTasks);
        }
        if let Some(task) = tasks.of(Split::Dev).find(|task| task.candidates.is_empty()) {
            return Err(MetaError::NoCandidates { relation: graph.relation_name(task.relation).to_owned() });
        }
        match tasks.of(Split::Dev).find(|task| task.facts.len() <= config.shots) {
            None => Ok(()),
            Some(task) => Err(MetaError::TooFewFacts {
                relation: graph.relation_name(task.relation).to_owned(),
                facts: task.facts.len(),
                shots: config.shots,
            }),
        }
    }

    /// The same training as it stands at a state.
    #[must_use]
    pub fn resume(mut self, mut state: TrainingState) -> Self {
        let base = Arc::clone(self.state.parameters.rows.base_table());
        state.parameters.rows = state.parameters.rows.over(base);
        self.episodes = self.episodes.resume(state.step * self.config.batch as u64);
        self.state = state;
        self
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &RanaConfig {
        &self.config
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> &TrainingState {
        &self.state
    }

    /// How many tasks episodes are drawn from.
    #[must_use]
    pub fn task_count(&self) -> usize {
        self.episodes.tasks().len()
    }

    /// The model as it stands.
    #[must_use]
    pub fn model(&mut self) -> RanaModel<'a> {
        self.catch_up_all();
        RanaModel::new(self.config.clone(), self.graph, Arc::new(self.state.parameters.clone()))
    }

    fn catch_up_all(&mut self) {
        let learned = self.state.parameters.rows.learned().to_vec();
        let TrainingState { step, parameters, row_moments, .. } = &mut self.state;
        row_moments.catch_up(&self.config, *step, &mut parameters.rows, learned.into_iter());
    }

    /// Draws the next batch of episodes with their negatives, and passes it by.
    pub fn draw_batch(&mut self) -> Vec<MetaTask> {
        self.batch().0
    }

    /// The loss of a batch and the gradient of the network's weights, as they stand.
    #[must_use]
    pub fn gradient(&self, tasks: &[MetaTask]) -> (f64, Vec<f32>) {
        let roles = RowRoles::new(&self.config, &self.state.parameters.rows);
        let result = step(self.inputs(&roles, &self.neighbours, None), tasks);
        (result.loss, result.weights)
    }

    fn inputs<'i>(
        &'i self,
        roles: &'i RowRoles<'i>,
        neighbours: &'i Neighbours<'i>,
        dropout: Option<u64>,
    ) -> Inputs<'i, f32> {
        Inputs {
            config: &self.config,
            layout: &self.layout,
            weights: &self.state.parameters.weights,
            relations: &self.state.parameters.relations,
            rows: roles,
            neighbours,
            dropout,
        }
    }

    fn batch(&mut self) -> (Vec<MetaTask>, Pruned) {
        let first = self.episodes.drawn();
        let episodes: Vec<Episode> = (0..self.config.batch).map(|_| self.episodes.draw()).collect();
        let roles = RowRoles::new(&self.config, &self.state.parameters.rows);
        let sampler =
            NegativeSampler { config: &self.config, rows: &roles, entities: self.graph.entity_count() };
        let drawn: Vec<(MetaTask, Pruned)> = episodes
            .par_iter()
            .enumerate()
            .with_min_len(8)
            .map(|(at, episode)| self.with_negatives(&sampler, first + at as u64, episode))
            .collect();
        let mut pruned = Pruned::default();
        for (_, own) in &drawn {
            pruned.seen += own.seen;
            pruned.pruned += own.pruned;
        }
        (drawn.into_iter().map(|(task, _)| task).collect(), pruned)
    }

    fn with_negatives(
        &self,
        sampler: &NegativeSampler<'_>,
        number: u64,
        episode: &Episode,
    ) -> (MetaTask, Pruned) {
        let place = self.places[&episode.relation];
        let candidates = self.episodes.tasks()[place].candidates;
        let mut rng = rng(self.config.seed, Purpose::Negatives, [number, 0]);
        let mut pruned = Pruned::default();
        let mut contrasts = |pairs: &[Pair]| {
            let mut contrasts = Contrasts::default();
            for &pair in pairs {
                let known = self.tasks.known_tails(pair.head, episode.relation);
                let drawn = self.cutoffs.with(sampler, place, pair.tail, candidates, |cutoff| {
                    sampler.draw(&Choice { pair, candidates, known, cutoff }, &mut rng, &mut pruned)
                });
                contrasts.push(pair, drawn);
            }
            contrasts
        };
        let (support, query) = (contrasts(&episode.support), contrasts(&episode.query));
        (MetaTask { support, query, rejected: Vec::new() }, pruned)
    }

    /// Does one step.
    ///
    /// # Errors
    /// If the loss is no number any more.
    pub fn step(&mut self) -> Result<StepReport, MetaError> {
        let (tasks, pruned) = self.batch();
        let report = self.step_on(&tasks)?;
        Ok(StepReport { pruned_candidates: pruned.pruned as f64 / pruned.seen.max(1) as f64, ..report })
    }

    /// Does one step on a given batch, drawing none.
    ///
    /// # Errors
    /// If the loss is no number any more.
    pub fn step_on(&mut self, tasks: &[MetaTask]) -> Result<StepReport, MetaError> {
        let number = self.state.step;
        let looked_at = || tasks.iter().flat_map(|task| entities(&task.support).chain(entities(&task.query)));
        let TrainingState { parameters, row_moments, .. } = &mut self.state;
        row_moments.catch_up(&self.config, number, &mut parameters.rows, looked_at());
        let drawn = Neighbours::of_step(self.graph, &self.config, number, looked_at());
        let roles = RowRoles::new(&self.config, &self.state.parameters.rows);
        let neighbours = drawn.as_ref().unwrap_or(&self.neighbours);
        let result = step(self.inputs(&roles, neighbours, Some(number)), tasks);
        if !result.loss.is_finite() {
            return Err(MetaError::Diverged { step: number + 1, loss: result.loss });
        }
        let (config, state) = (&self.config, &mut self.state);
        let rate = config.learning_rate_at(number);
        let adam = Adam::at(config, number, rate);
        let (weights, moments) = (&mut state.parameters.weights, &mut state.weight_moments);
        if config.weight_decay > 0.0 {
            weights.iter_mut().for_each(|weight| *weight -= rate * config.weight_decay * *weight);
        }
        adam.update(weights, &result.weights, &mut moments.first, &mut moments.second);
        if config.train_relations {
            let moments = &mut state.relation_moments;
            let adam = Adam::at(config, number, config.entity_learning_rate_at(number));
            adam.update(
                &mut state.parameters.relations,
                &result.relations,
                &mut moments.first,
                &mut moments.second,
            );
        }
        if config.train_entities != TrainEntities::Frozen {
            state.row_moments.update(config, number, &mut state.parameters.rows, &result.rows);
        }
        state.step += 1;
        state.loss_sum += result.loss;
        state.loss_steps += 1;
        Ok(StepReport {
            step: state.step,
            loss: result.loss,
            diagnostics: result.diagnostics,
            pruned_candidates: 0.0,
        })
    }

    /// Trains until the steps are done, patience is over, or the observer wants to stop.
    ///
    /// `validate` gives the MRR of a model on the dev tasks.
    ///
    /// # Errors
    /// If training diverges, or the evaluation or the observer fails.
    pub fn run(
        &mut self,
        validate: &mut dyn FnMut(&RanaModel<'_>) -> Result<f64, String>,
        observer: &mut dyn MetaObserver,
    ) -> Result<MetaOutcome, MetaError> {
        let log_every = (self.config.eval_every / 10).max(1);
        while self.state.step < self.config.steps {
            if self.is_out_of_patience() {
                return Ok(MetaOutcome::OutOfPatience);
            }
            if observer.should_stop() {
                return Ok(MetaOutcome::Stopped);
            }
            let report = self.step()?;
            observer.stepped(&report);
            let is_last = report.step == self.config.steps;
            if report.step.is_multiple_of(log_every) || is_last {
                observer.logged(&self.log_entry(report))?;
            }
            if report.step.is_multiple_of(self.config.eval_every) || is_last {
                let report = self.validate(validate)?;
                observer.validated(&report)?;
            }
            observer.between_steps(&self.state)?;
        }
        Ok(MetaOutcome::Finished)
    }

    fn is_out_of_patience(&self) -> bool {
        self.config.patience > 0 && self.state.misses >= self.config.patience
    }

    fn log_entry(&mut self, last: StepReport) -> LogEntry {
        let state = &mut self.state;
        let mean_loss = state.loss_sum / state.loss_steps.max(1) as f64;
        (state.loss_sum, state.loss_steps) = (0.0, 0);
        let rows = &state.parameters.rows;
        LogEntry {
            last,
            mean_loss,
            learned_rows: rows.learned().len(),
            learned_row_norm: mean_norm(rows.learned_values(), rows.dim()),
            relation_row_norm: mean_norm(&state.parameters.relations, rows.dim()),
        }
    }

    fn validate(
        &mut self,
        validate: &mut dyn FnMut(&RanaModel<'_>) -> Result<f64, String>,
    ) -> Result<ValidationReport, MetaError> {
        let model = self.model();
        let dev_mrr = validate(&model).map_err(MetaError::Validation)?;
        let state = &mut self.state;
        let is_best = state.best.as_ref().is_none_or(|best| dev_mrr > best.dev_mrr);
        if is_best {
            state.best = Some(Best { step: state.step, dev_mrr, parameters: Arc::clone(model.parameters()) });
            state.misses = 0;
        } else {
            state.misses += 1;
        }
        Ok(ValidationReport { step: state.step, dev_mrr, is_best })
    }
}

/// Every entity of some contrasts.
fn entities(contrasts: &Contrasts) -> impl Iterator<Item = EntityId> + '_ {
    let ends = contrasts.pairs().iter().flat_map(|pair| [pair.head, pair.tail]);
    ends.chain(contrasts.negatives().iter().copied())
}
