//! Which columns of a table hold heads, relations and tails.

use std::fmt;
use std::str::FromStr;

use super::FormatError;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Heads (subjects, sources).
    Head,
    /// Relations (predicates, edge types).
    Relation,
    /// Tails (objects, targets).
    Tail,
}

impl Role {
    /// The roles in the order of a fact.
    pub const ALL: [Self; 3] = [Self::Head, Self::Relation, Self::Tail];

    /// The word for this role.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Relation => "relation",
            Self::Tail => "tail",
        }
    }

    /// The column of this role under a header, if one has a known name, in any case of letters.
    pub fn column(self, header: &[impl AsRef<str>]) -> Option<usize> {
        // Earlier words of the list are less ambiguous, so they are preferred in any order of the columns.
        self.known_headers()
            .iter()
            .find_map(|word| header.iter().position(|title| title.as_ref().eq_ignore_ascii_case(word)))
    }

    /// Header names that mean this role: the common ones, and those of KGX, KGTK and Neo4j.
    const fn known_headers(self) -> &'static [&'static str] {
        match self {
            Self::Head => &["head", "subject", "source", "from", "e1", "node1", ":start_id", "h", "s", "src"],
            Self::Relation => &[
                "relation",
                "predicate",
                "property",
                "rel",
                "edge",
                "label",
                ":type",
                "r",
                "p",
                "relation_type",
            ],
            Self::Tail => &["tail", "object", "target", "to", "e2", "node2", ":end_id", "t", "o", "dst"],
        }
    }
}

/// A column, by its position counted from one or by its name in the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// The n-th column, counted from one.
    Number(usize),
    /// The column of this name.
    Name(String),
}

impl FromStr for Column {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.parse::<usize>() {
            Ok(number) if number > 0 => Self::Number(number),
            _ => Self::Name(text.to_owned()),
        })
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => write!(f, "`{name}`"),
        }
    }
}

/// Why the columns of heads, relations and tails cannot be determined or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnsProblem {
    /// The header does not have a column of this name.
    #[error("there is no column `{name}`; the columns are {}", quoted(columns))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names in the header.
        columns: Vec<String>,
    },
    /// No name in the header is known to mean this role.
    #[error(
        "cannot tell which column holds the {}s; the columns are {}. Name the column of the {0}s",
        role.name(),
        quoted(columns)
    )]
    Undecided {
        /// What was looked for.
        role: Role,
        /// The names in the header.
        columns: Vec<String>,
    },
    /// A column is asked for by name, and the file has no header.
    #[error("there is no header, so no column `{name}`; give its number")]
    NoHeader {
        /// The name that was asked for.
        name: String,
    },
    /// There are more or fewer than three columns, and it is not set which to take.
    #[error("{found} columns, expected 3 (head, relation, tail). Say which columns hold them")]
    Count {
        /// How many columns there are.
        found: usize,
    },
    /// A column number is larger than the number of columns.
    #[error("column {number} was given for the {}s, but there are only {found} columns", role.name())]
    OutOfRange {
        /// What the column should hold.
        role: Role,
        /// The number that was asked for, counted from one.
        number: usize,
        /// How many columns there are.
        found: usize,
    },
    /// The same column was found for two roles.
    #[error(
        "two of head, relation and tail would be read from the same column. Name three different columns"
    )]
    Shared,
    /// A column holds values that cannot be names.
    #[error("column `{name}` holds {holds}, expected strings or integers. Convert it to strings first")]
    Values {
        /// The column.
        name: String,
        /// What it holds.
        holds: String,
    },
}

/// The columns of heads, relations and tails. A column that is not set is found by the header, or, in a
/// table of three columns without one, by the order head, relation, tail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The column of the heads.
    pub head: Option<Column>,
    /// The column of the relations.
    pub relation: Option<Column>,
    /// The column of the tails.
    pub tail: Option<Column>,
}

impl Columns {
    /// Reads an order such as `head,tail,relation` or `h,_,r,t`; `_` is a column to ignore.
    ///
    /// # Errors
    /// If a word is not a role, or a role is missing or named twice.
    pub fn from_order(text: &str) -> Result<Self, String> {
        let mut columns = Self::default();
        for (at, word) in text.split(',').map(str::trim).enumerate() {
            let place = match word {
                "head" | "h" | "subject" | "s" => &mut columns.head,
                "relation" | "r" | "predicate" | "p" => &mut columns.relation,
                "tail" | "t" | "object" | "o" => &mut columns.tail,
                "_" => continue,
                _ => return Err(format!("`{word}` is not a column role; say head, relation, tail or _")),
            };
            if place.replace(Column::Number(at + 1)).is_some() {
                return Err(format!("`{word}` is named twice in `{text}`"));
            }
        }
        match (&columns.head, &columns.relation, &columns.tail) {
            (Some(_), Some(_), Some(_)) => Ok(columns),
            _ => Err(format!("`{text}` must name head, relation and tail once each")),
        }
    }

