//! [`GraphUpdate`]: what changes in a graph.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::fact::Fact;
use crate::graph::Graph;
use crate::graph_builder::{Duplicates, GraphBuilder, LabelRank};
use crate::held_out::HeldOut;

/// A fact by names: head, relation, tail.
pub type NamedFact = [String; 3];

/// What changes in a graph, by name. Entities and relations that it does not have are new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphUpdate {
    /// Facts that are new, each once, in their order.
    pub added: Vec<NamedFact>,
    /// Facts of the graph that are gone.
    pub removed: BTreeSet<NamedFact>,
    /// Labels of entities and relations that have none.
    pub labels: BTreeMap<String, String>,
    /// Types of entities.
    pub types: BTreeSet<[String; 2]>,
    /// Relations whose facts are types.
    pub type_relations: BTreeSet<String>,
}

impl GraphUpdate {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { added, removed, labels, types, type_relations } = self;
        added.is_empty()
            && removed.is_empty()
            && labels.is_empty()
            && types.is_empty()
            && type_relations.is_empty()
    }

    /// What a graph of new facts and a graph of facts that are gone change in a graph. What is there already, or gone
    /// already, is no change.
    #[must_use]
    pub fn between(graph: &Graph, new: Option<&Graph>, gone: Option<&Graph>) -> Self {
        let mut update = Self::default();
        if let Some(gone) = gone {
            let facts = gone.facts().iter().map(|&fact| named(gone, fact));
            update.removed.extend(facts.filter(|fact| has(graph, fact)));
        }
        let Some(new) = new else { return update };
        let facts = new.facts().iter().map(|&fact| named(new, fact));
        // A fact that is said to be gone and to be new is there.
        update.added.extend(facts.filter(|fact| !update.removed.remove(fact) && !has(graph, fact)));
        for entity in new.entities() {
            let name = new.entity_name(entity);
            let old = graph.entity(name);
            if let Some(label) = new.entity_label(entity)
                && old.is_none_or(|old| graph.entity_label(old).is_none())
            {
                update.labels.insert(name.to_owned(), label.to_owned());
            }
            for of in new.types(entity) {
                let of = new.type_names().name(of.0);
                let is_known =
                    |old| graph.types(old).iter().any(|known| graph.type_names().name(known.0) == of);
                if !old.is_some_and(is_known) {
                    update.types.insert([name.to_owned(), of.to_owned()]);
                }
            }
        }
        for relation in new.relations() {
            let name = new.relation_name(relation);
            let old = graph.relation(name);
            if let Some(label) = new.relation_label(relation)
                && old.is_none_or(|old| graph.relation_label(old).is_none())
            {
                update.labels.insert(name.to_owned(), label.to_owned());
            }
        }
        let is_new = |name: &&str| !graph.type_relations().iter().any(|&of| graph.relation_name(of) == *name);
        let types = new.type_relations().iter().map(|&of| new.relation_name(of));
        update.type_relations.extend(types.filter(is_new).map(str::to_owned));
        update
    }

    /// Adds a later change: both together are what one after the other is.
    pub fn then(&mut self, later: &Self) {
        if !later.removed.is_empty() {
            // What was added before is simply not added. What was there before both is removed.
            let added: HashSet<NamedFact> = self.added.iter().cloned().collect();
            self.added.retain(|fact| !later.removed.contains(fact));
            self.removed.extend(later.removed.iter().filter(|fact| !added.contains(*fact)).cloned());
        }
        for fact in &later.added {
            if !self.removed.remove(fact) {
                self.added.push(fact.clone());
            }
        }
        let labels = later.labels.iter().map(|(name, label)| (name.clone(), label.clone()));
        for (name, label) in labels {
            self.labels.entry(name).or_insert(label);
        }
        self.types.extend(later.types.iter().cloned());
        self.type_relations.extend(later.type_relations.iter().cloned());
    }

    /// A graph with this change. Entities and relations keep their ids; new ones follow.
    ///
    /// The graph must have no tasks: their relations follow those with facts.
    #[must_use]
    pub fn applied(&self, graph: &Graph) -> Graph {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        builder.set_prefixes(graph.prefixes().clone());
        for entity in graph.entities() {
            builder.intern_entity(graph.entity_name(entity));
        }
        for relation in graph.relations() {
            builder.intern_relation(graph.relation_name(relation));
        }
        let removed: HashSet<Fact> = self.removed.iter().filter_map(|fact| in_graph(graph, fact)).collect();
        for fact in graph.facts().iter().filter(|fact| !removed.contains(fact)) {
            builder.add(*fact);
        }
        for part in [HeldOut::Valid, HeldOut::Test] {
            for fact in graph.held_out(part) {
                builder.add_held_out(part, *fact);
            }
        }
        for [head, relation, tail] in &self.added {
            builder.add_named(head, relation, tail);
        }
        self.describe(graph, &removed, &mut builder);
        builder.finish()
    }

    /// Labels and types, of the graph and new ones.
    fn describe(&self, graph: &Graph, removed: &HashSet<Fact>, builder: &mut GraphBuilder) {
        for entity in graph.entities() {
            if let Some(label) = graph.entity_label(entity) {
                builder.add_label(graph.entity_name(entity), label, LabelRank::Wanted);
            }
        }
        for relation in graph.relations() {
            if let Some(label) = graph.relation_label(relation) {
                builder.add_label(graph.relation_name(relation), label, LabelRank::Wanted);
            }
        }
        for (name, label) in &self.labels {
            builder.add_label(name, label, LabelRank::Wanted);
        }
        // A type is gone with the fact that stated it.
        let is_type = |fact: &&Fact| graph.type_relations().contains(&fact.relation);
        let gone: HashSet<_> =
            removed.iter().filter(is_type).map(|fact| (fact.head, graph.entity_name(fact.tail))).collect();
        for entity in graph.entities() {
            for of in graph.types(entity) {
                let name = graph.type_names().name(of.0);
                if !gone.contains(&(entity, name)) {
                    builder.add_type(entity, name);
                }
            }
        }
        for [entity, of] in &self.types {
            let entity = builder.intern_entity(entity);
            builder.add_type(entity, of);
        }
        for &relation in graph.type_relations() {
            builder.add_type_relation(graph.relation_name(relation));
        }
        self.type_relations.iter().for_each(|name| builder.add_type_relation(name));
    }

    /// How many entities and relations a graph does not have.
    #[must_use]
    pub fn new_names(&self, graph: &Graph) -> (usize, usize) {
        let mut entities: HashMap<&str, ()> = HashMap::new();
        let mut relations: HashMap<&str, ()> = HashMap::new();
        for [head, relation, tail] in &self.added {
            for name in [head, tail].into_iter().filter(|name| graph.entity(name).is_none()) {
                entities.insert(name, ());
            }
            if graph.relation(relation).is_none() {
                relations.insert(relation, ());
            }
        }
        (entities.len(), relations.len())
    }
}

