//! The command line: what it prints, where, in which form, and how it exits.

use std::path::Path;

use crate::command::{fail, json, rana, run, text};

fn file(dir: &Path, name: &str, content: &str) {
    std::fs::write(dir.join(name), content).unwrap();
}

/// A directory with a small graph in it, imported as `kg`.
fn small_graph() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    file(
        dir.path(),
        "towns.tsv",
        "paris\tcapital_of\tfrance\nlyon\tlocated_in\tfrance\nparis\tlocated_in\tfrance\n",
    );
    run(dir.path(), &["import", "towns.tsv", "--out", "kg"]);
    dir
}

/// Times, hashes and versions differ from run to run.
fn steady(text: &str) -> String {
    let mut lines = Vec::new();
    // Trained numbers differ in the last digits between processors.
    let (mut is_trained, mut is_answered) = (false, false);
    for line in text.lines() {
        is_trained |= line.starts_with("5. pre-train");
        is_answered &= !line.starts_with("✓ a fact");
        // The answers may differ too.
        if is_answered || line.starts_with("stopped early") {
            continue;
        }
        is_answered |= line.contains("first answer");
        let line = if is_trained { &without_numbers(line) } else { line };
        let line = match line.split_once(" in ") {
            Some((before, after)) if after.contains(" s (") => format!("{before} in [time]"),
            _ => line.to_owned(),
        };
        let line = match line.split_once("opened in ") {
            Some((before, _)) => format!("{before}opened in [time]"),
            None => line,
        };
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

fn without_numbers(line: &str) -> String {
    let parts = line.split(|c: char| c.is_ascii_digit() || c == '.').filter(|part| !part.is_empty());
    let text = parts.collect::<Vec<_>>().join("#");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn help_tells_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    insta::assert_snapshot!("help", text(&run(dir.path(), &["--help"]).stdout));
    let commands = [
        "quickstart",
        "import",
        "inspect",
        "split",
        "embed",
        "train",
        "fuse",
        "eval",
        "complete",
        "serve",
        "health",
        "episodes",
        "export",
        "synth",
        "completions",
        "man",
    ];
    for command in commands {
        let help = text(&run(dir.path(), &[command, "--help"]).stdout);
        assert!(
            help.contains("Examples:\n  rana ") || help.contains("Examples:\n  zcat"),
            "{command} has no example"
        );
        assert!(help.contains("--json"), "{command}");
    }
}

#[test]
fn import_says_what_was_read_and_what_was_skipped() {
    let dir = tempfile::tempdir().unwrap();
    file(dir.path(), "a.tsv", "a\tr\tb\nbroken\na\tr\tb\nc\tr\tc\nd\tr\t\n");
    file(
        dir.path(),
        "b.ttl",
        "@prefix : <http://ex.org/> .\n:x a :T ; :p :y ; :age 5 ; <http://www.w3.org/2000/01/rdf-schema#label> \"X\" .\n",
    );
    let output = run(dir.path(), &["import", "a.tsv", "b.ttl", "--out", "kg", "--lenient"]);
    assert!(output.stdout.is_empty(), "the result is on disk, the summary on standard error");
    insta::assert_snapshot!("import", steady(&text(&output.stderr)));
    let quiet = run(dir.path(), &["import", "a.tsv", "b.ttl", "--out", "kg", "--lenient", "--quiet"]);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty());
    let account = json(dir.path(), &["import", "a.tsv", "b.ttl", "--out", "kg", "--lenient"]);
    assert_eq!(account["replaced"], true);
    assert_eq!(account["sources"][0]["malformed"], 2);
    assert_eq!(account["sources"][1]["literals_dropped"], 1);
    assert_eq!(account["duplicates"], 1);
    assert_eq!(account["self_loops"], 1);
}

#[test]
fn inspect_shows_a_table_or_json() {
    let dir = small_graph();
    let shown = text(&run(dir.path(), &["inspect", "kg", "--more-than", "1", "--less-than", "3"]).stdout);
    insta::assert_snapshot!("inspect", steady(&shown));
    let inspection = json(dir.path(), &["inspect", "kg"]);
    assert_eq!(
        (&inspection["entities"], &inspection["relations"], &inspection["triples"]),
        (&3.into(), &2.into(), &3.into())
    );
    assert_eq!(inspection["tasks"]["test"]["relations"], 0);
    assert_eq!(inspection["relation_table"][0]["cardinality"], "N-1");
    assert_eq!(inspection["manifest"]["inputs"][0]["name"], "towns.tsv");
}

#[test]
fn the_quickstart_tells_the_whole_story() {
    let dir = tempfile::tempdir().unwrap();
    let story = text(&run(dir.path(), &["quickstart"]).stdout);
    insta::assert_snapshot!("quickstart", steady(&story));
    let story = json(dir.path(), &["quickstart", "--out", "elsewhere"]);
    assert_eq!(story["import"]["counts"]["entities"], 135);
    assert_eq!(story["import"]["counts"]["relations"], 46);
    assert_eq!(story["import"]["counts"]["triples"], 6529);
    assert_eq!(story["example"]["support"].as_array().unwrap().len(), 5);
    let mrr = story["card"]["official"]["micro"]["mrr"].as_f64().unwrap();
    assert!(mrr > 0.6, "the vectors alone have about 0.53, and {mrr} is not much more");
    assert_eq!(story["completion"].as_array().unwrap().len(), 5);
    run(dir.path(), &["eval", "elsewhere/run"]);
    run(dir.path(), &["eval", "elsewhere/benchmark"]);
    run(dir.path(), &["inspect", "elsewhere/benchmark"]);
}

#[test]
fn split_and_episodes() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["quickstart", "--out", "q"]);
    run(dir.path(), &["split", "q/graph", "--seed", "3"]);
    let again = json(dir.path(), &["split", "q/graph", "--seed", "3", "--out", "again"]);
    assert_eq!(again["tasks"].as_array().unwrap().len(), 22);
    let manifest = |store: &str| json(dir.path(), &["inspect", store])["manifest"]["data"].clone();
    assert_eq!(manifest("q/graph-split"), manifest("again"), "the same seed gives the same split");
    run(dir.path(), &["split", "q/graph", "--seed", "4", "--out", "other"]);
    assert_ne!(manifest("q/graph-split"), manifest("other"));

    let named = json(dir.path(), &["split", "q/graph", "--out", "n", "--train", "uses", "--test", "isa"]);
    assert_eq!(named["splits"][2]["facts"], 500);
    let episodes = json(dir.path(), &["episodes", "again", "--count", "4", "--shots", "2", "--queries", "1"]);
    assert_eq!(episodes.as_array().unwrap().len(), 4);
    assert_eq!(episodes[0]["support"].as_array().unwrap().len(), 2);
    let metar = ["episodes", "again", "--sampling", "metar", "--mode", "in-train", "--seed", "9"];
    assert_eq!(json(dir.path(), &metar), json(dir.path(), &metar));
    let official = json(dir.path(), &["episodes", "again", "--split", "test"]);
    let resampled = json(dir.path(), &["episodes", "again", "--split", "test", "--draw", "resampled"]);
    assert_eq!(official[0]["relation"], resampled[0]["relation"]);
    assert_ne!(official[0]["support"], resampled[0]["support"]);
}

