//! Paths of one and two edges between a head and a tail, and how many pairs of the support have the same.

use std::collections::HashMap;

use rana_graph::{Edge, EntityId, Graph, Pair, RelationId};

/// An entity with more edges than this has paths to nearly everything.
const MOST_EDGES: usize = 20_000;

/// The relations on the way; paths of one edge have only the first.
pub(super) type PathSignature = (RelationId, Option<RelationId>);

/// A path between a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundPath {
    pub(super) by: PathSignature,
    /// The entity in the middle, if there are two edges.
    pub(super) over: Option<EntityId>,
}

/// All paths of one and two edges between a pair, none by the relation that is asked for.
pub(super) fn paths(graph: &Graph, asked: Option<RelationId>, pair: Pair) -> Vec<FoundPath> {
    let is_asked = |relation: RelationId| asked.is_some_and(|asked| asked.number() == relation.number());
    let edges = |entity: EntityId| {
        let all = graph.neighbours(entity).iter().take(MOST_EDGES);
        all.filter(move |edge| !is_asked(edge.relation)).copied()
    };
    let mut found: Vec<FoundPath> = edges(pair.head)
        .filter(|edge| edge.entity == pair.tail)
        .map(|edge| FoundPath { by: (edge.relation, None), over: None })
        .collect();
    let mut to_tail: Vec<Edge> = edges(pair.tail).collect();
    to_tail.sort_unstable_by_key(|edge| (edge.entity, edge.relation));
    for first in edges(pair.head).filter(|edge| edge.entity != pair.tail && edge.entity != pair.head) {
        let start = to_tail.partition_point(|edge| edge.entity < first.entity);
        for second in to_tail[start..].iter().take_while(|edge| edge.entity == first.entity) {
            let by = (first.relation, Some(second.relation.inverse()));
            found.push(FoundPath { by, over: Some(first.entity) });
        }
    }
    found
}

/// The paths that join pairs of a support, and how many of them.
pub(super) fn support_paths(
    graph: &Graph,
    asked: Option<RelationId>,
    support: &[Pair],
) -> HashMap<PathSignature, usize> {
    let mut counts = HashMap::new();
    for &pair in support {
        let mut own: Vec<PathSignature> = paths(graph, asked, pair).iter().map(|path| path.by).collect();
        own.sort_unstable();
        own.dedup();
        own.into_iter().for_each(|by| *counts.entry(by).or_default() += 1);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder};

    #[test]
    fn one_and_two_edges_in_any_direction_but_not_the_answer_itself() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for (head, relation, tail) in [
            ("ann", "knows", "bob"),
            ("bob", "likes", "ann"),
            ("ann", "in", "rome"),
            ("bob", "in", "rome"),
            ("ann", "asked", "bob"),
            ("ann", "asked", "rome"),
        ] {
            builder.add_named(head, relation, tail);
        }
        let graph = builder.finish();
        let id = |name: &str| graph.entity(name).unwrap();
        let pair = Pair { head: id("ann"), tail: id("bob") };
        let [knows, likes, lies, asked] =
            ["knows", "likes", "in", "asked"].map(|r| graph.relation(r).unwrap());
        let mut found: Vec<PathSignature> =
            paths(&graph, Some(asked), pair).iter().map(|path| path.by).collect();
        found.sort_unstable();
        let mut expected = vec![(knows, None), (likes.inverse(), None), (lies, Some(lies.inverse()))];
        expected.sort_unstable();
        assert_eq!(found, expected);
        let counts = support_paths(&graph, Some(asked), &[pair, pair]);
        assert!(counts.values().all(|&count| count == 2));
    }
}
