//! Bad input: each case is an error that names the place, and is skipped or not by a lenient import.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use rana_graph::format::{ExportError, FactFormat, FormatError, Source, export_facts, export_release};
use rana_graph::{Duplicates, GraphBuilder, ImportOptions, TaskSet, import};

/// Imports one file and gives the message of the failure, without the directory.
fn failure(name: &str, content: impl AsRef<[u8]>) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    let error = import(&[Source::Path(path)], &ImportOptions::default(), &()).expect_err(name);
    error.to_string().replace(&format!("{}/", dir.path().display()), "")
}

/// Imports one file leniently and gives the number of facts and of malformed places.
fn lenient(name: &str, content: impl AsRef<[u8]>) -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    let options = ImportOptions { lenient: true, ..Default::default() };
    let imported = import(&[Source::Path(path)], &options, &()).unwrap();
    assert_eq!(imported.report.first_malformed.len() as u64, imported.report.sources[0].malformed);
    (imported.report.counts.triples, imported.report.sources[0].malformed)
}

#[test]
fn wrong_column_count() {
    let content = "a\tr\tb\nc\tr\nd\tr\te\tf\ng\tr\th\n";
    assert_eq!(failure("a.tsv", content), "a.tsv:2:3: expected 3 columns, found 2");
    assert_eq!(lenient("a.tsv", content), (2, 2));
    assert_eq!(
        failure("b.csv", "a,b,c,d\ne,f,g,h\n"),
        "b.csv: 4 columns, expected 3 (head, relation, tail). Say which columns hold them"
    );
}

#[test]
fn an_empty_name() {
    assert_eq!(failure("a.csv", "a,r,b\nc,,d\n"), "a.csv:2:3: column 2 is empty, expected a name");
}

#[test]
fn invalid_utf8() {
    let content = b"a\tr\tb\nc\tr\td\xff\n";
    assert_eq!(
        failure("a.tsv", content),
        "a.tsv:2:6: invalid UTF-8 in column 3. Convert the file to UTF-8 first"
    );
    assert_eq!(lenient("a.tsv", content), (1, 1));
    assert!(failure("u.csv", b"\xff\xfea\0,\0r\0").contains("UTF-16"));
}

#[cfg(feature = "rdf")]
#[test]
fn invalid_utf8_in_rdf() {
    let message = failure("a.nt", b"<http://a> <http://b> <http://c> .\n<http://a> <http://b> \"\xff\" .\n");
    assert!(message.starts_with("a.nt:2:"), "{message}");
}

#[test]
fn an_empty_file() {
    assert_eq!(failure("a.tsv", ""), "a.tsv: the file is empty, expected one fact per line");
    assert_eq!(failure("b.csv", "\n\n"), "b.csv: the file is empty, expected one fact per line");
    let nothing = failure("a.parquet", "");
    assert!(nothing.contains("named like Parquet"), "{nothing}");
}

#[cfg(feature = "rdf")]
#[test]
fn an_empty_rdf_file() {
    assert_eq!(failure("a.nt", "\n"), "a.nt: the file is empty, expected RDF statements");
    assert_eq!(failure("a.ttl", ""), "a.ttl: the file is empty, expected RDF statements");
}

#[test]
fn a_file_that_is_not_what_its_name_says() {
    assert_eq!(
        failure("a.tsv", "<http://a> <http://b> <http://c> .\n"),
        "a.tsv: named like delimited text, but the content looks like N-Triples. Rename it, or set the format to ntriples"
    );
    assert_eq!(
        failure("a.nt", "<?xml version=\"1.0\"?><rdf:RDF/>"),
        "a.nt: named like N-Triples, but the content looks like RDF/XML. Rename it, or set the format to rdfxml"
    );
    assert!(failure("a.parquet", "a\tr\tb\n").contains("does not begin as a Parquet file does"));
    assert!(failure("a.tsv.gz", "a\tr\tb\n").contains("does not begin as gzip does"));
    assert!(failure("a.tsv.bz2", "BZh9").contains("not supported"));
    assert!(
        failure("prose.txt", "This is not a graph at all.\nIt has lines of words.\n")
            .contains("no format recognised")
    );
}

#[cfg(feature = "compression")]
fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, content).unwrap();
    encoder.finish().unwrap()
}

