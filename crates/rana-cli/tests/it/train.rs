//! Meta-training through the command line: it learns, it is reproducible, and an interrupted training resumes.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use crate::command::{fail, json, run, text};

/// UMLS, split and pre-trained by the quickstart. Made once, read by all tests.
static TOUR: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    run(dir.path(), &["quickstart", "--out", "tour", "--quiet"]);
    dir
});

pub(crate) fn benchmark() -> PathBuf {
    TOUR.path().join("tour/benchmark")
}

pub(crate) fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Settings of a training that takes about a second.
const SMALL: [&str; 10] = [
    "--preset",
    "umls",
    "--set",
    "batch=8",
    "--set",
    "steps=300",
    "--set",
    "eval_every=25",
    "--set",
    "patience=0",
];

/// The result of a run, without wall times.
fn result(run: &Path) -> (String, Vec<(String, Vec<u8>)>, serde_json::Value) {
    let log = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let mut models: Vec<(String, Vec<u8>)> = std::fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, _)| name.ends_with(".safetensors"))
        .map(|(name, path)| (name, std::fs::read(path).unwrap()))
        .collect();
    models.sort();
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(run.join("run.json")).unwrap()).unwrap();
    (log, models, manifest["best"].clone())
}

#[test]
fn it_learns_what_vectors_alone_do_not_know() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    for seed in ["1", "2", "3"] {
        let name = format!("run-{seed}");
        run(dir.path(), &["train", path(&benchmark), "--preset", "umls", "--seed", seed, "--out", &name]);
        let card = json(dir.path(), &["eval", &name]);
        let mrr = |of: &serde_json::Value| of["resampled"]["micro"]["mrr"]["mean"].as_f64().unwrap();
        let trained = mrr(&card);
        // The rows of the card other than the model.
        let rows: Vec<(String, f64)> = card["baselines"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, row)| (name.clone(), mrr(row)))
            .collect();
        assert!(rows.len() >= 6, "{rows:?}");
        for (name, mrr) in rows {
            assert!(trained > mrr + 0.1, "seed {seed}: {trained} is no better than {mrr} of {name}");
        }
        for key in ["mrr", "hits1", "hits5", "hits10"] {
            assert!(card["official"]["micro"][key].is_f64() && card["official"]["macro"][key].is_f64());
        }
        assert!(card["resampled"]["micro"]["mrr"]["sd"].as_f64().unwrap() > 0.0);
        assert_eq!(card["per_relation"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let train = |out: &str, seed: &str, threads: &str, more: &[&str]| {
        let args = ["train", path(&benchmark), "--out", out, "--seed", seed, "--threads", threads, "--quiet"];
        run(dir.path(), &[&args[..], &SMALL, more].concat());
        result(&dir.path().join(out))
    };
    let one = train("one", "5", "1", &[]);
    assert_eq!(train("two", "5", "2", &[]), one);
    assert_ne!(train("other", "6", "2", &[]).0, one.0);
    // Settings that use more of the engine: second order, all tables, dropout, sampled neighbours.
    let all = [
        "--set",
        "meta_order=2",
        "--set",
        "train_entities=shared",
        "--set",
        "train_relations=true",
        "--set",
        "fc_dropout=0.2",
        "--set",
        "neighbour_choice=random",
        "--set",
        "neighbours=5",
        "--set",
        "steps=60",
    ];
    let one = train("all-1", "5", "1", &all);
    assert_eq!(train("all-3", "5", "3", &all), one);
}

pub(crate) fn spawn(dir: &Path, args: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("rana"))
        .args(args)
        .current_dir(dir)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[cfg(unix)]
fn killed_twenty_times_in_a_row_it_still_ends_in_the_same_result() {
    kill_and_resume(20, &["--set", "adam_rows=replay", "--set", "steps=400"]);
}

/// All tables are trained, rows are scaled to a norm, and pairs and neighbours are sampled.
#[test]
#[cfg(unix)]
fn killed_with_everything_learning_it_ends_in_the_same_result() {
    let all = [
        "--set",
        "train_entities=shared",
        "--set",
        "train_relations=true",
        "--set",
        "max_norm=1.2",
        "--set",
        "neighbour_choice=random",
        "--set",
        "neighbours=5",
        "--set",
        "emb_dropout=0.1",
        "--set",
        "steps=150",
    ];
    kill_and_resume(5, &all);
}

/// Kills a training this many times, resumes it each time, and compares it with an uninterrupted one.
#[cfg(unix)]
fn kill_and_resume(kills: u64, settings: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let begin = ["train", path(&benchmark), "--seed", "7", "--quiet", "--checkpoint-every", "0"];
    let begin = [&begin[..], &SMALL, settings].concat();
    run(dir.path(), &[&begin[..], &["--out", "unbroken"]].concat());
    let resume =
        ["train", path(&benchmark), "--out", "run", "--resume", "--quiet", "--checkpoint-every", "0"];
    let mut child = spawn(dir.path(), &[&begin[..], &["--out", "run"]].concat());
    while !dir.path().join("run/run.json").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    for round in 0..kills {
        // From the start to some steps into the training, at irregular times.
        std::thread::sleep(Duration::from_micros(1000 + (round * 7919) % 60_000));
        assert!(child.try_wait().unwrap().is_none(), "training was over too soon, in round {round}");
        child.kill().unwrap();
        child.wait().unwrap();
        child = spawn(dir.path(), &resume);
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(result(&dir.path().join("run")), result(&dir.path().join("unbroken")));
    // A finished one is left as it is.
    run(dir.path(), &resume);
    assert_eq!(result(&dir.path().join("run")), result(&dir.path().join("unbroken")));
}

#[test]
#[cfg(unix)]
fn stopped_by_hand_it_says_how_to_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let begin = ["train", path(&benchmark), "--seed", "7"];
    let begin = [&begin[..], &SMALL].concat();
    run(dir.path(), &[&begin[..], &["--out", "unbroken", "--quiet"]].concat());
    let child = spawn(dir.path(), &[&begin[..], &["--out", "run"]].concat());
    while !dir.path().join("run/run.json").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(60));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("--out run --resume`"), "{said}");

    let resume = ["train", path(&benchmark), "--out", "run", "--resume", "--quiet"];
    let (code, message) = fail(dir.path(), &[&resume[..], &["--set", "J=3"]].concat());
    assert_eq!(code, 2, "{message}");
    // A truncated checkpoint is rejected; the whole one leads to the same model.
    let checkpoint = dir.path().join("run/checkpoint.safetensors");
    let whole = std::fs::read(&checkpoint).unwrap();
    for damaged in
        [whole[..whole.len() / 2].to_vec(), [&whole[..whole.len() - 1], &[!whole[whole.len() - 1]]].concat()]
    {
        std::fs::write(&checkpoint, damaged).unwrap();
        let (code, message) = fail(dir.path(), &resume);
        assert_eq!((code, message.contains("checkpoint.safetensors")), (1, true), "{message}");
    }
    std::fs::write(&checkpoint, &whole).unwrap();
    run(dir.path(), &resume);
    assert_eq!(result(&dir.path().join("run")), result(&dir.path().join("unbroken")));
    // An existing run is not overwritten.
    let (code, message) = fail(dir.path(), &[&begin[..], &["--out", "run"]].concat());
    assert_eq!((code, message.contains("there is a run already")), (1, true), "{message}");
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_the_last_good_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let binary = assert_cmd::cargo::cargo_bin("rana");
    let begin = ["train", path(&benchmark), "--seed", "7", "--quiet"];
    let begin = [&begin[..], &SMALL].concat();
    run(dir.path(), &[&begin[..], &["--out", "unbroken"]].concat());
    // Stop it early, so that it has a checkpoint. Resume it with a limit on file sizes of half the checkpoint.
    let child = spawn(dir.path(), &[&begin[..], &["--out", "run"]].concat());
    while !dir.path().join("run/run.json").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(60));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    child.wait_with_output().unwrap();
    let checkpoint = dir.path().join("run/checkpoint.safetensors");
    let good = std::fs::read(&checkpoint).unwrap();
    let resume = ["train", path(&benchmark), "--out", "run", "--resume", "--quiet"];
    let script = format!(
        "trap '' XFSZ; ulimit -f {}; '{}' {} --checkpoint-every 0",
        good.len() / 2048,
        binary.display(),
        resume.join(" ")
    );
    let output = Command::new("bash").args(["-c", &script]).current_dir(dir.path()).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("could not write the file"), "{said}");
    assert_eq!(std::fs::read(&checkpoint).unwrap(), good);
    run(dir.path(), &resume);
    assert_eq!(result(&dir.path().join("run")), result(&dir.path().join("unbroken")));
}

