//! How long it takes to rank both ends of all test facts of FB15k-237 with vectors of dimension 100.
//!
//! `cargo bench -p rana-embed --bench link_prediction`. The vectors are random: the time does not depend on their
//! values.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::HashSet;
use std::ops::Range;
use std::time::Instant;

use rana_embed::Side;
use rana_embed::link_prediction::{
    KnownAnswers, LinkPrediction, LinkPredictionSettings, LinkQuery, LinkScorer,
};
use rana_graph::format::Source;
use rana_graph::{HeldOut, ImportOptions, import};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

#[path = "../../../tests/datasets.rs"]
mod datasets;

const DIM: usize = 100;
/// How many queries are scored each time a candidate row is read.
const TOGETHER: usize = 4;
const LANES: usize = 20;

/// TransE: minus the squared distance between `h + r` and `t`.
struct Translation {
    entities: Vec<[f32; DIM]>,
    relations: Vec<[f32; DIM]>,
}

impl Translation {
    fn target(&self, query: LinkQuery) -> [f32; DIM] {
        let sign = if query.side == Side::Tail { 1.0 } else { -1.0 };
        let (anchor, relation) =
            (&self.entities[query.anchor.index()], &self.relations[query.relation.number()]);
        std::array::from_fn(|at| anchor[at] + sign * relation[at])
    }
}

fn closeness(target: &[f32; DIM], row: &[f32; DIM]) -> f32 {
    // Several sums, so that the compiler can use vector instructions.
    let mut sums = [0.0f32; LANES];
    for (target, row) in target.chunks_exact(LANES).zip(row.chunks_exact(LANES)) {
        for lane in 0..LANES {
            let difference = target[lane] - row[lane];
            sums[lane] += difference * difference;
        }
    }
    -sums.iter().sum::<f32>()
}

impl LinkScorer for Translation {
    fn relations(&self) -> usize {
        usize::MAX
    }
    fn entities(&self) -> usize {
        self.entities.len()
    }

    fn scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) {
        let count = candidates.len();
        for (queries, out) in queries.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER * count)) {
            let targets: Vec<_> = queries.iter().map(|query| self.target(*query)).collect();
            for (at, row) in self.entities[candidates.clone()].iter().enumerate() {
                for (number, target) in targets.iter().enumerate() {
                    out[number * count + at] = closeness(target, row);
                }
            }
        }
    }
}

/// A scorer that costs almost nothing, to measure the ranking alone.
struct Free(usize);

impl LinkScorer for Free {
    fn relations(&self) -> usize {
        usize::MAX
    }
    fn entities(&self) -> usize {
        self.0
    }

    fn scores(&self, _: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) {
        for row in out.chunks_exact_mut(candidates.len()) {
            candidates.clone().zip(row).for_each(|(candidate, score)| *score = candidate as f32);
        }
    }
}

fn main() {
    let Some(path) = datasets::dataset("FB15k-237") else { return };
    let options = ImportOptions { splits: true, ..ImportOptions::default() };
    let graph = import(&[Source::Path(path)], &options, &()).unwrap().graph;
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut table = |rows| (0..rows).map(|_| std::array::from_fn(|_| rng.random::<f32>() - 0.5)).collect();
    let scorer =
        Translation { entities: table(graph.entity_count()), relations: table(graph.relation_count()) };
    let start = Instant::now();
    let known = KnownAnswers::of_graph(&graph);
    println!("index of known answers: {:.3} s", start.elapsed().as_secs_f64());
    let test = graph.held_out(HeldOut::Test);
    let evaluation = LinkPrediction::new(LinkPredictionSettings::default()).unwrap();
    let free = Free(graph.entity_count());
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for (name, scorer) in [("TransE", &scorer as &dyn LinkScorer), ("no model", &free)] {
            let start = Instant::now();
            let report = pool.install(|| evaluation.evaluate(scorer, test, &known, &())).unwrap();
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{name}, {threads} threads: {} queries in {seconds:.2} s ({:.0} per second), MRR {:.5}",
                report.both.queries,
                report.both.queries as f64 / seconds,
                report.both.mrr
            );
        }
    }
    let questions: HashSet<LinkQuery> =
        test.iter().flat_map(|&fact| Side::ALL.map(|side| LinkQuery::of(fact, side).0)).collect();
    println!("distinct queries: {}", questions.len());
}
