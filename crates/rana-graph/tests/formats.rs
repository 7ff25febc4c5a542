//! Every format in, compressed or not, in any order of columns; and out again.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};

use rana_graph::format::{
    Column, Columns, DelimitedOptions, FactFormat, Format, Header, Source, export_facts,
};
use rana_graph::{Duplicates, Graph, ImportOptions, Imported, Literals, TypeTriples, import};

fn file(dir: &Path, name: &str, content: impl AsRef<[u8]>) -> Source {
    let path = dir.join(name);
    std::fs::write(&path, content).unwrap();
    Source::Path(path)
}

fn read(sources: &[Source], options: &ImportOptions) -> Imported {
    import(sources, options, &()).unwrap_or_else(|error| panic!("{error}"))
}

fn facts(graph: &Graph) -> Vec<String> {
    graph
        .facts()
        .iter()
        .map(|f| {
            let relation = graph.relation_name(f.relation);
            format!("{} {relation} {}", graph.entity_name(f.head), graph.entity_name(f.tail))
        })
        .collect()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

const FACTS: [&str; 2] = ["paris capital_of france", "lyon located_in france"];

#[test]
fn delimited_text_is_read_without_options() {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("a.tsv", "paris\tcapital_of\tfrance\nlyon\tlocated_in\tfrance\n"),
        ("no_newline_at_end.tsv", "paris\tcapital_of\tfrance\nlyon\tlocated_in\tfrance"),
        ("b.csv", "paris,capital_of,france\r\nlyon,located_in,france\r\n"),
        ("quoted.csv", "\"paris\",\"capital_of\",\"france\"\n\"lyon\",located_in,france\n"),
        ("c.txt", "paris;capital_of;france\nlyon;located_in;france\n"),
        ("d", "paris|capital_of|france\nlyon|located_in|france\n"),
        ("e.txt", "paris capital_of france\n\nlyon located_in france\n"),
        ("byte_order_mark.csv", "\u{feff}paris,capital_of,france\nlyon,located_in,france\n"),
        ("header.csv", "predicate,object,subject\ncapital_of,france,paris\nlocated_in,france,lyon\n"),
        ("kgtk.tsv", "id\tnode1\tlabel\tnode2\n1\tparis\tcapital_of\tfrance\n2\tlyon\tlocated_in\tfrance\n"),
        ("neo4j.csv", ":START_ID,:END_ID,:TYPE\nparis,france,capital_of\nlyon,france,located_in\n"),
    ] {
        let imported = read(&[file(dir.path(), name, content)], &ImportOptions::default());
        assert_eq!(facts(&imported.graph), FACTS, "{name}");
        assert_eq!(imported.report.sources[0].format, "delimited", "{name}");
    }
}

#[test]
fn columns_can_be_named() {
    let dir = tempfile::tempdir().unwrap();
    let plain = file(dir.path(), "a.csv", "france,1,capital_of,paris\nfrance,2,located_in,lyon\n");
    let titled =
        file(dir.path(), "b.csv", "land,n,what,town\nfrance,1,capital_of,paris\nfrance,2,located_in,lyon\n");
    let by_order =
        DelimitedOptions { columns: Columns::from_order("t,_,r,h").unwrap(), ..Default::default() };
    let by_name = DelimitedOptions {
        columns: Columns {
            head: Some(Column::Name("town".into())),
            relation: Some(Column::Name("what".into())),
            tail: Some(Column::Number(1)),
        },
        ..Default::default()
    };
    let skipped_header = DelimitedOptions { header: Header::Yes, ..by_order.clone() };
    for (source, delimited) in [(&plain, by_order), (&titled, by_name), (&titled, skipped_header)] {
        let imported =
            read(std::slice::from_ref(source), &ImportOptions { delimited, ..ImportOptions::default() });
        assert_eq!(facts(&imported.graph), FACTS);
    }
}

#[test]
fn quotes_are_data_in_tab_separated_text() {
    let dir = tempfile::tempdir().unwrap();
    let imported = read(&[file(dir.path(), "a.tsv", "\"quoted\tr\t5\"\n")], &ImportOptions::default());
    assert_eq!(facts(&imported.graph), ["\"quoted r 5\""]);
}

const TURTLE: &str = r#"@prefix : <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:paris a :City ; :capital_of :france ; rdfs:label "Paris"@fr, "Paris (en)"@en ; :population 2100000 .
:lyon a :City, :Town ; :located_in :france ; skos:prefLabel "Lyon" ; :founded "-0043"^^<http://www.w3.org/2001/XMLSchema#gYear> .
:capital_of rdfs:label "capital of" .
"#;