#[test]
fn split_writes_beside_the_store_and_warns_of_an_empty_split() {
    let dir = small_graph();
    let inside = rana(&dir.path().join("kg"), &["split", ".", "--train", "capital_of"]).output().unwrap();
    assert!(inside.status.success(), "{}", text(&inside.stderr));
    assert!(dir.path().join("kg-split/manifest.json").exists());
    assert!(text(&inside.stderr).contains("warning: there is no test task"), "{}", text(&inside.stderr));
    let (code, message) = fail(dir.path(), &["episodes", "kg-split", "--split", "train", "--draw", "first"]);
    assert_eq!((code, message.contains("the task `capital_of` has 1 facts")), (1, true), "{message}");
}

#[test]
fn a_format_says_what_is_between_the_columns() {
    let dir = tempfile::tempdir().unwrap();
    file(dir.path(), "odd.txt", "a b,r s,c d\n");
    assert_eq!(
        json(dir.path(), &["import", "odd.txt", "--format", "csv", "--out", "kg"])["counts"]["triples"],
        1
    );
    assert_eq!(fail(dir.path(), &["import", "odd.txt", "--format", "tsv", "--out", "kg"]).0, 1);
    assert_eq!(fail(dir.path(), &["import", "odd.txt", "--format", "docx", "--out", "kg"]).0, 2);
}

