//! Gradients against finite differences, and what a step and a score must not depend on.

use std::sync::Arc;

use rana_embed::Table;
use rana_fewshot::Support;
use rana_graph::{Duplicates, EntityId, Graph, GraphBuilder, HeldOut, Pair, RelationId};
use rand::RngExt;

use super::config::{EntityTransfers, HireConfig, RelationTransfers, Residual, TransferStep};
use super::network::Network;
use super::step::{Inputs, step};
use super::stepped_model::Hire;
use super::transfer_distance::{End, TransferDistance};
use crate::relation_meta::{BackgroundNeighbours, PairDistance, SupportReduction, Surroundings};
use crate::seed::{Purpose, rng};
use crate::training::{Contrasts, MetaTask, Rows, StartVectors, StepResult, SteppedModel, TrainerConfig};

const DIM: usize = 3;
const SHOTS: usize = 3;
const ENTITIES: usize = 12;

/// Rows of some numbers.
struct DoubleRows(usize, Vec<f64>);

impl Rows<f64> for DoubleRows {
    fn row(&self, entity: EntityId) -> &[f64] {
        &self.1[entity.index() * self.0..(entity.index() + 1) * self.0]
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
    config: HireConfig,
    network: Network,
    neighbours: BackgroundNeighbours,
    weights: Vec<f64>,
    relations: Vec<f64>,
    pretrained: DoubleRows,
    rows: DoubleRows,
    tasks: Vec<MetaTask>,
}

fn small() -> HireConfig {
    HireConfig {
        neighbours: 3,
        hidden_ratio: 1,
        inner_step: false,
        margin: 4.0,
        context_weight: 0.5,
        temperature: 0.7,
        outer_includes_support: true,
        ..HireConfig::default()
    }
}

impl Fixture {
    fn new(config: HireConfig) -> Self {
        let graph = graph();
        let network = Network::new(&config, graph.named_relation_count(), DIM);
        Self {
            neighbours: BackgroundNeighbours::new(&graph, config.neighbours, config.hides_own_edges),
            weights: random(network.blocks.len(), 0.8, 1),
            relations: random(2 * graph.relation_count() * DIM, 0.8, 2),
            pretrained: DoubleRows(DIM, random(ENTITIES * DIM, 0.8, 3)),
            rows: DoubleRows(2 * DIM, random(ENTITIES * 2 * DIM, 0.8, 4)),
            tasks: tasks(3, config.negatives),
            network,
            config,
        }
    }

    fn step(&self, number: Option<u64>) -> StepResult<f64> {
        let surroundings =
            Surroundings { neighbours: &self.neighbours, rows: &self.pretrained, relations: &self.relations };
        let (config, network, weights) = (&self.config, &self.network, &self.weights[..]);
        let inputs = Inputs { config, network, weights, surroundings, rows: &self.rows, seed: 3 };
        step(inputs, &self.tasks, number)
    }

    fn difference(&mut self, number: Option<u64>, change: &dyn Fn(&mut Self, f64)) -> f64 {
        let size = 1e-5;
        change(self, size);
        let above = self.step(number).loss;
        change(self, -2.0 * size);
        let below = self.step(number).loss;
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
        HireConfig {
            residual: Residual::Itself,
            drop_path: 0.3,
            entity_transfers: EntityTransfers::FirstSupport,
            relation_transfers: RelationTransfers::PerRelation,
            transfer_step: TransferStep::TrainingOnly,
            hides_own_edges: false,
            corrupted_contexts: 2,
            ..small()
        },
        HireConfig { negatives: 2, outer_includes_support: false, context_weight: 0.0, ..small() },
    ];
    for config in configs {
        for number in [None, Some(5)] {
            let mut fixture = Fixture::new(config.clone());
            let found = fixture.step(number);
            let mut moving = 0;
            for at in 0..fixture.weights.len() {
                let expected = fixture.difference(number, &|of, by| of.weights[at] += by);
                close(found.weights[at], expected, &format!("{config:?} {number:?} weight {at}"));
                moving += usize::from(expected.abs() > 1e-9);
            }
            assert!(2 * moving > fixture.weights.len() || config.context_weight == 0.0, "{moving}");
            let mut transfers = 0;
            for (entity, gradient) in found.rows.iter() {
                for (at, &gradient) in gradient.iter().enumerate() {
                    let place = entity.index() * 2 * DIM + at;
                    let expected = fixture.difference(number, &|of, by| of.rows.1[place] += by);
                    close(gradient, expected, &format!("{config:?} {number:?} row {place}"));
                    transfers += usize::from(at >= DIM && gradient != 0.0);
                }
            }
            assert!(transfers > 3 * DIM, "{transfers}");
        }
    }
}

/// In evaluation the inner step moves transfer vectors, or only the translation.
#[test]
fn the_inner_step_moves_transfers_as_its_switch_says() {
    for (step, is_training, moves) in [
        (TransferStep::Always, true, true),
        (TransferStep::Always, false, true),
        (TransferStep::TrainingOnly, true, true),
        (TransferStep::TrainingOnly, false, false),
    ] {
        for (entity_transfers, vectors) in [(EntityTransfers::Own, 2), (EntityTransfers::FirstSupport, 4)] {
            let mut moved = vec![1.0; vectors * DIM];
            TransferDistance { entity_transfers, step, is_training }.inner_direction(&mut moved);
            assert_eq!(moved[..DIM], [1.0; DIM]);
            assert_eq!(moved[DIM..].iter().all(|&value| value == 1.0), moves, "{step:?} {is_training}");
        }
    }
}

/// By hand: `h⊥ = h + (h_p · h) r_p`, with the entity's own transfer vector or that of the first support pair.
#[test]
fn an_entity_is_projected_by_its_transfer_vector() {
    let row = [1.0, 2.0, 0.5, -1.0];
    // R, r_p, h_p and t_p.
    let relation = [9.0, 9.0, 2.0, 3.0, 1.0, 0.0, 0.0, 1.0];
    for (entity_transfers, end, expected) in [
        (EntityTransfers::Own, End::Head, [1.0 - 1.5 * 2.0, 2.0 - 1.5 * 3.0]),
        (EntityTransfers::FirstSupport, End::Head, [1.0 + 2.0, 2.0 + 3.0]),
        (EntityTransfers::FirstSupport, End::Tail, [1.0 + 2.0 * 2.0, 2.0 + 2.0 * 3.0]),
    ] {
        let distance = TransferDistance { entity_transfers, step: TransferStep::Always, is_training: false };
        assert_eq!(distance.project(&row, &relation, end), expected);
    }
}

/// HiRe on the small graph, with vectors of more numbers.
fn model(config: &HireConfig) -> (Hire, StartVectors) {
    let (graph, dim) = (graph(), 20);
    let narrow =
        |len: usize, stream: u64| random(len, 0.5, stream).into_iter().map(|x| x as f32).collect::<Vec<_>>();
    let start = StartVectors {
        entities: Arc::new(Table::new(ENTITIES, dim, narrow(ENTITIES * dim, 5)).unwrap()),
        relations: narrow(2 * graph.relation_count() * dim, 6),
    };
    (Hire::new(config, &TrainerConfig::default(), &graph, dim), start)
}

#[test]
fn the_same_batch_gives_the_same_bits_with_any_number_of_threads() {
    let (hire, start) = model(&HireConfig { neighbours: 4, ..HireConfig::default() });
    let parameters = hire.initial(&start);
    // More tasks than one chunk.
    let tasks = tasks(80, 1);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let result = pool.install(|| hire.step(&parameters, &tasks, Some(2)));
        (result.loss, result.weights, result.rows)
    };
    assert_eq!(with(1), with(2));
}

