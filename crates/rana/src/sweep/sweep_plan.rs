//! [`SweepPlan`]: which configurations a sweep tries, read from TOML and checked before anything starts.

use std::collections::{BTreeMap, HashSet};

use rana_graph::keyed_rng;
use rana_models::registry;
use rana_models::training::RunConfig;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::plan_error::PlanError;
use super::value_range::ValueRange;
use crate::settings::{Settings, assignment};

/// How a sweep ranks its configurations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// The MRR on the dev tasks.
    #[default]
    Dev,
    /// The mean MRR on the train tasks that were left out, over the folds.
    Folds,
}

/// A sweep as a file says it.
///
/// ```
/// let plan = rana::sweep::SweepPlan::of_text("
///     preset = 'umls'
///     [grid]
///     gamma = [1.0, 2.0]
///     J = [1, 5]
/// ")?;
/// assert_eq!(plan.configurations()?.len(), 4);
/// # Ok::<(), rana::sweep::PlanError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SweepPlan {
    /// The model.
    pub model: String,
    /// The preset of the model that everything starts from.
    pub preset: String,
    /// The vectors: a preset of vectors, `recommended`, or a directory; those kept with the graph if
    /// not given.
    pub vectors: Option<String>,
    /// The seed of vectors that are trained for the sweep.
    pub vectors_seed: u64,
    /// The seeds that each configuration is trained with.
    pub seeds: Vec<u64>,
    /// If given, the number of folds: each configuration is also trained without each fold of the train tasks.
    pub folds: Option<u64>,
    /// How configurations are ranked.
    pub select: Select,
    /// Whether the models of the trials are kept, and not only their logs and numbers.
    pub keep_models: bool,
    /// Settings of all configurations.
    pub set: toml::Table,
    /// Lists of values, of which every combination is tried.
    pub grid: Option<toml::Table>,
    /// Lists of values that are tried one at a time, everything else as it is: an ablation. No change is tried too.
    pub each: Option<toml::Table>,
    /// Ranges and lists that values are drawn from, and `trials` and `seed`.
    pub random: Option<toml::Table>,
}

impl Default for SweepPlan {
    fn default() -> Self {
        Self {
            model: registry::DEFAULT.to_owned(),
            preset: "paper".to_owned(),
            vectors: None,
            vectors_seed: 0,
            seeds: vec![0],
            folds: None,
            select: Select::Dev,
            keep_models: false,
            set: toml::Table::new(),
            grid: None,
            each: None,
            random: None,
        }
    }
}

/// One configuration of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The settings that differ between the configurations of the sweep, by field.
    pub varied: BTreeMap<String, toml::Value>,
    /// The settings, with the plan's own first seed.
    pub config: RunConfig,
}

impl Configuration {
    /// The configuration as `KEY=VALUE`.
    #[must_use]
    pub fn label(&self) -> String {
        label(&self.varied)
    }
}

fn label(varied: &BTreeMap<String, toml::Value>) -> String {
    match varied.is_empty() {
        true => "as set".to_owned(),
        false => varied.iter().map(|(key, value)| assignment(key, value)).collect::<Vec<_>>().join(", "),
    }
}

impl SweepPlan {
    /// Reads a plan.
    ///
    /// # Errors
    /// If it is not TOML, or has an unknown field.
    pub fn of_text(text: &str) -> Result<Self, PlanError> {
        toml::from_str(text).map_err(|error| PlanError::Malformed(error.to_string().trim_end().to_owned()))
    }

    /// The base of all configurations: preset and fixed settings.
    ///
    /// # Errors
    /// If there is no such preset, or a setting cannot be used.
    pub fn base(&self) -> Result<RunConfig, PlanError> {
        let preset = RunConfig::preset(&self.model, &self.preset)
            .map_err(|error| PlanError::Preset(error.to_string()))?;
        let fixed = Settings::from(self.set.clone());
        let config: RunConfig = fixed.over(&preset).map_err(|error| bad("set", &error))?;
        config.check().map_err(|error| bad("set", &error))?;
        Ok(config)
    }

