//! Gradients against finite differences, and what a step and a score must not depend on.

use std::sync::Arc;

use rana_embed::Table;
use rana_fewshot::Support;
use rana_graph::{Duplicates, EntityId, Graph, GraphBuilder, HeldOut, Pair, RelationId};
use rand::RngExt;

use super::config::{FinalState, FreePlaces, GanaConfig, NormalLength, NormalStep, Normals, StateReading};
use super::hyperplane::Hyperplane;
use super::network::Network;
use super::step::{Inputs, step};
use super::stepped_model::Gana;
use crate::relation_meta::{BackgroundNeighbours, PairDistance, SupportReduction, Surroundings};
use crate::seed::{Purpose, rng};
use crate::tape::DropoutKey;
use crate::training::{Contrasts, MetaTask, Rows, StartVectors, StepResult, SteppedModel, TrainerConfig};

const DIM: usize = 3;
const SHOTS: usize = 3;
const ENTITIES: usize = 12;
const KEY: DropoutKey = DropoutKey { seed: 3, step: 5, tape: 0 };

struct DoubleRows(Vec<f64>);

impl Rows<f64> for DoubleRows {
    fn row(&self, entity: EntityId) -> &[f64] {
        &self.0[entity.index() * DIM..(entity.index() + 1) * DIM]
    }
}

/// Twelve entities, of which the last has no neighbour, and three relations.
fn graph() -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for at in 0..30 {
        let (head, tail) = (at * 7 % 11, (at * 5 + at / 11 + 3) % 11);
        builder.add_named(&format!("e{head}"), &format!("r{}", at % 3), &format!("e{tail}"));
    }
    builder.add_held_out_named(HeldOut::Test, "e11", "r0", "e0");
    let graph = builder.finish();
    assert_eq!((graph.entity_count(), graph.degree(EntityId(11))), (ENTITIES, 0));
    graph
}

fn random(len: usize, size: f64, stream: u64) -> Vec<f64> {
    let mut rng = rng(7, Purpose::Weights, [stream, 0]);
    (0..len).map(|_| rng.random_range(-size..size)).collect()
}

/// Tasks over the entities, the second without a name.
fn tasks(count: usize, negatives: usize) -> Vec<MetaTask> {
    let mut next = 0;
    let mut entity = || {
        next = (next * 5 + 3) % 101;
        EntityId(next % ENTITIES as u32)
    };
    let mut contrasts = |pairs: usize| {
        let mut contrasts = Contrasts::default();
        for _ in 0..pairs {
            let pair = Pair { head: entity(), tail: entity() };
            contrasts.push(pair, (0..negatives).map(|_| entity()).collect::<Vec<_>>());
        }
        contrasts
    };
    (0..count)
        .map(|at| MetaTask {
            relation: (at % 3 != 1).then(|| RelationId::forward(at as u32 % 3)),
            support: contrasts(SHOTS),
            query: contrasts(2),
            rejected: Vec::new(),
        })
        .collect()
}

struct Fixture {
    config: GanaConfig,
    network: Network,
    neighbours: BackgroundNeighbours,
    weights: Vec<f64>,
    relations: Vec<f64>,
    pretrained: DoubleRows,
    rows: DoubleRows,
    tasks: Vec<MetaTask>,
}

fn small() -> GanaConfig {
    GanaConfig {
        neighbours: 3,
        lstm_hidden: 4,
        inner_step: false,
        margin: 4.0,
        outer_includes_support: true,
        ..GanaConfig::default()
    }
}

impl Fixture {
    fn new(config: GanaConfig) -> Self {
        let graph = graph();
        let network = Network::new(&config, graph.named_relation_count(), DIM);
        Self {
            neighbours: BackgroundNeighbours::new(&graph, config.neighbours, config.hides_own_edges),
            weights: random(network.blocks.len(), 0.8, 1),
            relations: random(2 * graph.relation_count() * DIM, 0.8, 2),
            pretrained: DoubleRows(random(ENTITIES * DIM, 0.8, 3)),
            rows: DoubleRows(random(ENTITIES * DIM, 0.8, 4)),
            tasks: tasks(3, config.negatives),
            network,
            config,
        }
    }

