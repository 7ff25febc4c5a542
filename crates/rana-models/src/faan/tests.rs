//! Gradients against finite differences, and what scores must not depend on.

use std::sync::Arc;

use rana_embed::Table;
use rana_fewshot::Support;
use rana_graph::{Duplicates, EntityId, Graph, GraphBuilder, Pair, RelationId};
use rand::RngExt;

use super::config::{AttentionScale, EntityOutput, FaanConfig, HeadLayout, Positions, ReferenceScale, Width};
use super::matching::Matching;
use super::neighbourhood::Neighbourhood;
use super::network::Network;
use super::pair_batch::{PairBatch, Tables};
use super::step::{Inputs, step};
use super::stepped_model::Faan;
use crate::real::{add_scaled, dot};
use crate::seed::{Purpose, rng};
use crate::tape::{DropoutKey, Segments, Tape};
use crate::training::{
    Contrasts, Init, MetaTask, Parameters, Rows, StartVectors, StepResult, SteppedModel, TrainerConfig,
};

const DIM: usize = 5;
const ENTITIES: u32 = 110;
const KEY: Option<DropoutKey> = Some(DropoutKey { seed: 3, step: 5, tape: 0 });

struct Rows64(Vec<f64>);

impl Rows<f64> for Rows64 {
    fn row(&self, entity: EntityId) -> &[f64] {
        &self.0[entity.index() * DIM..(entity.index() + 1) * DIM]
    }
}

/// The last entity has no neighbours.
fn graph() -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    let mut rng = rng(11, Purpose::Weights, [0, 0]);
    for entity in 0..ENTITIES {
        builder.intern_entity(&format!("e{entity}"));
    }
    for fact in 0..3 * ENTITIES {
        let [head, tail] = [(); 2].map(|()| format!("e{}", rng.random_range(0..ENTITIES - 1)));
        builder.add_named(&head, &format!("r{}", fact % 4), &tail);
    }
    builder.finish()
}

/// Two of them are relations of the background. One pair comes up twice, and one end has no neighbours.
fn tasks(negatives: usize) -> Vec<MetaTask> {
    let mut rng = rng(12, Purpose::Weights, [0, 0]);
    let mut entity = || EntityId(rng.random_range(0..ENTITIES));
    let mut contrasts = |pairs: usize, negatives: usize| {
        let mut contrasts = Contrasts::default();
        for _ in 0..pairs {
            let pair = Pair { head: entity(), tail: entity() };
            contrasts.push(pair, (0..negatives).map(|_| entity()).collect::<Vec<_>>());
        }
        contrasts
    };
    let mut task = |relation: Option<u32>, shots: usize| MetaTask {
        relation: relation.map(RelationId::forward),
        support: contrasts(shots, 0),
        query: contrasts(2, negatives),
        rejected: Vec::new(),
    };
    let mut tasks = vec![task(None, 2), task(Some(1), 3), task(Some(2), 1)];
    let again = tasks[0].support.pairs()[0];
    let lonely = EntityId(ENTITIES - 1);
    tasks[0].query.push(again, (0..negatives).map(|_| lonely).collect::<Vec<_>>());
    tasks
}

/// What a step depends on, to be changed by a test.
struct State {
    weights: Vec<f64>,
    rows: Rows64,
    relations: Vec<f64>,
}

fn state(network: &Network, graph: &Graph) -> State {
    let mut rng = rng(7, Purpose::Weights, [0, 0]);
    let mut random = |len: usize| -> Vec<f64> { (0..len).map(|_| rng.random_range(-0.8..0.8)).collect() };
    State {
        weights: random(network.blocks.len()),
        rows: Rows64(random(ENTITIES as usize * DIM)),
        relations: random(2 * graph.relation_count() * DIM),
    }
}

fn run(network: &Network, graph: &Graph, state: &State, tasks: &[MetaTask]) -> StepResult<f64> {
    let neighbourhood = Neighbourhood::new(graph, &network.config, true);
    let (rows, relations) = (&state.rows, &state.relations[..]);
    let tables = Tables { rows, relations, dim: DIM, learn: network.config.fine_tune };
    let inputs = Inputs { network, neighbourhood: &neighbourhood, weights: &state.weights, tables };
    step(inputs, tasks, KEY)
}

