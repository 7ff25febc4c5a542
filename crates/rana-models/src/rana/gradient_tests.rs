//! Compares the step with the reference: losses, relations and every gradient, for every setting.

use rana_graph::EntityId;

use super::config::{Ends, RScope, RanaConfig, ScoreSpace, TrainEntities};
use super::encoded_pairs::EncodedPairs;
use super::encoder::{CHUNK, Projection};
use super::inputs::{EntityRows, Inputs};
use super::layout::Layout;
use super::objective::{Objective, Scratch};
use super::reference::{Parameters, Reference};
use super::reference_fixture::{
    FIXTURE_BATCH, FIXTURE_ENTITIES, Lists, fixture, fixture_config, fixture_configs,
};
use super::step::step;
use crate::training::{MetaTask, StepResult};

/// Rows of the reference's parameters.
struct Rows<'a> {
    dim: usize,
    parameters: &'a Parameters,
}

impl EntityRows<f64> for Rows<'_> {
    fn pretrained(&self, entity: EntityId) -> &[f64] {
        self.frozen(entity)
    }
    fn frozen(&self, entity: EntityId) -> &[f64] {
        &self.parameters.frozen[entity.index() * self.dim..(entity.index() + 1) * self.dim]
    }
    fn scoring(&self, entity: EntityId) -> &[f64] {
        &self.parameters.scoring[entity.index() * self.dim..(entity.index() + 1) * self.dim]
    }
}

fn inputs<'a>(
    config: &'a RanaConfig,
    layout: &'a Layout,
    parameters: &'a Parameters,
    rows: &'a Rows<'a>,
    lists: &'a Lists,
) -> Inputs<'a, f64> {
    Inputs {
        config,
        layout,
        weights: &parameters.weights,
        relations: &parameters.relations,
        rows,
        neighbours: lists,
        batch: FIXTURE_BATCH,
        seed: 0,
        dropout: None,
    }
}

/// The gradients of a step in the reference's form.
fn gradients(result: &StepResult<f64>, dim: usize, relations: usize) -> Parameters {
    let mut scoring = vec![0.0; FIXTURE_ENTITIES as usize * dim];
    for (entity, gradient) in result.rows.iter() {
        scoring[entity.index() * dim..(entity.index() + 1) * dim].copy_from_slice(gradient);
    }
    let mut of_relations = result.relations.clone();
    of_relations.resize(relations, 0.0);
    Parameters {
        weights: result.weights.clone(),
        relations: of_relations,
        frozen: vec![0.0; scoring.len()],
        scoring,
    }
}

/// The greatest difference, relative to the greatest value of either.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let greatest = a.iter().chain(b).fold(1e-9f64, |most, x| most.max(x.abs()));
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) / greatest
}

#[test]
fn every_gradient_is_that_of_the_equations() {
    for (number, (name, config)) in fixture_configs().into_iter().enumerate() {
        // Dimensions go with the seed.
        for seed in [number as u64] {
            let (layout, parameters, lists, tasks) = fixture(&config, seed);
            let rows = Rows { dim: layout.dim, parameters: &parameters };
            let result = step(inputs(&config, &layout, &parameters, &rows, &lists), &tasks);
            let reference =
                Reference { config: &config, layout: &layout, neighbours: &lists, batch: FIXTURE_BATCH };
            let (loss, _) = reference.loss(&parameters, &tasks, None);
            assert!((result.loss - loss).abs() < 1e-9 * loss.abs(), "{name}: {} is not {loss}", result.loss);
            let expected = reference.gradient(&parameters, &tasks);
            let found = gradients(&result, layout.dim, parameters.relations.len());
            for (what, found, expected) in [
                ("weights", &found.weights, &expected.weights),
                ("relations", &found.relations, &expected.relations),
                ("rows", &found.scoring, &expected.scoring),
            ] {
                let difference = difference(found, expected);
                assert!(difference < 1e-6, "{name}, seed {seed}: {what} differ by {difference:e}");
            }
        }
    }
}

/// Going through the exact second order is not what the first order does, or the test above would not
/// tell them apart.
#[test]
fn relations_after_inner_steps_are_those_of_the_equations() {
    for (name, config) in fixture_configs() {
        let (layout, parameters, lists, tasks) = fixture(&config, 1);
        let rows = Rows { dim: layout.dim, parameters: &parameters };
        let inputs = inputs(&config, &layout, &parameters, &rows, &lists);
        let reference =
            Reference { config: &config, layout: &layout, neighbours: &lists, batch: FIXTURE_BATCH };
        let pairs = EncodedPairs::new(inputs, &Projection::new(inputs), &tasks);
        let objective = Objective { inputs, chunks: &pairs.chunks };
        for (number, task) in tasks.iter().enumerate() {
            let of_objective = pairs.objective_task(inputs, number, task);
            let path = objective.inner_steps(
                objective.support_relation(&of_objective),
                &of_objective.support,
                config.training_steps(),
                objective.inner_factor(task.support.pairs().len(), true),
                &mut Scratch::default(),
            );
            let expected = reference.relations(&parameters, task);
            assert_eq!(path.len(), expected.len(), "{name}");
            for (found, expected) in path.iter().zip(&expected) {
                assert!(difference(found, expected) < 1e-9, "{name}");
            }
        }
    }
}

