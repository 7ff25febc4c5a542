use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rana_embed::{EmbedConfig, ModelKind};
use rana_fewshot::{PretrainingFacts, SplitConfig, split};
use rana_graph::{ImportOptions, Observer, Store, import};
use rana_models::training::RunConfig;

use super::*;

/// UMLS, split, in a workspace of its own.
pub(crate) fn umls(workspace: &Workspace) -> Store {
    let umls = import(&[crate::umls()], &ImportOptions::default(), &()).unwrap();
    let cut = split(&umls.graph, &SplitConfig::default()).unwrap();
    Store::write(workspace.graph(), &cut.graph, &cut.tasks, umls.inputs).unwrap();
    Store::open(workspace.graph()).unwrap()
}

pub(crate) fn small_vectors() -> VectorSettings {
    VectorSettings {
        name: "transe".to_owned(),
        config: EmbedConfig { dim: 16, epochs: 4, ..EmbedConfig::recommended(ModelKind::TransE, 2_500) },
        facts: PretrainingFacts::Background,
        shots: 5,
        fold: None,
    }
}

fn small(seed: u64) -> Trial {
    Trial {
        name: "small".to_owned(),
        vectors: VectorPlan::Train(small_vectors()),
        config: RunConfig::preset("rana", "umls").unwrap().with_trainer(|trainer| {
            (trainer.steps, trainer.eval_every, trainer.batch, trainer.seed) = (30, 5, 4, seed);
        }),
        measures: Measures { test: true, draws: 2, common_shots: 8 },
        keep_model: true,
    }
}

/// Stops after so many reports of progress.
pub(crate) struct StopAfter {
    left: AtomicU64,
    stop: AtomicBool,
}

impl StopAfter {
    pub(crate) fn new(reports: u64) -> Self {
        Self { left: AtomicU64::new(reports), stop: AtomicBool::new(false) }
    }
}

impl Observer for StopAfter {
    fn advance(&self, _: u64) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A result without its times.
fn numbers(result: TrialResult) -> TrialResult {
    TrialResult { seconds: TrialSeconds::default(), peak_memory: None, ..result }
}

#[test]
fn a_trial_that_is_stopped_again_and_again_ends_in_the_same_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let [whole, broken] = ["whole", "broken"].map(|name| Workspace::new(dir.path().join(name)));
    let trial = small(3);
    let store = umls(&whole);
    let expected = trial.run(&store, &whole, &()).unwrap();
    let measured = expected.measurement().unwrap();
    let test = measured.test.as_ref().unwrap();
    assert!(test.result.resampled.is_some() && test.result.common.is_some() && !test.per_relation.is_empty());
    assert_eq!(measured.dev.micro.mrr, measured.selection_mrr);

    let store = umls(&broken);
    let mut stops = 0;
    let result = loop {
        match trial.run(&store, &broken, &StopAfter::new(11)) {
            Err(TrialError::Stopped) => stops += 1,
            result => break result.unwrap(),
        }
        assert!(trial.finished(&store, &broken).is_none());
        assert!(stops < 100);
    };
    assert!(stops >= 4, "{stops}");
    assert_eq!(numbers(result), numbers(expected));
}

#[test]
fn what_was_measured_is_not_measured_again() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path().join("out"));
    let store = umls(&workspace);
    let dev = Trial { measures: Measures::DEV, ..small(1) };
    let first = dev.run(&store, &workspace, &()).unwrap();
    assert!(first.measurement().unwrap().test.is_none());
    // Anything but reading the result would have to train, and may not.
    let stopped = StopAfter::new(1);
    stopped.stop.store(true, Ordering::Relaxed);
    assert_eq!(dev.run(&store, &workspace, &stopped).unwrap(), first);
    // Test asks for an evaluation, but for no training.
    assert!(small(1).finished(&store, &workspace).is_none());
    let tested = small(1).run(&store, &workspace, &stopped).unwrap();
    assert_eq!(tested.measurement().unwrap().dev, first.measurement().unwrap().dev);
    // Dev is part of that.
    assert_eq!(dev.finished(&store, &workspace), Some(tested));
    // Another seed and other vectors are other trials, which have to be trained.
    assert!(matches!(small(2).run(&store, &workspace, &stopped), Err(TrialError::Stopped)));
    let config = EmbedConfig { seed: 9, ..small_vectors().config };
    let vectors = VectorPlan::Train(VectorSettings { config, ..small_vectors() });
    assert!(!vectors.is_ready(&store, &workspace));
    let other = Trial { vectors, ..small(1) };
    assert!(matches!(other.run(&store, &workspace, &stopped), Err(TrialError::Stopped)));
}

#[test]
fn settings_that_diverge_are_a_result() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path().join("out"));
    let store = umls(&workspace);
    let mut trial = small(1);
    trial.config.trainer.learning_rate = 1e30;
    let result = trial.run(&store, &workspace, &()).unwrap();
    assert!(
        matches!(&result.outcome, TrialOutcome::Failed { reason } if reason.contains("diverged")),
        "{result:?}"
    );
    assert_eq!(trial.finished(&store, &workspace), Some(result));
}

#[test]
fn a_model_that_was_not_kept_is_trained_again_if_it_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path().join("out"));
    let store = umls(&workspace);
    let dev = Trial { measures: Measures::DEV, keep_model: false, ..small(1) };
    let first = dev.run(&store, &workspace, &()).unwrap();
    let run = dev.run_path(&store, &workspace);
    let has_model = || {
        let mut names = fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().starts_with("model-"))
    };
    assert!(!has_model() && run.join("metrics.jsonl").exists());
    assert_eq!(dev.finished(&store, &workspace).as_ref(), Some(&first));
    let tested = small(1).run(&store, &workspace, &()).unwrap();
    assert!(has_model());
    assert_eq!(tested.measurement().unwrap().dev, first.measurement().unwrap().dev);
}

#[test]
fn vectors_of_a_preset_know_its_facts_and_no_more_than_a_fold_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path().join("out"));
    let store = umls(&workspace);
    for preset in rana_embed::PRESETS.iter().filter(|preset| preset.model == ModelKind::TransE) {
        let plan = VectorPlan::of_name(preset.name, 3, &store).unwrap();
        let VectorPlan::Train(settings) = &plan else { panic!("{}", preset.name) };
        assert_eq!((settings.facts.to_string(), settings.config.seed), (preset.facts.to_owned(), 3));
        // What knows task facts is made anew for each fold; what does not serves all.
        let without = plan.without("1/2".parse().unwrap());
        assert_eq!(without == plan, settings.facts == PretrainingFacts::Background);
    }
    let facts = PretrainingFacts::TrainTasks;
    let tasks = VectorPlan::Train(VectorSettings { facts, ..small_vectors() });
    let fold = "1/2".parse().unwrap();
    let config = small(1).config.with_trainer(|trainer| trainer.fold = Some(fold));
    let measures = Measures::DEV;
    let known = Trial { vectors: tasks.clone(), config: config.clone(), measures, ..small(1) };
    assert!(known.run(&store, &workspace, &()).is_err());
    let unknown = Trial { vectors: tasks.without(fold), config, measures, ..small(1) };
    let result = unknown.run(&store, &workspace, &()).unwrap();
    assert!(result.measurement().is_some() && unknown.vectors.is_ready(&store, &workspace));
}
