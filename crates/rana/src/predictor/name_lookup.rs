//! Relations, types and entities as people write them: a name, its short form (`wdt:P740`), a label, or the last part of an
//! IRI.

use std::fmt;

use rana_graph::{EntityId, Graph, RelationId, TypeId};

/// How many names are offered.
const SUGGESTIONS: usize = 5;

/// Why a text names no relation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UnknownRelation {
    /// The text.
    pub text: String,
    /// Whether several relations may be meant.
    pub is_ambiguous: bool,
    /// Relations that may be meant, each as its name and its label if it has one.
    pub suggestions: Vec<(String, Option<String>)>,
}

impl fmt::Display for UnknownRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, is_ambiguous, suggestions } = self;
        let said = |(name, label): &(String, Option<String>)| match label {
            Some(label) => format!("`{name}` ({label})"),
            None => format!("`{name}`"),
        };
        let names = suggestions.iter().map(said).collect::<Vec<_>>().join(", ");
        match (is_ambiguous, suggestions.is_empty()) {
            (true, _) => write!(f, "several relations are called `{text}`; say one of their names: {names}"),
            (false, false) => write!(f, "there is no relation `{text}` in the graph; did you mean {names}?"),
            (false, true) => write!(f, "there is no relation `{text}` in the graph"),
        }
    }
}

/// The last part of an IRI or of a name with colons.
fn last_part(name: &str) -> &str {
    let last = rana_graph::last_part(name);
    last.rsplit(':').next().unwrap_or(last)
}

/// The relation that a text names: by its name or its short form, by its label, or by the last part of its IRI, if it is
/// the only one.
/// Case counts where it decides.
///
/// # Errors
/// If no relation is called so, or several are; with the relations that may be meant.
pub fn relation(graph: &Graph, text: &str) -> Result<RelationId, UnknownRelation> {
    let by_short_name = || graph.relation(&graph.prefixes().expand(text)?);
    if let Some(relation) = graph.relation(text).or_else(by_short_name) {
        return Ok(relation);
    }
    let all: Vec<RelationId> = (0..graph.named_relation_count() as u32).map(RelationId::forward).collect();
    let lower = text.to_lowercase();
    let labelled = |of: RelationId, is: &dyn Fn(&str) -> bool| graph.relation_label(of).is_some_and(is);
    let tests: [&dyn Fn(RelationId) -> bool; 4] = [
        &|of| labelled(of, &|label| label == text),
        &|of| last_part(graph.relation_name(of)) == text,
        &|of| labelled(of, &|label| label.to_lowercase() == lower),
        &|of| {
            let name = graph.relation_name(of);
            name.to_lowercase() == lower || last_part(name).to_lowercase() == lower
        },
    ];
    let offer = |relations: &[RelationId]| {
        let of = |&of: &RelationId| {
            (graph.relation_name(of).to_owned(), graph.relation_label(of).map(ToOwned::to_owned))
        };
        relations.iter().take(SUGGESTIONS).map(of).collect()
    };
    for test in tests {
        let found: Vec<RelationId> = all.iter().copied().filter(|&of| test(of)).collect();
        match found[..] {
            [] => {}
            [relation] => return Ok(relation),
            _ => {
                let suggestions = offer(&found);
                return Err(UnknownRelation { text: text.to_owned(), is_ambiguous: true, suggestions });
            }
        }
    }
    let distance = |of: RelationId| {
        let name = last_part(graph.relation_name(of)).to_lowercase();
        let label = graph.relation_label(of).unwrap_or_default().to_lowercase();
        let contains = |of: &str| !lower.is_empty() && of.contains(&lower);
        match contains(&name) || contains(&label) {
            true => 0,
            false => {
                edits(&name, &lower).min(if label.is_empty() { usize::MAX } else { edits(&label, &lower) })
            }
        }
    };
    let most = 1 + text.chars().count() / 4;
    let mut near: Vec<(usize, RelationId)> =
        all.iter().map(|&of| (distance(of), of)).filter(|(distance, _)| *distance <= most).collect();
    near.sort_unstable();
    let near: Vec<RelationId> = near.into_iter().map(|(_, of)| of).collect();
    Err(UnknownRelation { text: text.to_owned(), is_ambiguous: false, suggestions: offer(&near) })
}

/// The entity whose name ends in a text as its last part, if it is the only one.
pub(super) fn entity_by_last_part(graph: &Graph, text: &str) -> Option<EntityId> {
    let mut found = graph.entities().filter(|&entity| last_part(graph.entity_name(entity)) == text);
    found.next().filter(|_| found.next().is_none())
}

/// The type that a text names: by its name, by the label of the entity of this name, or by the last part of its IRI.
pub(super) fn type_called(graph: &Graph, text: &str) -> Option<TypeId> {
    let names = graph.type_names();
    let by_short_name = || names.id(&graph.prefixes().expand(text)?);
    if let Some(id) = names.id(text).or_else(by_short_name) {
        return Some(TypeId(id));
    }
    let lower = text.to_lowercase();
    let is_called = |name: &str| {
        let label = graph.entity(name).and_then(|entity| graph.entity_label(entity));
        last_part(name).to_lowercase() == lower || label.is_some_and(|label| label.to_lowercase() == lower)
    };
    let mut found = names.iter().enumerate().filter(|(_, name)| is_called(name));
    let (id, _) = found.next()?;
    found.next().is_none().then_some(TypeId(id as u32))
}

/// How many letters must be added, removed or replaced to turn one text into another.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, &beside) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != beside);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder, LabelRank};

    fn graph() -> Graph {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        builder.add_named("http://e/Q1", "http://p/direct/P1050", "http://e/Q2");
        builder.add_named("http://e/Q1", "http://p/direct/P740", "http://e/Q3");
        builder.add_named("http://e/Q1", "http://p/other/P740", "http://e/Q3");
        builder.add_label("http://p/direct/P1050", "medical condition", LabelRank::Wanted);
        builder.finish()
    }

    #[test]
    fn a_relation_is_found_by_name_label_or_last_part() {
        let graph = graph();
        let condition = graph.relation("http://p/direct/P1050").unwrap();
        for text in ["http://p/direct/P1050", "P1050", "p1050", "medical condition", "Medical Condition"] {
            assert_eq!(relation(&graph, text), Ok(condition), "{text}");
        }
        let error = relation(&graph, "P740").unwrap_err();
        assert!(error.is_ambiguous && error.suggestions.len() == 2, "{error}");
        let error = relation(&graph, "P105").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no relation `P105` in the graph; did you mean `http://p/direct/P1050` (medical condition)?"
        );
        let error = relation(&graph, "entirely new").unwrap_err();
        assert!(!error.is_ambiguous && error.suggestions.is_empty());
    }

    #[test]
    fn an_entity_is_found_by_its_last_part() {
        let graph = graph();
        assert_eq!(entity_by_last_part(&graph, "Q2"), graph.entity("http://e/Q2"));
        assert_eq!(entity_by_last_part(&graph, "Q9"), None);
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!([edits("kitten", "sitting"), edits("", "ab"), edits("ab", "ab")], [3, 2, 0]);
    }
}
