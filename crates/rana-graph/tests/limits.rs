//! Files made to exhaust memory, stack or time are refused with the limit they pass; real files are not.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use proptest::prelude::*;
use rana_graph::format::{FormatError, Limit, Source};
use rana_graph::{ImportOptions, Imported, import};

const MIB: usize = 1 << 20;

fn imported(name: &str, bytes: &[u8], options: &ImportOptions) -> Result<Imported, FormatError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    import(&[Source::from(path)], options, &())
}

fn limit_of(name: &str, bytes: &[u8]) -> Limit {
    match imported(name, bytes, &ImportOptions::default()) {
        Err(FormatError::Limit { limit, place }) => {
            assert!(place.file.ends_with(name), "{place}");
            limit
        }
        Err(other) => panic!("{name}: {other}"),
        Ok(_) => panic!("{name} was read"),
    }
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn xml(before: &str, content: &str) -> Vec<u8> {
    let rdf = "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e.org/\"";
    format!("<?xml version=\"1.0\"?>\n{before}<rdf:RDF {rdf}>{content}</rdf:RDF>\n").into_bytes()
}

#[test]
fn quoted_triples_are_nested_to_a_limit() {
    let nested = |depth: usize| {
        let inner = (0..depth)
            .fold("<http://e/o>".to_owned(), |inner, _| format!("<<( <http://e/s> <http://e/p> {inner} )>>"));
        format!("<http://e/s> <http://e/p> {inner} .\n<http://e/a> <http://e/p> <http://e/b> .\n")
            .into_bytes()
    };
    for name in ["deep.nt", "deep.ttl", "deep.nq", "deep.trig"] {
        assert_eq!(limit_of(name, &nested(5000)), Limit::QuotedTriples, "{name}");
        assert_eq!(imported(name, &nested(3), &ImportOptions::default()).unwrap().graph.facts().len(), 1);
    }
}

/// A lenient reader skips a malformed line and starts anew with the next one. An open quote in the line before must not hide the
/// nesting (two of 100,000 cases of `rana-fuzz` overflowed the stack).
#[test]
fn a_malformed_line_does_not_hide_the_next_one() {
    let inner = (0..12_000)
        .fold("<http://e/o>".to_owned(), |inner, _| format!("<<( <http://e/s> <http://e/p> {inner} )>>"));
    let deep = format!("<http://e/s> <http://e/p> {inner} .\n");
    let options = ImportOptions { lenient: true, ..ImportOptions::default() };
    for before in
        ["\"\"\"open", "'''open", "'", "\"", "<http://e/open", "<\\ a('> <http://e/p> \"a", "<<( \"\"\""]
    {
        for name in ["hidden.nt", "hidden.nq"] {
            let text = format!("<http://e/s> <http://e/p> {before}\n{deep}");
            match imported(name, text.as_bytes(), &options) {
                Err(FormatError::Limit { limit, .. }) => assert_eq!(limit, Limit::QuotedTriples, "{before}"),
                other => panic!("{name} after {before}: {:?}", other.err()),
            }
        }
    }
}

#[test]
fn lists_and_blank_nodes_are_nested_to_a_limit() {
    let nested = |depth: usize| {
        let (open, close) = ("[ <http://e/p> ".repeat(depth), " ]".repeat(depth));
        format!("<http://e/s> <http://e/p> {open}<http://e/o>{close} .\n").into_bytes()
    };
    assert_eq!(limit_of("deep.ttl", &nested(100_000)), Limit::Depth);
    assert_eq!(imported("deep.ttl", &nested(50), &ImportOptions::default()).unwrap().graph.facts().len(), 51);
}

#[test]
fn entities_of_xml_expand_to_a_limit() {
    let mut bomb = "<!DOCTYPE r [\n<!ENTITY a0 \"0123456789\">\n".to_owned();
    for level in 1..9 {
        let before = format!("&a{};", level - 1).repeat(10);
        bomb.push_str(&format!("<!ENTITY a{level} \"{before}\">\n"));
    }
    bomb.push_str("]>\n");
    let use_it = "<rdf:Description rdf:about=\"http://e.org/s\"><e:p>&a8;</e:p></rdf:Description>";
    assert_eq!(limit_of("bomb.rdf", &xml(&bomb, use_it)), Limit::Iri);
    // Many short ones in one text.
    let declared = format!("<!DOCTYPE r [ <!ENTITY a '{}'> ]>\n", "x".repeat(8000)).replace('\'', "\"");
    let many = format!(
        "<rdf:Description rdf:about=\"http://e.org/s\"><e:p>{}</e:p></rdf:Description>",
        "&a;".repeat(10_000)
    );
    assert_eq!(limit_of("many.rdf", &xml(&declared, &many)), Limit::Record);
    // As ontologies use them.
    let usual = "<!DOCTYPE rdf:RDF [ <!ENTITY ex \"http://e.org/\" > ]>\n";
    let node = "<rdf:Description rdf:about=\"&ex;s\"><e:p rdf:resource=\"&ex;o\"/></rdf:Description>";
    let graph = imported("usual.rdf", &xml(usual, node), &ImportOptions::default()).unwrap().graph;
    assert!(graph.entity("http://e.org/o").is_some());
}

#[test]
fn elements_of_xml_are_nested_to_a_limit() {
    let nested = |depth: usize| {
        let (open, close) = ("<e:T><e:p>".repeat(depth), "</e:p></e:T>".repeat(depth));
        xml("", &format!("{open}<e:T/>{close}"))
    };
    assert_eq!(limit_of("deep.rdf", &nested(20_000)), Limit::Depth);
    assert!(imported("deep.rdf", &nested(100), &ImportOptions::default()).is_ok());
}

#[test]
fn namespaces_are_short() {
    let long = "n".repeat(20_000);
    let turtle = format!("@prefix a: <http://e/{long}> .\na:s a:p a:o .\n");
    assert_eq!(limit_of("long.ttl", turtle.as_bytes()), Limit::Iri);
    let node = format!("<x:T xmlns:x=\"http://e/{long}\"/>");
    assert_eq!(limit_of("long.rdf", &xml("", &node)), Limit::Iri);
}

#[test]
fn a_record_has_a_limit_in_every_format() {
    let long = vec![b'a'; 40 * MIB];
    for name in ["line.tsv.zst", "line.nt.zst", "line.csv.zst", "line.txt.zst"] {
        let text = [b"a\tp\tb\n".as_slice(), &long].concat();
        let text =
            if name.starts_with("line.csv") { [b"a,p,b\n\"".as_slice(), &long].concat() } else { text };
        let text = match name.starts_with("line.nt") {
            true => [b"<http://e/a> <http://e/p> \"".as_slice(), &long].concat(),
            false => text,
        };
        assert_eq!(limit_of(name, &zstd(&text)), Limit::Record, "{name}");
    }
    let text = String::from_utf8(long).unwrap();
    let node = format!("<rdf:Description rdf:about=\"http://e.org/s\"><e:p>{text}</e:p></rdf:Description>");
    assert_eq!(limit_of("text.rdf", &xml("", &node)), Limit::Record);
}

/// An open quote swallows the rows after it, up to the limit.
#[test]
fn an_open_quote_ends_at_the_limit() {
    let rows = "a,p,b\nc,p,d\ne,p,f\n".repeat(1000) + "\"open,p,b\n" + &"a,p,b\n".repeat(4 * MIB);
    assert_eq!(limit_of("open.csv", rows.as_bytes()), Limit::Record);
    // A quote inside a name opens nothing.
    let rows = "5\" pipe,p,b\n".to_owned() + &"a,p,b\n".repeat(4 * MIB);
    assert_eq!(
        imported("inch.csv", rows.as_bytes(), &ImportOptions::default()).unwrap().graph.facts().len(),
        2
    );
}

#[test]
fn decompression_has_a_ceiling_if_asked_for() {
    let text = "a\tp\tb\n".repeat(100_000);
    let options = |most| ImportOptions { max_decompressed: Some(most), ..ImportOptions::default() };
    let error = imported("rows.tsv.zst", &zstd(text.as_bytes()), &options(10_000)).unwrap_err();
    assert!(error.to_string().contains("larger than 10000 bytes after decompression"), "{error}");
    assert!(imported("rows.tsv.zst", &zstd(text.as_bytes()), &options(text.len() as u64)).is_ok());
    // What is not compressed is not limited.
    assert!(imported("rows.tsv", text.as_bytes(), &options(10)).is_ok());
}

#[test]
fn a_byte_order_mark_is_no_part_of_rdf() {
    for (name, text) in [
        ("mark.ttl", "@prefix e: <http://e/> .\ne:a e:p e:b .\n"),
        ("mark.nt", "<http://e/a> <http://e/p> <http://e/b> .\n"),
    ] {
        let bytes = ["\u{feff}", text].concat();
        let graph = imported(name, bytes.as_bytes(), &ImportOptions::default()).unwrap().graph;
        assert!(graph.entity("http://e/a").is_some(), "{name}");
    }
}

/// The delimiter is found though the first row is longer than the sample.
#[test]
fn a_long_first_name_is_one_of_three_columns() {
    let name = "n".repeat(MIB);
    let graph =
        imported("long.txt", format!("{name}\tp\tb\nc\tp\td\n").as_bytes(), &ImportOptions::default());
    assert!(graph.unwrap().graph.entity(&name).is_some());
}

#[test]
fn prefixes_of_a_file_are_kept_in_the_store() {
    let text = "@prefix e: <http://e.org/terms/> .\n@prefix : <http://e.org/> .\n:a e:p :b .\n";
    let imported = imported("prefixes.ttl", text.as_bytes(), &ImportOptions::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    rana_graph::Store::write(&path, &imported.graph, &imported.tasks, imported.inputs).unwrap();
    let graph = rana_graph::Store::open(&path).unwrap().graph;
    assert_eq!(graph.short_name("http://e.org/terms/p"), "e:p");
    assert_eq!(graph.relation_title(graph.relation("http://e.org/terms/p").unwrap()), "e:p");
    assert_eq!(graph.entity_title(graph.entity("http://e.org/a").unwrap()), "a");
}

proptest! {
    /// Quotes, brackets and markup in names and texts pass no limit.
    #[test]
    fn ordinary_texts_pass(texts in proptest::collection::vec("[a<>\"'\\[\\](){}#&; \\\\]{0,40}", 1..40)) {
        let mut lines = String::new();
        for (at, text) in texts.iter().enumerate() {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            lines.push_str(&format!("<http://e/{at}> <http://e/p> \"{escaped}\" .\n"));
            lines.push_str(&format!("<http://e/{at}> <http://e/p> <http://e/o#{at}> .\n"));
        }
        for name in ["texts.nt", "texts.ttl"] {
            let graph = imported(name, lines.as_bytes(), &ImportOptions::default()).unwrap().graph;
            prop_assert_eq!(graph.facts().len(), texts.len());
        }
    }
}
