use proptest::prelude::*;
use rana_graph::{Duplicates, Graph, GraphBuilder, LabelRank};

use super::spelling::{budget, is_spelled, word_budget};
use super::text_folding::folded;
use super::*;

/// A graph of entities with labels, the first ones with the most neighbours.
fn graph(entities: &[(&str, &str)]) -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for (name, label) in entities {
        builder.intern_entity(name);
        if !label.is_empty() {
            builder.add_label(name, label, LabelRank::Untagged);
        }
    }
    for (number, (name, _)) in entities.iter().enumerate() {
        for neighbour in entities.iter().skip(number + 1).take(20) {
            builder.add_named(name, "knows", neighbour.0);
        }
    }
    builder.finish()
}

fn names<'g>(graph: &'g Graph, found: &[Found]) -> Vec<(&'g str, Match)> {
    found.iter().map(|found| (graph.entity_name(found.entity), found.matched)).collect()
}

#[test]
fn the_best_come_first() {
    let graph = graph(&[
        ("Q1", "University of Paris"),
        ("Q2", "Paris, Texas"),
        ("Q3", "Paris"),
        ("Q4", "Pariss"),
        ("Q5", "Parity"),
        ("Q6", "Prais"),
        ("Q7", "Rome"),
    ]);
    let index = NameIndex::new(&graph);
    let find = |query, limit| names(&graph, &index.find(&graph, query, limit));
    use Match::{Exact, Fuzzy, Prefix, Word};
    assert_eq!(
        find("paris", 10),
        [("Q3", Exact), ("Q2", Prefix), ("Q4", Prefix), ("Q1", Word), ("Q6", Fuzzy)]
    );
    assert_eq!(find("paris", 2), [("Q3", Exact), ("Q2", Prefix)]);
    assert_eq!(find("paris", 0), []);
    // Best known first among the misspelled.
    assert_eq!(find("patis", 10), [("Q1", Fuzzy), ("Q2", Fuzzy), ("Q3", Fuzzy)]);
    assert_eq!(find("univresity", 10), [("Q1", Fuzzy)]);
    // A word that is still being typed.
    assert_eq!(find("univresity of pa", 10), [("Q1", Fuzzy)]);
    assert_eq!(find("of paris", 10), [("Q1", Word)]);
    // Codes are not misspelled.
    assert_eq!(find("q3", 10), [("Q3", Exact)]);
    assert_eq!(find("q31", 10), []);
    assert_eq!(find("", 10), []);
    assert_eq!(find("  ", 10), []);
    assert_eq!(find(&"paris ".repeat(1000), 10), []);
}

#[test]
fn no_entities_at_all() {
    let graph = Graph::default();
    let index = NameIndex::new(&graph);
    assert_eq!(index.find(&graph, "paris", 10), []);
    assert!(index.resolve(&graph, "paris").unwrap_err().suggestions.is_empty());
}

#[test]
fn a_text_names_one_entity_or_none() {
    let graph = graph(&[
        ("Q1", "Paris"),
        ("Q2", "PARIS"),
        ("Q3", "Rome"),
        ("Q4", "Rome"),
        ("Rome", ""),
        ("Q6", "Naples"),
        ("Q7", "Lyon"),
        ("Q8", "Lyon"),
    ]);
    let index = NameIndex::new(&graph);
    let resolve = |text| index.resolve(&graph, text).map(|entity| graph.entity_name(entity));
    assert_eq!(resolve("Q1"), Ok("Q1"));
    assert_eq!(resolve("Paris"), Ok("Q1"));
    assert_eq!(resolve("PARIS"), Ok("Q2"));
    assert_eq!(resolve("Rome"), Ok("Rome"));
    assert_eq!(resolve("naples"), Ok("Q6"));
    let unresolved = resolve("paris").unwrap_err();
    assert_eq!((unresolved.is_ambiguous, unresolved.suggestions), (true, vec!["Q1".into(), "Q2".into()]));
    let unresolved = resolve("Lyon").unwrap_err();
    assert_eq!(
        unresolved.to_string(),
        "several entities are called `Lyon`; say one of their names: `Q7`, `Q8`"
    );
    let unresolved = resolve("Naple").unwrap_err();
    assert_eq!(
        unresolved.to_string(),
        "there is no entity `Naple` in the graph; did you mean `Q6` (Naples)?"
    );
    let unresolved = resolve("../../etc/passwd").unwrap_err();
    assert!(unresolved.to_string().contains("give the name or label of one that it has"));
}

