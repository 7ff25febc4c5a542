//! Arrow streams in and out of Python, by the PyCapsule interface: `__arrow_c_stream__`.
//!
//! # Safety
//! Both ways hand over an `ArrowArrayStream` of the Arrow C stream interface.
//!
//! - **Out**: a capsule of the name `arrow_array_stream` owns one. No `unsafe` is needed: the capsule drops it, and with it the
//!   stream is released unless a consumer has taken it.
//! - **In**: the producer of a capsule of that name promises that it points to a valid `ArrowArrayStream`, which the consumer may
//!   move out of it. The name is checked before the pointer is used, the struct is moved out once (what is left is marked as
//!   released), and the GIL is held meanwhile, so that no other thread takes it. A stream that was taken before is refused.
//!
//! What the stream holds is checked by `arrow`: lengths and offsets of arrays when they are imported, UTF-8 by
//! [`validated`] before a text is looked at.
#![allow(unsafe_code)]

use std::ffi::CStr;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::{Failure, Outcome};

const NAME: &CStr = c"arrow_array_stream";
/// The method of the interface.
pub(crate) const METHOD: &str = "__arrow_c_stream__";

/// A capsule that streams a table.
pub(crate) fn export<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let reader: Box<dyn RecordBatchReader + Send> =
        Box::new(RecordBatchIterator::new([Ok(batch.clone())], batch.schema()));
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), NAME)
}

/// The stream of an object that has one.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> Outcome<RecordBatchStreamReader> {
    let capsule = object.call_method0(METHOD)?;
    let capsule = capsule
        .cast::<PyCapsule>()
        .map_err(|_| Failure::data("`__arrow_c_stream__` gave something else than a capsule"))?;
    let pointer = capsule.pointer_checked(Some(NAME))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name points to a valid `ArrowArrayStream` that may be moved out of it (see the head of this
    // file). `from_raw` leaves a released stream behind, so that the capsule does not release it again. The capsule is alive
    // and the GIL is held, so nothing else reads or writes the struct.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    if stream.release().is_none() {
        return Err(Failure::data("the Arrow stream was read already; make a new one"));
    }
    Ok(RecordBatchStreamReader::try_new(stream)?)
}

/// A batch whose values were checked, texts included.
pub(crate) fn validated(batch: Result<RecordBatch, ArrowError>) -> Outcome<RecordBatch> {
    let batch = batch?;
    for column in batch.columns() {
        column.to_data().validate_full()?;
    }
    Ok(batch)
}