    fn step(&self, dropout: Option<DropoutKey>) -> StepResult<f64> {
        let surroundings =
            Surroundings { neighbours: &self.neighbours, rows: &self.pretrained, relations: &self.relations };
        let (config, network, weights) = (&self.config, &self.network, &self.weights[..]);
        step(Inputs { config, network, weights, surroundings, rows: &self.rows }, &self.tasks, dropout)
    }

    fn difference(&mut self, dropout: Option<DropoutKey>, change: &dyn Fn(&mut Self, f64)) -> f64 {
        let size = 1e-5;
        change(self, size);
        let above = self.step(dropout).loss;
        change(self, -2.0 * size);
        let below = self.step(dropout).loss;
        change(self, size);
        (above - below) / (2.0 * size)
    }
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
}

/// Every weight and every row under every switch. Without an inner step the first-order gradient is exact.
#[test]
fn gradients_are_those_of_finite_differences() {
    let configs = [
        small(),
        GanaConfig {
            free_places: FreePlaces::Counted,
            hides_own_edges: false,
            final_state: FinalState::Cell,
            state_reading: StateReading::Memory,
            normals: Normals::PerRelation,
            normal_length: NormalLength::Free,
            normal_step: NormalStep::RelationGradient,
            ..small()
        },
        GanaConfig { negatives: 2, outer_includes_support: false, lstm_layers: 1, ..small() },
    ];
    for config in configs {
        for dropout in [None, Some(KEY)] {
            let mut fixture = Fixture::new(config.clone());
            let found = fixture.step(dropout);
            let mut moving = 0;
            for at in 0..fixture.weights.len() {
                let expected = fixture.difference(dropout, &|of, by| of.weights[at] += by);
                close(found.weights[at], expected, &format!("{config:?} {dropout:?} weight {at}"));
                moving += usize::from(expected != 0.0);
            }
            // Without dropout only normals of relations that are not asked for have no slope.
            assert!(dropout.is_some() || moving + 2 * DIM >= fixture.weights.len(), "{moving}");
            let mut rows = 0;
            for (entity, gradient) in found.rows.iter() {
                for (at, &gradient) in gradient.iter().enumerate() {
                    let place = entity.index() * DIM + at;
                    let expected = fixture.difference(dropout, &|of, by| of.rows.0[place] += by);
                    close(gradient, expected, &format!("{config:?} {dropout:?} row {place}"));
                    rows += 1;
                }
            }
            assert!(rows > 6 * DIM, "{rows}");
        }
    }
}

/// The normal of a test relation is moved by its own gradient, or not at all; in training also by that of the relation.
#[test]
fn the_inner_step_moves_the_normal_as_its_switch_says() {
    let gradient = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    for (step, is_training, expected) in [
        (NormalStep::Own, true, [4.0, 5.0, 6.0]),
        (NormalStep::Own, false, [4.0, 5.0, 6.0]),
        (NormalStep::RelationGradient, true, [1.0, 2.0, 3.0]),
        (NormalStep::RelationGradient, false, [0.0; 3]),
    ] {
        let mut moved = gradient;
        Hyperplane { length: NormalLength::Unit, step, is_training }.inner_direction(&mut moved);
        assert_eq!((&moved[..3], &moved[3..]), (&gradient[..3], &expected[..]), "{step:?} {is_training}");
    }
}

#[test]
fn a_projection_onto_a_hyperplane_is_orthogonal_to_its_normal() {
    let hyperplane = Hyperplane { length: NormalLength::Unit, step: NormalStep::Own, is_training: false };
    let normal = [0.5, -2.0, 1.0];
    let mut vector = [3.0, 1.0, -4.0];
    hyperplane.project(&normal, &mut vector);
    assert!(vector.iter().zip(&normal).map(|(x, w)| x * w).sum::<f64>().abs() < 1e-12, "{vector:?}");
    let once = vector;
    hyperplane.project(&normal, &mut vector);
    assert!(vector.iter().zip(&once).all(|(twice, once)| (twice - once).abs() < 1e-12));
}