    /// Every configuration once, checked.
    ///
    /// # Errors
    /// At the first part of the plan that cannot be used, which is named.
    pub fn configurations(&self) -> Result<Vec<Configuration>, PlanError> {
        self.check()?;
        let base = self.base()?;
        let draws = self.draws(&base)?;
        let changes = self.single_changes()?;
        let mut points = vec![BTreeMap::new()];
        let mut count = changes.len().saturating_mul(draws.len());
        for (field, values) in value_lists("grid", self.grid.as_ref())? {
            count = count.saturating_mul(values.len());
            if count > MOST_CONFIGURATIONS {
                return Err(bad("grid", &too_many("configurations", count, MOST_CONFIGURATIONS)));
            }
            points = combine(&points, &field, &values);
        }
        if count > MOST_CONFIGURATIONS {
            return Err(bad("each", &too_many("configurations", count, MOST_CONFIGURATIONS)));
        }
        let points: Vec<BTreeMap<String, toml::Value>> = points
            .iter()
            .flat_map(|point| changes.iter().map(move |change| united(point, change)))
            .flat_map(|point| draws.iter().map(move |draw| united(&point, draw)))
            .collect();
        // Thousands of them take seconds, so the base is written only once, and all threads help.
        let base = toml::Table::try_from(&base).map_err(|error| bad("set", &error))?;
        let configured = |varied: &BTreeMap<String, toml::Value>| {
            let config = self.configure(&base, varied)?;
            let text = toml::to_string(&config).map_err(|error| bad("set", &error))?;
            Ok((config, text))
        };
        let configured: Vec<Result<(RunConfig, String), PlanError>> =
            points.par_iter().map(configured).collect();
        let mut configurations: Vec<Configuration> = Vec::new();
        let mut seen = HashSet::new();
        for (varied, configured) in points.into_iter().zip(configured) {
            let (config, text) = configured?;
            // Draws from lists may well meet again.
            if seen.insert(text) {
                configurations.push(Configuration { varied, config });
            }
        }
        let folds = self.folds.map_or(0, |folds| usize::try_from(folds).unwrap_or(usize::MAX));
        let each = self.seeds.len().saturating_mul(folds.saturating_add(1));
        let trials = configurations.len().saturating_mul(each);
        if trials > MOST_TRIALS {
            return Err(PlanError::Malformed(too_many("trials", trials, MOST_TRIALS)));
        }
        Ok(configurations)
    }

    fn check(&self) -> Result<(), PlanError> {
        if self.seeds.is_empty() {
            return Err(bad("seeds", &"the list is empty; give at least one, such as [0]"));
        }
        let mut seeds = self.seeds.clone();
        seeds.sort_unstable();
        seeds.dedup();
        if seeds.len() < self.seeds.len() {
            return Err(bad("seeds", &"a seed is given twice"));
        }
        match self.folds {
            Some(folds @ (0 | 1)) => {
                return Err(bad(
                    "folds",
                    &format!("{folds} is too few for cross-validation; give at least 2, or leave it out"),
                ));
            }
            None if self.select == Select::Folds => {
                return Err(bad("select", &"\"folds\" needs `folds = N`"));
            }
            _ => {}
        }
        for (part, table) in
            [("set", Some(&self.set)), ("grid", self.grid.as_ref()), ("each", self.each.as_ref())]
        {
            if table.is_some_and(|table| table.contains_key("seed")) {
                return Err(bad(&format!("{part}.seed"), &"training seeds are given by `seeds = [0, 1]`"));
            }
        }
        if self.folds.is_some() {
            // Whether the settings know of folds is found out before hours of training.
            self.fold(&self.base()?, 1).map_err(|error| bad("folds", &error))?;
        }
        Ok(())
    }

    /// No change, and each change of a single setting.
    fn single_changes(&self) -> Result<Vec<BTreeMap<String, toml::Value>>, PlanError> {
        let mut changes = vec![BTreeMap::new()];
        for (field, values) in value_lists("each", self.each.as_ref())? {
            changes.extend(values.into_iter().map(|value| BTreeMap::from([(field.clone(), value)])));
        }
        Ok(changes)
    }

    /// A configuration that leaves out one part of the train tasks, counted from 1.
    pub(super) fn fold(&self, config: &RunConfig, fold: u64) -> Result<RunConfig, PlanError> {
        let mut settings = Settings::default();
        settings.set("fold", format!("{fold}/{}", self.folds.unwrap_or(1)).into());
        settings.over(config).map_err(|error| PlanError::Malformed(error.to_string()))
    }

