//! [`Statement`]: what a reader finds in a file, and [`Sink`], which receives it.

use super::format_error::FormatError;

/// A statement that a reader found in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statement<'a> {
    /// Two entities joined by a relation.
    Fact { head: &'a str, relation: &'a str, tail: &'a str },
    /// An entity joined with a literal value.
    #[cfg_attr(not(feature = "rdf"), expect(dead_code, reason = "only RDF has literals"))]
    Literal { head: &'a str, relation: &'a str, literal: Literal<'a> },
}

/// A literal value, as RDF has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Literal<'a> {
    pub(crate) value: &'a str,
    pub(crate) language: Option<&'a str>,
    /// The literal in N-Triples syntax: its name if literals are kept as entities.
    pub(crate) name: &'a str,
}

/// Receives what a reader finds in a file.
pub(crate) trait Sink {
    /// Receives a statement and its line, if the reader knows it.
    fn statement(&mut self, statement: Statement<'_>, line: Option<u64>) -> Result<(), FormatError>;
    /// Receives an error in the content. Returning it ends the reading, `Ok` skips the place.
    fn malformed(&mut self, error: FormatError) -> Result<(), FormatError>;
    /// Receives a prefix that the file declares for a namespace.
    #[cfg_attr(not(feature = "rdf"), expect(dead_code, reason = "only RDF has prefixes"))]
    fn prefix(&mut self, prefix: &str, namespace: &str);
}
