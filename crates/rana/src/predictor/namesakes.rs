//! [`distinctions`]: what tells entities of one label apart.

use std::collections::{HashMap, HashSet};

use rana_graph::{Edge, EntityId, Graph, TypeId};

/// How many facts of an entity are looked at.
const MOST_FACTS: usize = 1000;

/// A description of each entity in a list that is called like another one in it: its type, and a fact that none of the
/// others has, as in `city, country: France`.
///
/// ```
/// use rana::graph::{Duplicates, GraphBuilder, LabelRank};
/// use rana::predictor::distinctions;
/// let mut builder = GraphBuilder::new(Duplicates::Remove);
/// for (name, place) in [("Q1", "Illinois"), ("Q2", "Oregon")] {
///     builder.add_named(name, "located in", place);
///     builder.add_label(name, "Springfield", LabelRank::Wanted);
/// }
/// let graph = builder.finish();
/// let [one, other] = ["Q1", "Q2"].map(|name| graph.entity(name).unwrap());
/// let told = distinctions(&graph, &[one, other]);
/// assert_eq!(told[&one], "located in: Illinois");
/// assert_eq!(told[&other], "located in: Oregon");
/// assert!(distinctions(&graph, &[one]).is_empty());
/// ```
#[must_use]
pub fn distinctions(graph: &Graph, entities: &[EntityId]) -> HashMap<EntityId, String> {
    let mut by_title: HashMap<_, Vec<EntityId>> = HashMap::new();
    for &entity in entities {
        let namesakes = by_title.entry(graph.entity_title(entity)).or_default();
        if !namesakes.contains(&entity) {
            namesakes.push(entity);
        }
    }
    let groups = by_title.into_values().filter(|namesakes| namesakes.len() > 1);
    groups.flat_map(|namesakes| describe(graph, &namesakes)).collect()
}

fn describe(graph: &Graph, namesakes: &[EntityId]) -> Vec<(EntityId, String)> {
    let mut owners: HashMap<Edge, usize> = HashMap::new();
    for &entity in namesakes {
        let edges: HashSet<Edge> = facts(graph, entity).iter().copied().collect();
        edges.into_iter().for_each(|edge| *owners.entry(edge).or_default() += 1);
    }
    let first_type = |entity: EntityId| graph.types(entity).first().copied();
    let of_one_type = namesakes.iter().all(|&entity| first_type(entity) == first_type(namesakes[0]));
    let of = |&entity: &EntityId| {
        let own = facts(graph, entity).iter().filter(|edge| {
            owners.get(edge) == Some(&1)
                && !namesakes.contains(&edge.entity)
                && !graph.type_relations().iter().any(|of| of.number() == edge.relation.number())
        });
        // What others say of it tells less than what it says itself; a neighbour with many facts is better known.
        let telling = own.max_by_key(|edge| (!edge.relation.is_inverse(), graph.degree(edge.entity)));
        let fact = telling.map(|edge| {
            format!("{}: {}", graph.relation_title(edge.relation), graph.entity_title(edge.entity))
        });
        // A type that all of them have tells nothing on its own.
        let kind = first_type(entity).filter(|_| fact.is_some() || !of_one_type);
        let parts: Vec<String> = kind.map(|of| type_title(graph, of)).into_iter().chain(fact).collect();
        (!parts.is_empty()).then(|| (entity, parts.join(", ")))
    };
    namesakes.iter().filter_map(of).collect()
}

fn facts(graph: &Graph, entity: EntityId) -> &[Edge] {
    let edges = graph.neighbours(entity);
    &edges[..edges.len().min(MOST_FACTS)]
}

/// What to call a type: the label of the entity of its name, or the name in short form.
fn type_title(graph: &Graph, of: TypeId) -> String {
    let name = graph.type_names().name(of.0);
    match graph.entity(name) {
        Some(entity) => graph.entity_title(entity).into_owned(),
        None => graph.short_name(name).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder, LabelRank};

    /// Shared facts do not tell; the type comes first; of own facts the one with the best-known neighbour is told.
    #[test]
    fn a_fact_that_the_others_do_not_have_is_told() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for name in ["a", "b"] {
            builder.add_named(name, "continent", "Europe");
            builder.add_label(name, "Paris", LabelRank::Wanted);
        }
        builder.add_named("a", "twin", "Lonely");
        builder.add_named("a", "country", "France");
        builder.add_named("Lyon", "country", "France");
        builder.add_named("someone", "born in", "b");
        let b = builder.intern_entity("b");
        builder.add_type(b, "http://www.wikidata.org/entity/Q515");
        let graph = builder.finish();
        let (a, b) = (graph.entity("a").unwrap(), graph.entity("b").unwrap());
        let told = distinctions(&graph, &[a, graph.entity("Lyon").unwrap(), b, a]);
        assert_eq!(told.len(), 2);
        assert_eq!(told[&a], "country: France");
        assert_eq!(told[&b], "wd:Q515, born in⁻¹: someone");
    }
}
