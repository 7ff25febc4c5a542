//! An HTTP client that can also send malformed requests.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// The response of a server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Reads an answer from bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head: {:?}", String::from_utf8_lossy(bytes)));
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .map(|line| line.split_once(':').unwrap())
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect::<HashMap<String, String>>();
        let is_chunked = headers.get("transfer-encoding").is_some_and(|encoding| encoding == "chunked");
        let rest = &bytes[end + 4..];
        let body = if is_chunked { joined(rest) } else { rest.to_vec() };
        Self { status, headers, body }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The JSON of an answer that must have succeeded.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert!(self.status < 300, "{}: {}", self.status, self.text());
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The problem of an answer that must have failed in this way.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, title: &str) -> Value {
        let text = self.text();
        assert_eq!(self.status, status, "{text}");
        assert_eq!(self.header("content-type"), "application/problem+json", "{text}");
        let problem: Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(
            (&problem["type"], &problem["status"], &problem["title"]),
            (&"about:blank".into(), &status.into(), &title.into())
        );
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        problem
    }
}

/// A body that was sent in chunks.
fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n").expect("a chunk has a length");
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&rest[line + 2..line + 2 + length]);
        rest = &rest[line + 4 + length..];
    }
}

/// Sends bytes and reads until the server closes the connection.
pub(crate) fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    // A server may answer and close before it has read everything.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// Posts to a server that may be killed meanwhile. `None` if it did not respond.
pub(crate) fn try_post(address: SocketAddr, path: &str, body: &Value) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    // An incomplete response does not count.
    let answer = answer.windows(4).any(|four| four == b"\r\n\r\n").then(|| Answer::parse(&answer))?;
    (answer.header("content-length") == answer.body.len().to_string()).then_some(answer)
}

/// Asks with a method, headers and a body.
pub(crate) fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "host") {
        request += &format!("host: {address}\r\n");
    }
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    request += "\r\n";
    Answer::parse(&exchange(address, &[request.as_bytes(), body].concat()))
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Answer {
    ask(address, "GET", path, &[], b"")
}

pub(crate) fn post(address: SocketAddr, path: &str, body: &Value) -> Answer {
    post_text(address, path, &body.to_string())
}

pub(crate) fn post_text(address: SocketAddr, path: &str, body: &str) -> Answer {
    ask(address, "POST", path, &[("content-type", "application/json; charset=utf-8")], body.as_bytes())
}