fn rdf_facts() -> Vec<String> {
    let ex = "http://ex.org/";
    let rdf_type = rana_graph::RDF_TYPE;
    vec![
        format!("{ex}paris {rdf_type} {ex}City"),
        format!("{ex}paris {ex}capital_of {ex}france"),
        format!("{ex}lyon {rdf_type} {ex}City"),
        format!("{ex}lyon {rdf_type} {ex}Town"),
        format!("{ex}lyon {ex}located_in {ex}france"),
    ]
}

#[test]
fn turtle_gives_facts_labels_types_and_counted_literals() {
    let dir = tempfile::tempdir().unwrap();
    let source = file(dir.path(), "a.ttl", TURTLE);
    let imported = read(
        std::slice::from_ref(&source),
        &ImportOptions { language: Some("en".into()), ..Default::default() },
    );
    let graph = &imported.graph;
    assert_eq!(facts(graph), rdf_facts());
    let report = &imported.report.sources[0];
    assert_eq!((report.facts, report.labels, report.types), (5, 4, 3));
    assert_eq!((report.literals, report.literals_dropped), (2, 2));
    let entity = |name: &str| graph.entity(&format!("http://ex.org/{name}")).unwrap();
    assert_eq!(graph.entity_label(entity("paris")), Some("Paris (en)"));
    assert_eq!(graph.entity_label(entity("lyon")), Some("Lyon"));
    assert_eq!(graph.entity_label(entity("france")), None);
    let capital_of = graph.relation("http://ex.org/capital_of").unwrap();
    assert_eq!(graph.relation_label(capital_of), Some("capital of"));
    let types: Vec<_> = graph.types(entity("lyon")).iter().map(|t| graph.type_names().name(t.0)).collect();
    assert_eq!(types, ["http://ex.org/City", "http://ex.org/Town"]);

    let only_types = read(
        std::slice::from_ref(&source),
        &ImportOptions { type_triples: TypeTriples::Drop, ..Default::default() },
    );
    assert_eq!(only_types.report.counts.triples, 2);
    assert_eq!(only_types.report.counts.types, 2);
    let kept = read(&[source], &ImportOptions { literals: Literals::Keep, ..Default::default() });
    assert_eq!(kept.report.counts.triples, 7);
    assert!(kept.graph.entity("\"2100000\"^^<http://www.w3.org/2001/XMLSchema#integer>").is_some());
}

#[test]
fn the_rdf_formats_agree() {
    use oxrdfio::{RdfFormat, RdfParser, RdfSerializer};
    let dir = tempfile::tempdir().unwrap();
    for (format, name) in [
        (RdfFormat::NTriples, "a.nt"),
        (RdfFormat::NQuads, "a.nq"),
        (RdfFormat::Turtle, "b.ttl"),
        (RdfFormat::TriG, "a.trig"),
        (RdfFormat::RdfXml, "a.rdf"),
        (RdfFormat::NTriples, "detected_from_content"),
        (RdfFormat::RdfXml, "xml_detected_from_content"),
    ] {
        let mut writer = RdfSerializer::from_format(format).for_writer(Vec::new());
        for quad in RdfParser::from_format(RdfFormat::Turtle).for_slice(TURTLE.as_bytes()) {
            writer.serialize_quad(&quad.unwrap()).unwrap();
        }
        let content = writer.finish().unwrap();
        let imported = read(&[file(dir.path(), name, &content)], &ImportOptions::default());
        assert_eq!(facts(&imported.graph), rdf_facts(), "{name}");
        let packed =
            read(&[file(dir.path(), &format!("{name}.gz"), gzip(&content))], &ImportOptions::default());
        assert_eq!(packed.graph, imported.graph, "{name}.gz");
    }
}

#[test]
fn compression_is_seen_from_the_content() {
    let dir = tempfile::tempdir().unwrap();
    let plain = b"paris\tcapital_of\tfrance\nlyon\tlocated_in\tfrance\n";
    let zst = zstd::encode_all(&plain[..], 3).unwrap();
    let two_members = [gzip(&plain[..24]), gzip(&plain[24..])].concat();
    for (name, content) in [
        ("a.tsv.gz", gzip(plain)),
        ("a.tsv.zst", zst.clone()),
        ("no_ending_at_all", zst),
        ("concatenated.gz", two_members),
    ] {
        let imported = read(&[file(dir.path(), name, &content)], &ImportOptions::default());
        assert_eq!(facts(&imported.graph), FACTS, "{name}");
        assert_eq!(imported.inputs[0].bytes, content.len() as u64, "{name}: the raw file is what is counted");
    }
}

