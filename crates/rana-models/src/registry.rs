//! The registry: one line per model.
//!
//! The trainer, runs, sweeps, trials, reproductions, the predictor and the front ends ask the registry and know no
//! model by name.

use crate::faan::{self, FaanConfig};
use crate::fsrl::{self, FsrlConfig};
use crate::fused;
use crate::gana::{self, GanaConfig};
use crate::gmatching::{self, GmatchingConfig};
use crate::hire::{self, HireConfig};
use crate::metar::{self, MetarConfig};
use crate::opened_run::{OpenError, OpenedModel, RunToOpen, open_stepped};
use crate::rana::{self, RanaConfig};
use crate::training::{ModelConfig, SteppedConfig};

/// The model that is meant where none is named.
pub const DEFAULT: &str = RanaConfig::NAME;

/// The model that weighs a trained model with the evidence in the graph.
pub const FUSED: &str = "rana-fused";

/// The preset of a model that suits any graph.
pub const RECOMMENDED: &str = "recommended";

/// Every model that can be trained into a run.
pub static MODELS: &[ModelEntry] = &[
    ModelEntry::steps::<RanaConfig>("RANA", rana::ABOUT, rana::PRESETS),
    ModelEntry::steps::<MetarConfig>("MetaR", metar::ABOUT, metar::PRESETS),
    ModelEntry::steps::<GmatchingConfig>("GMatching", gmatching::ABOUT, gmatching::PRESETS),
    ModelEntry::steps::<FsrlConfig>("FSRL", fsrl::ABOUT, fsrl::PRESETS),
    ModelEntry::steps::<FaanConfig>("FAAN", faan::ABOUT, faan::PRESETS),
    ModelEntry::steps::<GanaConfig>("GANA", gana::ABOUT, gana::PRESETS),
    ModelEntry::steps::<HireConfig>("HiRe", hire::ABOUT, hire::PRESETS),
    ModelEntry::evidence(FUSED, "rana-fused", fused::ABOUT, fused::open),
];

/// Settings that suit a benchmark.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// The settings as TOML, with a comment at the top; fields that are left out have the default.
    pub toml: &'static str,
}

/// Reads the settings of a model.
pub type ReadSettings = fn(toml::Table) -> Result<Box<dyn ModelConfig>, toml::de::Error>;
/// Opens the model of a run.
pub type OpenModel = fn(&RunToOpen<'_>) -> Result<OpenedModel, OpenError>;

/// A model that can be trained into a run.
#[derive(Clone, Copy)]
pub struct ModelEntry {
    /// Its name in files and on the command line.
    pub name: &'static str,
    /// Its name in tables and sentences.
    pub title: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Its presets; the first has the settings of its paper, `recommended` those for any graph.
    pub presets: &'static [Preset],
    training: Training,
    open: OpenModel,
}

/// How a model is trained.
#[derive(Clone, Copy)]
enum Training {
    /// By steps, with these settings.
    Steps(ReadSettings),
    /// From the evidence of other trainings.
    Evidence,
}

/// A model or preset that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// No model has this name.
    #[error("there is no model `{name}`; there are: {}", names().join(", "))]
    NoModel {
        /// The name asked for.
        name: String,
    },
    /// The model is not trained by steps, so it has no settings of a training.
    #[error("`{name}` is not trained by steps; models that are: {}", stepped_names().join(", "))]
    NotStepped {
        /// The name asked for.
        name: String,
    },
    /// The model has no such preset.
    #[error("there is no preset `{preset}` of `{model}`; there are: {}", presets.join(", "))]
    NoPreset {
        /// The model.
        model: &'static str,
        /// The preset asked for.
        preset: String,
        /// Those there are.
        presets: Vec<&'static str>,
    },
}

impl ModelEntry {
    const fn steps<C: SteppedConfig>(
        title: &'static str,
        about: &'static str,
        presets: &'static [Preset],
    ) -> Self {
        let training = Training::Steps(|settings| Ok(Box::new(settings.try_into::<C>()?)));
        Self { name: C::NAME, title, about, presets, training, open: open_stepped }
    }

    const fn evidence(name: &'static str, title: &'static str, about: &'static str, open: OpenModel) -> Self {
        Self { name, title, about, presets: &[], training: Training::Evidence, open }
    }

    /// Whether it is trained by steps.
    #[must_use]
    pub fn is_stepped(&self) -> bool {
        matches!(self.training, Training::Steps(_))
    }

    /// How its settings are read.
    pub(crate) fn settings(&self) -> Result<ReadSettings, RegistryError> {
        match self.training {
            Training::Steps(read) => Ok(read),
            Training::Evidence => Err(RegistryError::NotStepped { name: self.name.to_owned() }),
        }
    }