#[test]
fn what_cannot_be_trained_is_refused_before_training() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let train = ["train", path(&benchmark), "--out", "run"];
    for (setting, expected) in [
        ("J=-1", "in `J`"),
        ("J=0", "J is 0; it must be between 1 and"),
        ("eta=inf", "eta is inf; it must be a finite number"),
        ("eta=nan", "eta is NaN; it must be a finite number"),
        ("attn=some", "attn"),
        ("no_such_field=1", "no_such_field"),
        ("prune=quantile(2)", "prune is quantile(2); it must be a share"),
    ] {
        let (code, message) = fail(dir.path(), &[&train[..], &["--set", setting]].concat());
        assert_eq!((code, message.contains(expected)), (2, true), "{setting}: {message}");
    }
    // More shots than a dev task has facts.
    let (code, message) = fail(dir.path(), &[&train[..], &["--set", "shots=70"]].concat());
    assert_eq!((code, message.contains("shots is 70; it must be smaller")), (1, true), "{message}");
    // Relation vectors that are not as wide as those of entities.
    let vectors = dir.path().join("rotate");
    let embed =
        ["embed", path(&benchmark), "--model", "rotate", "--epochs", "1", "--out", path(&vectors), "--quiet"];
    run(dir.path(), &embed);
    let (code, message) = fail(dir.path(), &[&train[..], &["--vectors", path(&vectors)]].concat());
    assert_eq!((code, message.contains("must have the same number")), (1, true), "{message}");
    // A graph without dev tasks, so no model can be selected.
    run(
        dir.path(),
        &[
            "split",
            path(&TOUR.path().join("tour/graph")),
            "--out",
            "nodev",
            "--train",
            "uses",
            "--test",
            "isa",
        ],
    );
    run(dir.path(), &["embed", "nodev", "--epochs", "1", "--quiet"]);
    let (code, message) = fail(dir.path(), &["train", "nodev", "--out", "run"]);
    assert_eq!((code, message.contains("there is no dev task")), (1, true), "{message}");
    assert!(!dir.path().join("run").exists(), "nothing is written if the training cannot start");
    // A run of another graph.
    run(dir.path(), &[&train[..], &SMALL, &["--quiet"]].concat());
    let (code, message) =
        fail(dir.path(), &["eval", "run", "--graph", "nodev", "--vectors", "nodev/vectors/transe"]);
    assert_eq!((code, message.contains("trained on a graph with checksum")), (1, true), "{message}");
}

