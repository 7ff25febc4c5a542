//! [`RanaModel`]: RANA with fixed parameters, turning supports into relations.

use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};
use rana_embed::Norm;
use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};
use rana_graph::{EntityId, Graph, Pair};
use rayon::prelude::*;

use super::adapted_relation::RanaRelation;
use super::chosen_neighbours::{ChosenNeighbours, NeighbourSettings};
use super::config::{RanaConfig, ScoreSpace, TestNegatives};
use super::cutoffs::Cutoff;
use super::encoded_pairs::{EncodedPairs, add_r};
use super::encoded_translation::EncodedTranslation;
use super::encoder::{CHUNK, Chunk, End, Projection};
use super::inputs::{Inputs, RowRoles};
use super::layout::Layout;
use super::negatives::{Choice, NegativeSampler};
use super::objective::{Objective, ObjectiveTask, Scratch};
use crate::real::add_scaled;
use crate::seed::{Purpose, rng};
use crate::training::{Contrasts, MetaTask, NegativeCounts, Parameters, TrainerConfig};
use crate::translation::Translation;

/// RANA with fixed parameters; a copy shares them.
#[derive(Clone)]
pub struct RanaModel(Arc<Fixed>);

struct Fixed {
    config: RanaConfig,
    seed: u64,
    layout: Layout,
    neighbours: ChosenNeighbours,
    parameters: Arc<Parameters>,
    projection: Projection<f32>,
}

impl RanaModel {
    /// A model of a graph.
    ///
    /// # Panics
    /// If the parameters are not those of the configuration.
    #[must_use]
    pub fn new(
        config: &RanaConfig,
        trainer: &TrainerConfig,
        graph: &Graph,
        parameters: Arc<Parameters>,
    ) -> Self {
        let layout = Layout::new(config, parameters.rows.dim());
        assert_eq!(parameters.weights.len(), layout.weights(), "the weights are of another configuration");
        let neighbours = ChosenNeighbours::fixed(graph, NeighbourSettings::new(config, trainer));
        let roles = RowRoles::new(config, &parameters.rows);
        let projection = Projection::new(Inputs {
            config,
            layout: &layout,
            weights: &parameters.weights,
            relations: &parameters.relations,
            rows: &roles,
            neighbours: &neighbours,
            batch: 1,
            seed: trainer.seed,
            dropout: None,
        });
        let (config, seed) = (config.clone(), trainer.seed);
        Self(Arc::new(Fixed { config, seed, layout, neighbours, parameters, projection }))
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &RanaConfig {
        &self.0.config
    }

    /// Its parameters.
    #[must_use]
    pub fn parameters(&self) -> &Arc<Parameters> {
        &self.0.parameters
    }

    pub(crate) fn roles(&self) -> RowRoles<'_> {
        RowRoles::new(&self.0.config, &self.0.parameters.rows)
    }

