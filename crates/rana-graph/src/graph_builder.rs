//! [`GraphBuilder`]: makes a [`Graph`] fact by fact.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::fact::{Edge, Fact};
use crate::graph::Graph;
use crate::hash_index::Slots;
use crate::held_out::{HeldOut, HeldOutBuilder, HeldOutReport};
use crate::id::{EntityId, RelationId, TypeId};
use crate::lists::Lists;
use crate::names::{Names, NamesBuilder, Texts, hash};
use crate::prefixes::Prefixes;
use crate::statement_batch::{Batch, Kind, NamedStatement};

/// What to do with a fact that was seen before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// Keep the first occurrence only.
    #[default]
    Remove,
    /// Keep every occurrence, as the public benchmark code does.
    Keep,
}

/// How well a label fits the wanted language; smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LabelRank {
    /// In the wanted language.
    Wanted,
    /// In a regional form of the wanted language: `en-GB` for `en`.
    Regional,
    /// Without a language tag.
    Untagged,
    /// In another language.
    Foreign,
}

/// Builds a [`Graph`] fact by fact.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    entities: NamesBuilder,
    relations: NamesBuilder,
    facts: Vec<Fact>,
    duplicates: Duplicates,
    /// The distinct facts by their position.
    seen: Slots,
    duplicate_count: u64,
    self_loop_count: u64,
    labels: HashMap<Box<str>, (LabelRank, Box<str>)>,
    type_names: NamesBuilder,
    types: Vec<(EntityId, TypeId)>,
    type_relations: Vec<String>,
    release_rows: Vec<RelationId>,
    task_relations: NamesBuilder,
    held_out: [HeldOutBuilder; 2],
    prefixes: Prefixes,
}

impl GraphBuilder {
    /// An empty graph with a rule for repeated facts.
    #[must_use]
    pub fn new(duplicates: Duplicates) -> Self {
        Self { duplicates, ..Self::default() }
    }

    /// Sets the prefixes of short names.
    pub fn set_prefixes(&mut self, prefixes: Prefixes) {
        self.prefixes = prefixes;
    }

    /// The id of an entity, new if its name was not seen before.
    pub fn intern_entity(&mut self, name: &str) -> EntityId {
        EntityId(self.entities.intern(name))
    }

    /// Interns many entities, as [`intern_entity`](Self::intern_entity) would one by one, but faster.
    pub(crate) fn intern_entities(&mut self, names: &[String]) {
        // Enough for the cache misses to overlap, few enough to stay in the cache.
        const TOGETHER: usize = 1024;
        for names in names.chunks(TOGETHER) {
            let hashes: Vec<u32> = names.iter().map(|name| hash(name)).collect();
            self.entities.touch(&hashes);
            for (name, hash) in names.iter().zip(hashes) {
                self.entities.intern_hashed(name, hash);
            }
        }
    }

    /// The forward id of a background relation, new if its name was not seen before.
    ///
    /// # Panics
    /// If there are more than [`RelationId::MAX_RELATIONS`] relations.
    pub fn intern_relation(&mut self, name: &str) -> RelationId {
        self.relation_id(name, hash(name))
    }

    fn relation_id(&mut self, name: &str, hash: u32) -> RelationId {
        let number = self.relations.intern_hashed(name, hash);
        assert!((number as usize) < RelationId::MAX_RELATIONS, "more than 2^31 - 1 relations");
        RelationId::forward(number)
    }

    /// The id of an entity that was seen before.
    #[must_use]
    pub fn entity(&self, name: &str) -> Option<EntityId> {
        self.entities.id(name).map(EntityId)
    }

    /// The forward id of a background relation that was seen before.
    #[must_use]
    pub fn relation(&self, name: &str) -> Option<RelationId> {
        self.relations.id(name).map(RelationId::forward)
    }

    /// How many entities were seen so far.
    #[must_use]
    pub fn entity_count(&self) -> usize {
        self.entities.len()
    }

    /// How many background relations were seen so far.
    #[must_use]
    pub fn relation_count(&self) -> usize {
        self.relations.len()
    }

    /// The name of an entity that was seen before.
    #[must_use]
    pub fn entity_name(&self, entity: EntityId) -> &str {
        self.entities.name(entity.0)
    }

