use rana_graph::Observer;
use rana_models::training::RunConfig;

use super::*;
use crate::trial::tests::{StopAfter, small_vectors, umls};
use crate::trial::{TrialError, VectorPlan, Workspace};

const PLAN: &str = "
    preset = 'umls'
    seeds = [1, 2]
    [set]
    steps = 12
    eval_every = 4
    batch = 4
    [grid]
    J = [1, 3]
    [random]
    trials = 2
    seed = 5
    eta = { linear = [0.1, 1.0] }
";

fn sweep<'s>(store: &'s rana_graph::Store, workspace: &Workspace) -> Sweep<'s> {
    let plan = SweepPlan::of_text(PLAN).unwrap();
    Sweep::new(plan, store, workspace.clone(), VectorPlan::Train(small_vectors())).unwrap()
}

/// A report without what differs from machine to machine and run to run.
fn numbers(report: &SweepReport) -> Vec<(String, Vec<String>)> {
    let trial = |of: &SweepTrialReport| format!("{} {:?} {:?}", of.seed, of.dev_mrr, of.best_step);
    report.rows.iter().map(|row| (row.label(), row.trials.iter().map(trial).collect())).collect()
}

/// Stops before anything begins.
struct Stopped;

impl Observer for Stopped {
    fn should_stop(&self) -> bool {
        true
    }
}

#[test]
fn a_stopped_sweep_resumes_to_the_same_results() {
    let dir = tempfile::tempdir().unwrap();
    let [whole, broken] = ["whole", "broken"].map(|name| Workspace::new(dir.path().join(name)));
    let store = umls(&whole);
    let all = sweep(&store, &whole);
    assert_eq!((all.configurations().len(), all.trial_count()), (4, 8));
    let expected = all.run(&()).unwrap();

    let store = umls(&broken);
    let broken_sweep = sweep(&store, &broken);
    let mut stops = 0;
    let report = loop {
        match broken_sweep.run(&StopAfter::new(9)) {
            Err(TrialError::Stopped) => stops += 1,
            report => break report.unwrap(),
        }
        assert!(stops < 200);
    };
    assert!(stops > 4, "{stops}");
    assert_eq!(numbers(&report), numbers(&expected));

    // The best is on top, and the report has the settings to train it again.
    let mrrs: Vec<f64> = report.rows.iter().map(|row| row.dev_mrr.unwrap().mean).collect();
    assert!(mrrs.windows(2).all(|pair| pair[0] >= pair[1]), "{mrrs:?}");
    let typed = crate::Settings::of_assignments(&report.best_settings).unwrap();
    let umls = RunConfig::preset("rana", "umls").unwrap();
    let trained_again: RunConfig = typed.over(&umls).unwrap();
    let best = broken_sweep.configurations().iter().find(|of| of.label() == report.rows[0].label()).unwrap();
    assert_eq!(trained_again, best.config.with_trainer(|trainer| trainer.seed = umls.trainer.seed));
    for name in [
        "results.md",
        "results.csv",
        "results.json",
        "plots/J.png",
        "plots/eta.svg",
        "plots/learning-curves.svg",
    ] {
        assert!(broken.root().join(name).exists(), "{name}");
    }
    // Test was not evaluated.
    let text = std::fs::read_to_string(report.rows[0].trials[0].path.join("result.json")).unwrap();
    assert!(text.contains("\"test\": null"), "{text}");
}

#[test]
fn a_larger_plan_only_does_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path().join("out"));
    let store = umls(&workspace);
    let vectors = || VectorPlan::Train(small_vectors());
    let plan = |text: &str| SweepPlan::of_text(text).unwrap();
    let small = "preset = 'umls'\n[set]\nsteps = 4\neval_every = 4\nbatch = 4\n[grid]\nJ = [3, 1]\n";
    let first = Sweep::new(plan(small), &store, workspace.clone(), vectors()).unwrap();
    first.run(&()).unwrap();
    // In another order and under other names: nothing is trained, so a raised stop flag is never looked at.
    let other = small.replace("[3, 1]", "[1, 3]");
    let again = Sweep::new(plan(&other), &store, workspace.clone(), vectors()).unwrap();
    assert_eq!(again.run(&Stopped).unwrap().rows.len(), 2);
    let larger =
        Sweep::new(plan(&small.replace("[3, 1]", "[3, 1, 2]")), &store, workspace, vectors()).unwrap();
    assert!(matches!(larger.run(&Stopped), Err(TrialError::Stopped)));
}

