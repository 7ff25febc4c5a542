//! [`JsonResponse`]: a response that was already serialised.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::problem::Problem;

/// JSON as bytes. Long responses are serialised by the computing thread, not by the threads that serve clients.
pub(crate) struct JsonResponse(Vec<u8>);

impl JsonResponse {
    pub(crate) fn new(value: &impl Serialize) -> Result<Self, Problem> {
        let bytes = serde_json::to_vec(value);
        bytes.map(Self).map_err(|error| Problem::internal(format!("The answer cannot be written: {error}")))
    }
}

impl IntoResponse for JsonResponse {
    fn into_response(self) -> Response {
        // Responses change with decisions and learned relations, so they must not be cached.
        ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], self.0).into_response()
    }
}