#[test]
fn the_hash_of_an_input_is_what_sha256sum_prints() {
    let dir = tempfile::tempdir().unwrap();
    let imported = read(&[file(dir.path(), "a.tsv", "a\tb\tc\n")], &ImportOptions::default());
    assert_eq!(imported.inputs[0].sha256, "bd56df9b747166a38de6b261ee06660e07909915c60eedf81312e4697bd1b8ea");
}

#[test]
fn several_files_make_one_graph_and_blank_nodes_stay_apart() {
    let dir = tempfile::tempdir().unwrap();
    let sources = [
        file(dir.path(), "a.nt", "_:x <http://p> <http://y> .\n"),
        file(dir.path(), "b.nt", "_:x <http://p> <http://y> .\n"),
        file(dir.path(), "c.tsv", "http://y\tq\tz\n"),
    ];
    let imported = read(&sources, &ImportOptions::default());
    assert_eq!(facts(&imported.graph), ["_:x http://p http://y", "_:f2.x http://p http://y", "http://y q z"]);
    assert_eq!(imported.inputs.len(), 3);
}

#[test]
fn a_directory_of_splits_is_read_whole() {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in
        [("test.txt", "e,r,f\n"), ("train.txt", "a,r,b\n"), ("valid.txt", "c,r,d\n"), ("LICENSE.txt", "no")]
    {
        file(dir.path(), name, content);
    }
    let imported = read(&[Source::Path(dir.path().to_owned())], &ImportOptions::default());
    assert_eq!(facts(&imported.graph), ["a r b", "c r d", "e r f"]);
}

#[test]
fn duplicates_and_self_loops_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let source = file(dir.path(), "a.tsv", "a\tr\tb\na\tr\tb\na\tr\ta\nb\tr\ta\na\tr\tb\n");
    let removed = read(std::slice::from_ref(&source), &ImportOptions::default());
    assert_eq!(
        (removed.report.duplicates, removed.report.self_loops, removed.report.counts.triples),
        (2, 1, 3)
    );
    assert_eq!(facts(&removed.graph), ["a r b", "a r a", "b r a"]);
    let kept = read(&[source], &ImportOptions { duplicates: Duplicates::Keep, ..Default::default() });
    assert_eq!((kept.report.duplicates, kept.report.counts.triples), (2, 5));
    let a = kept.graph.entity("a").unwrap();
    assert_eq!(kept.graph.degree(a), 6, "a self-loop counts twice");
}

#[test]
fn types_and_labels_from_tables() {
    let dir = tempfile::tempdir().unwrap();
    let source = file(dir.path(), "a.csv", "Q90,P31,Q515\nQ90,label,Paris\nQ90,P17,Q142\n");
    let options = ImportOptions {
        type_relations: vec!["P31".into()],
        label_relations: vec!["label".into()],
        ..Default::default()
    };
    let imported = read(&[source], &options);
    assert_eq!(facts(&imported.graph), ["Q90 P31 Q515", "Q90 P17 Q142"]);
    let paris = imported.graph.entity("Q90").unwrap();
    assert_eq!(imported.graph.entity_label(paris), Some("Paris"));
    assert_eq!(imported.graph.types(paris).len(), 1);
}

fn parquet_file(dir: &Path, name: &str, schema: &str, rows: &[[Option<&str>; 3]]) -> Source {
    use parquet::data_type::{ByteArray, ByteArrayType};
    use std::sync::Arc;
    let path: PathBuf = dir.join(name);
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let optional = schema.get_fields()[0].is_optional();
    let out = std::fs::File::create(&path).unwrap();
    let mut writer = parquet::file::writer::SerializedFileWriter::new(out, schema, Arc::default()).unwrap();
    for chunk in rows.chunks(2) {
        let mut group = writer.next_row_group().unwrap();
        let mut at = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            let values: Vec<ByteArray> =
                chunk.iter().filter_map(|row| row[at]).map(ByteArray::from).collect();
            let levels: Vec<i16> = chunk.iter().map(|row| i16::from(row[at].is_some())).collect();
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, optional.then_some(&levels[..]), None)
                .unwrap();
            column.close().unwrap();
            at += 1;
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    Source::Path(path)
}

const OPTIONAL: &str = "message m { optional binary object (UTF8); optional binary subject (UTF8); optional binary predicate (UTF8); }";

