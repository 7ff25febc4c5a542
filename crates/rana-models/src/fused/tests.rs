//! What evidence may see, what it says, and what is learned of it.

use std::sync::Arc;

use proptest::prelude::*;
use rana_embed::Table;
use rana_fewshot::{AdaptedRelation, Direction, FewShotModel, Support};
use rana_graph::{
    Duplicates, EntityId, Graph, GraphBuilder, LabelRank, Pair, RelationId, Split, Task, TaskSet,
    TaskSetBuilder,
};

use super::evidence::Evidence;
use super::evidence_kind::EvidenceKind;
use super::evidence_matrix::evidence_matrix;
use super::example::{Example, ExampleQuery};
use super::likelihood_fit::{Prior, fit};
use super::rank_fit::RankFit;
use super::reason::Reason;
use super::support_record::SupportRecord;
use super::{Examples, FusedConfig, FusedModel, Sources, Trust, TrustedSource};
use crate::paths::{EdgeIndex, VisibleEdges};
use crate::rana::{Rana, RanaConfig};
use crate::training::{StartVectors, SteppedModel, TrainerConfig};

const PEOPLE: u32 = 24;
const CITIES: u32 = 6;

/// People are born in cities, which lie in countries; `lives` and `votes` are tasks.
fn world() -> (Graph, TaskSet) {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for n in 0..PEOPLE {
        builder.add_named(&format!("person:p{n}"), "born", &format!("city:c{}", n % CITIES));
        builder.add_named(&format!("person:p{n}"), "knows", &format!("person:p{}", (n * 7 + 1) % PEOPLE));
    }
    for n in 0..CITIES {
        builder.add_named(&format!("city:c{n}"), "lies", &format!("country:n{}", n % 3));
    }
    for relation in ["lives", "votes", "visits"] {
        builder.add_task_relation(relation).unwrap();
    }
    let graph = builder.finish();
    let entity = |name: String| graph.entity(&name).unwrap();
    let pair = |head: String, tail: String| Pair { head: entity(head), tail: entity(tail) };
    let lives: Vec<Pair> =
        (0..PEOPLE).map(|n| pair(format!("person:p{n}"), format!("city:c{}", n % CITIES))).collect();
    let votes: Vec<Pair> =
        (0..PEOPLE).map(|n| pair(format!("person:p{n}"), format!("country:n{}", n % CITIES % 3))).collect();
    let visits: Vec<Pair> =
        (0..PEOPLE).map(|n| pair(format!("person:p{n}"), format!("city:c{}", (n + 1) % CITIES))).collect();
    let mut tasks = TaskSetBuilder::default();
    let candidates: Vec<EntityId> = graph.entities().collect();
    for (split, name, facts) in
        [(Split::Train, "lives", lives), (Split::Train, "votes", votes), (Split::Test, "visits", visits)]
    {
        let relation = graph.relation(name).unwrap();
        tasks.add_task(split, relation, facts);
        tasks.add_candidates(relation, candidates.clone());
    }
    tasks.filter_from_tasks();
    (graph.clone(), tasks.finish())
}

fn sources(graph: &Graph, edges: EdgeIndex) -> Sources {
    let config = RanaConfig { neighbours: 4, gamma: 1.0, ..RanaConfig::default() };
    let start = StartVectors::random(graph, 8, 3);
    let rana = Rana::new(&config, &TrainerConfig::default(), graph, start.dim());
    let model = rana.freeze(Arc::new(rana.initial(&start)));
    let values: Vec<f32> =
        (0..graph.entity_count() * 4).map(|n| ((n * 37 % 101) as f32 / 50.0) - 1.0).collect();
    let products = Table::new(graph.entity_count(), 4, values).unwrap();
    Sources::new(graph, Arc::new(edges)).with_model(model).with_products(products)
}

fn support<'a>(task: &Task<'a>, shots: usize) -> Support<'a> {
    Support::of_task(task, &task.facts[..shots], 1)
}

fn task<'a>(graph: &Graph, tasks: &'a TaskSet, name: &str) -> Task<'a> {
    tasks.task(graph.relation(name).unwrap()).unwrap()
}

fn all_evidence(sources: &Sources, support: &Support<'_>) -> Vec<Evidence> {
    sources.kinds().map(|kind| sources.adapt(kind, support).unwrap()).collect()
}

