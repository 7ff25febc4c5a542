//! The store: it gives back what was written, and damage of any kind is detected.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rana_graph::{
    Array, Duplicates, Edge, EntityId, Fact, Graph, GraphBuilder, HeldOut, LabelRank, Lists, Manifest, Names,
    Pair, RelationId, Split, Statistics, Store, StoreError, TaskSet, TaskSetBuilder, Texts,
};

/// Front ends keep these in threads of their own: this is checked when the test is compiled.
const fn is_handle<T: Clone + Send + Sync + 'static>() {}
const _: () = {
    is_handle::<Array<Fact>>();
    is_handle::<Lists<Edge>>();
    is_handle::<Names>();
    is_handle::<Texts>();
    is_handle::<Graph>();
    is_handle::<TaskSet>();
    is_handle::<Manifest>();
    is_handle::<Statistics>();
    is_handle::<Store>();
};

/// A graph with a bit of everything, and its tasks.
fn sample() -> (Graph, TaskSet) {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("paris", "capital_of", "france");
    builder.add_named("lyon", "located_in", "france");
    builder.add_named("paris", "located_in", "france");
    builder.add_held_out_named(HeldOut::Valid, "nice", "located_in", "france");
    builder.add_held_out_named(HeldOut::Test, "paris", "capital_of", "france");
    builder.add_label("paris", "Paris", LabelRank::Untagged);
    builder.add_label("capital_of", "capital of", LabelRank::Untagged);
    let paris = builder.entity("paris").unwrap();
    builder.add_type(paris, "city");
    builder.add_task_relation("rival_of").unwrap();
    let graph = builder.finish();
    let rival_of = graph.relation("rival_of").unwrap();
    let mut tasks = TaskSetBuilder::default();
    tasks.add_task(Split::Test, rival_of, vec![Pair { head: EntityId(2), tail: EntityId(0) }]);
    tasks.add_candidates(rival_of, vec![EntityId(1), EntityId(0)]);
    tasks.filter_from_tasks();
    (graph, tasks.finish())
}

fn write_sample(path: &Path) {
    let (graph, tasks) = sample();
    Store::write(path, &graph, &tasks, Vec::new()).unwrap();
}

fn data_directory(path: &Path) -> PathBuf {
    fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap()
}

#[test]
fn what_goes_in_comes_out() {
    let dir = tempfile::tempdir().unwrap();
    let (graph, tasks) = sample();
    Store::write(dir.path(), &graph, &tasks, Vec::new()).unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.graph, graph);
    assert_eq!(store.tasks, tasks);
    assert_eq!(store.graph.entity("lyon"), Some(EntityId(2)));
}

#[test]
fn clones_share_the_memory_of_the_original() {
    let dir = tempfile::tempdir().unwrap();
    write_sample(dir.path());
    let store = Store::open(dir.path()).unwrap();
    let (graph, tasks) = sample();
    for (graph, tasks) in [(graph, tasks), (store.graph, store.tasks)] {
        let (other, other_tasks) = (graph.clone(), tasks.clone());
        assert_eq!(other.facts().as_ptr(), graph.facts().as_ptr());
        for part in HeldOut::ALL {
            assert_eq!(other.held_out(part).as_ptr(), graph.held_out(part).as_ptr());
        }
        for entity in graph.entities() {
            assert_eq!(other.neighbours(entity).as_ptr(), graph.neighbours(entity).as_ptr());
            assert_eq!(other.entity_name(entity).as_ptr(), graph.entity_name(entity).as_ptr());
        }
        let (task, other_task) = (tasks.get(0), other_tasks.get(0));
        assert_eq!(other_task.facts.as_ptr(), task.facts.as_ptr());
        assert_eq!(other_task.candidates.as_ptr(), task.candidates.as_ptr());
    }
}

#[test]
fn the_same_graph_gives_the_same_bytes() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let files = dirs.each_ref().map(|dir| {
        write_sample(dir.path());
        let data = data_directory(dir.path());
        let mut files: BTreeMap<String, Vec<u8>> = fs::read_dir(&data)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
            .collect();
        files.insert("manifest".into(), fs::read(dir.path().join("manifest.json")).unwrap());
        files
    });
    assert_eq!(files[0], files[1]);
}

#[test]
fn every_truncation_and_every_altered_byte_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    write_sample(dir.path());
    let data = data_directory(dir.path());
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let content = fs::read(&path).unwrap();
        let refused = |content: &[u8]| {
            // A fresh file each time, as a mapping may still be open.
            fs::remove_file(&path).unwrap();
            fs::write(&path, content).unwrap();
            let error = Store::open(dir.path()).expect_err(&name).to_string();
            assert!(error.contains(&name), "{error} does not name {name}");
        };
        if let Some(at) = content.len().checked_sub(1) {
            refused(&content[..at]);
            refused(&content[..at / 2]);
        }
        refused(&[&content[..], &[0]].concat());
        for at in 0..content.len() {
            let mut altered = content.clone();
            altered[at] ^= 0x10;
            refused(&altered);
        }
        fs::remove_file(&path).unwrap();
        assert!(Store::open(dir.path()).unwrap_err().to_string().contains(&name));
        fs::write(&path, content).unwrap();
    }
    Store::open(dir.path()).unwrap();
}