fn named(graph: &Graph, fact: Fact) -> NamedFact {
    [graph.entity_name(fact.head), graph.relation_name(fact.relation), graph.entity_name(fact.tail)]
        .map(str::to_owned)
}

/// The fact of a graph that names say, if the graph has all of them.
fn in_graph(graph: &Graph, [head, relation, tail]: &NamedFact) -> Option<Fact> {
    let (head, tail) = (graph.entity(head)?, graph.entity(tail)?);
    Some(Fact { head, relation: graph.relation(relation)?, tail })
}

fn has(graph: &Graph, fact: &NamedFact) -> bool {
    in_graph(graph, fact).is_some_and(|fact| graph.contains(fact.head, fact.relation, fact.tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(facts: &[[&str; 3]]) -> Graph {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for [head, relation, tail] in facts {
            builder.add_named(head, relation, tail);
        }
        builder.finish()
    }

    fn names(graph: &Graph) -> Vec<NamedFact> {
        graph.facts().iter().map(|&fact| named(graph, fact)).collect()
    }

    #[test]
    fn ids_stay_and_new_names_follow() {
        let old = graph(&[["a", "r", "b"], ["b", "s", "c"], ["c", "r", "a"]]);
        let new = graph(&[["c", "t", "d"], ["a", "r", "b"], ["d", "r", "a"]]);
        let gone = graph(&[["b", "s", "c"], ["x", "s", "c"]]);
        let update = GraphUpdate::between(&old, Some(&new), Some(&gone));
        assert_eq!(update.added.len(), 2, "{update:?}");
        assert_eq!(update.removed.len(), 1);
        assert_eq!(update.new_names(&old), (1, 1));
        let updated = update.applied(&old);
        for entity in old.entities() {
            assert_eq!(old.entity_name(entity), updated.entity_name(entity));
        }
        assert_eq!(updated.relation("s"), old.relation("s"));
        let expected = [["a", "r", "b"], ["c", "r", "a"], ["c", "t", "d"], ["d", "r", "a"]];
        assert_eq!(names(&updated), names(&graph(&expected)));
        // The same once more changes nothing.
        assert!(GraphUpdate::between(&updated, Some(&new), Some(&gone)).is_empty());
    }

    #[test]
    fn a_later_change_is_merged_into_an_earlier_one() {
        let old = graph(&[["a", "r", "b"], ["b", "r", "c"]]);
        let steps = [
            (vec![["c", "r", "d"], ["d", "r", "e"]], vec![["a", "r", "b"]]),
            (vec![["a", "r", "b"]], vec![["c", "r", "d"]]),
            (vec![["e", "s", "f"]], vec![["b", "r", "c"], ["a", "r", "b"]]),
            (vec![["c", "r", "d"]], vec![]),
        ];
        let (mut now, mut all) = (old.clone(), GraphUpdate::default());
        for (new, gone) in steps {
            let step = GraphUpdate::between(&now, Some(&graph(&new)), Some(&graph(&gone)));
            now = step.applied(&now);
            all.then(&step);
        }
        let mut expected = names(&now);
        let mut merged = names(&all.applied(&old));
        expected.sort();
        merged.sort();
        assert_eq!(merged, expected);
        assert_eq!(all, GraphUpdate::between(&old, Some(&now), Some(&old)), "only what differs is kept");
    }
}
