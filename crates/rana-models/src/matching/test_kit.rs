//! What every matching model is tested with: a small graph, some tasks, and the tests themselves.

use rana_fewshot::Support;
use rana_graph::{Duplicates, EntityId, Graph, GraphBuilder, Pair, RelationId};
use rand::RngExt;

use super::neighbourhoods::{Neighbourhoods, Tables};
use super::network::Network;
use super::step::{Inputs, step};
use crate::seed::{Purpose, rng};
use crate::tape::DropoutKey;
use crate::training::{
    Contrasts, MetaTask, Parameters, Rows, StartVectors, StepResult, SteppedModel, TrainerConfig,
};

/// Numbers of a row.
pub(crate) const DIM: usize = 3;
const ENTITIES: u32 = 90;
const KEY: Option<DropoutKey> = Some(DropoutKey { seed: 3, step: 5, tape: 0 });

struct Table(Vec<f64>);

impl Rows<f64> for Table {
    fn row(&self, entity: EntityId) -> &[f64] {
        &self.0[entity.index() * DIM..(entity.index() + 1) * DIM]
    }
}

/// A graph and tasks on it.
pub(crate) struct Fixture {
    pub(crate) graph: Graph,
    tasks: Vec<MetaTask>,
}

/// What a step depends on, to be changed by a test.
struct State {
    weights: Vec<f64>,
    rows: Table,
    relations: Vec<f64>,
}

impl Fixture {
    /// Tasks with some negatives per query. Two are relations of the background; the last entity has only
    /// edges of one of them.
    pub(crate) fn new(negatives: usize) -> Self {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        let mut rng = rng(11, Purpose::Weights, [0, 0]);
        for fact in 0..3 * ENTITIES {
            let (head, tail) = (fact % ENTITIES, rng.random_range(0..ENTITIES - 1));
            let relation = if head == ENTITIES - 1 { 1 } else { fact % 4 };
            builder.add_named(&format!("e{head}"), &format!("r{relation}"), &format!("e{tail}"));
        }
        let graph = builder.finish();
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
            query: contrasts(3, negatives),
            rejected: Vec::new(),
        };
        let tasks = vec![task(None, 2), task(Some(1), 3), task(Some(2), 1)];
        Self { graph, tasks }
    }

    pub(crate) fn trainer(&self) -> TrainerConfig {
        TrainerConfig { seed: 4, ..TrainerConfig::default() }
    }

    fn step(&self, network: &impl Network, state: &State) -> StepResult<f64> {
        let neighbourhoods = Neighbourhoods::new(&self.graph, network.settings(), true);
        let tables = Tables { rows: &state.rows, relations: &state.relations, dim: DIM };
        let inputs = Inputs { neighbourhoods: &neighbourhoods, weights: &state.weights, tables };
        step(network, inputs, &self.tasks, KEY)
    }

    fn state(&self, network: &impl Network) -> State {
        let mut rng = rng(7, Purpose::Weights, [0, 0]);
        let mut random =
            |len: usize, size: f64| -> Vec<f64> { (0..len).map(|_| rng.random_range(-size..size)).collect() };
        State {
            weights: random(network.blocks().len(), 0.8),
            rows: Table(random(ENTITIES as usize * DIM, 0.9)),
            relations: random(2 * self.graph.relation_count() * DIM, 0.9),
        }
    }

    /// The loss of the tasks and the gradient of the weights.
    pub(crate) fn loss_and_gradient(&self, network: &impl Network) -> (f64, Vec<f64>) {
        let result = self.step(network, &self.state(network));
        (result.loss, result.weights)
    }

    /// Holds the gradients of all weights, and of all rows if they learn, against central finite differences.
    pub(crate) fn check_gradients(&self, network: &impl Network, what: &str) {
        let mut state = self.state(network);
        let found = self.step(network, &state);
        let mut compare = |found: f64, change: &dyn Fn(&mut State, f64), place: String| {
            let size = 1e-5;
            change(&mut state, size);
            let above = self.step(network, &state).loss;
            change(&mut state, -2.0 * size);
            let below = self.step(network, &state).loss;
            change(&mut state, size);
            let expected = (above - below) / (2.0 * size);
            let is_close = (found - expected).abs() < 1e-6 * (1.0 + expected.abs());
            assert!(is_close, "{what}, {place}: {found}, expected {expected}");
        };
        assert!(found.weights.iter().any(|&slope| slope != 0.0), "{what} has no slope");
        for (at, &slope) in found.weights.iter().enumerate() {
            compare(slope, &|state, by| state.weights[at] += by, format!("weight {at}"));
        }
        assert_eq!(!found.relations.is_empty(), network.settings().fine_tunes, "{what}");
        assert_eq!(found.rows.iter().len() > 0, network.settings().fine_tunes, "{what}");
        for (at, &slope) in found.relations.iter().enumerate() {
            compare(slope, &|state, by| state.relations[at] += by, format!("relation {at}"));
        }
        for (entity, slopes) in found.rows.iter() {
            for (at, &slope) in slopes.iter().enumerate() {
                let place = entity.index() * DIM + at;
                compare(slope, &|state, by| state.rows.0[place] += by, format!("row {place}"));
            }
        }
    }

    fn parameters(&self, model: &dyn SteppedModel) -> Parameters {
        model.initial(&StartVectors::random(&self.graph, DIM, 9))
    }

    /// Scores one by one, in blocks and all at once: the same bits. Relations of the background are among them.
    pub(crate) fn check_scores(&self, model: &dyn SteppedModel) {
        let frozen = model.freeze(self.parameters(model).into());
        let pairs = self.tasks[0].support.pairs();
        for relation in [None, Some(RelationId::forward(1))] {
            let support = Support { relation, pairs, candidates: &[], rejected: &[], seed: 1 };
            let adapted = || frozen.adapt(&support).unwrap();
            let heads: Vec<EntityId> = [7, 3, 7, 50, ENTITIES - 1].map(EntityId).to_vec();
            let candidates: Vec<EntityId> = (0..ENTITIES).map(EntityId).collect();
            let mut all = vec![0.0; heads.len() * candidates.len()];
            let used = adapted();
            used.scores(&heads, &candidates, &mut all);
            assert!(all.iter().all(|score| score.is_finite()));
            assert_ne!(all[0], all[1]);
            for (number, &head) in heads.iter().enumerate() {
                for (at, &candidate) in candidates.iter().enumerate() {
                    let mut alone = [0.0];
                    adapted().scores(&[head], &[candidate], &mut alone);
                    assert_eq!(alone[0], all[number * candidates.len() + at], "{head:?} {candidate:?}");
                }
            }
            // Again, now that scores are kept, and for some of the candidates.
            for part in [0..ENTITIES as usize, 5..80] {
                let mut again = vec![0.0; part.len()];
                used.scores(&[heads[1]], &candidates[part.clone()], &mut again);
                assert_eq!(again, all[ENTITIES as usize..][part]);
            }
        }
    }

    pub(crate) fn check_threads(&self, model: &dyn SteppedModel) {
        let parameters = self.parameters(model);
        // More rows than one chunk.
        let tasks: Vec<MetaTask> = (0..150).map(|at| self.tasks[at % 3].clone()).collect();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let result = pool.install(|| model.step(&parameters, &tasks, Some(2)));
            (result.loss, result.weights, result.relations, result.rows)
        };
        assert_eq!(with(1), with(3));
    }
}