#[test]
fn export_gives_back_what_was_imported() {
    let dir = small_graph();
    let original = std::fs::read_to_string(dir.path().join("towns.tsv")).unwrap();
    let output = run(dir.path(), &["export", "kg", "--format", "tsv", "--out", "-"]);
    assert_eq!(text(&output.stdout), original);
    assert!(output.stderr.is_empty());
    for (format, name) in [("ntriples", "f.nt"), ("parquet", "f.parquet"), ("nell-one", "release")] {
        run(dir.path(), &["export", "kg", "--format", format, "--out", name]);
        run(dir.path(), &["import", name, "--out", "again"]);
        let back = run(dir.path(), &["export", "again", "--format", "tsv", "--out", "-"]);
        assert_eq!(text(&back.stdout), original, "{format}");
    }
    run(dir.path(), &["quickstart", "--out", "q"]);
    run(dir.path(), &["export", "q/benchmark", "--format", "tsv", "--with-tasks", "--out", "all.tsv"]);
    let lines = std::fs::read_to_string(dir.path().join("all.tsv")).unwrap().lines().count();
    assert_eq!(lines, 6529, "background and tasks are the whole graph again");
}

#[test]
fn standard_input_and_output() {
    let dir = tempfile::tempdir().unwrap();
    rana(dir.path(), &["import", "-", "--out", "kg"]).write_stdin("a,r,b\n").assert().success();
    assert_eq!(json(dir.path(), &["inspect", "kg"])["triples"], 1);
    let generated = run(dir.path(), &["synth", "--like", "small", "--out", "-"]);
    assert_eq!(text(&generated.stdout).lines().count(), 12_000);
    rana(dir.path(), &["import", "-", "--out", "synth"]).write_stdin(generated.stdout).assert().success();
    assert_eq!(json(dir.path(), &["inspect", "synth"])["entities"], 2000);
}

#[test]
fn synth_makes_a_benchmark() {
    let dir = tempfile::tempdir().unwrap();
    let account = json(dir.path(), &["synth", "--out", "toy", "--seed", "5"]);
    assert_eq!(account["config"]["seed"], 5);
    run(dir.path(), &["import", "toy", "--out", "kg"]);
    let inspection = json(dir.path(), &["inspect", "kg"]);
    assert_eq!(inspection["entities"], 2000);
    assert_eq!(inspection["tasks"]["test"]["relations"], 5);
}

#[test]
fn exit_codes_tell_failure_from_misuse() {
    let dir = small_graph();
    let (code, message) = fail(dir.path(), &["inspect", "nowhere"]);
    assert_eq!(code, 1);
    assert_eq!(
        message,
        "error: nowhere: not a graph store (no readable `manifest.json`). Import a graph first\n\
         hint: `rana import … --out nowhere` makes one\n"
    );
    assert_eq!(fail(dir.path(), &["inspect"]).0, 2);
    assert_eq!(fail(dir.path(), &["import", "towns.tsv", "--out", "kg", "--columns", "h,x,t"]).0, 2);
    assert_eq!(fail(dir.path(), &["import", "-", "-", "--out", "kg"]).0, 2);
    assert_eq!(fail(dir.path(), &["export", "kg", "--format", "nell-one", "--out", "-"]).0, 2);
    assert_eq!(fail(dir.path(), &["episodes", "kg", "--split", "test", "--mode", "in-train"]).0, 2);
    let (code, message) = fail(dir.path(), &["episodes", "kg"]);
    assert_eq!(
        (code, message.contains("kg: there is no train task. Make tasks with `rana split kg`")),
        (1, true),
        "{message}"
    );
    let (code, message) = fail(dir.path(), &["episodes", "kg", "--split", "test"]);
    assert_eq!((code, message.contains("there is no test task")), (1, true), "{message}");
    let (code, message) = fail(dir.path(), &["split", "kg"]);
    assert_eq!((code, message.contains("none of the 2 relations has more than 50")), (1, true), "{message}");
    let (code, message) = fail(dir.path(), &["split", "kg", "--more-than", "9", "--less-than", "3"]);
    assert_eq!((code, message.contains("more_than is 9")), (2, true), "{message}");
    assert_eq!(fail(dir.path(), &["split", "kg", "--ratio", "0:0:0"]).0, 2);
    assert_eq!(fail(dir.path(), &["split", "kg", "--ratio", "8:1:1", "--train", "located_in"]).0, 2);
    assert_eq!(fail(dir.path(), &["split", "kg", "--out", "./kg"]).0, 2);
    assert_eq!(fail(dir.path(), &["completions", "bash", "--json"]).0, 2);
    assert_eq!(fail(dir.path(), &["export", "kg", "--format", "tsv", "--out", "-", "--json"]).0, 2);
    run(dir.path(), &["quickstart", "--out", "q"]);
    let (code, message) = fail(dir.path(), &["split", "q/benchmark"]);
    assert_eq!((code, message.contains("has tasks already")), (2, true), "{message}");
    let (code, message) = fail(dir.path(), &["synth", "--out", "toy", "--triples", "10"]);
    assert_eq!((code, message.contains("`triples`")), (2, true), "{message}");
    let (code, message) = fail(dir.path(), &["import", "towns.tsv", "--out", "."]);
    assert_eq!((code, message.contains("is left alone")), (1, true), "{message}");
}