#[test]
fn parquet_columns_are_found_by_name_and_nulls_are_malformed() {
    let dir = tempfile::tempdir().unwrap();
    let rows = [
        [Some("france"), Some("paris"), Some("capital_of")],
        [Some("france"), Some("lyon"), Some("located_in")],
        [None, Some("nowhere"), Some("located_in")],
    ];
    let good = parquet_file(dir.path(), "a.parquet", OPTIONAL, &rows[..2]);
    assert_eq!(facts(&read(&[good], &ImportOptions::default()).graph), FACTS);
    let bad = parquet_file(dir.path(), "b.parquet", OPTIONAL, &rows);
    let error = import(std::slice::from_ref(&bad), &ImportOptions::default(), &()).unwrap_err().to_string();
    assert!(error.contains("b.parquet:3:1: row 3: column `object` is null"), "{error}");
    let lenient = read(&[bad], &ImportOptions { lenient: true, ..Default::default() });
    assert_eq!(lenient.report.sources[0].malformed, 1);
    assert_eq!(facts(&lenient.graph), FACTS);
}

#[test]
fn any_name_survives_export_and_import() {
    let names = [
        "paris",
        "with space",
        "http://ex.org/x",
        "\"a \\\"literal\\\"\"@en",
        "_:blank",
        "ümläut",
        "a,b;c|d",
        "%41",
        "<x>",
    ];
    let mut builder = rana_graph::GraphBuilder::new(Duplicates::Keep);
    for (at, name) in names.iter().enumerate() {
        builder.add_named(names[(at + 4) % 3], "is near/to", name);
    }
    let graph = builder.finish();
    let dir = tempfile::tempdir().unwrap();
    for (format, name) in
        [(FactFormat::Tsv, "f.tsv"), (FactFormat::NTriples, "f.nt"), (FactFormat::Parquet, "f.parquet")]
    {
        let path = dir.path().join(name);
        export_facts(&graph, graph.facts(), format, std::fs::File::create(&path).unwrap()).unwrap();
        let options =
            ImportOptions { literals: Literals::Keep, duplicates: Duplicates::Keep, ..Default::default() };
        assert_eq!(facts(&read(&[Source::Path(path)], &options).graph), facts(&graph), "{name}");
    }
}

#[test]
fn a_format_can_be_set() {
    let dir = tempfile::tempdir().unwrap();
    let source = file(dir.path(), "turtle.txt", "<http://a> a <http://b> .");
    let options = ImportOptions { format: Some(Format::Turtle), ..Default::default() };
    assert_eq!(read(&[source], &options).report.counts.triples, 1);
}

#[test]
fn commas_inside_quotes_do_not_decide_about_the_delimiter() {
    let dir = tempfile::tempdir().unwrap();
    let content = "\"Doe, John\",knows,\"Roe, Jane\"\n\"Poe, Ann\", knows ,\"Doe, John\"\n";
    let imported = read(&[file(dir.path(), "people.csv", content)], &ImportOptions::default());
    assert_eq!(facts(&imported.graph), ["Doe, John knows Roe, Jane", "Poe, Ann knows Doe, John"]);
}

#[test]
fn anonymous_nodes_have_the_same_names_every_time() {
    let dir = tempfile::tempdir().unwrap();
    let content = "@prefix : <http://e/> . :a :p [ :q ( :x :y ) ] , _:z . _:z :p [] .";
    let source = file(dir.path(), "a.ttl", content);
    let once = read(std::slice::from_ref(&source), &ImportOptions::default());
    let again = read(std::slice::from_ref(&source), &ImportOptions::default());
    assert_eq!(facts(&once.graph), facts(&again.graph));
    assert!(once.graph.entity("_:b0").is_some());
}

#[test]
fn a_parquet_source_in_memory_is_not_looked_for_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let rows = [
        [Some("france"), Some("paris"), Some("capital_of")],
        [Some("france"), Some("lyon"), Some("located_in")],
    ];
    let on_disk = parquet_file(dir.path(), "a.parquet", OPTIONAL, &rows[..1]);
    let elsewhere = parquet_file(dir.path(), "b.parquet", OPTIONAL, &rows);
    let bytes = std::fs::read(elsewhere.path().unwrap()).unwrap();
    let memory = Source::Memory { name: on_disk.name(), bytes: bytes.into() };
    assert_eq!(facts(&read(&[memory], &ImportOptions::default()).graph), FACTS);
}

