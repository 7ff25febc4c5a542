//! Malformed bytes never panic: every reader gets thousands of randomly damaged files.
//!
//! `RANA_MUTATIONS` sets how many damaged files each format gets (600 by default).
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Write;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use rana_graph::format::{FactFormat, Format, Source, export_facts, export_release};
use rana_graph::{Duplicates, GraphBuilder, ImportOptions, Pair, Split, Store, TaskSetBuilder, import};

fn mutations() -> u64 {
    std::env::var("RANA_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(600)
}

/// Damages a file in one of the ways files get damaged.
fn mutate(content: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = content.to_vec();
    for _ in 0..rng.random_range(1..4) {
        if bytes.is_empty() {
            bytes.push(rng.random());
        }
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..6) {
            0 => bytes[at] = rng.random(),
            1 => bytes[at] ^= 1 << rng.random_range(0..8),
            2 => bytes.truncate(at),
            3 => bytes
                .insert(at, *b"\0\xff<>\"'\\{}[],.:;@^_\t\n".get(rng.random_range(0..20)).unwrap_or(&b' ')),
            4 => {
                let end = (at + rng.random_range(1..32)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + rng.random_range(1..64)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = rng.random_range(0..=bytes.len());
                bytes.splice(to..to, copy);
            }
        }
    }
    bytes
}

/// Imports damaged copies of a file, strictly and leniently. Any outcome but a panic will do.
fn survive(name: &str, format: Option<Format>, content: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    let mut rng = ChaCha8Rng::seed_from_u64(name.len() as u64);
    let mut refused = 0;
    for round in 0..mutations() {
        std::fs::write(&path, mutate(content, &mut rng)).unwrap();
        let options = ImportOptions { format, lenient: round % 2 == 0, ..Default::default() };
        refused += u64::from(import(&[Source::Path(path.clone())], &options, &()).is_err());
    }
    assert!(refused > 0, "{name}: no damage was ever noticed, which is hard to believe");
}

const TURTLE: &str = r#"@prefix : <http://ex.org/> .
:paris a :City ; :capital_of :france , [ :name "Gaule"@fr ] ; :population 2100000, 2.1e6, true .
:lyon :list ( :a "b" 'c' """long "text" """ ) ; :located_in <relative> .
"#;

fn serialised(format: oxrdfio::RdfFormat) -> Vec<u8> {
    let mut writer = oxrdfio::RdfSerializer::from_format(format).for_writer(Vec::new());
    let parser =
        oxrdfio::RdfParser::from_format(oxrdfio::RdfFormat::Turtle).with_base_iri("http://ex.org/").unwrap();
    for quad in parser.for_slice(TURTLE.as_bytes()) {
        writer.serialize_quad(&quad.unwrap()).unwrap();
    }
    writer.finish().unwrap()
}

fn lines() -> String {
    (0..60).map(|n| format!("entity {n},\"relation, {}\",entity {}\n", n % 5, n * 7 % 60)).collect()
}

#[test]
fn delimited_text() {
    let csv = lines();
    survive("a.csv", None, csv.as_bytes());
    survive("a.tsv", None, csv.replace("\",", "\t").replace(",\"", "\t").as_bytes());
    survive("no_name", None, format!("head,relation,tail\n{csv}").as_bytes());
}

#[test]
fn rdf() {
    use oxrdfio::RdfFormat;
    survive("a.ttl", None, TURTLE.as_bytes());
    survive("a.trig", None, format!("{TURTLE}\n:g {{ :x :y :z }}\n").as_bytes());
    survive("a.nt", None, &serialised(RdfFormat::NTriples));
    survive("a.nq", None, &serialised(RdfFormat::NQuads));
    survive("a.rdf", None, &serialised(RdfFormat::RdfXml));
}

#[test]
fn compressed() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(lines().as_bytes()).unwrap();
    survive("a.csv.gz", None, &encoder.finish().unwrap());
    survive("a.csv.zst", None, &zstd::encode_all(lines().as_bytes(), 3).unwrap());
}

#[test]
fn parquet() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for n in 0..60 {
        builder.add_named(&format!("e{n}"), &format!("r{}", n % 5), &format!("e{}", n * 7 % 60));
    }
    let graph = builder.finish();
    let mut file = Vec::new();
    export_facts(&graph, graph.facts(), FactFormat::Parquet, &mut file).unwrap();
    survive("a.parquet", None, &file);
    survive("b.parquet", Some(Format::Parquet), &file);
}

/// A graph with tasks, exported as a release or written as a store.
fn benchmark() -> (rana_graph::Graph, rana_graph::TaskSet) {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for n in 0..30 {
        builder.add_named(
            &format!("concept:t{}:e{n}", n % 3),
            &format!("r{}", n % 5),
            &format!("concept:t0:e{}", n * 7 % 30),
        );
    }
    builder.add_task_relation("likes").unwrap();
    let graph = builder.finish();
    let likes = graph.relation("likes").unwrap();
    let mut tasks = TaskSetBuilder::default();
    let pairs = graph.facts()[..9].iter().map(|fact| Pair { head: fact.tail, tail: fact.head }).collect();
    tasks.add_task(Split::Train, likes, pairs);
    tasks.add_candidates(likes, graph.entities().take(12).collect());
    tasks.filter_from_tasks();
    (graph, tasks.finish())
}

#[test]
fn release_directories() {
    let (graph, tasks) = benchmark();
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("release");
    export_release(&release, &graph, &tasks).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let files: Vec<_> = std::fs::read_dir(&release).unwrap().map(|entry| entry.unwrap().path()).collect();
    for file in &files {
        let content = std::fs::read(file).unwrap();
        let mut refused = 0;
        for round in 0..mutations() / 4 {
            std::fs::write(file, mutate(&content, &mut rng)).unwrap();
            let options = ImportOptions { lenient: round % 2 == 0, ..Default::default() };
            refused += u64::from(import(&[Source::Path(release.clone())], &options, &()).is_err());
        }
        let empty_object = content.len() < 3;
        assert!(refused > 0 || empty_object, "{}: no damage was ever noticed", file.display());
        std::fs::write(file, content).unwrap();
    }
}

#[test]
fn stores() {
    let (graph, tasks) = benchmark();
    let dir = tempfile::tempdir().unwrap();
    Store::write(dir.path(), &graph, &tasks, Vec::new()).unwrap();
    let data =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let mut files: Vec<_> =
        std::fs::read_dir(data.unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.push(dir.path().join("manifest.json"));
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for file in &files {
        let content = std::fs::read(file).unwrap();
        for _ in 0..mutations() / 20 {
            let damaged = mutate(&content, &mut rng);
            std::fs::remove_file(file).unwrap();
            std::fs::write(file, &damaged).unwrap();
            if let Ok(store) = Store::open(dir.path()) {
                assert!(store.graph == graph && store.tasks == tasks, "{}: a wrong answer", file.display());
            }
        }
        std::fs::remove_file(file).unwrap();
        std::fs::write(file, content).unwrap();
    }
}
