use std::collections::BTreeSet;

use rana_eval::FewShotEvaluation;
use rana_fewshot::first_k;
use rana_graph::{EntityId, Pair, Split, Store};
use rana_models::fused::FusedConfig;
use rana_models::training::{ManifestError, RunConfig};
use rana_models::{OpenError, OpenedRun};

use super::*;
use crate::fused_training::FusedTraining;
use crate::trial::tests::{StopAfter, small_vectors, umls};
use crate::trial::{VectorPlan, Workspace};

/// A quickly trained model with evidence on UMLS, and the run of the model in it.
struct Trained {
    _dir: tempfile::TempDir,
    fused: std::path::PathBuf,
    rana: std::path::PathBuf,
}

fn trained() -> Trained {
    let dir = tempfile::tempdir().unwrap();
    let store = umls(&Workspace::new(dir.path().join("data")));
    let training = FusedTraining {
        name: "small".to_owned(),
        vectors: VectorPlan::Train(small_vectors()),
        products: None,
        model: RunConfig::preset("rana", "umls").unwrap().with_trainer(|trainer| {
            (trainer.steps, trainer.eval_every, trainer.batch) = (30, 15, 4);
        }),
        fused: FusedConfig { folds: 2, draws: 2, queries: 5, ..FusedConfig::default() },
    };
    let fused = dir.path().join("fused");
    let run = training.train(&fused, &store, &StopAfter::new(u64::MAX)).unwrap();
    let rana = fused.join(run.parts.model.as_ref().unwrap());
    Trained { _dir: dir, fused, rana }
}

fn official(store: &Store, shots: usize) -> RelationRequest {
    let task = store.tasks.of(Split::Test).next().unwrap();
    let support = first_k(&task, shots).unwrap().support;
    RelationRequest { relation: Some(task.relation), support, ..RelationRequest::default() }
}

const ALL: AnswerLimits = AnswerLimits { top: usize::MAX, min_score: None, min_confidence: None };

/// The mean reciprocal rank of a task's queries, by what a predictor answers.
fn mrr_by_answers(predictor: &Predictor, task: &rana_graph::Task<'_>) -> f64 {
    let episode = first_k(task, 5).unwrap();
    let request = RelationRequest {
        relation: Some(task.relation),
        support: episode.support.clone(),
        include_known: true,
        ..RelationRequest::default()
    };
    let learned = predictor.learn(request).unwrap();
    let tasks = &predictor.store().tasks;
    let ranks = episode.query.iter().map(|query| {
        let known = tasks.known_tails(query.head, task.relation);
        let answers = learned.complete(query.head, &ALL);
        let right = answers.iter().find(|answer| answer.pair.tail == query.tail).unwrap();
        let rivals = answers.iter().filter(|answer| known.binary_search(&answer.pair.tail).is_err());
        let ahead: f64 =
            rivals
                .map(|rival| {
                    if rival.score > right.score { 1.0 } else { 0.5 * f64::from(rival.score == right.score) }
                })
                .sum();
        1.0 / (1.0 + ahead)
    });
    ranks.sum::<f64>() / episode.query.len() as f64
}

#[test]
fn answers_are_ranked_as_in_an_evaluation() {
    let trained = trained();
    for path in [&trained.fused, &trained.rana] {
        let predictor = Predictor::open(path, None).unwrap();
        // The evaluation opens the run by itself.
        let OpenedRun { store, opened, .. } = OpenedRun::open(path, None, None).unwrap();
        let report = FewShotEvaluation::default()
            .evaluate(&*opened.model, &store.graph, &store.tasks, Split::Test, &())
            .unwrap();
        for (task, expected) in store.tasks.of(Split::Test).zip(&report.tasks) {
            let found = mrr_by_answers(&predictor, &task);
            let name = store.graph.relation_name(task.relation);
            assert!(
                (found - expected.metrics.mrr).abs() < 1e-9,
                "{name}: {found} for {}",
                expected.metrics.mrr
            );
        }
    }
}