    fn configure(
        &self,
        base: &toml::Table,
        varied: &BTreeMap<String, toml::Value>,
    ) -> Result<RunConfig, PlanError> {
        let mut settings = Settings::default();
        for (field, value) in varied {
            settings.set(field, value.clone());
        }
        let wrong = |error: &dyn std::fmt::Display| PlanError::Configuration {
            settings: label(varied),
            message: error.to_string(),
        };
        let config: RunConfig = settings.over_table(base.clone()).map_err(|error| wrong(&error))?;
        config.check().map_err(|error| wrong(&error))?;
        Ok(config.with_trainer(|trainer| trainer.seed = self.seeds[0]))
    }

    /// The drawn settings: one empty set of them if nothing is drawn.
    fn draws(&self, base: &RunConfig) -> Result<Vec<BTreeMap<String, toml::Value>>, PlanError> {
        let Some(random) = &self.random else { return Ok(vec![BTreeMap::new()]) };
        let number = |field: &str, usual: Option<u64>| {
            let name = format!("random.{field}");
            match (random.get(field), usual) {
                (None, Some(usual)) => Ok(usual),
                (None, None) => Err(bad(&name, &"say how many configurations to draw, such as trials = 20")),
                (Some(toml::Value::Integer(value)), _) => {
                    u64::try_from(*value).map_err(|_| bad(&name, &format!("{value} is below 0")))
                }
                (Some(value), _) => Err(bad(&name, &format!("{value} is not a whole number"))),
            }
        };
        let (trials, seed) = (number("trials", None)?, number("seed", Some(0))?);
        if trials == 0 {
            return Err(bad("random.trials", &"it must be at least 1"));
        }
        if trials > MOST_CONFIGURATIONS as u64 {
            let trials = usize::try_from(trials).unwrap_or(usize::MAX);
            return Err(bad("random.trials", &too_many("configurations", trials, MOST_CONFIGURATIONS)));
        }
        let mut drawn = random.clone();
        drawn.remove("trials");
        drawn.remove("seed");
        if drawn.is_empty() {
            return Err(bad(
                "random",
                &"nothing is drawn; give a range, such as eta = { linear = [0.1, 1.0] }",
            ));
        }
        let base = toml::Table::try_from(base).map_err(|error| bad("random", &error))?;
        let is_range =
            |value: &toml::Value| matches!(value, toml::Value::Table(table) if ValueRange::is_range(table));
        let mut choices = Vec::new();
        for (field, value) in leaves("random", &drawn, &is_range)? {
            let usual = look_up(Some(&base), &field);
            let choice = ValueRange::of(&value, usual)
                .map_err(|source| PlanError::Range { field: field.clone(), source })?;
            choices.push((field, choice));
        }
        Ok((0..trials)
            .map(|trial| {
                let draw = |(field, choice): &(String, ValueRange)| {
                    // Keyed by the field too: another field in the plan, or more trials, change no draw.
                    let mut rng = keyed_rng([seed, xxh3_64(field.as_bytes()), trial, PURPOSE]);
                    (field.clone(), choice.draw(&mut rng))
                };
                choices.iter().map(draw).collect()
            })
            .collect())
    }
}

/// Keeps the draws of a plan apart from all others with the same seed.
const PURPOSE: u64 = 0x0073_7765_6570;

/// The most configurations of a sweep.
const MOST_CONFIGURATIONS: usize = 10_000;
/// The most trials of a sweep, over configurations, seeds and folds.
const MOST_TRIALS: usize = 100_000;

fn too_many(what: &str, count: usize, most: usize) -> String {
    format!("{count} {what} are more than a sweep can have ({most})")
}

fn bad(field: &str, message: &dyn std::fmt::Display) -> PlanError {
    PlanError::Field { field: field.to_owned(), message: message.to_string() }
}

/// The settings of a part of the plan by their dotted names.
fn leaves(
    part: &str,
    table: &toml::Table,
    is_leaf: &dyn Fn(&toml::Value) -> bool,
) -> Result<Vec<(String, toml::Value)>, PlanError> {
    if table.is_empty() {
        return Err(bad(part, &"it is empty; give settings, or leave the section out"));
    }
    let mut found = Vec::new();
    for (field, value) in table {
        match value {
            toml::Value::Table(inner) if !is_leaf(value) => {
                let inner = leaves(&format!("{part}.{field}"), inner, is_leaf)?;
                found.extend(inner.into_iter().map(|(name, value)| (format!("{field}.{name}"), value)));
            }
            value => found.push((field.clone(), value.clone())),
        }
    }
    Ok(found)
}

