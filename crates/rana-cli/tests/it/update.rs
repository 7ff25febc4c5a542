//! `rana update`: new facts, removed ones, and new entities, with kills in between.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{fail, json, run, text};

/// People in towns of countries, from one number to another.
fn facts(from: usize, to: usize) -> String {
    let of = |at: usize| {
        let (town, land) = (at % 20, at % 5);
        format!(
            "p{at}\tlives_in\tt{town}\np{at}\tborn_in\tt{town}\np{at}\tcitizen_of\tl{land}\nt{town}\tlies_in\tl{land}\np{at}\tknows\tp{}\n",
            (at * 7 + 3) % 60
        )
    };
    (from..to).map(of).collect()
}

fn learned(dir: &Path) {
    fs::write(dir.join("facts.tsv"), facts(0, 60)).unwrap();
    run(dir, &["learn", "facts.tsv", "--out", "learned", "--quiet"]);
}

/// The first answers of a head.
fn answers(dir: &Path, relation: &str, head: &str) -> Value {
    let asked = [
        "complete",
        "learned",
        "--relation",
        relation,
        "--head",
        head,
        "--top",
        "3",
        "--exclude-known",
        "false",
    ];
    json(dir, &asked)["results"][0]["answers"].clone()
}

/// All facts of the graph as it is now, in the order of names.
fn all_facts(dir: &Path, learned: &str) -> Vec<String> {
    let listed = text(&run(dir, &["export", learned, "--format", "tsv", "--out", "-"]).stdout);
    let mut facts: Vec<String> = listed.lines().map(str::to_owned).collect();
    facts.sort();
    facts
}

#[test]
fn new_entities_are_answered_for_at_once_and_removed_facts_are_gone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    learned(dir);
    let before = fs::read(dir.join("learned/run.json")).unwrap();
    let (code, message) = fail(dir, &["complete", "learned", "--relation", "citizen_of", "--head", "p100"]);
    assert!(code == 2 && message.contains("no entity `p100`"), "{message}");

    fs::write(dir.join("new.tsv"), "p100\tlives_in\tt3\np100\tborn_in\tt3\np1\tlives_in\tt1\n").unwrap();
    fs::write(dir.join("gone.tsv"), "p2\tcitizen_of\tl2\n").unwrap();
    let report = json(dir, &["update", "learned", "new.tsv", "--remove", "gone.tsv"]);
    for (field, value) in [
        ("added", 2),
        ("removed", 1),
        ("unchanged", 1),
        ("new_entities", 1),
        ("new_relations", 0),
        ("layers", 1),
    ] {
        assert_eq!(report[field], value, "{report}");
    }
    assert_eq!(report["drift"]["learn_again"], false);
    // p100 lives and was born in t3, which lies in l3.
    assert_eq!(answers(dir, "citizen_of", "p100")[0]["tail"]["name"], "l3");
    // What was removed is no fact, and may be proposed.
    let of_p2 = answers(dir, "citizen_of", "p2");
    assert!(of_p2.as_array().unwrap().iter().all(|answer| answer["known"] == false), "{of_p2}");
    let of_p1 = answers(dir, "citizen_of", "p1");
    assert!(of_p1.as_array().unwrap().iter().any(|answer| answer["known"] == true), "{of_p1}");
    assert_eq!(
        fs::read(dir.join("learned/run.json")).unwrap(),
        before,
        "what was learned is not written again"
    );

    // The same again changes nothing.
    let again = json(dir, &["update", "learned", "new.tsv", "--remove", "gone.tsv"]);
    assert_eq!((&again["added"], &again["removed"], &again["layers"]), (&0.into(), &0.into(), &1.into()));

    // Much more than a tenth.
    fs::write(dir.join("much.tsv"), facts(200, 260)).unwrap();
    let report = json(dir, &["update", "learned", "much.tsv"]);
    assert_eq!(report["drift"]["learn_again"], true, "{report}");

    fs::write(dir.join("bad.tsv"), "a\tr\tb\nonly\tone\n").unwrap();
    let (_, message) = fail(dir, &["update", "learned", "bad.tsv"]);
    assert!(message.contains("bad.tsv"), "{message}");
    let (code, message) = fail(dir, &["update", "learned"]);
    assert!(code == 2 && message.contains("FILES"), "{message}");
    let layer = dir.join("learned/updates/000001.jsonl");
    let text = fs::read_to_string(&layer).unwrap();
    fs::write(&layer, text.replace("p100", "p101")).unwrap();
    let (_, message) = fail(dir, &["complete", "learned", "--relation", "citizen_of", "--head", "p1"]);
    assert!(message.contains("000001.jsonl") && message.contains("damaged"), "{message}");
}

