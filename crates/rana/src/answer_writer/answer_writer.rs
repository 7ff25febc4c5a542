//! [`AnswerWriter`]: writes answers with their confidence in several file formats.

use std::io::Write;

#[cfg(feature = "rdf")]
use oxrdf::vocab::{rdf as rdf_names, rdfs, xsd};
#[cfg(feature = "rdf")]
use oxrdf::{BlankNode, Literal, NamedNode, Term, Triple};
#[cfg(feature = "rdf")]
use oxrdfio::{RdfFormat, RdfSerializer, WriterQuadSerializer};
#[cfg(feature = "parquet")]
use parquet::{
    basic::{Compression, ZstdLevel},
    data_type::{ByteArray, ByteArrayType, FloatType, Int32Type},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};
use rana_graph::format::ExportError;
#[cfg(feature = "rdf")]
use rana_graph::format::rdf;
use serde::Serialize;

use super::answer_error::AnswerError;
use super::answer_format::AnswerFormat;

rana_graph::named!(AnswerFormat, "format for answers", {
    Tsv => "tsv",
    Sheet => "sheet",
    JsonLines => "jsonl",
    NTriples => "ntriples",
    Turtle => "turtle",
    Rdf12 => "rdf12",
    Parquet => "parquet",
    QuickStatements => "quickstatements",
});

/// A fact that was answered, with what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AnsweredFact<'a> {
    /// The name of the head.
    pub head: &'a str,
    /// The name of the relation.
    pub relation: &'a str,
    /// The name of the tail.
    pub tail: &'a str,
    /// The label of the head, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_label: Option<&'a str>,
    /// The label of the tail, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_label: Option<&'a str>,
    /// Its place among the answers of the head, from 1.
    pub rank: Option<u32>,
    /// Its score.
    pub score: Option<f32>,
    /// The chance that it is right, if that can be said.
    pub confidence: Option<f32>,
    /// Whether the graph has it already.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// Whether a person has accepted it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reviewed: bool,
    /// The evidence for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// Writes answers one by one.
///
/// ```
/// use rana::answer_writer::{AnswerFormat, AnswerWriter, AnsweredFact};
/// let mut writer = AnswerWriter::new(AnswerFormat::JsonLines, Vec::new())?;
/// writer.write(&AnsweredFact { head: "ann", relation: "likes", tail: "bob", ..Default::default() })?;
/// assert!(writer.finish()?.starts_with(br#"{"head":"ann","relation":"likes","tail":"bob""#));
/// # Ok::<(), rana::answer_writer::AnswerError>(())
/// ```
pub struct AnswerWriter<W: Write + Send>(Form<W>);

enum Form<W: Write + Send> {
    Tsv(W),
    Sheet(W),
    JsonLines(W),
    #[cfg(feature = "rdf")]
    Rdf {
        writer: Box<WriterQuadSerializer<W>>,
        sureness: Sureness,
    },
    #[cfg(feature = "parquet")]
    Parquet(Box<Columns<W>>),
    QuickStatements(W),
}

/// How RDF says how sure a fact is.
#[cfg(feature = "rdf")]
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sureness {
    Unsaid,
    Statement,
    Reifier,
}

/// Terms of our own; the names are documented in `docs/complete.md`.
#[cfg(feature = "rdf")]
const CONFIDENCE: &str = "urn:rana:confidence";
#[cfg(feature = "rdf")]
const SCORE: &str = "urn:rana:score";
/// RDF 1.2's word between a reifier and the triple it is about.
#[cfg(feature = "rdf")]
const REIFIES: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies";
const TSV_HEADER: &str = "head\trelation\ttail\trank\tscore\tconfidence\thead_label\ttail_label";

