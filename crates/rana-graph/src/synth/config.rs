//! What to generate: [`SynthSettings`] as they are written, and [`SynthConfig`], the same checked.

use std::ops::{Deref, RangeInclusive};

use serde::{Deserialize, Serialize};

use super::error::SynthError;
use crate::split::Split;

/// The smallest size of a type; planted relations need that many entities.
const SMALLEST_TYPE: u64 = 32;

/// The published bounds of a few-shot relation: more than 50 and fewer than 500 facts.
const FEW_SHOT_FACTS: RangeInclusive<u64> = 51..=499;

/// How far shares may be from adding up to one.
const SHARE_TOLERANCE: f64 = 1e-6;

/// The settings of a generated graph, not yet checked; [`SynthConfig::new`] checks them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SynthSettings {
    /// Entities, every one of which occurs in a background fact.
    pub entities: u64,
    /// Distinct background facts; at least `entities + background_relations`.
    pub triples: u64,
    /// Types, all of the same size; at most the number of translating background relations.
    pub types: u64,
    /// Background relations, inverses that the reader adds not counted.
    pub background_relations: u64,
    /// How the background relations divide into families.
    pub background_shares: BackgroundShares,
    /// Few-shot relations of each split.
    pub few_shot_relations: PerSplit,
    /// How the few-shot relations of each split divide into families.
    pub few_shot_shares: FewShotShares,
    /// Fewest facts of a few-shot relation, more than 50.
    pub min_facts: u64,
    /// Most facts of a few-shot relation, fewer than 500.
    pub max_facts: u64,
    /// Share of facts, of the background and of each few-shot relation, that join a random head
    /// with a random tail of the right types; at most one half.
    pub noise: f64,
    /// Exponent of the long tail of background relation sizes: the n-th largest relation is
    /// planned with a share proportional to `n^-zipf`. Zero makes them equal.
    pub zipf: f64,
    /// Most candidate tails of a few-shot relation.
    pub candidate_cap: u64,
    /// The same seed gives the same bytes.
    pub seed: u64,
}

/// A number for each split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerSplit {
    /// Meta-training.
    pub train: u64,
    /// Selection.
    pub dev: u64,
    /// The final report.
    pub test: u64,
}

impl PerSplit {
    /// The number of one split.
    #[must_use]
    pub const fn of(&self, split: Split) -> u64 {
        match split {
            Split::Train => self.train,
            Split::Dev => self.dev,
            Split::Test => self.test,
        }
    }
}

/// Shares of the families among the background relations; they add up to one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackgroundShares {
    /// A translation of its own.
    pub translation: f64,
    /// A translating relation read backwards.
    pub inverse: f64,
    /// Two translating relations, one after the other.
    pub composed: f64,
    /// Neighbours in one type, in both directions.
    pub symmetric: f64,
}

/// Shares of the families among the few-shot relations; they add up to one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FewShotShares {
    /// A translation that no path of one or two background relations performs.
    pub translation: f64,
    /// A background relation read backwards: a one-hop rule.
    pub inverse: f64,
    /// Two background relations, one after the other: a two-hop rule.
    pub composed: f64,
}

impl Default for BackgroundShares {
    fn default() -> Self {
        Self { translation: 0.6, inverse: 0.15, composed: 0.15, symmetric: 0.1 }
    }
}

impl Default for FewShotShares {
    fn default() -> Self {
        Self { translation: 0.5, inverse: 0.25, composed: 0.25 }
    }
}

