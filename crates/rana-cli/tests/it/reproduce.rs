//! The smoke run of every table and figure, as CI executes it.

use std::time::Duration;

use serde_json::Value;

use crate::command::{fail, json, run, text};
use crate::train::spawn;

/// The numbers of a report, which must not depend on interruptions.
fn numbers(report: &Value) -> Vec<(Value, Value, Value)> {
    let rows = report["rows"].as_array().unwrap().iter();
    rows.map(|row| (row["key"].clone(), row["ours"]["test"].clone(), row["ours"]["resampled_mrr"].clone()))
        .collect()
}

#[test]
fn every_table_and_figure_has_a_smoke_run() {
    let dir = tempfile::tempdir().unwrap();
    for (what, file, rows) in [
        ("table2", "table2", 19),
        ("table3", "table3-umls", 14),
        ("fig2a", "fig2a-umls", 48),
        ("fig2b", "fig2b-umls", 15),
        ("errors", "errors-umls", 6),
        ("frontier", "frontier-umls", 31),
    ] {
        let report = json(dir.path(), &["reproduce", what, "--fast", "--out", "out"]);
        assert_eq!(report["is_smoke"], true);
        assert_eq!(report["rows"].as_array().unwrap().len(), rows, "{what}");
        for ending in ["md", "csv", "json", "svg", "png"] {
            let path = dir.path().join("out").join(format!("{file}.{ending}"));
            let bytes = std::fs::read(&path).unwrap();
            match ending {
                "png" => assert!(bytes.starts_with(b"\x89PNG")),
                "csv" => assert!(text(&bytes).lines().skip(1).all(|line| line.ends_with(",true"))),
                _ => assert!(text(&bytes).contains("SMOKE RUN") || ending == "json", "{}", path.display()),
            }
        }
    }
    let shown = text(&run(dir.path(), &["reproduce", "frontier", "--fast", "--out", "out"]).stdout);
    assert!(shown.contains("paired over 2 resampled supports"), "{shown}");
    let shown = text(&run(dir.path(), &["reproduce", "table2", "--fast", "--out", "out"]).stdout);
    assert!(shown.starts_with("SMOKE RUN"), "{shown}");
    assert!(
        shown.contains("GANA") && !shown.contains("no preset here") && shown.contains("one-hop rules"),
        "{shown}"
    );
}

#[test]
#[cfg(unix)]
fn killed_it_goes_on_to_the_same_table() {
    let dir = tempfile::tempdir().unwrap();
    let table = |out: &'static str| ["reproduce", "table3", "--fast", "--out", out];
    let unbroken = json(dir.path(), &table("unbroken"));
    for round in 0..4 {
        let mut child = spawn(dir.path(), &[&table("out")[..], &["--quiet"]].concat());
        std::thread::sleep(Duration::from_millis(60 + 130 * round));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(numbers(&json(dir.path(), &table("out"))), numbers(&unbroken));
}

#[test]
fn what_is_not_there_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let (code, message) = fail(dir.path(), &["reproduce", "table2", "--dataset", "Wiki-One"]);
    assert_eq!(code, 1);
    assert!(
        message.contains("not published any more") && message.contains("hint: --dataset WD50K"),
        "{message}"
    );
    let (_, message) = fail(dir.path(), &["reproduce", "table3", "--data", "nowhere"]);
    assert!(message.contains("raw files of NELL-One were not found; looked for: nowhere"), "{message}");
    assert!(message.contains("hint: say where they are with --data DIR"), "{message}");
    let (code, message) = fail(dir.path(), &["reproduce", "table3", "--data", ".", "--preset", "best"]);
    assert_eq!(code, 2);
    assert!(message.contains("there is no preset `best` of `rana`; there are: paper"), "{message}");
    assert!(message.contains("hint: choose others with --preset NAME"), "{message}");
    let (code, message) = fail(dir.path(), &["reproduce", "table4", "--fast"]);
    assert_eq!(code, 2);
    assert!(message.contains("table2"), "{message}");
}
