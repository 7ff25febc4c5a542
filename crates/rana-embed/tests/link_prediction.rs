//! Ranks agree with a naive reference for any blocks, threads and ties.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::HashSet;
use std::ops::Range;

use proptest::prelude::*;
use rana_embed::Side;
use rana_embed::link_prediction::{
    FactRanks, KnownAnswers, LinkPrediction, LinkPredictionError, LinkPredictionSettings, LinkQuery,
    LinkScorer, Metrics, Rank, TieRule,
};
use rana_graph::{Duplicates, EntityId, Fact, GraphBuilder, HeldOut, RelationId};

/// Scores by a small pseudo-random integer of query and candidate, so that ties are common.
#[derive(Clone, Copy)]
struct Integers {
    entities: usize,
    seed: u32,
    values: u32,
    /// How far approximate scores are off at most.
    noise: f32,
}

fn mix(words: [u32; 5]) -> u32 {
    words.iter().fold(0x9e37_79b9, |hash: u32, word| (hash ^ word).wrapping_mul(0x85eb_ca6b).rotate_left(13))
}

impl Integers {
    fn score(&self, query: LinkQuery, candidate: usize) -> f32 {
        let words = [self.seed, query.side as u32, query.relation.0, query.anchor.0, candidate as u32];
        (mix(words) % self.values) as f32
    }
}

impl LinkScorer for Integers {
    fn relations(&self) -> usize {
        usize::MAX
    }
    fn entities(&self) -> usize {
        self.entities
    }

    fn scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) {
        assert_eq!(out.len(), queries.len() * candidates.len());
        let pairs =
            queries.iter().flat_map(|query| candidates.clone().map(move |candidate| (query, candidate)));
        for ((query, candidate), out) in pairs.zip(out) {
            *out = self.score(*query, candidate);
        }
    }

    fn approximate_scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) -> f32 {
        self.scores(queries, candidates.clone(), out);
        let block = (queries.len() + candidates.start) as u32;
        for (at, out) in out.iter_mut().enumerate() {
            let share = f64::from(mix([self.seed, block, at as u32, 7, 7])) / f64::from(u32::MAX);
            *out += self.noise * (2.0 * share as f32 - 1.0);
        }
        self.noise
    }
}

/// A filtered rank by its definition.
fn naive(scorer: &Integers, facts: &[Fact], known: &HashSet<Fact>) -> Vec<FactRanks> {
    let rank = |fact: Fact, side: Side| {
        let (query, answer) = LinkQuery::of(fact, side);
        let right = scorer.score(query, answer.index());
        let mut rank = Rank::default();
        for candidate in (0..scorer.entities as u32).map(EntityId).filter(|&candidate| candidate != answer) {
            let stated = match side {
                Side::Head => Fact { head: candidate, ..fact },
                Side::Tail => Fact { tail: candidate, ..fact },
            };
            if !known.contains(&stated) {
                let score = scorer.score(query, candidate.index());
                rank.better += u64::from(score > right);
                rank.tied += u64::from(score == right);
            }
        }
        rank
    };
    facts
        .iter()
        .map(|&fact| FactRanks { fact, head: rank(fact, Side::Head), tail: rank(fact, Side::Tail) })
        .collect()
}

fn evaluation(queries_per_block: usize, candidates_per_block: usize) -> LinkPrediction {
    let settings = LinkPredictionSettings {
        queries_per_block,
        candidates_per_block,
        ..LinkPredictionSettings::default()
    };
    LinkPrediction::new(settings).unwrap()
}

fn fact((head, relation, tail): (u32, u32, u32)) -> Fact {
    Fact { head: EntityId(head), relation: RelationId::forward(relation), tail: EntityId(tail) }
}

fn any_facts(most: usize) -> impl Strategy<Value = Vec<Fact>> {
    prop::collection::vec((0u32..12, 0u32..3, 0u32..12).prop_map(fact), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn ranks_are_those_of_the_definition(
        train in any_facts(60),
        test in any_facts(30),
        blocks in (1usize..9, 1usize..15),
        (seed, values) in (any::<u32>(), 1u32..12),
        noise in prop::sample::select(vec![0.0f32, 0.25, 1.0, 100.0, f32::MAX, f32::INFINITY]),
        threads in 1usize..4,
    ) {
        let noise_added = if noise > 100.0 { 0.0 } else { noise };
        let scorer = Integers { entities: 12, seed, values, noise: noise_added };
        let facts: HashSet<Fact> = train.iter().chain(&test).copied().collect();
        let known = KnownAnswers::new(facts.iter().copied());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let evaluation = evaluation(blocks.0, blocks.1);
        let ranks = if noise > 100.0 {
            // A scorer may state an infinite error.
            pool.install(|| evaluation.ranks(&Unsure(scorer, noise), &test, &known, &()))
        } else {
            pool.install(|| evaluation.ranks(&scorer, &test, &known, &()))
        };
        prop_assert_eq!(ranks.unwrap(), naive(&scorer, &test, &facts));
    }

    #[test]
    fn a_rank_does_not_depend_on_the_other_facts(
        test in any_facts(30),
        seed in any::<u32>(),
    ) {
        let scorer = Integers { entities: 12, seed, values: 6, noise: 0.0 };
        let known = KnownAnswers::new(test.iter().copied());
        let evaluation = evaluation(4, 5);
        let together = evaluation.ranks(&scorer, &test, &known, &()).unwrap();
        for (at, fact) in test.iter().enumerate() {
            let alone = evaluation.ranks(&scorer, &[*fact], &known, &()).unwrap();
            prop_assert_eq!(alone[0], together[at]);
        }
    }
}

/// Claims an error bound without making errors.
struct Unsure(Integers, f32);

impl LinkScorer for Unsure {
    fn relations(&self) -> usize {
        usize::MAX
    }
    fn entities(&self) -> usize {
        self.0.entities
    }

    fn scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) {
        self.0.scores(queries, candidates, out);
    }

    fn approximate_scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) -> f32 {
        self.0.scores(queries, candidates, out);
        self.1
    }
}