#[test]
fn answers_keep_to_what_was_asked_and_say_why() {
    let trained = trained();
    let predictor = Predictor::open(&trained.fused, None).unwrap();
    let store = predictor.store();
    let request = official(store, 5);
    let learned = predictor.learn(request.clone()).unwrap();
    let head = request.support[0].head;
    let answers = learned.complete(head, &AnswerLimits::default());
    assert!(answers.iter().all(|answer| !request.support.contains(&answer.pair) && !answer.known));
    assert!(answers.is_sorted_by(|one, other| one.score >= other.score && one.rank < other.rank));
    assert!(answers.is_sorted_by(|one, other| one.confidence >= other.confidence));
    assert!(answers.iter().all(|answer| answer.confidence.is_some()), "{:?}", learned.note());

    // What is rejected is gone, and all others are still answered; their order may change, since the model learns from it.
    let wrong = answers[0].pair;
    let without = RelationRequest { rejected: vec![wrong], ..request.clone() };
    let fewer = predictor.learn(without).unwrap().complete(head, &ALL);
    let tails = |answers: &[Answer]| -> BTreeSet<EntityId> {
        answers.iter().map(|answer| answer.pair.tail).collect()
    };
    let mut expected = tails(&learned.complete(head, &ALL));
    assert!(expected.remove(&wrong.tail));
    assert_eq!(tails(&fewer), expected);

    // Listed candidates are the only ones, with the scores they had.
    let listed = vec![answers[2].pair.tail, answers[1].pair.tail];
    let chosen = RelationRequest { candidates: CandidateChoice::Listed(listed), ..request.clone() };
    let chosen = predictor.learn(chosen).unwrap();
    let few = chosen.complete(head, &ALL);
    // They are still compared with all others.
    assert_eq!(chosen.scored_tails(), learned.candidates().len() + 2);
    assert_eq!(
        few.iter().map(|answer| (answer.pair, answer.score)).collect::<Vec<_>>(),
        [(answers[1].pair, answers[1].score), (answers[2].pair, answers[2].score)]
    );

    let sure = answers[1].confidence;
    let limits = AnswerLimits { min_confidence: sure, ..AnswerLimits::default() };
    assert!(learned.complete(head, &limits).iter().all(|answer| answer.confidence >= sure));
    let limits = AnswerLimits { min_score: Some(answers[0].score), ..AnswerLimits::default() };
    assert_eq!(learned.complete(head, &limits).len(), 1);

    let why = learned.explain(head, answers[0].pair.tail);
    assert_eq!(why.score, answers[0].score);
    assert_eq!(why.confidence, answers[0].confidence);
    assert!(!why.text.is_empty() && why.resembles.is_some() && !why.attention.is_empty(), "{why:?}");
    assert_eq!(why.sources.len(), 7, "UMLS has no types and this training no products: {:?}", why.sources);
    let heads = why.paths.iter().all(|path| path.nodes.len() == path.steps.len() + 1);
    assert!(heads && !why.paths.is_empty());
    let last = learned.complete(head, &ALL).pop().unwrap();
    let against = learned.explain(head, last.pair.tail).against;
    assert!(against.iter().any(|text| text.contains("other candidates score higher")), "{against:?}");
}

#[test]
fn a_relation_without_a_name_is_learned_too_and_nonsense_is_refused() {
    let trained = trained();
    let predictor = Predictor::open(&trained.rana, None).unwrap();
    let request = RelationRequest { relation: None, ..official(predictor.store(), 5) };
    let learned = predictor.learn(request.clone()).unwrap();
    let heads = learned.plausible_heads();
    assert!(
        !heads.is_empty() && heads.iter().all(|&head| request.support.iter().all(|pair| pair.head != head))
    );
    assert_eq!(learned.complete(heads[0], &AnswerLimits::default()).len(), 10);

    let one = RelationRequest { support: request.support[..1].to_vec(), ..request.clone() };
    let single = predictor.learn(one).unwrap();
    assert!(single.note().unwrap().starts_with("too few examples to say"));
    assert!(
        single.complete(heads[0], &AnswerLimits::default()).iter().all(|answer| answer.confidence.is_none())
    );

    let refused = |request: RelationRequest| predictor.learn(request).err().unwrap();
    let nothing = RelationRequest { support: Vec::new(), ..request.clone() };
    assert!(matches!(refused(nothing), PredictorError::NoSupport));
    let both = RelationRequest { rejected: vec![request.support[2]], ..request.clone() };
    assert!(matches!(refused(both), PredictorError::Contradiction { .. }));
    let none = RelationRequest { candidates: CandidateChoice::Listed(Vec::new()), ..request.clone() };
    assert!(matches!(refused(none), PredictorError::NoCandidates));
    // The same pair twice is one pair.
    let mut twice = request.support.clone();
    twice.push(Pair { ..request.support[0] });
    assert_eq!(
        predictor.learn(RelationRequest { support: twice, ..request.clone() }).unwrap().support().len(),
        5
    );
    assert!(matches!(
        Predictor::open(trained._dir.path(), None).err(),
        Some(PredictorError::Open(OpenError::Manifest(ManifestError::NoRun { .. })))
    ));
}
