//! A model as others use it: its scores, and what it says of them.

use std::sync::Arc;

use proptest::prelude::*;
use rana_fewshot::{CandidateConfig, DataMode, FewShotModel, Support, TrainingTasks};
use rana_graph::{Duplicates, EntityId, Graph, GraphBuilder, Pair, TaskSetBuilder};

use super::config::{
    Activation, BetaScale, EncoderInit, Ends, MetaOrder, Prune, RScope, RanaConfig, RelInit, Residual,
    ScoreSpace,
};
use super::model::RanaModel;
use super::stepped_model::Rana;
use crate::training::{RowUpdates, RunConfig, StartVectors, SteppedModel, Trainer, TrainerConfig};

const ENTITIES: u32 = 90;

fn graph() -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for n in 0..ENTITIES {
        builder.intern_entity(&format!("e{n}"));
    }
    for n in 0..ENTITIES - 1 {
        for (relation, step) in [("r", 7), ("s", 13), ("t", 31)] {
            if n % 5 != 0 || relation == "r" {
                builder.add_named(
                    &format!("e{n}"),
                    relation,
                    &format!("e{}", (n * step + 3) % (ENTITIES - 1)),
                );
            }
        }
    }
    builder.finish()
}

fn model(graph: &Graph, (config, trainer): &(RanaConfig, TrainerConfig)) -> RanaModel {
    let start = StartVectors::random(graph, 20, 3);
    let parameters = Rana::new(config, trainer, graph, start.dim()).initial(&start);
    RanaModel::new(config, trainer, graph, Arc::new(parameters))
}

fn configs() -> Vec<(RanaConfig, TrainerConfig)> {
    let base = RanaConfig { neighbours: 4, gamma: 1.0, beta_scale: BetaScale::None, ..RanaConfig::default() };
    let sparse = TrainerConfig::default();
    let replay = TrainerConfig { adam_rows: RowUpdates::Replay, ..sparse.clone() };
    vec![
        (base.clone(), sparse.clone()),
        (RanaConfig { residual: Residual::Translation, test_draws: 3, ..base.clone() }, sparse.clone()),
        (RanaConfig { score_space: ScoreSpace::EncodedSupport, ..base.clone() }, replay),
        (RanaConfig { score_space: ScoreSpace::Encoded, ..base.clone() }, sparse.clone()),
        (RanaConfig { score_space: ScoreSpace::Encoded, r_scope: RScope::TaskMean, ..base }, sparse),
    ]
}

fn pair(head: u32, tail: u32) -> Pair {
    Pair { head: EntityId(head), tail: EntityId(tail) }
}

const SUPPORT: [Pair; 3] = [
    Pair { head: EntityId(1), tail: EntityId(10) },
    Pair { head: EntityId(89), tail: EntityId(5) },
    Pair { head: EntityId(1), tail: EntityId(44) },
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_score_does_not_depend_on_what_else_is_scored(
        heads in prop::collection::vec(0..ENTITIES, 1..4),
        tails in prop::collection::vec(0..ENTITIES, 1..150),
        which in 0usize..5,
    ) {
        let graph = graph();
        let model = model(&graph, &configs()[which]);
        let candidates: Vec<EntityId> = graph.entities().collect();
        let relation = model.adapt(&Support { relation: None, pairs: &SUPPORT, candidates: &candidates, rejected: &[], seed: 5 }).unwrap();
        let (heads, tails): (Vec<EntityId>, Vec<EntityId>) =
            (heads.into_iter().map(EntityId).collect(), tails.into_iter().map(EntityId).collect());
        let mut together = vec![0.0; heads.len() * tails.len()];
        relation.scores(&heads, &tails, &mut together);
        for (row, &head) in heads.iter().enumerate() {
            for (column, &tail) in tails.iter().enumerate() {
                let mut alone = [0.0];
                relation.scores(&[head], &[tail], &mut alone);
                prop_assert_eq!(alone[0].to_bits(), together[row * tails.len() + column].to_bits());
            }
        }
    }
}

