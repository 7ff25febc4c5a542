//! [`Schema`]: the rules of all background relations, and their names.

use std::fmt;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::config::SynthSettings;
use super::emitted_facts::Known;
use super::latent_space::Space;
use super::rule::{AROUND, Rule, TRIES, Translation};

/// The rules of all background relations: translations first, then inverses, compositions and
/// symmetric relations.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) rules: Vec<Rule>,
    translations: Vec<Translation>,
    /// Background relations out of and into each type.
    links: Vec<Vec<Link>>,
}

/// A translating background relation as seen from a type at one of its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) relation: u32,
    /// Whether the type is the relation's head type.
    pub(super) outgoing: bool,
}

impl Schema {
    pub(super) fn draw(settings: &SynthSettings, space: &Space, rng: &mut ChaCha8Rng) -> Self {
        let [translating, inverse, composed, symmetric] = settings.background_families();
        // Taking the types in turn gives each at least one outgoing relation.
        let translations: Vec<_> = (0..translating as u32)
            .map(|number| Translation::draw(number % space.types(), space, rng))
            .collect();
        let mut schema = Self { rules: Vec::new(), links: links(&translations, space.types()), translations };
        let mut bases: Vec<u32> = (0..translating as u32).collect();
        bases.shuffle(rng);
        let mut rules: Vec<_> = schema.translations.iter().copied().map(Rule::Translation).collect();
        rules.extend(bases.iter().cycle().take(inverse as usize).map(|&base| Rule::Inverse(base)));
        rules.extend((0..composed).map(|_| schema.draw_composed(rng)));
        rules.extend((0..symmetric).map(|_| draw_symmetric(space, rng)));
        schema.rules = rules;
        schema
    }

    pub(super) fn translation(&self, number: u32) -> &Translation {
        &self.translations[number as usize]
    }

    pub(super) fn translation_count(&self) -> u32 {
        self.translations.len() as u32
    }

    /// The translating relations out of and into a type.
    pub(super) fn links(&self, of_type: u32) -> &[Link] {
        &self.links[of_type as usize]
    }

    /// The types of the heads and tails of a rule.
    pub(super) fn ends(&self, rule: Rule) -> (u32, u32) {
        match rule {
            Rule::Translation(translation) | Rule::Symmetric(translation) => {
                (translation.head_type, translation.tail_type)
            }
            Rule::Inverse(of) => (self.translation(of).tail_type, self.translation(of).head_type),
            Rule::Composed(first, second) => {
                (self.translation(first).head_type, self.translation(second).tail_type)
            }
        }
    }

    /// The type whose entities [`follow`](Self::follow) starts from.
    pub(super) fn origin(&self, rule: Rule) -> u32 {
        match rule {
            Rule::Inverse(of) => self.translation(of).head_type,
            _ => self.ends(rule).0,
        }
    }

    /// The fact of a rule that is reached from an entity of its origin: for derived rules only if
    /// the facts it follows from are known.
    pub(super) fn follow(&self, rule: Rule, from: u32, known: &Known, space: &Space) -> Option<(u32, u32)> {
        let step = |from: u32, relation: u32| {
            let to = self.translation(relation).tail(from, 0, space)?;
            known.contains(from, relation, to).then_some(to)
        };
        match rule {
            Rule::Translation(translation) | Rule::Symmetric(translation) => {
                Some((from, translation.tail(from, 0, space)?))
            }
            Rule::Inverse(of) => Some((step(from, of)?, from)),
            Rule::Composed(first, second) => {
                let to = step(step(from, first)?, second)?;
                (to != from).then_some((from, to))
            }
        }
    }

    /// Draws a background relation read backwards.
    pub(super) fn draw_inverse(&self, rng: &mut ChaCha8Rng) -> Rule {
        Rule::Inverse(rng.random_range(0..self.translation_count()))
    }

    /// Draws two background relations of which the second starts where the first ends.
    pub(super) fn draw_composed(&self, rng: &mut ChaCha8Rng) -> Rule {
        let first = rng.random_range(0..self.translation_count());
        let middle = self.translation(first).tail_type;
        let next: Vec<u32> =
            self.links(middle).iter().filter(|link| link.outgoing).map(|link| link.relation).collect();
        Rule::Composed(first, next[rng.random_range(0..next.len() as u32) as usize])
    }

    /// Draws a translation that no path of one or two background relations, read either way,
    /// performs; if the box is so small that none is found, any translation.
    pub(super) fn draw_new_translation(&self, space: &Space, rng: &mut ChaCha8Rng) -> Rule {
        let mut draw = || Translation::draw(rng.random_range(0..space.types()), space, rng);
        let drawn = (0..TRIES).map(|_| draw()).find(|translation| !self.has_short_path(translation));
        Rule::Translation(drawn.unwrap_or_else(draw))
    }

    /// Whether one or two background relations, read either way, perform this translation.
    pub(super) fn has_short_path(&self, wanted: &Translation) -> bool {
        self.steps(wanted.head_type).any(|first| {
            first == *wanted
                || self.steps(first.tail_type).any(|second| first.then(&second).as_ref() == Some(wanted))
        })
    }

    /// The translations that the background relations perform out of a type, read either way.
    fn steps(&self, from_type: u32) -> impl Iterator<Item = Translation> + '_ {
        self.links(from_type).iter().map(|link| {
            let translation = self.translation(link.relation);
            if link.outgoing { *translation } else { translation.reversed() }
        })
    }
}

fn links(translations: &[Translation], types: u32) -> Vec<Vec<Link>> {
    let mut links = vec![Vec::new(); types as usize];
    for (relation, translation) in (0u32..).zip(translations) {
        links[translation.head_type as usize].push(Link { relation, outgoing: true });
        links[translation.tail_type as usize].push(Link { relation, outgoing: false });
    }
    links
}

/// Symmetric relations join close neighbours, which a translation model can approximate best.
fn draw_symmetric(space: &Space, rng: &mut ChaCha8Rng) -> Rule {
    let of_type = rng.random_range(0..space.types());
    let shift = AROUND[rng.random_range(1..AROUND.len() as u32) as usize];
    Rule::Symmetric(Translation { head_type: of_type, tail_type: of_type, shift })
}

/// Writes a relation's name, which contains its family for human readers; models do not read names.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelationName {
    /// Stands before the family: empty for the background, `task_` for few-shot relations.
    pub(super) prefix: &'static str,
    pub(super) number: u32,
    pub(super) rule: Rule,
}

impl fmt::Display for RelationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prefix, number, rule } = self;
        match rule {
            Rule::Translation(_) => write!(f, "concept:{prefix}translates_{number}"),
            Rule::Inverse(of) => write!(f, "concept:{prefix}inverse_{number}_of_{of}"),
            Rule::Composed(first, second) => {
                write!(f, "concept:{prefix}composed_{number}_of_{first}_{second}")
            }
            Rule::Symmetric(_) => write!(f, "concept:{prefix}symmetric_{number}"),
        }
    }
}
