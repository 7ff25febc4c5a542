//! Heads that plausibly have a relation.

use std::collections::{HashMap, HashSet};

use rana_graph::{EntityId, Graph, Pair, RelationId, TypeId};

/// The entities that look like the heads of a support and have no tail in the graph or that the caller knows of: those with a type that one of these
/// has, or, where none has a type, those with a relation that at least half of these have.
pub(super) fn plausible_heads(
    graph: &Graph,
    relation: Option<RelationId>,
    support: &[Pair],
    is_known: impl Fn(EntityId) -> bool,
) -> Vec<EntityId> {
    let given: HashSet<EntityId> = support.iter().map(|pair| pair.head).collect();
    let has_relation = |entity: EntityId| {
        relation.is_some_and(|relation| graph.neighbours(entity).iter().any(|edge| edge.relation == relation))
    };
    let types: HashSet<TypeId> = given.iter().flat_map(|&head| graph.types(head).iter().copied()).collect();
    let common = common_relations(graph, relation, &given);
    let looks_alike = |entity: EntityId| match types.is_empty() {
        false => graph.types(entity).iter().any(|of| types.contains(of)),
        true => graph.neighbours(entity).iter().any(|edge| common.contains(&edge.relation)),
    };
    graph
        .entities()
        .filter(|&entity| {
            !given.contains(&entity) && looks_alike(entity) && !has_relation(entity) && !is_known(entity)
        })
        .collect()
}

/// The relations, forwards or backwards, that at least half of some entities have.
fn common_relations(
    graph: &Graph,
    without: Option<RelationId>,
    entities: &HashSet<EntityId>,
) -> HashSet<RelationId> {
    let mut counts: HashMap<RelationId, usize> = HashMap::new();
    for &entity in entities {
        let own: HashSet<RelationId> = graph.neighbours(entity).iter().map(|edge| edge.relation).collect();
        own.into_iter().for_each(|relation| *counts.entry(relation).or_default() += 1);
    }
    let half = entities.len().div_ceil(2);
    counts.retain(|relation, count| *count >= half && Some(*relation) != without);
    counts.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder};

    fn names(graph: &Graph, support: &[(&str, &str)]) -> Vec<String> {
        let id = |name: &str| graph.entity(name).unwrap();
        let support: Vec<Pair> =
            support.iter().map(|(head, tail)| Pair { head: id(head), tail: id(tail) }).collect();
        let heads = plausible_heads(graph, graph.relation("lives"), &support, |_| false);
        heads.into_iter().map(|head| graph.entity_name(head).to_owned()).collect()
    }

    #[test]
    fn by_type_where_there_are_types_else_by_relations() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for person in ["ann", "bob", "cy", "dan"] {
            builder.add_named(person, "born", "rome");
        }
        builder.add_named("rome", "in", "italy");
        builder.add_named("dan", "lives", "rome");
        let plain = builder.finish();
        // Dan has a home already, Rome and Italy are born nowhere.
        assert_eq!(names(&plain, &[("ann", "rome")]), ["bob", "cy"]);

        let mut builder = GraphBuilder::new(Duplicates::Remove);
        builder.add_named("ann", "born", "rome");
        for (name, kind) in [("ann", "person"), ("eve", "person"), ("rome", "city")] {
            let entity = builder.intern_entity(name);
            builder.add_type(entity, kind);
        }
        assert_eq!(names(&builder.finish(), &[("ann", "rome")]), ["eve"]);
    }
}
