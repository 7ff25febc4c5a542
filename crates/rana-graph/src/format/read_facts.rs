//! [`read_facts`]: one file of facts, by the reader of its format.

use super::delimited::{self, DelimitedOptions};
use super::format::Format;
use super::format_error::FormatError;
use super::open_source::OpenSource;
#[cfg(feature = "parquet")]
use super::parquet;
#[cfg(feature = "rdf")]
use super::rdf;
use super::statement::Sink;

/// Settings of the readers, where a format has any.
#[derive(Clone, Debug)]
pub(crate) struct ReadOptions<'a> {
    pub(crate) delimited: &'a DelimitedOptions,
    /// Position of this file among the inputs, to keep blank nodes of different files apart.
    #[cfg_attr(not(feature = "rdf"), expect(dead_code, reason = "only RDF has blank nodes"))]
    pub(crate) number: usize,
}

/// Reads one file of facts in a known format into a sink.
pub(crate) fn read_facts(
    format: Format,
    source: &mut OpenSource<'_>,
    options: &ReadOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    match format {
        Format::Delimited => delimited::read(source, options.delimited, sink),
        #[cfg(feature = "rdf")]
        Format::NTriples | Format::NQuads | Format::Turtle | Format::TriG | Format::RdfXml => {
            rdf::read(source, format, options, sink)
        }
        #[cfg(not(feature = "rdf"))]
        Format::NTriples | Format::NQuads | Format::Turtle | Format::TriG | Format::RdfXml => {
            Err(FormatError::MissingFeature {
                file: source.name.clone(),
                format: format.title(),
                feature: "rdf",
            })
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(source, &options.delimited.columns, sink),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(FormatError::MissingFeature {
            file: source.name.clone(),
            format: format.title(),
            feature: "parquet",
        }),
        Format::Release => Err(FormatError::Release {
            file: source.name.clone(),
            problem: "a NELL-One release is a directory; give the directory, not a file of it".to_owned(),
        }),
    }
}
