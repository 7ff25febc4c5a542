//! From files to answers by `rana learn` and `rana complete`, on RDF with IRIs and labels.

use std::fs;
use std::path::Path;

use crate::command::{fail, json, run, text};

/// Films with directors, countries, languages and studios; relations have labels, and two share their last part.
fn films() -> String {
    let mut lines = String::from("@prefix l: <http://www.w3.org/2000/01/rdf-schema#> .\n");
    let mut fact = |head: String, relation: &str, tail: String| {
        lines += &format!("<http://ex.org/{head}> <http://ex.org/{relation}> <http://ex.org/{tail}> .\n");
    };
    for film in 0..60 {
        let (country, studio) = (film % 6, film % 12);
        fact(format!("film{film}"), "direct/P495", format!("country{country}"));
        fact(format!("film{film}"), "direct/P57", format!("person{}", film % 15));
        fact(format!("film{film}"), "direct/P272", format!("studio{studio}"));
        if film % 3 == 0 {
            fact(format!("film{film}"), "direct/P364", format!("language{country}"));
        }
        if film % 4 == 0 {
            fact(format!("film{film}"), "other/P272", format!("studio{}", (studio + 1) % 12));
        }
    }
    for studio in 0..12 {
        fact(format!("studio{studio}"), "direct/P17", format!("country{}", studio % 6));
    }
    for country in 0..6 {
        fact(format!("country{country}"), "direct/P37", format!("language{country}"));
    }
    for (relation, label) in
        [("P495", "country of origin"), ("P364", "original language"), ("P37", "official language")]
    {
        lines += &format!("<http://ex.org/direct/{relation}> l:label \"{label}\"@en .\n");
    }
    lines + "<http://ex.org/film1> l:label \"The First Film\"@en .\n"
}

fn learned(dir: &Path) -> serde_json::Value {
    fs::write(dir.join("films.ttl"), films()).unwrap();
    json(dir, &["learn", "films.ttl", "--out", "learned"])
}

#[test]
fn a_relation_of_ones_own_graph_is_completed_by_two_commands() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let summary = learned(dir);
    let rows = summary["quality"]["rows"].as_array().unwrap();
    let chosen = summary["quality"]["chosen"].as_str().unwrap();
    let mrr = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap()["mrr"].as_f64().unwrap();
    assert!(rows.iter().all(|row| row["mrr"].as_f64().unwrap() <= mrr(chosen)), "{rows:?}");

    // By its label, by the last part of its IRI and by its whole name it is the same relation, learned from its own facts.
    let ask = |relation: &str| json(dir, &["complete", "learned", "--relation", relation, "--head", "film1"]);
    let answers = ask("P364");
    assert_eq!(answers["relation"]["name"], "http://ex.org/direct/P364");
    assert_eq!(answers["relation"]["in_graph"], true);
    assert_eq!(answers["relation"]["support"].as_array().unwrap().len(), 20);
    assert_eq!(answers, ask("original language"));
    assert_eq!(answers, ask("http://ex.org/direct/P364"));
    // A film in the language of its country.
    assert_eq!(answers["results"][0]["answers"][0]["tail"]["name"], "http://ex.org/language1");
    assert_eq!(answers["results"][0]["head"]["label"], "The First Film");

    // Bulk answers: the surest first, and heads without an answer are counted.
    let all = json(dir, &["complete", "learned", "--relation", "P364", "--plausible", "--top", "1"]);
    let sure = |of: &serde_json::Value| of["answers"][0]["confidence"].as_f64().unwrap();
    let sure: Vec<f64> = all["results"].as_array().unwrap().iter().map(sure).collect();
    assert!(sure.len() > 20 && sure.is_sorted_by(|one, other| one >= other), "{sure:?}");
    // Reasons and tables use labels, or short names if there are none.
    let why = text(
        &run(dir, &["complete", "learned", "--relation", "P364", "--head", "film1", "--reasons"]).stdout,
    );
    assert!(why.contains("language1 (http://ex.org/language1)"), "{why}");
    assert!(why.contains("(through country1)"), "{why}");
    let args = ["complete", "learned", "--relation", "P364", "--plausible", "--min-score", "1e9"];
    let shown = text(&run(dir, &args).stdout);
    assert!(shown.contains("heads have no answer") && !shown.contains("film"), "{shown}");
}

