//! [`Background`]: generates the background facts one by one.

use std::io;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::config::SynthSettings;
use super::emitted_facts::Known;
use super::latent_space::{Space, mix};
use super::rule::{AROUND, Rule, Translation};
use super::schema::{Link, Schema};

/// A fact as bare numbers: head, relation, tail.
pub(super) type Triple = (u32, u32, u32);

/// How many background facts there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct BackgroundCounts {
    /// Facts that give an entity its first fact: translations too.
    pub cover: u64,
    /// Facts of translating relations beyond these.
    pub translation: u64,
    /// Facts of inverse relations.
    pub inverse: u64,
    /// Facts of composed relations.
    pub composed: u64,
    /// Facts of symmetric relations, both directions counted.
    pub symmetric: u64,
    /// Random facts, in relations of all families.
    pub noise: u64,
}

impl BackgroundCounts {
    /// All background facts.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.cover + self.translation + self.inverse + self.composed + self.symmetric + self.noise
    }
}

pub(super) struct Background<'a, S> {
    space: &'a Space,
    schema: &'a Schema,
    rng: ChaCha8Rng,
    known: Known,
    /// Planted facts of each relation, the cover included.
    planted: Vec<u64>,
    /// Planned sizes of the relations, relative to each other.
    weights: Vec<f64>,
    /// Where each translating relation's next fact is: a step and a head within its type.
    cursors: Vec<Cursor>,
    counts: BackgroundCounts,
    sink: S,
}

/// A place in the facts of a translating relation: all heads at step 0, then all at step 1, …
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    step: usize,
    head: u32,
}

impl Cursor {
    fn next(self, heads: usize) -> Self {
        if self.head as usize + 1 < heads {
            Self { head: self.head + 1, ..self }
        } else {
            Self { step: self.step + 1, head: 0 }
        }
    }
}

impl<'a, S: FnMut(Triple) -> io::Result<()>> Background<'a, S> {
    /// Emits all background facts to `sink`; returns the set of them and the counts of each kind.
    pub(super) fn generate(
        settings: &SynthSettings,
        space: &'a Space,
        schema: &'a Schema,
        mut rng: ChaCha8Rng,
        sink: S,
    ) -> io::Result<(Known, BackgroundCounts)> {
        let relations = schema.rules.len();
        let mut this = Self {
            space,
            schema,
            known: Known::new(settings.entities, settings.triples),
            planted: vec![0; relations],
            weights: zipf_weights(relations, settings.zipf, &mut rng),
            cursors: vec![Cursor::default(); schema.translation_count() as usize],
            counts: BackgroundCounts::default(),
            rng,
            sink,
        };
        this.cover()?;
        let left = settings.triples - this.counts.total();
        let noise = (settings.noise * settings.triples as f64).round() as u64;
        let noise = noise.saturating_sub(this.counts.noise).min(left - relations as u64);
        this.plant(left - noise)?;
        this.add_noise(settings.triples)?;
        Ok((this.known, this.counts))
    }

    /// Emits a planted fact unless it was emitted before; returns the number of facts emitted.
    fn emit_planted(&mut self, fact: Triple) -> io::Result<u64> {
        let emitted = u64::from(self.emit(fact)?);
        self.planted[fact.1 as usize] += emitted;
        Ok(emitted)
    }

    /// Emits a fact unless it was emitted before; returns whether it was new.
    fn emit(&mut self, (head, relation, tail): Triple) -> io::Result<bool> {
        let fresh = self.known.insert(head, relation, tail);
        if fresh {
            (self.sink)((head, relation, tail))?;
        }
        Ok(fresh)
    }

    /// Gives every entity a fact: in order of ids, each that has none yet gets one.
    fn cover(&mut self) -> io::Result<()> {
        let mut covered = vec![0u64; (self.space.entities() as usize).div_ceil(64)];
        let mut cover = |entity: u32| {
            let (word, bit) = (entity as usize / 64, 1 << (entity % 64));
            let before = covered[word] & bit != 0;
            covered[word] |= bit;
            before
        };
        for entity in 0..self.space.entities() {
            if cover(entity) {
                continue;
            }
            match self.first_fact(entity) {
                Some((head, relation, tail)) => {
                    self.counts.cover += self.emit_planted((head, relation, tail))?;
                    cover(if head == entity { tail } else { head });
                }
                // A corner of the box that no translation of this type leaves or reaches.
                None => {
                    let relation = self.outgoing(self.space.type_of(entity));
                    let tail = self.random_fact(relation, Some(entity))?;
                    cover(tail);
                }
            }
        }
        Ok(())
    }

    /// A translation fact that an entity without facts takes part in: an exact one of any relation
    /// before one at a neighbouring point, and large relations more often than small ones.
    fn first_fact(&self, entity: u32) -> Option<Triple> {
        let links = self.schema.links(self.space.type_of(entity));
        let start = self.weighted(links, mix(u64::from(entity)));
        (0..AROUND.len()).find_map(|step| {
            let mut in_line = links.iter().cycle().skip(start).take(links.len());
            in_line.find_map(|link| self.link_fact(entity, *link, step))
        })
    }

    fn link_fact(&self, entity: u32, Link { relation, outgoing }: Link, step: usize) -> Option<Triple> {
        let translation = self.schema.translation(relation);
        if outgoing {
            return Some((entity, relation, translation.tail(entity, step, self.space)?));
        }
        let head = translation.head(entity, step, self.space)?;
        // Of entities that share a point, only the first can be a tail.
        (translation.tail(head, step, self.space) == Some(entity)).then_some((head, relation, entity))
    }

