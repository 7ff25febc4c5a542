//! [`MalformedInput`]: skips malformed content and counts it, or fails.

use crate::format::FormatError;

/// How many messages are kept.
const KEPT_MESSAGES: usize = 10;

/// Counts malformed input if the import is lenient; otherwise the first one is an error.
#[derive(Debug)]
pub(crate) struct MalformedInput {
    lenient: bool,
    pub(crate) count: u64,
    /// The first [`KEPT_MESSAGES`] error messages.
    pub(crate) messages: Vec<String>,
}

impl MalformedInput {
    pub(crate) fn new(lenient: bool) -> Self {
        Self { lenient, count: 0, messages: Vec::new() }
    }

    /// Counts the error and returns `Ok` if the import is lenient; otherwise returns the error.
    pub(crate) fn skip_or_fail(&mut self, error: FormatError) -> Result<(), FormatError> {
        if !self.lenient {
            return Err(error);
        }
        self.count += 1;
        if self.messages.len() < KEPT_MESSAGES {
            self.messages.push(error.to_string());
        }
        Ok(())
    }

    /// Adds the counts and messages of another.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.messages.extend(other.messages);
        self.messages.truncate(KEPT_MESSAGES);
    }

    /// An empty count, equally lenient.
    pub(crate) fn with_same_policy(&self) -> Self {
        Self::new(self.lenient)
    }
}
