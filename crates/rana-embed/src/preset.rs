//! Presets: settings that reach published quality on a benchmark.
//!
//! There is one TOML file per benchmark and model. A comment at its top states what it reaches.

use crate::embed_config::EmbedConfig;
use crate::model::ModelKind;

/// The settings for a benchmark and a model.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name of the preset, after its benchmark.
    pub name: &'static str,
    /// The model.
    pub model: ModelKind,
    /// The facts it is made for, named as in [`origin`](crate::EmbeddingMetadata::origin).
    pub facts: &'static str,
    /// The settings as TOML, with comments.
    pub toml: &'static str,
}

/// Lists presets by their files.
macro_rules! presets {
    ($($name:literal on $facts:literal: $($model:ident = $file:literal),+;)+) => {
        &[$($(Preset {
            name: $name,
            model: ModelKind::$model,
            facts: $facts,
            toml: include_str!(concat!("../presets/", $name, "/", $file, ".toml")),
        }),+),+]
    };
}

/// All presets.
pub const PRESETS: &[Preset] = presets! {
    "fb15k-237" on "background":
        TransE = "transe", DistMult = "distmult", Complex = "complex", Simple = "simple", RotatE = "rotate";
    "nell-one" on "background":
        TransE = "transe", DistMult = "distmult", Complex = "complex", Simple = "simple", RotatE = "rotate";
    "nell-one-few-shot" on "supports":
        TransE = "transe", DistMult = "distmult", Complex = "complex", Simple = "simple", RotatE = "rotate";
    "nell-one-released" on "background": TransE = "transe";
    "nell-one-tuned" on "train-tasks": TransE = "transe", DistMult = "distmult";
};

/// Why a preset was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    /// No preset has this name.
    #[error("there is no preset `{name}`; there are: {}", preset_names().join(", "))]
    Name {
        /// The name asked for.
        name: String,
    },
    /// The preset has no settings for this model.
    #[error("the preset `{name}` has no settings for {model}")]
    Model {
        /// The name asked for.
        name: String,
        /// The model asked for.
        model: ModelKind,
    },
}

impl Preset {
    /// The preset of a benchmark for a model.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(name: &str, model: ModelKind) -> Result<&'static Self, PresetError> {
        let mut of_name = PRESETS.iter().filter(|preset| preset.name == name).peekable();
        if of_name.peek().is_none() {
            return Err(PresetError::Name { name: name.to_owned() });
        }
        of_name
            .find(|preset| preset.model == model)
            .ok_or_else(|| PresetError::Model { name: name.to_owned(), model })
    }
}

/// The names of all presets, each once.
#[must_use]
pub fn preset_names() -> Vec<&'static str> {
    let mut names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    names.dedup();
    names
}

impl EmbedConfig {
    /// The configuration of a preset.
    ///
    /// # Errors
    /// If there is no such preset.
    pub fn preset(name: &str, model: ModelKind) -> Result<Self, PresetError> {
        let preset = Preset::find(name, model)?;
        Ok(toml::from_str(preset.toml).expect("a test reads every preset"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_usable_configuration_of_its_model() {
        for preset in PRESETS {
            let config: EmbedConfig = toml::from_str(preset.toml).unwrap();
            config.check().unwrap();
            assert_eq!(config.model, preset.model);
            assert_eq!(EmbedConfig::preset(preset.name, preset.model).unwrap(), config);
        }
    }

    #[test]
    fn an_unknown_preset_names_the_known_ones() {
        let error = EmbedConfig::preset("fb15k", ModelKind::TransE).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no preset `fb15k`; there are: fb15k-237, nell-one, nell-one-few-shot, \
             nell-one-released, nell-one-tuned"
        );
    }
}
