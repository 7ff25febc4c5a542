//! Reads requests: JSON bodies, query parameters and path names, with a [`Problem`] on errors.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::app::App;
use crate::problem::Problem;

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

/// The query parameters of a URL.
pub(crate) struct Params<T>(pub(crate) T);

/// The last segment of a path, decoded.
pub(crate) struct Name(pub(crate) String);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Wrong content type",
                "Send JSON with `Content-Type: application/json`.",
            ));
        }
        let limits = &app.config.limits;
        let body = Limited::new(request.into_body(), limits.body_bytes).collect();
        // A slow client must not occupy a connection for ever.
        let body = tokio::time::timeout(limits.read_time(), body).await.map_err(|_| {
            Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "Request too slow",
                format!("The body did not arrive within {} seconds; send it faster.", limits.read_seconds),
            )
        })?;
        let body = body.map_err(|error| {
            if error.is::<LengthLimitError>() {
                let detail =
                    format!("The body may have at most {} bytes; send several requests.", limits.body_bytes);
                Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "Request too large", detail)
            } else {
                Problem::new(
                    StatusCode::BAD_REQUEST,
                    "Broken request",
                    "The body ended early; send it again.",
                )
            }
        })?;
        serde_json::from_slice(&body.to_bytes()).map(Self).map_err(|error| match error.classify() {
            Category::Data => {
                Problem::unprocessable("Wrong field", format!("{error}. /openapi.json describes the body."))
            }
            _ => Problem::new(
                StatusCode::BAD_REQUEST,
                "Malformed JSON",
                format!("The body is not JSON: {error}. Send one object in UTF-8."),
            ),
        })
    }
}

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        match Query::from_request_parts(parts, app).await {
            Ok(Query(params)) => Ok(Self(params)),
            Err(rejection) => {
                let why = match &rejection {
                    QueryRejection::FailedToDeserializeQueryString(error) => error.body_text(),
                    other => other.body_text(),
                };
                Err(Problem::new(
                    StatusCode::BAD_REQUEST,
                    "Wrong parameter",
                    format!("{why}. /openapi.json describes the parameters of this path."),
                ))
            }
        }
    }
}

impl FromRequestParts<Arc<App>> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(_) => Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "Malformed path",
                "Expected a name in UTF-8 with its special characters percent-encoded.",
            )),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}