    /// Adds a fact; `false` if it was a duplicate and duplicates are removed.
    pub fn add(&mut self, fact: Fact) -> bool {
        let Self { facts, seen, .. } = self;
        assert!(facts.len() < u32::MAX as usize, "more than u32::MAX - 1 facts");
        let new = facts.len() as u32;
        if seen.find_or_insert(fact_hash(fact), new, |at| facts[at as usize] == fact).is_some() {
            self.duplicate_count += 1;
            if self.duplicates == Duplicates::Remove {
                return false;
            }
        }
        self.self_loop_count += u64::from(fact.head == fact.tail);
        facts.push(fact);
        true
    }

    /// Adds a fact by names; `false` if it was a duplicate and duplicates are removed.
    pub fn add_named(&mut self, head: &str, relation: &str, tail: &str) -> bool {
        let head = self.intern_entity(head);
        let relation = self.intern_relation(relation);
        let tail = self.intern_entity(tail);
        self.add(Fact { head, relation, tail })
    }

    /// Adds the facts of a batch; the cache misses of their lookups overlap.
    pub(crate) fn add_batch(&mut self, batch: &Batch) {
        self.touch(batch);
        let facts: Vec<Fact> = batch
            .iter()
            .filter(|statement| statement.kind == Kind::Fact)
            .map(|NamedStatement { names: [head, relation, tail], hashes, .. }| Fact {
                head: EntityId(self.entities.intern_hashed(head, hashes[0])),
                relation: self.relation_id(relation, hashes[1]),
                tail: EntityId(self.entities.intern_hashed(tail, hashes[2])),
            })
            .collect();
        self.add_all(&facts);
    }

    /// Loads the memory that a lookup of a batch's entities reads into the cache.
    pub(crate) fn touch(&self, batch: &Batch) {
        let hashes: Vec<u32> =
            batch.iter().flat_map(|NamedStatement { hashes, .. }| [hashes[0], hashes[2]]).collect();
        self.entities.touch(&hashes);
    }

    /// Adds many facts; the cache misses of their lookups overlap.
    pub(crate) fn add_all(&mut self, facts: &[Fact]) {
        self.seen.touch(&facts.iter().map(|fact| fact_hash(*fact)).collect::<Vec<_>>());
        for fact in facts {
            self.add(*fact);
        }
    }

    /// Adds a held-out fact; `false` if it was in its list already and duplicates are removed.
    pub fn add_held_out(&mut self, part: HeldOut, fact: Fact) -> bool {
        self.held_out[part.index()].add(fact, fact_hash(fact), self.duplicates)
    }

    /// Adds a held-out fact by names; `false` if it was in its list already and duplicates are
    /// removed. Entities and relations that the graph does not have yet get ids as well.
    pub fn add_held_out_named(&mut self, part: HeldOut, head: &str, relation: &str, tail: &str) -> bool {
        let before = (self.entity_count(), self.relation_count());
        let head = self.intern_entity(head);
        let relation = self.intern_relation(relation);
        let tail = self.intern_entity(tail);
        let list = &mut self.held_out[part.index()];
        list.new_entities += (self.entities.len() - before.0) as u64;
        list.new_relations += (self.relations.len() - before.1) as u64;
        self.add_held_out(part, Fact { head, relation, tail })
    }

    /// Counts of the held-out facts so far.
    #[must_use]
    pub fn held_out_report(&self, part: HeldOut) -> HeldOutReport {
        let list = &self.held_out[part.index()];
        let is_known =
            |fact: &Fact| self.seen.find(fact_hash(*fact), |at| self.facts[at as usize] == *fact).is_some();
        HeldOutReport {
            facts: list.facts.len() as u64,
            duplicates: list.duplicates,
            in_graph: list.facts.iter().filter(|fact| is_known(fact)).count() as u64,
            new_entities: list.new_entities,
            new_relations: list.new_relations,
        }
    }

    /// Gives the entity or relation of this name a label; of several labels the one with the
    /// best rank is kept, or the first of these.
    pub fn add_label(&mut self, name: &str, label: &str, rank: LabelRank) {
        match self.labels.get_mut(name) {
            Some(entry) if entry.0 <= rank => {}
            Some(entry) => *entry = (rank, label.into()),
            None => {
                self.labels.insert(name.into(), (rank, label.into()));
            }
        }
    }

    /// Gives an entity a type.
    pub fn add_type(&mut self, entity: EntityId, type_name: &str) {
        let type_id = TypeId(self.type_names.intern(type_name));
        self.types.push((entity, type_id));
    }

