//! [`Trainer`]: meta-training by steps, from episodes to parameters (Algorithm 1 of the paper).

use std::collections::HashMap;
use std::sync::Arc;

use rana_fewshot::{Episode, EpisodeConfig, EpisodeSampler, FewShotModel, TrainingTasks};
use rana_graph::{Graph, Observer, Pair, RelationId, Split, TaskSet, Unit};
use rayon::prelude::*;

use super::adam::{Adam, Moments, RowMoments};
use super::error::TrainingError;
use super::meta_task::{Contrasts, MetaTask};
use super::parameters::Parameters;
use super::run_config::RunConfig;
use super::running_mean::RunningMean;
use super::start_vectors::StartVectors;
use super::stepped_model::{NegativeChoice, NegativeCounts, NegativeRule, StepResult, SteppedModel};
use super::trainer_config::TrainerConfig;
use super::training_log::{LogEntry, StepReport, TrainingLog, ValidationReport};
use super::training_state::{Best, TrainingOutcome, TrainingState};
use crate::seed::{Purpose, rng};

/// The name under which an observer is told each evaluation on dev.
pub const DEV_MRR: &str = "dev MRR";
/// The name of the score that selects the best model.
const BEST_DEV_MRR: &str = "best dev MRR";

/// The size of an entity table, in bytes, up to which it is copied to huge pages: its rows are read in random order.
const RESIDENT_BYTES: usize = 256 << 20;

/// Trains a model by steps on the tasks of a graph.
pub struct Trainer<'a> {
    config: RunConfig,
    model: Box<dyn SteppedModel>,
    tasks: &'a TrainingTasks<'a>,
    episodes: EpisodeSampler<'a>,
    /// Where among the sampler's tasks each relation is.
    places: HashMap<RelationId, usize>,
    negatives: Box<dyn NegativeRule + 'a>,
    state: TrainingState,
}

impl<'a> Trainer<'a> {
    /// What observers are told that a training is called.
    pub const STAGE: &'static str = "meta-training";

    /// A training from its start. `tasks` are those of the graph under the configuration's data mode.
    ///
    /// # Errors
    /// If the configuration, the vectors and the tasks do not go together.
    pub fn new(
        config: &RunConfig,
        graph: &Graph,
        tasks: &'a TrainingTasks<'a>,
        start: &StartVectors,
    ) -> Result<Self, TrainingError> {
        config.check()?;
        let config = config.in_unit_of(start);
        let trainer = &config.trainer;
        let model = config.model.model(trainer, graph, start.dim());
        let episodes = Self::episodes(trainer, tasks)?;
        let places =
            episodes.tasks().iter().enumerate().map(|(place, task)| (task.relation, place)).collect();
        let mut parameters = model.initial(start);
        let base = Arc::clone(parameters.rows.base_table());
        if size_of_val(base.values()) <= RESIDENT_BYTES {
            parameters.rows = parameters.rows.over(Arc::new(base.resident()));
        }
        let relations = if model.layout().learns_relations { parameters.relations.len() } else { 0 };
        let state = TrainingState {
            step: 0,
            weight_moments: Moments::new(parameters.weights.len()),
            relation_moments: Moments::new(relations),
            row_moments: RowMoments::default(),
            mean: trainer.mean_steps.map(|_| RunningMean::new(&parameters)),
            parameters,
            best: None,
            misses: 0,
            loss_sum: 0.0,
            loss_steps: 0,
        };
        let negatives = model.negatives(episodes.tasks());
        Ok(Self { config, model, tasks, episodes, places, negatives, state })
    }

    /// Checks that there are dev tasks, and that each leaves a query and has candidates.
    ///
    /// # Errors
    /// If not.
    pub fn check_dev(shots: usize, graph: &Graph, tasks: &TaskSet) -> Result<(), TrainingError> {
        if tasks.of(Split::Dev).next().is_none() {
            return Err(TrainingError::NoDevTasks);
        }
        if let Some(task) = tasks.of(Split::Dev).find(|task| task.candidates.is_empty()) {
            let relation = graph.relation_name(task.relation).to_owned();
            return Err(TrainingError::NoCandidates { relation });
        }
        match tasks.of(Split::Dev).find(|task| task.facts.len() <= shots) {
            None => Ok(()),
            Some(task) => Err(TrainingError::TooFewFacts {
                relation: graph.relation_name(task.relation).to_owned(),
                facts: task.facts.len(),
                shots,
            }),
        }
    }

