//! [`PlanError`]: why a plan of a sweep cannot be used.

use std::collections::BTreeMap;
use rana_graph::keyed_rng;
use rana_models::registry;
use rana_models::training::RunConfig;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;
use super::value_range::{RangeError, ValueRange};
use crate::settings::{Settings, assignment};
use super::sweep_plan::Configuration;

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
