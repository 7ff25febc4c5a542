//! [`Target`]: what is attacked, and one case of it.

use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use rana::Predictor;
use rana::embed::format::{TableFormat, write_table};
use rana::embed::{EmbeddingSet, FixedRows, Table};
use rana::graph::format::{Format, Source};
use rana::graph::{ImportOptions, Pair, Store, import};
use rana::predictor::{AnswerLimits, RelationRequest};
use rana::sweep::SweepPlan;
use rana_server::{Limits, Server, ServerConfig, ServerSettings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fixture::{Fixture, NAMES};
use crate::generate;
use crate::mutate::mutate;

/// What is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub(crate) enum Target {
    Tsv,
    Csv,
    NTriples,
    NQuads,
    Turtle,
    TriG,
    RdfXml,
    Parquet,
    Compressed,
    Noise,
    Store,
    Vectors,
    Run,
    Journal,
    Requests,
    Plan,
    Rows,
}

/// What became of a case that ended as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Accepted,
    Refused,
}

impl Target {
    /// The name of the file that an input is imported from, and its format.
    fn file(self) -> Option<(&'static str, Option<Format>)> {
        Some(match self {
            Self::Tsv => ("facts.tsv", None),
            Self::Csv => ("facts.csv", None),
            Self::NTriples => ("facts.nt", None),
            Self::NQuads => ("facts.nq", None),
            Self::Turtle => ("facts.ttl", None),
            Self::TriG => ("facts.trig", None),
            Self::RdfXml => ("facts.rdf", None),
            Self::Parquet => ("facts.parquet", Some(Format::Parquet)),
            Self::Compressed => ("facts.nt.zst", None),
            Self::Noise => ("facts", None),
            _ => return None,
        })
    }

    fn rng(self, seed: u64, case: u64) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&case.to_le_bytes());
        key[16] = self as u8;
        ChaCha8Rng::from_seed(key)
    }

    /// The input of a case.
    pub(crate) fn input(self, seed: u64, case: u64) -> Vec<u8> {
        let rng = &mut self.rng(seed, case);
        let mut bytes = match self {
            Self::Tsv => generate::rows(rng, "\t"),
            Self::Csv => {
                let delimiter = [",", ";", "|"][rng.random_range(0..3)];
                generate::rows(rng, delimiter)
            }
            Self::NTriples => generate::lines(rng, false),
            Self::NQuads => generate::lines(rng, true),
            Self::Turtle => generate::turtle(rng, false),
            Self::TriG => generate::turtle(rng, true),
            Self::RdfXml => generate::xml(rng),
            Self::Parquet => parquet(),
            Self::Compressed => compressed(rng),
            Self::Noise => generate::noise(rng),
            Self::Store | Self::Vectors | Self::Run => {
                self.damaged_file(rng).map(|(_, bytes)| bytes).unwrap_or_default()
            }
            Self::Journal => generate::journal(rng, &NAMES),
            Self::Requests => generate::request(rng, &NAMES),
            Self::Plan => generate::plan(rng),
            Self::Rows => rows(rng, case),
        };
        let always = matches!(self, Self::Parquet | Self::Compressed);
        if always || rng.random_bool(0.4) {
            mutate(&mut bytes, rng);
        }
        bytes
    }

    /// A file of the fixture to damage, and its content.
    fn damaged_file(self, rng: &mut ChaCha8Rng) -> Option<(PathBuf, Vec<u8>)> {
        let below = match self {
            Self::Store => "graph",
            Self::Vectors => "vectors",
            _ => "",
        };
        let files = Fixture::made()?.files(below);
        let file = files.get(rng.random_range(0..files.len().max(1)))?.clone();
        let bytes = fs::read(&file).ok()?;
        Some((file, bytes))
    }

    /// What all cases of a worker share.
    pub(crate) fn prepare(self, dir: &Path) -> State {
        let server = (self == Self::Requests).then(|| serve(dir));
        State { target: self, dir: dir.to_owned(), server }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().as_ref().map_or("", PossibleValue::get_name))
    }
}