    /// Checks that episodes can be drawn.
    pub(super) fn check_episodes(
        trainer: &TrainerConfig,
        tasks: &TrainingTasks<'_>,
    ) -> Result<(), TrainingError> {
        Self::episodes(trainer, tasks).map(drop)
    }

    fn episodes<'t>(
        trainer: &TrainerConfig,
        tasks: &'t TrainingTasks<'t>,
    ) -> Result<EpisodeSampler<'t>, TrainingError> {
        let config = EpisodeConfig {
            shots: trainer.shots,
            queries: trainer.queries,
            task_draw: trainer.task_draw,
            sampling: trainer.sampling,
            seed: trainer.seed,
            ..EpisodeConfig::default()
        };
        Ok(EpisodeSampler::new(tasks.iter(), config)?)
    }

    /// The same training as it stands at a state.
    #[must_use]
    pub fn resume(mut self, mut state: TrainingState) -> Self {
        let base = Arc::clone(self.state.parameters.rows.base_table());
        state.parameters.rows = state.parameters.rows.over(Arc::clone(&base));
        if let Some(mean) = &mut state.mean {
            mean.parameters.rows = mean.parameters.rows.clone().over(base);
        }
        self.episodes = self.episodes.resume(state.step * self.config.trainer.batch as u64);
        self.state = state;
        self
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &RunConfig {
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
    pub fn model(&mut self) -> Arc<dyn FewShotModel> {
        let parameters = self.parameters();
        self.model.freeze(parameters)
    }

    /// The model with given parameters.
    #[must_use]
    pub fn freeze(&self, parameters: Arc<Parameters>) -> Arc<dyn FewShotModel> {
        self.model.freeze(parameters)
    }

    /// A copy of the parameters that are evaluated: those as they stand, or their mean over the last steps.
    fn parameters(&mut self) -> Arc<Parameters> {
        self.catch_up();
        let TrainingState { parameters, mean, .. } = &self.state;
        Arc::new(
            mean.as_ref().filter(|mean| mean.samples > 0).map_or(parameters, |mean| &mean.parameters).clone(),
        )
    }

    /// Makes up for the updates that rows have missed so far.
    fn catch_up(&mut self) {
        let learned = self.state.parameters.rows.learned().to_vec();
        let TrainingState { step, parameters, row_moments, .. } = &mut self.state;
        row_moments.catch_up(&self.config.trainer, *step, &mut parameters.rows, learned.into_iter());
    }

    /// Takes the parameters into their mean, if there is one and it is time.
    fn update_mean(&mut self) {
        let Some(span) = self.config.trainer.mean_steps else { return };
        if !RunningMean::is_due(span, self.state.step) {
            return;
        }
        self.catch_up();
        let TrainingState { parameters, mean, .. } = &mut self.state;
        if let Some(mean) = mean {
            mean.add(span, parameters);
        }
    }

    /// Draws the next batch of episodes with their negatives. The training continues with the batch after it.
    pub fn draw_batch(&mut self) -> Vec<MetaTask> {
        self.batch().0
    }

    /// The loss of a batch and its gradients, as the parameters stand.
    #[must_use]
    pub fn gradient(&self, tasks: &[MetaTask]) -> StepResult<f32> {
        self.model.step(&self.state.parameters, tasks, None)
    }

    fn batch(&mut self) -> (Vec<MetaTask>, NegativeCounts) {
        let first = self.episodes.drawn();
        let episodes: Vec<Episode> = (0..self.config.trainer.batch).map(|_| self.episodes.draw()).collect();
        let drawn: Vec<(MetaTask, NegativeCounts)> = episodes
            .par_iter()
            .enumerate()
            .with_min_len(8)
            .map(|(at, episode)| self.with_negatives(first + at as u64, episode))
            .collect();
        let mut counts = NegativeCounts::default();
        for (_, own) in &drawn {
            counts.seen += own.seen;
            counts.refused += own.refused;
        }
        (drawn.into_iter().map(|(task, _)| task).collect(), counts)
    }

    fn with_negatives(&self, number: u64, episode: &Episode) -> (MetaTask, NegativeCounts) {
        let task = self.places[&episode.relation];
        let candidates = self.episodes.tasks()[task].candidates;
        let mut rng = rng(self.config.trainer.seed, Purpose::Negatives, [number, 0]);
        let mut counts = NegativeCounts::default();
        let mut contrasts = |pairs: &[Pair]| {
            let mut contrasts = Contrasts::default();
            let first = rng.clone();
            for &pair in pairs {
                if self.negatives.shares_draws() {
                    rng = first.clone();
                }
                let known = self.tasks.known_tails(pair.head, episode.relation);
                let choice = NegativeChoice { task, pair, candidates, known };
                let drawn = self.negatives.draw(&self.state.parameters, &choice, &mut rng, &mut counts);
                contrasts.push(pair, drawn);
            }
            contrasts
        };
        let (support, query) = (contrasts(&episode.support), contrasts(&episode.query));
        (MetaTask { relation: Some(episode.relation), support, query, rejected: Vec::new() }, counts)
    }

    /// Does one step.
    ///
    /// # Errors
    /// If the loss is not finite.
    pub fn step(&mut self) -> Result<StepReport, TrainingError> {
        let (tasks, counts) = self.batch();
        let mut report = self.step_on(&tasks)?;
        report.diagnostics.extend(self.negatives.diagnostic(counts));
        Ok(report)
    }

    /// Does one step on a given batch, drawing none.
    ///
    /// # Errors
    /// If the loss is not finite.
    pub fn step_on(&mut self, tasks: &[MetaTask]) -> Result<StepReport, TrainingError> {
        let number = self.state.step;
        let trainer = &self.config.trainer;
        let TrainingState { parameters, row_moments, .. } = &mut self.state;
        let looked_at = tasks.iter().flat_map(MetaTask::entities);
        row_moments.catch_up(trainer, number, &mut parameters.rows, looked_at);
        let result = self.model.step(&self.state.parameters, tasks, Some(number));
        if !result.loss.is_finite() {
            return Err(TrainingError::Diverged { step: number + 1, loss: result.loss });
        }
        self.update(number, &result);
        if !result.buffers.is_empty() {
            self.state.parameters.buffers.clone_from(&result.buffers);
        }
        let state = &mut self.state;
        state.step += 1;
        state.loss_sum += result.loss;
        state.loss_steps += 1;
        self.update_mean();
        let state = &self.state;
        Ok(StepReport { step: state.step, loss: result.loss, diagnostics: result.diagnostics })
    }

    /// Moves everything that learns against its gradient.
    fn update(&mut self, number: u64, result: &StepResult<f32>) {
        let (trainer, state): (&TrainerConfig, _) = (&self.config.trainer, &mut self.state);
        let rate = trainer.learning_rate_at(number);
        let adam = Adam::at(trainer, number, rate);
        let (weights, moments) = (&mut state.parameters.weights, &mut state.weight_moments);
        if trainer.weight_decay > 0.0 {
            weights.iter_mut().for_each(|weight| *weight -= rate * trainer.weight_decay * *weight);
        }
        adam.update(weights, &result.weights, &mut moments.first, &mut moments.second);
        let layout = &state.parameters.layout;
        let (learns_relations, learns_entities) = (layout.learns_relations, layout.learns_entities);
        if learns_relations {
            let moments = &mut state.relation_moments;
            let adam = Adam::at(trainer, number, trainer.entity_learning_rate_at(number));
            let relations = &mut state.parameters.relations;
            adam.update(relations, &result.relations, &mut moments.first, &mut moments.second);
        }
        if learns_entities {
            state.row_moments.update(trainer, number, &mut state.parameters.rows, &result.rows);
        }
    }

    /// Trains until the steps are done, patience is over, or the observer wants to stop.
    ///
    /// `validate` gives the MRR of a model on the dev tasks.
    ///
    /// # Errors
    /// If training diverges, or the evaluation or the observer fails.
    pub fn run(
        &mut self,
        validate: &mut dyn FnMut(&dyn FewShotModel) -> Result<f64, String>,
        observer: &dyn Observer,
        log: &mut dyn TrainingLog,
    ) -> Result<TrainingOutcome, TrainingError> {
        let steps = self.config.trainer.steps;
        observer.begin(Self::STAGE, Some(steps), Unit::Steps);
        observer.resume(self.state.step);
        if let Some(best) = &self.state.best {
            observer.measured(BEST_DEV_MRR, best.dev_mrr);
        }
        let outcome = self.run_steps(validate, observer, log);
        observer.end();
        outcome
    }

    fn run_steps(
        &mut self,
        validate: &mut dyn FnMut(&dyn FewShotModel) -> Result<f64, String>,
        observer: &dyn Observer,
        log: &mut dyn TrainingLog,
    ) -> Result<TrainingOutcome, TrainingError> {
        let TrainerConfig { steps, eval_every, .. } = self.config.trainer;
        let log_every = (eval_every / 10).max(1);
        let mut mean_loss: Option<f64> = None;
        let mut validate = |this: &mut Self, log: &mut dyn TrainingLog, loss: Option<f64>| {
            let report = this.validate(validate)?;
            observer.measured(DEV_MRR, report.dev_mrr);
            if report.is_best {
                observer.measured(BEST_DEV_MRR, report.dev_mrr);
            }
            observer.detail(&report.line(loss));
            log.validation(&report)
        };
        if self.state.step == 0 && self.state.best.is_none() {
            // The untrained model is a choice too: training never ends below its start.
            validate(self, log, None)?;
        }
        while self.state.step < steps {
            if self.is_out_of_patience() {
                return Ok(TrainingOutcome::OutOfPatience);
            }
            if observer.should_stop() {
                return Ok(TrainingOutcome::Stopped);
            }
            let report = self.step()?;
            // The loss of one batch says little.
            let loss = mean_loss.map_or(report.loss, |mean| 0.9 * mean + 0.1 * report.loss);
            mean_loss = Some(loss);
            observer.advance(1);
            observer.measured("loss", loss);
            let done = report.step;
            if done.is_multiple_of(log_every) || done == steps {
                log.step(&self.log_entry(report))?;
            }
            if done.is_multiple_of(eval_every) || done == steps {
                validate(self, log, mean_loss)?;
            }
            log.state(&self.state)?;
        }
        Ok(TrainingOutcome::Finished)
    }

    fn is_out_of_patience(&self) -> bool {
        let patience = self.config.trainer.patience;
        patience > 0 && self.state.misses >= patience
    }

    fn log_entry(&mut self, last: StepReport) -> LogEntry {
        let state = &mut self.state;
        let mean_loss = state.loss_sum / state.loss_steps.max(1) as f64;
        (state.loss_sum, state.loss_steps) = (0.0, 0);
        let rows = &state.parameters.rows;
        let relation_width = rows.dim() / (1 + state.parameters.layout.extra_vectors);
        LogEntry {
            last,
            mean_loss,
            learned_rows: rows.learned().len(),
            learned_row_norm: mean_norm(rows.learned_values(), rows.dim()),
            relation_row_norm: mean_norm(&state.parameters.relations, relation_width),
        }
    }

    fn validate(
        &mut self,
        validate: &mut dyn FnMut(&dyn FewShotModel) -> Result<f64, String>,
    ) -> Result<ValidationReport, TrainingError> {
        let parameters = self.parameters();
        let model = self.model.freeze(Arc::clone(&parameters));
        let dev_mrr = validate(&*model).map_err(TrainingError::Validation)?;
        let state = &mut self.state;
        let is_best = state.best.as_ref().is_none_or(|best| dev_mrr > best.dev_mrr);
        if is_best {
            state.best = Some(Best { step: state.step, dev_mrr, parameters });
            state.misses = 0;
        } else {
            state.misses += 1;
        }
        Ok(ValidationReport { step: state.step, dev_mrr, is_best })
    }
}

/// The mean L2 norm of rows.
fn mean_norm(values: &[f32], dim: usize) -> f64 {
    let norms: Vec<f64> = values
        .par_chunks_exact(dim)
        .with_min_len(1024)
        .map(|row| row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt())
        .collect();
    norms.iter().sum::<f64>() / norms.len().max(1) as f64
}
