//! Sweeps through the command line: checked first, interrupted at any moment, trained once.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::command::{fail, json, run, text};
use crate::train::{benchmark, path, spawn};

/// Eight trainings of a fraction of a second each.
const PLAN: &str = "
preset = 'umls'
vectors = 'recommended'
seeds = [1, 2]
[set]
batch = 8
steps = 60
eval_every = 20
[grid]
prune = ['off', 'quantile(0.5)']
[random]
trials = 2
seed = 3
gamma = { log = [0.5, 8.0] }
";

fn write_plan(dir: &Path, text: &str) {
    std::fs::write(dir.join("sweep.toml"), text).unwrap();
}

/// The numbers of a report, which must not depend on interruptions.
fn numbers(report: &Value) -> Vec<String> {
    let trial = |of: &Value| format!("{} {} {}", of["seed"], of["dev_mrr"], of["best_step"]);
    let row = |row: &Value| {
        let trials: Vec<String> = row["trials"].as_array().unwrap().iter().map(trial).collect();
        format!("{}: {}", row["settings"], trials.join(", "))
    };
    report["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
#[cfg(unix)]
fn killed_and_stopped_it_goes_on_to_the_same_results() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    write_plan(dir.path(), PLAN);
    let sweep =
        |out: &'static str| ["sweep", path(&benchmark), "--plan", "sweep.toml", "--out", out].to_vec();
    let unbroken = json(dir.path(), &sweep("unbroken"));
    assert_eq!(unbroken["rows"].as_array().unwrap().len(), 4);

    // Killed in the middle of vectors or of a training, a few times.
    for round in 0..4 {
        let mut child = spawn(dir.path(), &[&sweep("out")[..], &["--quiet"]].concat());
        std::thread::sleep(Duration::from_millis(150 + 170 * round));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // After Ctrl-C it says how to resume, unless it was finished before.
    let child = spawn(dir.path(), &sweep("out"));
    std::thread::sleep(Duration::from_millis(200));
    let signal = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let output = child.wait_with_output().unwrap();
    if signal.unwrap().success() && !output.status.success() {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("--plan sweep.toml --out out`"), "{said}");
    }
    let report = json(dir.path(), &sweep("out"));
    assert_eq!(numbers(&report), numbers(&unbroken));
    for name in [
        "results.md",
        "results.csv",
        "results.json",
        "plots/gamma.svg",
        "plots/prune.png",
        "plots/learning-curves.png",
    ] {
        assert!(dir.path().join("out").join(name).exists(), "{name}");
    }

    // The command for the best one gives just that model.
    let command = report["command"].as_str().unwrap().replace("RUN", "best").replace('\'', "");
    run(dir.path(), &command.split(' ').skip(1).collect::<Vec<_>>());
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("best/run.json")).unwrap()).unwrap();
    assert_eq!(manifest["best"]["dev_mrr"], report["rows"][0]["trials"][0]["selection_mrr"]);

    // Everything is finished: the report is printed at once and ends with that command.
    let shown = text(&run(dir.path(), &sweep("out")).stdout);
    assert!(shown.contains("Test was not looked at.") && shown.contains("rana train "), "{shown}");
}

#[test]
fn a_plan_is_checked_before_anything_starts() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let sweep = ["sweep", path(&benchmark), "--plan", "sweep.toml", "--out", "out"];
    for (plan, expected) in [
        ("[grid]\ngama = [1.0]", "sweep.toml: gama=1.0: unknown field `gama`"),
        ("[grid]\nJ = [0]", "sweep.toml: J=0: J is 0; it must be between"),
        ("[grid]\ngamma = []", "sweep.toml: grid.gamma: the list is empty"),
        ("prest = 'umls'", "unknown field `prest`"),
        (
            "vectors = 'nowhere'\n[grid]\nJ = [1]",
            "`nowhere` is neither a directory with vectors nor a preset",
        ),
    ] {
        write_plan(dir.path(), plan);
        let (code, message) = fail(dir.path(), &sweep);
        assert_eq!((code, message.contains(expected)), (2, true), "{plan}: {message}");
        assert!(!dir.path().join("out").exists());
    }
    write_plan(dir.path(), PLAN);
    let listed = text(&run(dir.path(), &[&sweep[..], &["--dry-run"]].concat()).stdout);
    assert!(
        listed.contains("prune=quantile(0.5)") && listed.ends_with("4 configurations, 8 trainings\n"),
        "{listed}"
    );
    assert!(!dir.path().join("out").exists());
}
