//! How fast a model learns: prints one line of JSON about one step, for `benches/model_step.py` to read.
//!
//! `cargo bench -p rana-models --bench model_step -- --model NAME --preset NAME --data DIR|STORE [--dim N] [--steps N]
//! [--repeats N] [--threads N] [--dump FILE]`: any model of the registry that is trained by steps. It drops nothing, so
//! that others can compute the same. After some steps of training, which leave no weight where it started, one batch is
//! drawn and timed; `--dump` writes its inputs, its loss and its gradients.
#![allow(missing_docs, clippy::unwrap_used)]

mod step_parts;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rana_embed::Table;
use rana_embed::format::write_tensors;
use rana_fewshot::TrainingTasks;
use rana_graph::format::Source;
use rana_graph::{Graph, ImportOptions, Imported, Store, TaskSet, import};
use rana_models::training::{
    MetaTask, Parameters, RunConfig, StartVectors, StepResult, SteppedModel, Trainer,
};
use step_parts::{Named, contrasts, milliseconds, neighbours, unit_vectors};

struct Arguments {
    model: String,
    preset: String,
    data: PathBuf,
    dim: usize,
    steps: u64,
    repeats: usize,
    threads: usize,
    dump: Option<PathBuf>,
}

impl Arguments {
    fn read() -> Option<Self> {
        let (mut model, mut preset, mut data, mut dump) = (None, None, None, None);
        let (mut dim, mut steps, mut repeats, mut threads) = (100, 20, 30, 2);
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--model" => model = Some(words.next()?),
                "--preset" => preset = Some(words.next()?),
                "--data" => data = Some(words.next()?.into()),
                "--dump" => dump = Some(words.next()?.into()),
                "--dim" => dim = words.next()?.parse().unwrap(),
                "--steps" => steps = words.next()?.parse().unwrap(),
                "--repeats" => repeats = words.next()?.parse().unwrap(),
                "--threads" => threads = words.next()?.parse().unwrap(),
                // Cargo says that this is a benchmark.
                "--bench" => {}
                other => panic!("unknown argument {other}"),
            }
        }
        Some(Self { model: model?, preset: preset?, data: data?, dim, steps, repeats, threads, dump })
    }
}

/// The preset without dropout of any kind.
fn config(arguments: &Arguments) -> RunConfig {
    let preset = RunConfig::preset(&arguments.model, &arguments.preset).unwrap();
    let mut table = toml::Table::try_from(&preset).unwrap();
    for (field, value) in &mut table {
        if field.contains("drop") && value.is_float() {
            *value = toml::Value::Float(0.0);
        }
    }
    table.try_into().unwrap()
}

fn read(path: &Path) -> (Graph, TaskSet) {
    if Store::is_store(path) {
        let Store { graph, tasks, .. } = Store::open(path).unwrap();
        return (graph, tasks);
    }
    let Imported { graph, tasks, .. } =
        import(&[Source::Path(path.to_owned())], &ImportOptions::default(), &()).unwrap();
    (graph, tasks)
}

/// What goes into a batch's gradient and what comes out.
struct Dump<'a> {
    graph: &'a Graph,
    config: &'a RunConfig,
    model: &'a dyn SteppedModel,
    batch: &'a [MetaTask],
    /// The number of the step.
    number: u64,
    parameters: &'a Parameters,
    result: &'a StepResult<f32>,
}

