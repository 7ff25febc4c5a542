//! [`import_rows`]: a graph from rows that a program hands over.

use sha2::{Digest, Sha256};

use super::import::{Read, add, finish};
use super::import_options::ImportOptions;
use super::import_report::{Imported, SourceReport};
use super::interpreter::Interpreter;
use crate::format::{Format, FormatError, Place, Role, Sink, Statement};
use crate::graph_builder::GraphBuilder;
use crate::malformed_input::MalformedInput;
use crate::observer::{Observer, Unit};
use crate::prefixes::Prefixes;
use crate::statement_batch::pipeline;
use crate::store::Input;

/// Makes a graph of rows of head, relation and tail, as [`import`](crate::import) does of a table in a file.
///
/// `hand_over` runs on a thread of its own, beside the one that builds the graph. `name` stands in messages, `format` in the
/// report; the options about files do not apply. The number of rows is told to `observer` if it is known.
///
/// ```
/// use rana_graph::{ImportOptions, format::FormatError, import_rows};
/// let imported = import_rows("cities", "rows", None, &ImportOptions::default(), &(), |rows| {
///     rows.add("paris", "capital_of", "france")?;
///     rows.add("rome", "capital_of", "italy")
/// })?;
/// assert_eq!(imported.graph.facts().len(), 2);
/// # Ok::<(), FormatError>(())
/// ```
///
/// # Errors
/// Those of `hand_over`, the first malformed row unless `lenient`, and [`FormatError::Stopped`] if `observer` asks to stop.
pub fn import_rows<E: From<FormatError> + Send>(
    name: &str,
    format: &str,
    total: Option<u64>,
    options: &ImportOptions,
    observer: &dyn Observer,
    hand_over: impl FnOnce(&mut Rows<'_>) -> Result<(), E> + Send,
) -> Result<Imported, E> {
    observer.begin("reading", total, Unit::Facts);
    let mut builder = GraphBuilder::new(options.duplicates);
    let read = pipeline(
        |sender| -> Result<Read, E> {
            let mut prefixes = Prefixes::default();
            let report =
                SourceReport { name: name.to_owned(), format: format.to_owned(), ..SourceReport::default() };
            let interpreter = Interpreter {
                options,
                // Rows cannot mark literals, like every table.
                format: Format::Delimited,
                report,
                skipped: MalformedInput::new(options.lenient),
                prefixes: &mut prefixes,
                sender,
                observer,
                statements: 0,
            };
            let mut rows = Rows { name, interpreter, row: 0, hash: Sha256::new(), bytes: 0 };
            hand_over(&mut rows)?;
            if rows.row == 0 {
                let expected = "rows of head, relation and tail";
                return Err(FormatError::Empty { file: name.to_owned(), expected }.into());
            }
            observer.advance(rows.row % ROWS_PER_REPORT);
            let Rows { interpreter: Interpreter { report, skipped, .. }, hash, bytes, .. } = rows;
            let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            let input = Input { name: name.to_owned(), format: format.to_owned(), bytes, sha256 };
            let report = SourceReport { bytes, malformed: skipped.count, ..report };
            Ok(Read { inputs: vec![input], reports: vec![report], skipped, prefixes })
        },
        |batch| {
            add(&mut builder, batch);
            Ok(())
        },
    );
    observer.end();
    Ok(finish(builder, read?, std::iter::empty(), options))
}

/// Progress is told once in so many rows.
const ROWS_PER_REPORT: u64 = 16 * 1024;

/// Takes the rows of an [`import_rows`].
pub struct Rows<'a> {
    name: &'a str,
    interpreter: Interpreter<'a>,
    row: u64,
    /// Of all names, each after its length.
    hash: Sha256,
    bytes: u64,
}