#[test]
fn knows_the_names_of_a_real_graph() {
    let imported = rana_graph::import(&[crate::umls()], &rana_graph::ImportOptions::default(), &()).unwrap();
    let graph = imported.graph;
    let index = NameIndex::new(&graph);
    for entity in graph.entities() {
        let name = graph.entity_name(entity);
        assert_eq!(index.find(&graph, name, 1), [Found { entity, matched: Match::Exact }]);
        let misspelled = format!("{}x{}", &name[..2], &name[2..]);
        assert!(
            index.find(&graph, &misspelled, 10).iter().any(|found| found.entity == entity),
            "{misspelled}"
        );
    }
}

/// The result of [`NameIndex::find`], by comparing every entity.
fn naive(graph: &Graph, query: &str, limit: usize) -> Vec<Found> {
    let folded_query = folded(query);
    let mut found: Vec<_> = graph
        .entities()
        .filter_map(|entity| {
            let is_named = graph.entity(query) == Some(entity);
            let texts = [Some(graph.entity_name(entity)), graph.entity_label(entity)];
            let best = texts.into_iter().flatten().filter_map(|text| fit(&folded(text), &folded_query)).min();
            let best = if is_named { Some((Match::Exact, 0)) } else { best };
            let order = std::cmp::Reverse(graph.degree(entity));
            best.map(|(matched, edits)| (matched, !is_named, edits, order, entity))
        })
        .collect();
    found.sort();
    found.into_iter().take(limit).map(|(matched, .., entity)| Found { entity, matched }).collect()
}

fn fit(text: &str, query: &str) -> Option<(Match, usize)> {
    if text.is_empty() || query.is_empty() {
        return None;
    }
    let at_words: Vec<&str> = (0..text.len())
        .filter(|&at| at == 0 || text.as_bytes()[at - 1] == b' ')
        .map(|at| &text[at..])
        .collect();
    if text == query {
        return Some((Match::Exact, 0));
    }
    if text.starts_with(query) {
        return Some((Match::Prefix, 0));
    }
    if at_words.iter().any(|rest| rest.starts_with(query)) {
        return Some((Match::Word, 0));
    }
    let edits = at_words.iter().filter_map(|rest| edits(rest, query)).min()?;
    Some((Match::Fuzzy, edits))
}

fn edits(text: &str, query: &str) -> Option<usize> {
    let most = budget(query.chars().count());
    let query: Vec<&str> = query.split(' ').collect();
    let text: Vec<&str> = text.split(' ').collect();
    let mut sum = 0;
    for (number, word) in query.iter().enumerate() {
        let other = text.get(number)?;
        if number + 1 == query.len() && sum > 0 && other.starts_with(word) {
            break;
        }
        let distance = distance(word, other);
        if distance > 0 && (distance > word_budget(word) || !is_spelled(other.as_bytes())) {
            return None;
        }
        sum += distance;
    }
    (1..=most).contains(&sum).then_some(sum)
}

/// How many letters are more, less, other or in each other's place.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let other = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut least = other.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec("[abC]{1,5}|[ab]{7,10}|[aéß]{2,4}|[ab]{2}[12]|[→!]", 0..4)
        .prop_map(|words| words.join("_"))
}

proptest! {
    #[test]
    fn finds_what_looking_at_every_entity_finds(
        entities in prop::collection::vec((words(), words()), 1..40),
        queries in prop::collection::vec(words(), 1..20),
        limit in 1_usize..50,
    ) {
        let entities: Vec<(&str, &str)> =
            entities.iter().map(|(name, label)| (name.as_str(), label.as_str())).collect();
        let graph = graph(&entities);
        let index = NameIndex::new(&graph);
        for query in &queries {
            prop_assert_eq!(
                names(&graph, &index.find(&graph, query, limit)),
                names(&graph, &naive(&graph, query, limit)),
                "{}", query
            );
        }
    }
}
