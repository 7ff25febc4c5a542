//! The web page, embedded in the program, and its security headers.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use xxhash_rust::xxh3::xxh3_64;

use crate::extractors::Name;
use crate::problem::{Problem, unknown_route};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// A file of the page.
struct Part {
    name: &'static str,
    media_type: &'static str,
    text: &'static str,
}

macro_rules! parts {
    ($($name:literal: $media_type:expr),+ $(,)?) => {
        &[$(Part { name: $name, media_type: $media_type, text: include_str!(concat!("../page/", $name)) }),+]
    };
}

const PARTS: &[Part] = parts! {
    "index.html": HTML,
    "answers.js": SCRIPT,
    "api.js": SCRIPT,
    "app.js": SCRIPT,
    "combobox.js": SCRIPT,
    "decisions.js": SCRIPT,
    "dom.js": SCRIPT,
    "explanation.js": SCRIPT,
    "form.js": SCRIPT,
    "relate.js": SCRIPT,
    "style.css": STYLE,
};

/// The content security policy: only resources of this server, and no frames.
const POLICY: &str = "default-src 'none'; \
    script-src 'self'; \
    style-src 'self'; \
    img-src 'self' data:; \
    connect-src 'self'; \
    base-uri 'none'; \
    form-action 'none'; \
    frame-ancestors 'none'";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

/// The web page.
#[utoipa::path(get, path = "/", tag = "page", responses((status = 200, content_type = "text/html", body = String)))]
pub(crate) async fn index(headers: HeaderMap) -> Response {
    serve("index.html", &headers).await
}

/// A part of the web page, such as `app.js` and `style.css`.
#[utoipa::path(
    get,
    path = "/{part}",
    tag = "page",
    params(("part" = String, Path, description = "The name of the part.")),
    responses(
        (status = 200, body = String),
        (status = 404, body = Problem, content_type = "application/problem+json")
    )
)]
pub(crate) async fn part(Name(name): Name, headers: HeaderMap) -> Response {
    serve(&name, &headers).await
}

async fn serve(name: &str, headers: &HeaderMap) -> Response {
    let Some(part) = PARTS.iter().find(|part| part.name == name) else {
        return unknown_route().await.into_response();
    };
    let tag = format!("\"{:016x}\"", xxh3_64(part.text.as_bytes()));
    let is_known = headers
        .get(IF_NONE_MATCH)
        .and_then(|tags| tags.to_str().ok())
        .is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag));
    let about = [(CONTENT_TYPE, part.media_type), (CACHE_CONTROL, "no-cache"), (ETAG, &tag)];
    if is_known {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    (about, part.text).into_response()
}

/// Adds the security headers to every response.
pub(crate) async fn protect(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
        (PERMISSIONS, "camera=(), geolocation=(), microphone=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_embedded() {
        let mut files: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/page"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let mut parts: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        parts.sort_unstable();
        assert_eq!(files, parts);
    }

    #[test]
    fn the_page_asks_for_nothing_that_its_policy_forbids() {
        for Part { name, text, .. } in PARTS {
            for forbidden in
                ["style=\"", "onclick=", "javascript:", "eval(", "src=\"http", "href=\"http", "@import"]
            {
                assert!(!text.contains(forbidden), "{name} has {forbidden}");
            }
        }
    }
}
