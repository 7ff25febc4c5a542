//! [`LabelSimilarity`]: TF-IDF similarity of the words in labels, and the entities of equal label.

use std::collections::HashMap;

use rana_graph::{EntityId, Graph, Lists};

use crate::combine_by_entity::combine_by_entity;

/// Labels of more entities are ignored.
const MOST_NAMESAKES: usize = 20;
/// Words in more labels are ignored.
const MOST_ENTITIES: usize = 500;

/// How similar the labels of entities are.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelSimilarity {
    /// The words of each entity, ascending and each once; words of many labels are left out.
    words: Lists<u32>,
    /// The entities of each word.
    entities: Lists<EntityId>,
    /// The inverse document frequency of each word, squared.
    rarity: Vec<f32>,
    /// The norm of the word vector of each entity.
    norms: Vec<f32>,
    /// Entities of the same label.
    namesakes: Vec<Vec<EntityId>>,
}

impl LabelSimilarity {
    /// That of a graph. Words are runs of letters and digits, case ignored.
    pub(crate) fn new(graph: &Graph) -> Self {
        let label =
            |entity| graph.entity_label(entity).unwrap_or_else(|| graph.entity_name(entity)).to_lowercase();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut by_label: HashMap<String, Vec<EntityId>> = HashMap::new();
        let mut pairs: Vec<(usize, u32)> = Vec::new();
        for entity in graph.entities() {
            let label = label(entity);
            for word in label.split(|of: char| !of.is_alphanumeric()).filter(|word| !word.is_empty()) {
                let next = numbers.len() as u32;
                pairs.push((entity.index(), *numbers.entry(word.to_owned()).or_insert(next)));
            }
            by_label.entry(label).or_default().push(entity);
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut counts = vec![0_usize; numbers.len()];
        pairs.iter().for_each(|&(_, word)| counts[word as usize] += 1);
        let count = graph.entity_count();
        let rarity: Vec<f32> =
            counts.iter().map(|&of| (count as f32 / of.max(1) as f32).ln().powi(2)).collect();
        let mut norms = vec![0.0; count];
        pairs.iter().for_each(|&(entity, word)| norms[entity] += rarity[word as usize]);
        norms.iter_mut().for_each(|norm: &mut f32| *norm = norm.sqrt().max(f32::MIN_POSITIVE));
        pairs.retain(|&(_, word)| counts[word as usize] <= MOST_ENTITIES);
        let backwards = pairs.iter().map(|&(entity, word)| (word as usize, EntityId(entity as u32)));
        let mut namesakes: Vec<Vec<EntityId>> =
            by_label.into_values().filter(|of| (2..=MOST_NAMESAKES).contains(&of.len())).collect();
        namesakes.sort_unstable();
        Self {
            words: Lists::group(count, pairs.iter().copied()),
            entities: Lists::group(counts.len(), backwards),
            rarity,
            norms,
            namesakes,
        }
    }

    /// All pairs of entities with the same label, in both orders.
    pub(crate) fn namesakes(&self) -> impl Iterator<Item = (EntityId, EntityId)> + '_ {
        self.namesakes.iter().flat_map(|group| {
            group.iter().flat_map(move |&one| {
                group.iter().filter(move |&&other| other != one).map(move |&other| (one, other))
            })
        })
    }

    /// The entities that share a word with one, with the cosine between their words.
    pub(crate) fn similar(&self, entity: EntityId, hand: &mut dyn FnMut(EntityId, f32)) {
        let mut found = Vec::new();
        for &word in self.words.get(entity.index()) {
            let others = self.entities.get(word as usize).iter().filter(|&&other| other != entity);
            found.extend(others.map(|&other| (other, self.rarity[word as usize])));
        }
        combine_by_entity(found, |one, other| one + other, &mut |other, product| {
            hand(other, product / (self.norms[entity.index()] * self.norms[other.index()]));
        });
    }
}
