//! Numbers and times as people write them.

use std::time::Duration;

use crate::error::CliError;

/// A number of things, in the singular or the plural: `1 pair`, `2 pairs`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number))
}

/// A duration with a unit that suits it.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..90 => format!("{seconds} s"),
        90..5400 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

/// A number with separated thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in bytes, KiB, MiB and so on.
pub(crate) fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}

/// The bytes of a size such as 4G, 500M or 7.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size; say for instance 4G or 500M");
    let digits = text.trim_end_matches(|of: char| of.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B') {
        "" => 1,
        "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    let bytes = number * f64::from(factor);
    if bytes.is_finite() && bytes > 0.0 { Ok(bytes as u64) } else { Err(wrong()) }
}

/// A share or mean with three decimals.
pub(crate) fn decimals(value: f64) -> String {
    format!("{value:.3}")
}

/// An option that is a number of seconds as a duration.
pub(crate) fn seconds(option: &str, value: f64) -> Result<Duration, CliError> {
    Duration::try_from_secs_f64(value)
        .map_err(|error| CliError::Usage(format!("--{option} {value}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_exactly_as_people_need_them() {
        let said = [0, 89, 90, 600, 5400, 36_000].map(|seconds| duration(Duration::from_secs(seconds)));
        assert_eq!(said, ["0 s", "89 s", "2 min", "10 min", "1.5 h", "10.0 h"]);
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(4_838_244), "4,838,244");
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [("4G", 4_000_000_000), ("500MB", 500_000_000), ("1.5k", 1_500), ("7", 7)] {
            assert_eq!(size(text), Ok(bytes));
        }
        for text in ["", "G", "4X", "-1G", "nan", "0"] {
            assert!(size(text).unwrap_err().contains("is not a size"), "{text}");
        }
    }
}