/// A worker's directory, and its server if it has one.
pub(crate) struct State {
    target: Target,
    dir: PathBuf,
    server: Option<SocketAddr>,
}

impl State {
    /// Runs a case. A panic ends the process.
    pub(crate) fn run(&mut self, seed: u64, case: u64) -> Outcome {
        let bytes = self.target.input(seed, case);
        let is_accepted = match self.target {
            Target::Store | Target::Vectors | Target::Run => self.open_damaged(seed, case, &bytes),
            Target::Journal => self.open_journal(&bytes),
            Target::Requests => self.request(case, &bytes),
            Target::Plan => {
                let text = String::from_utf8_lossy(&bytes);
                SweepPlan::of_text(&text).is_ok_and(|plan| plan.configurations().is_ok())
            }
            Target::Rows => self.read_rows(case, &bytes),
            _ => self.import(case, &bytes),
        };
        if is_accepted { Outcome::Accepted } else { Outcome::Refused }
    }

    fn import(&self, case: u64, bytes: &[u8]) -> bool {
        let (name, format) = self.target.file().unwrap_or(("facts", None));
        let path = self.dir.join(name);
        fs::write(&path, bytes).expect("the disk has room for an input");
        let options = ImportOptions { format, lenient: case.is_multiple_of(2), ..ImportOptions::default() };
        let Ok(imported) = import(&[Source::from(path)], &options, &()) else { return false };
        // What was read can be written and opened again.
        if case.is_multiple_of(16) {
            let store = self.dir.join("store");
            Store::write(&store, &imported.graph, &imported.tasks, imported.inputs)
                .expect("a graph can be written");
            Store::open(&store).expect("a store that was just written can be opened");
            fs::remove_dir_all(&store).expect("a store can be removed");
        }
        true
    }

    /// Opens a copy of the fixture in which one file is replaced.
    fn open_damaged(&self, seed: u64, case: u64, bytes: &[u8]) -> bool {
        let Some(fixture) = Fixture::made() else { return false };
        let rng = &mut self.target.rng(seed, case);
        let Some((file, _)) = self.target.damaged_file(rng) else { return false };
        let copy = self.dir.join("copy");
        let _ = fs::remove_dir_all(&copy);
        fixture.copy_to(&copy).expect("the disk has room for a copy");
        let inside = file.strip_prefix(&fixture.path).unwrap_or(&file);
        fs::write(copy.join(inside), bytes).expect("a file of a copy can be written");
        let Ok(store) = Store::open(copy.join("graph")) else { return false };
        if self.target == Target::Vectors {
            let mut sets = fs::read_dir(copy.join("vectors")).into_iter().flatten().flatten();
            return sets.all(|set| EmbeddingSet::open(set.path(), &store.graph).is_ok());
        }
        let Ok(predictor) = Predictor::open(&copy, None) else { return false };
        let graph = predictor.graph();
        let support =
            graph.facts().iter().take(5).map(|fact| Pair { head: fact.head, tail: fact.tail }).collect();
        let Ok(learned) = predictor.learn(RelationRequest { support, ..RelationRequest::default() }) else {
            return false;
        };
        graph.entities().take(3).for_each(|head| drop(learned.complete(head, &AnswerLimits::default())));
        true
    }

    fn open_journal(&self, bytes: &[u8]) -> bool {
        let Some(fixture) = Fixture::made() else { return false };
        let path = self.dir.join("decisions.jsonl");
        fs::write(&path, bytes).expect("the disk has room for a journal");
        let predictor = Predictor::open(&fixture.path, None).expect("the fixture can be opened");
        let opened = Server::bind(predictor, config(path.clone()));
        if opened.is_err() && !bytes.is_empty() {
            let kept = fs::read(&path).expect("a refused file is still there");
            assert!(kept == bytes, "a refused file was changed");
        }
        opened.is_ok()
    }

