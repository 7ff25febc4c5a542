//! [`Problem`]: the error response of the server.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use rana::search::Unresolved;
use serde::Serialize;
use utoipa::ToSchema;

/// An error response in the format of RFC 9457.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`: the status and the title state the kind of problem.
    #[serde(rename = "type")]
    kind: &'static str,
    /// What is wrong, in a few words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What was expected, and what to do.
    detail: String,
    /// Similar names that exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<String>,
    #[serde(skip)]
    retry_seconds: Option<u32>,
}

impl Problem {
    /// A problem with its status, its title, and what to do about it.
    pub(crate) fn new(status: StatusCode, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title,
            status: status.as_u16(),
            detail: detail.into(),
            suggestions: Vec::new(),
            retry_seconds: None,
        }
    }

    /// A well-formed request that cannot be answered.
    pub(crate) fn unprocessable(title: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, title, detail)
    }

    /// A failure of the server. The client sees `detail`, so it must not name paths.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "The server failed", detail)
    }

    /// Adds similar names that exist.
    #[must_use]
    pub(crate) fn suggesting(mut self, suggestions: Vec<String>) -> Self {
        self.suggestions = suggestions;
        self
    }

    /// Adds when to try again.
    #[must_use]
    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_seconds = Some(seconds);
        self
    }

    /// The same problem with another status.
    #[must_use]
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status.as_u16();
        self
    }
}

impl From<Unresolved> for Problem {
    fn from(unresolved: Unresolved) -> Self {
        let title = if unresolved.is_ambiguous { "Ambiguous label" } else { "Unknown entity" };
        Self::unprocessable(title, unresolved.to_string()).suggesting(unresolved.suggestions)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        // Strings and numbers can always be serialised.
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_seconds {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// The response for an unknown path.
pub(crate) async fn unknown_route() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "Unknown path",
        "There is nothing at this path. /openapi.json lists every path of this server.",
    )
}

/// The response for a method that a path does not support.
pub(crate) async fn wrong_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "Wrong method",
        "This path supports other methods, which the Allow header lists; /openapi.json describes them.",
    )
}

/// The response after a panic.
pub(crate) fn panicked(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    Problem::internal("This is a bug; please report it with the request that led to it.").into_response()
}
