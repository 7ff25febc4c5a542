//! Heads that plausibly have a relation, and heads that do not look like heads.

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
    let looks = Looks::of(graph, relation, &given);
    graph
        .entities()
        .filter(|&entity| {
            !given.contains(&entity)
                && looks.are_of(graph, entity)
                && !has_relation(entity)
                && !is_known(entity)
        })
        .collect()
}

/// How many heads tell whether they are swapped with tails.
const ENOUGH_HEADS: usize = 100;

/// Whether most of some heads look like the tails of a support, and not like its heads: by their types, or, where none of
/// them has a type, by their relations.
pub(super) fn are_like_tails(
    graph: &Graph,
    relation: Option<RelationId>,
    support: &[Pair],
    heads: &[EntityId],
) -> bool {
    let [of_heads, of_tails] = [|pair: &Pair| pair.head, |pair: &Pair| pair.tail].map(|end| {
        let entities: HashSet<EntityId> = support.iter().map(end).collect();
        Looks::of(graph, relation, &entities)
    });
    let asked = &heads[..heads.len().min(ENOUGH_HEADS)];
    let like_tails =
        asked.iter().filter(|&&head| of_tails.are_of(graph, head) && !of_heads.are_of(graph, head)).count();
    2 * like_tails > asked.len()
}

/// What some entities look like.
struct Looks {
    types: HashSet<TypeId>,
    relations: HashSet<RelationId>,
}

impl Looks {
    fn of(graph: &Graph, without: Option<RelationId>, entities: &HashSet<EntityId>) -> Self {
        let types = entities.iter().flat_map(|&entity| graph.types(entity).iter().copied()).collect();
        Self { types, relations: common_relations(graph, without, entities) }
    }

    /// Whether an entity looks like them.
    fn are_of(&self, graph: &Graph, entity: EntityId) -> bool {
        match self.types.is_empty() {
            false => graph.types(entity).iter().any(|of| self.types.contains(of)),
            true => graph.neighbours(entity).iter().any(|edge| self.relations.contains(&edge.relation)),
        }
    }
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
    fn heads_that_look_like_tails_are_noticed() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for (person, city) in [("ann", "rome"), ("bob", "oslo"), ("cy", "bonn")] {
            builder.add_named(person, "born", city);
        }
        let graph = builder.finish();
        let id = |name: &str| graph.entity(name).unwrap();
        let pair = |head, tail| Pair { head: id(head), tail: id(tail) };
        let swapped = [pair("rome", "ann"), pair("oslo", "bob")];
        assert!(are_like_tails(&graph, None, &swapped, &[id("cy")]));
        assert!(!are_like_tails(&graph, None, &swapped, &[id("bonn")]));
        assert!(!are_like_tails(&graph, None, &[pair("ann", "rome")], &[id("cy"), id("bob")]));
        // What is both is no sign.
        assert!(!are_like_tails(&graph, None, &[pair("ann", "bob")], &[id("cy")]));
        assert!(!are_like_tails(&graph, None, &swapped, &[]));
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
