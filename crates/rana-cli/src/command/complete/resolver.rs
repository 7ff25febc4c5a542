//! Entities, types and pairs as people write them.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use rana::graph::{EntityId, Graph, Pair, RelationId, TypeId};
use rana::predictor::Predictor;

use crate::error::CliError;

/// Finds what texts name in the graph of a predictor.
pub(super) struct Resolver<'p> {
    predictor: &'p Predictor,
}

impl<'p> Resolver<'p> {
    pub(super) fn new(predictor: &'p Predictor) -> Self {
        Self { predictor }
    }

    /// The graph.
    pub(super) fn graph(&self) -> &'p Graph {
        self.predictor.graph()
    }

    /// The entity of a name or label.
    pub(super) fn entity(&self, text: &str) -> Result<EntityId, CliError> {
        self.predictor.entity(text).map_err(|error| CliError::Usage(error.to_string()))
    }

    /// The relation of a name, a label or the last part of an IRI; none if it is new and may be.
    pub(super) fn relation(&self, text: &str, may_be_new: bool) -> Result<Option<RelationId>, CliError> {
        match self.predictor.relation(text) {
            Ok(relation) => Ok(Some(relation)),
            Err(_) if may_be_new => Ok(None),
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
    pub(super) fn type_of(&self, text: &str) -> Result<TypeId, CliError> {
        let names = self.graph().type_names();
        self.predictor.type_called(text).ok_or_else(|| {
            let some: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
            CliError::Usage(match some.is_empty() {
                true => format!("there is no type `{text}`: the graph has no types"),
                false => format!("there is no type `{text}` in the graph; it has {} …", some.join(", ")),
            })
        })
    }

    /// The pairs of a file, tab-separated, one a line: head and tail, or head, relation and tail. The relation is given
    /// beside each pair that has one.
    pub(super) fn pairs(&self, file: &Path) -> Result<Vec<(Option<String>, Pair)>, CliError> {
        self.lines(file, |line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let (head, relation, tail) = match fields[..] {
                [head, tail] => (head, None, tail),
                [head, relation, tail] => (head, Some(relation.to_owned()), tail),
                _ => {
                    return Err(CliError::Usage(format!(
                        "expected head⇥tail or head⇥relation⇥tail, found {} fields",
                        fields.len()
                    )));
                }
            };
            Ok((relation, Pair { head: self.entity(head)?, tail: self.entity(tail)? }))
        })
    }

    /// The pairs of a file that are of one relation: those that name it, and those that name none.
    pub(super) fn pairs_of(
        &self,
        file: &Path,
        relation: Option<RelationId>,
        name: Option<&str>,
    ) -> Result<Vec<Pair>, CliError> {
        let all = self.pairs(file)?;
        let mut names: Vec<&str> = all.iter().filter_map(|(of, _)| of.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        let is_meant =
            |of: &str| Some(of) == name || relation.is_some() && self.predictor.relation(of).ok() == relation;
        if names.len() > 1 && !names.iter().any(|of| is_meant(of)) {
            let some: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
            return Err(CliError::Usage(format!(
                "{} has pairs of {} relations: {}{}. Say which one by --relation NAME",
                file.display(),
                names.len(),
                some.join(", "),
                if names.len() > 5 { " …" } else { "" }
            )));
        }
        let several = names.len() > 1;
        let of = |(of, pair): &(Option<String>, Pair)| {
            (!several || of.as_deref().is_none_or(is_meant)).then_some(*pair)
        };
        Ok(all.iter().filter_map(of).collect())
    }

    /// The entities of a file, one name or label a line.
    pub(super) fn entities(&self, file: &Path) -> Result<Vec<EntityId>, CliError> {
        self.lines(file, |line| self.entity(line))
    }

    /// Reads what each line says; errors name the line.
    fn lines<T>(&self, file: &Path, read: impl Fn(&str) -> Result<T, CliError>) -> Result<Vec<T>, CliError> {
        let failed = |source| CliError::io(file, "read the file", source);
        let input: Box<dyn BufRead> = match file == Path::new("-") {
            true => Box::new(io::stdin().lock()),
            false => Box::new(BufReader::new(File::open(file).map_err(failed)?)),
        };
        let mut found = Vec::new();
        for (at, line) in input.lines().enumerate() {
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
