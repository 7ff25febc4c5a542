//! The public benchmarks as they lie on disk, read with no more care than a test needs.

use std::collections::HashMap;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use rana_graph::{Duplicates, Graph, GraphBuilder, Pair, Split, TaskSet, TaskSetBuilder};

/// The folder of a dataset, or a line that says why the test is skipped.
pub(crate) fn dataset(name: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("RANA_DATASETS") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/datasets"),
    };
    let folder = root.join(name);
    if !folder.is_dir() {
        println!("skipped: {name} needs {} (set RANA_DATASETS)", folder.display());
        return None;
    }
    Some(folder)
}

/// NELL-One with the types its names carry.
pub(crate) fn nell() -> Option<(Graph, TaskSet)> {
    let folder = dataset("NELL-One")?;
    let mut builder = GraphBuilder::new(Duplicates::Keep);
    for line in read_to_string(folder.join("path_graph")).unwrap().lines() {
        let fact: Vec<&str> = line.split_whitespace().collect();
        builder.add_named(fact[0], fact[1], fact[2]);
    }
    let vocabulary: HashMap<String, u32> = json(&folder.join("ent2ids"));
    for name in vocabulary.keys() {
        let entity = builder.intern_entity(name);
        builder.add_type(entity, nell_type(name));
    }
    let splits = Split::ALL.map(|split| {
        let tasks: HashMap<String, Vec<[String; 3]>> = json(&folder.join(format!("{split}_tasks.json")));
        (split, tasks)
    });
    for name in splits.iter().flat_map(|(_, tasks)| tasks.keys()) {
        builder.add_task_relation(name).unwrap();
    }
    let graph = builder.finish();
    let candidates: HashMap<String, Vec<String>> = json(&folder.join("rel2candidates.json"));
    let entity = |name: &String| graph.entity(name).unwrap();
    let mut builder = TaskSetBuilder::default();
    for (split, tasks) in &splits {
        for (name, facts) in tasks {
            let relation = graph.relation(name).unwrap();
            let pair = |[head, _, tail]: &[String; 3]| Pair { head: entity(head), tail: entity(tail) };
            builder.add_task(*split, relation, facts.iter().map(pair).collect());
            builder.add_candidates(relation, candidates[name].iter().map(entity).collect());
        }
    }
    builder.filter_from_tasks();
    Some((graph, builder.finish()))
}

fn nell_type(name: &str) -> &str {
    match name.split(':').collect::<Vec<_>>()[..] {
        [_, class, _] => class,
        _ => "num",
    }
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    serde_json::from_str(&read_to_string(path).unwrap()).unwrap()
}

/// WD50K: its three parts as one graph, each fact once.
pub(crate) fn wd50k() -> Option<Graph> {
    let folder = dataset("WD50K")?;
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for part in ["train.txt", "valid.txt", "test.txt"] {
        for line in read_to_string(folder.join(part)).unwrap().lines() {
            let fact: Vec<&str> = line.split(',').collect();
            builder.add_named(fact[0], fact[1], fact[2]);
        }
    }
    Some(builder.finish())
}
