//! Pre-training, vectors and their evaluation through the command line.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::command::{fail, json, run, text};
use crate::datasets::dataset;

/// A generated benchmark as `kg`, with valid and test facts, and a smaller graph as `other`.
fn graphs() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let facts = text(&run(dir.path(), &["synth", "--like", "small", "--out", "-"]).stdout);
    let lines: Vec<&str> = facts.lines().collect();
    let write = |name: &str, lines: &[&str]| std::fs::write(dir.path().join(name), lines.join("\n")).unwrap();
    write("valid.tsv", &lines[..200]);
    write("test.tsv", &lines[200..500]);
    write("train.tsv", &lines[500..]);
    write("other.tsv", &lines[500..900]);
    let import = ["import", "train.tsv", "--valid", "valid.tsv", "--test", "test.tsv", "--out", "kg"];
    run(dir.path(), &import);
    run(dir.path(), &["import", "other.tsv", "--out", "other"]);
    dir
}

/// The name of the file of vectors, which is made of their content.
fn content(dir: &Path, vectors: &str) -> String {
    let manifest = std::fs::read(dir.join(vectors).join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    manifest["file"].as_str().unwrap().to_owned()
}

const QUICK: [&str; 6] = ["--epochs", "3", "--dim", "16", "--seed", "5"];

fn quick<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &QUICK].concat()
}