/// In a batch, a relation is that of its task alone, unless tasks are mixed as in the public code.
#[test]
fn only_the_reading_by_memory_mixes_tasks() {
    for (state_reading, mixes) in [(StateReading::ByLayer, false), (StateReading::Memory, true)] {
        let fixture = Fixture::new(GanaConfig { state_reading, ..small() });
        let surroundings = Surroundings {
            neighbours: &fixture.neighbours,
            rows: &fixture.pretrained,
            relations: &fixture.relations,
        };
        let relations = |tasks: &[MetaTask]| {
            let supports: Vec<_> = tasks.iter().map(|task| (task.relation, &task.support)).collect();
            fixture.network.forward(&fixture.weights, surroundings, &supports, None, false).relations
        };
        let all = relations(&fixture.tasks);
        let alone: Vec<f64> =
            fixture.tasks.iter().flat_map(|task| relations(std::slice::from_ref(task))).collect();
        assert_eq!(all != alone, mixes, "{state_reading:?}");
    }
}

/// GANA on the small graph, with vectors of more numbers.
fn model(config: &GanaConfig) -> (Gana, StartVectors) {
    let (graph, dim) = (graph(), 20);
    let narrow =
        |len: usize, stream: u64| random(len, 0.5, stream).into_iter().map(|x| x as f32).collect::<Vec<_>>();
    let start = StartVectors {
        entities: Arc::new(Table::new(ENTITIES, dim, narrow(ENTITIES * dim, 5)).unwrap()),
        relations: narrow(2 * graph.relation_count() * dim, 6),
    };
    (Gana::new(config, &TrainerConfig::default(), &graph, dim), start)
}

#[test]
fn the_same_batch_gives_the_same_bits_with_any_number_of_threads() {
    let (gana, start) = model(&GanaConfig { neighbours: 4, lstm_hidden: 20, ..GanaConfig::default() });
    let parameters = gana.initial(&start);
    // More tasks than one chunk.
    let tasks = tasks(80, 1);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let result = pool.install(|| gana.step(&parameters, &tasks, Some(2)));
        (result.loss, result.weights, result.rows)
    };
    assert_eq!(with(1), with(2));
}

/// A score depends on its pair and its support, not on other pairs; also with dropout in evaluation.
#[test]
fn a_score_does_not_depend_on_its_batch() {
    for evaluation_dropout in [false, true] {
        let config =
            GanaConfig { neighbours: 4, lstm_hidden: 20, evaluation_dropout, ..GanaConfig::default() };
        let (gana, start) = model(&config);
        let frozen = gana.freeze(Arc::new(gana.initial(&start)));
        let pairs: Vec<Pair> =
            (0..SHOTS as u32).map(|at| Pair { head: EntityId(at), tail: EntityId(at + 5) }).collect();
        let candidates: Vec<EntityId> = (0..ENTITIES as u32).map(EntityId).collect();
        let support =
            Support { relation: None, pairs: &pairs, candidates: &candidates, rejected: &[], seed: 1 };
        let scores = |heads: &[EntityId], tails: &[EntityId]| {
            let mut out = vec![0.0; heads.len() * tails.len()];
            frozen.adapt(&support).unwrap().scores(heads, tails, &mut out);
            out
        };
        let all = scores(&candidates, &candidates);
        assert!(all.iter().all(|score| score.is_finite()));
        for (place, &head) in candidates.iter().enumerate() {
            for (at, &tail) in candidates.iter().enumerate() {
                assert_eq!(scores(&[head], &[tail]), [all[place * ENTITIES + at]]);
            }
        }
    }
}

/// Trained on a few tasks, it ranks their tails better than before.
#[test]
fn it_learns() {
    let config = GanaConfig {
        neighbours: 4,
        lstm_hidden: 10,
        dropout: 0.0,
        lstm_dropout: 0.0,
        beta: 0.1,
        inner_reduction: SupportReduction::MeanTask,
        ..GanaConfig::default()
    };
    let (gana, start) = model(&config);
    let mut parameters = gana.initial(&start);
    let tasks = tasks(4, 1);
    let first = gana.step(&parameters, &tasks, None).loss;
    for step in 0..200 {
        let result = gana.step(&parameters, &tasks, Some(step));
        parameters.weights.iter_mut().zip(&result.weights).for_each(|(weight, slope)| *weight -= 0.1 * slope);
        for (entity, slope) in result.rows.iter() {
            let slot = parameters.rows.touch(entity);
            let row = &mut parameters.rows.values_mut()[slot * slope.len()..(slot + 1) * slope.len()];
            row.iter_mut().zip(slope).for_each(|(value, slope)| *value -= 0.1 * slope);
        }
    }
    let last = gana.step(&parameters, &tasks, None).loss;
    assert!(last < 0.5 * first, "{first}, then {last}");
}
