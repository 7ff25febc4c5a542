//! [`check_health`]: asks a running server whether it answers, for health checks where there is no other HTTP client.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::config::{ServerConfigError, parse};

/// The longest answer that is read, in bytes; that of a server is much shorter.
const LONGEST: usize = 16 * 1024;

/// Why a server is not healthy.
#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    /// The address is malformed.
    #[error(transparent)]
    Address(#[from] ServerConfigError),
    /// There is no answer, or not in time.
    #[error("{address}: no answer: {source}")]
    NoAnswer {
        /// Where the server was looked for.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// There is an answer, but not that of a healthy server.
    #[error("{address}: the answer is not that of a healthy server: {answer}")]
    Unhealthy {
        /// The address of the server.
        address: SocketAddr,
        /// The first line of the answer.
        answer: String,
    },
}

/// Asks a server for its health, and gives the address that was asked.
///
/// The address is the one that the server listens on. If that is every address of its machine, such as `0.0.0.0:7262`, the
/// loopback address is asked. Connecting, asking and the whole answer may take `time` together.
///
/// # Errors
/// If the address is malformed, the server does not answer in time, or its answer is another one than that it is well.
pub fn check_health(address: &str, time: Duration) -> Result<SocketAddr, HealthError> {
    let found = parse(address).ok_or_else(|| ServerConfigError::Address { address: address.to_owned() })?;
    let address = reachable(found);
    let answer = ask(address, time).map_err(|source| HealthError::NoAnswer { address, source })?;
    match is_well(&answer) {
        true => Ok(address),
        false => {
            let line = answer.split(|&byte| byte == b'\r' || byte == b'\n').next().unwrap_or_default();
            let answer = String::from_utf8_lossy(&line[..line.len().min(100)]).into_owned();
            Err(HealthError::Unhealthy { address, answer })
        }
    }
}

/// An address at which this machine reaches a server that listens on `address`.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    address
}

fn ask(address: SocketAddr, time: Duration) -> io::Result<Vec<u8>> {
    let started = Instant::now();
    let left = || match time.saturating_sub(started.elapsed()) {
        Duration::ZERO => Err(io::Error::new(io::ErrorKind::TimedOut, "it took too long")),
        left => Ok(left),
    };
    let mut stream = TcpStream::connect_timeout(&address, left()?)?;
    stream.set_write_timeout(Some(left()?))?;
    stream.write_all(
        format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").as_bytes(),
    )?;
    let (mut answer, mut piece) = (Vec::new(), [0; 1024]);
    while answer.len() < LONGEST {
        // Each piece gets only the time that is left, so an answer byte by byte ends too.
        stream.set_read_timeout(Some(left()?))?;
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What a read calls it when its time is over.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it took too long"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

/// Whether an answer has the status 200 and says `ok`.
fn is_well(answer: &[u8]) -> bool {
    let Ok(answer) = std::str::from_utf8(answer) else { return false };
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return false };
    let is_status = head.split(' ').next().is_some_and(|version| version.starts_with("HTTP/1."))
        && head.split(' ').nth(1) == Some("200");
    let says = serde_json::from_str::<serde_json::Value>(body);
    is_status && says.is_ok_and(|body| body["status"] == "ok")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_every_address_is_asked_on_loopback() {
        for (listens, asked) in [
            ("0.0.0.0:7262", "127.0.0.1:7262"),
            ("[::]:80", "[::1]:80"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("localhost:5", "127.0.0.1:5"),
        ] {
            assert_eq!(reachable(parse(listens).unwrap()).to_string(), asked);
        }
    }
}