#[test]
fn vectors_are_kept_with_the_graph_and_evaluated() {
    let dir = graphs();
    let account = json(dir.path(), &quick(&["embed", "kg"]));
    assert_eq!(account["vectors"], "kg/vectors/transe");
    assert_eq!((&account["facts"], &account["validation_facts"]), (&11_500.into(), &200.into()));
    assert_eq!(account["config"]["updates"], "deterministic");
    assert!(account["norms"]["entities"]["mean"].as_f64().unwrap() > 0.0);
    let card = json(dir.path(), &["eval", "kg", "--per-relation"]);
    assert_eq!(card["made"]["training"]["seed"], 5);
    let report = &card["link_prediction"][0];
    assert_eq!((&report["on"], &report["tie_rule"]), (&"test".into(), &"realistic".into()));
    assert_eq!((&report["both"]["queries"], &report["head"]["queries"]), (&600.into(), &300.into()));
    assert!(report["relations"][0]["relation"].is_string());
    let mrr = report["both"]["mrr"].as_f64().unwrap();
    assert!(mrr > 0.01, "chance is about 0.004, and {mrr} is not much more");
    let shown = text(&run(dir.path(), &["eval", "kg", "--ties", "pessimistic"]).stdout);
    assert!(shown.contains("ties: pessimistic"), "{shown}");
    assert!(shown.contains("300 test facts, among all 2,000 entities"), "{shown}");
    let valid = json(dir.path(), &["eval", "kg", "--on", "valid"]);
    assert_eq!(valid["link_prediction"][0]["both"]["queries"], 400);

    // With vectors of two models, --model is required.
    run(dir.path(), &quick(&["embed", "kg", "--model", "complex", "--quiet"]));
    let (code, message) = fail(dir.path(), &["eval", "kg"]);
    assert_eq!(
        (code, message.contains("vectors of transe, complex; choose one with --model")),
        (2, true),
        "{message}"
    );
    let card = json(dir.path(), &["eval", "kg", "--model", "complex"]);
    assert_eq!(card["made"]["relation_rows"], "directed");
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let dir = graphs();
    for model in ["transe", "distmult", "complex", "simple", "rotate"] {
        let embed = |out: &str, threads: &str, seed: &str| {
            let sizes = ["--epochs", "2", "--dim", "8", "--quiet"];
            let arguments =
                ["embed", "kg", "--model", model, "--out", out, "--threads", threads, "--seed", seed];
            run(dir.path(), &[&arguments[..], &sizes].concat());
            content(dir.path(), out)
        };
        let one = embed("one", "1", "3");
        assert_eq!(embed("two", "2", "3"), one, "{model}");
        assert_ne!(embed("three", "2", "4"), one, "{model}");
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_training_goes_on_to_the_same_result() {
    let dir = graphs();
    let settings = ["--epochs", "40", "--dim", "32", "--seed", "9"];
    run(dir.path(), &[&["embed", "kg", "--out", "unbroken", "--quiet"][..], &settings].concat());
    let child = Command::new(assert_cmd::cargo::cargo_bin("rana"))
        .args(["embed", "kg"])
        .args(settings)
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its directory is made right before the training starts.
    while !dir.path().join("kg/vectors/transe").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(50));
    // Two signals in a row count as one: a wrapper may have forwarded the first.
    for signal in ["-INT", "-TERM"] {
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    }
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Resume it with `rana embed kg --resume`"), "{said}");

    // A truncated checkpoint is rejected; the whole one leads to the same vectors.
    let checkpoint = dir.path().join("kg/vectors/transe/checkpoint");
    let whole = std::fs::read(&checkpoint).unwrap();
    std::fs::write(&checkpoint, &whole[..whole.len() / 2]).unwrap();
    let (code, message) = fail(dir.path(), &["embed", "kg", "--resume"]);
    assert_eq!((code, message.contains("the file was truncated or altered")), (1, true), "{message}");
    std::fs::write(&checkpoint, &whole).unwrap();
    assert_eq!(fail(dir.path(), &["embed", "kg", "--resume", "--dim", "7"]).0, 2);
    run(dir.path(), &["embed", "kg", "--resume", "--quiet"]);
    assert_eq!(content(dir.path(), "kg/vectors/transe"), content(dir.path(), "unbroken"));
    assert!(!checkpoint.exists());
    let (code, message) = fail(dir.path(), &["embed", "kg", "--resume"]);
    assert_eq!((code, message.contains("nothing to resume")), (1, true), "{message}");
}

/// Killed twenty times in a row, also with rows that are held fixed, it ends in the same vectors and leaves nothing else.
#[test]
#[cfg(unix)]
fn killed_twenty_times_in_a_row_it_still_ends_in_the_same_vectors() {
    let dir = graphs();
    let dir = dir.path();
    let rows = (0..100).map(|n| format!("{n}{}", " 0.25".repeat(31)));
    let names = text(&run(dir, &["export", "kg", "--format", "tsv", "--out", "-"]).stdout);
    let mut heads: Vec<&str> = names.lines().filter_map(|line| line.split('\t').next()).collect();
    heads.sort_unstable();
    heads.dedup();
    let known: String = heads.iter().zip(rows).map(|(head, row)| format!("{head}\t{row}\n")).collect();
    std::fs::write(dir.join("known.tsv"), known).unwrap();
    let common = ["--fixed-entities", "known.tsv", "--checkpoint-every", "0", "--quiet"];
    let begin = |out: &'static str| {
        let settings = ["embed", "kg", "--out", out, "--epochs", "60", "--dim", "32", "--seed", "9"];
        [&settings[..], &common].concat()
    };
    run(dir, &begin("unbroken"));
    let resume = [&["embed", "kg", "--out", "killed", "--resume"][..], &common].concat();
    for round in 0..20 {
        let is_begun = dir.join("killed/checkpoint").exists();
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("rana"))
            .args(if is_begun { resume.clone() } else { begin("killed") })
            .current_dir(dir)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // From before the start to some batches into the training, at irregular times.
        std::thread::sleep(Duration::from_micros(1000 + (round * 7919) % 60_000));
        assert!(child.try_wait().unwrap().is_none(), "training was over too soon, in round {round}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    if !dir.join("killed/checkpoint").exists() {
        run(dir, &begin("killed"));
    } else {
        // The rows belong to the training: without them it is another one.
        let (_, message) = fail(dir, &["embed", "kg", "--out", "killed", "--resume"]);
        assert!(message.contains("with other fixed rows"), "{message}");
        run(dir, &resume);
    }
    assert_eq!(content(dir, "killed"), content(dir, "unbroken"));
    let files = |out: &str| {
        let mut names: Vec<_> =
            std::fs::read_dir(dir.join(out)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(files("killed"), files("unbroken"));
}

#[test]
fn settings_come_from_recommendations_presets_files_and_options() {
    let dir = graphs();
    let printed = |arguments: &[&str]| {
        let arguments = [&["embed", "kg", "--print-config"], arguments].concat();
        text(&run(dir.path(), &arguments).stdout)
    };
    let defaults = printed(&[]);
    assert!(defaults.contains("# init = 1.0\nmodel = \"transe\"\n"), "{defaults}");
    std::fs::write(dir.path().join("all.toml"), &defaults).unwrap();
    assert_eq!(printed(&["--config", "all.toml"]), defaults, "what is printed can be given back");
    let preset = printed(&["--preset", "fb15k-237", "--model", "complex", "--dim", "64"]);
    assert!(preset.contains("dim = 64\ninverses = true\n"), "{preset}");
    std::fs::write(dir.path().join("my.toml"), "model = \"rotate\"\nlearning_rate = 0.25\n").unwrap();
    let mine = printed(&["--config", "my.toml", "--loss", "margin", "--gamma", "3"]);
    assert!(mine.contains("model = \"rotate\"") && mine.contains("learning_rate = 0.25"), "{mine}");
    assert!(mine.contains("kind = \"margin\"\nmargin = 3.0"), "{mine}");
    std::fs::write(dir.path().join("bad.toml"), "learning_rat = 0.25\n").unwrap();
    let misuses: [(&[&str], &str); 8] = [
        (&["--threads", "100000"], "100000 is not in 1..=1024"),
        (&["--config", "bad.toml"], "bad.toml: unknown field `learning_rat`"),
        (
            &["--preset", "fb15k"],
            "there is no preset `fb15k`; there are: fb15k-237, nell-one, nell-one-few-shot, nell-one-released, nell-one-tuned",
        ),
        (&["--model", "complex", "--dim", "101"], "dim is 101, but the rows of complex have two halves"),
        (&["--learning-rate", "0"], "learning_rate is 0; it must be a number above 0"),
        (&["--model", "word2vec"], "`word2vec` is no model"),
        (&["--loss", "softmax", "--gamma", "2"], "the softmax loss has no --gamma"),
        (&["--entities", "e.npy"], "--relations"),
    ];
    for (arguments, expected) in misuses {
        let (code, message) = fail(dir.path(), &[&["embed", "kg"], arguments].concat());
        assert_eq!((code, message.contains(expected)), (2, true), "{arguments:?}: {message}");
    }
}

#[test]
fn vectors_travel_in_every_format() {
    let dir = graphs();
    run(dir.path(), &quick(&["embed", "kg", "--quiet"]));
    let before = json(dir.path(), &["eval", "kg"])["link_prediction"].clone();
    let names = [("safetensors", "safetensors"), ("npy", "npy"), ("text", "TransE")];
    for (format, ending) in names {
        run(dir.path(), &["export", "kg", "--format", format, "--out", "files"]);
        let [entities, relations] = ["entity", "relation"].map(|name| format!("files/{name}2vec.{ending}"));
        let import = ["embed", "kg", "--entities", &entities, "--relations", &relations, "--out", "back"];
        let account = json(dir.path(), &import);
        assert_eq!((&account["dim"], &account["entities"]), (&16.into(), &2000.into()));
        assert!(account["norms"]["relations"]["max"].as_f64().unwrap() > 0.0);
        let after = json(dir.path(), &["eval", "kg", "--vectors", "back"]);
        assert_eq!(after["link_prediction"], before, "{format}");
    }
}

#[test]
fn vectors_that_do_not_fit_are_refused() {
    let dir = graphs();
    run(dir.path(), &quick(&["embed", "kg", "--quiet"]));
    run(dir.path(), &["export", "kg", "--format", "text", "--out", "files"]);
    let (entities, relations) = ("files/entity2vec.TransE", "files/relation2vec.TransE");
    let import = |kg: &str, more: &[&str]| {
        let files = ["embed", kg, "--entities", entities, "--relations", relations, "--out", "back"];
        fail(dir.path(), &[&files, more].concat())
    };
    let expect = |(code, message): (i32, String), expected: &str| {
        assert_eq!((code, message.contains(expected)), (1, true), "{message}");
    };
    expect(fail(dir.path(), &["eval", "other", "--vectors", "kg/vectors/transe"]), "another graph");
    expect(import("other", &[]), "2000 rows where the graph has");
    expect(import("kg", &["--model", "rotate"]), "relation rows of dimension 16 where rotate has 8");
    let text = std::fs::read_to_string(dir.path().join(entities)).unwrap();
    let nan = text.replacen(text.split_whitespace().next().unwrap(), "NaN", 1);
    std::fs::write(dir.path().join(entities), nan).unwrap();
    expect(import("kg", &[]), "row 0, column 0 (counted from 0) is NaN");
    let odd = text.lines().map(|line| line.rsplit_once('\t').unwrap().0).collect::<Vec<_>>().join("\n");
    std::fs::write(dir.path().join(entities), odd).unwrap();
    expect(import("kg", &["--model", "complex"]), "entity rows of dimension 15, but the rows of complex");
    expect(fail(dir.path(), &["eval", "other"]), "other: no vectors. Make some with `rana embed other`");
    run(dir.path(), &quick(&["embed", "other", "--quiet"]));
    expect(fail(dir.path(), &["eval", "other"]), "nothing to evaluate on");
    expect(fail(dir.path(), &["eval", "other", "--on", "test"]), "there are no test facts");
    expect(fail(dir.path(), &["eval", "other", "--on", "dev-tasks"]), "there is no dev task");
}

#[test]
fn a_directory_of_somebody_else_is_refused_before_the_work() {
    let dir = graphs();
    for name in ["notes.txt", "checkpoint", "checkpoint of mine"] {
        let target = dir.path().join(name.replace(['.', ' '], "-"));
        std::fs::create_dir(&target).unwrap();
        std::fs::write(target.join(name), "mine").unwrap();
        let target = target.display().to_string();
        // If it were not rejected at once, this would take hours.
        let (code, message) = fail(dir.path(), &["embed", "kg", "--epochs", "1000000", "--out", &target]);
        assert_eq!((code, message.contains("is left alone")), (1, true), "{message}");
    }
    let (code, message) = fail(dir.path(), &["embed", "kg", "--resume", "--out", "nowhere"]);
    assert_eq!((code, message.contains("nothing to resume")), (1, true), "{message}");
}

#[test]
fn a_graph_that_changed_no_longer_fits_its_vectors() {
    let dir = graphs();
    run(dir.path(), &quick(&["embed", "other", "--quiet"]));
    run(dir.path(), &["import", "train.tsv", "--out", "other", "--quiet"]);
    let (code, message) = fail(dir.path(), &["eval", "other"]);
    assert_eq!((code, message.contains("another graph")), (1, true), "{message}");
}

#[test]
fn facts_of_tasks_may_be_trained_on() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["synth", "--like", "small", "--out", "toy", "--quiet"]);
    run(dir.path(), &["import", "toy", "--out", "kg", "--quiet"]);
    let facts = |which: &str| {
        let account = json(dir.path(), &quick(&["embed", "kg", "--facts", which, "--inverses"]));
        account["facts"].as_u64().unwrap() + account["validation_facts"].as_u64().unwrap()
    };
    let inspection = json(dir.path(), &["inspect", "kg"]);
    let count = |split: &str, what: &str| inspection["tasks"][split][what].as_u64().unwrap();
    let background = inspection["triples"].as_u64().unwrap();
    assert_eq!(facts("background"), background);
    assert_eq!(facts("train-tasks"), background + count("train", "facts"));
    let supports = 5 * (count("dev", "relations") + count("test", "relations"));
    assert_eq!(facts("supports"), background + count("train", "facts") + supports);
    let card = json(dir.path(), &["eval", "kg"]);
    assert_eq!(card["made"]["origin"], "supports");
    assert_eq!(card["made"]["support_shots"], 5);
    let warned = run(dir.path(), &["eval", "kg", "--shots", "3"]);
    assert!(text(&warned.stderr).contains("some queries are not unseen"), "{}", text(&warned.stderr));
    // Rows of task relations are exported too.
    run(dir.path(), &["export", "kg", "--format", "npy", "--out", "files"]);
    let files = ["--entities", "files/entity2vec.npy", "--relations", "files/relation2vec.npy"];
    run(dir.path(), &[&["embed", "kg", "--out", "back"][..], &files].concat());
    let (code, message) = fail(dir.path(), &[&["embed", "kg", "--print-config"][..], &files].concat());
    assert_eq!((code, message.contains("cannot be used with")), (2, true), "{message}");
    assert_eq!(card["protocol"]["split"], "test");
}

