//! [`EdgeIndex`]: the edges that paths may follow, grouped by relation.

use rana_graph::{Edge, EntityId, Graph, Lists, RelationId, Split, TaskSet};

use crate::label_similarity::LabelSimilarity;

/// The relation between entities of the same label, which no graph states.
#[must_use]
pub fn same_name(graph: &Graph) -> RelationId {
    RelationId::forward(graph.named_relation_count() as u32)
}

/// The edges of every entity, sorted by relation, so that the neighbours by one relation stand together.
///
/// In addition to the facts, entities with the same label are connected.
#[derive(Clone, Debug)]
pub struct EdgeIndex {
    labels: LabelSimilarity,
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

    /// The background of a graph, entities of the same label not joined.
    #[must_use]
    pub fn facts(graph: &Graph) -> Self {
        Self::of_labels(graph, LabelSimilarity::default(), std::iter::empty())
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

    /// The background of a graph without the facts of some relations, as if nothing were known of them.
    #[must_use]
    pub fn without(graph: &Graph, hidden: &[RelationId]) -> Self {
        let mut is_hidden = vec![false; graph.named_relation_count()];
        hidden.iter().for_each(|relation| is_hidden[relation.number()] = true);
        let is_shown = |edge: &Edge| !is_hidden[edge.relation.number()];
        Self::of_edges(graph, LabelSimilarity::new(graph), std::iter::empty(), is_shown)
    }

    fn new(graph: &Graph, more: impl Iterator<Item = (usize, Edge)>) -> Self {
        Self::of_labels(graph, LabelSimilarity::new(graph), more)
    }

    fn of_labels(graph: &Graph, labels: LabelSimilarity, more: impl Iterator<Item = (usize, Edge)>) -> Self {
        Self::of_edges(graph, labels, more, |_| true)
    }

    fn of_edges(
        graph: &Graph,
        labels: LabelSimilarity,
        more: impl Iterator<Item = (usize, Edge)>,
        is_shown: impl Fn(&Edge) -> bool,
    ) -> Self {
        let background = graph
            .entities()
            .flat_map(|of| graph.neighbours(of).iter().map(move |&edge| (of.index(), edge)))
            .filter(|(_, edge)| is_shown(edge));
        let same = labels
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
        Self { labels, edges: Lists::group(graph.entity_count(), all.iter().copied()), rarity }
    }

    /// How similar the labels of entities are.
    pub(crate) fn labels(&self) -> &LabelSimilarity {
        &self.labels
    }

    /// The edges of an entity, by relation.
    pub(super) fn edges(&self, of: EntityId) -> &[Edge] {
        self.edges.get(of.index())
    }

    /// How rare a directed relation is.
    pub(super) fn rarity(&self, relation: RelationId) -> f32 {
        self.rarity[relation.index()]
    }
}