#[test]
fn a_name_that_may_mean_something_else_is_a_question() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    learned(dir);
    let complete = |more: &[&str]| fail(dir, &[&["complete", "learned"], more].concat());
    let (code, error) = complete(&["--relation", "P272", "--head", "film1"]);
    assert!(code == 2 && error.contains("several relations are called `P272`"), "{error}");
    assert!(error.contains("`http://ex.org/direct/P272`, `http://ex.org/other/P272`"), "{error}");
    let (code, error) = complete(&["--relation", "P36", "--pair", "film1", "language1", "--head", "film2"]);
    assert!(code == 2 && error.contains("there is no relation `P36` in the graph; did you mean"), "{error}");
    assert!(
        error.contains("`http://ex.org/direct/P364` (original language)") && error.contains("--new"),
        "{error}"
    );
    let new = [
        "complete",
        "learned",
        "--relation",
        "P36",
        "--new",
        "--pair",
        "film1",
        "language1",
        "--head",
        "film2",
    ];
    assert_eq!(json(dir, &new)["relation"]["in_graph"], false);

    // A file with a relation column is several relations: one of them must be named.
    let pairs = "film1\tP364\tlanguage1\nfilm2\tP364\tlanguage2\nfilm3\tP57\tperson3\n";
    fs::write(dir.join("pairs.tsv"), pairs).unwrap();
    let (code, error) = complete(&["--support", "pairs.tsv", "--head", "film4"]);
    assert!(code == 2 && error.contains("pairs of 2 relations: `P364`, `P57`"), "{error}");
    let one = [
        "complete",
        "learned",
        "--relation",
        "original language",
        "--support",
        "pairs.tsv",
        "--head",
        "film4",
    ];
    assert_eq!(json(dir, &one)["relation"]["support"].as_array().unwrap().len(), 2);
    // A file of one relation says which; commas and a header are read too.
    fs::write(
        dir.join("pairs.csv"),
        "object,predicate,subject\nlanguage1,P364,film1\nlanguage2,P364,film2\n",
    )
    .unwrap();
    let of_file = json(dir, &["complete", "learned", "--support", "pairs.csv", "--head", "film4"]);
    assert_eq!(of_file["relation"]["name"], "http://ex.org/direct/P364");
    assert_eq!(of_file["relation"]["support"].as_array().unwrap().len(), 2);
    let (code, error) = complete(&["--relation", "P57", "--support", "pairs.csv", "--head", "film4"]);
    assert!(code == 2 && error.contains("has pairs of `P364`, and --relation says `P57`"), "{error}");
    // A relation of the graph is not new.
    let known =
        ["--relation", "http://ex.org/direct/P57", "--new", "--pair", "film1", "person1", "--head", "film4"];
    let (code, error) = complete(&known);
    assert!(code == 2 && error.contains("is a relation of the graph. Leave out --new"), "{error}");
    let short = ["--relation", "P57", "--new", "--pair", "film1", "person1", "--head", "film4"];
    let (code, error) = complete(&short);
    assert!(code == 2 && error.contains("`P57` is a relation of the graph. Leave out --new"), "{error}");
    // Files without anything in them.
    fs::write(dir.join("empty.txt"), "").unwrap();
    let (code, error) = complete(&["--relation", "P364", "--support", "empty.txt", "--head", "film4"]);
    assert!(code == 2 && error.contains("empty.txt: there are no pairs in this file"), "{error}");
    let output = run(dir, &["complete", "learned", "--relation", "P364", "--heads", "empty.txt"]);
    assert!(text(&output.stderr).contains("no answer: there are no heads"), "{}", text(&output.stderr));
}