impl<W: Write + Send> AnswerWriter<W> {
    /// Begins to write.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn new(format: AnswerFormat, mut out: W) -> Result<Self, AnswerError> {
        Ok(Self(match format {
            AnswerFormat::Tsv => {
                writeln!(out, "{TSV_HEADER}")?;
                Form::Tsv(out)
            }
            AnswerFormat::Sheet => {
                writeln!(out, "{TSV_HEADER}")?;
                Form::Sheet(out)
            }
            AnswerFormat::JsonLines => Form::JsonLines(out),
            #[cfg(feature = "rdf")]
            AnswerFormat::NTriples => rdf_form(RdfFormat::NTriples, Sureness::Unsaid, out),
            #[cfg(feature = "rdf")]
            AnswerFormat::Turtle => rdf_form(RdfFormat::Turtle, Sureness::Statement, out),
            #[cfg(feature = "rdf")]
            AnswerFormat::Rdf12 => rdf_form(RdfFormat::Turtle, Sureness::Reifier, out),
            #[cfg(not(feature = "rdf"))]
            AnswerFormat::NTriples | AnswerFormat::Turtle | AnswerFormat::Rdf12 => {
                return Err(ExportError::MissingFeature { format: format.name(), feature: "rdf" }.into());
            }
            #[cfg(feature = "parquet")]
            AnswerFormat::Parquet => Form::Parquet(Box::new(Columns::new(out)?)),
            #[cfg(not(feature = "parquet"))]
            AnswerFormat::Parquet => {
                return Err(ExportError::MissingFeature { format: format.name(), feature: "parquet" }.into());
            }
            AnswerFormat::QuickStatements => Form::QuickStatements(out),
        }))
    }

    /// Writes an answer.
    ///
    /// # Errors
    /// If the writer fails or a name cannot be written in the format.
    pub fn write(&mut self, fact: &AnsweredFact<'_>) -> Result<(), AnswerError> {
        match &mut self.0 {
            Form::Tsv(out) => write_tsv(out, fact),
            Form::Sheet(out) => write_sheet(out, fact),
            Form::JsonLines(out) => {
                serde_json::to_writer(&mut *out, fact).map_err(std::io::Error::from)?;
                Ok(out.write_all(b"\n")?)
            }
            #[cfg(feature = "rdf")]
            Form::Rdf { writer, sureness } => write_rdf(writer, *sureness, fact),
            #[cfg(feature = "parquet")]
            Form::Parquet(columns) => columns.push(fact),
            Form::QuickStatements(out) => write_quick_statement(out, fact),
        }
    }

    /// Writes what is left, and gives the writer back.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn finish(self) -> Result<W, AnswerError> {
        let mut out = match self.0 {
            Form::Tsv(out) | Form::Sheet(out) | Form::JsonLines(out) | Form::QuickStatements(out) => out,
            #[cfg(feature = "rdf")]
            Form::Rdf { writer, .. } => writer.finish()?,
            #[cfg(feature = "parquet")]
            Form::Parquet(columns) => columns.finish()?,
        };
        out.flush()?;
        Ok(out)
    }
}

#[cfg(feature = "rdf")]
fn rdf_form<W: Write + Send>(format: RdfFormat, sureness: Sureness, out: W) -> Form<W> {
    let writer = Box::new(RdfSerializer::from_format(format).for_writer(out));
    Form::Rdf { writer, sureness }
}

fn write_tsv(out: &mut impl Write, fact: &AnsweredFact<'_>) -> Result<(), AnswerError> {
    if let Some(name) = [fact.head, fact.relation, fact.tail].into_iter().find(|name| breaks(name)) {
        return Err(ExportError::Name { name: name.to_owned() }.into());
    }
    // Labels are for reading only.
    let label = |label: Option<&str>| label.unwrap_or_default().replace(['\t', '\n', '\r'], " ");
    writeln!(
        out,
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
        fact.head,
        fact.relation,
        fact.tail,
        fact.rank.map(|rank| rank.to_string()).unwrap_or_default(),
        fact.score.map(|score| score.to_string()).unwrap_or_default(),
        fact.confidence.map(|confidence| format!("{confidence:.4}")).unwrap_or_default(),
        label(fact.head_label),
        label(fact.tail_label),
    )?;
    Ok(())
}

