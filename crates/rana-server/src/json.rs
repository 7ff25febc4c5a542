//! [`JsonBytes`]: an answer that is written out where it was computed.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::problem::Problem;

/// JSON as bytes: long answers are serialised before they reach the threads that serve clients.
pub(crate) struct JsonBytes(Vec<u8>);

impl JsonBytes {
    pub(crate) fn new(value: &impl Serialize) -> Result<Self, Problem> {
        let bytes = serde_json::to_vec(value);
        bytes.map(Self).map_err(|error| Problem::internal(format!("The answer cannot be written: {error}")))
    }
}

impl IntoResponse for JsonBytes {
    fn into_response(self) -> Response {
        // What was decided or learned meanwhile must not hide behind an old answer.
        ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], self.0).into_response()
    }
}