impl Dump<'_> {
    fn tensors(&self, about: &serde_json::Value) -> Vec<Named> {
        let Self { graph, config, model, batch, number, parameters, result } = *self;
        let (rows, relations) = (&parameters.rows, &parameters.relations);
        let (all, width) = (graph.entity_count(), rows.dim());
        let of_relation = relations.len() / (2 * graph.relation_count());
        let gather = |row: fn(&Parameters, rana_graph::EntityId) -> &[f32]| -> Vec<f32> {
            graph.entities().flat_map(|entity| row(parameters, entity)).copied().collect()
        };
        let mut tensors = vec![
            Named::values("entities.start", &[all, width], gather(|from, entity| from.rows.base(entity))),
            Named::values("entities", &[all, width], gather(|from, entity| from.rows.row(entity))),
            Named::values("relations", &[2 * graph.relation_count(), of_relation], relations.clone()),
        ];
        let names = batch.iter().map(|task| task.relation.unwrap());
        assert!(
            names.clone().all(|relation| !graph.is_background(relation)),
            "a task of the background may hide its edges, so the neighbours of an entity differ by task"
        );
        let names = names.map(|relation| relation.number() as u32).collect();
        tensors.push(Named::ids("tasks.relations", &[batch.len()], names));
        tensors.extend(contrasts("support", batch, |task| &task.support));
        tensors.extend(contrasts("query", batch, |task| &task.query));
        let most = about["config"]["neighbours"].as_u64().unwrap_or(0) as usize;
        if most > 0 && config.trainer.data_mode.uses_background_graph() {
            tensors.extend(neighbours(graph, most));
        }
        for (name, drawn) in model.draws(parameters, batch, number) {
            tensors.push(Named::ids(format!("drawn.{name}"), &[drawn.len()], drawn));
        }
        let weights = [("weight", &parameters.weights), ("gradient", &result.weights)];
        for block in parameters.layout.blocks.blocks() {
            for (kind, values) in weights {
                let (name, shape) = (format!("{kind}.{}", block.name), [block.rows, block.columns]);
                tensors.push(Named::values(name, &shape, values[block.range()].to_vec()));
            }
        }
        if parameters.layout.learns_relations {
            let shape = [2 * graph.relation_count(), of_relation];
            tensors.push(Named::values("gradient of relations", &shape, result.relations.clone()));
        }
        if parameters.layout.learns_entities {
            let (mut ids, mut values) = (Vec::new(), Vec::new());
            for (entity, gradient) in result.rows.iter() {
                ids.push(entity.0);
                values.extend_from_slice(gradient);
            }
            let count = ids.len();
            tensors.push(Named::ids("gradient of entities, ids", &[count], ids));
            tensors.push(Named::values("gradient of entities", &[count, width], values));
        }
        tensors
    }

    fn write(&self, path: &Path, about: &serde_json::Value) {
        let tensors = self.tensors(about);
        let tensors: Vec<_> = tensors.iter().map(Named::tensor).collect();
        let notes = HashMap::from([("about".to_owned(), about.to_string())]);
        let mut bytes = Vec::new();
        write_tensors(&mut bytes, Some(notes), &tensors).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

fn main() {
    let Some(arguments) = Arguments::read() else {
        return println!("nothing measured: give --model, --preset and --data");
    };
    let (graph, tasks) = read(&arguments.data);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build().unwrap();
    println!("{}", pool.install(|| measured(&arguments, &graph, &tasks)));
}

fn measured(arguments: &Arguments, graph: &Graph, tasks: &TaskSet) -> serde_json::Value {
    let dim = arguments.dim;
    let entities = unit_vectors(graph.entity_count(), dim, 1);
    let start = StartVectors {
        entities: Arc::new(Table::new(graph.entity_count(), dim, entities).unwrap()),
        relations: unit_vectors(2 * graph.relation_count(), dim, 2),
    };
    let config = config(arguments);
    let trainer = &config.trainer;
    let tasks = TrainingTasks::new(graph, tasks, trainer.fold, trainer.data_mode, trainer.candidates);
    let mut trainer = Trainer::new(&config, graph, &tasks, &start).unwrap();
    for _ in 0..arguments.steps {
        trainer.step().unwrap();
    }
    let batch = trainer.draw_batch();
    // In the unit of the vectors.
    let config = trainer.config().clone();
    let model = config.model.model(&config.trainer, graph, dim);
    let (number, parameters) = (trainer.state().step, trainer.state().parameters.clone());
    let step = || model.step(&parameters, &batch, Some(number));
    let result = step();
    let about = serde_json::json!({ "config": config, "dim": dim, "loss": result.loss });
    if let Some(path) = &arguments.dump {
        let dump = Dump {
            graph,
            config: &config,
            model: &*model,
            batch: &batch,
            number,
            parameters: &parameters,
            result: &result,
        };
        dump.write(path, &about);
    }
    let repeats = arguments.repeats;
    let gradient_ms = milliseconds(5, repeats, || drop(step()));
    let mut loss_after = 0.0;
    let step_ms = milliseconds(5, repeats, || loss_after = trainer.step_on(&batch).unwrap().loss);
    let diagnostics: serde_json::Map<String, serde_json::Value> =
        result.diagnostics.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
    serde_json::json!({
        "loss": result.loss,
        "loss_after": loss_after,
        "diagnostics": diagnostics,
        "gradient_ms": gradient_ms,
        "step_ms": step_ms,
    })
}
