//! Measures the speed of training. Prints one line of JSON per epoch, which `benches/pretrain.py` reads.
//!
//! `cargo bench -p rana-embed --bench pretrain -- --data DIR --config FILE [--facts N] [--threads N]`;
//! the config is the TOML of an [`EmbedConfig`], and `--facts N` trains on the first N facts only.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::PathBuf;
use std::time::Instant;

use rana_embed::{Checkpoint, EmbedConfig, EpochReport, Hooks, Trainer, TrainingData};
use rana_graph::format::Source;
use rana_graph::{Duplicates, Graph, GraphBuilder, ImportOptions, import};

struct Arguments {
    data: PathBuf,
    config: EmbedConfig,
    facts: Option<usize>,
    threads: usize,
}

impl Arguments {
    fn read() -> Option<Self> {
        let (mut data, mut config, mut facts, mut threads) = (None, None, None, 2);
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--data" => data = Some(words.next()?.into()),
                "--config" => {
                    let text = std::fs::read_to_string(words.next()?).unwrap();
                    config = Some(toml::from_str(&text).unwrap());
                }
                "--facts" => facts = Some(words.next()?.parse().unwrap()),
                "--threads" => threads = words.next()?.parse().unwrap(),
                // Cargo passes this flag to benchmarks.
                "--bench" => {}
                other => panic!("unknown argument {other}"),
            }
        }
        Some(Self { data: data?, config: config?, facts, threads })
    }
}

/// The same entities and relations, with only the first facts.
fn shortened(graph: &Graph, facts: usize) -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Keep);
    for name in graph.entities().map(|entity| graph.entity_name(entity)) {
        builder.intern_entity(name);
    }
    for relation in 0..graph.relation_count() {
        builder.intern_relation(&relation.to_string());
    }
    for &fact in graph.facts().iter().take(facts) {
        builder.add(fact);
    }
    builder.finish()
}

fn main() {
    let Some(Arguments { data, config, facts, threads }) = Arguments::read() else {
        return println!("nothing measured: give --data and --config");
    };
    let mut graph = import(&[Source::Path(data)], &ImportOptions::default(), &()).unwrap().graph;
    if let Some(facts) = facts {
        graph = shortened(&graph, facts);
    }
    let data = TrainingData::new(&graph);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut trainer = Trainer::new(config, &data).unwrap();
        let mut last = Instant::now();
        let mut epoch_ended = |report: &EpochReport, _: &Checkpoint| {
            let seconds = last.elapsed().as_secs_f64();
            let line = serde_json::json!({
                "epoch": report.epoch,
                "seconds": seconds,
                "facts_per_second": data.facts().len() as f64 / seconds,
                "loss": report.loss,
            });
            println!("{line}");
            last = Instant::now();
        };
        trainer.run(Hooks { validate: None, observer: &(), epoch_ended: &mut epoch_ended }).unwrap();
    });
}
