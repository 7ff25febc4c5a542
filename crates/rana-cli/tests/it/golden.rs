//! Golden bytes: the same seed gives the same bits from one version to the next.
//!
//! A change here is either a bug or a decision. A decision updates `golden/umls.json` (`RANA_BLESS=1 cargo test -p
//! rana-cli golden`) and says why in the change log. Sums are taken in vectors whose width follows the processor, so
//! the values hold for processors with AVX2 and FMA; elsewhere the test says that it is skipped.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::command::{json, run};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/umls.json")
}

fn hash(bytes: &[u8]) -> String {
    format!("{:016x}", xxh3_64(bytes))
}

/// The bytes of all tensors of a file, header left out: its names and notes may change.
fn tensors(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap();
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    hash(&bytes[8 + header..])
}

/// The tensor files of a directory, each by the hash of its values.
fn models(dir: &Path) -> Vec<String> {
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut hashes: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "safetensors"))
        .map(|path| tensors(&path))
        .collect();
    hashes.sort();
    hashes
}

/// The numbers of a card, without times, paths and versions.
fn measured(card: &Value) -> Value {
    let parts = [
        "protocol",
        "official",
        "resampled",
        "draw_mrrs",
        "common",
        "hits_curve",
        "per_relation",
        "baselines",
    ];
    let kept: serde_json::Map<String, Value> =
        parts.iter().map(|&part| (part.to_owned(), card[part].clone())).collect();
    json!({
        "mrr": card["official"]["micro"]["mrr"],
        "confidence_error": card["confidence"]["expected_error"],
        "card": hash(Value::Object(kept).to_string().as_bytes()),
    })
}

#[test]
fn golden_bytes_of_vectors_rana_and_fused_on_umls() {
    let has_wide_vectors = cfg!(target_arch = "x86_64") && wide_vectors();
    if !has_wide_vectors {
        println!(
            "skipped: golden_bytes_of_vectors_rana_and_fused_on_umls needs a processor with AVX2 and FMA"
        );
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["quickstart", "--out", "tour", "--quiet"]);
    let set = |assignments: &[&'static str], flag: &'static str| -> Vec<&'static str> {
        assignments.iter().flat_map(|&assignment| [flag, assignment]).collect()
    };
    let train = ["train", "tour/benchmark", "--preset", "umls", "--seed", "1", "--out", "run", "--quiet"];
    run(
        dir.path(),
        &[&train[..], &set(&["batch=8", "steps=60", "eval_every=20", "patience=0"], "--set")].concat(),
    );
    let fuse = ["fuse", "tour/benchmark", "--preset", "umls", "--seed", "1", "--out", "fused", "--quiet"];
    let small = set(&["steps=30", "eval_every=15", "batch=8"], "--model-set");
    run(dir.path(), &[&fuse[..], &small, &set(&["folds=2", "draws=2", "queries=5"], "--set")].concat());

    let place = |path: &str| dir.path().join(path);
    let log = |path: &str| hash(&std::fs::read(place(path)).unwrap());
    let card = |source: &str| measured(&json(dir.path(), &["eval", source, "--draws", "2"]));
    let found = json!({
        "vectors": {
            "rows": models(&place("tour/benchmark/vectors/transe")),
            "card": card("tour/benchmark"),
        },
        "quickstart": { "log": log("tour/run/metrics.jsonl"), "rows": models(&place("tour/run")), "card": card("tour/run") },
        "rana": { "log": log("run/metrics.jsonl"), "rows": models(&place("run")), "card": card("run") },
        "fused": { "card": card("fused") },
    });
    let text = serde_json::to_string_pretty(&found).unwrap() + "\n";
    if std::env::var_os("RANA_BLESS").is_some() {
        std::fs::create_dir_all(golden().parent().unwrap()).unwrap();
        std::fs::write(golden(), &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(golden()).unwrap(), "see the head of tests/it/golden.rs");
}

#[cfg(target_arch = "x86_64")]
fn wide_vectors() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn wide_vectors() -> bool {
    false
}
