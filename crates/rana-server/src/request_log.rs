//! The log of requests: each has an id, and a line when it is answered.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Level;

/// The header that carries the id of a request, in both directions.
const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Longer ids of clients are replaced.
const LONGEST: usize = 64;

/// Gives a request an id and logs its answer: 5xx as errors, refusals for lack of room as warnings, all others as
/// information. Health checks and the parts of the page are for debugging only.
pub(crate) async fn log(request: Request, next: Next) -> Response {
    let id = id_of(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let start = Instant::now();
    let mut response = next.run(request).await;
    let (status, ms) = (response.status().as_u16(), start.elapsed().as_secs_f64() * 1000.0);
    let request = id.to_str().unwrap_or_default();
    match level(status, &path) {
        Level::ERROR => tracing::error!(request, %method, path, status, ms, "failed"),
        Level::WARN => tracing::warn!(request, %method, path, status, ms, "refused"),
        Level::INFO => tracing::info!(request, %method, path, status, ms, "answered"),
        _ => tracing::debug!(request, %method, path, status, ms, "answered"),
    }
    response.headers_mut().insert(HEADER, id);
    response
}

fn level(status: u16, path: &str) -> Level {
    match status {
        503 => Level::WARN,
        500.. => Level::ERROR,
        _ if path.starts_with("/v1/") => Level::INFO,
        _ => Level::DEBUG,
    }
}

/// The id that the client gave, if it is one, or a new one.
fn id_of(headers: &HeaderMap) -> HeaderValue {
    static START: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let is_id = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        !bytes.is_empty() && bytes.len() <= LONGEST && bytes.iter().all(u8::is_ascii_graphic)
    };
    headers.get(&HEADER).filter(is_id).cloned().unwrap_or_else(|| {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let text = format!("{:08x}-{number}", *START as u32);
        // Hexadecimal digits and a dash are a header.
        HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("?"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_clients_are_kept_if_they_are_ids() {
        let of = |text: &str| id_of(&HeaderMap::from_iter([(HEADER, HeaderValue::from_str(text).unwrap())]));
        assert_eq!(of("trace-7"), "trace-7");
        for bad in ["", "two words", &"x".repeat(65)] {
            assert_ne!(of(bad), bad);
        }
        assert_ne!(id_of(&HeaderMap::new()), id_of(&HeaderMap::new()));
    }

    #[test]
    fn levels_follow_the_outcome() {
        assert_eq!(level(200, "/v1/complete"), Level::INFO);
        assert_eq!(level(422, "/v1/complete"), Level::INFO);
        assert_eq!(level(200, "/healthz"), Level::DEBUG);
        assert_eq!(level(503, "/v1/complete"), Level::WARN);
        assert_eq!(level(500, "/"), Level::ERROR);
    }
}
