//! [`Graph`]: the background facts over interned entities and relations.

use std::borrow::Cow;
use std::sync::Arc;

use crate::array::Array;
use crate::fact::{Edge, Fact};
use crate::held_out::HeldOut;
use crate::id::{EntityId, RelationId, TypeId};
use crate::lists::Lists;
use crate::names::{Names, Texts};
use crate::prefixes::{Prefixes, last_part};

/// Background facts over interned entities and relations, every relation with its inverse.
///
/// Facts and neighbourhoods keep the order of the input file, because the published protocol
/// takes the *first n* neighbours of an entity.
///
/// A clone shares the arrays of the original, in memory or mapped, and takes constant time.
///
/// ```
/// use rana_graph::{Duplicates, GraphBuilder};
/// let mut builder = GraphBuilder::new(Duplicates::Remove);
/// builder.add_named("paris", "capital_of", "france");
/// builder.add_named("lyon", "located_in", "france");
/// let graph = builder.finish();
/// let france = graph.entity("france").unwrap();
/// let around: Vec<String> = graph
///     .neighbours(france)
///     .iter()
///     .map(|e| format!("{} {}", graph.relation_display(e.relation), graph.entity_name(e.entity)))
///     .collect();
/// assert_eq!(around, ["capital_of⁻¹ paris", "located_in⁻¹ lyon"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub(crate) entities: Names,
    /// Background relations first, then the relations that occur only in tasks, candidates or the filter.
    pub(crate) relations: Names,
    pub(crate) background_relations: usize,
    pub(crate) facts: Array<Fact>,
    pub(crate) neighbours: Lists<Edge>,
    /// One label per entity, empty if it has none; no strings at all if there are no labels.
    pub(crate) entity_labels: Texts,
    /// The same for relations.
    pub(crate) relation_labels: Texts,
    pub(crate) type_names: Names,
    /// The types of each entity in the order of the input; no lists at all if there are no types.
    pub(crate) types: Lists<TypeId>,
    /// The background relations that state types.
    pub(crate) type_relations: Array<RelationId>,
    /// Row order of the `relation2ids` file this graph was imported with, empty if there was none.
    pub(crate) release_rows: Array<RelationId>,
    /// The facts for validation and for testing, in the order of [`HeldOut::ALL`].
    pub(crate) held_out: [Array<Fact>; 2],
    /// Short names of IRIs.
    pub(crate) prefixes: Arc<Prefixes>,
}

impl Graph {
    /// How many entities there are.
    #[must_use]
    pub fn entity_count(&self) -> usize {
        self.entities.len()
    }

    /// How many background relations there are, inverses not counted.
    #[must_use]
    pub fn relation_count(&self) -> usize {
        self.background_relations
    }

    /// How many relations have a name: those of the background, and those that occur only in tasks.
    #[must_use]
    pub fn named_relation_count(&self) -> usize {
        self.relations.len()
    }

    /// The background facts in file order.
    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The facts held out for validation or testing, in file order.
    ///
    /// They are not part of the background: neither [`facts`](Self::facts) nor any neighbourhood
    /// contains them.
    #[must_use]
    pub fn held_out(&self, part: HeldOut) -> &[Fact] {
        &self.held_out[part.index()]
    }

    /// All entity ids.
    pub fn entities(&self) -> impl ExactSizeIterator<Item = EntityId> + Clone + use<> {
        (0..self.entity_count() as u32).map(EntityId)
    }

    /// The forward ids of all background relations.
    pub fn relations(&self) -> impl ExactSizeIterator<Item = RelationId> + Clone + use<> {
        (0..self.relation_count() as u32).map(RelationId::forward)
    }

    /// Whether a relation belongs to the background (rather than occurring only in tasks).
    ///
    /// A relation that only held-out facts use belongs to it too, without a single fact.
    #[must_use]
    pub fn is_background(&self, relation: RelationId) -> bool {
        relation.number() < self.background_relations
    }

    /// The entity of this name.
    #[must_use]
    pub fn entity(&self, name: &str) -> Option<EntityId> {
        self.entities.id(name).map(EntityId)
    }

    /// The forward id of the relation of this name.
    #[must_use]
    pub fn relation(&self, name: &str) -> Option<RelationId> {
        self.relations.id(name).map(RelationId::forward)
    }

    /// The name an entity was imported with.
    #[must_use]
    pub fn entity_name(&self, entity: EntityId) -> &str {
        self.entities.name(entity.0)
    }

    /// The name of a relation, in either direction.
    #[must_use]
    pub fn relation_name(&self, relation: RelationId) -> &str {
        self.relations.name(relation.number() as u32)
    }

