//! A server is asked from outside whether it is well.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use rana_server::{HealthError, check_health};

use crate::running::{Running, SHARED, limits};

const LONG: Duration = Duration::from_secs(60);

/// Listens, gives one answer to whatever is asked, and closes the connection if it is to.
fn answering(answer: &'static [u8], closes: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            asked.push(byte[0]);
        }
        // The one who asks may have gone.
        while stream.write_all(answer).is_ok() && !closes && !answer.is_empty() {}
        if !closes {
            let _ = stream.read(&mut [0]);
        }
    });
    address
}

fn unhealthy(answer: &'static [u8], closes: bool) -> String {
    match check_health(&answering(answer, closes).to_string(), LONG).unwrap_err() {
        HealthError::Unhealthy { answer, .. } => answer,
        other => panic!("{other}"),
    }
}

#[test]
fn a_running_server_is_well_with_and_without_a_token() {
    assert_eq!(check_health(&SHARED.address.to_string(), LONG).unwrap(), SHARED.address);
    let server = Running::with(limits(), Some("0123456789abcdef"));
    let address = server.address.to_string();
    check_health(&address, LONG).unwrap();
    drop(server);
    let gone = check_health(&address, LONG).unwrap_err();
    assert!(matches!(gone, HealthError::NoAnswer { .. }), "{gone}");
}

#[test]
fn other_answers_are_not_well() {
    assert_eq!(
        unhealthy(b"HTTP/1.1 503 Service Unavailable\r\n\r\n{\"status\":\"ok\"}", true),
        "HTTP/1.1 503 Service Unavailable"
    );
    assert_eq!(unhealthy(b"HTTP/1.1 200 OK\r\n\r\n<html>", true), "HTTP/1.1 200 OK");
    assert_eq!(unhealthy(b"HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ill\"}", true), "HTTP/1.1 200 OK");
    assert_eq!(unhealthy(b"SSH-2.0 200 x\r\n\r\n{\"status\":\"ok\"}", true), "SSH-2.0 200 x");
    assert_eq!(unhealthy(b"\xff\xfe", true), "\u{fffd}\u{fffd}");
    assert_eq!(unhealthy(b"", true), "");
    // Without end.
    assert_eq!(unhealthy(b"HTTP/1.1 200 OK\r\n", false), "HTTP/1.1 200 OK");
}

#[test]
fn silence_and_wrong_addresses_are_errors() {
    let silent = check_health(&answering(b"", false).to_string(), Duration::from_millis(50)).unwrap_err();
    assert!(silent.to_string().ends_with("no answer: it took too long"), "{silent}");
    for wrong in ["", "7262", "example.org:80", "http://127.0.0.1:7262"] {
        let error = check_health(wrong, LONG).unwrap_err();
        assert!(matches!(error, HealthError::Address(_)), "{error}");
    }
}