impl Rows<'_> {
    /// Adds a row.
    ///
    /// # Errors
    /// If a name is empty, unless malformed rows are skipped, or if the import ends.
    pub fn add(&mut self, head: &str, relation: &str, tail: &str) -> Result<(), FormatError> {
        let names = [head, relation, tail];
        for name in names {
            self.hash.update((name.len() as u64).to_le_bytes());
            self.hash.update(name);
            self.bytes += name.len() as u64;
        }
        self.next_row();
        match Role::ALL.iter().zip(names).find(|(_, name)| name.is_empty()) {
            Some((role, _)) => self.refuse(*role, "is empty, expected a name"),
            None => self.interpreter.statement(Statement::Fact { head, relation, tail }, Some(self.row)),
        }
    }

    /// Adds a row that cannot be used, because of the name of a role: `problem` continues a sentence about it.
    ///
    /// # Errors
    /// Unless malformed rows are skipped.
    pub fn add_malformed(&mut self, role: Role, problem: &str) -> Result<(), FormatError> {
        self.next_row();
        self.refuse(role, problem)
    }

    fn next_row(&mut self) {
        self.row += 1;
        if self.row.is_multiple_of(ROWS_PER_REPORT) {
            self.interpreter.observer.advance(ROWS_PER_REPORT);
        }
    }

    fn refuse(&mut self, role: Role, problem: &str) -> Result<(), FormatError> {
        let place = Place::file(self.name);
        let problem = format!("row {}: the {} {problem}", self.row, role.name());
        self.interpreter.malformed(FormatError::malformed(place, problem))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::format::Source;
    use crate::import::{LABEL_RELATIONS, RDF_TYPE, import};
    use crate::store::Store;

    const ROWS: [[&str; 3]; 5] = [
        ["paris", "capital_of", "france"],
        ["rome", "capital_of", "italy"],
        ["paris", RDF_TYPE, "city"],
        ["paris", LABEL_RELATIONS[0], "Paris, the town"],
        ["paris", "capital_of", "france"],
    ];

    fn of(
        rows: &[[&str; 3]],
        options: &ImportOptions,
        observer: &dyn Observer,
    ) -> Result<Imported, FormatError> {
        import_rows("rows", "rows", None, options, observer, |sink| {
            rows.iter().try_for_each(|[head, relation, tail]| sink.add(head, relation, tail))
        })
    }

    #[test]
    fn rows_mean_what_they_mean_in_a_file() {
        let options = ImportOptions::default();
        let handed = of(&ROWS, &options, &()).unwrap();
        let text: String = ROWS.iter().map(|row| row.join("\t") + "\n").collect();
        let file = Source::Memory { name: "rows.tsv".to_owned(), bytes: Cow::Owned(text.into_bytes()) };
        let read = import(&[file], &options, &()).unwrap();
        assert_eq!(Store::identity(&handed.graph, &handed.tasks), Store::identity(&read.graph, &read.tasks));
        let [handed_over, from_file] = [&handed, &read].map(|of| &of.report);
        assert_eq!(handed_over.counts, from_file.counts);
        assert_eq!((handed_over.duplicates, handed_over.sources[0].labels), (1, 1));
        assert_ne!(Store::identity(&handed.graph, &handed.tasks), {
            let other = of(&ROWS[..1], &options, &()).unwrap();
            Store::identity(&other.graph, &other.tasks)
        });
        assert_eq!(handed.inputs[0].sha256.len(), 64);
        let swapped = of(&[["parisc", "apital_of", "france"]], &options, &()).unwrap();
        assert_ne!(swapped.inputs[0].sha256, of(&ROWS[..1], &options, &()).unwrap().inputs[0].sha256);
    }

    #[test]
    fn a_row_without_a_name_is_refused_or_skipped() {
        let rows = [["a", "r", "b"], ["a", "", "b"]];
        let error = of(&rows, &ImportOptions::default(), &()).unwrap_err();
        assert_eq!(error.to_string(), "rows: row 2: the relation is empty, expected a name");
        let lenient = of(&rows, &ImportOptions { lenient: true, ..ImportOptions::default() }, &()).unwrap();
        assert_eq!((lenient.graph.facts().len(), lenient.report.sources[0].malformed), (1, 1));
        let none = of(&[], &ImportOptions::default(), &());
        assert!(matches!(none, Err(FormatError::Empty { .. })), "{none:?}");
    }

    /// Stops after so many questions.
    struct StopAfter(AtomicU64);

    impl Observer for StopAfter {
        fn should_stop(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) == 0
        }
    }

    #[test]
    fn an_import_can_be_stopped() {
        let endless = import_rows::<FormatError>(
            "rows",
            "rows",
            None,
            &ImportOptions::default(),
            &StopAfter(AtomicU64::new(3)),
            |rows| loop {
                rows.add("a", "r", "b")?;
            },
        );
        assert!(matches!(endless, Err(FormatError::Stopped)), "{endless:?}");
    }
}
