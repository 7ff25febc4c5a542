//! `rana serve` as a process: it loads its run again without losing a request.

#![cfg(unix)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::command::{fail, json, run};
use crate::serving::Serving;

impl Serving {
    /// The status of the answer to a request, and its body.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, serde_json::Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    /// The number of facts of the graph, by a request of its own.
    fn facts(&self) -> u64 {
        let (status, run) = self.ask("GET", "/v1/run", "");
        assert_eq!(status, 200, "{run}");
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

/// Learns from 40 facts into `served`.
fn learn_small(dir: &Path) {
    let facts: String = (0..40).map(|n| format!("a{n}\tr{}\tb{}\n", n % 2, n % 7)).collect();
    std::fs::write(dir.join("facts.tsv"), facts).unwrap();
    run(dir, &["learn", "facts.tsv", "--out", "served", "--budget", "1ms", "--quiet"]);
}

#[test]
fn files_that_are_changed_while_they_are_served_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    learn_small(dir);
    let server = Serving::new(dir, &["served"]);
    let question = r#"{"relation": "r0", "heads": ["a0"], "top": 2}"#;
    let complete = || server.ask("POST", "/v1/complete", question);
    assert_eq!(complete().0, 200);
    // The same bytes, written in place: the server cannot know that they are the same.
    let mut changed = 0;
    let mut directories = vec![dir.join("served")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.ends_with("facts") {
                let file = std::fs::File::options().write(true).open(&path).unwrap();
                file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
                changed += 1;
            }
        }
    }
    assert!(changed > 0);
    let (status, problem) = complete();
    assert_eq!((status, problem["title"].as_str()), (503, Some("Files changed")), "{problem}");
    assert!(!problem["detail"].as_str().unwrap().contains('/'), "{problem}");
    // Loading the run again checks its sums and reads the files anew.
    server.hang_up();
    let started = Instant::now();
    while complete().0 != 200 {
        assert!(started.elapsed() < Duration::from_secs(60), "the run was not loaded again");
    }
}

#[test]
fn health_is_asked_by_the_binary_itself() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    learn_small(dir);
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