    fn of(&self, role: Role) -> Option<&Column> {
        match role {
            Role::Head => self.head.as_ref(),
            Role::Relation => self.relation.as_ref(),
            Role::Tail => self.tail.as_ref(),
        }
    }

    /// Whether any column is asked for by name, so that there must be a header.
    pub(crate) fn need_header(&self) -> bool {
        Role::ALL.iter().any(|role| matches!(self.of(*role), Some(Column::Name(_))))
    }

    /// The zero-based positions of head, relation and tail under a header. `file` stands in messages.
    ///
    /// # Errors
    /// If a column is not there, or the header does not say which ones they are.
    pub fn resolve_header(&self, file: &str, header: &[String]) -> Result<[usize; 3], FormatError> {
        self.resolve(file, header.len(), |role| match self.of(role) {
            Some(Column::Number(number)) => Ok(number - 1),
            Some(Column::Name(name)) => header
                .iter()
                .position(|title| title == name)
                .ok_or_else(|| ColumnsProblem::Unknown { name: name.clone(), columns: header.to_vec() }),
            None => role
                .column(header)
                .or_else(|| (header.len() == 3).then_some(role as usize))
                .ok_or_else(|| ColumnsProblem::Undecided { role, columns: header.to_vec() }),
        })
    }

    /// The zero-based positions of head, relation and tail in a table without a header.
    pub(crate) fn resolve_order(&self, file: &str, width: usize) -> Result<[usize; 3], FormatError> {
        self.resolve(file, width, |role| match self.of(role) {
            Some(Column::Number(number)) => Ok(number - 1),
            Some(Column::Name(name)) => Err(ColumnsProblem::NoHeader { name: name.clone() }),
            None if width == 3 => Ok(role as usize),
            None => Err(ColumnsProblem::Count { found: width }),
        })
    }

    fn resolve(
        &self,
        file: &str,
        width: usize,
        find: impl Fn(Role) -> Result<usize, ColumnsProblem>,
    ) -> Result<[usize; 3], FormatError> {
        let error = |problem| FormatError::Columns { file: file.to_owned(), problem };
        let mut found = [0; 3];
        for role in Role::ALL {
            let at = find(role).map_err(error)?;
            if at >= width {
                return Err(error(ColumnsProblem::OutOfRange { role, number: at + 1, found: width }));
            }
            found[role as usize] = at;
        }
        if found[0] == found[1] || found[0] == found[2] || found[1] == found[2] {
            return Err(error(ColumnsProblem::Shared));
        }
        Ok(found)
    }
}

/// Whether a row reads like a header: it has a known title for each role.
pub(crate) fn is_header(fields: &[String]) -> bool {
    Role::ALL.iter().all(|role| role.column(fields).is_some())
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(titles: &[&str]) -> Vec<String> {
        titles.iter().map(|&title| title.to_owned()).collect()
    }

    #[test]
    fn headers_of_other_tools_are_understood() {
        for (titles, expected) in [
            (header(&["object", "subject", "predicate"]), [1, 2, 0]),
            (header(&["id", "node1", "label", "node2"]), [1, 2, 3]),
            (header(&[":START_ID", ":END_ID", ":TYPE"]), [0, 2, 1]),
        ] {
            assert!(is_header(&titles));
            assert_eq!(Columns::default().resolve_header("f", &titles).unwrap(), expected);
        }
        assert!(!is_header(&header(&["Q1", "P31", "Q5"])));
    }

    #[test]
    fn an_order_names_each_role_once() {
        let columns = Columns::from_order("h,_,t,r").unwrap();
        assert_eq!(columns.resolve_order("f", 4).unwrap(), [0, 3, 2]);
        assert!(Columns::from_order("h,t").unwrap_err().contains("once each"));
        assert!(Columns::from_order("h,h,t").unwrap_err().contains("twice"));
        assert!(Columns::from_order("h,x,t").unwrap_err().contains("not a column role"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let columns = Columns { head: Some(Column::Name("who".into())), ..Columns::default() };
        let error = columns.resolve_header("f.csv", &header(&["a", "b", "c"])).unwrap_err().to_string();
        assert_eq!(error, "f.csv: there is no column `who`; the columns are `a`, `b`, `c`");
        let error = Columns::default().resolve_order("f.csv", 5).unwrap_err().to_string();
        assert_eq!(error, "f.csv: 5 columns, expected 3 (head, relation, tail). Say which columns hold them");
        let error = Columns::default().resolve_header("f", &header(&["head", "relation", "x", "y"]));
        assert_eq!(
            error.unwrap_err().to_string(),
            "f: cannot tell which column holds the tails; the columns are `head`, `relation`, `x`, `y`. Name the \
             column of the tails"
        );
        let error = Columns::from_order("h,r,_,_,t").unwrap().resolve_order("f", 3).unwrap_err().to_string();
        assert!(error.contains("column 5 was given for the tails, but there are only 3 columns"), "{error}");
    }
}
