//! Access control: a bearer token, or only this machine.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use crate::app::App;
use crate::problem::Problem;

/// Accepts a request with the right token. Without a token, accepts only requests to this machine.
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let outcome = match &app.config.token {
        Some(token) => has_token(headers, token),
        None => is_local(headers),
    };
    let outcome =
        outcome.and_then(|()| if request.method().is_safe() { Ok(()) } else { is_same_site(headers) });
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
    let name = host(headers).and_then(host_name);
    let is_loopback = |name: &str| {
        name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            || name.eq_ignore_ascii_case("localhost")
    };
    if name.is_some_and(is_loopback) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::MISDIRECTED_REQUEST,
        "Not this host",
        "Without a token the server answers only to localhost and loopback addresses. Use one of these, or start \
         it with a token.",
    ))
}

/// Rejects what a page of another site asks a browser to do. Browsers say where a request comes from.
fn is_same_site(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site = text(HeaderName::from_static("sec-fetch-site"));
    let origin = text(ORIGIN).map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    let is_own = match (site, origin) {
        (Some("same-origin" | "none"), _) => true,
        (Some(_), _) => false,
        (None, Some(origin)) => Some(origin) == host(headers),
        // Not a browser.
        (None, None) => true,
    };
    if is_own {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "Another site",
        "This request comes from a page of another site. Only the server's own page and programs may send it.",
    ))
}

/// The host of a request, if it names exactly one.
fn host(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(HOST).iter();
    let host = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(host)
}

/// The name in a host, without its port; none if it is malformed.
fn host_name(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => rest
            .split_once(']')
            .map(|(name, port)| (name, port.strip_prefix(':').or(port.is_empty().then_some("")))),
        None => Some(host.split_once(':').map_or((host, Some("")), |(name, port)| (name, Some(port)))),
    }?;
    port?.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
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
        for other in [
            "evil.example",
            "localhost.evil.example:80",
            "192.168.0.1",
            "127.0.0.1.evil.example",
            "[::2]",
            "localhost:80@evil.example",
            "[::1]evil.example",
            "127.0.0.1:80:80",
        ] {
            assert!(is_local(&headers(HOST, other)).is_err(), "{other}");
        }
        assert!(is_local(&HeaderMap::new()).is_err());
        let mut two = headers(HOST, "localhost");
        two.append(HOST, "evil.example".parse().unwrap());
        assert!(is_local(&two).is_err());
    }

    #[test]
    fn pages_of_other_sites_may_not_write() {
        let site = HeaderName::from_static("sec-fetch-site");
        let from = |site_of: Option<&str>, origin: Option<&str>| {
            let mut headers = headers(HOST, "localhost:8080");
            site_of.map(|value| headers.insert(&site, value.parse().unwrap()));
            origin.map(|value| headers.insert(ORIGIN, value.parse().unwrap()));
            is_same_site(&headers).is_ok()
        };
        assert!(from(None, None) && from(Some("same-origin"), Some("http://localhost:8080")));
        assert!(from(Some("none"), None) && from(None, Some("http://localhost:8080")));
        assert!(!from(Some("cross-site"), None) && !from(Some("same-site"), Some("http://localhost:9090")));
        assert!(!from(None, Some("http://evil.example")) && !from(None, Some("null")));
    }
}