/// The same tasks without one of them.
fn without(tasks: &TaskSet, name: RelationId) -> TaskSet {
    let mut builder = TaskSetBuilder::default();
    for task in tasks.iter().filter(|task| task.relation != name) {
        builder.add_task(task.split, task.relation, task.facts.to_vec());
        builder.add_candidates(task.relation, task.candidates.to_vec());
    }
    builder.finish()
}

#[test]
fn a_relation_is_no_evidence_for_itself() {
    let (graph, tasks) = world();
    for name in ["lives", "votes"] {
        let task = task(&graph, &tasks, name);
        let there = sources(&graph, EdgeIndex::with_train_tasks(&graph, &tasks));
        let gone = sources(&graph, EdgeIndex::with_train_tasks(&graph, &without(&tasks, task.relation)));
        let heads: Vec<EntityId> = task.facts.iter().map(|pair| pair.head).collect();
        let support = support(&task, 5);
        let [seen, unseen] = [&there, &gone]
            .map(|sources| evidence_matrix(&all_evidence(sources, &support), &heads, task.candidates));
        assert_eq!(seen, unseen, "{name}");
        // The test can fail: to other relations these edges are there.
        let other = Support { relation: graph.relation("visits"), ..support };
        let [seen, unseen] = [&there, &gone]
            .map(|sources| evidence_matrix(&all_evidence(sources, &other), &heads, task.candidates));
        assert_ne!(seen, unseen, "{name}");
    }
}

#[test]
fn facts_of_test_tasks_are_never_edges() {
    let (graph, tasks) = world();
    let visits = task(&graph, &tasks, "visits");
    let index = Arc::new(EdgeIndex::with_train_tasks(&graph, &tasks));
    let all = VisibleEdges::without(&index, None);
    for pair in visits.facts {
        assert!(all.by(pair.head, visits.relation).is_empty());
        assert!(all.by(pair.tail, visits.relation.inverse()).is_empty());
    }
    // Train tasks are edges, but not where only the background is.
    let lives = task(&graph, &tasks, "lives");
    let head = lives.facts[0].head;
    assert_eq!(all.by(head, lives.relation).len(), 1);
    let hidden = VisibleEdges::without(&index, Some(lives.relation));
    assert_eq!(hidden.by(head, lives.relation).len(), 0);
    let count = |edges: &VisibleEdges| edges.edges(head).count();
    assert_eq!(count(&hidden), count(&all) - 1);
    let background = Arc::new(EdgeIndex::background(&graph));
    assert!(VisibleEdges::without(&background, None).by(head, lives.relation).is_empty());
}

#[test]
fn a_query_is_judged_the_same_whether_it_is_a_fact_or_not() {
    let (graph, tasks) = world();
    let lives = task(&graph, &tasks, "lives");
    let sources = sources(&graph, EdgeIndex::with_train_tasks(&graph, &tasks));
    let evidence = all_evidence(&sources, &support(&lives, 4));
    // p6 and p12 are born in the same city; to the relation that is asked for, both only were.
    let kinds: Vec<EvidenceKind> = evidence.iter().map(|of| of.kind).collect();
    let rule = kinds.iter().position(|&kind| kind == EvidenceKind::Rule).unwrap();
    let city = graph.entity("city:c0").unwrap();
    let heads = [6, 12].map(|n| graph.entity(&format!("person:p{n}")).unwrap());
    let rows = evidence_matrix(&evidence, &heads, &[city]);
    assert_eq!(rows[rule], 1.0);
    assert_eq!(rows[kinds.len() + rule], 1.0);
}

