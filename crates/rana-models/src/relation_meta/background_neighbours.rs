//! [`BackgroundNeighbours`]: the neighbours that support entities are seen with.

use rana_graph::{Edge, EntityId, Graph, RelationId};

/// The background neighbours of entities: the first ones in file order.
#[derive(Clone, Debug)]
pub(crate) struct BackgroundNeighbours {
    graph: Graph,
    limit: usize,
    hides_own_edges: bool,
}

impl BackgroundNeighbours {
    /// At most `limit` neighbours; with `hides_own_edges`, none by an edge of the relation that is asked for.
    pub(crate) fn new(graph: &Graph, limit: usize, hides_own_edges: bool) -> Self {
        Self { graph: graph.clone(), limit, hides_own_edges }
    }

    /// The most neighbours of an entity.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// The neighbours of an entity while a relation is asked for.
    pub(crate) fn of(&self, entity: EntityId, asked: Option<RelationId>) -> impl Iterator<Item = Edge> + '_ {
        let hidden = asked.filter(|_| self.hides_own_edges).map(RelationId::number);
        let edges = self.graph.neighbours(entity).iter().copied();
        edges.filter(move |edge| hidden != Some(edge.relation.number())).take(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder};

    #[test]
    fn edges_of_the_asked_relation_are_hidden_and_the_first_others_are_seen() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for (head, relation, tail) in
            [("a", "r", "b"), ("a", "s", "c"), ("d", "r", "a"), ("a", "s", "d"), ("a", "t", "b")]
        {
            builder.add_named(head, relation, tail);
        }
        let graph = builder.finish();
        let of = |hides: bool, asked: Option<&str>| {
            let neighbours = BackgroundNeighbours::new(&graph, 2, hides);
            let asked = asked.and_then(|name| graph.relation(name));
            let edges = neighbours.of(graph.entity("a").unwrap(), asked);
            edges.map(|edge| graph.entity_name(edge.entity).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of(true, None), ["b", "c"]);
        assert_eq!(of(true, Some("r")), ["c", "d"]);
        assert_eq!(of(false, Some("r")), ["b", "c"]);
    }
}
