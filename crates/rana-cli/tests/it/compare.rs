//! Two models side by side.

use serde_json::Value;

use crate::command::{fail, json, run, text};
use crate::train::{benchmark, path};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn runs_and_rows_of_the_card_are_compared_relation_by_relation() {
    let benchmark = benchmark();
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for (seed, out) in [("1", "one"), ("2", "other")] {
        let train = ["train", path(&benchmark), "--preset", "umls", "--seed", seed, "--out", out, "--quiet"];
        run(
            dir,
            &[&train[..], &["--set", "steps=50", "--set", "eval_every=25", "--set", "batch=8"]].concat(),
        );
    }
    let compared = json(dir, &["compare", "one", "other", "--draws", "3"]);
    // The numbers are those of the cards.
    for (at, run) in ["one", "other"].into_iter().enumerate() {
        let card = json(dir, &["eval", run, "--draws", "3"]);
        let difference = number(&card["official"]["micro"]["mrr"]) - number(&compared["mrr"][at]);
        assert!(difference.abs() < 1e-9, "{difference}");
    }
    let gain = number(&compared["mrr"][0]) - number(&compared["mrr"][1]);
    for parts in ["relations", "kinds"] {
        let parts = compared[parts].as_array().unwrap();
        let sum: f64 = parts.iter().map(|part| number(&part["contribution"])).sum();
        assert!(!parts.is_empty() && (sum - gain).abs() < 1e-9, "{parts:?}");
    }
    assert!(compared["changes"].is_null());

    // A row of the card by name; without a name the model before training.
    let rows = ["untrained", "rules"].map(|row| json(dir, &["compare", "one", row, "--draws", "0"]));
    assert_ne!(rows[0]["mrr"][1], rows[1]["mrr"][1]);
    assert_eq!(json(dir, &["compare", "one", "--draws", "0"]), rows[0]);

    // The queries of a relation, those that changed most first.
    let relation = compared["relations"][0]["relation"].as_str().unwrap();
    let asked = ["compare", "one", "other", "--draws", "0", "--relation", relation, "--top", "4"];
    let changes = json(dir, &asked)["changes"].as_array().unwrap().clone();
    assert_eq!(changes.len(), 4);
    let gains: Vec<f64> = changes.iter().map(|change| number(&change["gain"]).abs()).collect();
    assert!(gains.is_sorted_by(|one, other| one >= other), "{gains:?}");
    let printed = text(&run(dir, &asked).stdout);
    assert!(printed.contains(relation) && printed.contains("of the total"), "{printed}");

    let (code, error) = fail(dir, &["compare", "one", "nonsense"]);
    assert!(
        code == 2
            && error
                .contains("neither a run nor a row of the card; rows are mean-translation, rana-untrained"),
        "{error}"
    );
    let (code, error) = fail(dir, &["compare", "one", "other", "--relation", "nonsense"]);
    assert!(code == 2 && error.contains("nonsense"), "{error}");
    // Another graph.
    let whole =
        ["export", path(&benchmark), "--format", "tsv", "--with-tasks", "--out", "all.tsv", "--quiet"];
    run(dir, &whole);
    run(dir, &["import", "all.tsv", "--out", "whole", "--quiet"]);
    run(dir, &["split", "whole", "--out", "again", "--more-than", "20", "--quiet"]);
    run(dir, &["embed", "again", "--model", "transe", "--epochs", "2", "--quiet"]);
    run(dir, &["train", "again", "--set", "steps=1", "--out", "foreign", "--quiet"]);
    let (code, error) = fail(dir, &["compare", "one", "foreign"]);
    assert!(code == 2 && error.contains("runs on different graphs or tasks"), "{error}");
}
