//! Settings from files and from `--set`, which override the base settings.

use std::io::{self, Write};
use std::path::Path;

use rana::{Settings, SettingsError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::CliError;

/// Some settings as TOML.
pub(crate) struct SettingsFile {
    /// The name of the source, for messages.
    pub(crate) name: String,
    pub(crate) settings: Settings,
}

impl SettingsFile {
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| CliError::io(path, "read the file", source))?;
        Self::of_text(&path.display().to_string(), &text)
    }

    /// The settings of a file with this name and text.
    pub(crate) fn of_text(name: &str, text: &str) -> Result<Self, CliError> {
        let file = Self { name: name.to_owned(), settings: Settings::default() };
        let settings = Settings::of_text(text).map_err(|error| file.bad(&error))?;
        Ok(Self { settings, ..file })
    }

    /// The settings of `--set KEY=VALUE`. A value that is not TOML is taken as a string.
    pub(crate) fn of_assignments(assignments: &[String]) -> Result<Self, CliError> {
        let settings = Settings::of_assignments(assignments)
            .map_err(|error: SettingsError| CliError::Usage(format!("--set {error}")))?;
        Ok(Self { name: "--set".to_owned(), settings })
    }

    pub(crate) fn bad(&self, error: &dyn std::fmt::Display) -> CliError {
        CliError::Settings { file: self.name.clone(), message: error.to_string() }
    }

    /// Overrides the fields of `base` that these settings name.
    pub(crate) fn over<T: Serialize + DeserializeOwned>(&self, base: &T) -> Result<T, CliError> {
        self.settings.over(base).map_err(|error| self.bad(&error))
    }
}

/// Prints all settings as TOML. Optional fields that are not set are comments at the top.
pub(crate) fn print_settings(settings: &impl Serialize, unset: &[String]) -> Result<(), CliError> {
    let mut text: String = unset.iter().map(|line| format!("# {line}\n")).collect();
    text += &toml::to_string(settings).map_err(io::Error::other)?;
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
