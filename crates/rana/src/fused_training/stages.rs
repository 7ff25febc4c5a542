//! The stages of a training of `rana-fused`, and how long each is expected to take on this machine.

use std::collections::HashSet;
use std::time::Instant;

use rana_embed::ModelKind;
use rana_graph::Store;
use rana_models::training::{MetaTraining, RunConfig, StartVectors, Trainer};

use super::error::FusedError;
use super::fused_training::{FusedTraining, without};
use crate::schedule::Stage;
use crate::trial::{TrialError, VectorPlan, Workspace};
use crate::vector_training::seconds_per_epoch;

/// What the gathering of evidence is called.
pub(super) const EVIDENCE: &str = "gathering evidence";
/// What its measurement on train tasks that were left out is called.
pub(super) const MEASURING: &str = "measuring on train tasks left out";
/// The share of its steps that a training takes, as a rule, if it may end early.
const BEFORE_PATIENCE: f64 = 0.7;
/// How long evidence takes for a task, and for each entity that may be its answer, in seconds.
const PER_TASK: f64 = 0.2;
const PER_CANDIDATE: f64 = 1.5e-6;

/// The stages that are not done yet, in their order.
pub(super) fn stages(
    training: &FusedTraining,
    store: &Store,
    workspace: &Workspace,
) -> Result<Vec<Stage>, FusedError> {
    let trials = training.trials()?;
    let meta = match trials.iter().any(|named| named.trial.finished(store, workspace).is_none()) {
        true => meta_training_seconds(training, store, workspace)?,
        false => 0.0,
    };
    let mut planned = HashSet::new();
    let mut seconds = Vec::new();
    let mut stages = Vec::new();
    let mut of_vectors = |plan: &VectorPlan, stages: &mut Vec<Stage>| -> Result<(), FusedError> {
        if let VectorPlan::Train(settings) = plan
            && !plan.is_ready(store, workspace)
            && planned.insert(plan.path(store, workspace))
        {
            let time = vector_seconds(plan, settings.config.model, store, &mut seconds)?;
            stages.push(Stage::new(settings.stage(), time));
        }
        Ok(())
    };
    for named in trials.iter().filter(|named| named.trial.finished(store, workspace).is_none()) {
        of_vectors(&named.trial.vectors, &mut stages)?;
        stages.push(Stage::new(Trainer::STAGE, meta));
    }
    for named in &trials {
        if let Some(products) = &training.products {
            of_vectors(&without(products, named.trial.config.trainer.fold), &mut stages)?;
        }
    }
    let tasks = store.tasks.len() as f64;
    let evidence = tasks * (PER_TASK + PER_CANDIDATE * store.graph.entity_count() as f64);
    stages.extend([EVIDENCE, MEASURING].map(|name| Stage::new(name, evidence)));
    Ok(stages)
}

/// How long vectors take to train. An epoch is measured once for each kind of vectors.
fn vector_seconds(
    plan: &VectorPlan,
    model: ModelKind,
    store: &Store,
    known: &mut Vec<(ModelKind, f64)>,
) -> Result<f64, FusedError> {
    let VectorPlan::Train(settings) = plan else { return Ok(0.0) };
    let per_epoch = match known.iter().find(|(of, _)| *of == model) {
        Some(&(_, seconds)) => seconds,
        None => {
            let facts = store.graph.facts();
            let seconds =
                seconds_per_epoch(&store.graph, facts, &settings.config).map_err(TrialError::from)?;
            known.push((model, seconds));
            seconds
        }
    };
    Ok(f64::from(settings.config.epochs) * per_epoch)
}

/// How long one training of the model takes, told by a few of its steps from random vectors.
fn meta_training_seconds(
    training: &FusedTraining,
    store: &Store,
    workspace: &Workspace,
) -> Result<f64, FusedError> {
    let dim = match &training.vectors {
        VectorPlan::Train(settings) => settings.config.dim,
        given => given.ready(store, workspace, &())?.set.entities.dim(),
    };
    let config: &RunConfig = &training.model;
    let start = StartVectors::random(&store.graph, dim, config.trainer.seed);
    let sample = MetaTraining::new(store, config.clone(), start).map_err(TrialError::from)?;
    let mut trainer = sample.trainer().map_err(TrialError::from)?;
    let mut seconds_of = |steps: u32| -> Result<f64, TrialError> {
        let started = Instant::now();
        for _ in 0..steps {
            trainer.step()?;
        }
        Ok(started.elapsed().as_secs_f64() / f64::from(steps))
    };
    // The first step touches everything for the first time.
    seconds_of(1)?;
    let per_step = seconds_of(2)?;
    let model = trainer.model();
    let started = Instant::now();
    // Only its time counts; if it fails, it fails again where that is reported.
    let _ = sample.dev_mrr(&*model);
    let per_evaluation = started.elapsed().as_secs_f64();
    let of = &config.trainer;
    let share = if of.patience > 0 { BEFORE_PATIENCE } else { 1.0 };
    Ok(share * of.steps as f64 * (per_step + per_evaluation / of.eval_every as f64))
}