    /// The name of an entity, in short form (`wd:Q42`) if it is an IRI of a known namespace.
    #[must_use]
    pub fn entity_short_name(&self, entity: EntityId) -> Cow<'_, str> {
        self.short_name(self.entity_name(entity))
    }

    /// A name, in short form (`wdt:P740`) if it is an IRI of a known namespace.
    #[must_use]
    pub fn short_name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        self.prefixes.shorten(name).map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// The name that a short form stands for; any other name as it is.
    #[must_use]
    pub fn full_name(&self, name: &str) -> String {
        self.prefixes.expand(name).unwrap_or_else(|| name.to_owned())
    }

    /// The prefixes of short names.
    #[must_use]
    pub fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// What to call an entity: its label, the short form of an IRI, its last part, or the name itself.
    #[must_use]
    pub fn entity_title(&self, entity: EntityId) -> Cow<'_, str> {
        match self.entity_label(entity) {
            Some(label) => Cow::Borrowed(label),
            None => self.title(self.entity_name(entity)),
        }
    }

    /// What to call a relation, as for an entity; marked if it is an inverse.
    #[must_use]
    pub fn relation_title(&self, relation: RelationId) -> String {
        let title = match self.relation_label(relation) {
            Some(label) => Cow::Borrowed(label),
            None => self.title(self.relation_name(relation)),
        };
        format!("{title}{}", if relation.is_inverse() { "⁻¹" } else { "" })
    }

    fn title<'n>(&self, name: &'n str) -> Cow<'n, str> {
        self.prefixes.shorten(name).map_or_else(|| Cow::Borrowed(last_part(name)), Cow::Owned)
    }

    /// The name of a relation with `⁻¹` after it if it is read backwards.
    #[must_use]
    pub fn relation_display(&self, relation: RelationId) -> String {
        let direction = if relation.is_inverse() { "⁻¹" } else { "" };
        format!("{}{direction}", self.relation_name(relation))
    }

    /// All entity names in the order of their ids.
    #[must_use]
    pub fn entity_names(&self) -> &Names {
        &self.entities
    }

    /// All relation names in the order of their numbers; background relations come first.
    #[must_use]
    pub fn relation_names(&self) -> &Names {
        &self.relations
    }

    /// The human-readable label of an entity, if the graph has one.
    #[must_use]
    pub fn entity_label(&self, entity: EntityId) -> Option<&str> {
        label(&self.entity_labels, entity.index())
    }

    /// The human-readable label of a relation, if the graph has one.
    #[must_use]
    pub fn relation_label(&self, relation: RelationId) -> Option<&str> {
        label(&self.relation_labels, relation.number())
    }

    /// Whether any entity has a type.
    #[must_use]
    pub fn has_types(&self) -> bool {
        !self.type_names.is_empty()
    }

    /// The types of an entity, in the order of the input.
    #[must_use]
    pub fn types(&self, entity: EntityId) -> &[TypeId] {
        if self.types.is_empty() { &[] } else { self.types.get(entity.index()) }
    }

    /// The background relations that types were read from.
    ///
    /// Withholding one of them does not hide its facts: [`types`](Self::types) still contains them.
    #[must_use]
    pub fn type_relations(&self) -> &[RelationId] {
        &self.type_relations
    }

    /// All type names in the order of their ids.
    #[must_use]
    pub fn type_names(&self) -> &Names {
        &self.type_names
    }

    /// The neighbourhood of an entity: every fact it takes part in, in file order.
    ///
    /// A fact that starts here appears with its forward relation and its tail, one that ends here
    /// with the inverse relation and its head; a self-loop appears twice.
    #[must_use]
    pub fn neighbours(&self, entity: EntityId) -> &[Edge] {
        self.neighbours.get(entity.index())
    }

    /// The edges of facts that start at an entity, in file order.
    pub fn outgoing(&self, entity: EntityId) -> impl Iterator<Item = Edge> + '_ {
        self.neighbours(entity).iter().copied().filter(|edge| !edge.relation.is_inverse())
    }

    /// The edges of facts that end at an entity, with inverse relations, in file order.
    pub fn incoming(&self, entity: EntityId) -> impl Iterator<Item = Edge> + '_ {
        self.neighbours(entity).iter().copied().filter(|edge| edge.relation.is_inverse())
    }

    /// In how many facts an entity takes part, a self-loop counting twice.
    #[must_use]
    pub fn degree(&self, entity: EntityId) -> usize {
        self.neighbours(entity).len()
    }

    /// Whether the background holds a fact; the relation may be given in either direction.
    #[must_use]
    pub fn contains(&self, head: EntityId, relation: RelationId, tail: EntityId) -> bool {
        let (from, relation, to) = if self.degree(head) <= self.degree(tail) {
            (head, relation, tail)
        } else {
            (tail, relation.inverse(), head)
        };
        self.neighbours(from).contains(&Edge { relation, entity: to })
    }

    /// The facts of each background relation, in file order, as lists by relation number.
    #[must_use]
    pub fn facts_by_relation(&self) -> Lists<Fact> {
        Lists::group(self.background_relations, self.facts.iter().map(|fact| (fact.relation.number(), *fact)))
    }

    /// A hash of the data that vectors are learned from: the names in the order of their ids, and the facts.
    ///
    /// Labels, types, tasks and held-out facts do not count. Vectors are stored with this number, so
    /// that vectors of another graph are recognised.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for names in [&self.entities, &self.relations] {
            hasher.update(&(names.len() as u64).to_le_bytes());
            hasher.update(bytemuck::cast_slice(&names.texts.0.offsets));
            hasher.update(names.texts.0.values());
        }
        hasher.update(&(self.background_relations as u64).to_le_bytes());
        hasher.update(bytemuck::cast_slice(&self.facts));
        hasher.digest()
    }

    /// The row order of the `relation2ids` file that the graph was imported with, if there was one.
    ///
    /// Released vector files such as `relation2vec.TransE` are in this order.
    #[must_use]
    pub fn release_rows(&self) -> Option<&[RelationId]> {
        (!self.release_rows.is_empty()).then_some(&self.release_rows[..])
    }
}

fn label(labels: &Texts, index: usize) -> Option<&str> {
    if labels.is_empty() {
        return None;
    }
    Some(labels.get(index)).filter(|label| !label.is_empty())
}
