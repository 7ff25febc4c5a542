//! The real NELL-One release: exact counts, protocol order, and export that gives the same thing.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../../tests/datasets.rs"]
mod datasets;

use datasets::dataset;
use rana_graph::format::{FactFormat, Source, export_facts, export_release};
use rana_graph::{EntityId, Graph, ImportOptions, Imported, Split, Store, import};

fn nell() -> Option<Imported> {
    let path = dataset("NELL-One")?;
    Some(import(&[Source::Path(path)], &ImportOptions::default(), &()).unwrap())
}

fn names(graph: &Graph) -> Vec<[String; 3]> {
    graph
        .facts()
        .iter()
        .map(|fact| {
            [graph.entity_name(fact.head), graph.relation_name(fact.relation), graph.entity_name(fact.tail)]
                .map(str::to_owned)
        })
        .collect()
}

#[test]
fn counts_are_the_published_ones() {
    let Some(nell) = nell() else { return };
    let counts = nell.report.counts;
    assert_eq!((counts.entities, counts.relations, counts.triples), (68_544, 291, 181_109));
    let of = |split| (counts.tasks[&split].relations, counts.tasks[&split].facts);
    assert_eq!(of(Split::Train), (51, 8_526));
    assert_eq!(of(Split::Dev), (5, 1_004));
    assert_eq!(of(Split::Test), (11, 2_158));
    assert_eq!(nell.graph.release_rows().unwrap().len(), 582);
    assert_eq!(nell.report.self_loops, 43);
    let mut sizes: Vec<usize> = nell.tasks.of(Split::Test).map(|task| task.candidates.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [123, 299, 786, 1084, 2100, 2160, 2222, 3174, 5716, 10569, 11618]);
}

#[test]
fn ids_are_the_released_rows_and_neighbours_are_in_file_order() {
    let Some(nell) = nell() else { return };
    let graph = &nell.graph;
    assert_eq!(graph.entity_name(EntityId(0)), "concept:director:bryan_singer");
    assert_eq!(graph.entity_name(EntityId(45_499)), "concept:book:billiards_at_half_past_nine");
    let rows = graph.release_rows().unwrap();
    assert_eq!(graph.relation_display(rows[1]), "concept:vegetableisproducedatcountry⁻¹");
    // The neighbour table of the public code bases, built the naive way for every entity.
    let mut naive = vec![Vec::new(); graph.entity_count()];
    for fact in graph.facts() {
        naive[fact.head.index()].push((fact.relation, fact.tail));
        naive[fact.tail.index()].push((fact.relation.inverse(), fact.head));
    }
    for entity in graph.entities() {
        let edges: Vec<_> =
            graph.neighbours(entity).iter().map(|edge| (edge.relation, edge.entity)).collect();
        assert_eq!(edges, naive[entity.index()]);
    }
}

#[test]
fn the_filter_knows_every_task_fact() {
    let Some(nell) = nell() else { return };
    for task in nell.tasks.iter() {
        for pair in task.facts {
            assert!(nell.tasks.known_tails(pair.head, task.relation).contains(&pair.tail));
        }
    }
    assert_eq!(nell.tasks.filter().len(), 6_280);
    assert_eq!(nell.tasks.filter().map(|(_, tails)| tails.len()).sum::<usize>(), 12_923);
}

#[test]
fn a_release_exported_and_imported_again_is_the_same() {
    let Some(nell) = nell() else { return };
    let dir = tempfile::tempdir().unwrap();
    let exported = dir.path().join("release");
    export_release(&exported, &nell.graph, &nell.tasks).unwrap();
    let again = import(&[Source::Path(exported.clone())], &ImportOptions::default(), &()).unwrap();
    assert_eq!(nell.graph, again.graph);
    assert_eq!(nell.tasks, again.tasks);
    let original = dataset("NELL-One").unwrap();
    for file in ["path_graph", "train_tasks.json", "dev_tasks.json", "test_tasks.json"] {
        assert!(
            std::fs::read(original.join(file)).unwrap() == std::fs::read(exported.join(file)).unwrap(),
            "{file} is not the released one byte for byte"
        );
    }
}

#[test]
fn facts_exported_in_any_format_and_imported_again_are_identical() {
    let Some(nell) = nell() else { return };
    let dir = tempfile::tempdir().unwrap();
    let expected = names(&nell.graph);
    for (format, file) in
        [(FactFormat::Tsv, "f.tsv"), (FactFormat::NTriples, "f.nt"), (FactFormat::Parquet, "f.parquet")]
    {
        let path = dir.path().join(file);
        let out = std::fs::File::create(&path).unwrap();
        export_facts(&nell.graph, nell.graph.facts(), format, std::io::BufWriter::new(out)).unwrap();
        let again = import(&[Source::Path(path)], &ImportOptions::default(), &()).unwrap();
        assert!(names(&again.graph) == expected, "{file}");
    }
}

#[test]
fn the_store_gives_back_the_same_graph_and_tasks() {
    let Some(nell) = nell() else { return };
    let dir = tempfile::tempdir().unwrap();
    Store::write(dir.path(), &nell.graph, &nell.tasks, nell.inputs.clone()).unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.graph, nell.graph);
    assert_eq!(store.tasks, nell.tasks);
    assert_eq!(store.manifest.inputs, nell.inputs);
    assert_eq!(
        store.graph.entity_label(store.graph.entity("concept:sport:baseball").unwrap()),
        Some("sport : baseball")
    );
}