/// The same tasks, alone and in a batch, at any place of it: the inner step must not see the others.
#[test]
fn the_inner_step_does_not_depend_on_the_batch() {
    let config = fixture_config();
    let (layout, parameters, lists, tasks) = fixture(&config, 2);
    let rows = Rows { dim: layout.dim, parameters: &parameters };
    let inputs = inputs(&config, &layout, &parameters, &rows, &lists);
    let projection = Projection::new(inputs);
    let relation = |batch: &[MetaTask], number: usize| {
        let pairs = EncodedPairs::new(inputs, &projection, batch);
        let objective = Objective { inputs, chunks: &pairs.chunks };
        let task = pairs.objective_task(inputs, number, &batch[number]);
        let factor = objective.inner_factor(task.support_pairs.len(), true);
        let start = objective.support_relation(&task);
        objective.inner_steps(start, &task.support, 1, factor, &mut Scratch::default()).pop().unwrap()
    };
    for number in 0..tasks.len() {
        let alone = relation(&tasks[number..=number], 0);
        assert!(difference(&alone, &relation(&tasks, number)) < 1e-14);
        let mut many = vec![tasks[number].clone()];
        many.extend(std::iter::repeat_n(tasks.clone(), 40).flatten());
        assert!(difference(&alone, &relation(&many, 0)) < 1e-14);
    }
}

/// Entities that are encoded by themselves, and not in a pair of a support, come in chunks of their own in large batches.
#[test]
fn a_batch_of_the_same_tasks_has_the_loss_and_gradient_of_one() {
    for ends in [Ends::Shared, Ends::Separate] {
        let config = RanaConfig {
            score_space: ScoreSpace::Encoded,
            r_scope: RScope::TaskMean,
            train_entities: TrainEntities::Shared,
            ends,
            ..fixture_config()
        };
        let (layout, parameters, lists, tasks) = fixture(&config, 3);
        let rows = Rows { dim: layout.dim, parameters: &parameters };
        let inputs = inputs(&config, &layout, &parameters, &rows, &lists);
        let many: Vec<MetaTask> = std::iter::repeat_n(tasks.clone(), 40).flatten().collect();
        assert!(many.len() * 3 > 2 * CHUNK);
        let (one, all) = (step(inputs, &tasks), step(inputs, &many));
        assert!((one.loss - all.loss).abs() < 1e-12 * one.loss.abs());
        assert!(difference(&one.weights, &all.weights) < 1e-10);
        let rows =
            |result: &StepResult<f64>| gradients(result, layout.dim, parameters.relations.len()).scoring;
        assert!(difference(&rows(&one), &rows(&all)) < 1e-10);
    }
}

/// Dropout has no reference; its gradient is compared with finite differences of its loss.
#[test]
fn gradients_with_dropout_are_those_of_the_same_loss() {
    let config = RanaConfig {
        emb_dropout: 0.4,
        fc_dropout: 0.3,
        meta_order: super::config::MetaOrder::Second,
        beta_grad: true,
        ..fixture_config()
    };
    let (layout, parameters, lists, tasks) = fixture(&config, 1);
    let at = |parameters: &Parameters| {
        let rows = Rows { dim: layout.dim, parameters };
        let inputs = inputs(&config, &layout, parameters, &rows, &lists);
        step(Inputs { dropout: Some(7), ..inputs }, &tasks)
    };
    let found = at(&parameters);
    let without = {
        let rows = Rows { dim: layout.dim, parameters: &parameters };
        step(inputs(&config, &layout, &parameters, &rows, &lists), &tasks)
    };
    assert_ne!(found.loss, without.loss);
    let expected: Vec<f64> = (0..parameters.weights.len())
        .map(|weight| {
            let loss = |by: f64| {
                let mut changed = parameters.clone();
                changed.weights[weight] += by;
                at(&changed).loss
            };
            (loss(1e-5) - loss(-1e-5)) / 2e-5
        })
        .collect();
    assert!(difference(&found.weights, &expected) < 1e-6);
}
