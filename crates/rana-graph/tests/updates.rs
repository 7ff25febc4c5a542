//! Updates that version 1 wrote are read and give the same graph.

use std::fs;
use std::path::Path;

use rana_graph::{Duplicates, GraphBuilder, UpdateLayers};

#[test]
fn updates_of_version_1_are_read() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for (head, relation, tail) in [("a", "r", "b"), ("b", "s", "c"), ("c", "r", "a")] {
        builder.add_named(head, relation, tail);
    }
    let base = builder.finish();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/updates-v1");
    let files = || {
        let mut files: Vec<_> = fs::read_dir(&fixture).unwrap().map(|of| of.unwrap().file_name()).collect();
        files.sort();
        files
    };
    let before = files();
    let layers = UpdateLayers::read(&fixture, &base).unwrap();
    assert_eq!(files(), before, "reading writes nothing");
    assert_eq!(layers.layers, 2);
    let graph = layers.update.applied(&base);
    let facts: Vec<String> = graph
        .facts()
        .iter()
        .map(|fact| {
            let [head, tail] = [fact.head, fact.tail].map(|entity| graph.entity_name(entity));
            format!("{head} {} {tail}", graph.relation_name(fact.relation))
        })
        .collect();
    assert_eq!(facts, ["a r b", "b s c", "c r a", "c t d"]);
    let new = graph.entity("d").unwrap();
    assert_eq!(graph.entity_label(new), Some("Dee"));
    assert_eq!(graph.types(new).len(), 1);
    assert_eq!(graph.type_relations(), [graph.relation("t").unwrap()]);
    // Entities and relations of the base keep their ids.
    for entity in base.entities() {
        assert_eq!(base.entity_name(entity), graph.entity_name(entity));
    }
    assert_eq!(graph.relation("s"), base.relation("s"));
}
