//! Limits of what a file may ask of its reader: the length of a record, the depth of nesting, the expansion of XML
//! entities, and the size after decompression.
//!
//! Parsers keep a whole record in memory, and some work on it in quadratic time or by recursion. [`Limited`] looks at the
//! bytes on their way to the parser, and ends the reading where a limit is passed.
#![cfg_attr(not(feature = "rdf"), allow(dead_code, reason = "only RDF nests and expands"))]

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Read};

/// The longest record: a line, a row, a token of Turtle, or a text or tag of XML.
/// The RDF parser stops at 16 MiB with a message of its own.
pub(crate) const RECORD: usize = 15 << 20;
/// The longest IRI. A prefix of this length is repeated in every name that uses it.
pub(crate) const IRI: usize = 8 << 10;
/// How deep triples may be quoted in triples.
const QUOTED_DEPTH: usize = 64;
/// How deep elements of XML, and lists and blank nodes of Turtle, may be nested.
const DEPTH: usize = 1000;

/// A limit that a file passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A record is too long.
    Record,
    /// An IRI or a namespace is too long.
    Iri,
    /// Triples are quoted too deep.
    QuotedTriples,
    /// Elements, lists or blank nodes are nested too deep.
    Depth,
    /// The content is too large after decompression.
    Decompressed {
        /// How many bytes are allowed.
        allowed: u64,
    },
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record => write!(
                f,
                "a record is longer than {} MiB, the limit for a line, a row, a text or a tag. A quote may be open, or the \
                 file is of another format",
                RECORD >> 20
            ),
            Self::Iri => write!(f, "an IRI or a namespace is longer than {} KiB, the limit", IRI >> 10),
            Self::QuotedTriples => {
                write!(f, "triples are quoted in triples more than {QUOTED_DEPTH} deep, the limit")
            }
            Self::Depth => {
                write!(f, "elements, lists or blank nodes are nested more than {DEPTH} deep, the limit")
            }
            Self::Decompressed { allowed } => {
                write!(
                    f,
                    "the content is larger than {allowed} bytes after decompression, the limit that was set"
                )
            }
        }
    }
}

/// A limit that was passed, and the line where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) limit: Limit,
    pub(crate) line: u64,
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.limit)
    }
}

impl std::error::Error for Passed {}

/// The limit that a read error stands for, if it does.
pub(crate) fn passed(error: &io::Error) -> Option<Passed> {
    error.get_ref()?.downcast_ref::<Passed>().copied()
}

/// Looks at the bytes of a file, in pieces of any length.
pub(crate) trait Watch {
    fn see(&mut self, bytes: &[u8]) -> Result<(), Limit>;
}

impl Watch for Box<dyn Watch> {
    fn see(&mut self, bytes: &[u8]) -> Result<(), Limit> {
        self.as_mut().see(bytes)
    }
}

/// Hands bytes on while they keep to the limits.
pub(crate) struct Limited<R, W> {
    content: R,
    watch: W,
    line: u64,
    /// How many bytes of the buffer of `content` were seen already.
    seen: usize,
}

impl<R, W: Watch> Limited<R, W> {
    pub(crate) fn new(content: R, watch: W) -> Self {
        Self { content, watch, line: 1, seen: 0 }
    }

    fn see(watch: &mut W, line: &mut u64, bytes: &[u8]) -> io::Result<()> {
        watch.see(bytes).map_err(|limit| io::Error::other(Passed { limit, line: *line }))?;
        *line += memchr::memchr_iter(b'\n', bytes).count() as u64;
        Ok(())
    }
}

impl<R: BufRead, W: Watch> Read for Limited<R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = {
            let ready = self.fill_buf()?;
            let count = ready.len().min(buffer.len());
            buffer[..count].copy_from_slice(&ready[..count]);
            count
        };
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead, W: Watch> BufRead for Limited<R, W> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let ready = self.content.fill_buf()?;
        if ready.len() > self.seen {
            Self::see(&mut self.watch, &mut self.line, &ready[self.seen..])?;
            self.seen = ready.len();
        }
        Ok(ready)
    }

    fn consume(&mut self, count: usize) {
        self.seen = self.seen.saturating_sub(count);
        self.content.consume(count);
    }
}

/// A counter of bytes since the last end of a record.
#[derive(Default)]
struct Length(usize);

impl Length {
    fn add(&mut self, bytes: usize) -> Result<(), Limit> {
        self.0 += bytes;
        if self.0 > RECORD { Err(Limit::Record) } else { Ok(()) }
    }
}

/// Watches rows of delimited text. A row ends with a line, unless a quote is open.
pub(crate) struct Rows {
    length: Length,
    /// The delimiter, if quotes are syntax.
    quoted_by: Option<u8>,
    is_quoted: bool,
    /// The byte before; a line break at the start.
    last: u8,
    /// Whether that byte closed a quoted field: another quote opens it again.
    has_closed: bool,
}