#[test]
fn vectors_trained_on_supports_have_a_row_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["synth", "--like", "small", "--out", "toy", "--quiet"]);
    run(dir.path(), &["import", "toy", "--out", "kg", "--quiet"]);
    let embed = |more: &[&str]| {
        run(dir.path(), &quick(&[&["embed", "kg", "--model", "distmult", "--quiet"], more].concat()));
    };
    let eval = |more: &[&str]| {
        let output = run(dir.path(), &[&["eval", "kg", "--model", "distmult", "--json"], more].concat());
        let card: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (card, text(&output.stderr))
    };
    // Three shots are the default for vectors that were trained on three.
    embed(&["--facts", "supports", "--shots", "3"]);
    let (card, _) = eval(&[]);
    assert_eq!((&card["model"], &card["protocol"]["shots"]), (&"distmult".into(), &3.into()));
    assert!(card["baselines"]["mean-translation"]["official"].is_object());
    assert_eq!((card["resampled"].is_null(), card["per_relation"][0]["resampled"].is_null()), (true, true));
    let reason = "trained on the first 3 facts of each task, and there is a row for no other support";
    assert!(card["not_resampled"].as_str().unwrap().contains(reason), "{}", card["not_resampled"]);
    let shown = text(&run(dir.path(), &["eval", "kg", "--model", "distmult", "--draws", "3"]).stdout);
    assert!(shown.contains("— distmult: ") && shown.contains(reason), "{shown}");
    // There is no such row for other supports, nor for vectors without supports. A note says why.
    let (card, said) = eval(&["--shots", "5", "--draws", "0"]);
    assert_eq!(card["model"], "mean-translation");
    assert!(said.contains("`rana embed --facts supports --shots 5`"), "{said}");
    run(dir.path(), &quick(&["embed", "kg", "--model", "distmult", "--quiet"]));
    let (card, said) = eval(&["--draws", "0"]);
    assert_eq!(card["model"], "mean-translation");
    assert!(said.contains("were trained on `background`"), "{said}");
}

