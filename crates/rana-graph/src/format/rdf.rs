//! RDF through `oxrdfio`: N-Triples, N-Quads, Turtle, TriG and RDF/XML are read, N-Triples is written.

use std::io::{self, Write};

use oxrdf::vocab::rdfs;
use oxrdf::{LiteralRef, TripleRef};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser, RdfSerializer};

use super::export::names;
use super::export_error::ExportError;
use super::limits::{Limited, Terse, Watch, Xml};
use super::rdf_terms::TermNames;
pub use super::rdf_terms::{iri, subject, term};
use super::{Format, FormatError, OpenSource, Place, ReadOptions, Sink};
use crate::fact::Fact;
use crate::graph::Graph;
use crate::id::RelationId;

/// Relative IRIs of a file without a base are resolved against this one.
const BASE: &str = "urn:rana:base:/";

pub(super) fn read(
    source: &mut OpenSource<'_>,
    format: Format,
    options: &ReadOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let syntax = match format {
        Format::NTriples => RdfFormat::NTriples,
        Format::NQuads => RdfFormat::NQuads,
        Format::TriG => RdfFormat::TriG,
        Format::RdfXml => RdfFormat::RdfXml,
        _ => RdfFormat::Turtle,
    };
    let name = source.name.clone();
    let compression = source.compression;
    if source.sample.iter().all(u8::is_ascii_whitespace) {
        return Err(FormatError::Empty { file: name, expected: "RDF statements" });
    }
    let mut parser = RdfParser::from_format(syntax);
    if let Ok(with_base) = parser.clone().with_base_iri(BASE) {
        parser = with_base;
    }
    let renames = !matches!(format, Format::NTriples | Format::NQuads);
    let mut names = TermNames { number: options.number, renames, ..TermNames::default() };
    let root = (format == Format::RdfXml).then(|| xml_root(&source.sample)).flatten();
    let watch: Box<dyn Watch> = match format {
        Format::RdfXml => Box::new(Xml::default()),
        Format::NTriples | Format::NQuads => Box::new(Terse::by_line()),
        _ => Box::new(Terse::default()),
    };
    let mut limited = Limited::new(&mut source.content, watch);
    let mut content = Tail { content: &mut limited, last: Vec::new() };
    let mut quads = parser.for_reader(&mut content);
    for quad in &mut quads {
        match quad {
            Ok(quad) => names.hand_over(&quad, sink)?,
            Err(RdfParseError::Io(source)) if !is_bad_text(&source) => {
                return Err(super::open_source::read_error(&name, compression, source));
            }
            Err(error) => sink.malformed(syntax_error(&name, &error))?,
        }
    }
    for (prefix, namespace) in quads.prefixes() {
        sink.prefix(prefix, namespace);
    }
    drop(quads);
    match root {
        Some(root) if !closes_root(&content.last, &root) => Err(FormatError::malformed(
            Place::file(&name),
            format!("the XML ends before its root element `{root}` is closed: cut short. Fetch it again"),
        )),
        _ => Ok(()),
    }
}

/// Keeps the last bytes that were read, because the XML parser accepts a document that ends between two
/// elements without closing its root.
struct Tail<'r> {
    content: &'r mut dyn io::BufRead,
    last: Vec<u8>,
}

/// Enough for the closing tag of a root element and some white space or a comment after it.
const TAIL: usize = 4096;

impl io::Read for Tail<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        let new = &buffer[count.saturating_sub(TAIL)..count];
        let surplus = (self.last.len() + new.len()).saturating_sub(TAIL);
        self.last.drain(..surplus.min(self.last.len()));
        self.last.extend_from_slice(new);
        Ok(count)
    }
}

/// The name of the root element: the first tag that is not a declaration, comment or processing instruction.
fn xml_root(sample: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(sample);
    let (_, after) =
        text.match_indices('<').map(|(at, _)| text.split_at(at + 1)).find(|(before, after)| {
            let inside_comment = before.matches("<!--").count() > before.matches("-->").count();
            !inside_comment && !after.starts_with(['?', '!'])
        })?;
    let end = after.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
    Some(after[..end].to_owned())
}

/// Whether the document's last tag closes its root, or is the root itself if that is an empty element.
fn closes_root(last: &[u8], root: &str) -> bool {
    let text = String::from_utf8_lossy(last);
    let mut rest = text.trim_end();
    while rest.ends_with("-->") {
        rest = rest.rfind("<!--").map_or("", |at| rest[..at].trim_end());
    }
    let Some(at) = rest.rfind('<') else { return false };
    let tag = rest[at..].replace(char::is_whitespace, "");
    tag == format!("</{root}>") || (tag.starts_with(&format!("<{root}")) && tag.ends_with("/>"))
}

/// Whether a read error means that XML is not UTF-8.
fn is_bad_text(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
        && error.get_ref().is_some_and(|inner| inner.is::<std::str::Utf8Error>())
}

fn syntax_error(name: &str, error: &RdfParseError) -> FormatError {
    let place = match error {
        RdfParseError::Syntax(syntax) => syntax.location().map_or_else(
            || Place::file(name),
            |range| Place::at(name, range.start.line + 1, range.start.column + 1),
        ),
        RdfParseError::Io(_) => Place::file(name),
    };
    // The parser's message repeats the place.
    let message = error.to_string();
    let problem = match message.split_once(": ") {
        Some((place, problem)) if place.starts_with("Parser error at") => problem,
        _ => &message,
    };
    FormatError::malformed(place, problem)
}

/// Writes facts as N-Triples, followed by the labels of the graph.
pub(super) fn write(graph: &Graph, facts: &[Fact], out: impl Write) -> Result<(), ExportError> {
    let mut writer = RdfSerializer::from_format(RdfFormat::NTriples).for_writer(out);
    for fact in facts {
        let [head, relation, tail] = names(graph, *fact);
        let (subject, predicate, object) = (subject(head), iri(relation), term(tail));
        writer.serialize_triple(TripleRef::new(&subject, &predicate, &object))?;
    }
    let labelled = graph.entities().filter_map(|e| Some((graph.entity_name(e), graph.entity_label(e)?)));
    let relations = (0..graph.named_relation_count() as u32).map(RelationId::forward);
    let labelled =
        labelled.chain(relations.filter_map(|r| Some((graph.relation_name(r), graph.relation_label(r)?))));
    for (name, label) in labelled {
        writer.serialize_triple(TripleRef::new(
            &subject(name),
            rdfs::LABEL,
            LiteralRef::new_simple_literal(label),
        ))?;
    }
    writer.finish()?.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rdf_terms::iri_name;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_name_survives_as_an_iri(name in ".{1,20}") {
            let node = iri(&name);
            prop_assert!(oxrdf::NamedNode::new(node.as_str()).is_ok(), "{} is no IRI", node);
            let mut back = String::new();
            iri_name(&mut back, node.as_str());
            prop_assert_eq!(back, name);
        }
    }

    #[test]
    fn a_name_that_looks_encoded_is_encoded_again() {
        let name = "urn:rana:name:a%20b";
        let mut back = String::new();
        iri_name(&mut back, iri(name).as_str());
        assert_eq!(back, name);
    }
}