#[test]
fn a_hundred_updates_that_are_merged_are_one_import() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    learned(dir);
    for at in 0..100 {
        fs::write(dir.join("new.tsv"), facts(60 + at, 61 + at)).unwrap();
        run(dir, &["update", "learned", "new.tsv", "--quiet"]);
    }
    let merged = json(dir, &["update", "learned", "--merge"]);
    assert_eq!((&merged["layers"], &merged["added"]), (&1.into(), &0.into()));

    fs::write(dir.join("all.tsv"), facts(0, 160)).unwrap();
    run(dir, &["learn", "all.tsv", "--out", "anew", "--budget", "1ms", "--quiet"]);
    assert_eq!(all_facts(dir, "learned"), all_facts(dir, "anew"));
    let entities = |learned: &str| json(dir, &["relate", learned, "p1", "t1", "--top", "1"])["head"].clone();
    assert_eq!(entities("learned"), entities("anew"));
}

/// Kills updates as soon as something of them can be seen, or a little later. After each, the graph is the old or the new one,
/// everything answers, and the same command finishes the work.
#[test]
fn twenty_kills_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    learned(dir);
    let mut kept_old = 0;
    let mut expected = all_facts(dir, "learned").len();
    for round in 0..20_usize {
        let new: String = (0..2000).map(|at| format!("n{round}-{at}\tknows\tp{}\n", at % 60)).collect();
        fs::write(dir.join("new.tsv"), new).unwrap();
        let merge: &[&str] = if round % 2 == 0 { &[] } else { &["--merge"] };
        let mut writer = Command::new(assert_cmd::cargo::cargo_bin("rana"))
            .args([&["update", "learned", "new.tsv", "--quiet"][..], merge].concat())
            .current_dir(dir)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let files = || fs::read_dir(dir.join("learned/updates")).map_or(0, Iterator::count);
        let (seen, patience) = (files(), Instant::now());
        while files() == seen
            && writer.try_wait().unwrap().is_none()
            && patience.elapsed() < Duration::from_secs(30)
        {
            std::thread::sleep(Duration::from_micros(100));
        }
        (0..round * 40).for_each(|_| std::hint::spin_loop());
        writer.kill().unwrap();
        writer.wait().unwrap();
        let found = all_facts(dir, "learned").len();
        assert!(found == expected || found == expected + 2000, "round {round}: {found}");
        kept_old += usize::from(found == expected);
        let report = json(dir, &[&["update", "learned", "new.tsv"][..], merge].concat());
        expected += 2000;
        assert_eq!(all_facts(dir, "learned").len(), expected, "round {round}: {report}");
    }
    assert!(kept_old > 0, "no update was ever killed in time");
    run(dir, &["update", "learned", "--merge", "--quiet"]);
    let left: Vec<_> =
        fs::read_dir(dir.join("learned/updates")).unwrap().map(|of| of.unwrap().file_name()).collect();
    let layers = left.iter().filter(|name| name.to_string_lossy().ends_with(".jsonl")).count();
    assert_eq!(layers, 1, "{left:?}");
    assert_eq!(all_facts(dir, "learned").len(), expected);
}
