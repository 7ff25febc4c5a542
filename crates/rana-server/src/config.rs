//! [`ServerConfig`]: the address, token and limits of the server, checked once.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Shorter tokens are too easy to guess.
const SHORTEST_TOKEN: usize = 16;

/// The settings of a server, not yet checked.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Where to listen: an address and a port such as `127.0.0.1:8080`; port 0 takes a free one.
    pub address: String,
    /// The token that every request must carry; required unless only this machine can reach the server.
    pub token: Option<String>,
    /// The file for decisions.
    pub decisions: PathBuf,
    /// The limits of requests.
    pub limits: Limits,
}

/// The limits of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest request body, in bytes.
    pub body_bytes: usize,
    /// The most support pairs of a request, and as many rejected pairs.
    pub supports: usize,
    /// The most heads of a request.
    pub heads: usize,
    /// The most answers per head.
    pub top: usize,
    /// The most answers of a request.
    pub answers: usize,
    /// The most answers of a request if each is explained.
    pub explanations: usize,
    /// The most pairs that a request may have scored: its heads times the candidate tails.
    pub scores: usize,
    /// The seconds in which the head of a request must arrive, and then its body.
    pub read_seconds: u64,
    /// The time limit of a request, in seconds.
    pub request_seconds: u64,
    /// The computations that run at the same time.
    pub computations: usize,
    /// The most requests that wait for a computation; more are rejected.
    pub queue: usize,
    /// The most open connections; more wait.
    pub connections: usize,
    /// The most learned relations in the cache.
    pub learned: usize,
    /// The most memory that these may keep, in bytes. The last one is kept however large it is.
    pub learned_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            supports: 1000,
            heads: 1000,
            top: 1000,
            answers: 100_000,
            explanations: 1000,
            scores: 200_000_000,
            read_seconds: 10,
            request_seconds: 60,
            computations: std::thread::available_parallelism().map_or(2, usize::from),
            queue: 64,
            connections: 1024,
            learned: 32,
            learned_bytes: 256 << 20,
        }
    }
}

/// The checked settings of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
    pub(crate) decisions: PathBuf,
    pub(crate) limits: Limits,
}

/// Why settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerConfigError {
    /// The address is malformed.
    #[error("{address}: expected an address and a port, such as 127.0.0.1:8080 or [::1]:8080")]
    Address {
        /// The address as given.
        address: String,
    },
    /// Other machines can reach the server, and it has no token.
    #[error(
        "{address} can be reached from other machines: set a token of at least {SHORTEST_TOKEN} characters that \
         every request must carry, or listen on 127.0.0.1"
    )]
    NoToken {
        /// The address.
        address: SocketAddr,
    },
    /// The token is too short, or has characters that cannot be sent.
    #[error(
        "the token must be at least {SHORTEST_TOKEN} printable ASCII characters without spaces; make one with \
         `openssl rand -hex 16`"
    )]
    Token,
    /// A limit is zero or too large.
    #[error("{limit}: expected a number from 1 to {most}")]
    Limit {
        /// The limit.
        limit: &'static str,
        /// The largest value allowed.
        most: u64,
    },
}

impl ServerConfig {
    /// Checks settings.
    ///
    /// # Errors
    /// If the address is malformed, a token is missing or too weak, or a limit is zero or too large.
    pub fn new(settings: ServerSettings) -> Result<Self, ServerConfigError> {
        let ServerSettings { address, token, decisions, limits } = settings;
        let address = parse(&address).ok_or(ServerConfigError::Address { address })?;
        match &token {
            None if !address.ip().is_loopback() => return Err(ServerConfigError::NoToken { address }),
            Some(token)
                if token.len() < SHORTEST_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) =>
            {
                return Err(ServerConfigError::Token);
            }
            _ => {}
        }
        limits.check()?;
        Ok(Self { address, token, decisions, limits })
    }
}

impl Limits {
    fn check(&self) -> Result<(), ServerConfigError> {
        const MANY: u64 = 1 << 32;
        const DAY: u64 = 24 * 60 * 60;
        for (limit, value, most) in [
            ("body_bytes", self.body_bytes as u64, MANY),
            ("supports", self.supports as u64, MANY),
            ("heads", self.heads as u64, MANY),
            ("top", self.top as u64, MANY),
            ("answers", self.answers as u64, MANY),
            ("explanations", self.explanations as u64, MANY),
            ("scores", self.scores as u64, 1 << 48),
            ("read_seconds", self.read_seconds, DAY),
            ("request_seconds", self.request_seconds, DAY),
            ("computations", self.computations as u64, 1024),
            ("queue", self.queue as u64, 1 << 20),
            ("connections", self.connections as u64, 1 << 20),
            ("learned", self.learned as u64, 1 << 20),
            ("learned_bytes", self.learned_bytes as u64, 1 << 48),
        ] {
            if value == 0 || value > most {
                return Err(ServerConfigError::Limit { limit, most });
            }
        }
        Ok(())
    }

    pub(crate) fn read_time(&self) -> Duration {
        Duration::from_secs(self.read_seconds)
    }

    pub(crate) fn request_time(&self) -> Duration {
        Duration::from_secs(self.request_seconds)
    }
}

/// Reads an address and a port; `localhost` is this machine's.
pub(crate) fn parse(address: &str) -> Option<SocketAddr> {
    if let Some(port) = address.strip_prefix("localhost:") {
        return Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?));
    }
    address.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(address: &str, token: Option<&str>) -> Result<ServerConfig, ServerConfigError> {
        ServerConfig::new(ServerSettings {
            address: address.to_owned(),
            token: token.map(str::to_owned),
            decisions: PathBuf::from("decisions.jsonl"),
            limits: Limits::default(),
        })
    }

    #[test]
    fn only_this_machine_needs_no_token() {
        for address in ["127.0.0.1:8080", "localhost:0", "[::1]:80", "127.3.2.1:1"] {
            assert!(config(address, None).is_ok(), "{address}");
        }
        for address in ["0.0.0.0:8080", "[::]:80", "192.168.1.2:80"] {
            let error = config(address, None).unwrap_err().to_string();
            assert!(error.contains("can be reached from other machines: set a token"), "{error}");
            assert!(config(address, Some("0123456789abcdef")).is_ok());
        }
        for token in ["", "short", "0123456789 abcdef", "0123456789abcdé"] {
            assert_eq!(config("127.0.0.1:80", Some(token)).unwrap_err(), ServerConfigError::Token);
        }
    }

    #[test]
    fn what_is_no_address_is_said() {
        for address in ["", "8080", "localhost", "localhost:http", "127.0.0.1", "example.org:80", "::1:80"] {
            let error = config(address, None).unwrap_err().to_string();
            assert!(error.contains("expected an address and a port"), "{error}");
        }
    }

    #[test]
    fn a_limit_leaves_something_and_limits_something() {
        let refuse = |limits: Limits| limits.check().unwrap_err().to_string();
        assert_eq!(
            refuse(Limits { heads: 0, ..Limits::default() }),
            "heads: expected a number from 1 to 4294967296"
        );
        let seconds = Limits { request_seconds: u64::MAX, ..Limits::default() };
        assert_eq!(refuse(seconds), "request_seconds: expected a number from 1 to 86400");
        assert_eq!(Limits::default().check(), Ok(()));
    }
}
