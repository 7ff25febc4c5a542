//! How fast RANA learns: prints one line of JSON about one step, for `benches/meta_step.py` to read.
//!
//! `cargo bench -p rana-models --bench meta_step -- --data DIR [--dim N] [--tasks N] [--entities frozen]
//! [--fill] [--repeats N] [--threads N] [--dump FILE]`; `--fill` gives every entity as many neighbours as
//! the encoder takes, and `--dump` writes the inputs and the gradient of one batch for others to compare.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rana_embed::Table;
use rana_embed::format::{Tensor, Values, write_tensors};
use rana_fewshot::TrainingTasks;
use rana_graph::format::Source;
use rana_graph::{
    Duplicates, EntityId, Fact, Graph, GraphBuilder, ImportOptions, Imported, RelationId, TaskSet, import,
    keyed_rng,
};
use rana_models::rana::{RanaConfig, TrainEntities};
use rana_models::training::{
    Contrasts, MetaTask, Parameters, RunConfig, StartVectors, Trainer, TrainerConfig,
};
use rand::RngExt;

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

/// Random vectors of norm 1, as pre-training leaves them.
fn unit_vectors(rows: usize, dim: usize, seed: u64) -> Vec<f32> {
    let mut rng = keyed_rng([seed, 0, 0, 0]);
    let mut values: Vec<f32> = (0..rows * dim).map(|_| rng.random_range(-1.0..1.0)).collect();
    for row in values.chunks_exact_mut(dim) {
        let norm = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        row.iter_mut().for_each(|value| *value /= norm);
    }
    values
}

/// Milliseconds of each of some repetitions, the median first, then the least.
fn milliseconds(warm_up: usize, repeats: usize, mut work: impl FnMut()) -> serde_json::Value {
    (0..warm_up).for_each(|_| work());
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    serde_json::json!({ "median": times[times.len() / 2], "min": times[0] })
}

/// The ids of some contrasts, task by task: heads, tails and negatives.
fn ids<'t>(contrasts: &(impl Iterator<Item = &'t Contrasts> + Clone)) -> [Vec<u32>; 3] {
    let pairs = || contrasts.clone().flat_map(Contrasts::pairs);
    [
        pairs().map(|pair| pair.head.0).collect(),
        pairs().map(|pair| pair.tail.0).collect(),
        contrasts.clone().flat_map(Contrasts::negatives).map(|negative| negative.0).collect(),
    ]
}

/// Every entity's neighbours in as many places as there may be: their relations, themselves, how many.
fn neighbours(graph: &Graph, most: usize) -> [Vec<u32>; 3] {
    let [mut relations, mut entities, mut counts] = [(); 3].map(|()| Vec::new());
    for entity in graph.entities() {
        let edges = graph.neighbours(entity);
        let edges = &edges[..edges.len().min(most)];
        relations.extend(edges.iter().map(|edge| edge.relation.index() as u32));
        entities.extend(edges.iter().map(|edge| edge.entity.0));
        counts.push(edges.len() as u32);
        relations.resize(counts.len() * most, 0);
        entities.resize(counts.len() * most, 0);
    }
    [relations, entities, counts]
}

/// What goes into a batch's gradient and what comes out.
struct Dump<'a> {
    graph: &'a Graph,
    config: &'a RanaConfig,
    trainer: &'a TrainerConfig,
    batch: &'a [MetaTask],
    before: &'a Parameters,
    gradient: &'a [f32],
    /// After one step of Adam.
    after: &'a Parameters,
}

impl Dump<'_> {
    fn write(&self, path: &Path) {
        let Self { graph, config, trainer, batch, before, gradient, after } = *self;
        let dim = before.rows.dim();
        let [relations, entities, counts] = neighbours(graph, config.neighbours);
        let support = ids(&batch.iter().map(|task| &task.support));
        let query = ids(&batch.iter().map(|task| &task.query));
        let rows: Vec<f32> = graph.entities().flat_map(|entity| before.rows.base(entity)).copied().collect();
        let learned: Vec<u32> = after.rows.learned().iter().map(|entity| entity.0).collect();
        let tensor = |name: &str, shape: &[usize], values| Tensor {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values,
        };
        let (all, most) = (graph.entity_count(), config.neighbours);
        let mut tensors = vec![
            tensor("entities", &[all, dim], Values::F32(&rows)),
            tensor("relations", &[before.relations.len() / dim, dim], Values::F32(&before.relations)),
            tensor("neighbours.relations", &[all, most], Values::U32(&relations)),
            tensor("neighbours.entities", &[all, most], Values::U32(&entities)),
            tensor("neighbours.counts", &[all], Values::U32(&counts)),
            tensor("learned.entities", &[learned.len()], Values::U32(&learned)),
            tensor("learned.rows", &[learned.len(), dim], Values::F32(after.rows.learned_values())),
        ];
        for (name, pairs, [heads, tails, negatives]) in
            [("support", trainer.shots, &support), ("query", trainer.queries, &query)]
        {
            let tasks = batch.len();
            tensors.push(tensor(&format!("{name}.heads"), &[tasks, pairs], Values::U32(heads)));
            tensors.push(tensor(&format!("{name}.tails"), &[tasks, pairs], Values::U32(tails)));
            let shape = [tasks, pairs, config.negatives];
            tensors.push(tensor(&format!("{name}.negatives"), &shape, Values::U32(negatives)));
        }
        for block in before.layout.blocks.blocks() {
            let shape = [block.rows, block.columns];
            for (kind, values) in [("weight", before.weights.as_slice()), ("gradient", gradient)] {
                let values = Values::F32(&values[block.range()]);
                tensors.push(tensor(&format!("{kind}.{}", block.name), &shape, values));
            }
        }
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
    let run = RunConfig::new(settings.clone(), config.clone());
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
        Dump { graph, config, trainer: &settings, batch: &batch, before, gradient: &gradient, after }
            .write(path);
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
