//! [`Skipped`]: what becomes of malformed content.

use crate::format::FormatError;

/// How many messages of skipped places are kept.
const KEPT_MESSAGES: usize = 10;

/// Counts malformed places if they are to be skipped, or else stops at the first.
#[derive(Debug)]
pub(crate) struct Skipped {
    lenient: bool,
    pub(crate) count: u64,
    /// What the first of them were.
    pub(crate) messages: Vec<String>,
}

impl Skipped {
    pub(crate) fn new(lenient: bool) -> Self {
        Self { lenient, count: 0, messages: Vec::new() }
    }

    /// Gives the error back to stop with, or `Ok` to go on.
    pub(crate) fn take(&mut self, error: FormatError) -> Result<(), FormatError> {
        if !self.lenient {
            return Err(error);
        }
        self.count += 1;
        if self.messages.len() < KEPT_MESSAGES {
            self.messages.push(error.to_string());
        }
        Ok(())
    }

    /// Takes over what another has counted.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.messages.extend(other.messages);
        self.messages.truncate(KEPT_MESSAGES);
    }

    /// An empty count under the same rule.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.lenient)
    }
}