#[test]
fn every_altered_byte_of_the_manifest_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    write_sample(dir.path());
    let path = dir.path().join("manifest.json");
    let content = fs::read(&path).unwrap();
    let sound = Store::open(dir.path()).unwrap().manifest;
    for at in 0..content.len() {
        let mut altered = content.clone();
        altered[at] ^= 0x04;
        fs::write(&path, &altered).unwrap();
        // White space may change without changing what is said.
        match Store::open(dir.path()) {
            Ok(store) => assert_eq!(store.manifest, sound, "byte {at}"),
            Err(error) => assert!(error.to_string().contains(&dir.path().display().to_string()), "{error}"),
        }
        fs::write(&path, &content[..at]).unwrap();
        assert!(Store::open(dir.path()).is_err() || at + 1 == content.len(), "cut at byte {at}");
    }
}

#[test]
fn another_version_is_named() {
    let dir = tempfile::tempdir().unwrap();
    write_sample(dir.path());
    let path = dir.path().join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"version\": 1", "\"version\": 7")).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Version { found: 7, supported: 1, .. }));
    assert!(error.to_string().contains("store format version 7, this program reads version 1"), "{error}");
}

#[test]
fn what_is_no_store_is_not_opened_and_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Store::open(dir.path().join("nowhere")), Err(StoreError::Missing { .. })));
    fs::write(dir.path().join("thesis.tex"), "precious").unwrap();
    let (graph, tasks) = sample();
    let refused = Store::write(dir.path(), &graph, &tasks, Vec::new());
    assert!(matches!(refused, Err(StoreError::Occupied { .. })));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was added");
    fs::write(dir.path().join("manifest.json"), "{\"name\": \"a web app\"}").unwrap();
    assert!(matches!(Store::write(dir.path(), &graph, &tasks, Vec::new()), Err(StoreError::Occupied { .. })));
    assert!(matches!(Store::open(dir.path()), Err(StoreError::Missing { .. })));
}

#[test]
fn replacing_a_store_keeps_open_readers_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    write_sample(dir.path());
    let before = Store::open(dir.path()).unwrap();
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("rome", "capital_of", "italy");
    // A user's own file beside the store, and what a killed writer left.
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    fs::create_dir(dir.path().join("data-0123456789abcdef")).unwrap();
    Store::write(dir.path(), &builder.finish(), &TaskSet::default(), Vec::new()).unwrap();
    assert_eq!(before.graph, sample().0, "the old arrays are still mapped");
    assert_eq!(Store::open(dir.path()).unwrap().graph.facts().len(), 1);
    let directories =
        fs::read_dir(dir.path()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(directories.count(), 1);
    assert!(dir.path().join("notes.txt").exists());
}

#[test]
fn two_writers_do_not_meet() {
    let dir = tempfile::tempdir().unwrap();
    write_sample(dir.path());
    let lock = fs::File::open(dir.path().join(".lock")).unwrap();
    lock.lock().unwrap();
    let (graph, tasks) = sample();
    let refused = Store::write(dir.path(), &graph, &tasks, Vec::new());
    assert!(matches!(refused, Err(StoreError::Locked { .. })));
    Store::open(dir.path()).unwrap();
}

/// Forged content with right checksums must still not lead outside the arrays.
#[test]
fn a_forged_id_is_refused() {
    for name in ["facts", "held_out.valid", "held_out.test"] {
        refuses_a_forged_id(name);
    }
}

fn refuses_a_forged_id(name: &str) {
    let dir = tempfile::tempdir().unwrap();
    write_sample(dir.path());
    let manifest_path = dir.path().join("manifest.json");
    let facts = data_directory(dir.path()).join(name);
    let mut content = fs::read(&facts).unwrap();
    let old = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&content));
    content[0] = 200;
    let new = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&content));
    fs::remove_file(&facts).unwrap();
    fs::write(&facts, &content).unwrap();
    // The manifest's own checksum is over its compact form with an empty checksum.
    let mut manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&manifest_path).unwrap().replace(&old, &new)).unwrap();
    manifest["checksum"] = "".into();
    let typed: rana_graph::Manifest = serde_json::from_value(manifest.clone()).unwrap();
    let checksum = xxhash_rust::xxh3::xxh3_64(&serde_json::to_vec(&typed).unwrap());
    manifest["checksum"] = format!("{checksum:016x}").into();
    fs::write(&manifest_path, manifest.to_string()).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Invalid { .. }), "{error}");
    assert!(error.to_string().contains(&format!("{name}: an id or a length is out of range")), "{error}");
}

fn any_facts() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    prop::collection::vec((0u8..20, 0u8..5, 0u8..20), 0..120)
}