#[test]
fn settings_come_from_presets_files_and_assignments() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("my.toml"), "J = 7\ngamma = 3.5\n").unwrap();
    let print = |more: &[&str]| {
        let args = ["train", "nowhere", "--print-config"];
        text(&run(dir.path(), &[&args[..], more].concat()).stdout).parse::<toml::Table>().unwrap()
    };
    // Without a preset, lengths are multiples of the distance between the vectors.
    let any = print(&[]);
    assert_eq!((any["lengths"].as_str(), any["gamma"].as_float()), (Some("relative"), Some(0.9)));
    assert_eq!(print(&["--preset", "recommended"]), any);
    let paper = print(&["--preset", "paper"]);
    assert_eq!((paper.get("lengths"), paper["gamma"].as_float()), (None, Some(12.0)));
    let mixed = print(&["--preset", "umls", "--config", "my.toml", "--set", "gamma=2", "--seed", "4"]);
    assert_eq!(mixed["J"].as_integer(), Some(7));
    assert_eq!(mixed["gamma"].as_float(), Some(2.0));
    assert_eq!(mixed["residual"].as_str(), Some("translation"));
    assert_eq!(mixed["seed"].as_integer(), Some(4));
    let (code, message) = fail(dir.path(), &["train", "nowhere", "--out", "x", "--preset", "best"]);
    assert_eq!(
        (code, message.contains("there are: paper, recommended, nell-one, nell-one-tuned, umls")),
        (2, true),
        "{message}"
    );
}