/// Like [`write_tsv`], but a spreadsheet takes every cell as text or as a number.
fn write_sheet(out: &mut impl Write, fact: &AnsweredFact<'_>) -> Result<(), AnswerError> {
    let [head, relation, tail] = [fact.head, fact.relation, fact.tail].map(cell);
    let label = |label: Option<&str>| cell(label.unwrap_or_default());
    let (head_label, tail_label) = (label(fact.head_label), label(fact.tail_label));
    let safe = AnsweredFact {
        head: &head,
        relation: &relation,
        tail: &tail,
        head_label: Some(&head_label),
        tail_label: Some(&tail_label),
        ..fact.clone()
    };
    write_tsv(out, &safe)
}

/// A text as a cell of a spreadsheet. What would begin a formula, or a quotation of several cells, gets an apostrophe
/// before it: spreadsheets take the rest as text.
fn cell(text: &str) -> String {
    const BEGINNINGS: [char; 10] = ['=', '+', '-', '@', '"', '\'', '＝', '＋', '－', '＠'];
    let text = text.replace(|c: char| c.is_control(), " ");
    // Spaces before a formula do not always disarm it.
    match text.trim_start().starts_with(BEGINNINGS) {
        true => format!("'{text}"),
        false => text,
    }
}

fn breaks(name: &str) -> bool {
    name.contains(['\t', '\n', '\r'])
}

#[cfg(feature = "rdf")]
fn write_rdf<W: Write>(
    writer: &mut WriterQuadSerializer<W>,
    sureness: Sureness,
    fact: &AnsweredFact<'_>,
) -> Result<(), AnswerError> {
    let triple = Triple::new(rdf::subject(fact.head), rdf::iri(fact.relation), rdf::term(fact.tail));
    writer.serialize_triple(&triple)?;
    let number = |value: Option<f32>| value.filter(|value| value.is_finite());
    let said = [(CONFIDENCE, number(fact.confidence)), (SCORE, number(fact.score))];
    if sureness == Sureness::Unsaid || said.iter().all(|(_, value)| value.is_none()) {
        return Ok(());
    }
    // By its content, so that the same answers give the same file, and files can be joined.
    let content = [fact.head, fact.relation, fact.tail].join("\0");
    let about =
        BlankNode::new_unchecked(format!("rana{:032x}", xxhash_rust::xxh3::xxh3_128(content.as_bytes())));
    let mut say = |predicate: NamedNode, object: Term| {
        writer.serialize_triple(&Triple::new(about.clone(), predicate, object))
    };
    match sureness {
        Sureness::Reifier => {
            let object = Term::Triple(Box::new(triple));
            say(NamedNode::new_unchecked(REIFIES), object)?;
        }
        _ => {
            say(rdf_names::TYPE.into(), Term::from(rdf_names::STATEMENT.into_owned()))?;
            say(rdf_names::SUBJECT.into(), triple.subject.into())?;
            say(rdf_names::PREDICATE.into(), Term::from(triple.predicate))?;
            say(rdf_names::OBJECT.into(), triple.object)?;
        }
    }
    for (name, value) in said {
        if let Some(value) = value {
            let literal = Literal::new_typed_literal(format!("{value}"), xsd::DECIMAL);
            say(NamedNode::new_unchecked(name), literal.into())?;
        }
    }
    for reason in &fact.reasons {
        say(rdfs::COMMENT.into(), Literal::new_simple_literal(reason).into())?;
    }
    Ok(())
}

fn write_quick_statement(out: &mut impl Write, fact: &AnsweredFact<'_>) -> Result<(), AnswerError> {
    let [head, relation, tail] = [(fact.head, 'Q'), (fact.relation, 'P'), (fact.tail, 'Q')]
        .map(|(name, letter)| wikidata_id(name, letter).ok_or_else(|| name.to_owned()));
    let refused = |name| AnswerError::Wikidata { name };
    let (head, relation, tail) = (head.map_err(refused)?, relation.map_err(refused)?, tail.map_err(refused)?);
    let sure = fact.confidence.map_or_else(String::new, |confidence| format!(", confidence {confidence:.2}"));
    let seen = if fact.reviewed { "reviewed" } else { "not reviewed" };
    writeln!(out, "{head}\t{relation}\t{tail}\t/* answer of rana, {seen}{sure} */")?;
    Ok(())
}

/// `Q42` out of itself or of an IRI that ends in it.
fn wikidata_id(name: &str, letter: char) -> Option<&str> {
    let id = name.rsplit(['/', ':']).next()?;
    let digits = id.strip_prefix(letter)?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(id)
}

