//! Settings from files and from `--set`, laid over those they start from.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::CliError;

/// Some settings as TOML.
pub(crate) struct SettingsFile {
    /// Where they come from.
    pub(crate) name: String,
    pub(crate) table: toml::Table,
    /// Fields that are taken back.
    unset: Vec<String>,
}

impl SettingsFile {
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| CliError::io(path, "read the file", source))?;
        Self::of_text(&path.display().to_string(), &text)
    }

    /// The settings of a file with this name and text.
    pub(crate) fn of_text(name: &str, text: &str) -> Result<Self, CliError> {
        let file = Self { name: name.to_owned(), table: toml::Table::new(), unset: Vec::new() };
        let table = text.parse().map_err(|error| file.bad(&error))?;
        Ok(Self { table, ..file })
    }

    /// The settings of `--set KEY=VALUE`: a value that is no TOML is a text.
    pub(crate) fn of_assignments(assignments: &[String]) -> Result<Self, CliError> {
        let mut file = Self { name: "--set".to_owned(), table: toml::Table::new(), unset: Vec::new() };
        for assignment in assignments {
            let Some((key, value)) = assignment.split_once('=') else {
                return Err(CliError::Usage(format!("--set {assignment}: say KEY=VALUE, such as J=3")));
            };
            let (key, value) = (key.trim(), value.trim());
            if value.is_empty() {
                file.unset.push(key.to_owned());
                continue;
            }
            let parsed = format!("{key} = {value}")
                .parse::<toml::Table>()
                .or_else(|_| format!("{key} = {}", toml::Value::from(value)).parse::<toml::Table>());
            let table = parsed.map_err(|error| {
                CliError::Usage(format!("--set {assignment}: {}", error.to_string().trim_end()))
            })?;
            overlay(&mut file.table, &table);
        }
        Ok(file)
    }

    pub(crate) fn bad(&self, error: &dyn std::fmt::Display) -> CliError {
        // The reader speaks of types as this program does.
        let mut message = error.to_string().trim_end().replace('\n', " ");
        for (word, meaning) in [
            ("usize", "a whole number of at least 0"),
            ("u64", "a whole number of at least 0"),
            ("f32", "a number"),
        ] {
            message = message.replace(&format!("expected {word}"), &format!("expected {meaning}"));
        }
        CliError::Settings { file: self.name.clone(), message }
    }

    /// These settings over others.
    pub(crate) fn over<T: Serialize + DeserializeOwned>(&self, base: &T) -> Result<T, CliError> {
        let mut table = toml::Table::try_from(base).map_err(|error| self.bad(&error))?;
        overlay(&mut table, &self.table);
        for key in &self.unset {
            table.remove(key).ok_or_else(|| self.bad(&format!("{key} has no value to take back")))?;
        }
        table.try_into().map_err(|error: toml::de::Error| self.bad(&error))
    }
}

/// Prints settings as TOML, every field; those that may have a value but have none as comments.
pub(crate) fn print_settings(settings: &impl Serialize, unset: &[(&str, bool)]) -> Result<(), CliError> {
    let mut text = String::new();
    // TOML has no way to say that a field has no value.
    for (field, _) in unset.iter().filter(|(_, is_unset)| *is_unset) {
        text += &format!("# {field}\n");
    }
    text += &toml::to_string(settings).map_err(io::Error::other)?;
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Lays one table over another; a table of another kind, such as another loss, replaces all of it.
fn overlay(base: &mut toml::Table, top: &toml::Table) {
    for (key, value) in top {
        match (base.get_mut(key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above))
                if above.get("kind").is_none_or(|kind| below.get("kind") == Some(kind)) =>
            {
                overlay(below, above);
            }
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana::fewshot::rana::{AttnInput, Prune, RanaConfig};

    #[test]
    fn assignments_are_toml_or_text() {
        let set = |assignments: &[&str]| {
            let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
            SettingsFile::of_assignments(&assignments)?.over(&RanaConfig::default())
        };
        let assignments =
            ["J=3", "prune=threshold(0.5)", "attn_input = rel+entity", "candidates.cap=9", "eta=2"];
        let config = set(&assignments).unwrap();
        assert_eq!(set(&["max_norm=2", "max_norm="]).unwrap().max_norm, None);
        assert_eq!((config.negatives, config.candidates.cap, config.eta), (3, Some(9), 2.0));
        assert_eq!((config.prune, config.attn_input), (Prune::Threshold(0.5), AttnInput::RelationEntity));
        for (wrong, expected) in
            [("J=-1", "J"), ("nonsense=1", "nonsense"), ("J", "KEY=VALUE"), ("attn=x", "attn")]
        {
            let error = set(&[wrong]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
