//! Entities, types and pairs as people write them.

use std::io::BufRead;
use std::path::Path;

use rana::graph::{EntityId, Graph, Pair, RelationId, TypeId};
use rana::predictor::Predictor;

use super::pairs_file::{PairRow, open_input, read_pairs};
use crate::error::CliError;

/// The pairs of a file, each with the relation that is written beside it.
pub(in crate::command) struct FilePairs {
    file: String,
    pairs: Vec<(Option<String>, Pair)>,
    /// The relations that are named in the file, each once.
    names: Vec<String>,
}

impl FilePairs {
    /// The file they are from.
    pub(in crate::command) fn file(&self) -> &str {
        &self.file
    }

    /// The relation of all pairs, if the file names one and no other.
    pub(in crate::command) fn only_relation(&self) -> Option<&str> {
        match &self.names[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// Finds what texts name in the graph of a predictor.
pub(in crate::command) struct Resolver<'p> {
    predictor: &'p Predictor,
}

impl<'p> Resolver<'p> {
    pub(in crate::command) fn new(predictor: &'p Predictor) -> Self {
        Self { predictor }
    }

    /// The graph.
    pub(in crate::command) fn graph(&self) -> &'p Graph {
        self.predictor.graph()
    }

    /// The entity of a name or label.
    pub(in crate::command) fn entity(&self, text: &str) -> Result<EntityId, CliError> {
        self.predictor.entity(text).map_err(|error| CliError::Usage(error.to_string()))
    }

    /// The relation of a name, a label or the last part of an IRI; none if it is said to be new.
    pub(in crate::command) fn relation(
        &self,
        text: &str,
        is_new: bool,
    ) -> Result<Option<RelationId>, CliError> {
        if is_new {
            return match self.predictor.relation(text) {
                Ok(_) => Err(CliError::Usage(format!(
                    "`{text}` is a relation of the graph. Leave out --new, or choose another name"
                ))),
                Err(_) => Ok(None),
            };
        }
        match self.predictor.relation(text) {
            Ok(relation) => Ok(Some(relation)),
            Err(error) if error.is_ambiguous => Err(CliError::Usage(error.to_string())),
            Err(error) => {
                let message = format!("{error} A relation that the graph does not have needs --new");
                let message = if error.suggestions.is_empty() {
                    message.replacen(" A relation", ". A relation", 1)
                } else {
                    message
                };
                Err(CliError::Usage(message))
            }
        }
    }

    /// The type of a name.
    pub(in crate::command) fn type_of(&self, text: &str) -> Result<TypeId, CliError> {
        let names = self.graph().type_names();
        self.predictor.type_called(text).ok_or_else(|| {
            let some: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
            CliError::Usage(match some.is_empty() {
                true => format!("there is no type `{text}`: the graph has no types"),
                false => format!("there is no type `{text}` in the graph; it has {} …", some.join(", ")),
            })
        })
    }

    /// The pairs of a file.
    pub(in crate::command) fn pairs(&self, file: &Path) -> Result<FilePairs, CliError> {
        let rows = read_pairs(file)?;
        let mut names: Vec<String> = rows.iter().filter_map(|row| row.relation.clone()).collect();
        names.sort_unstable();
        names.dedup();
        let pair = |row: PairRow| {
            let found =
                self.entity(&row.head).and_then(|head| Ok(Pair { head, tail: self.entity(&row.tail)? }));
            let pair = found.map_err(|error| CliError::Line {
                file: file.display().to_string(),
                line: row.line,
                source: Box::new(error),
            })?;
            Ok((row.relation, pair))
        };
        let pairs = rows.into_iter().map(pair).collect::<Result<_, CliError>>()?;
        Ok(FilePairs { file: file.display().to_string(), pairs, names })
    }

    /// The pairs of one relation: those that name it, and those that name none.
    pub(in crate::command) fn pairs_of(
        &self,
        of: &FilePairs,
        relation: Option<RelationId>,
        name: Option<&str>,
    ) -> Result<Vec<Pair>, CliError> {
        let is_meant =
            |of: &str| Some(of) == name || relation.is_some() && self.predictor.relation(of).ok() == relation;
        if !of.names.is_empty() && !of.names.iter().any(|of| is_meant(of)) {
            let some: Vec<String> = of.names.iter().take(5).map(|name| format!("`{name}`")).collect();
            let more = if of.names.len() > 5 { " …" } else { "" };
            let file = &of.file;
            return Err(CliError::Usage(match (&of.names[..], name) {
                ([one], Some(name)) => format!(
                    "{file} has pairs of `{one}`, and --relation says `{name}`. Leave out --relation, or the column of relations"
                ),
                (names, Some(name)) => format!(
                    "{file} has pairs of {} relations ({}{more}), none of `{name}`. Choose one of them by --relation NAME",
                    names.len(),
                    some.join(", ")
                ),
                (names, None) => format!(
                    "{file} has pairs of {} relations: {}{more}. Choose one by --relation NAME",
                    names.len(),
                    some.join(", ")
                ),
            }));
        }
        let pair =
            |(named, pair): &(Option<String>, Pair)| named.as_deref().is_none_or(is_meant).then_some(*pair);
        Ok(of.pairs.iter().filter_map(pair).collect())
    }

    /// The entities of a file, one name or label a line.
    pub(in crate::command) fn entities(&self, file: &Path) -> Result<Vec<EntityId>, CliError> {
        self.lines(file, |line| self.entity(line))
    }

    /// Reads what each line says; errors name the line.
    fn lines<T>(&self, file: &Path, read: impl Fn(&str) -> Result<T, CliError>) -> Result<Vec<T>, CliError> {
        let failed = |source| CliError::io(file, "read the file", source);
        let mut found = Vec::new();
        for (at, line) in open_input(file).map_err(failed)?.lines().enumerate() {
            let line = line.map_err(failed)?;
            let line = line.trim_end_matches('\r');
            if line.trim().is_empty() {
                continue;
            }
            found.push(read(line).map_err(|error| CliError::Line {
                file: file.display().to_string(),
                line: at as u64 + 1,
                source: Box::new(error),
            })?);
        }
        Ok(found)
    }
}
