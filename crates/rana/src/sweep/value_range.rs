//! [`ValueRange`]: the values that a setting is drawn from.

use rand::{Rng, RngExt};

/// The values that a setting is drawn from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueRange {
    /// One of these.
    List(Vec<toml::Value>),
    /// A number between two others, drawn uniformly, on a linear or a log scale.
    Range { from: f64, to: f64, is_log: bool, is_whole: bool },
}

/// A range that cannot be drawn from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RangeError {
    /// It is neither a range nor a list.
    #[error("say {{ linear = [a, b] }}, {{ log = [a, b] }} or a list of values, not {found}")]
    Shape {
        /// The value found.
        found: String,
    },
    /// Nothing to choose from.
    #[error("the list is empty; give at least one value")]
    Empty,
    /// Its ends are the wrong way round.
    #[error("the range from {from} to {to} is empty; the first number must be the smaller one")]
    Order {
        /// The first.
        from: f64,
        /// The second.
        to: f64,
    },
    /// A log range that does not start above 0.
    #[error("a log range must lie above 0, but begins at {from}")]
    NotPositive {
        /// Where it begins.
        from: f64,
    },
}

impl ValueRange {
    /// Whether a table is a range rather than settings of their own.
    pub(super) fn is_range(table: &toml::Table) -> bool {
        table.contains_key("log") || table.contains_key("linear")
    }

    /// Reads a choice. `usual` is the default of the setting; it shows whether the setting is an integer.
    pub(super) fn of(value: &toml::Value, usual: Option<&toml::Value>) -> Result<Self, RangeError> {
        let shape = || RangeError::Shape { found: value.to_string() };
        let table = match value {
            toml::Value::Array(values) if values.is_empty() => return Err(RangeError::Empty),
            toml::Value::Array(values) => return Ok(Self::List(values.clone())),
            toml::Value::Table(table) if table.len() == 1 => table,
            _ => return Err(shape()),
        };
        let (kind, ends) = table.iter().next().ok_or_else(shape)?;
        let ends = ends.as_array().map(Vec::as_slice).ok_or_else(shape)?;
        let [first, second] = ends else { return Err(shape()) };
        let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
        let (Some(from), Some(to)) = (number(first), number(second)) else { return Err(shape()) };
        let is_log = match kind.as_str() {
            "log" => true,
            "linear" => false,
            _ => return Err(shape()),
        };
        let is_whole = match usual {
            Some(usual) => usual.is_integer(),
            None => first.is_integer() && second.is_integer(),
        };
        // A whole number begins half below it.
        if is_log && from <= if is_whole { 0.5 } else { 0.0 } {
            return Err(RangeError::NotPositive { from });
        }
        if !(from < to && to.is_finite() && from.is_finite()) {
            return Err(RangeError::Order { from, to });
        }
        Ok(Self::Range { from, to, is_log, is_whole })
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> toml::Value {
        match *self {
            Self::List(ref values) => values[rng.random_range(0..values.len())].clone(),
            Self::Range { from, to, is_log, is_whole } => {
                // Whole numbers at both ends get as much room as those between.
                let (from, to) = if is_whole { (from - 0.5 + 1e-9, to + 0.5 - 1e-9) } else { (from, to) };
                let share: f64 = rng.random();
                let value = match is_log {
                    true => (from.ln() + share * (to.ln() - from.ln())).exp(),
                    false => from + share * (to - from),
                };
                match is_whole {
                    true => toml::Value::Integer(value.round() as i64),
                    false => toml::Value::Float(short(value).clamp(from, to)),
                }
            }
        }
    }
}

/// A number rounded to three significant digits, so that people can retype it.
fn short(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::keyed_rng;

    #[test]
    fn draws_fill_their_range() {
        let range = |text: &str, usual: Option<toml::Value>| {
            let table: toml::Table = format!("x = {text}").parse().unwrap();
            ValueRange::of(&table["x"], usual.as_ref()).unwrap()
        };
        let draws = |choice: &ValueRange| -> Vec<toml::Value> {
            (0..400).map(|at| choice.draw(&mut keyed_rng([1, 2, at, 0]))).collect()
        };
        let whole = draws(&range("{ linear = [1, 4] }", None));
        for value in 1..=4 {
            let count = whole.iter().filter(|drawn| drawn.as_integer() == Some(value)).count();
            assert!((60..140).contains(&count), "{value}: {count}");
        }
        // Whole ends for a setting that has fractions.
        let eta = draws(&range("{ linear = [0, 1] }", Some(0.5.into())));
        assert!(
            eta.iter().filter(|drawn| drawn.as_float().is_some_and(|x| x > 0.0 && x < 1.0)).count() > 390
        );
        let log = draws(&range("{ log = [0.0001, 0.01] }", Some(0.01.into())));
        let below = log.iter().filter(|drawn| drawn.as_float().unwrap() < 0.001).count();
        assert!((160..240).contains(&below), "{below}");
        assert!(log.iter().all(|drawn| drawn.to_string().len() <= 10), "{log:?}");
    }
}
