//! Checksums in manifests: sixteen hexadecimal digits, for serde's `with`.

use serde::{Deserialize, Deserializer, Serializer};

/// Writes a checksum as sixteen digits.
///
/// # Errors
/// If the serialiser fails.
// serde's `with` passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{value:016x}"))
}

/// Reads a checksum.
///
/// # Errors
/// If the text is not a hexadecimal number of 64 bits.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    u64::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
}
