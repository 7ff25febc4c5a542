//! [`Place`]: where in a file something stands, for messages.

use std::fmt;

/// A place in an input: file, and line and column where they are known, both counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it, `-` for standard input.
    pub file: String,
    /// The line.
    pub line: Option<u64>,
    /// The column, in bytes for delimited text and in characters for RDF and JSON.
    pub column: Option<u64>,
}

impl Place {
    /// The file as a whole.
    #[must_use]
    pub fn file(file: &str) -> Self {
        Self { file: file.to_owned(), line: None, column: None }
    }

    /// A line and a column in a file.
    #[must_use]
    pub fn at(file: &str, line: u64, column: u64) -> Self {
        Self { file: file.to_owned(), line: Some(line), column: Some(column) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for part in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{part}")?;
        }
        Ok(())
    }
}
