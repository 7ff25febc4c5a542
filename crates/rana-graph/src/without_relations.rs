//! [`Graph::withhold`]: a graph without the facts of some of its relations.

use crate::array::Array;
use crate::fact::{Edge, Fact};
use crate::graph::Graph;
use crate::id::RelationId;
use crate::names::{NamesBuilder, Texts};

impl Graph {
    /// A graph with the same entities whose background lacks all facts of `relations`.
    ///
    /// Entity ids, labels and types stay. Relations are renumbered: the remaining background
    /// relations first, in their order; then the withheld ones in the order given, as relations
    /// that occur only in tasks; then those that were task relations before. Either direction of a
    /// relation may be given, and repetitions are ignored. Held-out facts of remaining relations stay
    /// held out, those of withheld ones are removed. The row order of a released vocabulary is
    /// dropped, because it refers to the old numbers.
    ///
    /// ```
    /// use rana_graph::{Duplicates, GraphBuilder};
    /// let mut builder = GraphBuilder::new(Duplicates::Remove);
    /// builder.add_named("paris", "capital_of", "france");
    /// builder.add_named("lyon", "located_in", "france");
    /// let graph = builder.finish();
    /// let rest = graph.withhold(&[graph.relation("capital_of").unwrap()]);
    /// assert_eq!(rest.facts().len(), 1);
    /// assert_eq!(rest.relation_count(), 1);
    /// assert!(!rest.is_background(rest.relation("capital_of").unwrap()));
    /// assert_eq!(rest.entity("paris"), graph.entity("paris"));
    /// ```
    ///
    /// # Panics
    /// If a relation is not one of this graph.
    #[must_use]
    pub fn withhold(&self, relations: &[RelationId]) -> Graph {
        let order = Order::new(self, relations);
        let remaining = |facts: &Array<Fact>| -> Array<Fact> {
            let renumber = |fact: &Fact| Some(Fact { relation: order.renumber(fact.relation)?, ..*fact });
            facts.iter().filter_map(renumber).collect::<Vec<_>>().into()
        };
        // Filtering the old neighbourhoods reads memory in order; grouping the facts again would not.
        let neighbours = self
            .neighbours
            .filter_map(|edge| Some(Edge { relation: order.renumber(edge.relation)?, entity: edge.entity }));
        let names = order.old.iter().map(|&number| self.relations.name(number));
        let relation_labels = if self.relation_labels.is_empty() {
            Texts::default()
        } else {
            order.old.iter().map(|&number| self.relation_labels.get(number as usize)).collect()
        };
        Graph {
            entities: self.entities.clone(),
            relations: names.collect::<NamesBuilder>().finish(),
            background_relations: order.background,
            facts: remaining(&self.facts),
            neighbours,
            entity_labels: self.entity_labels.clone(),
            relation_labels,
            type_names: self.type_names.clone(),
            types: self.types.clone(),
            type_relations: self
                .type_relations
                .iter()
                .filter_map(|&relation| order.renumber(relation))
                .collect::<Vec<_>>()
                .into(),
            release_rows: Vec::new().into(),
            held_out: self.held_out.each_ref().map(remaining),
            prefixes: self.prefixes.clone(),
        }
    }
}

/// The new order of the relations.
struct Order {
    /// The old number of each new number.
    old: Vec<u32>,
    /// How many of them come first as background relations.
    background: usize,
    /// The new number of each old number, none where its facts are withheld.
    new: Vec<Option<u32>>,
}

impl Order {
    fn new(graph: &Graph, withheld: &[RelationId]) -> Self {
        let named = graph.named_relation_count();
        let mut is_withheld = vec![false; named];
        let given: Vec<u32> = withheld
            .iter()
            .map(|relation| relation.number())
            .filter(|&number| !std::mem::replace(&mut is_withheld[number], true))
            .map(|number| number as u32)
            .collect();
        let kept = |numbers: std::ops::Range<usize>| {
            let is_withheld = &is_withheld;
            numbers.filter(|&number| !is_withheld[number]).map(|number| number as u32)
        };
        let mut old: Vec<u32> = kept(0..graph.relation_count()).collect();
        let background = old.len();
        old.extend(given);
        old.extend(kept(graph.relation_count()..named));
        let mut new = vec![None; named];
        for (number, &old) in old[..background].iter().enumerate() {
            new[old as usize] = Some(number as u32);
        }
        Self { old, background, new }
    }

