//! [`FewShot`]: draws the few-shot relations and their facts.

use std::collections::{BTreeSet, HashSet};

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::config::SynthSettings;
use super::emitted_facts::Known;
use super::latent_space::Space;
use super::rule::{AROUND, Rule};
use super::schema::{RelationName, Schema};
use crate::split::Split;

/// How many rules are drawn to find one with enough facts, before the best of them is taken.
const TRIES: usize = 16;

/// Heads are drawn among this many times `max_facts` of the best-connected entities of a type.
const HEADS_PER_FACT: u64 = 8;

type Pair = (u32, u32);

/// Draws a rule of one family.
type DrawRule<'a> = fn(&mut FewShot<'a>) -> Rule;

/// One few-shot relation.
#[derive(Debug)]
pub(super) struct SynthTask {
    pub(super) name: RelationName,
    pub(super) split: Split,
    pub(super) facts: Vec<Pair>,
    pub(super) tail_type: u32,
}

/// Draws few-shot relations after the background is known.
pub(super) struct FewShot<'a> {
    pub(super) settings: &'a SynthSettings,
    pub(super) space: &'a Space,
    pub(super) schema: &'a Schema,
    pub(super) known: &'a Known,
    pub(super) rng: ChaCha8Rng,
}

impl<'a> FewShot<'a> {
    /// All few-shot relations, split by split.
    pub(super) fn draw(&mut self) -> Vec<SynthTask> {
        let mut tasks = Vec::new();
        for split in Split::ALL {
            let [translation, inverse, composed] = self.settings.few_shot_families(split);
            let families: [(u64, DrawRule<'a>); 3] = [
                (translation, |this| this.schema.draw_new_translation(this.space, &mut this.rng)),
                (inverse, |this| this.schema.draw_inverse(&mut this.rng)),
                (composed, |this| this.schema.draw_composed(&mut this.rng)),
            ];
            for (count, draw_rule) in families {
                for _ in 0..count {
                    tasks.push(self.draw_task(split, tasks.len() as u32, draw_rule));
                }
            }
        }
        tasks
    }

    fn draw_task(&mut self, split: Split, number: u32, draw_rule: DrawRule<'a>) -> SynthTask {
        let size = self.draw_size();
        let wanted = size - (self.settings.noise * size as f64).round() as usize;
        let (rule, mut facts) = self.draw_rule(wanted, draw_rule);
        facts.shuffle(&mut self.rng);
        facts.truncate(wanted);
        self.add_noise(rule, size, &mut facts);
        // The first facts are the support of dev and test relations, which may contain noise.
        facts.shuffle(&mut self.rng);
        let tail_type = self.schema.ends(rule).1;
        SynthTask { name: RelationName { prefix: "task_", number, rule }, split, facts, tail_type }
    }

    /// Sizes are uniform on a logarithmic scale, so that small relations are as frequent as in the benchmarks.
    fn draw_size(&mut self) -> usize {
        let (least, most) = (self.settings.min_facts, self.settings.max_facts);
        let log = self.rng.random_range((least as f64).ln()..=(most as f64).ln());
        (log.exp().round() as u64).clamp(least, most) as usize
    }

    /// Draws rules until one has `wanted` exact facts; otherwise takes the one that has most, and adds
    /// facts at the points next to the translated one.
    fn draw_rule(&mut self, wanted: usize, draw_rule: DrawRule<'a>) -> (Rule, Vec<Pair>) {
        let mut rule = draw_rule(self);
        let mut facts = self.exact(rule);
        for _ in 1..TRIES {
            if facts.len() >= wanted {
                break;
            }
            let other = draw_rule(self);
            let more = self.exact(other);
            if more.len() > facts.len() {
                (rule, facts) = (other, more);
            }
        }
        self.add_beside(rule, wanted, &mut facts);
        (rule, facts)
    }

    /// The facts a rule has among well-connected heads.
    fn exact(&self, rule: Rule) -> Vec<Pair> {
        let follow = |head| self.schema.follow(rule, head, self.known, self.space);
        self.well_connected(self.schema.origin(rule)).filter_map(follow).collect()
    }

    /// Adds facts at neighbouring points to a translation that has too few, one point after the other.
    fn add_beside(&self, rule: Rule, wanted: usize, facts: &mut Vec<Pair>) {
        let Rule::Translation(translation) = rule else { return };
        for step in 1..AROUND.len() {
            if facts.len() >= wanted {
                return;
            }
            let beside = |head| Some((head, translation.tail(head, step, self.space)?));
            facts.extend(self.well_connected(translation.head_type).filter_map(beside));
        }
    }

    fn well_connected(&self, of_type: u32) -> std::ops::Range<u32> {
        let members = self.space.members(of_type);
        let most = (HEADS_PER_FACT * self.settings.max_facts) as u32;
        members.start..members.end.min(members.start + most)
    }

    /// Fills `facts` up to `size` with random well-typed ones.
    fn add_noise(&mut self, rule: Rule, size: usize, facts: &mut Vec<Pair>) {
        let (head_type, tail_type) = self.schema.ends(rule);
        let (heads, tails) = (self.well_connected(head_type), self.space.members(tail_type));
        let mut seen: HashSet<Pair> = facts.iter().copied().collect();
        while facts.len() < size {
            let pair = (self.rng.random_range(heads.clone()), self.rng.random_range(tails.clone()));
            if pair.0 != pair.1 && seen.insert(pair) {
                facts.push(pair);
            }
        }
    }

    /// The published rule: all entities of the types among the tails; above the cap, the tails and
    /// a random choice of the others. In order of ids.
    pub(super) fn candidates(&mut self, task: &SynthTask) -> Vec<u32> {
        let members = self.space.members(task.tail_type);
        if members.len() as u64 <= self.settings.candidate_cap {
            return members.collect();
        }
        let mut candidates: BTreeSet<u32> = task.facts.iter().map(|&(_, tail)| tail).collect();
        while (candidates.len() as u64) < self.settings.candidate_cap {
            candidates.insert(self.rng.random_range(members.clone()));
        }
        candidates.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::synth::background::Background;

    #[test]
    fn new_translations_are_exact_and_beyond_short_rules() {
        for preset in ["small", "nell-one"] {
            let settings = SynthSettings { noise: 0.0, ..SynthSettings::like(preset).unwrap() };
            let mut rng = ChaCha8Rng::seed_from_u64(5);
            let space = Space::new(&settings);
            let schema = Schema::draw(&settings, &space, &mut rng);
            let sink = |_| Ok(());
            let (known, _) = Background::generate(&settings, &space, &schema, rng.clone(), sink).unwrap();
            let mut few_shot =
                FewShot { settings: &settings, space: &space, schema: &schema, known: &known, rng };
            let mut translating = 0;
            for task in few_shot.draw() {
                let Rule::Translation(translation) = task.name.rule else { continue };
                assert!(!schema.has_short_path(&translation));
                for (head, tail) in task.facts {
                    assert_eq!(translation.tail(head, 0, &space), Some(tail));
                }
                translating += 1;
            }
            let all: u64 = Split::ALL.iter().map(|&split| settings.few_shot_families(split)[0]).sum();
            assert_eq!(translating, all);
        }
    }
}