#[test]
fn what_would_surprise_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    learned(dir);
    let ask = |more: &[&str]| run(dir, &[&["complete", "learned", "--relation", "P364"], more].concat());
    // Which confidence a precision takes, and what was measured.
    let output = ask(&["--plausible", "--precision", "0.3"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("answers need a confidence of ") && said.contains("were right for relations left out"),
        "{said}"
    );
    // A head that is only plausible may not have the relation at all.
    assert!(said.contains("Some of these heads may not, so fewer answers may be right"), "{said}");
    let output = ask(&["--head", "film1", "--precision", "0.3"]);
    assert!(!text(&output.stderr).contains("Some of these heads"), "{}", text(&output.stderr));
    let answers =
        json(dir, &["complete", "learned", "--relation", "P364", "--plausible", "--precision", "0.3"]);
    let measured = &answers["relation"]["precision"]["measured"];
    let number = |field: &str| measured[field].as_f64().unwrap();
    assert!(number("precision") - number("error") >= 0.3 && number("answers") >= 20.0, "{measured}");
    // What is asked is said as it was written.
    assert_eq!(answers["relation"]["precision"]["wanted"], 0.3);
    let asks = ["complete", "learned", "--relation", "P364", "--plausible", "--precision", "0.99999"];
    let (code, error) = fail(dir, &asks);
    assert!(code == 2 && error.contains("promises a precision of 0.99999 by"), "{error}");
    // Nothing that is sure enough.
    let output = ask(&["--head", "film1", "--min-confidence", "1", "--out", "none.tsv"]);
    let said = text(&output.stderr);
    assert!(said.contains("no answer is that sure: 100 % is needed, and the surest has "), "{said}");
    assert_eq!(
        fs::read_to_string(dir.join("none.tsv")).unwrap().lines().count(),
        1,
        "a header and no answer"
    );
    // The name of a file says its format, or --format does.
    let (code, error) =
        fail(dir, &["complete", "learned", "--relation", "P364", "--head", "film1", "--out", "x.doc"]);
    assert!(code == 2 && error.contains("its name does not say in which format"), "{error}");
    // Tails where heads should be.
    let swapped = ["--pair", "language1", "film1", "--pair", "language2", "film2", "--head", "film4"];
    let said = text(&ask(&swapped).stderr);
    assert!(said.contains("Are head and tail of the examples swapped?"), "{said}");
    let straight = ["--pair", "film1", "language1", "--pair", "film2", "language2", "--head", "film4"];
    assert!(!text(&ask(&straight).stderr).contains("swapped"));
}

#[test]
fn what_learn_was_told_is_kept_to() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    learned(dir);
    // The same again only opens; another seed is another result.
    learned(dir);
    let (_, error) = fail(dir, &["learn", "films.ttl", "--out", "learned", "--seed", "1"]);
    assert!(error.contains("this was learned with another seed. Choose"), "{error}");
    let (code, error) = fail(dir, &["learn", "films.ttl", "--out", "other", "--memory", "much"]);
    assert!(code == 2 && error.contains("is not a size"), "{error}");
    let (_, error) = fail(dir, &["learn", "films.ttl", "--out", "other", "--memory", "1K"]);
    assert!(error.contains("the graph alone needs about"), "{error}");
    // A budget too short for vectors leaves the evidence in the graph.
    let summary = json(dir, &["learn", "films.ttl", "--out", "quick", "--budget", "1ms"]);
    let rows = summary["quality"]["rows"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|row| row["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["learned", "rules", "popularity"]
    );
    assert!(!dir.join("quick/vectors").exists());
    json(dir, &["complete", "quick", "--relation", "P364", "--head", "film1"]);
    // A relation that is left out is a test task.
    json(dir, &["learn", "films.ttl", "--out", "without", "--leave-out", "original language"]);
    let card = text(&run(dir, &["eval", "without", "--draws", "0", "--json"]).stdout);
    assert!(card.contains("\"relation\": \"http://ex.org/direct/P364\""), "{card}");
}

