//! The settings of an embedding training: recommended settings, then preset, file and options, which override each
//! other in this order.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use rana::embed::{EmbedConfig, Loss, ModelKind, Norm, PRESETS, Updates};

use crate::error::CliError;
use crate::settings::SettingsFile;

/// Options for the settings of a training.
#[derive(Debug, Args)]
#[command(next_help_heading = "Training")]
#[group(id = "settings", multiple = true)]
pub(super) struct SettingsArgs {
    /// The score function: transe (the default), distmult, complex, simple or rotate.
    #[arg(long)]
    pub(super) model: Option<ModelKind>,
    /// A preset: settings that suit a benchmark.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A TOML file of settings; fields that it leaves out keep the recommended value. See --print-config.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
    /// The dimension: numbers per entity vector.
    #[arg(long, value_name = "N")]
    dim: Option<usize>,
    /// The distance of transe: l1 or l2.
    #[arg(long)]
    pub(super) norm: Option<Norm>,
    /// The loss function.
    #[arg(long)]
    loss: Option<LossKind>,
    /// The γ of the loss, or the margin of a margin loss.
    #[arg(long, value_name = "X")]
    gamma: Option<f32>,
    /// Negatives per fact and side; groups of N facts share the same N negatives.
    #[arg(long, value_name = "N")]
    negatives: Option<usize>,
    /// Passes over the facts.
    #[arg(long, value_name = "N")]
    epochs: Option<u32>,
    /// Facts per update.
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// The learning rate.
    #[arg(long, value_name = "X")]
    learning_rate: Option<f32>,
    /// Train a second row for every relation, which stands for its inverse.
    #[arg(long)]
    inverses: bool,
    /// How threads update the rows: deterministic (batch by batch) or lock-free (in place, faster with few negatives
    /// per fact). With both, the same seed gives the same bits.
    #[arg(long, value_name = "MODE")]
    updates: Option<Updates>,
    /// The same seed gives the same vectors.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LossKind {
    Margin,
    Logistic,
    SelfAdversarial,
    Softmax,
}

impl LossKind {
    /// The loss with its default constants.
    fn usual(self) -> Loss {
        match self {
            Self::Margin => Loss::Margin { margin: 1.0 },
            Self::Logistic => Loss::Logistic { gamma: 6.0 },
            Self::SelfAdversarial => Loss::SelfAdversarial { gamma: 6.0, temperature: 1.0 },
            Self::Softmax => Loss::Softmax,
        }
    }
}

impl SettingsArgs {
    pub(super) fn model(&self) -> ModelKind {
        self.model.unwrap_or_default()
    }

    /// The facts that the chosen preset was made for.
    pub(super) fn preset_facts(&self) -> Option<&'static str> {
        let name = self.preset.as_ref()?;
        PRESETS.iter().find(|preset| preset.name == name).map(|preset| preset.facts)
    }

    /// The settings for a graph with this many facts.
    pub(super) fn resolve(&self, facts: usize) -> Result<EmbedConfig, CliError> {
        let file = self.config.as_deref().map(SettingsFile::read).transpose()?;
        let model = match (self.model, &file) {
            (Some(model), _) => model,
            (None, Some(file)) => model_of(file)?.unwrap_or_default(),
            (None, None) => ModelKind::default(),
        };
        let mut config = match &self.preset {
            Some(name) => {
                EmbedConfig::preset(name, model).map_err(|error| CliError::Usage(error.to_string()))?
            }
            None => EmbedConfig::recommended(model, facts),
        };
        if let Some(file) = &file {
            config = file.over(&config)?;
        }
        self.apply(&mut config)?;
        config.check().map_err(|error| CliError::Usage(error.to_string()))?;
        Ok(config)
    }

    fn apply(&self, config: &mut EmbedConfig) -> Result<(), CliError> {
        set(&mut config.model, self.model);
        set(&mut config.dim, self.dim);
        set(&mut config.norm, self.norm);
        set(&mut config.epochs, self.epochs);
        set(&mut config.batch, self.batch);
        set(&mut config.learning_rate, self.learning_rate);
        set(&mut config.updates, self.updates);
        set(&mut config.seed, self.seed);
        set(&mut config.negatives.count, self.negatives);
        set(&mut config.negatives.shared_by, self.negatives);
        config.inverses |= self.inverses;
        set(&mut config.loss, self.loss.map(LossKind::usual));
        if let Some(value) = self.gamma {
            match &mut config.loss {
                Loss::Margin { margin } => *margin = value,
                Loss::Logistic { gamma } | Loss::SelfAdversarial { gamma, .. } => *gamma = value,
                Loss::Softmax => {
                    return Err(CliError::Usage("the softmax loss has no --gamma".to_owned()));
                }
            }
        }
        Ok(())
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// The model that a file of settings names, if it names one.
fn model_of(file: &SettingsFile) -> Result<Option<ModelKind>, CliError> {
    match file.settings.table.get("model") {
        None => Ok(None),
        Some(toml::Value::String(name)) => name.parse().map(Some).map_err(|error: String| file.bad(&error)),
        Some(_) => Err(file.bad(&"model must be a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_over_recommendations_field_by_field() {
        let file = |text: &str| SettingsFile::of_text("x.toml", text).unwrap();
        let base = EmbedConfig::recommended(ModelKind::TransE, 200_000);
        let over = file("dim = 7\nloss = { kind = \"self-adversarial\", gamma = 2.5 }").over(&base).unwrap();
        let loss = Loss::SelfAdversarial { gamma: 2.5, temperature: 1.0 };
        assert_eq!(over, EmbedConfig { dim: 7, loss, ..base.clone() });
        let over = file("loss = { kind = \"margin\", margin = 2.0 }").over(&base).unwrap();
        assert_eq!(over.loss, Loss::Margin { margin: 2.0 });
        let error = file("dimension = 7").over(&base).unwrap_err().to_string();
        assert!(error.starts_with("x.toml: unknown field `dimension`"), "{error}");
    }
}