impl SynthSettings {
    /// The names that [`like`](Self::like) accepts.
    pub const PRESETS: [&'static str; 3] = ["wiki-one", "nell-one", "small"];

    /// A preset: the sizes of `wiki-one` or `nell-one`, or a `small` graph for tests of learning.
    ///
    /// # Errors
    /// If there is no preset of this name.
    pub fn like(name: &str) -> Result<Self, SynthError> {
        let sizes = match name {
            "wiki-one" => (4_838_244, 5_859_240, 64, 639, PerSplit { train: 133, dev: 16, test: 34 }, 499),
            "nell-one" => (68_544, 181_109, 32, 291, PerSplit { train: 51, dev: 5, test: 11 }, 499),
            "small" => (2_000, 12_000, 5, 24, PerSplit { train: 12, dev: 3, test: 5 }, 150),
            _ => return Err(SynthError::Preset { name: name.to_owned() }),
        };
        let (entities, triples, types, background_relations, few_shot_relations, max_facts) = sizes;
        Ok(Self {
            entities,
            triples,
            types,
            background_relations,
            background_shares: BackgroundShares::default(),
            few_shot_relations,
            few_shot_shares: FewShotShares::default(),
            min_facts: *FEW_SHOT_FACTS.start(),
            max_facts,
            noise: 0.05,
            zipf: 1.0,
            candidate_cap: 5_000,
            seed: 0,
        })
    }

    /// Entities of the smallest type.
    pub(super) fn type_size(&self) -> u64 {
        self.entities / self.types
    }

    /// Background relations of each family: translation, inverse, composed, symmetric.
    pub(super) fn background_families(&self) -> [u64; 4] {
        let BackgroundShares { translation, inverse, composed, symmetric } = self.background_shares;
        apportion(self.background_relations, [translation, inverse, composed, symmetric])
    }

    /// Few-shot relations of each family in one split: translation, inverse, composed.
    pub(super) fn few_shot_families(&self, split: Split) -> [u64; 3] {
        let FewShotShares { translation, inverse, composed } = self.few_shot_shares;
        apportion(self.few_shot_relations.of(split), [translation, inverse, composed])
    }
}

/// Checked settings, from which a graph can be generated.
///
/// ```
/// use rana_graph::synth::{SynthConfig, SynthSettings};
/// let mut settings = SynthSettings::like("small")?;
/// settings.seed = 7;
/// let config = SynthConfig::new(settings.clone())?;
/// assert_eq!(config.triples, 12_000);
///
/// settings.triples = 10;
/// assert_eq!(SynthConfig::new(settings).unwrap_err().field(), Some("triples"));
/// # Ok::<(), rana_graph::synth::SynthError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SynthSettings", into = "SynthSettings")]
pub struct SynthConfig(SynthSettings);

impl SynthConfig {
    /// Checks settings.
    ///
    /// # Errors
    /// Names the first field with an invalid value, and the values that are valid.
    pub fn new(settings: SynthSettings) -> Result<Self, SynthError> {
        let s = &settings;
        check_shares(
            "background_shares",
            &[
                s.background_shares.translation,
                s.background_shares.inverse,
                s.background_shares.composed,
                s.background_shares.symmetric,
            ],
        )?;
        check_shares(
            "few_shot_shares",
            &[s.few_shot_shares.translation, s.few_shot_shares.inverse, s.few_shot_shares.composed],
        )?;
        require((0.0..=0.5).contains(&s.noise), "noise", || "between 0 and 0.5".into())?;
        require((0.0..=4.0).contains(&s.zipf), "zipf", || "between 0 and 4".into())?;
        check_sizes(s)?;
        check_tasks(s)?;
        Ok(Self(settings))
    }

    /// A checked preset; see [`SynthSettings::like`].
    ///
    /// # Errors
    /// If there is no preset of this name.
    pub fn like(name: &str) -> Result<Self, SynthError> {
        Self::new(SynthSettings::like(name)?)
    }
}

impl Deref for SynthConfig {
    type Target = SynthSettings;

    fn deref(&self) -> &SynthSettings {
        &self.0
    }
}

impl TryFrom<SynthSettings> for SynthConfig {
    type Error = SynthError;

