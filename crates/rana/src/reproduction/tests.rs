use std::path::PathBuf;

use rana_eval::Spread;

use super::*;
use crate::trial::tests::StopAfter;
use crate::trial::{TrialError, Workspace};

/// A report without its times and places.
fn numbers(report: &ReproductionReport) -> Vec<(String, Option<Ours>)> {
    let timeless = |ours: &Ours| {
        let per_seed = ours
            .per_seed
            .iter()
            .map(|of| SeedResult { seconds: 0.0, peak_memory: None, path: None, ..of.clone() })
            .collect();
        Ours { per_seed, seconds: Spread::default(), peak_memory: None, ..ours.clone() }
    };
    report.rows.iter().map(|row| (row.key.clone(), row.ours.as_ref().map(timeless))).collect()
}

#[test]
fn a_stopped_reproduction_resumes_to_the_same_table() {
    let dir = tempfile::tempdir().unwrap();
    let [whole, broken] = ["whole", "broken"].map(|name| Workspace::new(dir.path().join(name)));
    let table = Reproduction::smoke(Experiment::Table2);
    let expected = table.run(&whole, &()).unwrap();
    let mut stops = 0;
    let report = loop {
        match table.run(&broken, &StopAfter::new(20)) {
            Err(ReproductionError::Trial(TrialError::Stopped)) => stops += 1,
            report => break report.unwrap(),
        }
        assert!(stops < 300);
    };
    assert!(stops > 2, "{stops}");
    assert_eq!(numbers(&report), numbers(&expected));
    // Both presets, every published model and everything that learns nothing have numbers.
    let has_numbers = |key: &str| report.rows.iter().find(|row| row.key == key).unwrap().ours.is_some();
    for key in ["transe", "distmult", "complex", "simple", "rotate"] {
        let row = report.rows.iter().find(|row| row.key == key).unwrap();
        let ours = row.ours.as_ref().unwrap();
        // Vectors know no support but the official one.
        assert_eq!((row.kind, ours.runs, ours.resampled_mrr), (RowKind::Vectors, 2, None), "{key}");
    }
    for key in ["rana-umls", "rana-paper", "rules", "adjacency", "copy", "popularity", "mean-translation"] {
        assert!(has_numbers(key), "{key}");
    }
    assert!(has_numbers("rana-fused"));
    for name in ["gmatching", "metar", "fsrl", "faan", "gana", "hire"] {
        assert!(has_numbers(&format!("{name}-umls")), "{name}");
    }
    let rana = report.rows.iter().find(|row| row.key == "rana-umls").unwrap().ours.as_ref().unwrap();
    assert_eq!(rana.runs, 2);
    assert!(rana.resampled_mrr.unwrap().sd > 0.0 && rana.common_mrr.is_some());
    for ending in ["md", "csv", "json", "svg", "png"] {
        assert!(broken.root().join(format!("table2.{ending}")).exists(), "{ending}");
    }
}

#[test]
fn tables_and_figures_share_their_trials() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path().join("out"));
    let count = || std::fs::read_dir(workspace.root().join("trials")).unwrap().count();
    let run = |experiment| Reproduction::smoke(experiment).run(&workspace, &()).unwrap();
    run(Experiment::Table3);
    let after_table_3 = count();
    assert_eq!(after_table_3, 9 * 2);
    // One negative and five are there already.
    let figure = run(Experiment::Fig2b);
    assert_eq!(count(), after_table_3 + 8 * 2);
    assert_eq!(figure.rows.iter().filter(|row| row.x.is_some() && row.ours.is_some()).count(), 10);
    // Five shots are.
    let figure = run(Experiment::Fig2a);
    assert_eq!(count(), after_table_3 + 8 * 2 + 7 * 2);
    let common: Vec<f64> = figure
        .rows
        .iter()
        .filter(|row| row.kind == RowKind::Trained)
        .map(|row| row.ours.as_ref().unwrap().common_mrr.unwrap().mean)
        .collect();
    assert_eq!(common.len(), 8);
    // At eight shots the common queries are all there are.
    let last = figure.rows.iter().find(|row| row.key == "shots-8").unwrap().ours.as_ref().unwrap();
    assert_eq!(last.common_mrr.unwrap().mean, last.test.mrr.mean);
}

#[test]
fn what_is_missing_is_named_before_anything_starts() {
    let mut table = Reproduction::smoke(Experiment::Table2);
    table.presets = vec!["umls".to_owned(), "nell-two".to_owned()];
    let error = table.check().unwrap_err().to_string();
    assert!(
        error.contains("the row `RANA (nell-two)`: there is no preset `nell-two` of `rana`; there are: "),
        "{error}"
    );
    let folders = [PathBuf::from("nowhere"), PathBuf::from("neither")];
    let error = Dataset::find("NELL-One", None, &folders).unwrap_err().to_string();
    assert!(
        error.contains("nowhere/NELL-One, neither/NELL-One") && error.contains("Name the directory"),
        "{error}"
    );
    let error = Dataset::find("Wiki-One", None, &folders).unwrap_err().to_string();
    assert!(error.contains("not published any more") && error.contains("WD50K"), "{error}");
}

#[test]
fn errors_are_looked_at_query_by_query() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path());
    let report = Reproduction::smoke(Experiment::Errors).run(&workspace, &()).unwrap();
    assert_eq!(report.errors.iter().map(|errors| errors.seed).collect::<Vec<_>>(), [1, 2]);
    let [one, other] = &report.errors[..] else { panic!("{}", report.errors.len()) };
    let pairs = |errors: &SeedErrors| {
        errors.analysis.sample.iter().map(|fact| (fact.head.clone(), fact.tail.clone())).collect::<Vec<_>>()
    };
    assert_eq!(pairs(one), pairs(other));
    assert_eq!(one.analysis.sample.len(), 20);
    let queries: usize = one.analysis.by_neighbours.iter().map(|group| group.queries).sum();
    assert_eq!(queries, one.analysis.queries);
    let hits = one.analysis.sample.iter().filter(|fact| fact.rank <= 10.0).count();
    assert!(one.summary().starts_with(&format!("Seed 1: {hits} of 20 right tails")), "{}", one.summary());
    let text = std::fs::read_to_string(dir.path().join("errors-umls.md")).unwrap();
    assert!(text.contains("## Seed 2") && text.contains("| ranked first |"), "{text}");
}
