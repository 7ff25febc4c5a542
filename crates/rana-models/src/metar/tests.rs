//! Gradients against finite differences, and what a step must not depend on.

use rana_graph::{EntityId, Pair};
use rand::RngExt;

use super::config::{MetarConfig, Normalisation};
use super::learner::{Learner, Mode};
use super::step::{Inputs, step};
use crate::relation_meta::{Objective, SupportReduction, Translated};
use crate::seed::{Purpose, rng};
use crate::training::{Contrasts, MetaTask, Rows, StepResult};

const DIM: usize = 3;
const SHOTS: usize = 2;
const ENTITIES: usize = 12;

struct Table(Vec<f64>);

impl Rows<f64> for Table {
    fn row(&self, entity: EntityId) -> &[f64] {
        &self.0[entity.index() * DIM..(entity.index() + 1) * DIM]
    }
}

struct Fixture {
    config: MetarConfig,
    learner: Learner,
    weights: Vec<f64>,
    buffers: Vec<f64>,
    rows: Table,
    tasks: Vec<MetaTask>,
}

fn fixture(config: MetarConfig) -> Fixture {
    let learner = Learner::new(&config, SHOTS, DIM);
    let mut rng = rng(7, Purpose::Weights, [0, 0]);
    let mut random =
        |len: usize, size: f64| -> Vec<f64> { (0..len).map(|_| rng.random_range(-size..size)).collect() };
    let weights = random(learner.blocks.len(), 0.8);
    let buffers = random(learner.buffers.len(), 0.4).into_iter().map(|value| value.abs() + 0.5).collect();
    let rows = Table(random(ENTITIES * DIM, 0.7));
    let mut next = 0;
    let mut entity = || {
        next = (next * 5 + 3) % ENTITIES as u32;
        EntityId(next)
    };
    let mut contrasts = |pairs: usize, negatives: usize| {
        let mut contrasts = Contrasts::default();
        for _ in 0..pairs {
            let pair = Pair { head: entity(), tail: entity() };
            contrasts.push(pair, (0..negatives).map(|_| entity()).collect::<Vec<_>>());
        }
        contrasts
    };
    let mut task = || MetaTask {
        relation: None,
        support: contrasts(SHOTS, config.negatives),
        query: contrasts(3, config.negatives),
        rejected: Vec::new(),
    };
    let tasks = vec![task(), task(), task()];
    Fixture { config, learner, weights, buffers, rows, tasks }
}

impl Fixture {
    fn step(&self, mode: Mode) -> StepResult<f64> {
        let inputs = Inputs {
            config: &self.config,
            learner: &self.learner,
            weights: &self.weights,
            buffers: &self.buffers,
            rows: &self.rows,
        };
        step(inputs, &self.tasks, mode)
    }

    /// The loss if the inner step does not move with what is changed: a first-order gradient takes it for a constant.
    fn difference(&mut self, mode: Mode, change: &dyn Fn(&mut Self, f64)) -> f64 {
        let size = 1e-5;
        change(self, size);
        let above = self.step(mode).loss;
        change(self, -2.0 * size);
        let below = self.step(mode).loss;
        change(self, size);
        (above - below) / (2.0 * size)
    }
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
}

/// Every weight and every row, in both modes, with and without norm, dropout, several negatives and the support loss.
/// Without an inner step the first-order gradient is exact.
#[test]
fn gradients_are_those_of_finite_differences() {
    let base = MetarConfig {
        hidden: [5, 4],
        inner_step: false,
        margin: 4.0,
        outer_includes_support: true,
        ..MetarConfig::default()
    };
    let configs = [
        base.clone(),
        MetarConfig { normalisation: Normalisation::BatchPerShot, ..base.clone() },
        MetarConfig { normalisation: Normalisation::BatchPerShot, dropout: 0.5, ..base.clone() },
        MetarConfig { negatives: 3, outer_includes_support: false, ..base.clone() },
    ];
    for config in configs {
        for mode in [Mode::Train { seed: 3, step: 5 }, Mode::Evaluate] {
            let mut fixture = fixture(config.clone());
            let found = fixture.step(mode);
            for at in 0..fixture.weights.len() {
                let expected = fixture.difference(mode, &|of, by| of.weights[at] += by);
                close(found.weights[at], expected, &format!("{config:?} {mode:?} weight {at}"));
            }
            for (entity, gradient) in found.rows.iter() {
                for (at, &gradient) in gradient.iter().enumerate() {
                    let place = entity.index() * DIM + at;
                    let expected = fixture.difference(mode, &|of, by| of.rows.0[place] += by);
                    close(gradient, expected, &format!("{config:?} {mode:?} row {place}"));
                }
            }
        }
    }
}

