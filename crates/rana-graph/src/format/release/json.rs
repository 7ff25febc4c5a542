//! JSON objects, read entry by entry and written with the white space of the releases.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use crate::format::{FormatError, Place};

/// A string that borrows from the file where it has no escapes.
#[derive(serde::Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Calls `each` for every entry of the JSON object in `bytes`, in the order of the file.
pub(super) fn for_each_entry<'de, V: Deserialize<'de>>(
    file: &str,
    bytes: &'de [u8],
    mut each: impl FnMut(&str, V) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut stopped = None;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let outcome = deserializer
        .deserialize_map(Entries { each: &mut each, stopped: &mut stopped, value: PhantomData })
        .and_then(|()| deserializer.end());
    match (stopped, outcome) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(FormatError::malformed(
            Place::at(file, error.line() as u64, error.column() as u64),
            format!("not the JSON of a release: {error}"),
        )),
    }
}

struct Entries<'f, F, V> {
    each: &'f mut F,
    stopped: &'f mut Option<FormatError>,
    value: PhantomData<V>,
}

impl<'de, F, V> Visitor<'de> for Entries<'_, F, V>
where
    V: Deserialize<'de>,
    F: FnMut(&str, V) -> Result<(), FormatError>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some((key, value)) = map.next_entry::<Text<'de>, V>()? {
            if let Err(error) = (self.each)(&key.0, value) {
                *self.stopped = Some(error);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// Writes a space after commas and colons, as Python does, so that an exported task file has the bytes of
/// the released one.
pub(super) struct ReleaseFormatter;

impl serde_json::ser::Formatter for ReleaseFormatter {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
