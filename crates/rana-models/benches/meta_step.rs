//! How fast RANA learns: prints one line of JSON about one step, for `benches/meta_step.py` to read.
//!
//! `cargo bench -p rana-models --bench meta_step -- --data DIR [--dim N] [--tasks N] [--entities frozen]
//! [--fill] [--repeats N] [--threads N] [--dump FILE]`; `--fill` gives every entity as many neighbours as
//! the encoder takes, and `--dump` writes the inputs and the gradient of one batch for others to compare.
#![allow(missing_docs, clippy::unwrap_used)]

mod step_parts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rana_embed::Table;
use rana_embed::format::write_tensors;
use rana_fewshot::TrainingTasks;
use rana_graph::format::Source;
use rana_graph::{
    Duplicates, EntityId, Fact, Graph, GraphBuilder, ImportOptions, Imported, RelationId, TaskSet, import,
    keyed_rng,
};
use rana_models::rana::{RanaConfig, TrainEntities};
use rana_models::training::{MetaTask, Parameters, RunConfig, StartVectors, Trainer, TrainerConfig};
use rand::RngExt;
use step_parts::{Named, contrasts, milliseconds, neighbours, unit_vectors};

struct Arguments {
    data: PathBuf,
    dim: usize,
    tasks: usize,
    entities: TrainEntities,
    is_filled: bool,
    repeats: usize,
    threads: usize,
    dump: Option<PathBuf>,
}

impl Arguments {
    fn read() -> Option<Self> {
        let (mut data, mut dump, mut is_filled) = (None, None, false);
        let (mut dim, mut tasks, mut repeats, mut threads) = (100, 512, 50, 2);
        let mut entities = TrainEntities::Frozen;
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--data" => data = Some(words.next()?.into()),
                "--dump" => dump = Some(words.next()?.into()),
                "--dim" => dim = words.next()?.parse().unwrap(),
                "--tasks" => tasks = words.next()?.parse().unwrap(),
                "--entities" => entities = words.next()?.parse().unwrap(),
                "--fill" => is_filled = true,
                "--repeats" => repeats = words.next()?.parse().unwrap(),
                "--threads" => threads = words.next()?.parse().unwrap(),
                // Cargo says that this is a benchmark.
                "--bench" => {}
                other => panic!("unknown argument {other}"),
            }
        }
        Some(Self { data: data?, dim, tasks, entities, is_filled, repeats, threads, dump })
    }
}

/// The same graph, with random facts until every entity has so many neighbours.
fn filled(graph: &Graph, neighbours: usize) -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Keep);
    for entity in graph.entities() {
        builder.intern_entity(graph.entity_name(entity));
    }
    for relation in graph.relations() {
        builder.intern_relation(graph.relation_name(relation));
    }
    for &fact in graph.facts() {
        builder.add(fact);
    }
    let (entities, relations) = (graph.entity_count() as u32, graph.relation_count() as u32);
    let mut rng = keyed_rng([0, 0, 0, 0]);
    for head in graph.entities() {
        for _ in graph.degree(head)..neighbours {
            let relation = RelationId::forward(rng.random_range(0..relations));
            let tail = EntityId(rng.random_range(0..entities));
            builder.add(Fact { head, relation, tail });
        }
    }
    builder.finish()
}

/// What goes into a batch's gradient and what comes out.
struct Dump<'a> {
    graph: &'a Graph,
    config: &'a RanaConfig,
    batch: &'a [MetaTask],
    before: &'a Parameters,
    gradient: &'a [f32],
    /// After one step of Adam.
    after: &'a Parameters,
}

