//! Names as RDF terms, and RDF terms as names.

use std::collections::HashMap;

use oxrdf::{NamedOrBlankNode, Quad, Term};

use super::{FormatError, Literal, Sink, Statement};

/// Names that are not IRIs are exported percent-encoded after this prefix, and decoded when read.
const NAME_PREFIX: &str = "urn:rana:name:";

/// Turns RDF terms into names; its buffers are reused for every statement.
#[derive(Default)]
pub(super) struct TermNames {
    pub(super) number: usize,
    /// Whether blank nodes are numbered in the order they appear. The parser gives anonymous ones random
    /// names, and the same file must give the same names. N-Triples has no anonymous nodes, so the names
    /// in the file are kept.
    pub(super) renames: bool,
    pub(super) blank_nodes: HashMap<String, usize>,
    pub(super) head: String,
    pub(super) relation: String,
    pub(super) tail: String,
}

impl TermNames {
    pub(super) fn hand_over(&mut self, quad: &Quad, sink: &mut dyn Sink) -> Result<(), FormatError> {
        let Self { number, renames, blank_nodes, head, relation, tail } = self;
        let mut blank_name = |name: &mut String, label: &str| {
            if !*renames {
                return blank_name(name, *number, label);
            }
            let next = blank_nodes.len();
            let place = *blank_nodes.entry(label.to_owned()).or_insert(next);
            blank_name(name, *number, &format!("b{place}"));
        };
        match &quad.subject {
            NamedOrBlankNode::NamedNode(node) => iri_name(head, node.as_str()),
            NamedOrBlankNode::BlankNode(node) => blank_name(head, node.as_str()),
        }
        iri_name(relation, quad.predicate.as_str());
        match &quad.object {
            Term::NamedNode(node) => iri_name(tail, node.as_str()),
            Term::BlankNode(node) => blank_name(tail, node.as_str()),
            Term::Literal(literal) => {
                tail.clear();
                tail.push_str(&literal.to_string());
                let literal = Literal { value: literal.value(), language: literal.language(), name: tail };
                return sink.statement(Statement::Literal { head, relation, literal }, None);
            }
            // RDF 1.2: a statement about a statement, which is treated as a literal.
            Term::Triple(triple) => {
                tail.clear();
                tail.push_str(&triple.to_string());
                let literal = Literal { value: tail, language: None, name: tail };
                return sink.statement(Statement::Literal { head, relation, literal }, None);
            }
        }
        sink.statement(Statement::Fact { head, relation, tail }, None)
    }
}

pub(super) fn iri_name(name: &mut String, iri: &str) {
    name.clear();
    match iri.strip_prefix(NAME_PREFIX).and_then(percent_decode) {
        Some(decoded) => name.push_str(&decoded),
        None => name.push_str(iri),
    }
}

/// Blank nodes are local to a file, so from the second file on their names contain its number.
fn blank_name(name: &mut String, number: usize, label: &str) {
    use std::fmt::Write;
    name.clear();
    let written =
        if number == 0 { write!(name, "_:{label}") } else { write!(name, "_:f{}.{label}", number + 1) };
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// The RDF term that a name is exported as.
#[must_use]
pub fn term(name: &str) -> Term {
    if let Some(node) = blank_node(name) {
        return node.into();
    }
    if name.starts_with('"')
        && let Ok(term @ Term::Literal(_)) = name.parse::<Term>()
    {
        return term;
    }
    iri(name).into()
}

/// The RDF subject that a name is exported as.
#[must_use]
pub fn subject(name: &str) -> NamedOrBlankNode {
    match blank_node(name) {
        Some(node) => node.into(),
        None => iri(name).into(),
    }
}

fn blank_node(name: &str) -> Option<oxrdf::BlankNode> {
    name.strip_prefix("_:").and_then(|label| oxrdf::BlankNode::new(label).ok())
}

/// The IRI that a name is exported as: the name itself if it is an IRI, else encoded after a fixed prefix.
#[must_use]
pub fn iri(name: &str) -> oxrdf::NamedNode {
    match oxrdf::NamedNode::new(name) {
        // A name that begins with the prefix must be encoded too, or it would be decoded when read.
        Ok(node) if !name.starts_with(NAME_PREFIX) => node,
        _ => oxrdf::NamedNode::new_unchecked(format!("{NAME_PREFIX}{}", percent_encode(name))),
    }
}

fn percent_encode(name: &str) -> String {
    use std::fmt::Write;
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte as char);
        } else {
            let written = write!(encoded, "%{byte:02X}");
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        }
    }
    encoded
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}
