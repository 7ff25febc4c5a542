//! The real benchmarks through the command line.

use crate::command::{json, run};
use crate::datasets::dataset;

#[test]
fn nell_one_imports_with_the_published_counts_and_exports_the_same() {
    let Some(nell) = dataset("NELL-One") else { return };
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["import", &nell.display().to_string(), "--out", "X"]);
    let inspection = json(dir.path(), &["inspect", "X"]);
    assert_eq!(inspection["entities"], 68_544);
    assert_eq!(inspection["relations"], 291);
    assert_eq!(inspection["triples"], 181_109);
    for (split, relations, facts) in [("train", 51, 8_526), ("dev", 5, 1_004), ("test", 11, 2_158)] {
        assert_eq!(inspection["tasks"][split]["relations"], relations);
        assert_eq!(inspection["tasks"][split]["facts"], facts);
    }
    run(dir.path(), &["export", "X", "--format", "nell-one", "--out", "release"]);
    run(dir.path(), &["import", "release", "--out", "Y"]);
    // The directory of the arrays is named after their content.
    let content = |store: &str| json(dir.path(), &["inspect", store])["manifest"]["data"].clone();
    assert_eq!(content("X"), content("Y"));
}

#[test]
fn wd50k_becomes_a_few_shot_benchmark() {
    let Some(wd50k) = dataset("WD50K") else { return };
    let dir = tempfile::tempdir().unwrap();
    let files = ["train.txt", "valid.txt", "test.txt"].map(|file| wd50k.join(file).display().to_string());
    let import = ["import", &files[0], &files[1], &files[2], "--type-relation", "P31", "--out", "wd"];
    let account = json(dir.path(), &import);
    assert_eq!(account["counts"]["triples"], 233_838);
    assert_eq!(account["counts"]["entities"], 41_334);
    assert_eq!(account["counts"]["relations"], 486);
    let report = json(dir.path(), &["split", "wd", "--out", "wd-fewshot", "--cap", "5000"]);
    assert_eq!(report["tasks"].as_array().unwrap().len(), 109);
    let inspection = json(dir.path(), &["inspect", "wd-fewshot"]);
    let facts: u64 = ["train", "dev", "test"]
        .iter()
        .map(|split| inspection["tasks"][split]["facts"].as_u64().unwrap())
        .sum();
    assert_eq!(facts + inspection["triples"].as_u64().unwrap(), 233_838);
    assert_eq!(inspection["few_shot_relations"], 0, "every few-shot relation has become a task");
}

#[test]
fn umls_one_without_a_relation_vocabulary_imports() {
    let Some(umls) = dataset("UMLS-One") else { return };
    let dir = tempfile::tempdir().unwrap();
    let account = json(dir.path(), &["import", &umls.display().to_string(), "--out", "umls"]);
    assert_eq!(account["counts"]["entities"], 135);
    assert_eq!(account["counts"]["triples"], 2_996);
    assert_eq!(account["counts"]["tasks"]["train"]["facts"], 2_453);
    assert_eq!(account["counts"]["tasks"]["dev"]["facts"], 385);
    assert_eq!(account["counts"]["tasks"]["test"]["facts"], 300);
}

#[test]
fn rana_learns_umls_one() {
    let Some(umls) = dataset("UMLS-One") else { return };
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["import", &umls.display().to_string(), "--out", "umls", "--quiet"]);
    for seed in ["1", "2", "3"] {
        let (vectors, name) = (format!("vectors-{seed}"), format!("run-{seed}"));
        run(dir.path(), &["embed", "umls", "--seed", seed, "--out", &vectors, "--quiet"]);
        let train = [
            "train",
            "umls",
            "--preset",
            "umls",
            "--seed",
            seed,
            "--vectors",
            &vectors,
            "--out",
            &name,
            "--quiet",
        ];
        run(dir.path(), &train);
        let card = json(dir.path(), &["eval", &name]);
        // One support says little: they differ by .07 (standard deviation).
        let mrr = |row: &serde_json::Value| row["resampled"]["micro"]["mrr"]["mean"].as_f64().unwrap();
        for (row, result) in card["baselines"].as_object().unwrap() {
            let (rana, other) = (mrr(&card), mrr(result));
            assert!(rana > other + 0.08, "seed {seed}: {rana} against {other} of {row}");
        }
    }
}