    pub(crate) fn inputs<'a>(&'a self, roles: &'a RowRoles<'a>) -> Inputs<'a, f32> {
        Inputs {
            config: &self.0.config,
            layout: &self.0.layout,
            weights: &self.0.parameters.weights,
            relations: &self.0.parameters.relations,
            rows: roles,
            neighbours: &self.0.neighbours,
            batch: 1,
            seed: self.0.seed,
            dropout: None,
        }
    }

    /// The support with negatives, as draw number `draw` gives them.
    ///
    /// Only tails of the support itself count as known: an evaluation must not look at others.
    fn support_task(&self, roles: &RowRoles<'_>, support: &Support<'_>, draw: u64) -> MetaTask {
        let config = &self.0.config;
        let sampler = NegativeSampler { config, rows: roles, entities: self.0.parameters.rows.rows() };
        let mut rng = rng(self.0.seed, Purpose::TestNegatives, [support.seed, draw]);
        let mut contrasts = Contrasts::default();
        for &pair in support.pairs {
            let mut known: Vec<EntityId> = Pair::tails_of(support.pairs, pair.head).collect();
            known.sort_unstable();
            let cutoff = match config.prune_at_test {
                true => sampler.cutoff(pair.tail, support.candidates),
                false => Cutoff::NONE,
            };
            let choice = Choice { pair, candidates: support.candidates, known: &known, cutoff: &cutoff };
            let negatives = match config.test_negatives {
                TestNegatives::Seeded => sampler.draw(&choice, &mut rng, &mut NegativeCounts::default()),
                TestNegatives::FirstValid => sampler.first(&choice),
            };
            contrasts.push(pair, negatives);
        }
        MetaTask {
            relation: support.relation,
            support: contrasts,
            query: Contrasts::default(),
            rejected: support.rejected.to_vec(),
        }
    }

    /// Adapts to a support, keeping what was looked at on the way.
    pub(super) fn adapt_with<'a>(
        &'a self,
        roles: &'a RowRoles<'a>,
        support: &Support<'_>,
        draw: u64,
    ) -> Adaptation {
        let inputs = self.inputs(roles);
        let task = self.support_task(roles, support, draw);
        let pairs = EncodedPairs::new(inputs, &self.0.projection, std::slice::from_ref(&task));
        let objective_task = pairs.objective_task(inputs, 0, &task);
        let objective = Objective { inputs, chunks: &pairs.chunks };
        let path = Arch::new().dispatch(Adapt { objective, task: &objective_task });
        Adaptation { task, pairs, objective_task, path }
    }

    /// Encodes at most `CHUNK` pairs for scoring, padded to `CHUNK`, so that a pair's floating-point sums do not depend on
    /// the batch size.
    pub(super) fn encode_answers(&self, support: &[Pair], pairs: &[Pair]) -> Chunk<f32> {
        let roles = self.roles();
        let inputs = self.inputs(&roles);
        let dim = inputs.dim();
        let mut padded = pairs.to_vec();
        padded.resize(CHUNK, pairs[0]);
        let mut r = vec![0.0; CHUNK * dim];
        for (&pair, r) in padded.iter().zip(r.chunks_exact_mut(dim)) {
            add_r(inputs, pair, support, r);
        }
        Chunk::encode(inputs, &self.0.projection, padded, vec![None; CHUNK], r)
    }

    /// Encodes entities at one end of pairs, with `r` over the support. The sums of an entity do not depend on what it is
    /// encoded with, as in `encode_answers`.
    pub(super) fn encode_entities(&self, support: &[Pair], entities: &[EntityId], end: End) -> Vec<f32> {
        let roles = self.roles();
        let inputs = self.inputs(&roles);
        let dim = inputs.dim();
        let mut r = vec![0.0; dim];
        // The same for every pair.
        support.iter().take(1).for_each(|&pair| add_r(inputs, pair, support, &mut r));
        let r = r.repeat(CHUNK);
        let encode = |entities: &[EntityId]| {
            let mut padded = entities.to_vec();
            padded.resize(CHUNK, entities[0]);
            let mut encoded = Chunk::encode_entities(inputs, &self.0.projection, &padded, end, r.clone());
            encoded.truncate(entities.len() * dim);
            encoded
        };
        entities.par_chunks(CHUNK).map(encode).collect::<Vec<_>>().concat()
    }

    /// eq. 14: the relation that a support gives, averaged over draws of its negatives.
    pub(super) fn adapted_relation(&self, roles: &RowRoles<'_>, support: &Support<'_>) -> Vec<f32> {
        let draws = self.0.config.test_draws;
        let mut mean = vec![0.0; self.0.layout.dim];
        for draw in 0..draws {
            let path = self.adapt_with(roles, support, draw as u64).path;
            add_scaled(&mut mean, 1.0 / draws as f32, &path[path.len() - 1]);
        }
        mean
    }
}

/// What an adaptation computed: the task, its encoded pairs, and the relation after each inner step.
pub(super) struct Adaptation {
    pub(super) task: MetaTask,
    pub(super) pairs: EncodedPairs<f32>,
    pub(super) objective_task: ObjectiveTask,
    /// The relation before and after each inner step.
    pub(super) path: Vec<Vec<f32>>,
}

/// The inner steps of an evaluation.
struct Adapt<'a> {
    objective: Objective<'a, f32>,
    task: &'a ObjectiveTask,
}

impl WithSimd for Adapt<'_> {
    type Output = Vec<Vec<f32>>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<Vec<f32>> {
        let Self { objective, task } = self;
        let start = objective.support_relation(task);
        let factor = objective.inner_factor(task.support_pairs.len(), false);
        let steps = objective.inputs.config.evaluation_steps();
        objective.inner_steps(start, &task.support, steps, factor, &mut Scratch::default())
    }
}

impl FewShotModel for RanaModel {
    /// # Panics
    /// If the support is empty.
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        assert!(!support.pairs.is_empty(), "a relation is learned from at least one pair");
        let relation = self.adapted_relation(&self.roles(), support);
        let scorer: Box<dyn AdaptedRelation> = match self.0.config.score_space {
            ScoreSpace::Raw | ScoreSpace::EncodedSupport => {
                Box::new(Translation::new(Arc::clone(&self.0.parameters), Norm::L2, relation))
            }
            ScoreSpace::Encoded => {
                Box::new(EncodedTranslation::new(self.clone(), support.pairs.to_vec(), relation))
            }
        };
        Ok(Box::new(RanaRelation::new(self.clone(), scorer, support)))
    }
}
