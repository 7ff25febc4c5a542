//! Held-out facts: read beside a graph, kept out of it, counted.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use rana_graph::format::Source;
use rana_graph::{
    Duplicates, Fact, Graph, GraphBuilder, HeldOut, HeldOutReport, ImportOptions, Imported, Store, TaskSet,
    import,
};

#[path = "../../../tests/datasets.rs"]
mod datasets;

fn file(dir: &Path, name: &str, content: &str) -> Source {
    let path = dir.join(name);
    std::fs::write(&path, content).unwrap();
    Source::Path(path)
}

fn read(sources: &[Source], options: &ImportOptions) -> Imported {
    import(sources, options, &()).unwrap_or_else(|error| panic!("{error}"))
}

fn named(graph: &Graph, facts: &[Fact]) -> Vec<String> {
    let name = |fact: &Fact| {
        let [head, tail] = [fact.head, fact.tail].map(|entity| graph.entity_name(entity));
        format!("{head} {} {tail}", graph.relation_name(fact.relation))
    };
    facts.iter().map(name).collect()
}

#[test]
fn held_out_facts_are_no_part_of_the_graph() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    // The order of calls does not matter: the graph may grow after facts were held out.
    assert!(builder.add_held_out_named(HeldOut::Test, "lyon", "located_in", "france"));
    assert!(!builder.add_held_out_named(HeldOut::Test, "lyon", "located_in", "france"));
    assert!(builder.add_held_out_named(HeldOut::Valid, "lyon", "located_in", "france"));
    builder.add_named("paris", "located_in", "france");
    builder.add_named("lyon", "located_in", "france");
    let report = HeldOutReport { facts: 1, duplicates: 1, in_graph: 1, new_entities: 2, new_relations: 1 };
    assert_eq!(builder.held_out_report(HeldOut::Test), report);
    let report = HeldOutReport { facts: 1, in_graph: 1, ..HeldOutReport::default() };
    assert_eq!(builder.held_out_report(HeldOut::Valid), report);
    assert_eq!(builder.duplicate_count(), 0);
    let graph = builder.finish();
    assert_eq!(named(&graph, graph.facts()), ["paris located_in france", "lyon located_in france"]);
    assert_eq!(graph.degree(graph.entity("france").unwrap()), 2);
}

#[test]
fn repeated_held_out_facts_stay_where_duplicates_are_kept() {
    let mut builder = GraphBuilder::new(Duplicates::Keep);
    for _ in 0..2 {
        assert!(builder.add_held_out_named(HeldOut::Valid, "a", "r", "b"));
    }
    assert_eq!(builder.finish().held_out(HeldOut::Valid).len(), 2);
}

#[cfg(feature = "rdf")]
#[test]
fn files_are_held_out_after_the_graph_whatever_their_format() {
    use rana_graph::{FewShotRule, Statistics};
    let dir = tempfile::tempdir().unwrap();
    let options = ImportOptions {
        valid: vec![file(dir.path(), "v.csv", "c,r,a\na,r,b\n")],
        test: vec![
            file(dir.path(), "t.tsv", "a\ts\td\n"),
            file(dir.path(), "u.nt", "<a:a> <a:r> <a:b> .\n<a:a> <a:r> <a:b> .\n"),
        ],
        ..ImportOptions::default()
    };
    let imported = read(&[file(dir.path(), "g.tsv", "a\tr\tb\nb\tr\ta\n")], &options);
    let graph = &imported.graph;
    assert_eq!(named(graph, graph.facts()), ["a r b", "b r a"]);
    assert_eq!(named(graph, graph.held_out(HeldOut::Valid)), ["c r a", "a r b"]);
    assert_eq!(named(graph, graph.held_out(HeldOut::Test)), ["a s d", "a:a a:r a:b"]);
    assert_eq!(graph.entity_names().iter().collect::<Vec<_>>(), ["a", "b", "c", "d", "a:a", "a:b"]);
    assert_eq!(graph.degree(graph.entity("c").unwrap()), 0);
    assert!(graph.is_background(graph.relation("s").unwrap()));

    let report = &imported.report;
    let valid = HeldOutReport { facts: 2, duplicates: 0, in_graph: 1, new_entities: 1, new_relations: 0 };
    let test = HeldOutReport { facts: 2, duplicates: 1, in_graph: 0, new_entities: 3, new_relations: 2 };
    assert_eq!(report.held_out, [(HeldOut::Valid, valid), (HeldOut::Test, test)].into());
    assert_eq!(report.counts.held_out, [(HeldOut::Valid, 2), (HeldOut::Test, 2)].into());
    assert_eq!((report.counts.triples, report.duplicates), (2, 0));
    let parts: Vec<_> = report.sources.iter().map(|source| source.held_out).collect();
    assert_eq!(parts, [None, Some(HeldOut::Valid), Some(HeldOut::Test), Some(HeldOut::Test)]);
    assert_eq!(imported.inputs.len(), 4);
    let statistics = Statistics::of(graph, &imported.tasks, FewShotRule::default());
    assert_eq!(statistics.held_out, report.counts.held_out);
}