/// The lists of values of a part of the plan, by field.
fn value_lists(
    part: &str,
    table: Option<&toml::Table>,
) -> Result<Vec<(String, Vec<toml::Value>)>, PlanError> {
    let Some(table) = table else { return Ok(Vec::new()) };
    let list = |(field, values): (String, toml::Value)| {
        let name = format!("{part}.{field}");
        match values {
            toml::Value::Array(values) if values.is_empty() => {
                Err(bad(&name, &"the list is empty; give at least one value, or leave it out"))
            }
            toml::Value::Array(values) => Ok((field, values)),
            value => Err(bad(&name, &format!("{value} is not a list; say [{value}], or put it under [set]"))),
        }
    };
    leaves(part, table, &|_| false)?.into_iter().map(list).collect()
}

/// The settings of both; the second have precedence.
fn united(
    first: &BTreeMap<String, toml::Value>,
    second: &BTreeMap<String, toml::Value>,
) -> BTreeMap<String, toml::Value> {
    let mut all = first.clone();
    all.extend(second.clone());
    all
}

fn combine(
    points: &[BTreeMap<String, toml::Value>],
    field: &str,
    values: &[toml::Value],
) -> Vec<BTreeMap<String, toml::Value>> {
    let with = |point: &BTreeMap<String, toml::Value>, value: &toml::Value| {
        united(point, &BTreeMap::from([(field.to_owned(), value.clone())]))
    };
    points.iter().flat_map(|point| values.iter().map(move |value| with(point, value))).collect()
}