fn build(facts: &[(u8, u8, u8)], duplicates: Duplicates) -> Graph {
    let mut builder = GraphBuilder::new(duplicates);
    for (head, relation, tail) in facts {
        builder.add_named(&format!("e{head}"), &format!("r{relation}"), &format!("e{tail}"));
    }
    builder.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn neighbourhoods_hold_every_fact_twice_in_file_order(facts in any_facts()) {
        let graph = build(&facts, Duplicates::Keep);
        prop_assert_eq!(graph.facts().len(), facts.len());
        prop_assert_eq!(graph.entities().map(|e| graph.degree(e)).sum::<usize>(), 2 * facts.len());
        for entity in graph.entities() {
            let mut expected = Vec::new();
            for fact in graph.facts() {
                if fact.head == entity {
                    expected.push(Edge { relation: fact.relation, entity: fact.tail });
                }
                if fact.tail == entity {
                    expected.push(Edge { relation: fact.relation.inverse(), entity: fact.head });
                }
            }
            prop_assert_eq!(graph.neighbours(entity), &expected[..]);
            prop_assert_eq!(graph.outgoing(entity).count() + graph.incoming(entity).count(), expected.len());
        }
    }

    #[test]
    fn removing_duplicates_keeps_the_first_of_each(facts in any_facts()) {
        let graph = build(&facts, Duplicates::Remove);
        let mut seen = std::collections::HashSet::new();
        let distinct: Vec<_> = facts.iter().filter(|fact| seen.insert(**fact)).collect();
        prop_assert_eq!(graph.facts().len(), distinct.len());
        for (fact, (head, relation, tail)) in graph.facts().iter().zip(distinct) {
            prop_assert_eq!(graph.entity_name(fact.head), format!("e{head}"));
            prop_assert_eq!(graph.relation_name(fact.relation), format!("r{relation}"));
            prop_assert_eq!(graph.entity_name(fact.tail), format!("e{tail}"));
        }
    }

    #[test]
    fn containment_agrees_with_the_list_of_facts(facts in any_facts(), asked in any_facts()) {
        let graph = build(&facts, Duplicates::Keep);
        for (head, relation, tail) in asked {
            let ids = (
                graph.entity(&format!("e{head}")),
                graph.relation(&format!("r{relation}")),
                graph.entity(&format!("e{tail}")),
            );
            let (Some(h), Some(r), Some(t)) = ids else { continue };
            prop_assert_eq!(graph.contains(h, r, t), facts.contains(&(head, relation, tail)));
            prop_assert_eq!(graph.contains(t, r.inverse(), h), facts.contains(&(head, relation, tail)));
        }
    }

    #[test]
    fn any_graph_survives_the_store(facts in any_facts(), names in prop::collection::vec(".{0,12}", 0..8)) {
        let mut builder = GraphBuilder::new(Duplicates::Keep);
        for (head, relation, tail) in &facts {
            builder.add_named(&format!("e{head}"), &format!("r{relation}"), &format!("e{tail}"));
        }
        for (head, relation, tail) in facts.iter().step_by(3) {
            let part = HeldOut::ALL[usize::from(*head) % 2];
            builder.add_held_out_named(part, &format!("e{tail}"), &format!("s{relation}"), &format!("e{head}"));
        }
        for name in &names {
            let entity = builder.intern_entity(name);
            builder.add_type(entity, name);
            builder.add_label(name, "label", LabelRank::Untagged);
        }
        let graph = builder.finish();
        let dir = tempfile::tempdir().unwrap();
        let mut tasks = TaskSetBuilder::default();
        for (at, pair) in graph.facts().chunks(7).enumerate() {
            let pairs = pair.iter().map(|fact| Pair { head: fact.head, tail: fact.tail }).collect();
            tasks.add_task(Split::ALL[at % 3], RelationId::forward(0), pairs);
        }
        tasks.filter_from_tasks();
        let tasks = tasks.finish();
        Store::write(dir.path(), &graph, &tasks, Vec::new()).unwrap();
        let store = Store::open(dir.path()).unwrap();
        prop_assert_eq!(&store.graph, &graph);
        prop_assert_eq!(&store.tasks, &tasks);
        for name in &names {
            prop_assert_eq!(store.graph.entity(name), graph.entity(name));
        }
    }
}

#[test]
fn directories_of_the_user_are_not_taken_for_arrays() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("data-raw")).unwrap();
    let (graph, tasks) = sample();
    let refused = Store::write(dir.path(), &graph, &tasks, Vec::new());
    assert!(matches!(refused, Err(StoreError::Occupied { .. })));
    let store = dir.path().join("kg");
    write_sample(&store);
    fs::create_dir(store.join("data-backup")).unwrap();
    Store::write(&store, &graph.withhold(&[]), &TaskSet::default(), Vec::new()).unwrap();
    assert!(store.join("data-backup").exists() && dir.path().join("data-raw").exists());
}

#[test]
fn opening_while_the_store_is_replaced_gives_the_old_one_or_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let graphs = [build(&[(1, 1, 2)], Duplicates::Keep), build(&[(1, 1, 2), (2, 1, 3)], Duplicates::Keep)];
    Store::write(dir.path(), &graphs[0], &TaskSet::default(), Vec::new()).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..150 {
                Store::write(dir.path(), &graphs[round % 2], &TaskSet::default(), Vec::new()).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            let store = Store::open(dir.path()).unwrap();
            assert!(graphs.contains(&store.graph));
        }
    });
}
