//! [`EdgeIndex`]: the edges that evidence may walk, and [`Sight`], what one relation may see of them.

use rana_graph::{Edge, EntityId, Graph, Lists, RelationId, Split, TaskSet};

use super::names::NameIndex;

/// The relation between entities of the same label, which no graph states.
pub(super) fn same_name(graph: &Graph) -> RelationId {
    RelationId::forward(graph.named_relation_count() as u32)
}

/// The edges of every entity, sorted by relation, so that the neighbours by one relation stand together.
///
/// Beside the facts, entities of the same label are joined.
#[derive(Clone, Debug)]
pub struct EdgeIndex {
    names: NameIndex,
    edges: Lists<Edge>,
    /// For each directed relation how rare it is: the logarithm of entities per entity that has it.
    rarity: Vec<f32>,
}

impl EdgeIndex {
    /// The background of a graph.
    #[must_use]
    pub fn background(graph: &Graph) -> Self {
        Self::new(graph, std::iter::empty())
    }

    /// The background and the facts of the train tasks, which are known wherever dev or test tasks are asked for.
    #[must_use]
    pub fn with_train_tasks(graph: &Graph, tasks: &TaskSet) -> Self {
        let facts = tasks.of(Split::Train).flat_map(|task| {
            task.facts.iter().flat_map(move |pair| {
                let there = Edge { relation: task.relation, entity: pair.tail };
                let back = Edge { relation: task.relation.inverse(), entity: pair.head };
                [(pair.head.index(), there), (pair.tail.index(), back)]
            })
        });
        Self::new(graph, facts)
    }

    fn new(graph: &Graph, more: impl Iterator<Item = (usize, Edge)>) -> Self {
        let names = NameIndex::new(graph);
        let background =
            graph.entities().flat_map(|of| graph.neighbours(of).iter().map(move |&edge| (of.index(), edge)));
        let same = names
            .namesakes()
            .map(|(one, other)| (one.index(), Edge { relation: same_name(graph), entity: other }));
        let mut all: Vec<(usize, Edge)> = background.chain(more).chain(same).collect();
        all.sort_unstable();
        all.dedup();
        let mut have = vec![0_u32; 2 * (graph.named_relation_count() + 1)];
        let mut last = None;
        for &(entity, edge) in &all {
            if last != Some((entity, edge.relation)) {
                have[edge.relation.index()] += 1;
                last = Some((entity, edge.relation));
            }
        }
        let entities = graph.entity_count() as f32;
        let rarity = have.iter().map(|&have| (entities / have.max(1) as f32).ln()).collect();
        Self { names, edges: Lists::group(graph.entity_count(), all.iter().copied()), rarity }
    }

    /// What the labels of the entities say.
    pub(super) fn names(&self) -> &NameIndex {
        &self.names
    }

    /// What evidence about a relation may see: everything but the relation itself.
    #[must_use]
    pub fn without(&self, hidden: Option<RelationId>) -> Sight<'_> {
        Sight { index: self, hidden: hidden.map(RelationId::number) }
    }
}

/// The edges without those of the relation that is asked for: no evidence about a fact uses the fact.
///
/// In meta-training the relation of a task is an edge of the graph at the other tasks, and hidden at its own.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    index: &'a EdgeIndex,
    hidden: Option<usize>,
}

impl<'a> Sight<'a> {
    /// Whether a relation may be seen.
    #[must_use]
    pub fn shows(&self, relation: RelationId) -> bool {
        self.hidden != Some(relation.number())
    }

    /// The visible edges of an entity, by relation.
    pub fn edges(self, of: EntityId) -> impl Iterator<Item = Edge> + Clone + 'a {
        self.index.edges.get(of.index()).iter().copied().filter(move |edge| self.shows(edge.relation))
    }

    /// The edges of an entity by one relation; none if it is hidden.
    #[must_use]
    pub fn by(self, of: EntityId, relation: RelationId) -> &'a [Edge] {
        if self.shows(relation) { group(self.index.edges.get(of.index()), relation) } else { &[] }
    }

    /// The relations that an entity has, each once.
    pub fn relations(self, of: EntityId) -> impl Iterator<Item = RelationId> + 'a {
        let groups = self.index.edges.get(of.index()).chunk_by(|one, other| one.relation == other.relation);
        groups.map(|group| group[0].relation).filter(move |&relation| self.shows(relation))
    }

    /// The relations that lead from one entity to another, each once.
    pub fn joining(self, head: EntityId, tail: EntityId) -> impl Iterator<Item = RelationId> + 'a {
        self.edges(head).filter(move |edge| edge.entity == tail).map(|edge| edge.relation)
    }

    /// How rare a relation is.
    #[must_use]
    pub fn rarity(self, relation: RelationId) -> f32 {
        self.index.rarity[relation.index()]
    }
}

/// The edges by one relation, among edges that are sorted by relation.
fn group(edges: &[Edge], relation: RelationId) -> &[Edge] {
    let first = edges.partition_point(|edge| edge.relation < relation);
    let count = edges[first..].partition_point(|edge| edge.relation == relation);
    &edges[first..first + count]
}
