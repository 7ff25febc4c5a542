//! Heads for a tail, tails for a head, the relation between two entities, and one given pair.

#![allow(clippy::unwrap_used)]

use rana::graph::{EntityId, Pair};
use rana::predictor::{AnswerLimits, Direction, LearnedRelation, RelationRequest};
use rana::{LEARNED, Learning, NewRelation, Predictor, Quality, RelateRequest};

const ALL: AnswerLimits = AnswerLimits { top: usize::MAX, min_score: None, min_confidence: None };

fn learn(predictor: &Predictor, support: &[Pair], direction: Direction) -> LearnedRelation {
    let relation = Some(predictor.relation("causes").unwrap());
    let request =
        RelationRequest { relation, support: support.to_vec(), direction, ..RelationRequest::default() };
    predictor.learn(request).unwrap()
}

/// The mean reciprocal rank of the answered ends of pairs.
fn mrr(learned: &LearnedRelation, pairs: &[Pair]) -> f64 {
    let direction = learned.direction();
    let rank = |pair: &Pair| {
        let answers = learned.complete(direction.turn(*pair).head, &ALL);
        let is_right = |other: &Pair| pairs.contains(other);
        let before = answers.iter().take_while(|answer| answer.pair != *pair);
        1.0 / (1 + before.filter(|answer| !is_right(&answer.pair)).count()) as f64
    };
    pairs.iter().map(rank).sum::<f64>() / pairs.len() as f64
}

#[test]
fn every_end_of_a_fact_may_be_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let learning = Learning { leave_out: vec!["causes".to_owned()], ..Learning::default() };
    let predictor = learning.learn([rana::umls()], dir.path().join("learned"), &()).unwrap();
    let graph = predictor.graph();
    let causes = predictor.relation("causes").unwrap();
    let facts = predictor.store().tasks.task(causes).unwrap().facts;
    let (support, others) = facts.split_at(5);

    // What was measured: each direction, and the relation between two entities, beats what learns nothing.
    let quality = Quality::read(&dir.path().join("learned")).unwrap();
    let heads = quality.heads.as_ref().unwrap();
    let relating = quality.relating.as_ref().unwrap();
    assert!(relating.among > 30 && relating.expected_error.is_some_and(|error| error < 0.1), "{relating:?}");
    for quality in [&quality, &**heads, &relating.quality] {
        let learned = quality.row(LEARNED).unwrap().mrr;
        assert!(quality.rows.iter().all(|row| row.mrr <= learned), "{:?}", quality.rows);
    }
    assert!(heads.rows.iter().any(|row| row.name == "popularity"));

    // Heads are found about as well as tails, and the two directions are calibrated apart.
    let [to_tails, to_heads] = [Direction::Tails, Direction::Heads].map(|of| learn(&predictor, support, of));
    let (of_tails, of_heads) = (mrr(&to_tails, others), mrr(&to_heads, others));
    assert!(of_tails > 0.3 && of_heads > 0.3, "{of_tails} {of_heads}");
    let calibrations = [Direction::Tails, Direction::Heads].map(|of| predictor.calibration_for(of).unwrap());
    assert_ne!(calibrations[0], calibrations[1]);

    // Answers are facts as people read them, whichever end is asked for. Known ones are not answered.
    let pair = others[0];
    let answers = to_heads.complete(pair.tail, &ALL);
    assert!(answers.iter().all(|answer| answer.pair.tail == pair.tail && answer.confidence.is_some()));
    assert!(answers.iter().any(|answer| answer.pair == pair && answer.withheld));
    assert!(answers.iter().all(|answer| !support.contains(&answer.pair)));

    // A given pair is judged as it is answered.
    for learned in [&to_tails, &to_heads] {
        let given = learned.direction().turn(pair).head;
        let answer = learned.complete(given, &ALL).into_iter().find(|answer| answer.pair == pair).unwrap();
        let judged = learned.judge(pair);
        assert_eq!((judged.rank, judged.score, judged.withheld), (answer.rank, answer.score, true));
        assert!((judged.confidence.unwrap() - answer.confidence.unwrap()).abs() < 1e-6);
    }
    assert!(to_tails.judge(support[0]).known && !to_tails.judge(pair).known);

    // Reasons are told from head to tail in both directions.
    let [forwards, backwards] = [&to_tails, &to_heads].map(|of| of.explain(pair.head, pair.tail));
    assert_eq!((&forwards.head, &forwards.tail), (&backwards.head, &backwards.tail));
    assert_eq!(forwards.paths, backwards.paths);
    let said = backwards.text.iter().chain(&backwards.against).any(|text| text.contains("heads of"));
    assert!(said, "{backwards:?}");

    // By names.
    let names: Vec<(&str, &str)> =
        support.iter().map(|pair| (graph.entity_name(pair.head), graph.entity_name(pair.tail))).collect();
    let named = predictor.learn_named_heads("causes", &names).unwrap();
    let first = named.answers(graph.entity_name(pair.tail), 1).unwrap();
    assert_eq!(graph.entity(&first[0].name), Some(answers[0].pair.head));

    relations_are_ranked(&predictor, support, others);
}

/// The relation of facts that were left out is among the first, whether the graph has it or it is new.
fn relations_are_ranked(predictor: &Predictor, support: &[Pair], others: &[Pair]) {
    let asked = RelateRequest { top: 100, ..RelateRequest::default() };
    let rank = |pair: &Pair, request: &RelateRequest, name: &str| {
        let relations = predictor.relate(pair.head, pair.tail, request).unwrap();
        assert!(relations.is_sorted_by(|one, other| one.score >= other.score));
        assert!(relations.iter().all(|of| of.confidence.is_some() && !of.reasons.is_empty() && !of.known));
        relations.iter().position(|of| of.relation == name).map(|at| at + 1)
    };
    let first: Vec<usize> = others.iter().take(20).filter_map(|pair| rank(pair, &asked, "causes")).collect();
    let mean = first.iter().map(|&rank| 1.0 / rank as f64).sum::<f64>() / first.len() as f64;
    assert!(first.len() == 20 && mean > 0.25, "{first:?}");

    let new = NewRelation { name: "brings about".to_owned(), support: support.to_vec() };
    let with_new = RelateRequest { new: vec![new], ..asked.clone() };
    let ranked = rank(&others[0], &with_new, "brings about").unwrap();
    assert!(ranked <= 15, "{ranked}");

    // A fact of the graph is known, and said so if it is wanted.
    let fact = predictor.graph().facts()[0];
    let known = RelateRequest { include_known: true, ..asked };
    let relations = predictor.relate(fact.head, fact.tail, &known).unwrap();
    let name = predictor.graph().relation_name(fact.relation);
    assert!(relations.iter().any(|of| of.relation == name && of.known), "{relations:?}");

    let empty = RelateRequest {
        new: vec![NewRelation { name: "empty".to_owned(), support: Vec::new() }],
        ..RelateRequest::default()
    };
    assert!(predictor.relate(EntityId(0), EntityId(1), &empty).is_err());
}
