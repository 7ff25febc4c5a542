//! [`PlanError`]: why a plan of a sweep cannot be used.

use super::value_range::RangeError;

/// A plan that cannot be carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The file is not a plan.
    #[error("{0}")]
    Malformed(String),
    /// There is no such preset.
    #[error("preset: {0}")]
    Preset(String),
    /// A field of the plan cannot be used.
    #[error("{field}: {message}")]
    Field {
        /// The field.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// A range cannot be drawn from.
    #[error("random.{field}: {source}")]
    Range {
        /// The setting.
        field: String,
        /// What is wrong with it.
        source: RangeError,
    },
    /// A configuration cannot be used.
    #[error("{settings}: {message}")]
    Configuration {
        /// The settings of the configuration.
        settings: String,
        /// What is wrong with it.
        message: String,
    },
}
