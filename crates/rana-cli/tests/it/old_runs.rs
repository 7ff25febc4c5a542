//! Runs that earlier versions wrote still open and give the same answers.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::json;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs-v1")
}

/// Every file below a directory, with its bytes.
fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
fn runs_of_version_1_give_the_answers_they_gave() {
    let before = files(&fixtures());
    for run in ["rana", "fused"] {
        let complete = ["complete", run, "--graph", "graph", "--relation", "uses", "--top", "3"];
        let answered = json(&fixtures(), &complete);
        let text = std::fs::read(fixtures().join(format!("answers-{run}.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&text).unwrap();
        for (head, answers) in expected.as_array().unwrap().iter().map(|of| (&of[0], &of[1])) {
            let mut of_head = answered["results"].as_array().unwrap().iter();
            let of_head = of_head.find(|result| result["head"]["name"] == *head).unwrap();
            for (at, answer) in answers.as_array().unwrap().iter().enumerate() {
                let found = &of_head["answers"][at];
                assert_eq!(found["tail"]["name"], answer[0], "{run}: answer {at} of {head}");
                for (field, expected) in [("score", &answer[1]), ("confidence", &answer[2])] {
                    let (found, expected) = (found[field].as_f64().unwrap(), expected.as_f64().unwrap());
                    assert!((found - expected).abs() < 1e-4, "{run}: {field} {found}, was {expected}");
                }
            }
        }
    }
    assert_eq!(files(&fixtures()), before, "opening a run writes nothing into it");
}