    /// Reads rows that another program made, of entities or of relations.
    fn read_rows(&self, case: u64, bytes: &[u8]) -> bool {
        let Some(fixture) = Fixture::made() else { return false };
        let store = Store::open(fixture.path.join("graph")).expect("the fixture can be opened");
        let path = self.dir.join(row_file(case));
        fs::write(&path, bytes).expect("the disk has room for rows");
        match case.is_multiple_of(3) {
            true => FixedRows::default().with_relations(&path, &store.graph).is_ok(),
            false => FixedRows::default().with_entities(&path, &store.graph).is_ok(),
        }
    }

    fn request(&self, case: u64, body: &[u8]) -> bool {
        let Some(address) = self.server else { return false };
        let path = ["/v1/complete", "/v1/explain", "/v1/decisions"][case as usize % 3];
        let mut stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket has a timeout");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        // A body that is too large is refused before it is read.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let status = answer.get(9..12).and_then(|status| std::str::from_utf8(status).ok());
        let status: u16 = status.and_then(|status| status.parse().ok()).unwrap_or(413);
        assert!(status < 500 || status == 503, "status {status}");
        status < 300
    }
}

fn config(decisions: PathBuf) -> ServerConfig {
    let settings = ServerSettings {
        address: "127.0.0.1:0".to_owned(),
        token: None,
        decisions,
        limits: Limits { request_seconds: 8, ..Limits::default() },
    };
    ServerConfig::new(settings).expect("these settings are right")
}

/// Starts a server of the fixture.
fn serve(dir: &Path) -> SocketAddr {
    let fixture = Fixture::made().expect("workers have a fixture");
    let predictor = Predictor::open(&fixture.path, None).expect("the fixture can be opened");
    let server = Server::bind(predictor, config(dir.join("decisions.jsonl"))).expect("a free port");
    let address = server.address();
    std::thread::spawn(move || server.run_until(std::future::pending()));
    address
}

/// A small Parquet file.
fn parquet() -> Vec<u8> {
    use rana::graph::format::{FactFormat, export_facts};
    let mut builder = rana::graph::GraphBuilder::new(rana::graph::Duplicates::Remove);
    for at in 0..40 {
        builder.add_named(&format!("e{at}"), "r", &format!("e{}", at % 7));
    }
    let graph = builder.finish();
    let mut bytes = Vec::new();
    export_facts(&graph, graph.facts(), FactFormat::Parquet, &mut bytes).expect("memory takes a file");
    bytes
}

/// N-Triples behind the frame header of zstd, uncompressed blocks or damaged.
fn compressed(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let text = generate::lines(rng, false);
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x00];
    bytes.extend((text.len() as u32).to_le_bytes());
    let mut blocks = text.chunks(100_000).peekable();
    while let Some(block) = blocks.next() {
        let header = u32::from(blocks.peek().is_none()) | (block.len() as u32) << 3;
        bytes.extend(&header.to_le_bytes()[..3]);
        bytes.extend(block);
    }
    bytes
}

/// The name of the file of rows of a case; its extension is its format. Half of them are text.
fn row_file(case: u64) -> &'static str {
    ["rows.tsv", "rows.npy", "rows.vec", "rows.safetensors"][case as usize % 4]
}

/// Rows of the fixture's 23 entities or four relations in a format of vectors.
fn rows(rng: &mut ChaCha8Rng, case: u64) -> Vec<u8> {
    if row_file(case) == "rows.tsv" {
        return generate::named_rows(rng);
    }
    let count = if case.is_multiple_of(3) { 4 << rng.random_range(0..2) } else { 23 };
    let dim = 1 + generate::count(rng, 20_000);
    let values: Vec<f32> = (0..count * dim).map(|_| f32::from_bits(rng.random())).map(usual).collect();
    let table = Table::new(count, dim, values).expect("as many values as rows need");
    let dir = tempfile::tempdir().expect("a directory for rows");
    let path = dir.path().join(row_file(case));
    let format = TableFormat::of(&path).expect("the extension is that of a format");
    write_table(&path, format, "rows", &table).expect("the disk has room for rows");
    fs::read(&path).expect("a file that was just written can be read")
}

/// Most numbers of real vectors are small; some stay what they are.
fn usual(value: f32) -> f32 {
    if value.is_finite() && value.abs() < 1e30 { value } else { 0.5 }
}