#[test]
fn a_held_out_type_is_not_known_from_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let options = ImportOptions {
        type_relations: vec!["is_a".to_owned()],
        test: vec![file(dir.path(), "t.tsv", "lyon\tis_a\tcity\n")],
        ..ImportOptions::default()
    };
    let imported = read(&[file(dir.path(), "g.tsv", "paris\tis_a\tcity\nlyon\tin\tfrance\n")], &options);
    let types = |name| imported.graph.types(imported.graph.entity(name).unwrap()).len();
    assert_eq!((types("paris"), types("lyon")), (1, 0));
    assert_eq!(imported.graph.held_out(HeldOut::Test).len(), 1);
}

#[test]
fn a_directory_of_splits_holds_out_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in [("test.txt", "e,r,f\n"), ("train.txt", "a,r,b\n"), ("valid.txt", "c,r,d\n")] {
        file(dir.path(), name, content);
    }
    let source = [Source::Path(dir.path().to_owned())];
    let whole = read(&source, &ImportOptions::default());
    assert_eq!(whole.graph.facts().len(), 3);
    assert!(whole.report.held_out.is_empty());
    let splits = read(&source, &ImportOptions { splits: true, ..ImportOptions::default() });
    assert_eq!(named(&splits.graph, splits.graph.facts()), ["a r b"]);
    assert_eq!(named(&splits.graph, splits.graph.held_out(HeldOut::Valid)), ["c r d"]);
    assert_eq!(named(&splits.graph, splits.graph.held_out(HeldOut::Test)), ["e r f"]);
}

#[test]
fn splits_that_are_not_there_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let options = ImportOptions { splits: true, ..ImportOptions::default() };
    let error = |source: Source| import(&[source], &options, &()).unwrap_err().to_string();
    let single = error(file(dir.path(), "test.txt", "a,r,b\n"));
    assert!(single.contains("test.txt") && single.contains("one by one"), "{single}");
    let directory = error(Source::Path(dir.path().to_owned()));
    assert!(directory.contains("need a train file"), "{directory}");
}

#[test]
fn a_malformed_held_out_file_is_named_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let graph = [file(dir.path(), "g.tsv", "a\tr\tb\n")];
    let test = vec![file(dir.path(), "t.tsv", "a\tr\tb\na\tr\n")];
    let options = ImportOptions { test, ..ImportOptions::default() };
    let error = import(&graph, &options, &()).unwrap_err().to_string();
    assert!(error.contains("t.tsv:2"), "{error}");
    let lenient = read(&graph, &ImportOptions { lenient: true, ..options });
    assert_eq!(lenient.report.held_out[&HeldOut::Test].facts, 1);
    assert_eq!(lenient.report.sources[1].malformed, 1);
}

#[test]
fn fb15k_237_has_its_published_counts() {
    let Some(path) = datasets::dataset("FB15k-237") else { return };
    let options = ImportOptions { splits: true, ..ImportOptions::default() };
    let fb = read(&[Source::Path(path)], &options);
    let counts = &fb.report.counts;
    assert_eq!((counts.entities, counts.relations, counts.triples), (14_541, 237, 272_115));
    assert_eq!(counts.held_out, [(HeldOut::Valid, 17_535), (HeldOut::Test, 20_466)].into());
    // Known of this data set: nothing leaks, and 36 entities have no training fact.
    let [valid, test] = HeldOut::ALL.map(|part| fb.report.held_out[&part]);
    assert_eq!((valid.duplicates, valid.in_graph, valid.new_relations), (0, 0, 0));
    assert_eq!((test.duplicates, test.in_graph, test.new_relations), (0, 0, 0));
    assert_eq!(valid.new_entities + test.new_entities, 36);
    let dir = tempfile::tempdir().unwrap();
    Store::write(dir.path(), &fb.graph, &TaskSet::default(), fb.inputs).unwrap();
    assert_eq!(Store::open(dir.path()).unwrap().graph, fb.graph);
}

#[test]
fn a_fingerprint_is_of_names_and_facts_alone() {
    let graph = |facts: &[[&str; 3]], held_out: &[[&str; 3]]| {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for [head, relation, tail] in facts {
            builder.add_named(head, relation, tail);
        }
        for [head, relation, tail] in held_out {
            builder.add_held_out_named(HeldOut::Test, head, relation, tail);
        }
        builder.finish()
    };
    let facts = [["a", "r", "b"], ["b", "r", "a"]];
    let fingerprint = graph(&facts, &[]).fingerprint();
    assert_eq!(graph(&facts, &[["a", "r", "a"]]).fingerprint(), fingerprint);
    for (facts, held_out) in [
        (vec![facts[0]], vec![]),
        (vec![facts[1], facts[0]], vec![]),
        (facts.to_vec(), vec![["c", "r", "a"]]),
        (facts.to_vec(), vec![["a", "s", "a"]]),
        (vec![["a", "rb", "b"], ["b", "rb", "a"]], vec![]),
    ] {
        assert_ne!(graph(&facts, &held_out).fingerprint(), fingerprint);
    }
    let dir = tempfile::tempdir().unwrap();
    Store::write(dir.path(), &graph(&facts, &[]), &TaskSet::default(), Vec::new()).unwrap();
    assert_eq!(Store::open(dir.path()).unwrap().graph.fingerprint(), fingerprint);
}
