//! [`ConfigError`]: a setting of a pre-training that cannot be used, and the checks that find it.

use super::embed_config::EmbedConfig;
use crate::model::ModelKind;

/// A field of a configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A count is zero.
    #[error("{field} is 0; it must be at least 1")]
    Zero {
        /// The field.
        field: &'static str,
    },
    /// The dimension is odd, but the rows of the model have two halves.
    #[error("dim is {dim}, but the rows of {model} have two halves; use an even number")]
    OddDim {
        /// The dimension asked for.
        dim: usize,
        /// The model.
        model: ModelKind,
    },
    /// A number is too large.
    #[error("{field} is {value}; it must be at most {most}")]
    TooLarge {
        /// The field.
        field: &'static str,
        /// Its value.
        value: usize,
        /// The largest value allowed.
        most: usize,
    },
    /// A number is not above zero.
    #[error("{field} is {value}; it must be a number above 0")]
    NotPositive {
        /// The field.
        field: &'static str,
        /// Its value.
        value: f32,
    },
    /// A number is below zero.
    #[error("{field} is {value}; it must be a number of at least 0")]
    Negative {
        /// The field.
        field: &'static str,
        /// Its value.
        value: f32,
    },
    /// A number is not between 0 and 1.
    #[error("{field} is {value}; it must lie between 0 and 1")]
    NoShare {
        /// The field.
        field: &'static str,
        /// Its value.
        value: f32,
    },
}

pub(crate) fn at_least_one(field: &'static str, value: usize) -> Result<(), ConfigError> {
    match value {
        0 => Err(ConfigError::Zero { field }),
        1..=EmbedConfig::MOST => Ok(()),
        _ => Err(ConfigError::TooLarge { field, value, most: EmbedConfig::MOST }),
    }
}

pub(crate) fn positive(field: &'static str, value: f32) -> Result<(), ConfigError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(ConfigError::NotPositive { field, value }) }
}

pub(crate) fn not_negative(field: &'static str, value: f32) -> Result<(), ConfigError> {
    if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(ConfigError::Negative { field, value }) }
}