/// With an inner step of fixed size the relation of the query moves with that of the support one to one.
#[test]
fn the_inner_step_leads_away_from_negatives() {
    for (reduction, factor) in [
        (SupportReduction::Sum, 1.0),
        (SupportReduction::MeanTask, 1.0 / SHOTS as f64),
        (SupportReduction::MeanBatch, 1.0 / (3.0 * SHOTS as f64)),
    ] {
        let config = MetarConfig {
            hidden: [5, 4],
            beta: 0.1,
            margin: 4.0,
            inner_reduction: reduction,
            ..MetarConfig::default()
        };
        let fixture = fixture(config.clone());
        let objective = Objective {
            settings: config.losses(),
            distance: &Translated,
            rows: &fixture.rows,
            row_width: DIM,
        };
        let support = &fixture.tasks[0].support;
        let relation = vec![0.3, -0.2, 0.5];
        let moved = objective.inner_step(support, &relation, 3);
        // By hand: all negatives are within the margin.
        let mut expected = relation.clone();
        for (pair, negatives) in support.iter() {
            for (tail, sign) in [(pair.tail, 1.0), (negatives[0], -1.0)] {
                let ends = fixture.rows.row(pair.head).iter().zip(fixture.rows.row(tail));
                let difference: Vec<f64> =
                    ends.zip(&relation).map(|((head, tail), relation)| head + relation - tail).collect();
                let length = difference.iter().map(|value| value * value).sum::<f64>().sqrt();
                for (expected, value) in expected.iter_mut().zip(&difference) {
                    *expected -= 0.1 * factor * sign * value / length;
                }
            }
        }
        moved.iter().zip(&expected).for_each(|(&moved, &expected)| close(moved, expected, "relation"));
    }
}

#[test]
fn running_statistics_move_towards_those_of_the_batch() {
    let config =
        MetarConfig { hidden: [5, 4], normalisation: Normalisation::BatchPerShot, ..MetarConfig::default() };
    let mut fixture = fixture(config);
    let once = fixture.step(Mode::Train { seed: 1, step: 0 }).buffers;
    assert_ne!(once, fixture.buffers);
    for _ in 0..300 {
        fixture.buffers = fixture.step(Mode::Train { seed: 1, step: 0 }).buffers;
    }
    // A batch that never changes has these statistics, but for the unbiased variance.
    let (train, evaluated) =
        (fixture.step(Mode::Train { seed: 1, step: 0 }).loss, fixture.step(Mode::Evaluate).loss);
    assert!((train - evaluated).abs() < 0.1 * train, "{train} and {evaluated}");
    assert!(fixture.step(Mode::Evaluate).buffers.is_empty());
}

#[test]
fn the_same_batch_gives_the_same_bits_with_any_number_of_threads() {
    let config = MetarConfig {
        hidden: [50, 20],
        normalisation: Normalisation::BatchPerShot,
        dropout: 0.5,
        ..MetarConfig::default()
    };
    let mut fixture = fixture(config);
    // More rows than one chunk.
    fixture.tasks = (0..200).map(|at| fixture.tasks[at % 3].clone()).collect();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let result = pool.install(|| fixture.step(Mode::Train { seed: 1, step: 2 }));
        (result.loss, result.weights, result.buffers, result.rows)
    };
    assert_eq!(with(1), with(3));
}