#[test]
fn tasks_get_an_evaluation_card() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["synth", "--like", "small", "--out", "toy", "--quiet"]);
    run(dir.path(), &["import", "toy", "--out", "kg", "--quiet"]);
    run(dir.path(), &quick(&["embed", "kg", "--quiet"]));
    let eval = |more: &[&str]| json(dir.path(), &[&["eval", "kg", "--draws", "3"], more].concat());
    let card = eval(&["--html", "card.html"]);
    assert_eq!(card["model"], "mean-translation");
    assert_eq!(card["resampled"]["draws"], 3);
    assert_eq!(card["few_shot"][0]["official"], card["official"], "the only card is also at the top level");
    let rows: Vec<&String> = card["baselines"].as_object().unwrap().keys().collect();
    assert_eq!(rows, ["adjacency", "copy", "popularity", "rules"]);
    assert!(card["resampled"]["micro"]["mrr"]["sd"].as_f64().unwrap() > 0.0);
    let provenance = &card["provenance"];
    assert!(["graph", "dataset", "commit"].iter().all(|key| provenance[key].is_string()), "{provenance:#}");
    let page = std::fs::read_to_string(dir.path().join("card.html")).unwrap();
    assert!(page.contains("mean-translation on") && page.contains("</html>"), "{page}");

    // The seed changes only the resampled numbers; the number of threads changes nothing.
    let other = eval(&["--seed", "1", "--threads", "1"]);
    assert_eq!(other["official"], card["official"]);
    assert_ne!(other["resampled"], card["resampled"]);
    assert_eq!(eval(&["--threads", "1"])["resampled"], card["resampled"]);
    // More candidates give lower ranks.
    let mrr = |card: &serde_json::Value| card["official"]["micro"]["mrr"].as_f64().unwrap();
    let (all, few) = (eval(&["--candidates", "all"]), eval(&["--candidates", "sampled:3"]));
    assert_eq!(
        (&all["protocol"]["candidates"], &few["protocol"]["candidates"]),
        (&"all".into(), &"sampled:3".into())
    );
    assert!(mrr(&all) < mrr(&card) && mrr(&card) < mrr(&few), "{} {} {}", mrr(&all), mrr(&card), mrr(&few));
    // Two splits give two cards, and neither is at the top level.
    let both = eval(&["--on", "dev-tasks", "--on", "test-tasks"]);
    let splits: Vec<&str> = both["few_shot"]
        .as_array()
        .unwrap()
        .iter()
        .map(|card| card["protocol"]["split"].as_str().unwrap())
        .collect();
    assert_eq!((splits, both.get("official")), (vec!["dev", "test"], None));

    let shown = text(&run(dir.path(), &["eval", "kg", "--draws", "3", "--per-relation"]).stdout);
    for expected in [
        "3 resampled",
        "ties of mean-translation: ",
        "common to all shots up to 8",
        " ± ",
        "candidates typed",
    ] {
        assert!(shown.contains(expected), "{expected} in {shown}");
    }
    let misuses: [(&[&str], &str); 3] = [
        (&["--draws", "1"], "1 draw has no standard deviation"),
        (&["--candidates", "some"], "say typed, all, or sampled:K"),
        (&["--shots", "0"], "shots is 0"),
    ];
    for (arguments, expected) in misuses {
        let (code, message) = fail(dir.path(), &[&["eval", "kg"], arguments].concat());
        assert_eq!((code, message.contains(expected)), (2, true), "{arguments:?}: {message}");
    }
    let facts = graphs();
    run(facts.path(), &quick(&["embed", "kg", "--quiet"]));
    let (code, message) = fail(facts.path(), &["eval", "kg", "--html", "card.html"]);
    assert_eq!((code, message.contains("none are evaluated")), (2, true), "{message}");
}

