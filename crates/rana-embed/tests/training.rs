//! Whole trainings: they give the same bits with any threads and interruptions, and they learn.
#![allow(missing_docs, clippy::unwrap_used)]

use std::cell::Cell;
use std::collections::HashSet;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use rana_embed::link_prediction::{KnownAnswers, LinkPrediction, LinkPredictionSettings};
use rana_embed::{
    Checkpoint, CheckpointError, ConfigError, EmbedConfig, EpochReport, Hooks, Loss, ModelKind, Negatives,
    Optimiser, Parameters, Pool, PretrainingOutcome, Regulariser, Sides, TrainError, Trainer, TrainingData,
    Updates, Validation,
};
use rana_graph::format::Source;
use rana_graph::{
    Duplicates, EntityId, Fact, Graph, GraphBuilder, ImportOptions, Observer, RelationId, import,
};

fn umls() -> Graph {
    let bytes = include_bytes!("../../rana/data/umls.tsv.zst");
    let source = Source::Memory { name: "umls.tsv.zst".into(), bytes: bytes.into() };
    import(&[source], &ImportOptions::default(), &()).unwrap().graph
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Cheap settings. Negatives and batch size are chosen to leave remainders everywhere.
fn small(model: ModelKind) -> EmbedConfig {
    EmbedConfig {
        model,
        dim: 18,
        epochs: 3,
        batch: 1000,
        negatives: Negatives { count: 33, shared_by: 27, ..Negatives::default() },
        seed: 7,
        ..EmbedConfig::default()
    }
}

fn train(config: EmbedConfig, graph: &Graph) -> Parameters {
    let data = TrainingData::new(graph);
    let mut trainer = Trainer::new(config, &data).unwrap();
    assert_eq!(trainer.finish(), Ok(PretrainingOutcome::Finished));
    trainer.into_parameters()
}

/// Stops after a number of batches.
struct StopAfter(AtomicUsize);

impl Observer for StopAfter {
    fn advance(&self, _: u64) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn should_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// Trains to the end. Gives the mean loss of every epoch.
fn losses(trainer: &mut Trainer<'_>) -> Vec<f64> {
    let mut losses = Vec::new();
    let mut epoch_ended = |report: &EpochReport, _: &Checkpoint| losses.push(report.loss);
    trainer.run(Hooks { validate: None, observer: &(), epoch_ended: &mut epoch_ended }).unwrap();
    losses
}

#[test]
fn the_same_seed_gives_the_same_bits_with_any_number_of_threads() {
    let graph = umls();
    let optimisers = [Optimiser::Sgd, Optimiser::Adagrad, Optimiser::adam()];
    for (at, &model) in ModelKind::ALL.iter().enumerate() {
        let config = EmbedConfig { optimiser: optimisers[at % 3], inverses: at % 2 == 0, ..small(model) };
        let one = in_pool(1, || train(config.clone(), &graph));
        assert_eq!(one, in_pool(2, || train(config.clone(), &graph)), "{model}");
        assert_eq!(one, in_pool(5, || train(config.clone(), &graph)), "{model}");
        assert_ne!(one, train(EmbedConfig { seed: 8, ..config }, &graph), "{model}");
    }
}

/// A graph large enough for several buckets in lock-free training.
fn rings() -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for head in 0..6000u32 {
        for relation in 0..10u32 {
            let tail = (head + 1 + 37 * relation) % 6000;
            builder.add_named(&head.to_string(), &relation.to_string(), &tail.to_string());
        }
    }
    builder.finish()
}

#[test]
fn lock_free_training_depends_on_no_thread_either_and_goes_on_from_any_round() {
    let graph = rings();
    let data = TrainingData::new(&graph);
    let one = Negatives { count: 2, shared_by: 1, ..Negatives::default() };
    let ranged = Negatives { pool: Pool::Range, ..small(ModelKind::TransE).negatives };
    for (model, optimiser, negatives) in [
        (ModelKind::TransE, Optimiser::Sgd, one),
        (ModelKind::Simple, Optimiser::Adagrad, ranged),
        (ModelKind::RotatE, Optimiser::adam(), Negatives { filtered: false, ..ranged }),
    ] {
        let inverses = model == ModelKind::Simple;
        let config = EmbedConfig {
            optimiser,
            negatives,
            inverses,
            updates: Updates::LockFree,
            epochs: 2,
            learning_rate: 0.01,
            ..small(model)
        };
        let one = in_pool(1, || train(config.clone(), &graph));
        assert_eq!(one, in_pool(2, || train(config.clone(), &graph)), "{model}");
        assert_eq!(one, in_pool(5, || train(config.clone(), &graph)), "{model}");
        let mut trainer = Trainer::new(config, &data).unwrap();
        let mut stops = 0;
        let parameters = loop {
            let observer = StopAfter(1.into());
            let hooks = Hooks { validate: None, observer: &observer, epoch_ended: &mut |_, _| {} };
            match trainer.run(hooks).unwrap() {
                PretrainingOutcome::Stopped => stops += 1,
                _ => break trainer.into_parameters(),
            }
            trainer = Trainer::resume(trainer.checkpoint().clone(), &data).unwrap();
        };
        assert!(stops >= 7, "{stops} interruptions in two epochs of four rounds");
        assert_eq!(parameters, one, "{model}");
    }
}

#[test]
fn a_resumed_training_ends_with_the_bits_of_an_unbroken_one() {
    let graph = umls();
    let data = TrainingData::new(&graph);
    let dir = tempfile::tempdir().unwrap();
    for optimiser in [Optimiser::Sgd, Optimiser::Adagrad, Optimiser::adam()] {
        let validation = Validation { every: 1, patience: 0, ..Validation::default() };
        let config =
            EmbedConfig { optimiser, validation, final_learning_rate: 0.1, ..small(ModelKind::Complex) };
        // The second epoch scores best, so that the best parameters must be resumed too.
        let calls = Cell::new(0);
        let mut validate = |_: &Parameters| {
            calls.set(calls.get() + 1);
            Ok([0.1, 0.3, 0.2][calls.get() - 1])
        };
        let mut unbroken = Trainer::new(config.clone(), &data).unwrap();
        let epoch_ended = &mut |_: &EpochReport, _: &Checkpoint| {};
        unbroken.run(Hooks { validate: Some(&mut validate), observer: &(), epoch_ended }).unwrap();

        calls.set(0);
        let path = dir.path().join("checkpoint");
        Trainer::new(config, &data).unwrap().checkpoint().write(&path).unwrap();
        let mut stops = 0;
        let resumed = loop {
            let mut trainer = Trainer::resume(Checkpoint::read(&path).unwrap(), &data).unwrap();
            let observer = StopAfter(4.into());
            let outcome =
                trainer.run(Hooks { validate: Some(&mut validate), observer: &observer, epoch_ended });
            trainer.checkpoint().write(&path).unwrap();
            match outcome.unwrap() {
                PretrainingOutcome::Stopped => stops += 1,
                _ => break trainer,
            }
        };
        assert!(stops > 3);
        assert_eq!(resumed.checkpoint(), unbroken.checkpoint());
        assert_eq!(resumed.checkpoint().best.as_ref().unwrap().epoch, 2);
        let best = resumed.checkpoint().best.as_ref().unwrap().parameters.clone();
        assert_eq!(resumed.into_parameters(), best);
    }
}

#[test]
fn training_stops_when_validation_does_not_improve() {
    let graph = umls();
    let data = TrainingData::new(&graph);
    let config = EmbedConfig {
        epochs: 50,
        validation: Validation { every: 2, patience: 3, ..Validation::default() },
        ..small(ModelKind::DistMult)
    };
    let mut trainer = Trainer::new(config, &data).unwrap();
    let mut score = 1.0;
    let mut validate = |_: &Parameters| {
        score -= 0.1;
        Ok(score)
    };
    let epoch_ended = &mut |_: &EpochReport, _: &Checkpoint| {};
    let outcome = trainer.run(Hooks { validate: Some(&mut validate), observer: &(), epoch_ended });
    assert_eq!(outcome, Ok(PretrainingOutcome::Converged));
    assert_eq!(trainer.checkpoint().position.epoch, 8);
    assert_eq!(trainer.finish(), Ok(PretrainingOutcome::Converged));
}

#[test]
fn a_checkpoint_that_was_cut_or_altered_is_refused() {
    let graph = umls();
    let data = TrainingData::new(&graph);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    let mut trainer = Trainer::new(EmbedConfig { epochs: 1, ..small(ModelKind::RotatE) }, &data).unwrap();
    trainer.finish().unwrap();
    trainer.checkpoint().write(&path).unwrap();
    assert_eq!(&Checkpoint::read(&path).unwrap(), trainer.checkpoint());
    let whole = fs::read(&path).unwrap();
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Checkpoint::read(&path).unwrap_err()
    };
    for length in (0..whole.len()).step_by(97) {
        let error = read(&whole[..length]);
        let is_told = matches!(error, CheckpointError::Length { .. } | CheckpointError::NoCheckpoint { .. });
        assert!(is_told, "cut at {length}: {error}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(matches!(read(&longer), CheckpointError::Length { .. }));
    for at in (0..whole.len()).step_by(61) {
        let mut altered = whole.clone();
        altered[at] ^= 4;
        read(&altered);
    }
    let mut altered = whole.clone();
    altered[whole.len() - 100] ^= 1;
    assert!(matches!(read(&altered), CheckpointError::Checksum { .. }));
    let mut newer = whole;
    newer[8] = 9;
    assert!(matches!(read(&newer), CheckpointError::Version { found: 9, .. }));
    assert!(matches!(Checkpoint::read(&dir.path().join("nowhere")).unwrap_err(), CheckpointError::Io { .. }));
}

#[test]
fn a_checkpoint_of_other_facts_is_refused() {
    let graph = umls();
    let data = TrainingData::new(&graph);
    let checkpoint = Trainer::new(small(ModelKind::TransE), &data).unwrap().checkpoint().clone();
    let mut fewer = data.clone();
    fewer.hold_out(1, 0);
    let error = Trainer::resume(checkpoint, &fewer).err();
    assert_eq!(error, Some(TrainError::OtherFacts));
}

/// Mean reciprocal rank of held-out facts, filtered, both sides, ties in the middle.
fn mrr(parameters: &Parameters, held: &[Fact], known: &HashSet<Fact>) -> f64 {
    let mut sum = 0.0;
    for &fact in held {
        for relation in [fact.relation, fact.relation.inverse()] {
            let is_tail = !relation.is_inverse();
            let (anchor, answer) = if is_tail { (fact.head, fact.tail) } else { (fact.tail, fact.head) };
            let own = parameters.vectors().score(anchor, relation, answer);
            let (mut above, mut level) = (0.0, 0.0);
            for other in (0..parameters.entity_count() as u32).map(EntityId) {
                let corrupted =
                    if is_tail { Fact { tail: other, ..fact } } else { Fact { head: other, ..fact } };
                if other != answer && !known.contains(&corrupted) {
                    let score = parameters.vectors().score(anchor, relation, other);
                    above += f64::from(score > own);
                    level += f64::from(score == own);
                }
            }
            sum += 1.0 / (1.0 + above + level / 2.0);
        }
    }
    sum / (2 * held.len()) as f64
}

#[test]
fn added_facts_are_not_held_out() {
    let graph = umls();
    let relation = RelationId::forward(graph.relation_count() as u32);
    let added: Vec<Fact> =
        (0..5).map(|n| Fact { head: EntityId(n), relation, tail: EntityId(n + 1) }).collect();
    let mut data = TrainingData::new(&graph).with_facts(&added, graph.relation_count() + 1).unwrap();
    let all = data.facts().len();
    let held: usize = (0..3).map(|seed| data.hold_out(3000, seed).len()).sum();
    assert!(held > 5000 && data.facts().len() == all - held);
    assert!(data.facts().ends_with(&added));
}

#[test]
fn every_model_learns_umls_in_both_update_modes() {
    let graph = umls();
    let known: HashSet<Fact> = graph.facts().iter().copied().collect();
    let mut data = TrainingData::new(&graph);
    let held = data.hold_out(100, 1);
    assert_eq!((held.len(), data.facts().len()), (100, graph.facts().len() - 100));
    for &model in ModelKind::ALL {
        for &updates in Updates::ALL {
            let is_distance = matches!(model, ModelKind::TransE | ModelKind::RotatE);
            let config = EmbedConfig {
                model,
                dim: 32,
                epochs: 25,
                batch: 256,
                loss: if is_distance { Loss::default() } else { Loss::Softmax },
                negatives: Negatives { count: 32, shared_by: 32, ..Negatives::default() },
                updates,
                ..EmbedConfig::default()
            };
            let random = mrr(
                &Parameters::random(&config, graph.entity_count(), graph.relation_count()),
                &held,
                &known,
            );
            let mut trainer = Trainer::new(config, &data).unwrap();
            let losses = losses(&mut trainer);
            let (first, last) = (losses[0], losses[losses.len() - 1]);
            assert!(last < 0.7 * first, "{model} {updates}: loss {first} to {last}");
            let learnt = mrr(&trainer.into_parameters(), &held, &known);
            println!("{model} {updates}: MRR {random:.3} to {learnt:.3}, loss {first:.3} to {last:.3}");
            // Random vectors rank about 135 candidates with an MRR of .04.
            assert!(random < 0.1 && learnt > 0.4, "{model} {updates}: MRR {random} to {learnt}");
        }
    }
}

#[test]
fn link_prediction_of_vectors_agrees_with_ranks_counted_one_by_one() {
    let graph = umls();
    let known: HashSet<Fact> = graph.facts().iter().copied().collect();
    let answers = KnownAnswers::of_graph(&graph);
    let facts: Vec<Fact> = graph.facts().iter().copied().step_by(97).collect();
    for &model in ModelKind::ALL {
        for inverses in [false, true] {
            // Few distinct values, so that many scores are equal.
            let config = EmbedConfig { model, inverses, dim: 4, init: Some(1.4), ..EmbedConfig::default() };
            let mut parameters = Parameters::random(&config, graph.entity_count(), graph.relation_count());
            for value in parameters.entities.iter_mut().chain(&mut parameters.relations) {
                *value = value.round();
            }
            for size in [1, 7, 4096] {
                let settings = LinkPredictionSettings {
                    queries_per_block: size,
                    candidates_per_block: size,
                    ..LinkPredictionSettings::default()
                };
                let evaluation = LinkPrediction::new(settings).unwrap();
                let report = evaluation.evaluate(&parameters.vectors(), &facts, &answers, &()).unwrap();
                let expected = mrr(&parameters, &facts, &known);
                assert!((report.both.mrr - expected).abs() < 1e-12, "{model}: {report:?} for {expected}");
                assert!(report.both.ties > 0, "{model}");
            }
        }
    }
    let vectors = Parameters::random(&EmbedConfig::default(), graph.entity_count(), 3);
    let evaluation = LinkPrediction::new(LinkPredictionSettings::default()).unwrap();
    let error = evaluation.evaluate(&vectors.vectors(), &facts, &answers, &()).unwrap_err().to_string();
    assert!(error.contains("is not among the 3 relations of the model"), "{error}");
}

#[test]
fn every_option_trains() {
    let graph = umls();
    let margin = Loss::Margin { margin: 1.0 };
    let negatives = small(ModelKind::TransE).negatives;
    let one =
        Negatives { count: 1, shared_by: 1, filtered: false, sides: Sides::Alternating, pool: Pool::All };
    let base = || EmbedConfig { learning_rate: 0.02, ..small(ModelKind::TransE) };
    let variants = [
        EmbedConfig {
            loss: margin,
            negatives: one,
            max_norm: Some(1.0),
            optimiser: Optimiser::Sgd,
            ..base()
        },
        EmbedConfig { negatives: Negatives { pool: Pool::Range, sides: Sides::Tail, ..negatives }, ..base() },
        EmbedConfig { negatives: Negatives { pool: Pool::Types, ..negatives }, ..base() },
        EmbedConfig {
            regulariser: Regulariser::L2 { weight: 0.01 },
            loss: Loss::Logistic { gamma: 2.0 },
            ..base()
        },
        EmbedConfig { dim: 7, updates: Updates::LockFree, optimiser: Optimiser::adam(), ..base() },
    ];
    for config in variants {
        let data = TrainingData::new(&graph);
        let mut trainer = Trainer::new(config.clone(), &data).unwrap();
        let losses = losses(&mut trainer);
        assert!(losses[2] < losses[0], "{config:?}: {losses:?}");
        let parameters = trainer.into_parameters();
        if let Some(most) = config.max_norm {
            for row in parameters.entities.chunks_exact(config.dim) {
                assert!(row.iter().map(|value| value * value).sum::<f32>().sqrt() < most * 1.0001);
            }
        }
    }
}

#[test]
fn extra_facts_are_trained_on_and_checked() {
    let graph = umls();
    let (entities, relations) = (graph.entity_count(), graph.relation_count());
    let extra = |relation, tail| Fact { head: EntityId(0), relation, tail: EntityId(tail) };
    let new = RelationId::forward(relations as u32);
    let data = TrainingData::new(&graph).with_facts(&[extra(new, 1)], relations + 1).unwrap();
    let mut trainer =
        Trainer::new(EmbedConfig { inverses: true, ..small(ModelKind::Simple) }, &data).unwrap();
    let before = trainer.checkpoint().parameters.vectors().relation(new.inverse()).to_vec();
    trainer.finish().unwrap();
    let parameters = trainer.into_parameters();
    assert_eq!(parameters.relation_count(), relations + 1);
    assert_ne!(parameters.vectors().relation(new.inverse()), before);
    for bad in [extra(new, 1), extra(RelationId(1), 1), extra(RelationId(0), entities as u32)] {
        let error = TrainingData::new(&graph).with_facts(&[bad], relations).unwrap_err();
        assert!(matches!(error, TrainError::FactOutOfRange { .. }), "{error}");
    }
}

#[test]
fn a_training_that_diverges_says_so() {
    let graph = umls();
    let data = TrainingData::new(&graph);
    let config = EmbedConfig { learning_rate: 1e30, optimiser: Optimiser::Sgd, ..small(ModelKind::DistMult) };
    let error = Trainer::new(config, &data).unwrap().finish().unwrap_err();
    assert!(matches!(error, TrainError::Diverged { .. }));
    let none = rana_graph::GraphBuilder::new(rana_graph::Duplicates::Remove).finish();
    let none = TrainingData::new(&none);
    assert_eq!(Trainer::new(EmbedConfig::default(), &none).err(), Some(TrainError::NoFacts));
}

#[test]
fn bad_configurations_name_the_field() {
    let message = |config: EmbedConfig| config.check().unwrap_err().to_string();
    let base = EmbedConfig::default;
    for model in [ModelKind::Complex, ModelKind::Simple, ModelKind::RotatE] {
        let error = EmbedConfig { model, dim: 11, ..base() }.check();
        assert_eq!(error, Err(ConfigError::OddDim { dim: 11, model }));
    }
    let negatives = Negatives::default();
    let bad = [
        ("dim", EmbedConfig { dim: 0, ..base() }),
        ("dim", EmbedConfig { dim: usize::MAX, ..base() }),
        ("batch", EmbedConfig { batch: 0, ..base() }),
        ("epochs", EmbedConfig { epochs: 0, ..base() }),
        ("learning_rate", EmbedConfig { learning_rate: f32::NAN, ..base() }),
        ("final_learning_rate", EmbedConfig { final_learning_rate: 1.5, ..base() }),
        ("max_norm", EmbedConfig { max_norm: Some(0.0), ..base() }),
        ("init", EmbedConfig { init: Some(f32::INFINITY), ..base() }),
        ("loss.margin", EmbedConfig { loss: Loss::Margin { margin: 0.0 }, ..base() }),
        ("loss.gamma", EmbedConfig { loss: Loss::Logistic { gamma: -1.0 }, ..base() }),
        (
            "loss.temperature",
            EmbedConfig { loss: Loss::SelfAdversarial { gamma: 1.0, temperature: 0.0 }, ..base() },
        ),
        ("negatives.count", EmbedConfig { negatives: Negatives { count: 0, ..negatives }, ..base() }),
        ("negatives.shared_by", EmbedConfig { negatives: Negatives { shared_by: 0, ..negatives }, ..base() }),
        ("regulariser.weight", EmbedConfig { regulariser: Regulariser::N3 { weight: -1.0 }, ..base() }),
        ("optimiser.beta2", EmbedConfig { optimiser: Optimiser::Adam { beta1: 0.9, beta2: 1.0 }, ..base() }),
    ];
    for (field, config) in bad {
        assert!(message(config.clone()).starts_with(&format!("{field} is ")), "{}", message(config));
    }
}

#[test]
fn configurations_are_toml() {
    let text = r#"
        model = "rotate"
        dim = 200
        learning_rate = 0.05
        updates = "lock-free"
        loss = { kind = "self-adversarial", gamma = 9.0, temperature = 1.0 }
        optimiser = { kind = "adam" }
        regulariser = { kind = "n3", weight = 0.001 }

        [negatives]
        count = 128
        pool = "range"
        sides = "alternating"
    "#;
    let config: EmbedConfig = toml::from_str(text).unwrap();
    assert_eq!((config.model, config.updates), (ModelKind::RotatE, Updates::LockFree));
    assert_eq!(config.optimiser, Optimiser::adam());
    assert_eq!(toml::from_str::<EmbedConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
    assert!(toml::from_str::<EmbedConfig>("dims = 3").unwrap_err().to_string().contains("dims"));
}
