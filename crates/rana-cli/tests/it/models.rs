//! Every model of the registry works in every command. No command names a model.

use std::path::Path;
use std::time::Duration;

use rana::models::registry;

use crate::command::{json, run};
use crate::train::{benchmark, path, spawn};

const SMALL: [&str; 8] =
    ["--set", "batch=8", "--set", "steps=150", "--set", "eval_every=25", "--set", "patience=0"];
/// Enough to compare bits.
const SHORT: [&str; 8] =
    ["--set", "batch=8", "--set", "steps=50", "--set", "eval_every=25", "--set", "patience=0"];

fn stepped() -> Vec<&'static str> {
    let names = registry::stepped_names();
    assert!(names.len() >= 2, "{names:?}");
    names
}

/// The log and the model of a run.
fn result(run: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(run).unwrap().map(|entry| entry.unwrap());
    let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut kept: Vec<(String, Vec<u8>)> = names
        .filter(|name| {
            name.ends_with(".safetensors") || name == "metrics.jsonl" || name == "calibration.json"
        })
        .map(|name| (name.clone(), std::fs::read(run.join(&name)).unwrap()))
        .collect();
    kept.sort();
    assert!(kept.len() >= 3, "{kept:?}");
    kept
}

/// The MRR of every dev evaluation of a run, that of the untrained model first.
fn dev_mrrs(run: &Path) -> Vec<f64> {
    let log = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter_map(|line| line["dev_mrr"].as_f64()).collect()
}

#[test]
fn each_is_trained_evaluated_swept_and_completed_with() {
    let benchmark = benchmark();
    for model in stepped() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let train =
            ["train", path(&benchmark), "--model", model, "--preset", "umls", "--seed", "1", "--quiet"];
        run(dir, &[&train[..], &SMALL, &["--out", "one"]].concat());
        for (out, threads) in [("alone", "1"), ("both", "2")] {
            run(dir, &[&train[..], &SHORT, &["--threads", threads, "--out", out]].concat());
        }
        assert_eq!(result(&dir.join("alone")), result(&dir.join("both")), "{model} depends on its threads");

        let card = json(dir, &["eval", "one", "--draws", "2"]);
        assert_eq!(card["model"], model);
        assert!(card["baselines"][format!("{model}-untrained")].is_object(), "{model}");
        let dev = dev_mrrs(&dir.join("one"));
        let best = dev[1..].iter().fold(0.0_f64, |best, &mrr| best.max(mrr));
        assert!(best > dev[0], "{model} learns nothing: {dev:?}");

        let tasks = json(dir, &["episodes", path(&benchmark), "--split", "test"]);
        let relation = tasks[0]["relation"].as_str().unwrap();
        let completed = json(dir, &["complete", "one", "--relation", relation, "--top", "3", "--reasons"]);
        assert_eq!(completed["relation"]["model"], model);
        assert!(completed["results"][0]["answers"][0]["confidence"].is_number(), "{model}");

        let plan = format!(
            "model = '{model}'\npreset = 'umls'\n[set]\nbatch = 8\nsteps = 20\neval_every = 10\n[grid]\nlearning_rate = [0.001, 0.01]\n"
        );
        std::fs::write(dir.join("sweep.toml"), plan).unwrap();
        let swept = json(dir, &["sweep", path(&benchmark), "--plan", "sweep.toml", "--out", "sweep"]);
        assert_eq!(swept["rows"].as_array().unwrap().len(), 2, "{model}");
    }
}

#[test]
#[cfg(unix)]
fn each_is_resumed_to_the_same_bits_after_a_kill() {
    let benchmark = benchmark();
    for model in stepped() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let train =
            ["train", path(&benchmark), "--model", model, "--preset", "umls", "--seed", "2", "--quiet"];
        // The state of a training includes the mean of its parameters.
        let train = [&train[..], &["--set", "mean_steps=60"]].concat();
        run(dir, &[&train[..], &SHORT, &["--out", "unbroken"]].concat());
        let often = ["--checkpoint-every", "0.01", "--out", "killed"];
        let mut child = spawn(dir, &[&train[..], &SHORT, &often].concat());
        for round in 0..6 {
            std::thread::sleep(Duration::from_millis(60 + 40 * round));
            child.kill().unwrap();
            child.wait().unwrap();
            let has_begun = dir.join("killed/run.json").is_file();
            let is_over = has_begun
                && !dir.join("killed/checkpoint.safetensors").is_file()
                && dir.join("killed/calibration.json").is_file();
            if is_over {
                break;
            }
            let resume = [
                "train",
                path(&benchmark),
                "--out",
                "killed",
                "--resume",
                "--checkpoint-every",
                "0.01",
                "--quiet",
            ];
            child = match has_begun {
                true => spawn(dir, &resume),
                false => spawn(dir, &[&train[..], &SHORT, &often].concat()),
            };
        }
        child.wait().unwrap();
        assert_eq!(result(&dir.join("killed")), result(&dir.join("unbroken")), "{model}");
    }
}