/// A scorer given by a function of the number of queries in the block, and the candidate.
struct By<F>(F);

impl<F: Fn(usize, usize) -> f32 + Sync> LinkScorer for By<F> {
    fn relations(&self) -> usize {
        usize::MAX
    }
    fn entities(&self) -> usize {
        4
    }

    fn scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) {
        for row in out.chunks_exact_mut(candidates.len()) {
            candidates
                .clone()
                .zip(row)
                .for_each(|(candidate, out)| *out = (self.0)(queries.len(), candidate));
        }
    }
}

#[test]
fn infinite_scores_are_scores() {
    let scorer = By(|_, candidate| [f32::NEG_INFINITY, 0.0, f32::INFINITY, f32::NEG_INFINITY][candidate]);
    let facts = [fact((0, 0, 2)), fact((3, 0, 1))];
    let ranks = evaluation(8, 3).ranks(&scorer, &facts, &KnownAnswers::default(), &()).unwrap();
    assert_eq!(ranks[0].head, Rank { better: 2, tied: 1 });
    assert_eq!(ranks[0].tail, Rank { better: 0, tied: 0 });
    assert_eq!(ranks[1].tail, Rank { better: 1, tied: 0 });
}

#[test]
fn nan_is_an_error_that_names_the_place() {
    let scorer = By(|_, candidate| if candidate == 3 { f32::NAN } else { 0.0 });
    let facts = [fact((0, 1, 2)), fact((1, 0, 2))];
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let error = pool
            .install(|| evaluation(1, 2).ranks(&scorer, &facts, &KnownAnswers::default(), &()))
            .unwrap_err();
        let expected =
            LinkPredictionError::NotANumber { side: Side::Head, relation: 0, anchor: 2, candidate: 3 };
        assert_eq!(error, expected);
        assert!(error.to_string().contains("smaller learning rate"), "{error}");
    }
}

#[test]
fn a_score_that_depends_on_its_block_is_an_error() {
    let scorer = By(|queries, candidate| (queries * candidate) as f32);
    let facts = [fact((0, 0, 2)), fact((1, 0, 2)), fact((1, 0, 3))];
    let error = evaluation(8, 8).ranks(&scorer, &facts, &KnownAnswers::default(), &()).unwrap_err();
    assert!(matches!(error, LinkPredictionError::Inconsistent { .. }), "{error}");
}

#[test]
fn settings_and_facts_are_checked() {
    let settings = LinkPredictionSettings { queries_per_block: 0, ..LinkPredictionSettings::default() };
    let error = LinkPrediction::new(settings).unwrap_err().to_string();
    assert_eq!(error, "`queries_per_block` is 0; it must be at least 1");
    let outside = [fact((0, 0, 4))];
    let error = evaluation(1, 1).ranks(&By(|_, _| 0.0), &outside, &KnownAnswers::default(), &()).unwrap_err();
    assert_eq!(error, LinkPredictionError::UnknownEntity { entity: 4, entities: 4 });
}

#[test]
fn the_report_has_sides_relations_and_the_tie_rule() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("a", "r", "b");
    builder.add_named("c", "s", "d");
    builder.add_held_out_named(HeldOut::Valid, "a", "r", "c");
    builder.add_held_out_named(HeldOut::Test, "a", "r", "d");
    builder.add_held_out_named(HeldOut::Test, "b", "s", "a");
    let graph = builder.finish();
    // All scores are equal, so only the number of candidates counts.
    let report = |tie_rule| {
        let settings =
            LinkPredictionSettings { tie_rule, per_relation: true, ..LinkPredictionSettings::default() };
        let known = KnownAnswers::of_graph(&graph);
        LinkPrediction::new(settings)
            .unwrap()
            .evaluate(&By(|_, _| 1.0), graph.held_out(HeldOut::Test), &known, &())
            .unwrap()
    };
    let realistic = report(TieRule::default());
    assert_eq!(realistic.tie_rule, TieRule::Realistic);
    // Tails of (a, r): b and c are known, so only a competes with d; nothing else is filtered.
    let relations = realistic.relations.as_ref().unwrap();
    assert_eq!(relations.iter().map(|r| graph.relation_name(r.relation)).collect::<Vec<_>>(), ["r", "s"]);
    assert_eq!((relations[0].tail.ties, relations[0].head.ties, relations[1].both.ties), (1, 3, 6));
    assert_eq!((relations[0].tail.mean_rank, relations[1].both.mean_rank), (1.5, 2.5));
    assert_eq!((realistic.both.queries, realistic.both.tied_queries, realistic.both.ties), (4, 4, 10));
    assert_eq!(report(TieRule::Optimistic).both.mrr, 1.0);
    assert_eq!(report(TieRule::Pessimistic).head.mean_rank, 4.0);
    assert_eq!(
        realistic.tail,
        Metrics::of([(0, 1), (0, 3)].map(|(better, tied)| Rank { better, tied }), TieRule::Realistic)
    );
}
