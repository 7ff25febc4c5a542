//! How much memory and time `rana-fused` takes on a large graph, but for the training of vectors and of RANA.
//!
//! `cargo bench -p rana --bench fused_size -- KG`, for instance `rana synth --like wiki-one --out raw`, then `rana import raw
//! --out KG`. Vectors are random, with 50 numbers: what is measured does not depend on what they say.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;

use rana::fewshot::{FewShotModel, Support, first_k};
use rana::graph::{EntityId, Split, Store, Task};
use rana::models::fused::{Examples, FusedConfig, FusedModel, Sources};
use rana::models::training::{RunConfig, StartVectors};

const DIM: usize = 50;

fn main() {
    // Cargo itself says `--bench`.
    let Some(path) = std::env::args().skip(1).find(|arg| !arg.starts_with("--")) else {
        println!("say which graph: cargo bench -p rana --bench fused_size -- KG");
        return;
    };
    let start = Instant::now();
    let done = |what: &str| println!("{:6.1} s  {}  {what}", start.elapsed().as_secs_f64(), memory());
    let store = Store::open(&path).unwrap();
    let (graph, tasks) = (&store.graph, &store.tasks);
    println!("{} entities, {} facts", graph.entity_count(), graph.facts().len());
    let config = RunConfig::preset("rana", "nell-one-tuned").unwrap();
    let vectors = StartVectors::random(graph, DIM, 1);
    let products = StartVectors::random(graph, DIM, 2).entities;
    done("two tables of vectors");
    let fused = FusedConfig::default();
    let edges = Arc::new(fused.edges(graph, tasks));
    done("edges and names");
    let rana = config.model.model(&config.trainer, graph, DIM);
    let rana = rana.freeze(Arc::new(rana.initial(&vectors)));
    let sources = Sources::new(graph, edges).with_model(rana).with_products((*products).clone());
    done("sources of evidence");
    let train: Vec<Task<'_>> = tasks.of(Split::Train).collect();
    let examples = Examples::gather(&fused, &sources, tasks, &train).unwrap();
    done(&format!("examples of {} tasks", train.len()));
    let trusted = Examples::learn(&[&examples], &fused.evidence);
    done("trust");
    let model = FusedModel::new(sources, trusted);
    let mut queries = 0;
    for task in tasks.of(Split::Test) {
        let Ok(episode) = first_k(&task, 5) else { continue };
        let support = Support::of_task(&task, &episode.support, 0);
        let relation = model.adapt(&support).unwrap();
        let heads: Vec<EntityId> = episode.query.iter().map(|query| query.head).collect();
        for heads in heads.chunks(16) {
            let mut out = vec![0.0; heads.len() * task.candidates.len()];
            relation.scores(heads, task.candidates, &mut out);
        }
        queries += heads.len();
    }
    done(&format!("{queries} queries of the test tasks scored among all candidates"));
}

/// What the process holds, and held at most.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |field: &str| {
        let line = status.lines().find(|line| line.starts_with(field));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kilobytes.unwrap_or(0.0) / 1e6
    };
    format!("{:.2} GB, at most {:.2}", of("VmRSS"), of("VmHWM"))
}
