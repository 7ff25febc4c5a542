//! [`Shard`]: a part of the heads.

use std::str::FromStr;

/// A part of the heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) struct Shard {
    pub(in crate::command) number: usize,
    pub(in crate::command) of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(format!("`{text}` is not a part; say 1/8 for the first of eight")),
        }
    }
}
