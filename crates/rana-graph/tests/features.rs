//! Without a cargo feature, what needs it is refused by an error that names the feature.
#![allow(missing_docs, clippy::unwrap_used)]

use rana_graph::format::{ExportError, FactFormat, FormatError, Source, export_facts};
use rana_graph::{Graph, ImportOptions, import};

fn refuses_to_read(name: &str, bytes: &'static [u8], missing: &str) {
    let source = Source::Memory { name: name.to_owned(), bytes: bytes.into() };
    match import(&[source], &ImportOptions::default(), &()) {
        Err(FormatError::MissingFeature { file, feature, .. }) => {
            assert_eq!((file.as_str(), feature), (name, missing));
        }
        other => panic!("{name}: {other:?}"),
    }
}

fn refuses_to_write(format: FactFormat, missing: &str) {
    let error = export_facts(&Graph::default(), &[], format, Vec::new()).unwrap_err();
    assert!(
        matches!(error, ExportError::MissingFeature { feature, .. } if feature == missing),
        "{missing}: {error}"
    );
}

#[test]
fn rdf() {
    if cfg!(feature = "rdf") {
        return;
    }
    for name in ["a.nt", "a.nq", "a.ttl", "a.trig", "detected_from_content"] {
        refuses_to_read(name, b"<http://a> <http://b> <http://c> .\n", "rdf");
    }
    refuses_to_read("a.rdf", b"<?xml version=\"1.0\"?><rdf:RDF/>", "rdf");
    refuses_to_write(FactFormat::NTriples, "rdf");
}

#[test]
fn parquet() {
    if cfg!(feature = "parquet") {
        return;
    }
    refuses_to_read("a.parquet", b"PAR1....PAR1", "parquet");
    refuses_to_write(FactFormat::Parquet, "parquet");
}

#[test]
fn compression() {
    if cfg!(feature = "compression") {
        return;
    }
    refuses_to_read("a.tsv.gz", b"\x1f\x8b\x08\0", "compression");
    refuses_to_read("a.tsv.zst", b"\x28\xb5\x2f\xfd", "compression");
}