/// A setting of a table, by its dotted name.
pub(super) fn look_up<'t>(table: Option<&'t toml::Table>, field: &str) -> Option<&'t toml::Value> {
    let table = table?;
    let (first, rest) = field.split_once('.').map_or((field, None), |(first, rest)| (first, Some(rest)));
    match (table.get(first)?, rest) {
        (value, None) => Some(value),
        (toml::Value::Table(inner), Some(rest)) => look_up(Some(inner), rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rana_models::rana::RanaConfig;

    use super::*;

    fn plan(text: &str) -> SweepPlan {
        SweepPlan::of_text(text).unwrap()
    }

    fn labels(text: &str) -> Vec<String> {
        plan(text).configurations().unwrap().iter().map(Configuration::label).collect()
    }

    fn rana(of: &Configuration) -> &RanaConfig {
        of.config.model_as().unwrap()
    }

    #[test]
    fn every_point_of_the_grid_meets_every_draw() {
        let grid = "preset = 'umls'\n[grid]\ngamma = [1.0, 2.0]\nprune = ['off', 'quantile(0.5)']\n";
        assert_eq!(
            labels(grid),
            [
                "gamma=1.0, prune=off",
                "gamma=1.0, prune=quantile(0.5)",
                "gamma=2.0, prune=off",
                "gamma=2.0, prune=quantile(0.5)"
            ]
        );
        let random = "[random]\ntrials = 3\nseed = 7\nlearning_rate = { log = [0.0001, 0.01] }\n\
                      J = { linear = [1, 9] }\n";
        let drawn = plan(&format!("{grid}{random}")).configurations().unwrap();
        assert_eq!(drawn.len(), 12);
        // The same draws at every point.
        assert_eq!(drawn[0].varied["learning_rate"], drawn[3].varied["learning_rate"]);
        for configuration in &drawn {
            assert!((1e-4..=1e-2).contains(&configuration.config.trainer.learning_rate));
            assert!((1..=9).contains(&rana(configuration).negatives));
        }
        // More trials and other fields leave the draws as they were; another seed does not.
        let more = random.replace("trials = 3", "trials = 5") + "eta = { linear = [0.1, 1] }\n";
        let more = plan(&format!("preset = 'umls'\n{more}")).configurations().unwrap();
        assert_eq!(more.len(), 5);
        for (few, many) in drawn.iter().zip(&more).take(3) {
            assert_eq!(few.varied["learning_rate"], many.varied["learning_rate"]);
        }
        let other = plan(&format!("preset = 'umls'\n{}", random.replace("seed = 7", "seed = 8")));
        assert_ne!(
            other.configurations().unwrap()[0].varied["learning_rate"],
            more[0].varied["learning_rate"]
        );
    }

    #[test]
    fn single_changes_are_tried_one_at_a_time() {
        let each = "preset = 'umls'\n[each]\ngamma = [1.5, 2.0]\nprune = ['off']\n";
        assert_eq!(labels(each), ["as set", "gamma=1.5", "gamma=2.0", "prune=off"]);
        let grid = format!("{each}[grid]\nJ = [2, 3]\n");
        assert_eq!(labels(&grid)[..3], ["J=2", "J=2, gamma=1.5", "J=2, gamma=2.0"]);
        assert_eq!(labels(&grid).len(), 8);
        // A change to the value that is there already is none.
        assert_eq!(labels("preset = 'umls'\n[set]\ngamma = 2.0\n[each]\ngamma = [2.0, 3.0]\n").len(), 2);
    }

    #[test]
    fn a_plan_lies_over_its_preset_and_has_each_configuration_once() {
        let text = "preset = 'umls'\nseeds = [4, 5]\n[set]\nsteps = 77\ncandidates.cap = 9\n\
                    [random]\ntrials = 30\nJ = [1, 2]\n";
        let configurations = plan(text).configurations().unwrap();
        assert_eq!(configurations.len(), 2);
        let umls = RunConfig::preset("rana", "umls").unwrap();
        let umls = umls.model_as::<RanaConfig>().unwrap();
        for of in &configurations {
            let trainer = &of.config.trainer;
            assert_eq!((trainer.steps, trainer.candidates.cap, trainer.seed), (77, Some(9), 4));
            assert_eq!(rana(of).gamma, umls.gamma);
        }
        assert_eq!(labels("preset = 'umls'"), ["as set"]);
        assert_eq!(labels("[grid]\ncandidates.cap = [3, 4]"), ["candidates.cap=3", "candidates.cap=4"]);
    }

    #[test]
    fn what_cannot_be_used_is_named_before_anything_starts() {
        for (text, expected) in [
            ("present = 'umls'", "unknown field `present`"),
            ("preset = 'best'", "preset: there is no preset `best`"),
            ("[set]\nshotz = 3", "set: unknown field `shotz`"),
            ("[set]\neta = -1.0", "set: eta is -1"),
            ("[set]\nseed = 3", "set.seed: training seeds"),
            ("[grid]", "grid: it is empty"),
            ("[grid]\ngamma = []", "grid.gamma: the list is empty"),
            ("[grid]\ngamma = 3.0", "grid.gamma: 3.0 is not a list"),
            ("[each]", "each: it is empty"),
            ("[each]\ngamma = 3.0", "each.gamma: 3.0 is not a list"),
            ("[each]\nseed = [3]", "each.seed: training seeds"),
            ("[each]\nattn = ['none']", "attn=none: "),
            ("[grid]\ngammma = [3.0]", "gammma=3.0: unknown field `gammma`"),
            ("[grid]\nJ = [1, 0]", "J=0: J is 0"),
            ("[grid]\nattn = ['none']", "attn=none: "),
            ("seeds = []", "seeds: the list is empty"),
            ("seeds = [1, 1]", "seeds: a seed is given twice"),
            ("folds = 1", "folds: 1 is too few for cross-validation"),
            ("select = 'folds'", "select: \"folds\" needs"),
            ("select = 'test'", "unknown variant `test`"),
            ("[random]\neta = [1.0]", "random.trials: say how many"),
            ("[random]\ntrials = 0\neta = [1.0]", "random.trials: it must be at least 1"),
            ("[random]\ntrials = 3", "random: nothing is drawn"),
            ("[random]\ntrials = 3\neta = { log = [0.0, 1.0] }", "random.eta: a log range"),
            ("[random]\ntrials = 3\neta = { linear = [2, 1] }", "random.eta: the range from 2 to 1"),
            ("[random]\ntrials = 3\neta = { linear = [2] }", "random.eta: say"),
            ("[random]\ntrials = 3\neta = []", "random.eta: the list is empty"),
            ("[random]\ntrials = 3\neta = 5", "random.eta: say"),
        ] {
            let error =
                SweepPlan::of_text(text).and_then(|plan| plan.configurations()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
