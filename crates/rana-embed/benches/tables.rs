//! How long it takes to write and open vectors of the size of Wiki-One: 4.8 million entities, d = 50.
//!
//! `cargo bench -p rana-embed --bench tables`; needs 2 GB of memory and 1 GB on the disk.
#![allow(missing_docs, clippy::unwrap_used)]

use std::time::Instant;

use rana_embed::{EmbeddingMetadata, EmbeddingSet, Table};
use rana_graph::{Duplicates, GraphBuilder};

const ENTITIES: usize = 4_800_000;
const DIM: usize = 50;

fn main() {
    let mut builder = GraphBuilder::new(Duplicates::Keep);
    for entity in 0..ENTITIES {
        builder.intern_entity(&format!("Q{entity}"));
    }
    builder.add_named("Q1", "P31", "Q2");
    let graph = builder.finish();
    let table = |rows: usize| {
        let values: Vec<f32> = (0..rows * DIM).map(|at| (at % 1009) as f32 / 1009.0).collect();
        Table::new(rows, DIM, values).unwrap()
    };
    let dir = tempfile::tempdir().unwrap();
    let timed = |what: &str, seconds: f64| println!("{what}: {seconds:.3} s");

    let start = Instant::now();
    let fingerprint = graph.fingerprint();
    timed(&format!("fingerprint {fingerprint:016x}"), start.elapsed().as_secs_f64());
    let (entities, relations) = (table(ENTITIES), table(1));
    let start = Instant::now();
    let set = EmbeddingSet::new(&graph, entities, relations, EmbeddingMetadata::default()).unwrap();
    timed("check", start.elapsed().as_secs_f64());
    let start = Instant::now();
    set.write(dir.path()).unwrap();
    timed("write and sync", start.elapsed().as_secs_f64());
    drop(set);
    let start = Instant::now();
    let set = EmbeddingSet::open(dir.path(), &graph).unwrap();
    timed("open", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let norms = set.entities.norms().unwrap();
    timed(&format!("norms (mean {:.3})", norms.mean), start.elapsed().as_secs_f64());
}
