//! Presets of RANA: one TOML file each, with what it is for in a comment on top.

use super::config::RanaConfig;

/// Settings that are known to serve a benchmark.
#[derive(Clone, Copy, Debug)]
pub struct RanaPreset {
    /// The name.
    pub name: &'static str,
    /// The settings as TOML, comments included; what they leave out is the paper's.
    pub toml: &'static str,
}

/// All presets.
pub const RANA_PRESETS: &[RanaPreset] = &[
    RanaPreset { name: "paper", toml: include_str!("../../presets/rana/paper.toml") },
    RanaPreset { name: "nell-one", toml: include_str!("../../presets/rana/nell-one.toml") },
    RanaPreset { name: "nell-one-tuned", toml: include_str!("../../presets/rana/nell-one-tuned.toml") },
    RanaPreset { name: "umls", toml: include_str!("../../presets/rana/umls.toml") },
];

/// No preset has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no preset `{name}`; there are: {}",
    RANA_PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
)]
pub struct NoRanaPreset {
    /// The name asked for.
    pub name: String,
}

impl RanaConfig {
    /// The configuration of a preset.
    ///
    /// # Errors
    /// If there is no such preset.
    pub fn preset(name: &str) -> Result<Self, NoRanaPreset> {
        let preset = RANA_PRESETS
            .iter()
            .find(|preset| preset.name == name)
            .ok_or_else(|| NoRanaPreset { name: name.to_owned() })?;
        Ok(toml::from_str(preset.toml).expect("a test reads every preset"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_can_be_used() {
        for preset in RANA_PRESETS {
            RanaConfig::preset(preset.name).unwrap().check().unwrap();
        }
        assert_eq!(RanaConfig::preset("paper").unwrap(), RanaConfig::default());
        let error = RanaConfig::preset("best").unwrap_err().to_string();
        assert_eq!(error, "there is no preset `best`; there are: paper, nell-one, nell-one-tuned, umls");
    }
}