#[test]
fn a_short_pretraining_of_nell_one_already_knows_unseen_relations() {
    let Some(nell) = dataset("NELL-One") else { return };
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["import", &nell.display().to_string(), "--out", "nell", "--quiet"]);
    // L1 learns in fewer epochs than the preset's L2.
    let short = ["--preset", "nell-one", "--norm", "l1", "--gamma", "6", "--epochs", "6", "--quiet"];
    run(dir.path(), &[&["embed", "nell"][..], &short].concat());
    let dev = json(dir.path(), &["eval", "nell", "--on", "dev-tasks", "--draws", "0"]);
    assert_eq!((&dev["official"]["micro"]["queries"], &dev["resampled"]), (&979.into(), &().into()));
    let card = json(dir.path(), &["eval", "nell", "--draws", "4"]);
    assert_eq!(card["protocol"]["queries"], 2103);
    let number = |key: &str| card.pointer(key).and_then(serde_json::Value::as_f64).unwrap();
    assert!(number("/official/micro/mrr") > 0.15, "{}", number("/official/micro/mrr"));
    // Measured independently of this program.
    let of = |row: &str| number(&format!("/baselines/{row}/official/micro/mrr"));
    assert_eq!(format!("{:.3} {:.3}", of("copy"), of("rules")), "0.179 0.328");
    // Over eight other draws: .361 ± .030.
    let resampled = number("/baselines/rules/resampled/micro/mrr/mean");
    assert!((0.30..0.42).contains(&resampled), "{resampled}");
}

/// The target is taken before the first epoch: it must be writable, and no other process may write it.
#[cfg(target_os = "linux")]
#[test]
fn the_target_is_taken_before_training() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("facts.tsv"), "a\tr\tb\nb\tr\tc\nc\tr\ta\n").unwrap();
    run(dir.path(), &["import", "facts.tsv", "--out", "kg", "--quiet"]);
    let (_, message) = fail(dir.path(), &["embed", "kg", "--out", "/proc/vectors", "--epochs", "100000"]);
    assert!(message.contains("/proc/vectors: could not create the directory"), "{message}");
    std::fs::create_dir(dir.path().join("taken")).unwrap();
    let lock = std::fs::File::create(dir.path().join("taken/.lock")).unwrap();
    lock.try_lock().unwrap();
    let (_, message) = fail(dir.path(), &["embed", "kg", "--out", "taken", "--epochs", "100000"]);
    assert!(message.contains("another process"), "{message}");
    drop(lock);
    run(dir.path(), &["embed", "kg", "--out", "taken", "--epochs", "2", "--quiet"]);
}