    /// The position of a link chosen by a hash in proportion to the planned size of its relation.
    fn weighted(&self, links: &[Link], hash: u64) -> usize {
        let weight = |link: &Link| self.weights[link.relation as usize];
        let total: f64 = links.iter().map(weight).sum();
        let mut left = total * (hash as f64 / u64::MAX as f64);
        links
            .iter()
            .position(|link| {
                left -= weight(link);
                left < 0.0
            })
            .unwrap_or(0)
    }

    fn outgoing(&self, of_type: u32) -> u32 {
        // Every type has an outgoing relation; its links start with the smallest such number.
        self.schema.links(of_type).iter().find(|link| link.outgoing).map_or(0, |link| link.relation)
    }

    /// Emits `total` planted facts: each relation's planned size, then what falls short as further
    /// translations.
    fn plant(&mut self, total: u64) -> io::Result<()> {
        let relations = self.schema.rules.len() as u64;
        let before = self.counts.total();
        let weight: f64 = self.weights.iter().sum();
        for relation in 0..self.schema.rules.len() {
            let share = self.weights[relation] / weight;
            let quota = 1 + ((total - relations) as f64 * share).floor() as u64;
            self.plant_relation(relation as u32, quota)?;
        }
        let end = before + total;
        loop {
            let short = end.saturating_sub(self.counts.total());
            let translations = u64::from(self.schema.translation_count());
            let mut progress = 0;
            for relation in 0..self.schema.translation_count() {
                let missing = end.saturating_sub(self.counts.total());
                progress += self.plant_translation(relation, missing.min(short.div_ceil(translations)))?;
            }
            if progress == 0 {
                return Ok(());
            }
        }
    }

    /// Emits up to `quota` facts of a relation, and at least one, which may be random.
    fn plant_relation(&mut self, relation: u32, quota: u64) -> io::Result<()> {
        match self.schema.rules[relation as usize] {
            Rule::Translation(_) => {
                self.plant_translation(relation, quota)?;
            }
            Rule::Inverse(_) => self.counts.inverse += self.plant_derived(relation, quota)?,
            Rule::Composed(..) => self.counts.composed += self.plant_derived(relation, quota)?,
            Rule::Symmetric(step) => self.counts.symmetric += self.plant_symmetric(relation, step, quota)?,
        }
        if self.planted[relation as usize] == 0 {
            self.random_fact(relation, None)?;
        }
        Ok(())
    }

    fn plant_translation(&mut self, relation: u32, quota: u64) -> io::Result<u64> {
        let translation = *self.schema.translation(relation);
        let heads = self.space.members(translation.head_type);
        let mut cursor = self.cursors[relation as usize];
        let mut made = 0;
        while made < quota && cursor.step < AROUND.len() {
            let head = heads.start + cursor.head;
            if let Some(tail) = translation.tail(head, cursor.step, self.space) {
                made += self.emit_planted((head, relation, tail))?;
            }
            cursor = cursor.next(heads.len());
        }
        self.cursors[relation as usize] = cursor;
        self.counts.translation += made;
        Ok(made)
    }

    /// Inverse and composed relations: facts that follow from facts emitted before.
    fn plant_derived(&mut self, relation: u32, quota: u64) -> io::Result<u64> {
        let rule = self.schema.rules[relation as usize];
        let mut made = 0;
        for origin in self.space.members(self.schema.origin(rule)) {
            if made == quota {
                break;
            }
            if let Some((head, tail)) = self.schema.follow(rule, origin, &self.known, self.space) {
                made += self.emit_planted((head, relation, tail))?;
            }
        }
        Ok(made)
    }

    /// Emits both directions of each fact, so one fact is missing from an odd quota.
    fn plant_symmetric(&mut self, relation: u32, step: Translation, quota: u64) -> io::Result<u64> {
        let mut made = 0;
        for head in self.space.members(step.head_type) {
            if made + 2 > quota {
                break;
            }
            if let Some(tail) = step.tail(head, 0, self.space) {
                made += self.emit_planted((head, relation, tail))?;
                made += self.emit_planted((tail, relation, head))?;
            }
        }
        Ok(made)
    }

    /// Fills the background up to `total` facts with random ones, in proportion to what was planted.
    fn add_noise(&mut self, total: u64) -> io::Result<()> {
        let missing = total - self.counts.total();
        let planted: u64 = self.planted.iter().sum();
        for relation in 0..self.planted.len() {
            let share = self.planted[relation] as f64 / planted as f64;
            for _ in 0..(missing as f64 * share).floor() as u64 {
                self.random_fact(relation as u32, None)?;
            }
        }
        while self.counts.total() < total {
            let relation = self.rng.random_range(0..self.planted.len() as u32);
            self.random_fact(relation, None)?;
        }
        Ok(())
    }

    /// Emits a new random fact of a relation with the right types; returns its tail.
    fn random_fact(&mut self, relation: u32, head: Option<u32>) -> io::Result<u32> {
        let (head_type, tail_type) = self.schema.ends(self.schema.rules[relation as usize]);
        loop {
            let head = head.unwrap_or_else(|| self.rng.random_range(self.space.members(head_type)));
            let tail = self.rng.random_range(self.space.members(tail_type));
            if head != tail && self.emit((head, relation, tail))? {
                self.counts.noise += 1;
                return Ok(tail);
            }
        }
    }
}

/// One weight for each relation: `n^-exponent` for ranks `n` in random order.
fn zipf_weights(relations: usize, exponent: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut weights: Vec<f64> = (1..=relations).map(|rank| (rank as f64).powf(-exponent)).collect();
    weights.shuffle(rng);
    weights
}