    /// The new id in the same direction, if the relation stays in the background.
    fn renumber(&self, relation: RelationId) -> Option<RelationId> {
        let forward = RelationId::forward(self.new[relation.number()]?);
        Some(if relation.is_inverse() { forward.inverse() } else { forward })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph_builder::{Duplicates, GraphBuilder, LabelRank};
    use crate::held_out::HeldOut;
    use proptest::prelude::*;

    fn graph_of(facts: &[(u8, u8, u8)]) -> Graph {
        let mut builder = GraphBuilder::new(Duplicates::Keep);
        for (head, relation, tail) in facts {
            builder.add_named(&format!("e{head}"), &format!("r{relation}"), &format!("e{tail}"));
        }
        for (head, relation, tail) in facts.iter().rev().step_by(3) {
            let part = HeldOut::ALL[usize::from(head % 2)];
            builder.add_held_out_named(
                part,
                &format!("e{tail}"),
                &format!("r{relation}"),
                &format!("e{head}"),
            );
        }
        builder.add_label("r1", "the first", LabelRank::Wanted);
        if let Some(entity) = builder.entity("e0") {
            builder.add_type(entity, "zero");
        }
        builder.finish()
    }

    fn named_facts(graph: &Graph, facts: &[Fact]) -> Vec<(String, String, String)> {
        let name = |fact: &Fact| {
            let (head, tail) = (graph.entity_name(fact.head), graph.entity_name(fact.tail));
            (head.to_owned(), graph.relation_name(fact.relation).to_owned(), tail.to_owned())
        };
        facts.iter().map(name).collect()
    }

    #[test]
    fn withheld_relations_follow_in_the_order_given_and_old_task_relations_stay_last() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for relation in ["a", "b", "c", "d"] {
            builder.add_named("x", relation, "y");
        }
        builder.add_task_relation("t").unwrap();
        let graph = builder.finish();
        let id = |name| graph.relation(name).unwrap();
        let rest = graph.withhold(&[id("c"), id("a").inverse(), id("c")]);
        assert_eq!(rest.relation_names().iter().collect::<Vec<_>>(), ["b", "d", "c", "a", "t"]);
        assert_eq!(rest.relation_count(), 2);
    }

    proptest! {
        #[test]
        fn everything_else_stays_in_order(
            facts in prop::collection::vec((0u8..8, 0u8..5, 0u8..8), 1..60),
            withheld in prop::collection::vec(0u8..5, 0..4),
        ) {
            let graph = graph_of(&facts);
            let withheld: Vec<RelationId> =
                withheld.iter().filter_map(|number| graph.relation(&format!("r{number}"))).collect();
            let rest = graph.withhold(&withheld);
            let gone: Vec<&str> = withheld.iter().map(|&relation| graph.relation_name(relation)).collect();
            for (before, after) in [
                (graph.facts(), rest.facts()),
                (graph.held_out(HeldOut::Valid), rest.held_out(HeldOut::Valid)),
                (graph.held_out(HeldOut::Test), rest.held_out(HeldOut::Test)),
            ] {
                let mut expected = named_facts(&graph, before);
                expected.retain(|fact| !gone.contains(&fact.1.as_str()));
                prop_assert_eq!(named_facts(&rest, after), expected);
            }
            prop_assert_eq!(rest.entity_names(), graph.entity_names());
            prop_assert_eq!(rest.named_relation_count(), graph.named_relation_count());
            for number in 0..graph.named_relation_count() as u32 {
                let before = RelationId::forward(number);
                let after = rest.relation(graph.relation_name(before)).unwrap();
                prop_assert_eq!(rest.relation_label(after), graph.relation_label(before));
                prop_assert_eq!(rest.is_background(after), !withheld.contains(&before));
            }
            for entity in graph.entities() {
                prop_assert_eq!(rest.types(entity), graph.types(entity));
                let edges = |graph: &Graph| -> Vec<(String, crate::EntityId)> {
                    let edge = |edge: &Edge| (graph.relation_display(edge.relation), edge.entity);
                    graph.neighbours(entity).iter().map(edge).collect()
                };
                let mut expected = edges(&graph);
                expected.retain(|edge| !gone.contains(&edge.0.trim_end_matches("⁻¹")));
                prop_assert_eq!(edges(&rest), expected);
            }
        }
    }
}