#[cfg(feature = "compression")]
#[test]
fn a_truncated_or_damaged_archive() {
    let lines: String =
        (0..5000).map(|n| format!("entity{n}\trelation{}\tentity{}\n", n % 7, n * 31 % 5000)).collect();
    let packed = gzip(lines.as_bytes());
    let cut = failure("a.tsv.gz", &packed[..packed.len() / 2]);
    assert!(cut.starts_with("a.tsv.gz: the gzip data is cut short or damaged"), "{cut}");
    let mut altered = packed.clone();
    altered[packed.len() / 2] ^= 0x55;
    let message = failure("b.tsv.gz", &altered);
    assert!(message.starts_with("b.tsv.gz"), "{message}");
    let packed = zstd::encode_all(lines.as_bytes(), 3).unwrap();
    let cut = failure("c.nt.zst", &packed[..packed.len() / 2]);
    assert!(cut.starts_with("c.nt.zst: the zstd data is cut short or damaged"), "{cut}");
}

#[cfg(feature = "rdf")]
#[test]
fn broken_turtle_at_a_known_line() {
    let content = "@prefix : <http://ex.org/> .\n:a :r :b .\n:c :r ] .\n:d :r :e .\n";
    let message = failure("a.ttl", content);
    assert!(message.starts_with("a.ttl:3:7: "), "{message}");
    let (facts, malformed) = lenient("a.ttl", content);
    assert!(facts >= 1 && malformed >= 1, "{facts} facts, {malformed} malformed");
    assert!(failure("b.nt", "a\tr\tb\n").starts_with("b.nt:1:"), "the parser names the place");
    let lines = "<http://a> <http://r> <http://b> .\nnonsense\n<http://c> <http://r> <http://d> .\n";
    assert!(failure("a.nt", lines).starts_with("a.nt:2:1: "));
    assert_eq!(lenient("a.nt", lines), (2, 1));
}

#[cfg(feature = "rdf")]
#[test]
fn broken_xml() {
    let message = failure(
        "a.rdf",
        "<?xml version=\"1.0\"?>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description>",
    );
    assert_eq!(
        message,
        "a.rdf: the XML ends before its root element `rdf:RDF` is closed: cut short. Fetch it again"
    );
    let message = failure(
        "b.rdf",
        "<?xml version=\"1.0\"?>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n</a></rdf:RDF>",
    );
    assert!(message.starts_with("b.rdf: "), "{message}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_without_the_columns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("a", "r", "b");
    let graph = builder.finish();
    export_facts(&graph, graph.facts(), FactFormat::Parquet, std::fs::File::create(&path).unwrap()).unwrap();
    let mut options = ImportOptions::default();
    options.delimited.columns.head = Some("who".parse().unwrap());
    let error = import(&[Source::Path(path.clone())], &options, &()).unwrap_err().to_string();
    assert!(
        error.ends_with("there is no column `who`; the columns are `head`, `relation`, `tail`"),
        "{error}"
    );
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = import(&[Source::Path(path)], &ImportOptions::default(), &()).unwrap_err().to_string();
    assert!(error.contains("the Parquet data is cut short or damaged"), "{error}");
}

#[test]
fn a_missing_file_and_a_directory_of_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let missing =
        import(&[Source::Path(dir.path().join("none.tsv"))], &ImportOptions::default(), &()).unwrap_err();
    assert!(missing.to_string().contains("could not open the file: No such file"), "{missing}");
    let empty = import(&[Source::Path(dir.path().to_owned())], &ImportOptions::default(), &()).unwrap_err();
    assert!(empty.to_string().contains("neither `path_graph`"), "{empty}");
}