/// Places on a grid. The background has only some of their facts: steps to the east and to the north, few up.
/// Tasks are longer steps; they follow from the hidden coordinates of the places.
fn grid() -> (String, Vec<String>) {
    const SIDE: i32 = 6;
    let places = || (0..SIDE.pow(3)).map(|n| [n / SIDE.pow(2), n / SIDE % SIDE, n % SIDE]);
    let (mut lines, mut tasks, mut number) = (String::new(), Vec::new(), 0u64);
    let mut add = |relation: &str, step: [i32; 3], percent: u64| {
        for place in places() {
            let to = [0, 1, 2].map(|axis| place[axis] + step[axis]);
            number += 1;
            // Spread evenly, the same every time.
            let is_kept = number.wrapping_mul(2_654_435_761) % 100 < percent;
            if is_kept && to.iter().all(|at| (0..SIDE).contains(at)) {
                let name = |place: [i32; 3]| format!("e{}{}{}", place[0], place[1], place[2]);
                lines += &format!("{}\t{relation}\t{}\n", name(place), name(to));
            }
        }
    };
    for (relation, step, percent) in
        [("east", [1, 0, 0], 60), ("north", [0, 1, 0], 60), ("up", [0, 0, 1], 25)]
    {
        add(relation, step, percent);
    }
    // Start in the middle, so that no step is the inverse of another.
    for n in 63..125 {
        let step: [i32; 3] = [n / 25 - 2, n / 5 % 5 - 2, n % 5 - 2];
        if (2..=3).contains(&step.iter().map(|axis| axis.abs()).sum()) {
            let relation = format!("go{}{}{}", step[0] + 2, step[1] + 2, step[2] + 2);
            add(&relation, step, 70);
            tasks.push(relation);
        }
    }
    (lines, tasks)
}

#[test]
fn it_finds_planted_structure_that_no_baseline_sees() {
    let dir = tempfile::tempdir().unwrap();
    let (lines, tasks) = grid();
    std::fs::write(dir.path().join("grid.tsv"), lines).unwrap();
    run(dir.path(), &["import", "grid.tsv", "--out", "grid", "--quiet"]);
    let mut split = vec!["split", "grid", "--out", "kg", "--quiet"];
    for (number, task) in tasks.iter().enumerate() {
        split.extend([["--test", "--dev", "--train", "--train", "--train"][number % 5], task]);
    }
    run(dir.path(), &split);
    run(dir.path(), &["embed", "kg", "--dim", "32", "--quiet"]);
    for seed in ["1", "2", "3"] {
        let name = format!("run-{seed}");
        let settings = ["--preset", "umls", "--set", "learning_rate=0.002", "--set", "eval_every=50"];
        run(
            dir.path(),
            &[&["train", "kg", "--seed", seed, "--out", &name, "--quiet"][..], &settings].concat(),
        );
        let card = json(dir.path(), &["eval", &name]);
        let mrr = |of: &serde_json::Value| of["resampled"]["micro"]["mrr"]["mean"].as_f64().unwrap();
        let trained = mrr(&card);
        for (name, row) in card["baselines"].as_object().unwrap() {
            assert!(trained > mrr(row) + 0.25, "seed {seed}: {trained} against {} of {name}", mrr(row));
        }
    }
}

#[test]
fn nothing_of_others_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let train = ["train", path(&benchmark), "--quiet", "--checkpoint-every", "0"];
    let train = [&train[..], &SMALL, &["--set", "steps=60"]].concat();
    std::fs::create_dir(dir.path().join("notes")).unwrap();
    std::fs::write(dir.path().join("notes/model-card.html"), "mine").unwrap();
    let (code, message) = fail(dir.path(), &[&train[..], &["--out", "notes"]].concat());
    assert_eq!((code, message.contains("is not a run")), (1, true), "{message}");
    // A file whose name only begins like a model of the run is not one.
    let child = spawn(dir.path(), &[&train[..], &["--out", "run"]].concat());
    while !dir.path().join("run/run.json").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::fs::write(dir.path().join("run/model-card.html"), "mine").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(std::fs::read_to_string(dir.path().join("run/model-card.html")).unwrap(), "mine");
    // The quickstart replaces its own run only.
    let (code, message) = fail(dir.path(), &["quickstart", "--out", "."]);
    assert_eq!((code, message.contains("there is a run already")), (1, true), "{message}");
    assert!(dir.path().join("run/model-card.html").exists());
}