#[test]
fn parquet_integers_keep_their_sign_and_dates_are_refused() {
    use parquet::data_type::{Int32Type, Int64Type};
    use std::sync::Arc;
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, first: &str| {
        let path = dir.path().join(name);
        let schema = format!(
            "message m {{ required {first}; required int64 relation; required int64 tail (UINT_64); }}"
        );
        let schema = Arc::new(parquet::schema::parser::parse_message_type(&schema).unwrap());
        let out = std::fs::File::create(&path).unwrap();
        let mut writer =
            parquet::file::writer::SerializedFileWriter::new(out, schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for at in 0..3 {
            let mut column = group.next_column().unwrap().unwrap();
            if at == 0 {
                column.typed::<Int32Type>().write_batch(&[-5], None, None).unwrap();
            } else {
                column.typed::<Int64Type>().write_batch(&[-5], None, None).unwrap();
            }
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        Source::Path(path)
    };
    let imported = read(&[write("a.parquet", "int32 head (UINT_32)")], &ImportOptions::default());
    assert_eq!(facts(&imported.graph), ["4294967291 -5 18446744073709551611"]);
    let error =
        import(&[write("b.parquet", "int32 head (DATE)")], &ImportOptions::default(), &()).unwrap_err();
    assert!(error.to_string().contains("column `head` holds DATE values"), "{error}");
}

#[test]
fn a_language_is_also_found_in_its_regional_form() {
    let dir = tempfile::tempdir().unwrap();
    let label = "<http://www.w3.org/2000/01/rdf-schema#label>";
    let content = format!("<http://a> <http://p> <http://b> ; {label} \"Ach\"@de , \"Ah\"@en-GB , \"Oh\" .");
    let source = file(dir.path(), "a.ttl", content);
    let chosen = |language: &str| {
        let options = ImportOptions { language: Some(language.into()), ..Default::default() };
        let graph = read(std::slice::from_ref(&source), &options).graph;
        graph.entity_label(graph.entity("http://a").unwrap()).unwrap().to_owned()
    };
    assert_eq!([chosen("en"), chosen("en-GB"), chosen("de"), chosen("fr")], ["Ah", "Ah", "Ach", "Oh"]);
}

/// Filter keys without a separator, and types that are not part of names, must survive a release.
#[test]
fn a_release_keeps_ambiguous_filter_keys_and_types() {
    use rana_graph::format::export_release;
    use rana_graph::{GraphBuilder, Pair, Split, TaskSetBuilder};
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for (head, tail) in [("1", "11"), ("11", "111"), ("1", "111")] {
        builder.add_named(head, "9", tail);
    }
    for (name, type_name) in [("1", "one"), ("11", "two"), ("11", "twin")] {
        let entity = builder.entity(name).unwrap();
        builder.add_type(entity, type_name);
    }
    // `1` with `11` and `11` with `1` give the same key.
    for relation in ["11", "1"] {
        builder.add_task_relation(relation).unwrap();
    }
    let graph = builder.finish();
    let entity = |name: &str| graph.entity(name).unwrap();
    let mut tasks = TaskSetBuilder::default();
    for (relation, head, tail) in [("11", "1", "11"), ("1", "11", "111")] {
        let relation = graph.relation(relation).unwrap();
        tasks.add_task(Split::Train, relation, vec![Pair { head: entity(head), tail: entity(tail) }]);
        tasks.add_candidates(relation, vec![entity(tail)]);
    }
    tasks.filter_from_tasks();
    let tasks = tasks.finish();
    let dir = tempfile::tempdir().unwrap();
    // With a slash at the end, as completion leaves it.
    let release = dir.path().join("release/");
    export_release(&release, &graph, &tasks).unwrap();
    let again = read(&[Source::Path(release.clone())], &ImportOptions::default());
    assert_eq!(again.tasks, tasks);
    let types = |graph: &Graph, name: &str| {
        let types = graph.types(graph.entity(name).unwrap()).iter();
        types.map(|type_id| graph.type_names().name(type_id.0).to_owned()).collect::<Vec<_>>()
    };
    for name in ["1", "11", "111"] {
        assert_eq!(types(&again.graph, name), types(&graph, name));
    }
    let options = ImportOptions { type_relations: vec!["9".into()], ..Default::default() };
    let error = import(&[Source::Path(release)], &options, &()).unwrap_err().to_string();
    assert!(error.contains("the option `type_relations` does not apply to a release directory"), "{error}");
}

#[test]
#[cfg(unix)]
fn pipes_and_links_are_written_through() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("target");
    let link = dir.path().join("link");
    std::fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    rana_graph::write_file_atomically(&link, |out| writeln!(out, "new")).unwrap();
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "new\n");
    assert!(link.symlink_metadata().unwrap().is_symlink());

    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    rana_graph::write_file_atomically(&pipe, |out| writeln!(out, "through")).unwrap();
    assert_eq!(reader.join().unwrap(), "through\n");
    assert!(!pipe.metadata().unwrap().is_file(), "the pipe is still a pipe");
}