/// A small sound release, to be broken in one place at a time.
fn release(dir: &Path) {
    for (name, content) in [
        ("path_graph", "a\tnear\tb\nb\tnear\tc\n"),
        ("train_tasks.json", r#"{"likes": [["a", "likes", "b"]]}"#),
        ("dev_tasks.json", r#"{"knows": [["b", "knows", "c"]]}"#),
        ("test_tasks.json", r#"{"sees": [["c", "sees", "a"]]}"#),
        ("rel2candidates.json", r#"{"likes": ["a", "b"], "knows": ["c"], "sees": ["a"]}"#),
        ("e1rel_e2.json", r#"{"alikes": ["b"], "bknows": ["c"], "csees": ["a"]}"#),
        ("ent2ids", r#"{"c": 2, "a": 0, "b": 1}"#),
        ("relation2ids", r#"{"near": 0, "near_inv": 1}"#),
    ] {
        std::fs::write(dir.join(name), content).unwrap();
    }
}

/// The message of a release broken by `content` in `file`, and the counts a lenient import still gives.
fn broken_release(file: &str, content: &str) -> (String, Option<(u64, u64)>) {
    let dir = tempfile::tempdir().unwrap();
    release(dir.path());
    std::fs::write(dir.path().join(file), content).unwrap();
    let source = [Source::Path(dir.path().to_owned())];
    let error = import(&source, &ImportOptions::default(), &()).expect_err(file).to_string();
    let lenient = import(&source, &ImportOptions { lenient: true, ..Default::default() }, &()).ok();
    let counts = lenient.map(|imported| {
        let facts = imported.report.counts.tasks.values().map(|tasks| tasks.facts).sum();
        (facts, imported.report.sources[0].malformed)
    });
    (error.replace(&format!("{}/", dir.path().display()), ""), counts)
}

#[test]
fn the_small_release_is_sound() {
    let dir = tempfile::tempdir().unwrap();
    release(dir.path());
    let imported = import(&[Source::Path(dir.path().to_owned())], &ImportOptions::default(), &()).unwrap();
    assert_eq!(imported.tasks.len(), 3);
    assert_eq!(imported.graph.entity_name(rana_graph::EntityId(2)), "c");
}

#[test]
fn an_unknown_entity_in_a_task() {
    let (error, lenient) =
        broken_release("dev_tasks.json", r#"{"knows": [["b", "knows", "zoe"], ["b", "knows", "c"]]}"#);
    assert_eq!(
        error,
        "dev_tasks.json: fact 1 of the task `knows` names the entity `zoe`, which the graph does not have"
    );
    assert_eq!(lenient, Some((3, 1)));
}

#[test]
fn a_task_relation_that_also_stands_in_the_background() {
    let (error, lenient) = broken_release("test_tasks.json", r#"{"near": [["c", "near", "a"]]}"#);
    assert!(
        error.starts_with("test_tasks.json: the test task `near` also has facts in path_graph"),
        "{error}"
    );
    assert_eq!(lenient, None, "a leak of answers is never skipped");
}

#[test]
fn a_relation_in_two_splits() {
    let (error, _) = broken_release("test_tasks.json", r#"{"likes": [["c", "likes", "a"]]}"#);
    assert_eq!(
        error,
        "test_tasks.json: the test task `likes` is a task already; a relation belongs to one split"
    );
}

#[test]
fn candidates_with_unknown_names() {
    let (error, lenient) = broken_release("rel2candidates.json", r#"{"likes": ["a", "nobody"]}"#);
    assert_eq!(
        error,
        "rel2candidates.json: the candidates of `likes` name `nobody`, which the graph does not have"
    );
    assert_eq!(lenient, Some((3, 1)));
}

#[test]
fn filter_keys_that_mean_nothing() {
    let (error, lenient) = broken_release("e1rel_e2.json", r#"{"alikes": ["b"], "adislikes": ["b"]}"#);
    assert_eq!(
        error,
        "e1rel_e2.json: the key `adislikes` is not the name of an entity followed by the name of a relation"
    );
    assert_eq!(lenient, Some((3, 1)));
}

#[test]
fn vocabularies_with_gaps_or_without_a_name() {
    let (error, _) = broken_release("ent2ids", r#"{"a": 0, "b": 1, "c": 3}"#);
    assert!(error.starts_with("ent2ids: row numbers must be 0, 1, 2, … without gaps"), "{error}");
    let (error, _) = broken_release("ent2ids", r#"{"a": 0, "b": 1}"#);
    assert_eq!(error, "path_graph:2: the entity `c` is not in ent2ids");
    let (error, _) = broken_release("relation2ids", r#"{"far": 0, "far_inv": 1}"#);
    assert_eq!(error, "path_graph:1: the relation `near` is not in relation2ids");
}

#[test]
fn a_fact_under_the_wrong_relation_and_json_that_ends_early() {
    let (error, _) = broken_release("train_tasks.json", r#"{"likes": [["a", "hates", "b"]]}"#);
    assert_eq!(error, "train_tasks.json: fact 1 of the task `likes` states the relation `hates`");
    let (error, _) = broken_release("train_tasks.json", r#"{"likes": [["a", "likes""#);
    assert!(error.starts_with("train_tasks.json:1:24: not the JSON of a release"), "{error}");
    let (error, _) = broken_release("path_graph", "");
    assert_eq!(error, "path_graph: the file is empty, expected one fact per line");
}

#[test]
fn a_release_beside_another_source() {
    let dir = tempfile::tempdir().unwrap();
    release(dir.path());
    let sources = [Source::Path(dir.path().to_owned()), Source::Stdin];
    let error = import(&sources, &ImportOptions::default(), &()).unwrap_err();
    assert!(matches!(error, FormatError::Release { .. }), "{error}");
}

#[test]
fn names_that_a_table_cannot_hold_are_refused_on_the_way_out() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("two\nlines", "r", "b");
    let graph = builder.finish();
    let error = export_facts(&graph, graph.facts(), FactFormat::Tsv, Vec::new()).unwrap_err();
    assert!(matches!(error, ExportError::Name { .. }), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("release");
    assert!(export_release(&target, &graph, &TaskSet::default()).is_err());
    assert!(!target.exists());
}

#[cfg(all(feature = "parquet", feature = "rdf"))]
#[test]
fn a_full_disk_while_exporting() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        eprintln!("skipped: a_full_disk_while_exporting needs /dev/full");
        return;
    }
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("a", "r", "b");
    let graph = builder.finish();
    for format in [FactFormat::Tsv, FactFormat::NTriples, FactFormat::Parquet] {
        let out = std::fs::OpenOptions::new().write(true).open(full).unwrap();
        let error = export_facts(&graph, graph.facts(), format, out).unwrap_err().to_string();
        assert!(error.contains("No space left on device"), "{error}");
    }
}

#[test]
fn an_export_leaves_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.tex"), "precious").unwrap();
    let graph = GraphBuilder::new(Duplicates::Remove).finish();
    let error = export_release(dir.path(), &graph, &TaskSet::default()).unwrap_err().to_string();
    assert!(error.contains("is left alone"), "{error}");
}

#[test]
fn a_quote_that_is_never_closed() {
    let content = "a,r,b\nc,r,\"d\ne,r,f\ng,r,h\n";
    let message = failure("a.csv", content);
    assert!(
        message.starts_with("a.csv:2:5: the quote that opens column 3 is closed lines later"),
        "{message}"
    );
    assert_eq!(lenient("a.csv", content), (1, 1));
}

#[test]
fn a_malformed_first_line_is_like_any_other() {
    let content = "a\tb\nc\tr\td\ne\tr\tf\n";
    assert_eq!(failure("a.tsv", content), "a.tsv:1:3: expected 3 columns, found 2");
    assert_eq!(lenient("a.tsv", content), (2, 1));
    assert_eq!(lenient("b.csv", "# made by hand\nc,r,d\ne,r,f\n"), (2, 1));
}

#[cfg(feature = "rdf")]
#[test]
fn leniency_counts_what_it_skips_in_rdf() {
    let content = "<http://e/a b> <http://r> <http://b> .\n<http://c> <http://r> <http://d> .\n";
    assert_eq!(lenient("a.nt", content), (1, 1));
    let message = failure("a.nt", content);
    assert!(message.starts_with("a.nt:1:") && !message.contains("Parser error at"), "{message}");
}

#[test]
fn a_store_and_a_name_that_means_an_inverse() {
    let dir = tempfile::tempdir().unwrap();
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("a", "likes", "b");
    builder.add_named("b", "likes_inv", "a");
    let graph = builder.finish();
    let error = export_release(&dir.path().join("r"), &graph, &TaskSet::default()).unwrap_err().to_string();
    assert!(error.contains("\"likes_inv\" would be read as the inverse of \"likes\""), "{error}");
    rana_graph::Store::write(dir.path().join("kg"), &graph, &TaskSet::default(), Vec::new()).unwrap();
    let error = import(&[Source::Path(dir.path().join("kg"))], &ImportOptions::default(), &()).unwrap_err();
    assert!(error.to_string().contains("this is a graph store already"), "{error}");
}
