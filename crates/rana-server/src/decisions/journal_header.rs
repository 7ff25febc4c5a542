//! [`Beginning`]: the first line of a file, which shows whether it is a journal.

use std::path::Path;

use serde_json::{Map, Value};

use super::decision::Decision;
use super::error::JournalError;

/// The first line of a journal.
pub(super) const HEADER: &str = "{\"rana-decisions\":1}\n";
/// The field of the header that holds the version.
const NAME: &str = "rana-decisions";
/// The version that this program reads and writes.
pub(super) const VERSION: u64 = 1;

/// The beginning of a journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// The header, or as much of it as was written before a crash.
    Header {
        /// The number of its bytes that are there.
        length: usize,
        /// The bytes that are missing.
        missing: &'static [u8],
    },
    /// A decision, as in journals of older versions without a header.
    Decision,
}

impl Beginning {
    /// Finds out how a journal begins, from its first bytes.
    ///
    /// # Errors
    /// If it is not a journal, or cannot be read.
    pub(super) fn of(path: &Path, bytes: &[u8]) -> Result<Self, JournalError> {
        if let Some(missing) = HEADER.as_bytes().strip_prefix(bytes) {
            return Ok(Self::Header { length: bytes.len(), missing });
        }
        let path = || path.to_owned();
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        // The file may have been edited by hand, with other spaces or line breaks.
        if let Ok(header) = serde_json::from_slice::<Map<String, Value>>(first) {
            match header.get(NAME).and_then(Value::as_u64) {
                Some(VERSION) if header.len() == 1 => {
                    let missing: &[u8] = if first.ends_with(b"\n") { b"" } else { b"\n" };
                    return Ok(Self::Header { length: first.len(), missing });
                }
                Some(version) if version > VERSION => {
                    return Err(JournalError::Newer { path: path(), version });
                }
                _ => {}
            }
        }
        if Decision::is_line(first) {
            return Ok(Self::Decision);
        }
        if lines.any(Decision::is_line) {
            let message = format!("expected {} or a decision", HEADER.trim_end());
            return Err(JournalError::Malformed { path: path(), line: 1, message });
        }
        Err(JournalError::NotAJournal { path: path() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECISION: &str = "{\"number\":1,\"relation\":\"treats\",\"head\":\"aspirin\",\"tail\":\"pain\",\"verdict\":\"accepted\",\
                            \"score\":null,\"confidence\":null,\"time\":\"2026-11-16T12:00:00Z\"}\n";

    fn of(text: &str) -> Result<Beginning, JournalError> {
        Beginning::of(Path::new("file"), text.as_bytes())
    }

    #[test]
    fn the_header_is_that_of_this_version() {
        assert_eq!(HEADER, format!("{}\n", serde_json::json!({NAME: VERSION})));
    }

    #[test]
    fn a_header_may_be_unfinished() {
        for length in 0..=HEADER.len() {
            let missing = &HEADER.as_bytes()[length..];
            assert_eq!(of(&HEADER[..length]).unwrap(), Beginning::Header { length, missing });
        }
    }

    #[test]
    fn a_header_may_be_written_by_hand() {
        let text = "{ \"rana-decisions\": 1 }";
        let length = text.len();
        assert_eq!(of(text).unwrap(), Beginning::Header { length, missing: b"\n" });
        let text = format!("{text}\r\n{DECISION}");
        assert_eq!(of(&text).unwrap(), Beginning::Header { length: length + 2, missing: b"" });
    }

    #[test]
    fn a_decision_may_come_first() {
        assert_eq!(of(DECISION).unwrap(), Beginning::Decision);
        assert_eq!(of(DECISION.trim_end()).unwrap(), Beginning::Decision);
        assert_eq!(of(&format!("{DECISION}more")).unwrap(), Beginning::Decision);
    }

    #[test]
    fn a_newer_version_is_named() {
        for text in
            ["{\"rana-decisions\":2}\n", "{\"rana-decisions\":2}", "{\"rana-decisions\":2,\"more\":[]}\n\0"]
        {
            let error = of(text).unwrap_err();
            assert!(matches!(error, JournalError::Newer { version: 2, .. }), "{text}: {error}");
        }
    }

    #[test]
    fn a_damaged_first_line_is_no_reason_to_call_it_another_file() {
        for first in ["x", "{\"rana-decisions\":", "\0\0"] {
            let error = of(&format!("{first}\n{DECISION}")).unwrap_err();
            assert!(matches!(error, JournalError::Malformed { line: 1, .. }), "{first}: {error}");
        }
    }

    #[test]
    fn anything_else_is_no_journal() {
        let array = "[1,\"treats\",\"aspirin\",\"pain\",\"accepted\",null,null,\"2026-11-16T12:00:00Z\"]\n";
        for text in [
            "\n",
            "[1]\n",
            "[2]\n",
            array,
            "{\"rana-decisions\":0}\n",
            "{\"rana-decisions\":\"1\"}\n",
            "{\"rana-decisions\":1,\"more\":2}\n",
            "{\"rana-decisions\":1}\0\0",
            "{\"rana-\0\0",
            "{}\n",
            "{ ",
            &DECISION[..40],
        ] {
            let error = of(text).unwrap_err();
            assert!(matches!(error, JournalError::NotAJournal { .. }), "{text}: {error}");
        }
    }
}