impl Dump<'_> {
    fn write(&self, path: &Path) {
        let Self { graph, config, batch, before, gradient, after } = *self;
        let (all, dim) = (graph.entity_count(), before.rows.dim());
        let rows: Vec<f32> = graph.entities().flat_map(|entity| before.rows.base(entity)).copied().collect();
        let learned: Vec<u32> = after.rows.learned().iter().map(|entity| entity.0).collect();
        let values = after.rows.learned_values().to_vec();
        let mut tensors = vec![
            Named::values("entities", &[all, dim], rows),
            Named::values("relations", &[before.relations.len() / dim, dim], before.relations.clone()),
            Named::values("learned.rows", &[learned.len(), dim], values),
            Named::ids("learned.entities", &[learned.len()], learned),
        ];
        tensors.extend(neighbours(graph, config.neighbours));
        tensors.extend(contrasts("support", batch, |task| &task.support));
        tensors.extend(contrasts("query", batch, |task| &task.query));
        for block in before.layout.blocks.blocks() {
            let shape = [block.rows, block.columns];
            for (kind, values) in [("weight", before.weights.as_slice()), ("gradient", gradient)] {
                let values = values[block.range()].to_vec();
                tensors.push(Named::values(format!("{kind}.{}", block.name), &shape, values));
            }
        }
        let tensors: Vec<_> = tensors.iter().map(Named::tensor).collect();
        let mut bytes = Vec::new();
        write_tensors(&mut bytes, None, &tensors).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

fn main() {
    let Some(arguments) = Arguments::read() else {
        return println!("nothing measured: give --data");
    };
    let config = RanaConfig { train_entities: arguments.entities, ..RanaConfig::default() };
    let Imported { mut graph, tasks, .. } =
        import(&[Source::Path(arguments.data.clone())], &ImportOptions::default(), &()).unwrap();
    if arguments.is_filled {
        graph = filled(&graph, config.neighbours);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build().unwrap();
    let line = pool.install(|| measured(&arguments, &config, &graph, &tasks));
    println!("{line}");
}

fn measured(arguments: &Arguments, config: &RanaConfig, graph: &Graph, tasks: &TaskSet) -> serde_json::Value {
    let dim = arguments.dim;
    let start = StartVectors {
        entities: Arc::new(
            Table::new(graph.entity_count(), dim, unit_vectors(graph.entity_count(), dim, 1)).unwrap(),
        ),
        relations: unit_vectors(2 * graph.relation_count(), dim, 2),
    };
    let settings = TrainerConfig { batch: arguments.tasks, steps: u64::MAX, ..TrainerConfig::default() };
    let tasks = TrainingTasks::new(graph, tasks, settings.fold, settings.data_mode, settings.candidates);
    let run = RunConfig::new(settings, config.clone());
    let trainer = || Trainer::new(&run, graph, &tasks, &start).unwrap();
    let mut drawing = trainer();
    let batch = drawing.draw_batch();
    let result = drawing.gradient(&batch);
    let (loss, gradient) = (result.loss, result.weights);
    let mut stepping = trainer();
    // The first batch of one training is that of the other.
    stepping.step().unwrap();
    if let Some(path) = &arguments.dump {
        let (before, after) = (&drawing.state().parameters, &stepping.state().parameters);
        Dump { graph, config, batch: &batch, before, gradient: &gradient, after }.write(path);
    }
    let mut pairs: Vec<_> = batch.iter().flat_map(|task| task.support.pairs()).copied().collect();
    let seen: usize = pairs
        .iter()
        .flat_map(|pair| [pair.head, pair.tail])
        .map(|entity| graph.degree(entity).min(config.neighbours))
        .sum();
    let mean_neighbours = seen as f64 / (2 * pairs.len()) as f64;
    pairs.sort_unstable();
    pairs.dedup();
    let gradient_ms = milliseconds(5, arguments.repeats, || drop(drawing.gradient(&batch)));
    let step_ms = milliseconds(5, arguments.repeats, || {
        drawing.step_on(&batch).unwrap();
    });
    // What is computed once per tail of a task, for pruning, is soon all there.
    let drawn_step_ms = milliseconds(20, arguments.repeats, || {
        stepping.step().unwrap();
    });
    serde_json::json!({
        "loss": loss,
        "gradient_norm": gradient.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt(),
        "mean_neighbours": mean_neighbours,
        "distinct_pairs": pairs.len(),
        "gradient_ms": gradient_ms,
        "step_ms": step_ms,
        "drawn_step_ms": drawn_step_ms,
    })
}
