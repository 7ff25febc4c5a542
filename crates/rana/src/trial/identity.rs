//! [`TrialIdentity`]: what makes a trial the one it is.

use rana_fewshot::rana::RanaConfig;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::vectors::VectorIdentity;

/// What makes a trial the one it is: data, vectors and settings, seed included. Its name and its number in
/// a list are no part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialIdentity {
    /// What holds the graph's arrays and tasks: it is named after their content.
    pub dataset: String,
    /// The vectors.
    pub vectors: VectorIdentity,
    /// The settings.
    pub config: RanaConfig,
}

impl TrialIdentity {
    /// What the directory of the trial is called.
    pub(crate) fn directory(&self, name: &str) -> String {
        let hash = hash(&(&self.dataset, &self.vectors, changes(&self.config)));
        format!("{name}-{hash:08x}-{}", self.config.seed)
    }
}

/// What differs from the paper's settings, seed left out: settings that are new in a later version change
/// no hash.
fn changes(config: &RanaConfig) -> Vec<(String, String)> {
    let table = |config: &RanaConfig| toml::Table::try_from(config).unwrap_or_default();
    let usual = table(&RanaConfig::default());
    table(config)
        .into_iter()
        .filter(|(field, value)| field != "seed" && usual.get(field) != Some(value))
        .map(|(field, value)| (field, value.to_string()))
        .collect()
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
        let identity = |config: RanaConfig| TrialIdentity {
            dataset: "data".to_owned(),
            vectors: VectorIdentity::Given { checksum: 7 },
            config,
        };
        let base = RanaConfig::default();
        let directory = |config: RanaConfig| identity(config).directory("paper");
        let name = directory(base.clone());
        assert!(name.starts_with("paper-") && name.ends_with("-0"), "{name}");
        let seeded = directory(RanaConfig { seed: 3, ..base.clone() });
        assert_eq!(seeded, name.trim_end_matches('0').to_owned() + "3");
        assert_ne!(directory(RanaConfig { gamma: 6.0, ..base.clone() }), name);
        assert_ne!(
            TrialIdentity { dataset: "other".to_owned(), ..identity(base.clone()) }.directory("paper"),
            name
        );
        let vectors = VectorIdentity::Given { checksum: 8 };
        assert_ne!(TrialIdentity { vectors, ..identity(base) }.directory("paper"), name);
    }
}