/// A small network with every choice as in the public code.
fn as_in_the_code() -> FaanConfig {
    FaanConfig {
        neighbours: 4,
        layers: 2,
        heads: 2,
        entity_output: EntityOutput::ResidualNorm,
        width: Width::VectorPerHead,
        head_layout: HeadLayout::Mixed,
        attention_scale: AttentionScale::HeadWidthOverHeads,
        positions: Positions::Waves,
        reference_scale: ReferenceScale::Width,
        margin: 40.0,
        ..FaanConfig::default()
    }
}

/// A small network as in the paper.
fn as_in_the_paper() -> FaanConfig {
    FaanConfig { neighbours: 4, layers: 2, heads: 2, margin: 40.0, ..FaanConfig::default() }
}

fn configs() -> Vec<FaanConfig> {
    vec![
        as_in_the_paper(),
        as_in_the_code(),
        FaanConfig { fine_tune: true, negatives: 2, ..as_in_the_paper() },
        FaanConfig { fine_tune: true, input_dropout: 0.0, layer_dropout: 0.0, layers: 1, ..as_in_the_code() },
        FaanConfig { head_layout: HeadLayout::ByHead, hide_own_edges: false, ..as_in_the_code() },
        FaanConfig { head_layout: HeadLayout::Mixed, heads: 3, layers: 1, ..as_in_the_paper() },
    ]
}

/// Every weight, and every row that learns, with dropout; for each choice.
#[test]
fn gradients_are_those_of_finite_differences() {
    let graph = graph();
    for config in configs() {
        let network = Network::new(&config, DIM);
        let tasks = tasks(config.negatives);
        let mut state = state(&network, &graph);
        let found = run(&network, &graph, &state, &tasks);
        let mut compare = |slope: f64, change: &dyn Fn(&mut State, f64), what: &str, at: usize| {
            let size = 1e-5;
            change(&mut state, size);
            let above = run(&network, &graph, &state, &tasks).loss;
            change(&mut state, -2.0 * size);
            let below = run(&network, &graph, &state, &tasks).loss;
            change(&mut state, size);
            let expected = (above - below) / (2.0 * size);
            let tolerance = 2e-6 * (1.0 + expected.abs());
            assert!((slope - expected).abs() < tolerance, "{config:?} {what} {at}: {slope}, {expected}");
        };
        assert!(found.weights.iter().filter(|&&slope| slope != 0.0).count() > found.weights.len() / 2);
        for (at, &slope) in found.weights.iter().enumerate() {
            compare(slope, &|state, by| state.weights[at] += by, "weight", at);
        }
        assert_eq!(!found.relations.is_empty(), config.fine_tune);
        assert_eq!(found.rows.iter().len() > 0, config.fine_tune);
        for (at, &slope) in found.relations.iter().enumerate() {
            compare(slope, &|state, by| state.relations[at] += by, "relation", at);
        }
        for (entity, slopes) in found.rows.iter() {
            for (at, &slope) in slopes.iter().enumerate() {
                let place = entity.index() * DIM + at;
                compare(slope, &|state, by| state.rows.0[place] += by, "row", place);
            }
        }
    }
}

fn model(config: &FaanConfig, graph: &Graph) -> (Faan, Arc<Parameters>) {
    let model = Faan::new(config, &TrainerConfig { seed: 4, ..TrainerConfig::default() }, graph, DIM);
    let mut start = StartVectors::random(graph, DIM, 9);
    let wider: Vec<f32> = start.entities.values().iter().map(|value| 4.0 * value).collect();
    start.entities = Arc::new(Table::new(ENTITIES as usize, DIM, wider).unwrap());
    let parameters = model.initial(&start);
    (model, Arc::new(parameters))
}