#[test]
fn errors_stay_plain_where_colours_are_not_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let always = rana(dir.path(), &["inspect", "nowhere", "--color", "always"]).output().unwrap();
    assert!(text(&always.stderr).contains("\u{1b}["));
    let never = rana(dir.path(), &["inspect", "nowhere", "--color", "never"]).output().unwrap();
    assert!(!text(&never.stderr).contains("\u{1b}["));
    let wished = rana(dir.path(), &["inspect", "nowhere"])
        .env("NO_COLOR", "1")
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(!text(&wished.stderr).contains("\u{1b}["));
}

#[test]
#[cfg(unix)]
fn a_reader_that_went_away_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let binary = assert_cmd::cargo::cargo_bin("rana");
    let script = format!("set -o pipefail; '{}' synth --like small --out - | head -n 1", binary.display());
    let output =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn completions_and_manual_pages() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = text(&run(dir.path(), &["completions", shell]).stdout);
        assert!(script.contains("quickstart"), "{shell}");
    }
    run(dir.path(), &["man", "--out", "man1"]);
    let page = std::fs::read_to_string(dir.path().join("man1/rana-import.1")).unwrap();
    assert!(page.contains("lenient"));
    assert!(dir.path().join("man1/rana.1").exists());
}

#[test]
fn a_damaged_parquet_file_is_reported_and_not_a_panic() {
    let dir = small_graph();
    run(dir.path(), &["export", "kg", "--format", "parquet", "--out", "f.parquet"]);
    let whole = std::fs::read(dir.path().join("f.parquet")).unwrap();
    for at in 4..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x80;
        std::fs::write(dir.path().join("f.parquet"), damaged).unwrap();
        let output = rana(dir.path(), &["import", "f.parquet", "--out", "again"]).output().unwrap();
        let said = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "byte {at}: {said}");
        assert!(!said.contains("panicked"), "byte {at}: {said}");
    }
}

/// Names cannot send control sequences to a terminal, and a count without bound is a wrong argument.
#[test]
fn names_and_counts_of_bad_will() {
    let dir = tempfile::tempdir().unwrap();
    let name = "\u{1b}]52;c;aGFjaw==\u{7}evil";
    std::fs::write(dir.path().join("facts.tsv"), format!("{name}\tr\u{9b}\tb\nc\tr\u{9b}\t{name}\n"))
        .unwrap();
    run(dir.path(), &["import", "facts.tsv", "--out", "kg", "--quiet"]);
    let shown = text(&run(dir.path(), &["inspect", "kg"]).stdout);
    assert!(shown.contains("r\\u009b") && !shown.contains(['\u{1b}', '\u{9b}']), "{shown:?}");
    // The same name as a head, an answer, a relation and in reasons.
    let line = |n: u32| format!("{name}{}\tr\u{9b}\tt{}\nt{}\ts\t{name}{}\n", n, n % 7, n % 5, n % 3);
    std::fs::write(dir.path().join("more.tsv"), (0..30).map(line).collect::<String>()).unwrap();
    run(dir.path(), &["learn", "more.tsv", "--out", "learned", "--budget", "1ms", "--quiet"]);
    let head = format!("{name}1");
    for command in [
        &["complete", "learned", "--relation", "r\u{9b}", "--head", &head, "--reasons"][..],
        &["eval", "learned/graph", "--per-relation"],
        &["inspect", "learned/graph"],
        &["complete", "learned", "--relation", "\u{1b}[2J", "--head", &head],
    ] {
        let output = rana(dir.path(), command).output().unwrap();
        let shown = text(&output.stdout) + &text(&output.stderr);
        assert!(
            !shown.is_empty() && !shown.contains(['\u{1b}', '\u{9b}', '\u{7}']),
            "{command:?}: {shown:?}"
        );
    }
    let (code, message) = fail(dir.path(), &["episodes", "kg", "--count", "18446744073709551615"]);
    assert_eq!(code, 2, "{message}");
}
