//! `rana serve` as a process: it loads its run again without losing a request.

#![cfg(unix)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::command::{fail, json, run};
use crate::serving::Serving;

impl Serving {
    /// The number of facts of the graph, by a request of its own.
    fn facts(&self) -> u64 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET /v1/run HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{response}");
        let run: serde_json::Value = serde_json::from_str(body).unwrap();
        run["graph"]["facts"].as_u64().unwrap()
    }

    fn hang_up(&self) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    }
}

#[test]
fn a_hang_up_loads_the_run_again_and_no_request_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for facts in [40, 60] {
        let line = |n: u32| format!("a{n}\tr{}\tb{}\n", n % 2, n % 7);
        std::fs::write(dir.join(format!("{facts}.tsv")), (0..facts).map(line).collect::<String>()).unwrap();
        let (file, out) = (format!("{facts}.tsv"), format!("run{facts}"));
        run(dir, &["learn", &file, "--out", &out, "--budget", "1ms", "--quiet"]);
    }
    let replace = |by: &str| {
        std::fs::rename(dir.join("served"), dir.join("before")).unwrap();
        std::fs::rename(dir.join(by), dir.join("served")).unwrap();
    };
    std::fs::rename(dir.join("run40"), dir.join("served")).unwrap();
    let server = Serving::new(dir, &["served", "--decisions", "decisions.jsonl"]);
    assert_eq!(server.facts(), 40);
    let (is_over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        // Every answer is of one run or the other.
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    assert!([40, 60].contains(&server.facts()));
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        replace("run60");
        server.hang_up();
        let started = Instant::now();
        while server.facts() != 60 {
            assert!(started.elapsed() < Duration::from_secs(60), "the run was not loaded again");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(asked.load(Ordering::Relaxed) > 0);
    // A run that cannot be opened is not served, and the server stays.
    std::fs::remove_dir_all(dir.join("served")).unwrap();
    server.hang_up();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.facts(), 60);
}

#[test]
fn health_is_asked_by_the_binary_itself() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let facts: String = (0..40).map(|n| format!("a{n}\tr{}\tb{}\n", n % 2, n % 7)).collect();
    std::fs::write(dir.join("facts.tsv"), facts).unwrap();
    run(dir, &["learn", "facts.tsv", "--out", "served", "--budget", "1ms", "--quiet"]);
    let server = Serving::new(dir, &["served"]);
    let address = server.address.clone();
    let quiet = run(dir, &["health", &address, "--quiet"]);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty());
    assert_eq!(json(dir, &["health", &address]), serde_json::json!({"address": address, "status": "ok"}));
    drop(server);
    let (code, message) = fail(dir, &["health", &address, "--quiet"]);
    assert!(code == 1 && message.starts_with(&format!("error: {address}: no answer")), "{code} {message}");
    assert_eq!(fail(dir, &["health", "7262"]).0, 2);
}
