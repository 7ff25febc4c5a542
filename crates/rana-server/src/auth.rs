//! Access control: a bearer token, or only this machine.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use crate::app::App;
use crate::problem::Problem;

/// Accepts a request with the right token. Without a token, accepts only requests to this machine.
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let outcome = match &app.config.token {
        Some(token) => has_token(request.headers(), token),
        None => is_local(request.headers()),
    };
    match outcome {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn has_token(headers: &HeaderMap, token: &str) -> Result<(), Problem> {
    let refuse = |detail| Err(Problem::new(StatusCode::UNAUTHORIZED, "Token needed", detail));
    let Some(value) = headers.get(AUTHORIZATION) else {
        return refuse("Send the token that the server was started with: `Authorization: Bearer TOKEN`.");
    };
    let bytes = value.as_bytes();
    let given = match bytes.split_at_checked(7) {
        Some((scheme, given)) if scheme.eq_ignore_ascii_case(b"bearer ") => given.trim_ascii(),
        _ => return refuse("Expected `Authorization: Bearer TOKEN`."),
    };
    // The comparison takes constant time, so its duration does not reveal the token.
    if bool::from(given.ct_eq(token.as_bytes())) {
        Ok(())
    } else {
        refuse("This is not the token that the server was started with.")
    }
}

/// Rejects requests for other host names. Without a token, a page of another site could otherwise reach the server by
/// giving its own name this machine's address (DNS rebinding).
fn is_local(headers: &HeaderMap) -> Result<(), Problem> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_loopback = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if is_loopback || name.eq_ignore_ascii_case("localhost") {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::MISDIRECTED_REQUEST,
        "Not this host",
        "Without a token the server answers only to localhost and loopback addresses. Use one of these, or start \
         it with a token.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: axum::http::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn only_the_whole_token_is_the_token() {
        let token = "0123456789abcdef";
        for right in ["Bearer 0123456789abcdef", "bearer   0123456789abcdef "] {
            assert!(has_token(&headers(AUTHORIZATION, right), token).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
        ] {
            assert!(has_token(&headers(AUTHORIZATION, wrong), token).is_err(), "{wrong}");
        }
        assert!(has_token(&HeaderMap::new(), token).is_err());
    }

    #[test]
    fn other_names_are_not_this_machine() {
        for local in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:80", "[::1]"] {
            assert!(is_local(&headers(HOST, local)).is_ok(), "{local}");
        }
        for other in
            ["evil.example", "localhost.evil.example:80", "192.168.0.1", "127.0.0.1.evil.example", "[::2]"]
        {
            assert!(is_local(&headers(HOST, other)).is_err(), "{other}");
        }
        assert!(is_local(&HeaderMap::new()).is_err());
    }
}
