//! Entities, types and pairs as people write them.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use rana::graph::{EntityId, Graph, Pair, TypeId};
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

    /// The type of a name.
    pub(super) fn type_of(&self, text: &str) -> Result<TypeId, CliError> {
        let names = self.graph().type_names();
        names.id(text).map(TypeId).ok_or_else(|| {
            let some: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
            CliError::Usage(match some.is_empty() {
                true => format!("there is no type `{text}`: the graph has no types"),
                false => format!("there is no type `{text}` in the graph; it has {} …", some.join(", ")),
            })
        })
    }

    /// The pairs of a file: head and tail, or head, relation and tail, tab-separated, one pair a line.
    pub(super) fn pairs(&self, file: &Path) -> Result<Vec<Pair>, CliError> {
        self.lines(file, |line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let (head, tail) = match fields[..] {
                [head, tail] | [head, _, tail] => (head, tail),
                _ => {
                    return Err(CliError::Usage(format!(
                        "expected head⇥tail or head⇥relation⇥tail, found {} fields",
                        fields.len()
                    )));
                }
            };
            Ok(Pair { head: self.entity(head)?, tail: self.entity(tail)? })
        })
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