/// Evaluation sums up neighbours first and training does not: the scores are the same, but for rounding.
#[test]
fn an_evaluation_scores_as_training_does() {
    let graph = graph();
    for config in configs() {
        let (model, parameters) = model(&config, &graph);
        for relation in [None, Some(RelationId::forward(1))] {
            let pairs = tasks(1)[1].support.pairs().to_vec();
            let (head, candidates) = (EntityId(7), (0..ENTITIES).map(EntityId).collect::<Vec<_>>());
            let support =
                Support { relation, pairs: &pairs, candidates: &candidates, rejected: &[], seed: 1 };
            let adapted = model.freeze(Arc::clone(&parameters)).adapt(&support).unwrap();
            let mut found = vec![0.0; candidates.len()];
            adapted.scores(&[head], &candidates, &mut found);

            let network = Network::new(&config, DIM);
            let neighbourhood = Neighbourhood::new(&graph, &config, true);
            let hidden = neighbourhood.hidden(relation);
            let mut batch = PairBatch::default();
            let supports: Vec<u32> = pairs.iter().map(|&pair| batch.place(pair, hidden)).collect();
            let queries =
                candidates.iter().map(|&tail| batch.place(Pair { head, tail }, hidden)).collect::<Vec<_>>();
            let mut tape = Tape::forward_only(&parameters.weights);
            let (rows, relations) = (&parameters.rows, &parameters.relations[..]);
            let tables = Tables { rows, relations, dim: DIM, learn: false };
            let rows = batch.rows(&mut tape, tables, &neighbourhood);
            let ends = network.encoder.encode(&mut tape, &rows);
            let encoded = network.transformer.encode(&mut tape, ends);
            let matching = Matching {
                queries: Segments::of_lengths([queries.len()]),
                references: Segments::of_lengths([supports.len()]),
                scale: config.reference_scale,
            };
            let (queries, supports) =
                (tape.gather_rows(encoded, queries), tape.gather_rows(encoded, supports));
            let expected = matching.scores(&mut tape, queries, supports);
            for (found, expected) in found.iter().zip(tape.values(expected)) {
                assert!((found - expected).abs() < 1e-4, "{config:?}: {found}, expected {expected}");
            }
        }
    }
}

#[test]
fn a_score_does_not_depend_on_what_else_is_scored() {
    let graph = graph();
    for config in [as_in_the_paper(), as_in_the_code()] {
        let (model, parameters) = model(&config, &graph);
        let frozen = model.freeze(parameters);
        let pairs = tasks(1)[0].support.pairs().to_vec();
        let support = Support { relation: None, pairs: &pairs, candidates: &[], rejected: &[], seed: 1 };
        let heads = [7, 3, 7, 50, ENTITIES - 1].map(EntityId);
        let candidates: Vec<EntityId> = (0..ENTITIES).map(EntityId).collect();
        let used = frozen.adapt(&support).unwrap();
        let mut all = vec![0.0; heads.len() * candidates.len()];
        used.scores(&heads, &candidates, &mut all);
        assert!(all.iter().all(|score| score.is_finite()));
        assert_ne!(all[0], all[1]);
        for (head, all) in heads.iter().zip(all.chunks_exact(candidates.len())) {
            for (candidate, &expected) in candidates.iter().zip(all) {
                let mut alone = [0.0];
                frozen.adapt(&support).unwrap().scores(&[*head], &[*candidate], &mut alone);
                assert_eq!(alone[0], expected, "{head:?} {candidate:?}");
            }
            // Again, now that scores are kept, and then for some of the candidates.
            for part in [0..ENTITIES as usize, 5..103] {
                let mut again = vec![0.0; part.len()];
                used.scores(&[*head], &candidates[part.clone()], &mut again);
                assert_eq!(again, all[part]);
            }
        }
    }
}

#[test]
fn the_same_batch_gives_the_same_bits_with_any_number_of_threads() {
    let graph = graph();
    for config in [FaanConfig { fine_tune: true, ..as_in_the_paper() }, as_in_the_code()] {
        let (model, parameters) = model(&config, &graph);
        // More rows than one chunk.
        let tasks: Vec<MetaTask> = (0..60).map(|at| tasks(1 + at)[at % 3].clone()).collect();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let result = pool.install(|| model.step(&parameters, &tasks, Some(2)));
            (result.loss, result.weights, result.relations, result.rows)
        };
        assert_eq!(with(1), with(2));
    }
}

/// Steps of one length against the gradient lower the loss of a batch.
#[test]
fn the_loss_falls() {
    let graph = graph();
    for config in [as_in_the_paper(), as_in_the_code()] {
        let config = FaanConfig { init: Init::Torch, margin: 1.0, ..config };
        let (model, parameters) = model(&config, &graph);
        let (mut parameters, tasks) = (Parameters::clone(&parameters), tasks(3));
        let before = model.step(&parameters, &tasks, None).loss;
        for _ in 0..150 {
            let slopes = model.step(&parameters, &tasks, None).weights;
            let length = dot(&slopes, &slopes).sqrt().max(1e-6);
            add_scaled(&mut parameters.weights, -0.1 / length, &slopes);
        }
        let after = model.step(&parameters, &tasks, None).loss;
        assert!(after < 0.8 * before, "{config:?}: {before} to {after}");
    }
}
