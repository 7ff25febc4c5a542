//! What it costs to score by `rana-fused`, beside the model that is one of its sources.
//!
//! `cargo bench -p rana --bench scoring -- RUN`, where RUN is one of `rana fuse`. Every query of the test tasks is scored
//! among all candidates of its task, as in an evaluation: sixteen heads at a time, and one at a time as a server does.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;
use std::time::{Duration, Instant};

use rana::fewshot::{FewShotModel, Support, first_k};
use rana::graph::{EntityId, Split, Store};
use rana::models::OpenedRun;

const ROUNDS: usize = 9;

fn main() {
    // Cargo itself says `--bench`.
    let Some(path) = std::env::args().skip(1).find(|arg| !arg.starts_with("--")) else {
        println!("say which run: cargo bench -p rana --bench scoring -- RUN");
        return;
    };
    let OpenedRun { store, opened, .. } = OpenedRun::open(Path::new(&path), None, None).unwrap();
    let (_, source) = opened.beside.first().expect("a run of `rana fuse` has the model that is a source");
    println!("medians of {ROUNDS} rounds, one thread; milliseconds for all test tasks");
    for heads in [16, 1] {
        let mut rounds: Vec<[Duration; 4]> = (0..ROUNDS)
            .map(|_| {
                let (adapt, score) = measure(&**source, &store, heads);
                let (adapt_fused, score_fused) = measure(&*opened.model, &store, heads);
                [adapt, score, adapt_fused, score_fused]
            })
            .collect();
        let mut median = |of: &dyn Fn(&[Duration; 4]) -> f64| {
            rounds.sort_by(|one, other| of(one).total_cmp(&of(other)));
            of(&rounds[ROUNDS / 2])
        };
        let ms = |time: Duration| 1000.0 * time.as_secs_f64();
        println!(
            "{heads} heads at a time: scoring {:.1} by the source alone, {:.1} by rana-fused ({:.2} times); learning from supports {:.1} \
             and {:.1}",
            median(&|of| ms(of[1])),
            median(&|of| ms(of[3])),
            median(&|of| ms(of[3]) / ms(of[1])),
            median(&|of| ms(of[0])),
            median(&|of| ms(of[2])),
        );
    }
}

/// How long it takes to learn all test tasks and to score their queries.
fn measure(model: &dyn FewShotModel, store: &Store, heads_at_a_time: usize) -> (Duration, Duration) {
    let (mut adapt, mut score) = (Duration::ZERO, Duration::ZERO);
    for task in store.tasks.of(Split::Test) {
        let episode = first_k(&task, 5).unwrap();
        let support = Support::of_task(&task, &episode.support, u64::from(task.relation.0));
        let start = Instant::now();
        let relation = model.adapt(&support).unwrap();
        adapt += start.elapsed();
        let heads: Vec<EntityId> = episode.query.iter().map(|query| query.head).collect();
        let mut out = vec![0.0; heads_at_a_time * task.candidates.len()];
        let start = Instant::now();
        for heads in heads.chunks(heads_at_a_time) {
            relation.scores(heads, task.candidates, &mut out[..heads.len() * task.candidates.len()]);
        }
        score += start.elapsed();
    }
    (adapt, score)
}