#[test]
fn each_source_says_why() {
    let (graph, tasks) = world();
    let votes = task(&graph, &tasks, "votes");
    let sources = sources(&graph, EdgeIndex::background(&graph));
    let trust = |evidence| TrustedSource {
        evidence,
        trust: Trust { constant: 1.0, ..Trust::default() },
        never_against: false,
    };
    let trusted: Vec<TrustedSource> = sources.kinds().map(trust).collect();
    let model = FusedModel::new(sources, trusted);
    let relation = model.fuse(&support(&votes, 5)).unwrap();
    let (head, tail) = (votes.facts[9].head, votes.facts[9].tail);
    let parts = relation.explain(head, tail, &[]);
    let mut score = [0.0];
    relation.scores(&[head], &[tail], &mut score);
    let sum: f32 = parts.iter().map(|part| part.score).sum();
    assert!((sum - score[0]).abs() < 1e-4, "{sum} {score:?}");
    assert!(parts.is_sorted_by(|one, other| one.lead.abs() >= other.lead.abs()));
    let beside_itself = relation.explain(head, tail, &[tail]);
    assert!(beside_itself.iter().all(|part| part.lead == 0.0), "{beside_itself:?}");
    let text = |kind: EvidenceKind| {
        let part = parts.iter().find(|part| part.evidence == kind).unwrap();
        part.reason.as_ref().map(|reason| reason.text(&graph, Direction::Tails))
    };
    assert_eq!(text(EvidenceKind::Path).unwrap(), "connected by `born` then `lies`, like 5 of 5 examples");
    assert_eq!(text(EvidenceKind::Rule), None);
    assert_eq!(text(EvidenceKind::Edge), None);
    assert_eq!(text(EvidenceKind::Copy).unwrap(), "it is the tail of 2 of 5 examples");
    assert!(text(EvidenceKind::Translation).unwrap().starts_with("its vector is where the examples lead"));
    assert_eq!(
        text(EvidenceKind::Signature).unwrap(),
        "it has relations that tails of the examples have (100 % alike)"
    );
}

