//! Without a cargo feature, answers in a format that needs it are refused by an error that names the feature.
#![allow(missing_docs, clippy::unwrap_used)]

use rana::answer_writer::{AnswerError, AnswerFormat, AnswerWriter};
use rana::graph::format::ExportError;

fn refuses_to_write(formats: &[AnswerFormat], missing: &str) {
    for &format in formats {
        let error = AnswerWriter::new(format, Vec::new()).err().unwrap();
        assert!(
            matches!(error, AnswerError::Export(ExportError::MissingFeature { feature, .. }) if feature == missing),
            "{format}: {error}"
        );
    }
}

#[test]
fn rdf() {
    if !cfg!(feature = "rdf") {
        refuses_to_write(&[AnswerFormat::NTriples, AnswerFormat::Turtle, AnswerFormat::Rdf12], "rdf");
    }
}

#[test]
fn parquet() {
    if !cfg!(feature = "parquet") {
        refuses_to_write(&[AnswerFormat::Parquet], "parquet");
    }
}