    /// Gives every entity so far the type that is part of its name.
    pub(crate) fn add_types_by_name(&mut self, type_of: impl Fn(&str) -> &str) {
        let Self { entities, type_names, types, .. } = self;
        for id in 0..entities.len() as u32 {
            let type_id = type_names.intern(type_of(entities.name(id)));
            types.push((EntityId(id), TypeId(type_id)));
        }
    }

    /// Adds a relation without background facts: that of a task, or one that only the filter contains.
    ///
    /// # Errors
    /// Returns the name if it is that of a background relation.
    pub fn add_task_relation<'n>(&mut self, name: &'n str) -> Result<(), &'n str> {
        if self.relations.id(name).is_some() {
            return Err(name);
        }
        self.task_relations.intern(name);
        Ok(())
    }

    /// Records that types are read from the facts of a relation.
    pub fn add_type_relation(&mut self, name: &str) {
        if !self.type_relations.iter().any(|known| known == name) {
            self.type_relations.push(name.to_owned());
        }
    }

    /// Records the row order of a released relation vocabulary.
    pub fn set_release_rows(&mut self, rows: Vec<RelationId>) {
        self.release_rows = rows;
    }

    /// How many repeated facts were added, removed or not.
    #[must_use]
    pub fn duplicate_count(&self) -> u64 {
        self.duplicate_count
    }

    /// How many kept facts join an entity with itself.
    #[must_use]
    pub fn self_loop_count(&self) -> u64 {
        self.self_loop_count
    }

    /// Builds the graph with its lookup tables and neighbourhoods.
    #[must_use]
    pub fn finish(self) -> Graph {
        let Self {
            entities,
            mut relations,
            facts,
            labels,
            type_names,
            types,
            type_relations,
            release_rows,
            task_relations,
            held_out,
            prefixes,
            ..
        } = self;
        drop(self.seen);
        let background_relations = relations.len();
        for number in 0..task_relations.len() as u32 {
            relations.intern(task_relations.name(number));
        }
        let count = entities.len();
        let (entities, neighbours) = rayon::join(|| entities.finish(), || neighbourhoods(count, &facts));
        let relations = relations.finish();
        let types = type_lists(entities.len(), &types);
        Graph {
            entity_labels: labels_of(&entities, &labels),
            relation_labels: labels_of(&relations, &labels),
            entities,
            background_relations,
            facts: facts.into(),
            neighbours,
            type_names: type_names.finish(),
            types,
            type_relations: type_relations
                .iter()
                .filter_map(|name| relations.id(name))
                .filter(|&number| (number as usize) < background_relations)
                .map(RelationId::forward)
                .collect::<Vec<_>>()
                .into(),
            relations,
            release_rows: release_rows.into(),
            held_out: held_out.map(|list| list.facts.into()),
            prefixes: Arc::new(prefixes),
        }
    }
}

/// Every fact at its head and, inverted, at its tail, in the order of the facts.
fn neighbourhoods(entities: usize, facts: &[Fact]) -> Lists<Edge> {
    Lists::group(
        entities,
        facts.iter().flat_map(|fact| {
            [
                (fact.head.index(), Edge { relation: fact.relation, entity: fact.tail }),
                (fact.tail.index(), Edge { relation: fact.relation.inverse(), entity: fact.head }),
            ]
        }),
    )
}

/// The types of each entity, each once, in the order they were stated.
fn type_lists(entities: usize, types: &[(EntityId, TypeId)]) -> Lists<TypeId> {
    if types.is_empty() {
        return Lists::default();
    }
    let stated = Lists::group(entities, types.iter().map(|(entity, type_id)| (entity.index(), *type_id)));
    let is_new = |list: &[TypeId], at: usize| !list[..at].contains(&list[at]);
    stated
        .iter()
        .map(|list| (0..list.len()).filter(|&at| is_new(list, at)).map(|at| list[at]).collect::<Vec<_>>())
        .collect()
}

fn labels_of(names: &Names, labels: &HashMap<Box<str>, (LabelRank, Box<str>)>) -> Texts {
    let label = |name: &str| labels.get(name).map_or("", |(_, label)| label);
    if labels.is_empty() || names.iter().all(|name| label(name).is_empty()) {
        return Texts::default();
    }
    names.iter().map(label).collect()
}

fn fact_hash(fact: Fact) -> u32 {
    (xxhash_rust::xxh3::xxh3_64(bytemuck::bytes_of(&fact)) >> 32) as u32
}