    fn try_from(settings: SynthSettings) -> Result<Self, SynthError> {
        Self::new(settings)
    }
}

impl From<SynthConfig> for SynthSettings {
    fn from(config: SynthConfig) -> Self {
        config.0
    }
}

fn check_sizes(s: &SynthSettings) -> Result<(), SynthError> {
    let most_entities = 1 << 28;
    let entities = SMALLEST_TYPE..=most_entities;
    require(entities.contains(&s.entities), "entities", || {
        format!("between {SMALLEST_TYPE} and {most_entities}")
    })?;
    let most_types = s.entities / SMALLEST_TYPE;
    require((1..=most_types).contains(&s.types), "types", || {
        format!("between 1 and {most_types}, so that a type has at least {SMALLEST_TYPE} entities")
    })?;
    // A fact is remembered as one 64-bit number, which bounds relations × entities².
    let most_relations = (u64::MAX / (s.entities * s.entities)).min(1 << 20);
    require((1..=most_relations).contains(&s.background_relations), "background_relations", || {
        format!("between 1 and {most_relations}")
    })?;
    let translating = s.background_families()[0];
    require(s.types <= translating, "types", || {
        format!("at most {translating}, one translating background relation for each type")
    })?;
    let fewest = s.entities + s.background_relations;
    // A quarter of all well-typed pairs: beyond it, random distinct facts become hard to find.
    let most = (s.background_relations * s.type_size() * s.type_size()) / 4;
    require((fewest..=most).contains(&s.triples), "triples", || {
        format!(
            "between {fewest} (entities + background_relations) and {most} (what the types have room for)"
        )
    })
}

fn check_tasks(s: &SynthSettings) -> Result<(), SynthError> {
    let (fewest, most) = (*FEW_SHOT_FACTS.start(), *FEW_SHOT_FACTS.end());
    require(FEW_SHOT_FACTS.contains(&s.min_facts), "min_facts", || format!("between {fewest} and {most}"))?;
    let most = most.min(s.type_size() * s.type_size() / 4);
    require((s.min_facts..=most).contains(&s.max_facts), "max_facts", || {
        format!("between min_facts ({}) and {most}", s.min_facts)
    })?;
    for split in Split::ALL {
        let relations = s.few_shot_relations.of(split);
        require(relations <= 1 << 20, "few_shot_relations", || format!("at most {} each", 1 << 20))?;
    }
    require(s.candidate_cap >= s.max_facts, "candidate_cap", || {
        format!("at least max_facts ({}), because every tail is a candidate", s.max_facts)
    })
}

fn check_shares(field: &'static str, shares: &[f64]) -> Result<(), SynthError> {
    let fine = shares.iter().all(|share| (0.0..=1.0).contains(share));
    let total: f64 = shares.iter().sum();
    require(fine && (total - 1.0).abs() <= SHARE_TOLERANCE, field, || {
        "shares between 0 and 1 that add up to 1".into()
    })
}

fn require(holds: bool, field: &'static str, expected: impl FnOnce() -> String) -> Result<(), SynthError> {
    if holds { Ok(()) } else { Err(SynthError::Config { field, expected: expected() }) }
}

/// Divides `total` by shares, by largest remainder; ties go to the earlier share.
fn apportion<const N: usize>(total: u64, shares: [f64; N]) -> [u64; N] {
    let exact = shares.map(|share| share * total as f64);
    let mut parts = exact.map(|part| (part.floor() as u64).min(total));
    let mut order: [usize; N] = std::array::from_fn(|at| at);
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    let missing = total.saturating_sub(parts.iter().sum());
    for &at in order.iter().cycle().take(missing as usize) {
        parts[at] += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut SynthSettings)) -> SynthError {
        let mut settings = SynthSettings::like("small").unwrap();
        change(&mut settings);
        SynthConfig::new(settings).unwrap_err()
    }

    #[test]
    fn every_preset_is_valid() {
        for name in SynthSettings::PRESETS {
            SynthConfig::like(name).unwrap();
        }
        assert!(matches!(SynthConfig::like("freebase"), Err(SynthError::Preset { .. })));
    }

    #[test]
    fn a_bad_field_is_named() {
        assert_eq!(refused(|s| s.entities = 3).field(), Some("entities"));
        assert_eq!(refused(|s| s.entities = u64::MAX).field(), Some("entities"));
        assert_eq!(refused(|s| s.triples = 2_010).field(), Some("triples"));
        assert_eq!(refused(|s| s.triples = u64::MAX).field(), Some("triples"));
        assert_eq!(refused(|s| s.types = 0).field(), Some("types"));
        assert_eq!(refused(|s| s.types = 15).field(), Some("types"));
        assert_eq!(refused(|s| s.background_relations = 0).field(), Some("background_relations"));
        assert_eq!(refused(|s| s.min_facts = 50).field(), Some("min_facts"));
        assert_eq!(refused(|s| s.max_facts = 500).field(), Some("max_facts"));
        assert_eq!(refused(|s| s.max_facts = 40).field(), Some("max_facts"));
        assert_eq!(refused(|s| s.noise = f64::NAN).field(), Some("noise"));
        assert_eq!(refused(|s| s.noise = 0.6).field(), Some("noise"));
        assert_eq!(refused(|s| s.zipf = -1.0).field(), Some("zipf"));
        assert_eq!(refused(|s| s.candidate_cap = 100).field(), Some("candidate_cap"));
        assert_eq!(refused(|s| s.background_shares.inverse = 0.9).field(), Some("background_shares"));
        assert_eq!(refused(|s| s.few_shot_shares.composed = -0.1).field(), Some("few_shot_shares"));
        let said = refused(|s| s.noise = 0.6).to_string();
        assert_eq!(said, "synth setting `noise`: must be between 0 and 0.5");
    }

    #[test]
    fn a_config_is_checked_when_it_is_read() {
        let config = SynthConfig::like("small").unwrap();
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<SynthConfig>(&text).unwrap(), config);
        let broken = text.replace("\"types\":5", "\"types\":0");
        assert!(serde_json::from_str::<SynthConfig>(&broken).unwrap_err().to_string().contains("types"));
    }

    #[test]
    fn apportioning_loses_nothing() {
        assert_eq!(apportion(5, [0.5, 0.25, 0.25]), [3, 1, 1]);
        assert_eq!(apportion(24, [0.6, 0.15, 0.15, 0.1]), [14, 4, 4, 2]);
        assert_eq!(apportion(0, [1.0, 0.0]), [0, 0]);
    }
}