#[test]
fn a_training_killed_between_its_first_model_and_its_first_checkpoint_begins_again() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let train = ["train", path(&benchmark), "--quiet", "--out", "run"];
    run(dir.path(), &[&train[..], &SMALL, &["--set", "steps=60"]].concat());
    let metrics = std::fs::read(dir.path().join("run/metrics.jsonl")).unwrap();
    let manifest_path = dir.path().join("run/run.json");
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&manifest_path).unwrap()).unwrap();
    let best = manifest["best"].clone();
    for field in ["outcome", "steps", "seconds", "checksum"] {
        manifest[field] = serde_json::Value::Null;
    }
    std::fs::write(&manifest_path, manifest.to_string()).unwrap();
    run(dir.path(), &[&train[..], &["--resume"]].concat());
    assert_eq!(std::fs::read(dir.path().join("run/metrics.jsonl")).unwrap(), metrics);
    let again: serde_json::Value = serde_json::from_slice(&std::fs::read(&manifest_path).unwrap()).unwrap();
    assert_eq!((&again["best"], again["outcome"].as_str()), (&best, Some("finished")));
}

#[test]
fn only_one_may_train_into_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let train = ["train", path(&benchmark), "--quiet", "--out", "run", "--checkpoint-every", "0"];
    let mut child = spawn(dir.path(), &[&train[..], &SMALL, &["--set", "steps=1000000"]].concat());
    while !dir.path().join("run/checkpoint.safetensors").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let (code, message) = fail(dir.path(), &["train", path(&benchmark), "--out", "run", "--resume"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((code, message.contains("another training writes this run")), (1, true), "{message}");
    // A stopped run whose checkpoint is gone fails; it does not start again silently.
    std::fs::remove_file(dir.path().join("run/checkpoint.safetensors")).unwrap();
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("run/run.json")).unwrap()).unwrap();
    manifest["outcome"] = "stopped".into();
    manifest["checksum"] = serde_json::Value::Null;
    std::fs::write(dir.path().join("run/run.json"), manifest.to_string()).unwrap();
    let (code, message) = fail(dir.path(), &["train", path(&benchmark), "--out", "run", "--resume"]);
    assert_eq!((code, message.contains("the checkpoint is missing")), (1, true), "{message}");
}

#[test]
fn a_run_finds_its_graph_where_it_has_moved() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["quickstart", "--out", "tour", "--quiet"]);
    let before = json(dir.path(), &["eval", "tour/run", "--draws", "0"]);
    std::fs::rename(dir.path().join("tour/benchmark"), dir.path().join("kg")).unwrap();
    let (code, message) = fail(dir.path(), &["eval", "tour/run"]);
    assert_eq!((code, message.contains("hint: say where it is with --graph KG")), (1, true), "{message}");
    let after = json(dir.path(), &["eval", "tour/run", "--graph", "kg", "--draws", "0"]);
    assert_eq!(after["official"], before["official"]);
    assert_eq!(fail(dir.path(), &["eval", "tour/run", "--graph", "kg", "--model", "complex"]).0, 2);
    assert_eq!(fail(dir.path(), &["eval", "kg", "--graph", "kg"]).0, 2);
}

/// A file that answers depend on cannot be edited unnoticed, nor can the manifest that says so.
#[test]
fn an_edited_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut arguments = vec!["train", path(TOUR.path()), "--out", "run", "--quiet"];
    let benchmark = benchmark();
    arguments[1] = path(&benchmark);
    arguments.extend(["--preset", "umls", "--set", "steps=20", "--set", "batch=8", "--set", "eval_every=10"]);
    run(dir.path(), &arguments);
    run(dir.path(), &["eval", "run", "--quiet"]);
    for (file, from, to) in [
        ("config.toml", "gamma = ", "gamma = 1"),
        ("calibration.json", "\"temperature\": ", "\"temperature\": 9"),
        ("run.json", "\"dim\": ", "\"dim\": 1"),
    ] {
        let file = dir.path().join("run").join(file);
        let kept = std::fs::read_to_string(&file).unwrap();
        assert!(kept.contains(from), "{kept}");
        std::fs::write(&file, kept.replacen(from, to, 1)).unwrap();
        let (code, message) = fail(dir.path(), &["eval", "run", "--quiet"]);
        assert_eq!(code, 1);
        assert!(message.contains("was changed after the run was written"), "{}: {message}", file.display());
        std::fs::write(&file, kept).unwrap();
    }
    run(dir.path(), &["eval", "run", "--quiet"]);
}