#[test]
fn entities_of_one_name_are_joined_and_words_are_compared() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for (head, tail) in [("boston bruins", "x"), ("boston", "y"), ("bruins", "z"), ("paris", "boston")] {
        builder.add_named(head, "r", tail);
    }
    builder.add_label("y", "Zebra", LabelRank::Untagged);
    builder.add_label("z", "zebra", LabelRank::Untagged);
    let graph = builder.finish();
    let sources = sources(&graph, EdgeIndex::background(&graph));
    let id = |name: &str| graph.entity(name).unwrap();
    // `boston` leads to y, and z has the same name.
    let edges = VisibleEdges::without(sources.edges(), None);
    let joined: Vec<RelationId> = edges.joining(id("y"), id("z")).collect();
    assert_eq!(joined.len(), 1);
    assert_eq!(
        Reason::Edge { by: joined[0] }.text(&graph, Direction::Tails),
        "already connected by the same name"
    );
    let pairs = [Pair { head: id("paris"), tail: id("x") }];
    let candidates: Vec<EntityId> = graph.entities().collect();
    let support = Support { relation: None, pairs: &pairs, candidates: &candidates, rejected: &[], seed: 0 };
    let name = sources.adapt(EvidenceKind::Name, &support).unwrap();
    let rows = evidence_matrix(
        std::slice::from_ref(&name),
        &[id("boston bruins")],
        &[id("boston"), id("bruins"), id("x")],
    );
    assert!(rows[0] > 0.5 && rows[1] > 0.5 && rows[2] == 0.0, "{rows:?}");
    assert_eq!((name.reason)(id("boston bruins"), id("x"), rows[2]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_score_does_not_depend_on_what_else_is_scored(
        heads in prop::collection::vec(0..PEOPLE, 1..5),
        tails in prop::collection::vec(0..PEOPLE + CITIES, 1..60),
        shots in 1usize..6,
        weights in prop::collection::vec(-2.0f32..2.0, 4 * 12),
    ) {
        let (graph, tasks) = world();
        let votes = task(&graph, &tasks, "votes");
        let sources = sources(&graph, EdgeIndex::with_train_tasks(&graph, &tasks));
        let trusted = sources.kinds().zip(weights.chunks(4)).map(|(evidence, of)| TrustedSource {
            evidence,
            trust: Trust { constant: of[0], record: of[1], scarcity: of[2], separation: of[3] },
            never_against: evidence == EvidenceKind::Rule,
        });
        let model = FusedModel::new(sources.clone(), trusted.collect());
        let relation = model.adapt(&support(&votes, shots)).unwrap();
        let heads: Vec<EntityId> = heads.into_iter().map(EntityId).collect();
        let tails: Vec<EntityId> = tails.into_iter().map(EntityId).collect();
        let mut block = vec![0.0; heads.len() * tails.len()];
        relation.scores(&heads, &tails, &mut block);
        for (row, &head) in block.chunks(tails.len()).zip(&heads) {
            for (&score, &tail) in row.iter().zip(&tails) {
                let mut alone = [0.0];
                relation.scores(&[head], &[tail], &mut alone);
                prop_assert_eq!(alone[0].to_bits(), score.to_bits());
            }
        }
    }

    #[test]
    fn trust_is_learned_to_the_bottom(
        examples in examples(),
        ridge in 0.001f64..0.1,
        mean in prop::collection::vec(-1.0f64..1.0, 8),
        against in prop::collection::vec(prop::sample::select(vec![0.0, 5.0]), 2),
    ) {
        let all: Vec<&Example> = examples.iter().collect();
        let scales = [0.5, 2.0];
        let price = [ridge, 3.0 * ridge, ridge, 2.0 * ridge].repeat(2);
        let prior = Prior { mean, price, against };
        let best = fit(&all, &scales, &prior).at;
        let least = loss(&examples, &scales, &prior, &best);
        // No step in any direction leads further down.
        for place in 0..best.len() {
            for step in [-0.01, 0.01] {
                let mut beside = best.clone();
                beside[place] += step;
                prop_assert!(loss(&examples, &scales, &prior, &beside) > least);
            }
        }
    }

    #[test]
    fn trust_then_climbs_to_better_ranks(examples in examples(), softness in 0.2f64..2.0, pull in 0.001f64..0.1) {
        let all: Vec<&Example> = examples.iter().collect();
        let scales = [0.5, 2.0];
        let rank_fit = RankFit { softness, pull };
        let prior = Prior { mean: vec![0.1; 8], price: vec![0.01; 8], against: vec![0.0; 2] };
        let likely = fit(&all, &scales, &prior);
        let (start, curvature) = (likely.at.clone(), likely.curvature.clone());
        let height = |at: &[f64]| rank_fit.height(&all, &scales, at, &start, &curvature);
        let top = rank_fit.from(likely, &all, &scales);
        prop_assert!(height(&top).0 >= height(&start).0);
        prop_assert!((height(&start).0 - reciprocal_rank(&examples, &scales, &start, softness)).abs() < 1e-5);
        let (_, slope) = height(&top);
        for (place, slope) in slope.into_iter().enumerate() {
            let beside = |by: f64| {
                let mut at = top.clone();
                at[place] += by;
                height(&at).0
            };
            let measured = (beside(1e-3) - beside(-1e-3)) / 2e-3;
            prop_assert!((slope - measured).abs() < 2e-3 * (1.0 + slope.abs()), "{slope} for {measured}");
        }
        let still = RankFit { softness: 0.0, pull }.from(fit(&all, &scales, &prior), &all, &scales);
        prop_assert_eq!(still, start);
    }
}

/// Three examples of four queries with five candidates, by two sources.
fn examples() -> impl Strategy<Value = Vec<Example>> {
    let values = prop::collection::vec(-1.0f32..1.0, 3 * 4 * 5 * 2);
    let record =
        (0.0f32..1.0, -1.0f32..6.0, 0.5f32..2.0).prop_map(|(reciprocal_rank, separation, spread)| {
            SupportRecord { reciprocal_rank, separation, spread }
        });
    let records = prop::collection::vec(record, 6);
    let shots = prop::collection::vec(1usize..9, 3);
    (values, records, shots).prop_map(|(values, records, shots)| {
        let query = |number: usize| ExampleQuery {
            rows: values[number * 10..][..10].to_vec(),
            stands_for: vec![0.0, 0.0, 0.5, 1.0, 0.0],
        };
        let example = |number: usize| Example {
            records: records[2 * number..][..2].to_vec(),
            shots: shots[number],
            queries: (4 * number..4 * number + 4).map(query).collect(),
        };
        (0..3).map(example).collect()
    })
}

/// How much a source counts in an example, for values divided by its scale and its spread.
fn weight(example: &Example, source: usize, at: &[f64]) -> f64 {
    let SupportRecord { reciprocal_rank, separation, .. } = example.records[source];
    let terms = [1.0, f64::from(reciprocal_rank), 1.0 / example.shots as f64, f64::from(separation)];
    (0..4).map(|term| at[source * 4 + term] * terms[term]).sum()
}

/// The score of a candidate, straight from its definition.
fn score(example: &Example, query: &ExampleQuery, candidate: usize, scales: &[f32], at: &[f64]) -> f64 {
    let of_source = |source: usize| {
        let spread = example.records[source].spread;
        weight(example, source, at)
            * f64::from(query.rows[candidate * scales.len() + source] / scales[source] / spread)
    };
    (0..scales.len()).map(of_source).sum()
}

/// The mean smooth reciprocal rank, straight from its definition.
fn reciprocal_rank(examples: &[Example], scales: &[f32], at: &[f64], softness: f64) -> f64 {
    let mut sum = 0.0;
    for example in examples {
        for query in &example.queries {
            let of = |candidate| score(example, query, candidate, scales, at);
            let ahead = |rival: usize| {
                f64::from(query.stands_for[rival]).exp() / (1.0 + ((of(0) - of(rival)) / softness).exp())
            };
            let rank = 1.0 + (1..query.stands_for.len()).map(ahead).sum::<f64>();
            sum += 1.0 / (rank * (examples.len() * example.queries.len()) as f64);
        }
    }
    sum
}

/// The loss, straight from its definition.
fn loss(examples: &[Example], scales: &[f32], prior: &Prior, at: &[f64]) -> f64 {
    let way = at.iter().zip(&prior.mean).map(|(at, mean)| (at - mean).powi(2));
    let mut loss: f64 = way.enumerate().map(|(place, of)| 0.5 * prior.price[place] * of).sum();
    for example in examples {
        for (source, (price, scale)) in prior.against.iter().zip(scales).enumerate() {
            let weight = weight(example, source, at) / f64::from(*scale);
            loss += 0.5 * price * weight.min(0.0).powi(2) / examples.len() as f64;
        }
        for query in &example.queries {
            let score = |candidate: usize| {
                f64::from(query.stands_for[candidate]) + score(example, query, candidate, scales, at)
            };
            let total: f64 = (0..query.stands_for.len()).map(|candidate| score(candidate).exp()).sum();
            loss += (total.ln() - score(0)) / (examples.len() * example.queries.len()) as f64;
        }
    }
    loss
}

#[test]
fn what_tells_the_truth_is_trusted() {
    let (graph, tasks) = world();
    let sources = sources(&graph, EdgeIndex::background(&graph));
    let votes = [task(&graph, &tasks, "votes")];
    let config =
        FusedConfig { shots: vec![1, 3], draws: 3, queries: 6, candidates: 7, ..FusedConfig::default() };
    let examples = Examples::gather(&config, &sources, &tasks, &votes).unwrap();
    let trusted = Examples::learn(&[&examples], &config.evidence);
    let of = |kind| trusted.iter().find(|of| of.evidence == kind).unwrap();
    // Where one is born decides; whom one knows does not.
    assert!(of(EvidenceKind::Path).weight(&SupportRecord::NONE, 3) > 1.0, "{trusted:?}");
    let model = FusedModel::new(sources.clone(), trusted.clone());
    let lives = task(&graph, &tasks, "votes");
    let relation = model.adapt(&support(&lives, 3)).unwrap();
    for pair in &lives.facts[3..] {
        let mut scores = vec![0.0; lives.candidates.len()];
        relation.scores(&[pair.head], lives.candidates, &mut scores);
        let best = scores.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1)).unwrap().0;
        assert_eq!(lives.candidates[best], pair.tail);
    }
    // The same again is the same to the bit, and fewer sources are fewer.
    let again = Examples::gather(&config, &sources, &tasks, &votes).unwrap();
    assert_eq!(Examples::learn(&[&again], &config.evidence), trusted);
    let one = Examples::learn(&[&examples], &[EvidenceKind::Path]);
    assert_eq!(one.iter().map(|of| of.evidence).collect::<Vec<_>>(), [EvidenceKind::Path]);
    // A task that is too small gives no example.
    let large = FusedConfig { shots: vec![PEOPLE as usize], ..config };
    assert!(Examples::gather(&large, &sources, &tasks, &votes).unwrap().is_empty());
}