#[test]
fn heads_pairs_and_relations_are_answered_too() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let facts: String = (0..30)
        .flat_map(|at| {
            let (person, town, land) = (format!("p{at}"), format!("t{}", at % 6), format!("l{}", at % 3));
            [
                format!("{person}\tlives_in\t{town}\n"),
                format!("{person}\tborn_in\t{town}\n"),
                format!("{person}\tcitizen_of\t{land}\n"),
                format!("{town}\tlies_in\t{land}\n"),
            ]
        })
        .collect();
    std::fs::write(dir.join("facts.tsv"), facts).unwrap();
    run(dir, &["learn", "facts.tsv", "--out", "learned", "--quiet"]);

    let heads = json(dir, &["complete", "learned", "--relation", "lives_in", "--tail", "t1", "--top", "3"]);
    assert_eq!((&heads["direction"], &heads["results"][0]["tail"]["name"]), (&"heads".into(), &"t1".into()));
    let answers = heads["results"][0]["answers"].as_array().unwrap();
    assert!(answers.len() == 3 && answers.iter().all(|answer| answer["head"]["name"].is_string()), "{heads}");
    // As data, facts stand in their own order.
    let asked =
        ["complete", "learned", "--relation", "lives_in", "--tail", "t1", "--top", "2", "--format", "tsv"];
    let lines = text(&run(dir, &asked).stdout);
    assert!(lines.lines().skip(1).all(|line| line.contains("\tlives_in\tt1\t")), "{lines}");

    let pair =
        ["complete", "learned", "--relation", "lives_in", "--head", "p1", "--tail", "t1", "--tail", "t2"];
    let judged = json(dir, &pair);
    let answers = judged["results"][0]["answers"].as_array().unwrap();
    let of = |name: &str| answers.iter().find(|answer| answer["tail"]["name"] == name).unwrap();
    assert!(answers.len() == 2 && of("t1")["known"] == true && of("t2")["known"] == false, "{judged}");

    let related = json(dir, &["relate", "learned", "p1", "t1"]);
    let relations = related["relations"].as_array().unwrap();
    let known = |name: &str| relations.iter().any(|of| of["relation"] == name && of["known"] == true);
    assert!(known("lives_in") && known("born_in"), "{related}");
    std::fs::write(dir.join("pairs.tsv"), "p2\tt2\np3\tt3\np4\tt4\n").unwrap();
    let new =
        ["relate", "learned", "p1", "t1", "--new", "works_in", "--support", "pairs.tsv", "--exclude-known"];
    let related = json(dir, &new);
    let relations = related["relations"].as_array().unwrap();
    assert!(relations.iter().any(|of| of["relation"] == "works_in" && of["in_graph"] == false), "{related}");
    assert!(relations.iter().all(|of| of["relation"] != "lives_in"), "{related}");
    let printed = text(&run(dir, &new).stdout);
    assert!(printed.contains("p1 → t1") && printed.contains("works_in"), "{printed}");
    let (code, message) = fail(dir, &["relate", "learned", "p1", "nowhere"]);
    assert!(code == 2 && message.contains("no entity `nowhere`"), "{message}");
}

#[test]
fn new_facts_are_discovered_without_a_question() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let facts: String = (0..40)
        .filter(|at| *at != 9)
        .map(|at| format!("p{at}\tmarried\tp{}\np{at}\tlives_in\tt{}\n", at ^ 1, (at / 2) % 7))
        .collect();
    fs::write(dir.join("facts.tsv"), facts).unwrap();
    run(dir, &["learn", "facts.tsv", "--out", "learned", "--budget", "1ms", "--quiet"]);

    let found = json(dir, &["discover", "learned"]);
    let first = &found["facts"][0];
    let name = |end: &str| first[end]["name"].as_str().unwrap().to_owned();
    assert_eq!((name("head").as_str(), first["relation"].as_str().unwrap()), ("p9", "married"), "{found}");
    assert!(name("tail") == "p8" && first["confidence"].as_f64().unwrap() > 0.8, "{found}");
    let printed = text(&run(dir, &["discover", "learned", "--top", "1"]).stdout);
    assert!(printed.contains("p9 · married · p8") && printed.contains("married⁻¹"), "{printed}");

    let account = json(dir, &["discover", "learned", "--top", "5", "--out", "new.tsv"]);
    assert!(account["relations"] == 2 && account["listed"].as_u64().unwrap() <= 5, "{account}");
    let lines = fs::read_to_string(dir.join("new.tsv")).unwrap();
    assert!(lines.lines().nth(1).unwrap().starts_with("p9\tmarried\tp8\t1\t"), "{lines}");
    assert!(!dir.join("new.tsv.parts").exists());
    run(dir, &["import", "facts.tsv", "--out", "kg", "--quiet"]);
    assert_eq!(json(dir, &["discover", "kg"]), found, "nothing learned is needed");
    let only = json(dir, &["discover", "learned", "--relation", "lives_in"]);
    assert!(only["facts"].as_array().unwrap().iter().all(|fact| fact["relation"] == "lives_in"), "{only}");
    let (code, message) = fail(dir, &["discover", "learned", "--min-confidence", "7"]);
    assert!(code == 2 && message.contains("is not a share"), "{message}");
}
