//! [`NameColumn`]: a column of names, whatever Arrow type it has.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::DataType;

use crate::failure::{Failure, Outcome};

/// A column of texts or whole numbers, also as a dictionary of them.
pub(crate) enum NameColumn {
    Text(StringArray),
    LargeText(LargeStringArray),
    TextView(StringViewArray),
    Number(ArrayRef),
    Dictionary { column: ArrayRef, keys: Vec<usize>, values: Box<Self> },
}

impl NameColumn {
    /// The column `name`, if its type can be names.
    pub(crate) fn new(name: &str, column: &ArrayRef) -> Outcome<Self> {
        Ok(match column.data_type() {
            DataType::Utf8 => Self::Text(column.as_string().clone()),
            DataType::LargeUtf8 => Self::LargeText(column.as_string().clone()),
            DataType::Utf8View => Self::TextView(column.as_string_view().clone()),
            kind if kind.is_integer() => Self::Number(column.clone()),
            DataType::Dictionary(..) => {
                let dictionary = column.as_any_dictionary();
                let values = Self::new(name, dictionary.values())?;
                let is_empty = dictionary.values().is_empty();
                let keys = if is_empty { vec![0; column.len()] } else { dictionary.normalized_keys() };
                Self::Dictionary { column: column.clone(), keys, values: Box::new(values) }
            }
            other => {
                return Err(Failure::data(format!(
                    "the column `{name}` holds {other}, expected strings or integers. Convert it to strings first"
                )));
            }
        })
    }

    /// The name in a row; none if it is null. A number is written into `buffer`.
    pub(crate) fn name<'a>(&'a self, row: usize, buffer: &'a mut String) -> Option<&'a str> {
        match self {
            Self::Text(column) => column.is_valid(row).then(|| column.value(row)),
            Self::LargeText(column) => column.is_valid(row).then(|| column.value(row)),
            Self::TextView(column) => column.is_valid(row).then(|| column.value(row)),
            Self::Number(column) => {
                if column.is_valid(row) {
                    Some(number(column, row, buffer))
                } else {
                    None
                }
            }
            Self::Dictionary { column, keys, values } => {
                if column.is_valid(row) {
                    values.name(keys[row], buffer)
                } else {
                    None
                }
            }
        }
    }
}

/// A whole number as a name.
fn number<'a>(column: &ArrayRef, row: usize, buffer: &'a mut String) -> &'a str {
    macro_rules! write_number {
        ($($kind:pat => $of:ty),* $(,)?) => {
            match column.data_type() {
                $($kind => write!(buffer, "{}", column.as_primitive::<$of>().value(row)),)*
                // `new` takes whole numbers only.
                _ => Ok(()),
            }
        };
    }
    buffer.clear();
    // Writing into a text cannot fail.
    let _ = write_number!(
        DataType::Int8 => Int8Type,
        DataType::Int16 => Int16Type,
        DataType::Int32 => Int32Type,
        DataType::Int64 => Int64Type,
        DataType::UInt8 => UInt8Type,
        DataType::UInt16 => UInt16Type,
        DataType::UInt32 => UInt32Type,
        DataType::UInt64 => UInt64Type,
    );
    buffer
}