/// A graph had taught that a relation joining a pair speaks against it, because that happened once, by accident. Five of
/// five examples joined by one relation then had no say (`docs/experiments/2026-11-18-new-user.md`).
#[test]
fn what_the_support_shares_never_speaks_against_an_answer() {
    let (graph, tasks) = world();
    let sources = sources(&graph, EdgeIndex::background(&graph));
    let lives = task(&graph, &tasks, "lives");
    let of = |constant: f32, never_against: bool| {
        let trust = Trust { constant, ..Trust::default() };
        let trusted = vec![TrustedSource { evidence: EvidenceKind::Rule, trust, never_against }];
        let model = FusedModel::new(sources.clone(), trusted);
        let relation = model.adapt(&support(&lives, 5)).unwrap();
        let mut score = [0.0];
        relation.scores(&[lives.facts[9].head], &[lives.facts[9].tail], &mut score);
        score[0]
    };
    assert_eq!([of(-3.0, false), of(-3.0, true), of(3.0, true)], [-3.0, 0.0, 3.0]);

    // One source, which spoke once in ten queries, against the right tail; the others say nothing.
    let query = |value: f32| ExampleQuery { rows: vec![0.0, value, 0.0], stands_for: vec![0.0; 3] };
    let record = SupportRecord { reciprocal_rank: 0.0, separation: 0.0, spread: 1.0 };
    let queries = (0..10).map(|number| query(if number == 0 { 0.2 } else { 0.0 })).collect();
    let example = Example { records: vec![record], shots: 5, queries };
    let scale = 0.01;
    let learned = |strength: f64, against: f64| {
        let price = [0.1, 0.1, 0.1, 0.1].map(|price| price * strength).to_vec();
        let mean = [6.0, 0.0, 0.0, 0.0].map(|of| of * f64::from(scale)).to_vec();
        let at = fit(&[&example], &[scale], &Prior { mean, price, against: vec![against] }).at;
        weight(&example, 0, &at) / f64::from(scale)
    };
    assert!(learned(1.0, 0.0) < -5.0, "the fault: {}", learned(1.0, 0.0));
    let free = learned(1.0, 10.0);
    assert!((-0.1..0.1).contains(&free), "{free}");
    let held = learned(super::prior::prior_strength(EvidenceKind::Rule, scale / 100.0), 10.0);
    assert!((5.9..6.0).contains(&held), "{held}");
}

