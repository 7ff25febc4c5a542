//! [`TrialIdentity`]: what a trial depends on, by which it is found again.

use rana_models::registry;
use rana_models::training::RunConfig;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::vector_plan::VectorIdentity;

/// What a trial depends on: data, vectors and settings, seed included. Its name and its number in a list are no part
/// of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialIdentity {
    /// What holds the graph's arrays and tasks: it is named after their content.
    pub dataset: String,
    /// The vectors.
    pub vectors: VectorIdentity,
    /// The settings.
    pub config: RunConfig,
}

impl TrialIdentity {
    /// What the directory of the trial is called.
    pub(crate) fn directory(&self, name: &str) -> String {
        let hash = hash(&(&self.dataset, &self.vectors, changes(&self.config)));
        format!("{name}-{hash:08x}-{}", self.config.trainer.seed)
    }
}

/// The settings that differ from the model's defaults, seed left out: settings that a later version adds change no
/// hash.
fn changes(config: &RunConfig) -> Vec<(String, String)> {
    let name = config.model.model_name();
    let usual = RunConfig::defaults(name).map_or_else(|_| toml::Table::new(), |usual| table(&usual));
    let mut changes: Vec<(String, String)> = table(config)
        .into_iter()
        .filter(|(field, value)| !["seed", "model"].contains(&&**field) && usual.get(field) != Some(value))
        .map(|(field, value)| (field, value.to_string()))
        .collect();
    // The first model was there before models had names.
    if name != registry::DEFAULT {
        changes.push(("model".to_owned(), name.to_owned()));
    }
    changes
}

fn table(config: &RunConfig) -> toml::Table {
    toml::Table::try_from(config).unwrap_or_default()
}

/// A short hash of what something is, as written out.
pub(crate) fn hash(of: &impl Serialize) -> u32 {
    // What is hashed here has only texts for keys, and writing to memory cannot fail.
    xxh3_64(&serde_json::to_vec(of).unwrap_or_default()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_trial_follows_its_settings() {
        let identity = |config: RunConfig| TrialIdentity {
            dataset: "data".to_owned(),
            vectors: VectorIdentity::Given { checksum: 7 },
            config,
        };
        let base = RunConfig::preset("rana", "paper").unwrap();
        let directory = |config: RunConfig| identity(config).directory("paper");
        let name = directory(base.clone());
        assert!(name.starts_with("paper-") && name.ends_with("-0"), "{name}");
        let seeded = directory(base.with_trainer(|trainer| trainer.seed = 3));
        assert_eq!(seeded, name.trim_end_matches('0').to_owned() + "3");
        assert_ne!(directory(base.with_trainer(|trainer| trainer.batch = 6)), name);
        assert_ne!(
            TrialIdentity { dataset: "other".to_owned(), ..identity(base.clone()) }.directory("paper"),
            name
        );
        let vectors = VectorIdentity::Given { checksum: 8 };
        assert_ne!(TrialIdentity { vectors, ..identity(base) }.directory("paper"), name);
    }
}
