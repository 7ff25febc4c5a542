//! [`Interpreter`]: what statements mean: facts, types, labels.

use super::import_options::{ImportOptions, LABEL_RELATIONS, Literals, RDF_TYPE, TypeTriples};
use super::import_report::SourceReport;
use crate::format::{Format, FormatError, Literal, Sink, Statement};
use crate::graph_builder::LabelRank;
use crate::malformed_input::MalformedInput;
use crate::observer::Observer;
use crate::prefixes::Prefixes;
use crate::statement_batch::{BatchSender, Disconnected, Kind};

/// Decides what each statement of a source means, and counts them.
pub(super) struct Interpreter<'a> {
    pub(super) options: &'a ImportOptions,
    pub(super) format: Format,
    pub(super) report: SourceReport,
    pub(super) skipped: MalformedInput,
    pub(super) prefixes: &'a mut Prefixes,
    pub(super) sender: &'a mut BatchSender,
    pub(super) observer: &'a dyn Observer,
    /// Statements of this source so far.
    pub(super) statements: u64,
}

/// The observer is asked whether to stop once in so many statements: a few times a second. Smaller files are read to their end.
const STATEMENTS_PER_ASK: u64 = 1 << 16;

impl Interpreter<'_> {
    fn fact(&mut self, names: [&str; 3]) -> Result<(), Disconnected> {
        let [head, relation, tail] = names;
        if relation == RDF_TYPE || self.options.type_relations.iter().any(|name| name == relation) {
            // The type of a held-out fact must not be known to the graph.
            if self.report.held_out.is_none() {
                self.report.types += 1;
                self.send(Kind::Type, names)?;
            }
            if self.options.type_triples == TypeTriples::Drop {
                return Ok(());
            }
        } else if self.is_label_in_a_table(relation) {
            // Tables cannot mark literals, so a label is the tail of a fact.
            self.report.labels += 1;
            return self.send(Kind::Label(LabelRank::Untagged), [head, "", tail]);
        }
        self.keep(names)
    }

    fn keep(&mut self, names: [&str; 3]) -> Result<(), Disconnected> {
        self.report.facts += 1;
        self.send(self.report.held_out.map_or(Kind::Fact, Kind::HeldOut), names)
    }

    fn is_label_in_a_table(&self, relation: &str) -> bool {
        self.options.label_relations.iter().any(|name| name == relation)
            || (!self.format.is_rdf() && LABEL_RELATIONS.contains(&relation))
    }

    fn literal(&mut self, head: &str, relation: &str, literal: Literal<'_>) -> Result<(), Disconnected> {
        let is_label = LABEL_RELATIONS.contains(&relation)
            || self.options.label_relations.iter().any(|name| name == relation);
        if is_label {
            self.report.labels += 1;
            let rank = label_rank(self.options.language.as_deref(), literal.language);
            return self.send(Kind::Label(rank), [head, "", literal.value]);
        }
        self.report.literals += 1;
        match self.options.literals {
            Literals::Drop => {
                self.report.literals_dropped += 1;
                Ok(())
            }
            Literals::Keep => self.keep([head, relation, literal.name]),
        }
    }

    fn send(&mut self, kind: Kind, names: [&str; 3]) -> Result<(), Disconnected> {
        self.sender.push(kind, names, None)
    }
}

impl Sink for Interpreter<'_> {
    fn statement(&mut self, statement: Statement<'_>, _: Option<u64>) -> Result<(), FormatError> {
        self.statements += 1;
        if self.statements.is_multiple_of(STATEMENTS_PER_ASK) && self.observer.should_stop() {
            return Err(FormatError::Stopped);
        }
        let sent = match statement {
            Statement::Fact { head, relation, tail } => self.fact([head, relation, tail]),
            Statement::Literal { head, relation, literal } => self.literal(head, relation, literal),
        };
        sent.map_err(|Disconnected| FormatError::disconnected())
    }

    fn malformed(&mut self, error: FormatError) -> Result<(), FormatError> {
        self.skipped.skip_or_fail(error)
    }

    fn prefix(&mut self, prefix: &str, namespace: &str) {
        self.prefixes.declare(prefix, namespace);
    }
}

fn label_rank(wanted: Option<&str>, language: Option<&str>) -> LabelRank {
    match (wanted, language) {
        (Some(wanted), Some(language)) if language.eq_ignore_ascii_case(wanted) => LabelRank::Wanted,
        (Some(wanted), Some(language)) if is_regional(language, wanted) => LabelRank::Regional,
        (_, None) => LabelRank::Untagged,
        _ => LabelRank::Foreign,
    }
}

/// Whether a language tag is a longer form of another: `en-GB` of `en`.
fn is_regional(language: &str, wanted: &str) -> bool {
    match (language.get(..wanted.len()), language.get(wanted.len()..)) {
        (Some(begin), Some(rest)) => begin.eq_ignore_ascii_case(wanted) && rest.starts_with('-'),
        _ => false,
    }
}