#[test]
fn heads_that_are_alike_have_the_same_tail() {
    let (graph, tasks) = world();
    let votes = task(&graph, &tasks, "votes");
    let sources = sources(&graph, EdgeIndex::background(&graph));
    let analogy = sources.adapt(EvidenceKind::Analogy, &support(&votes, 3)).unwrap();
    let id = |name: &str| graph.entity(name).unwrap();
    // p0 and p6 are born in one city, and know different people.
    let tails = ["country:n0", "country:n1", "country:n2"].map(id);
    let values = analogy.values.of(id("person:p6"), &tails);
    assert!(values[0] > 0.1 && values[0] < 1.0 && values[1..] == [0.0, 0.0], "{values:?}");
    // p1 is wholly like itself.
    let own = analogy.values.of(id("person:p1"), &tails);
    assert!((own[1] - 1.0).abs() < 1e-5, "{own:?}");
    let reason = (analogy.reason)(id("person:p6"), tails[0], values[0]).unwrap();
    let text = reason.text(&graph, Direction::Tails);
    assert!(text.starts_with("it is the tail of person:p0, which is like the head ("), "{text}");
    assert_eq!((analogy.reason)(id("person:p6"), tails[1], 0.0), None);
}

#[test]
fn wrong_settings_are_named() {
    let good = FusedConfig::default();
    good.check().unwrap();
    for (config, field) in [
        (FusedConfig { evidence: Vec::new(), ..good.clone() }, "evidence"),
        (FusedConfig { evidence: vec![EvidenceKind::Copy; 2], ..good.clone() }, "evidence"),
        (FusedConfig { folds: 1, ..good.clone() }, "folds"),
        (FusedConfig { shots: vec![3, 0], ..good.clone() }, "shots"),
        (FusedConfig { draws: 0, ..good.clone() }, "draws"),
        (FusedConfig { queries: 0, ..good.clone() }, "queries"),
        (FusedConfig { candidates: 0, ..good.clone() }, "candidates"),
        (FusedConfig { ridge: -1.0, ..good.clone() }, "ridge"),
        (FusedConfig { prior_tasks: -1.0, ..good.clone() }, "prior_tasks"),
        (FusedConfig { separation_price: 0.0, ..good.clone() }, "separation_price"),
        (FusedConfig { record_price: f64::NAN, ..good.clone() }, "record_price"),
        (FusedConfig { softness: -0.1, ..good.clone() }, "softness"),
        (FusedConfig { against_price: -0.1, ..good.clone() }, "against_price"),
        (FusedConfig { pull: 0.0, ..good }, "pull"),
    ] {
        assert_eq!(config.check().unwrap_err().field, field);
    }
}