#[test]
fn folds_are_trained_too_and_may_decide() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path().join("out"));
    let store = umls(&workspace);
    let text = "
        preset = 'umls'
        seeds = [4, 5]
        folds = 3
        select = 'folds'
        [set]
        steps = 4
        eval_every = 4
        batch = 4
        [grid]
        J = [1, 3]
    ";
    let plan = SweepPlan::of_text(text).unwrap();
    let vectors = VectorPlan::Train(small_vectors());
    let sweep = Sweep::new(plan, &store, workspace.clone(), vectors).unwrap();
    assert_eq!(sweep.trial_count(), 2 * (2 + 3));
    let report = sweep.run(&()).unwrap();
    for row in &report.rows {
        let folds: Vec<_> = row.trials.iter().filter(|trial| trial.fold.is_some()).collect();
        assert_eq!(
            folds.iter().map(|trial| (trial.seed, trial.fold)).collect::<Vec<_>>(),
            [(4, Some(1)), (4, Some(2)), (4, Some(3))]
        );
        let mean = folds.iter().map(|trial| trial.selection_mrr.unwrap()).sum::<f64>() / 3.0;
        assert!((row.fold_mrr.unwrap().mean - mean).abs() < 1e-12);
        // Left-out tasks are other ones than dev.
        assert!(folds.iter().any(|trial| trial.selection_mrr != trial.dev_mrr));
        let dev: Vec<f64> = row
            .trials
            .iter()
            .filter(|trial| trial.fold.is_none())
            .map(|trial| trial.dev_mrr.unwrap())
            .collect();
        assert_eq!(row.dev_mrr.unwrap().mean, (dev[0] + dev[1]) / 2.0);
    }
    let by_folds: Vec<f64> = report.rows.iter().map(|row| row.fold_mrr.unwrap().mean).collect();
    assert!(by_folds[0] >= by_folds[1]);
    let table = report.table();
    assert!(
        table.titles.contains(&"dev MRR".to_owned()) && table.titles.contains(&"MRR over 3 folds".to_owned())
    );
}

#[test]
fn the_worth_of_each_change_is_its_distance_from_no_change() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path().join("out"));
    let store = umls(&workspace);
    let text = "
        preset = 'umls'
        [set]
        steps = 4
        eval_every = 4
        batch = 4
        [each]
        J = [1]
        gamma = [0.5]
    ";
    let plan = SweepPlan::of_text(text).unwrap();
    let report = Sweep::new(plan, &store, workspace, VectorPlan::Train(small_vectors())).unwrap();
    let report = report.run(&()).unwrap();
    let table = report.table();
    assert_eq!(table.titles[1..4], ["settings", "dev MRR", "worth"]);
    assert_eq!(report.rows.len(), 3);
    let base = report.rows.iter().find(|row| row.settings.is_empty()).unwrap().dev_mrr.unwrap().mean;
    for (row, cells) in report.rows.iter().zip(&table.rows) {
        let worth = row.dev_mrr.unwrap().mean - base;
        match row.settings.is_empty() {
            true => assert_eq!((&*cells[1], &*cells[3]), ("as set", "")),
            false => assert_eq!(cells[3], format!("{worth:+.3}")),
        }
    }
}

#[test]
fn tasks_that_are_too_few_or_too_small_are_noticed_before_anything_starts() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path().join("out"));
    let store = umls(&workspace);
    for (text, expected) in [
        ("folds = 1000", "there is no dev task"),
        ("[grid]\nshots = [5, 100000]", "shots=100000 (seed 0): shots is 100000"),
    ] {
        let plan = SweepPlan::of_text(text).unwrap();
        let vectors = VectorPlan::Train(small_vectors());
        let error = Sweep::new(plan, &store, workspace.clone(), vectors).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_plan_of_more_trials_than_anyone_can_run_is_refused() {
    let refused = |plan: &str| SweepPlan::of_text(plan).unwrap().configurations().unwrap_err().to_string();
    let draws = refused("preset = 'umls'\n[random]\ntrials = 1000000000\neta = { linear = [0.1, 1.0] }");
    assert!(draws.contains("1000000000 configurations are more"), "{draws}");
    let values: Vec<String> = (1..=200).map(|value| value.to_string()).collect();
    let values = values.join(", ");
    let grid =
        refused(&format!("preset = 'umls'\n[grid]\nJ = [{values}]\nbatch = [{values}]\nsteps = [{values}]"));
    assert!(grid.starts_with("grid: 40000 configurations"), "{grid}");
    let folds = refused("preset = 'umls'\nfolds = 9000000000000000000");
    assert!(folds.contains("trials are more"), "{folds}");
}
