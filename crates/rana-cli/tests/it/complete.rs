//! `rana complete` through the command line.

use std::fs;

use crate::command::{fail, json, run, text};
use crate::train::{benchmark, path};

/// A quickly trained run on UMLS.
fn trained(dir: &std::path::Path) {
    let benchmark = benchmark();
    let args = ["train", path(&benchmark), "--preset", "umls", "--seed", "1", "--out", "run", "--quiet"];
    run(dir, &[&args[..], &["--set", "steps=30", "--set", "eval_every=15", "--set", "batch=8"]].concat());
}

#[test]
fn from_pairs_to_facts_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    trained(dir);

    // A withheld task needs only its name.
    let tasks = json(dir, &["episodes", path(&benchmark()), "--split", "test"]);
    let relation = tasks[0]["relation"].as_str().unwrap().to_owned();
    let of_task = json(dir, &["complete", "run", "--relation", &relation, "--top", "3", "--reasons"]);
    assert_eq!(of_task["relation"]["support"].as_array().unwrap().len(), 5);
    let results = of_task["results"].as_array().unwrap();
    assert!(results.iter().flat_map(|of| of["answers"].as_array().unwrap()).any(|of| of["withheld"] == true));
    assert!(results[0]["answers"][0]["explanation"]["attention"][0]["weight"].is_number());
    let printed = run(dir, &["complete", "run", "--relation", &relation, "--top", "3", "--reasons"]);
    let printed = text(&printed.stdout);
    assert!(
        printed.contains("✓ a fact that was withheld") && printed.contains("strongest attention"),
        "{printed}"
    );

    // A new relation, from a file and an argument; the head by a label that is close to a name.
    let support = of_task["relation"]["support"].as_array().unwrap();
    let pair = |at: usize| {
        let name = |end: usize| support[at][end]["name"].as_str().unwrap().to_owned();
        [name(0), name(1)]
    };
    let lines: String = (0..4).map(|at| format!("{}\n", pair(at).join("\t"))).collect();
    fs::write(dir.join("pairs.tsv"), lines).unwrap();
    let [head, tail] = pair(4);
    let new =
        ["complete", "run", "--relation", "new", "--new", "--support", "pairs.tsv", "--pair", &head, &tail];
    let of_new = json(dir, &[&new[..], &["--plausible"]].concat());
    assert_eq!(of_new["relation"]["in_graph"], false);
    let heads = of_new["results"].as_array().unwrap().len();
    assert!(heads > 10);

    // The shards together cover all heads, and every format has the same answers.
    let parts: usize = (1..=3)
        .map(|part| {
            let shard = format!("{part}/3");
            let of = json(dir, &[&new[..], &["--plausible", "--shard", &shard]].concat());
            of["results"].as_array().unwrap().len()
        })
        .sum();
    assert_eq!(parts, heads);
    let answers = heads * 10;
    for format in ["tsv", "jsonl", "ntriples", "turtle", "rdf12", "parquet"] {
        let more = ["--plausible", "--format", format, "--out", format];
        let account = json(dir, &[&new[..], &more].concat());
        assert_eq!(account["answers"], answers, "{format}");
        let once = fs::read(dir.join(format)).unwrap();
        run(dir, &[&new[..], &more, &["--threads", "1", "--quiet"]].concat());
        assert_eq!(fs::read(dir.join(format)).unwrap(), once, "{format} is written the same again");
    }
    let lines = fs::read_to_string(dir.join("tsv")).unwrap();
    assert_eq!(lines.lines().count(), answers + 1);
    assert!(lines.starts_with("head\trelation\ttail\trank\tscore\tconfidence"));
    for (format, ending) in [("ntriples", "nt"), ("rdf12", "ttl"), ("parquet", "parquet")] {
        let file = format!("answers.{ending}");
        fs::rename(dir.join(format), dir.join(&file)).unwrap();
        let back = json(dir, &["import", &file, "--out", "back"]);
        assert_eq!(back["counts"]["triples"], answers, "{format} reads back: {back}");
    }
}

#[test]
fn what_cannot_be_completed_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    trained(dir);
    let (code, message) = fail(dir, &["complete", "run", "--pair", "virus", "bactrium", "--head", "virus"]);
    assert_eq!(code, 2);
    assert!(
        message.contains("there is no entity `bactrium`; did you mean `bacterium`")
            || message.contains("no entity `bactrium`") && message.contains("`bacterium`"),
        "{message}"
    );
    let pair = ["complete", "run", "--pair", "virus", "bacterium"];
    let (code, message) = fail(dir, &pair);
    assert_eq!(code, 2);
    assert!(message.contains("for which heads?"), "{message}");
    let (_, message) = fail(dir, &["complete", "run", "--head", "virus"]);
    assert!(message.contains("nothing to learn from"), "{message}");
    fs::write(dir.join("bad.tsv"), "virus\tbacterium\n\nvirus\n").unwrap();
    let (_, message) = fail(dir, &["complete", "run", "--support", "bad.tsv", "--head", "virus"]);
    assert!(message.contains("bad.tsv, line 3: expected head and tail"), "{message}");
    fs::write(dir.join("wrong.tsv"), "virus\tbacterium\n").unwrap();
    let (_, message) = fail(dir, &[&pair[..], &["--head", "virus", "--rejected", "wrong.tsv"]].concat());
    assert!(message.contains("in the support and among the rejected"), "{message}");
    let (_, message) = fail(dir, &[&pair[..], &["--head", "virus", "--precision", "0.9"]].concat());
    assert!(message.contains("too few examples to say"), "{message}");
    let (_, message) = fail(dir, &[&pair[..], &["--head", "virus", "--type", "city"]].concat());
    assert!(message.contains("the graph has no types"), "{message}");
    let (code, message) = fail(dir, &[&pair[..], &["--head", "virus", "--shard", "4/3"]].concat());
    assert_eq!(code, 2);
    assert!(message.contains("is not a part"), "{message}");
    let (_, message) = fail(dir, &["complete", "nowhere", "--head", "virus"]);
    assert!(message.contains("this is not a run"), "{message}");
    assert!(message.contains("hint: there is no directory nowhere"), "{message}");
}
