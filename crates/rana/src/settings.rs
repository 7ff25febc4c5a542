//! [`Settings`]: some settings as TOML, laid over those they start from.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Some settings, and some that are unset.
///
/// ```
/// use rana::Settings;
/// use rana::models::rana::RanaConfig;
/// let settings = Settings::of_assignments(&["J=3", "prune=off"])?;
/// let config: RanaConfig = settings.over(&RanaConfig::default())?;
/// assert_eq!(config.negatives, 3);
/// # Ok::<(), rana::SettingsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The fields and their values.
    pub table: toml::Table,
    /// Fields that are unset.
    unset: Vec<String>,
}

/// Settings that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Not an assignment.
    #[error("{assignment}: say KEY=VALUE, such as steps=300")]
    NoAssignment {
        /// The assignment as given.
        assignment: String,
    },
    /// An assignment that is malformed.
    #[error("{assignment}: {message}")]
    Assignment {
        /// The assignment as given.
        assignment: String,
        /// What is wrong with it.
        message: String,
    },
    /// A field that is unknown or has another type.
    #[error("{message}")]
    Field {
        /// What is wrong, with the name of the field.
        message: String,
    },
}

impl SettingsError {
    fn field(error: &dyn std::fmt::Display) -> Self {
        // In the words of this program, not in those of the reader.
        let mut message = error.to_string().trim_end().replace('\n', " ");
        for (word, meaning) in [
            ("usize", "a whole number of at least 0"),
            ("u64", "a whole number of at least 0"),
            ("f32", "a number"),
        ] {
            message = message.replace(&format!("expected {word}"), &format!("expected {meaning}"));
        }
        Self::Field { message }
    }
}

impl From<toml::Table> for Settings {
    fn from(table: toml::Table) -> Self {
        Self { table, unset: Vec::new() }
    }
}

impl Settings {
    /// The settings of a text.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn of_text(text: &str) -> Result<Self, SettingsError> {
        let table: Result<toml::Table, _> = text.parse();
        Ok(table.map_err(|error: toml::de::Error| SettingsError::field(&error))?.into())
    }

    /// The settings of assignments such as `J=3`: a value that is not TOML is a text, and an
    /// empty one unsets a field.
    ///
    /// # Errors
    /// If one of them is not an assignment.
    pub fn of_assignments<T: AsRef<str>>(assignments: &[T]) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for assignment in assignments {
            let assignment = assignment.as_ref();
            let Some((key, value)) = assignment.split_once('=') else {
                return Err(SettingsError::NoAssignment { assignment: assignment.to_owned() });
            };
            let (key, value) = (key.trim(), value.trim());
            if value.is_empty() {
                settings.unset.push(key.to_owned());
                continue;
            }
            let parsed = format!("{key} = {value}")
                .parse::<toml::Table>()
                .or_else(|_| format!("{key} = {}", toml::Value::from(value)).parse::<toml::Table>());
            let table = parsed.map_err(|error| SettingsError::Assignment {
                assignment: assignment.to_owned(),
                message: error.to_string().trim_end().to_owned(),
            })?;
            overlay(&mut settings.table, &table);
        }
        Ok(settings)
    }

    /// Sets one field; dots lead into tables.
    pub fn set(&mut self, key: &str, value: toml::Value) {
        let nested = key.rsplit('.').fold(value, |inner, part| {
            toml::Value::Table(toml::Table::from_iter([(part.to_owned(), inner)]))
        });
        if let toml::Value::Table(table) = nested {
            overlay(&mut self.table, &table);
        }
    }

    /// These settings over others.
    ///
    /// # Errors
    /// If a field is unknown or has another type.
    pub fn over<T: Serialize + DeserializeOwned>(&self, base: &T) -> Result<T, SettingsError> {
        self.over_table(toml::Table::try_from(base).map_err(|error| SettingsError::field(&error))?)
    }

    /// The same over settings that are written as TOML already.
    pub(crate) fn over_table<T: DeserializeOwned>(&self, mut table: toml::Table) -> Result<T, SettingsError> {
        overlay(&mut table, &self.table);
        for key in &self.unset {
            if table.remove(key).is_none() {
                return Err(SettingsError::Field { message: format!("{key} has no value to unset") });
            }
        }
        table.try_into().map_err(|error: toml::de::Error| SettingsError::field(&error))
    }
}

/// A value as `KEY=VALUE` takes it: texts without quotes where they need none.
#[must_use]
pub fn assignment(key: &str, value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => format!("{key}={text}"),
        value => format!("{key}={value}"),
    }
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
    use rana_models::rana::{AttnInput, Prune, RanaConfig};
    use rana_models::training::{RunConfig, TrainerConfig};

    #[test]
    fn assignments_are_toml_or_text() {
        let set = |assignments: &[&str]| {
            Settings::of_assignments(assignments)?
                .over::<RunConfig>(&RunConfig::new(TrainerConfig::default(), RanaConfig::default()))
        };
        let assignments =
            ["J=3", "prune=threshold(0.5)", "attn_input = rel+entity", "candidates.cap=9", "eta=2"];
        let config = set(&assignments).unwrap();
        assert_eq!(set(&["max_norm=2", "max_norm="]).unwrap().trainer.max_norm, None);
        let rana = config.model_as::<RanaConfig>().unwrap();
        assert_eq!((rana.negatives, config.trainer.candidates.cap, rana.eta), (3, Some(9), 2.0));
        assert_eq!((rana.prune, rana.attn_input), (Prune::Threshold(0.5), AttnInput::RelationEntity));
        for (wrong, expected) in
            [("J=-1", "J"), ("nonsense=1", "nonsense"), ("J", "KEY=VALUE"), ("attn=x", "attn")]
        {
            let error = set(&[wrong]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_set_can_be_typed_again() {
        let mut settings = Settings::default();
        for (key, value) in [
            ("J", toml::Value::from(3)),
            ("prune", "quantile(0.25)".into()),
            ("candidates.cap", 7.into()),
            ("eta", 0.5.into()),
        ] {
            settings.set(key, value.clone());
            let typed = Settings::of_assignments(&[assignment(key, &value)]).unwrap();
            let mut alone = Settings::default();
            alone.set(key, value);
            assert_eq!(typed, alone);
        }
        let base = RunConfig::new(TrainerConfig::default(), RanaConfig::default());
        let config: RunConfig = settings.over(&base).unwrap();
        let rana = config.model_as::<RanaConfig>().unwrap();
        assert_eq!((rana.negatives, config.trainer.candidates.cap, rana.eta), (3, Some(7), 0.5));
    }
}