    /// One of its presets.
    ///
    /// # Errors
    /// If there is no model of this name.
    pub fn preset(&self, name: &str) -> Result<&'static Preset, RegistryError> {
        self.presets.iter().find(|preset| preset.name == name).ok_or_else(|| RegistryError::NoPreset {
            model: self.name,
            preset: name.to_owned(),
            presets: self.presets.iter().map(|preset| preset.name).collect(),
        })
    }

    /// The name of the preset for any graph, or of the first one if there is none.
    #[must_use]
    pub fn default_preset(&self) -> &'static str {
        let any = self.presets.iter().find(|preset| preset.name == RECOMMENDED);
        any.or(self.presets.first()).map_or(RECOMMENDED, |preset| preset.name)
    }

    /// Opens its model in a run.
    ///
    /// # Errors
    /// If the parts of the run do not go together, or cannot be read.
    pub fn open(&self, run: &RunToOpen<'_>) -> Result<OpenedModel, OpenError> {
        (self.open)(run)
    }
}

/// The model of a name.
///
/// # Errors
/// If there is no such preset.
pub fn find(name: &str) -> Result<&'static ModelEntry, RegistryError> {
    MODELS
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| RegistryError::NoModel { name: name.to_owned() })
}

/// The names of all models.
#[must_use]
pub fn names() -> Vec<&'static str> {
    MODELS.iter().map(|entry| entry.name).collect()
}

/// The names of the models that are trained by steps.
#[must_use]
pub fn stepped_names() -> Vec<&'static str> {
    MODELS.iter().filter(|entry| entry.is_stepped()).map(|entry| entry.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::{RunConfig, StartVectors};

    #[test]
    fn every_preset_can_be_used_and_the_first_is_the_default() {
        for entry in MODELS.iter().filter(|entry| entry.is_stepped()) {
            for preset in entry.presets {
                RunConfig::preset(entry.name, preset.name).unwrap().check().unwrap();
            }
            assert_eq!(entry.presets[0].name, "paper", "{}", entry.name);
        }
        let error = RunConfig::preset(DEFAULT, "best").unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no preset `best` of `rana`; there are: paper, recommended, nell-one, nell-one-tuned, umls"
        );
        let error = RunConfig::preset("rama", "paper").unwrap_err().to_string();
        assert!(error.starts_with("there is no model `rama`; there are: rana"), "{error}");
        assert!(matches!(RunConfig::preset(FUSED, "paper"), Err(RegistryError::NoPreset { .. })));
    }

    #[test]
    fn every_configuration_is_flat_and_reads_back() {
        for entry in MODELS.iter().filter(|entry| entry.is_stepped()) {
            let config = RunConfig::preset(entry.name, "paper").unwrap();
            let text = toml::to_string(&config).unwrap();
            assert_eq!(toml::from_str::<RunConfig>(&text).unwrap(), config, "{text}");
            let json = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<RunConfig>(&json).unwrap(), config, "{json}");
            let error = toml::from_str::<RunConfig>(&format!("{text}\nnonsense = 1")).unwrap_err();
            assert!(error.to_string().contains("nonsense"), "{error}");
            // A wrong value is named by its field, and a number that is not finite is kept for the check.
            let error = toml::from_str::<RunConfig>("candidates = { cap = -1 }").unwrap_err().to_string();
            assert!(error.contains("in `candidates.cap`"), "{error}");
            let text = format!("model = '{}'\nlearning_rate = nan", entry.name);
            let error = toml::from_str::<RunConfig>(&text).unwrap().check().unwrap_err();
            assert_eq!((error.field, error.value.as_str()), ("learning_rate", "NaN"));
        }
    }

    #[test]
    fn relative_lengths_follow_the_vectors() {
        let table = |scale: f32| {
            let values: Vec<f32> = (0..40).map(|at| scale * (at % 7) as f32).collect();
            let entities = std::sync::Arc::new(rana_embed::Table::new(10, 4, values).unwrap());
            StartVectors { entities, relations: Vec::new() }
        };
        for entry in MODELS.iter().filter(|entry| entry.is_stepped()) {
            let config = RunConfig::preset(entry.name, entry.default_preset()).unwrap();
            let (small, large) = (config.in_unit_of(&table(1.0)), config.in_unit_of(&table(10.0)));
            assert_eq!(small.in_unit_of(&table(10.0)), small, "lengths of a run are absolute");
            let margin = |config: &RunConfig| config.model.margin();
            if let (Some((_, small)), Some((_, large))) = (margin(&small), margin(&large)) {
                assert!((large / small - 10.0).abs() < 1e-3, "{}: {small} and {large}", entry.name);
            }
            assert_eq!(large.misfit(&table(10.0)), None, "{}", entry.name);
        }
        let paper = RunConfig::preset(DEFAULT, "paper").unwrap();
        let misfit = paper.misfit(&table(0.1)).unwrap();
        assert_eq!((misfit.setting, misfit.value), ("gamma", 12.0));
    }
}
