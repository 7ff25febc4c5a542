//! [`RunConfig`]: everything that a training depends on, the trainer's part and the model's, flat in TOML.

use std::any::Any;
use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::field_checks::ConfigError;
use super::model_config::ModelConfig;
use super::start_vectors::StartVectors;
use super::stepped_model::SteppedConfig;
use super::trainer_config::{Lengths, TrainerConfig};
use crate::registry::{self, RegistryError};

/// The key that names the model in a file.
const MODEL: &str = "model";

/// Everything that a training depends on.
///
/// In a file both parts stand side by side, and `model` names the model (`rana` if it is left out):
///
/// ```
/// use rana_models::training::RunConfig;
/// let config: RunConfig = toml::from_str("steps = 500\ngamma = 9.0")?;
/// assert_eq!((config.model.model_name(), config.trainer.steps), ("rana", 500));
/// let error = toml::from_str::<RunConfig>("shotz = 5").unwrap_err().to_string();
/// assert!(error.contains("unknown field `shotz`"), "{error}");
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug)]
pub struct RunConfig {
    /// The trainer's part.
    pub trainer: TrainerConfig,
    /// The model's part.
    pub model: Box<dyn ModelConfig>,
}

/// A setting that was made for other vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misfit {
    /// The setting.
    pub setting: &'static str,
    /// Its value.
    pub value: f32,
    /// The mean distance between two vectors.
    pub distance: f32,
}

impl RunConfig {
    /// A configuration of both parts.
    #[must_use]
    pub fn new(trainer: TrainerConfig, model: impl SteppedConfig) -> Self {
        Self { trainer, model: Box::new(model) }
    }

    /// The configuration of a preset of a model.
    ///
    /// # Errors
    /// If there is no such model or preset.
    pub fn preset(model: &str, preset: &str) -> Result<Self, RegistryError> {
        let text = registry::find(model)?.preset(preset)?.toml;
        let mut table: toml::Table = text.parse().expect("a test reads every preset");
        table.insert(MODEL.to_owned(), model.into());
        Ok(table.try_into().expect("a test reads every preset"))
    }

    /// The configuration of a model with every field at its default.
    ///
    /// # Errors
    /// If there is no such model, or it is not trained by steps.
    pub fn defaults(model: &str) -> Result<Self, RegistryError> {
        let read = registry::find(model)?.settings()?;
        let model = read(toml::Table::new()).expect("every field has a default");
        Ok(Self { trainer: TrainerConfig::default(), model })
    }

    /// Checks every field.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.trainer.check()?;
        self.model.check(&self.trainer)
    }

    /// The same in the unit of the vectors that training starts from.
    #[must_use]
    pub fn in_unit_of(&self, start: &StartVectors) -> Self {
        if self.trainer.lengths == Lengths::Absolute {
            return self.clone();
        }
        let distance = start.mean_distance();
        let trainer = TrainerConfig { lengths: Lengths::Absolute, ..self.trainer.scaled(distance) };
        Self { trainer, model: self.model.scaled(distance) }
    }

    /// The margin, if it is far from the distances between these vectors. It was most likely made for other vectors.
    #[must_use]
    pub fn misfit(&self, start: &StartVectors) -> Option<Misfit> {
        let (setting, value) = self.model.margin()?;
        let distance = start.mean_distance();
        let fits = value <= 4.0 * distance && distance <= 40.0 * value;
        (!fits).then_some(Misfit { setting, value, distance })
    }

    /// The same with another trainer's part.
    #[must_use]
    pub fn with_trainer(&self, change: impl FnOnce(&mut TrainerConfig)) -> Self {
        let mut changed = self.clone();
        change(&mut changed.trainer);
        changed
    }

    /// The model's part, if it is of this type.
    #[must_use]
    pub fn model_as<C: SteppedConfig>(&self) -> Option<&C> {
        (&*self.model as &dyn Any).downcast_ref()
    }

    /// Optional fields that are not set, each as a line of TOML that would set it.
    #[must_use]
    pub fn unset(&self) -> Vec<String> {
        let table = toml::Table::try_from(self).unwrap_or_default();
        let all = TrainerConfig::OPTIONAL.iter().chain(self.model.optional());
        all.filter(|(field, _)| !table.contains_key(*field))
            .map(|(field, value)| format!("{field} = {value}"))
            .collect()
    }

    /// How much work a training is; only ratios count.
    #[must_use]
    pub fn work(&self) -> f64 {
        let TrainerConfig { steps, batch, shots, queries, .. } = self.trainer;
        steps as f64 * batch as f64 * (shots + queries) as f64 * self.model.work_per_pair()
    }
}

impl Clone for RunConfig {
    fn clone(&self) -> Self {
        Self { trainer: self.trainer.clone(), model: self.model.boxed() }
    }
}

impl PartialEq for RunConfig {
    fn eq(&self, other: &Self) -> bool {
        self.trainer == other.trainer && self.model.equals(&*other.model)
    }
}

impl Serialize for RunConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flat<'a> {
            model: &'a str,
            #[serde(flatten)]
            settings: &'a dyn ModelConfig,
            #[serde(flatten)]
            trainer: &'a TrainerConfig,
        }
        let flat = Flat { model: self.model.model_name(), settings: &*self.model, trainer: &self.trainer };
        flat.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RunConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Setting::table(BTreeMap::deserialize(deserializer)?);
        let name = match all.remove(MODEL) {
            None => registry::DEFAULT.to_owned(),
            Some(toml::Value::String(name)) => name,
            Some(other) => return Err(D::Error::custom(format!("model is {other}; it must be a name"))),
        };
        let read = registry::find(&name)
            .and_then(|entry| entry.settings())
            .map_err(|error| D::Error::custom(error.to_string()))?;
        let (trainer, model): (Vec<_>, Vec<_>) = all.into_iter().partition(|(field, _)| is_trainers(field));
        Ok(Self {
            trainer: toml::Table::from_iter(trainer).try_into().map_err(D::Error::custom)?,
            model: read(toml::Table::from_iter(model)).map_err(D::Error::custom)?,
        })
    }
}

/// A value of a setting in any format. Unlike JSON, TOML knows numbers that are not finite and names the field in an
/// error, so settings are read as TOML.
#[derive(Deserialize)]
#[serde(untagged)]
enum Setting {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Setting>),
    Table(BTreeMap<String, Setting>),
    /// `null` in JSON, which TOML leaves out.
    Unset,
}

impl Setting {
    fn table(settings: BTreeMap<String, Self>) -> toml::Table {
        settings.into_iter().filter_map(|(field, value)| Some((field, value.toml()?))).collect()
    }

    fn toml(self) -> Option<toml::Value> {
        Some(match self {
            Self::Bool(value) => value.into(),
            Self::Integer(value) => value.into(),
            Self::Float(value) => value.into(),
            Self::Text(value) => value.into(),
            Self::List(values) => toml::Value::Array(values.into_iter().filter_map(Self::toml).collect()),
            Self::Table(settings) => Self::table(settings).into(),
            Self::Unset => return None,
        })
    }
}

/// Whether a field belongs to the trainer.
fn is_trainers(field: &str) -> bool {
    let usual = serde_json::to_value(TrainerConfig::default()).unwrap_or_default();
    usual.get(field).is_some() || TrainerConfig::OPTIONAL.iter().any(|(optional, _)| *optional == field)
}