#[test]
fn an_inspection_says_what_scores_are_made_of() {
    let graph = graph();
    let candidates: Vec<EntityId> = graph.entities().collect();
    let support =
        Support { relation: None, pairs: &SUPPORT, candidates: &candidates, rejected: &[], seed: 5 };
    for configs in configs() {
        let model = model(&graph, &configs);
        let (config, _) = configs;
        let inspection = model.inspect(&support);
        assert_eq!(inspection.support.len(), SUPPORT.len());
        for (inspected, pair) in inspection.support.iter().zip(SUPPORT) {
            assert_eq!(inspected.pair, pair);
            let beta: f32 = inspected.negatives.iter().map(|negative| negative.weight).sum();
            assert!((beta - 1.0).abs() < 1e-5 && inspected.negatives.len() == 5);
            for (attention, entity) in [(&inspected.head, pair.head), (&inspected.tail, pair.tail)] {
                assert_eq!(attention.len(), graph.degree(entity).min(4));
                let alpha: f32 = attention.iter().map(|of| of.weight).sum();
                assert!((alpha - if attention.is_empty() { 0.0 } else { 1.0 }).abs() < 1e-5);
            }
            // Tails of the same head in the support are no negatives.
            assert!(
                inspected
                    .negatives
                    .iter()
                    .all(|negative| !SUPPORT.contains(&Pair { tail: negative.entity, ..pair }))
            );
        }
        // The inner step starts from the mean of the relations of single pairs, and changes it.
        for (at, &before) in inspection.before.iter().enumerate() {
            let mean = inspection.support.iter().map(|of| of.relation[at]).sum::<f32>() / 3.0;
            assert!((mean - before).abs() < 1e-5);
        }
        assert_ne!(inspection.before, inspection.after);
        let relation = model.adapt(&support).unwrap();
        for answer in [pair(3, 4), pair(89, 89), pair(1, 10)] {
            let mut score = [0.0];
            relation.scores(&[answer.head], &[answer.tail], &mut score);
            let parts = model.score_parts(&inspection, answer);
            assert!((parts.distance + score[0]).abs() < 1e-5, "{parts:?} {score:?}");
            assert_eq!(parts.score, config.gamma - parts.distance);
            assert_eq!(parts.by_support.len(), 3);
        }
    }
}

#[test]
fn the_inner_step_leads_away_from_what_was_rejected() {
    let graph = graph();
    let candidates: Vec<EntityId> = graph.entities().collect();
    for configs in configs() {
        let model = model(&graph, &configs);
        let (config, _) = configs;
        let distance = |asked: Pair, rejected: &[Pair]| {
            let support =
                Support { relation: None, pairs: &SUPPORT, candidates: &candidates, rejected, seed: 5 };
            let mut score = [0.0];
            model.adapt(&support).unwrap().scores(&[asked.head], &[asked.tail], &mut score);
            -score[0]
        };
        for at in 0..30 {
            let wrong = pair(at * 7 % ENTITIES, (at * 11 + 1) % ENTITIES);
            let (without, with) = (distance(wrong, &[]), distance(wrong, &[wrong]));
            assert!(with > without, "{:?}: {with} is not above {without}", config.score_space);
            // A thousand of them weigh no more than one for each of the three pairs, none of which leads further than η.
            let most = without + 3.0 * config.eta * config.evaluation_steps() as f32;
            assert!(distance(wrong, &vec![wrong; 1000]) < most + 1e-3, "{:?}", config.score_space);
        }
    }
}

#[test]
fn the_same_seed_draws_the_same_negatives() {
    let graph = graph();
    let model = model(&graph, &configs()[0]);
    let candidates: Vec<EntityId> = graph.entities().collect();
    let inspect = |seed| {
        model.inspect(&Support {
            relation: None,
            pairs: &SUPPORT,
            candidates: &candidates,
            rejected: &[],
            seed,
        })
    };
    assert_eq!(inspect(5), inspect(5));
    assert_ne!(inspect(5).support[0].negatives, inspect(6).support[0].negatives);
}