impl Rows {
    pub(crate) fn new(delimiter: u8, is_quoted: bool) -> Self {
        let quoted_by = is_quoted.then_some(delimiter);
        Self { length: Length::default(), quoted_by, is_quoted: false, last: b'\n', has_closed: false }
    }
}

impl Watch for Rows {
    fn see(&mut self, bytes: &[u8]) -> Result<(), Limit> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let found = match (self.quoted_by, self.is_quoted) {
                (None, _) => memchr::memchr2(b'\n', b'\r', rest),
                (_, false) => memchr::memchr3(b'"', b'\n', b'\r', rest),
                (_, true) => memchr::memchr(b'"', rest),
            };
            let Some(to) = found else {
                (self.last, self.has_closed) = (bytes[bytes.len() - 1], false);
                return self.length.add(rest.len());
            };
            let before = if to > 0 { rest[to - 1] } else { self.last };
            let has_closed = self.has_closed && to == 0;
            self.length.add(to + 1)?;
            self.has_closed = false;
            match (rest[to], self.is_quoted) {
                (b'"', true) => (self.is_quoted, self.has_closed) = (false, true),
                (b'"', false) => {
                    let at_field = matches!(before, b'\n' | b'\r') || Some(before) == self.quoted_by;
                    self.is_quoted = at_field || has_closed;
                }
                _ => self.length = Length::default(),
            }
            self.last = rest[to];
            at += to + 1;
        }
        Ok(())
    }
}

/// Watches Turtle, TriG, N-Triples and N-Quads: tokens, and how deep they are nested.
#[derive(Default)]
pub(crate) struct Terse {
    /// Whether every statement is on a line of its own, as in N-Triples and N-Quads. There a reader that skips a malformed line
    /// starts anew with the next one, and there are no long texts.
    is_by_line: bool,
    state: TerseState,
    token: Length,
    /// Lists, blank nodes and graphs that are open.
    open: usize,
    /// Quoted triples that are open.
    quoted: usize,
    /// The byte before, between tokens.
    last: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TerseState {
    #[default]
    Between,
    Comment,
    Iri,
    /// After one or two quotes, which may open a short or a long text.
    Opening {
        quote: u8,
        count: u8,
    },
    Text {
        quote: u8,
        is_long: bool,
        closing: u8,
    },
    /// After a backslash in a text.
    Escape {
        quote: u8,
        is_long: bool,
    },
}

impl Watch for Terse {
    fn see(&mut self, bytes: &[u8]) -> Result<(), Limit> {
        if !self.is_by_line {
            return self.steps(bytes);
        }
        for line in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            self.steps(line)?;
            if line.ends_with(b"\n") || line.ends_with(b"\r") {
                *self = Self::by_line();
            }
        }
        Ok(())
    }
}

impl Terse {
    /// For N-Triples and N-Quads.
    pub(crate) fn by_line() -> Self {
        Self { is_by_line: true, ..Self::default() }
    }

    fn steps(&mut self, bytes: &[u8]) -> Result<(), Limit> {
        let mut at = 0;
        while at < bytes.len() {
            at += self.step(&bytes[at..])?;
        }
        Ok(())
    }

    /// Takes some bytes, and returns how many.
    fn step(&mut self, rest: &[u8]) -> Result<usize, Limit> {
        let byte = rest[0];
        match self.state {
            TerseState::Between => {
                self.between(byte)?;
                Ok(1)
            }
            TerseState::Comment => {
                let end = memchr::memchr2(b'\n', b'\r', rest);
                if end.is_some() {
                    self.end();
                }
                Ok(end.map_or(rest.len(), |end| end + 1))
            }
            // An IRI has no white space: something malformed ends there too.
            TerseState::Iri => {
                let end = memchr::memchr3(b'>', b'\n', b' ', rest);
                let count = end.map_or(rest.len(), |end| end + 1);
                self.token.0 += count;
                if self.token.0 > IRI {
                    return Err(Limit::Iri);
                }
                if end.is_some() {
                    self.end();
                }
                Ok(count)
            }
            TerseState::Opening { quote, count } => {
                match (byte == quote, count) {
                    (true, 1) => self.state = TerseState::Opening { quote, count: 2 },
                    (true, _) => self.state = TerseState::Text { quote, is_long: true, closing: 0 },
                    (false, 1) => {
                        self.state = TerseState::Text { quote, is_long: false, closing: 0 };
                        return Ok(0);
                    }
                    (false, _) => {
                        // The text was empty.
                        self.end();
                        return Ok(0);
                    }
                }
                Ok(1)
            }
            TerseState::Text { quote, is_long, closing } => self.text(rest, quote, is_long, closing),
            TerseState::Escape { quote, is_long } => {
                self.state = TerseState::Text { quote, is_long, closing: 0 };
                self.token.add(1)?;
                Ok(1)
            }
        }
    }