/// A score depends on its pair and its support, not on other pairs.
#[test]
fn a_score_does_not_depend_on_its_batch() {
    for entity_transfers in [EntityTransfers::Own, EntityTransfers::FirstSupport] {
        let (hire, start) = model(&HireConfig { neighbours: 4, entity_transfers, ..HireConfig::default() });
        let mut parameters = hire.initial(&start);
        // Transfer vectors that do something.
        for at in 0..ENTITIES {
            let slot = parameters.rows.touch(EntityId(at as u32));
            let row = &mut parameters.rows.values_mut()[slot * 40 + 20..(slot + 1) * 40];
            row.copy_from_slice(&start.entities.values()[at * 20..(at + 1) * 20]);
        }
        let frozen = hire.freeze(Arc::new(parameters));
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
    let config = HireConfig {
        neighbours: 4,
        dropout: 0.0,
        attention_dropout: 0.0,
        beta: 0.1,
        inner_reduction: SupportReduction::MeanTask,
        ..HireConfig::default()
    };
    let (hire, start) = model(&config);
    let mut parameters = hire.initial(&start);
    let tasks = tasks(4, 1);
    let first = hire.step(&parameters, &tasks, None).loss;
    for step in 0..200 {
        let result = hire.step(&parameters, &tasks, Some(step));
        parameters.weights.iter_mut().zip(&result.weights).for_each(|(weight, slope)| *weight -= 0.1 * slope);
        for (entity, slope) in result.rows.iter() {
            let slot = parameters.rows.touch(entity);
            let row = &mut parameters.rows.values_mut()[slot * slope.len()..(slot + 1) * slope.len()];
            row.iter_mut().zip(slope).for_each(|(value, slope)| *value -= 0.1 * slope);
        }
    }
    let last = hire.step(&parameters, &tasks, None).loss;
    assert!(last < 0.5 * first, "{first}, then {last}");
}

/// As many random relations as there are edges in the contexts, the same whenever the same step is asked for.
#[test]
fn the_relations_of_corrupted_contexts_can_be_told() {
    let config = HireConfig { neighbours: 4, corrupted_contexts: 2, ..HireConfig::default() };
    let (hire, start) = model(&config);
    let (parameters, tasks) = (hire.initial(&start), tasks(80, 1));
    let at = |step: u64| {
        let [(name, drawn)] = hire.draws(&parameters, &tasks, step).try_into().unwrap();
        assert_eq!(name, "corrupted_relations");
        drawn
    };
    let (graph, neighbours) = (graph(), BackgroundNeighbours::new(&graph(), 4, config.hides_own_edges));
    let of_task = |task: &MetaTask| -> usize {
        let ends = task.support.pairs().iter().flat_map(|pair| [pair.head, pair.tail]);
        ends.map(|entity| neighbours.of(entity, task.relation).count()).sum()
    };
    let edges: usize = tasks.iter().map(of_task).sum();
    let drawn = at(3);
    assert_eq!(drawn.len(), 2 * edges);
    assert!(drawn.iter().all(|&relation| (relation as usize) < 2 * graph.relation_count()));
    assert!(drawn == at(3) && drawn != at(4));
    let (without, _) = model(&HireConfig { context_weight: 0.0, ..config });
    assert!(without.draws(&parameters, &tasks, 3).is_empty());
}