#[test]
fn a_residual_from_zero_starts_at_the_mean_translation() {
    let graph = graph();
    let start = StartVectors::random(&graph, 20, 3);
    let config =
        RanaConfig { residual: Residual::Translation, rel_init: RelInit::Zero, ..RanaConfig::default() };
    let candidates: Vec<EntityId> = graph.entities().collect();
    let support =
        Support { relation: None, pairs: &SUPPORT, candidates: &candidates, rejected: &[], seed: 5 };
    let trainer = TrainerConfig::default();
    let configs = (config, trainer);
    let inspection = model(&graph, &configs).inspect(&support);
    for (at, &before) in inspection.before.iter().enumerate() {
        let row = |entity: EntityId| start.entities.row(entity.0 as usize)[at];
        let translation = |pair: &Pair| row(pair.tail) - row(pair.head);
        let mean = SUPPORT.iter().map(translation).sum::<f32>() / 3.0;
        assert!((mean - before).abs() < 1e-6, "{mean} {before}");
    }
    let (config, trainer) = configs;
    let without = RanaConfig { residual: Residual::None, ..config };
    assert_eq!(without.check(&trainer).unwrap_err().field, "rel_init");
}

#[test]
fn an_encoder_that_starts_as_the_identity_scores_by_the_mean_translation() {
    let graph = graph();
    let start = StartVectors::random(&graph, 20, 3);
    let candidates: Vec<EntityId> = graph.entities().collect();
    let support =
        Support { relation: None, pairs: &SUPPORT, candidates: &candidates, rejected: &[], seed: 5 };
    for ends in [Ends::Shared, Ends::Separate] {
        let config = RanaConfig {
            score_space: ScoreSpace::Encoded,
            enc_init: EncoderInit::Identity,
            rel_init: RelInit::Translation,
            enc_act: Activation::None,
            rel_act: Activation::None,
            meta_order: MetaOrder::Zero,
            ends,
            ..RanaConfig::default()
        };
        let model = model(&graph, &(config, TrainerConfig::default()));
        let row = |entity: EntityId| start.entities.row(entity.0 as usize);
        let relation = model.adapt(&support).unwrap();
        let mut scores = vec![0.0; 2 * candidates.len()];
        relation.scores(&[EntityId(3), EntityId(9)], &candidates, &mut scores);
        for (head, scores) in [EntityId(3), EntityId(9)].into_iter().zip(scores.chunks(candidates.len())) {
            for (&tail, score) in candidates.iter().zip(scores) {
                let squares = (0..20).map(|at| {
                    let mean =
                        SUPPORT.iter().map(|of| row(of.tail)[at] - row(of.head)[at]).sum::<f32>() / 3.0;
                    (row(head)[at] + mean - row(tail)[at]).powi(2)
                });
                let distance = squares.sum::<f32>().sqrt();
                assert!((distance + score).abs() < 1e-5, "{distance} {score}");
            }
        }
    }
}

#[test]
fn queries_of_an_episode_share_their_negatives_where_they_are_valid() {
    let graph = graph();
    let benchmark = TaskSetBuilder::default().finish();
    let tasks =
        TrainingTasks::new(&graph, &benchmark, None, DataMode::InTrainPretrained, CandidateConfig::default());
    let start = StartVectors::random(&graph, 8, 3);
    let drawn = [false, true].map(|share_negatives| {
        let trainer = TrainerConfig {
            data_mode: DataMode::InTrainPretrained,
            queries: 12,
            batch: 5,
            ..TrainerConfig::default()
        };
        let model = RanaConfig { share_negatives, negatives: 6, prune: Prune::Off, ..RanaConfig::default() };
        let config = RunConfig::new(trainer, model);
        Trainer::new(&config, &graph, &tasks, &start).unwrap().draw_batch()
    });
    let distinct = |negatives: &[EntityId]| {
        let mut negatives = negatives.to_vec();
        negatives.sort_unstable();
        negatives.dedup();
        negatives.len()
    };
    for (own, shared) in drawn[0].iter().zip(&drawn[1]) {
        assert_eq!(own.query.pairs(), shared.query.pairs());
        assert!(distinct(own.query.negatives()) > distinct(shared.query.negatives()));
        assert_ne!(shared.support.negatives()[..6], shared.query.negatives()[..6], "two sequences");
        for (pair, negatives) in shared.query.iter().chain(shared.support.iter()) {
            assert_eq!(distinct(negatives), 6);
            let known = tasks.known_tails(pair.head, shared.relation.unwrap());
            assert!(negatives.iter().all(|negative| !known.contains(negative)));
        }
    }
}