    fn between(&mut self, byte: u8) -> Result<(), Limit> {
        let last = std::mem::replace(&mut self.last, byte);
        match byte {
            b'<' if last == b'<' => {
                self.quoted += 1;
                self.last = 0;
                if self.quoted > QUOTED_DEPTH {
                    return Err(Limit::QuotedTriples);
                }
            }
            b'>' if last == b'<' => self.end(),
            _ if last == b'<' => {
                self.state = TerseState::Iri;
                self.token = Length(1);
                return Ok(());
            }
            b'>' if last == b'>' => {
                self.quoted = self.quoted.saturating_sub(1);
                self.last = 0;
            }
            b'#' => self.state = TerseState::Comment,
            b'"' if self.is_by_line => {
                self.state = TerseState::Text { quote: byte, is_long: false, closing: 0 };
            }
            b'"' | b'\'' if !self.is_by_line => self.state = TerseState::Opening { quote: byte, count: 1 },
            b'[' | b'(' | b'{' => {
                self.open += 1;
                if self.open > DEPTH {
                    return Err(Limit::Depth);
                }
            }
            b']' | b')' | b'}' => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        if byte.is_ascii_whitespace() {
            self.token = Length::default();
            return Ok(());
        }
        self.token.add(1)
    }

    fn text(&mut self, rest: &[u8], quote: u8, is_long: bool, closing: u8) -> Result<usize, Limit> {
        let found = match is_long {
            true => memchr::memchr2(quote, b'\\', rest),
            // A short text ends with its line, closed or not.
            false => memchr::memchr3(quote, b'\\', b'\n', rest),
        };
        let Some(to) = found else {
            self.state = TerseState::Text { quote, is_long, closing: 0 };
            self.token.add(rest.len())?;
            return Ok(rest.len());
        };
        self.token.add(to + 1)?;
        let closing = if to == 0 { closing + 1 } else { 1 };
        match rest[to] {
            b'\\' => self.state = TerseState::Escape { quote, is_long },
            byte if byte == quote && is_long && closing < 3 => {
                self.state = TerseState::Text { quote, is_long, closing };
            }
            _ => self.end(),
        }
        Ok(to + 1)
    }

    fn end(&mut self) {
        self.state = TerseState::Between;
        self.token = Length::default();
        self.last = 0;
    }
}

/// Watches XML: tags, texts with their entities expanded, and how deep elements are nested.
#[derive(Default)]
pub(crate) struct Xml {
    state: XmlState,
    /// The tag or declaration so far, without what is between its quotes if it is long.
    tag: Vec<u8>,
    /// The length of the text or tag so far, entities expanded.
    length: Length,
    depth: usize,
    /// The entity reference that is open, without its `&`.
    reference: Option<Vec<u8>>,
    /// How long the value of each declared entity is.
    entities: HashMap<Vec<u8>, usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum XmlState {
    #[default]
    Text,
    Tag {
        quote: Option<u8>,
    },
    /// A comment, CDATA or processing instruction, up to its end.
    Until(&'static [u8]),
    /// A document type with its declarations in brackets.
    Doctype {
        quote: Option<u8>,
        in_brackets: bool,
    },
}

/// Markup that is not a tag: how it begins and how it ends.
const SECTIONS: [(&[u8], &[u8]); 3] = [(b"!--", b"-->"), (b"![CDATA[", b"]]>"), (b"?", b"?>")];
const DOCTYPE: &[u8] = b"!DOCTYPE";

impl Watch for Xml {
    fn see(&mut self, bytes: &[u8]) -> Result<(), Limit> {
        for &byte in bytes {
            self.length.add(1)?;
            match self.state {
                XmlState::Text if byte == b'<' => {
                    self.state = XmlState::Tag { quote: None };
                    self.begin();
                }
                XmlState::Text => self.refer(byte)?,
                XmlState::Tag { quote } => self.tag(byte, quote)?,
                XmlState::Until(end) => {
                    self.tag.push(byte);
                    if self.tag.ends_with(end) {
                        self.text();
                    } else if self.tag.len() > 64 {
                        self.tag.drain(..60);
                    }
                }
                XmlState::Doctype { quote, in_brackets } => self.doctype(byte, quote, in_brackets)?,
            }
        }
        Ok(())
    }
}

impl Xml {
    fn begin(&mut self) {
        self.tag.clear();
        self.length = Length::default();
        self.reference = None;
    }

    fn text(&mut self) {
        self.state = XmlState::Text;
        self.begin();
    }

    /// Counts an entity by the length of its value.
    fn refer(&mut self, byte: u8) -> Result<(), Limit> {
        match (&mut self.reference, byte) {
            (_, b'&') => self.reference = Some(Vec::new()),
            (Some(name), b';') => {
                let length = self.entities.get(name).copied().unwrap_or(0);
                self.reference = None;
                self.length.add(length)?;
            }
            (Some(name), byte) if name.len() < 256 => name.push(byte),
            _ => self.reference = None,
        }
        Ok(())
    }

    fn tag(&mut self, byte: u8, quote: Option<u8>) -> Result<(), Limit> {
        self.refer(byte)?;
        self.tag.push(byte);
        match (quote, byte) {
            (None, b'"' | b'\'') => self.state = XmlState::Tag { quote: Some(byte) },
            (Some(open), byte) if open == byte => {
                self.state = XmlState::Tag { quote: None };
                self.attribute()?;
            }
            (None, b'>') => {
                let closes = self.tag.starts_with(b"/");
                let is_empty = self.tag.ends_with(b"/>");
                if closes {
                    self.depth = self.depth.saturating_sub(1);
                } else if !is_empty {
                    self.depth += 1;
                    if self.depth > DEPTH {
                        return Err(Limit::Depth);
                    }
                }
                self.text();
            }
            _ => {}
        }
        if self.tag.len() > DOCTYPE.len() {
            return Ok(());
        }
        if let Some((_, end)) = SECTIONS.iter().find(|(start, _)| self.tag == *start) {
            self.state = XmlState::Until(end);
            self.tag.clear();
        } else if self.tag == DOCTYPE {
            self.state = XmlState::Doctype { quote: None, in_brackets: false };
            self.tag.clear();
        }
        Ok(())
    }

    /// A namespace is repeated in every name that uses it, and a base in every relative IRI.
    fn attribute(&mut self) -> Result<(), Limit> {
        let length = self.tag.len();
        if length <= IRI && self.length.0 <= IRI {
            return Ok(());
        }
        let value_starts = self.tag[..length - 1].iter().rposition(|&byte| byte == self.tag[length - 1]);
        let Some(start) = value_starts else { return Ok(()) };
        let name: &[u8] = self.tag[..start].trim_ascii_end();
        let name = name.strip_suffix(b"=").unwrap_or(name).trim_ascii_end();
        let from = name.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
        let name = &name[from..];
        let is_iri = name.starts_with(b"xmlns")
            || [&b"base"[..], b"about", b"resource", b"datatype", b"type"]
                .iter()
                .any(|of| name.ends_with(of));
        if is_iri && self.expanded(&self.tag[start..]) > IRI { Err(Limit::Iri) } else { Ok(()) }
    }

    /// The length of a value with its entities expanded.
    fn expanded(&self, value: &[u8]) -> usize {
        let parts = value.split(|&byte| byte == b'&').map(|part| {
            let reference = part.iter().position(|&byte| byte == b';').map(|end| &part[..end]);
            part.len() + reference.and_then(|name| self.entities.get(name)).copied().unwrap_or(0)
        });
        parts.sum()
    }

    fn doctype(&mut self, byte: u8, quote: Option<u8>, in_brackets: bool) -> Result<(), Limit> {
        self.tag.push(byte);
        let state = |quote, in_brackets| XmlState::Doctype { quote, in_brackets };
        match (quote, byte) {
            (None, b'"' | b'\'') => self.state = state(Some(byte), in_brackets),
            (Some(open), byte) if open == byte => self.state = state(None, in_brackets),
            (None, b'[') => {
                self.state = state(None, true);
                self.tag.clear();
            }
            (None, b']') => {
                self.state = state(None, false);
                self.tag.clear();
            }
            (None, b'>') if in_brackets => {
                self.declare()?;
                self.tag.clear();
            }
            (None, b'>') => self.text(),
            _ => {}
        }
        Ok(())
    }

    /// Reads `<!ENTITY name "value">`. A value may use entities that were declared before it.
    fn declare(&mut self) -> Result<(), Limit> {
        let declaration = self.tag.trim_ascii();
        let Some(rest) = declaration.strip_prefix(b"<!ENTITY") else { return Ok(()) };
        let rest = rest.trim_ascii_start();
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (name, value) = rest.split_at(end);
        let length = self.expanded(value);
        if length > IRI {
            return Err(Limit::Iri);
        }
        self.entities.insert(name.to_vec(), length);
        Ok(())
    }
}

/// Counts decompressed bytes.
pub(crate) struct Ceiling<R> {
    pub(crate) content: R,
    pub(crate) left: u64,
    pub(crate) allowed: u64,
}

impl<R: Read> Read for Ceiling<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::other(Passed { limit: Limit::Decompressed { allowed: self.allowed }, line: 0 })
        })?;
        Ok(count)
    }
}
