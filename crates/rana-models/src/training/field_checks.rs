//! [`ConfigError`]: a field of a configuration that cannot be used, and the checks that find it.

use std::fmt;

/// A field of a configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}; it must be {expected}")]
pub struct ConfigError {
    /// The field, as files name it.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// The values it may have.
    pub expected: &'static str,
}

/// Fails with the field unless a condition holds.
///
/// # Errors
/// If it does not hold.
pub fn require(
    holds: bool,
    field: &'static str,
    value: impl fmt::Display,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError { field, value: value.to_string(), expected }) }
}

/// The usual checks of a field.
pub(crate) struct FieldChecks;

impl FieldChecks {
    /// A count between `least` (0 or 1) and 2²⁰.
    pub(crate) fn count(field: &'static str, value: usize, least: usize) -> Result<(), ConfigError> {
        let expected = if least == 0 { "at most 1048576" } else { "between 1 and 1048576" };
        require((least..=1 << 20).contains(&value), field, value, expected)
    }

    pub(crate) fn positive(field: &'static str, value: f32) -> Result<(), ConfigError> {
        require(value > 0.0 && value.is_finite(), field, value, "a finite number above 0")
    }

    pub(crate) fn at_least_zero(field: &'static str, value: f32) -> Result<(), ConfigError> {
        require(value >= 0.0 && value.is_finite(), field, value, "a finite number of at least 0")
    }

    pub(crate) fn finite(field: &'static str, value: f32) -> Result<(), ConfigError> {
        require(value.is_finite(), field, value, "a finite number")
    }

    /// A fraction in [0, 1).
    pub(crate) fn share(field: &'static str, value: f32) -> Result<(), ConfigError> {
        require((0.0..1.0).contains(&value), field, value, "at least 0 and below 1")
    }
}