/// Answers that are collected until they fill a row group.
#[cfg(feature = "parquet")]
struct Columns<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    texts: [Vec<ByteArray>; 3],
    ranks: Optional<i32>,
    scores: Optional<f32>,
    confidences: Optional<f32>,
}

/// A column with gaps: a definition level for each row, and the values that are there.
#[cfg(feature = "parquet")]
struct Optional<T> {
    levels: Vec<i16>,
    values: Vec<T>,
}

#[cfg(feature = "parquet")]
impl<T> Optional<T> {
    const fn new() -> Self {
        Self { levels: Vec::new(), values: Vec::new() }
    }

    fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }
}

#[cfg(feature = "parquet")]
impl<W: Write + Send> Columns<W> {
    const ROWS_PER_GROUP: usize = 1 << 16;

    fn new(out: W) -> Result<Self, AnswerError> {
        let schema = parse_message_type(
            "message answers { required binary head (UTF8); required binary relation (UTF8); \
             required binary tail (UTF8); optional int32 rank; optional float score; optional float confidence; }",
        )?;
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?)).build();
        Ok(Self {
            writer: SerializedFileWriter::new(out, schema.into(), properties.into())?,
            texts: [const { Vec::new() }; 3],
            ranks: Optional::new(),
            scores: Optional::new(),
            confidences: Optional::new(),
        })
    }

    fn push(&mut self, fact: &AnsweredFact<'_>) -> Result<(), AnswerError> {
        for (column, name) in self.texts.iter_mut().zip([fact.head, fact.relation, fact.tail]) {
            column.push(ByteArray::from(name));
        }
        self.ranks.push(fact.rank.map(u32::cast_signed));
        self.scores.push(fact.score);
        self.confidences.push(fact.confidence);
        if self.texts[0].len() == Self::ROWS_PER_GROUP { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<(), AnswerError> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.texts {
            if let Some(mut out) = group.next_column()? {
                out.typed::<ByteArrayType>().write_batch(&std::mem::take(column), None, None)?;
                out.close()?;
            }
        }
        let ranks = std::mem::replace(&mut self.ranks, Optional::new());
        if let Some(mut out) = group.next_column()? {
            out.typed::<Int32Type>().write_batch(&ranks.values, Some(&ranks.levels), None)?;
            out.close()?;
        }
        for column in [&mut self.scores, &mut self.confidences] {
            let column = std::mem::replace(column, Optional::new());
            if let Some(mut out) = group.next_column()? {
                out.typed::<FloatType>().write_batch(&column.values, Some(&column.levels), None)?;
                out.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    fn finish(mut self) -> Result<W, AnswerError> {
        if !self.texts[0].is_empty() {
            self.write_group()?;
        }
        Ok(self.writer.into_inner()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact() -> AnsweredFact<'static> {
        AnsweredFact {
            head: "http://www.wikidata.org/entity/Q1",
            relation: "http://www.wikidata.org/prop/direct/P2",
            tail: "Q3",
            head_label: Some("one\ttab"),
            rank: Some(1),
            score: Some(1.5),
            confidence: Some(0.75),
            reviewed: true,
            reasons: vec!["the pair is joined by `x`".to_owned()],
            ..AnsweredFact::default()
        }
    }

    fn written(format: AnswerFormat, facts: &[AnsweredFact<'_>]) -> Vec<u8> {
        let mut writer = AnswerWriter::new(format, Vec::new()).unwrap();
        facts.iter().for_each(|fact| writer.write(fact).unwrap());
        writer.finish().unwrap()
    }

    fn text(format: AnswerFormat) -> String {
        let unsure = AnsweredFact { head: "Q7", relation: "P2", tail: "Q9", ..AnsweredFact::default() };
        String::from_utf8(written(format, &[fact(), unsure])).unwrap()
    }

    #[cfg(any(feature = "parquet", feature = "rdf"))]
    fn read_back(name: &str, answers: Vec<u8>) -> rana_graph::Graph {
        let source = rana_graph::format::Source::Memory { name: name.to_owned(), bytes: answers.into() };
        rana_graph::import(&[source], &rana_graph::ImportOptions::default(), &()).unwrap().graph
    }

    #[test]
    fn texts_are_as_documented() {
        let (head, relation) =
            ("http://www.wikidata.org/entity/Q1", "http://www.wikidata.org/prop/direct/P2");
        assert_eq!(
            text(AnswerFormat::Tsv),
            format!(
                "{TSV_HEADER}\n{head}\t{relation}\tQ3\t1\t1.5\t0.7500\tone tab\t\nQ7\tP2\tQ9\t\t\t\t\t\n"
            )
        );
        assert_eq!(
            text(AnswerFormat::QuickStatements),
            "Q1\tP2\tQ3\t/* answer of rana, reviewed, confidence 0.75 */\nQ7\tP2\tQ9\t/* answer of rana, not reviewed */\n"
        );
        let lines = text(AnswerFormat::JsonLines);
        let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        assert_eq!(first["confidence"], 0.75);
        assert_eq!(first["reasons"][0], "the pair is joined by `x`");
    }

    #[test]
    fn no_cell_of_a_sheet_is_a_formula() {
        let sheet = |head: &str, label: &str| {
            let fact = AnsweredFact {
                head,
                relation: "@r",
                tail: "plain",
                head_label: Some(label),
                score: Some(-1.5),
                ..AnsweredFact::default()
            };
            let text = String::from_utf8(written(AnswerFormat::Sheet, &[fact])).unwrap();
            assert_eq!(text.lines().count(), 2, "{text}");
            text.lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(
            sheet("=HYPERLINK(\"http://e\")", "+1"),
            "'=HYPERLINK(\"http://e\")\t'@r\tplain\t\t-1.5\t\t'+1\t"
        );
        for odd in ["=1", "+1", "-1", "@f", " =1", "\t=1", "\r=1", "\"a", "'=1", "＝1", "\u{0}=1"] {
            let line = sheet(odd, odd);
            let cells: Vec<&str> = line.split('\t').collect();
            assert!(
                cells.len() == 8 && cells[0].starts_with('\'') && cells[6].starts_with('\''),
                "{odd:?}: {line:?}"
            );
        }
        assert!(sheet("a=1", "").starts_with("a=1\t"));
    }

    #[cfg(feature = "rdf")]
    #[test]
    fn rdf_says_how_sure_it_is_and_reads_back_as_facts() {
        assert_eq!(
            text(AnswerFormat::NTriples),
            "<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P2> <urn:rana:name:Q3> .\n\
             <urn:rana:name:Q7> <urn:rana:name:P2> <urn:rana:name:Q9> .\n"
        );
        let reified = text(AnswerFormat::Turtle);
        assert!(reified.contains("rdf-syntax-ns#Statement") && reified.contains("0.75"), "{reified}");
        let reifier = text(AnswerFormat::Rdf12);
        assert!(reifier.contains("<<(") && reifier.contains("reifies"), "{reifier}");
        for text in [text(AnswerFormat::NTriples), reifier] {
            let graph = read_back("answers.ttl", text.into_bytes());
            assert_eq!(graph.facts().len(), 2);
            assert!(graph.entity("Q9").is_some());
        }
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_reads_back_as_facts() {
        let facts = vec![fact(); 3];
        let graph = read_back("answers.parquet", written(AnswerFormat::Parquet, &facts));
        assert_eq!(graph.facts().len(), 1, "the same fact three times");
    }

    #[test]
    fn names_that_a_format_cannot_write_are_named() {
        let odd = AnsweredFact { head: "a\tb", relation: "P1", tail: "Q2", ..AnsweredFact::default() };
        let refused = |format, fact: &AnsweredFact<'_>| {
            AnswerWriter::new(format, Vec::new()).unwrap().write(fact).unwrap_err().to_string()
        };
        assert!(refused(AnswerFormat::Tsv, &odd).contains("a\\tb"));
        let message = refused(AnswerFormat::QuickStatements, &AnsweredFact { head: "Q1x", ..odd.clone() });
        assert!(message.contains("Q1x") && message.contains("Wikidata"), "{message}");
    }
}
