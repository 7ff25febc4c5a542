//! How long it takes to make and ask an index of names of the size of Wiki-One: 4.8 million entities with labels.
//!
//! `cargo bench -p rana --bench search [ENTITIES]`; needs 3 GB of memory.
#![allow(missing_docs, clippy::unwrap_used)]

use std::time::Instant;

use rana::graph::{Duplicates, EntityId, Fact, Graph, GraphBuilder, LabelRank, keyed_rng};
use rana::search::NameIndex;
use rand::RngExt;

const ENTITIES: usize = 4_800_000;
/// Words that labels are made of; some are in many, most are in few, as in a language.
const WORDS: usize = 400_000;
const QUERIES: usize = 2000;

fn main() {
    let entities = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(ENTITIES);
    let mut rng = keyed_rng([1, 0, 0, 0]);
    let words: Vec<String> = (0..WORDS).map(|_| word(&mut rng)).collect();
    let graph = graph(entities, &words, &mut rng);
    let start = Instant::now();
    let index = NameIndex::new(&graph);
    println!("index of {entities} entities: {:.1} s", start.elapsed().as_secs_f64());
    println!("memory: {}", memory());

    let labels: Vec<&str> = (0..QUERIES)
        .map(|_| graph.entity_label(EntityId(rng.random_range(0..entities as u32))).unwrap())
        .collect();
    let last = |label: &str| label.rsplit(' ').next().unwrap().to_owned();
    let misspelled = |text: &str| {
        let at = text.len() / 2;
        format!("{}{}{}", &text[..at], "x", &text[at + 1..])
    };
    let queries: [(&str, Vec<String>); 9] = [
        ("whole label", labels.iter().map(|&label| label.to_owned()).collect()),
        ("name", (0..QUERIES).map(|n| format!("Q{}", n * 7 % entities)).collect()),
        ("one letter", labels.iter().map(|label| label[..1].to_owned()).collect()),
        ("three letters", labels.iter().map(|label| label[..3].to_owned()).collect()),
        ("three letters of a later word", labels.iter().map(|label| last(label)[..3].to_owned()).collect()),
        ("misspelled label", labels.iter().map(|label| misspelled(label)).collect()),
        ("misspelled word", labels.iter().map(|label| misspelled(&last(label))).collect()),
        ("two misspelled words", labels.iter().map(|label| two(label, misspelled)).collect()),
        ("nothing that there is", labels.iter().map(|label| label.chars().rev().collect()).collect()),
    ];
    for (what, queries) in queries {
        let mut found = 0;
        let mut times: Vec<f64> = queries
            .iter()
            .map(|query| {
                let start = Instant::now();
                found += usize::from(!index.find(&graph, query, 10).is_empty());
                start.elapsed().as_secs_f64() * 1000.0
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
        println!(
            "{what}: median {:.3} ms, 99 of 100 within {:.3} ms, all within {:.3} ms; {found} of {} found something",
            at(0.5),
            at(0.99),
            at(1.0),
            queries.len()
        );
    }
}

fn word(rng: &mut impl RngExt) -> String {
    const ONSETS: [&str; 20] = [
        "b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "st", "tr",
        "sh",
    ];
    const NUCLEI: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "ou", "ai"];
    const CODAS: [&str; 8] = ["", "", "", "n", "r", "s", "l", "t"];
    let syllables = rng.random_range(1..=4);
    let mut pick = |of: &[&'static str]| of[rng.random_range(0..of.len())];
    let mut word = String::new();
    for _ in 0..syllables {
        for of in [&ONSETS[..], &NUCLEI, &CODAS] {
            word += pick(of);
        }
    }
    // Long enough for every kind of query.
    if word.len() < 3 { word + "den" } else { word }
}

fn graph(entities: usize, words: &[String], rng: &mut impl RngExt) -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Keep);
    for entity in 0..entities {
        let name = format!("Q{entity}");
        builder.intern_entity(&name);
        let count = rng.random_range(1..=4);
        // Frequent words are those at the front.
        let mut pick = || {
            let share: f64 = rng.random_range(0.0..1.0);
            words[(share.powi(4) * words.len() as f64) as usize].as_str()
        };
        let label: Vec<&str> = (0..count).map(|_| pick()).collect();
        builder.add_label(&name, &label.join(" "), LabelRank::Wanted);
    }
    let relation = builder.intern_relation("knows");
    let mut pick = || EntityId(rng.random_range(0..entities as u32));
    for _ in 0..entities {
        builder.add(Fact { head: pick(), relation, tail: pick() });
    }
    builder.finish()
}

fn two(label: &str, misspelled: impl Fn(&str) -> String) -> String {
    label
        .split(' ')
        .enumerate()
        .map(|(n, word)| if n < 2 { misspelled(word) } else { word.to_owned() })
        .collect::<Vec<_>>()
        .join(" ")
}

fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"))
        .collect::<Vec<_>>()
        .join(", ")
}
