//! Saved decisions survive crashes, full disks and damaged files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use rana::predictor::Predictor;
use rana_server::{JournalError, Server, ServerConfig, ServerError, ServerSettings};
use serde_json::{Value, json};

use crate::client::{Answer, connect, get, post, try_post};
use crate::running::{Running, limits, run_path};

fn decide(server: &Running, head: &str, tail: &str, verdict: &str) -> Answer {
    let body = json!({"relation": "treats", "head": head, "tail": tail, "verdict": verdict, "score": 1.5, "confidence": 0.25});
    post(server.address, "/v1/decisions", &body)
}

/// The first line of a journal.
const HEADER: &str = "{\"rana-decisions\":1}\n";

/// A server that only opens its decisions.
fn bind(decisions: &Path) -> Result<Server, ServerError> {
    let config = ServerConfig::new(ServerSettings {
        address: "127.0.0.1:0".to_owned(),
        token: None,
        decisions: decisions.to_owned(),
        limits: limits(),
    })
    .unwrap();
    Server::bind(Predictor::open(run_path(), None).unwrap(), config)
}

/// The names of the files in a directory.
fn files(dir: &Path) -> BTreeSet<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    std::fs::read_dir(dir).unwrap().map(name).collect()
}

fn list(server: &Running) -> Vec<Value> {
    get(server.address, "/v1/decisions").json()["decisions"].as_array().unwrap().clone()
}

#[test]
fn the_latest_verdict_counts_and_outlives_the_server() {
    let server = Running::new();
    assert_eq!(list(&server), Vec::<Value>::new());
    let first = decide(&server, "virus", "bacterium", "accepted");
    assert_eq!((first.status, first.json()), (201, json!({"number": 1})));
    decide(&server, "virus", "fish", "rejected").json();
    decide(&server, "VIRUS", "bird", "accepted").json();
    decide(&server, "virus", "bacterium", "rejected").json();
    assert_eq!(decide(&server, "virus", "bird", "withdrawn").json(), json!({"number": 5}));
    let decisions = list(&server);
    let short: Vec<(u64, &str, &str)> = decisions
        .iter()
        .map(|of| {
            (
                of["number"].as_u64().unwrap(),
                of["tail"]["name"].as_str().unwrap(),
                of["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(short, [(2, "fish", "rejected"), (4, "bacterium", "rejected")]);
    assert_eq!((&decisions[0]["score"], &decisions[0]["confidence"]), (&json!(1.5), &json!(0.25)));
    let time = decisions[0]["time"].as_str().unwrap();
    assert!(time.len() == 20 && time.starts_with("20") && time.ends_with('Z'), "{time}");
    let others = get(server.address, "/v1/decisions?relation=causes").json();
    assert_eq!(others, json!({"decisions": []}));

    let again = Running::at(server.stop(), limits(), None);
    assert_eq!(list(&again), decisions);
    assert_eq!(decide(&again, "virus", "bird", "accepted").json(), json!({"number": 6}));
}

#[test]
fn decisions_are_found_by_the_name_they_were_made_with() {
    let server = Running::new();
    let body = json!({"relation": "Treats", "head": "virus", "tail": "fish", "verdict": "accepted"});
    post(server.address, "/v1/decisions", &body).json();
    for name in ["Treats", "treats"] {
        let listed = get(server.address, &format!("/v1/decisions?relation={name}")).json();
        assert_eq!(listed["decisions"][0]["relation"], "treats", "{listed}");
        let exported = get(server.address, &format!("/v1/export?relation={name}")).text();
        assert!(exported.contains("virus\ttreats\tfish"), "{exported}");
    }
    assert_eq!(get(server.address, "/v1/decisions?relation=causes").json(), json!({"decisions": []}));
}

#[test]
fn what_is_no_decision_is_refused() {
    let server = Running::new();
    let refuse = |fields: Value, title: &str| {
        let mut body = json!({"relation": "treats", "head": "virus", "tail": "fish", "verdict": "accepted"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        post(server.address, "/v1/decisions", &body).problem(422, title)
    };
    assert_eq!(refuse(json!({"head": "viruss"}), "Unknown entity")["suggestions"], json!(["virus"]));
    refuse(json!({"relation": ""}), "Wrong relation");
    refuse(json!({"relation": "a\tb"}), "Wrong relation");
    refuse(json!({"relation": null}), "Wrong field");
    refuse(json!({"verdict": "maybe"}), "Wrong field");
    refuse(json!({"score": "high"}), "Wrong field");
    refuse(json!({"more": 1}), "Wrong field");
    assert_eq!(list(&server), Vec::<Value>::new());
    assert_eq!(std::fs::read_to_string(server.decisions()).unwrap(), HEADER);
}

#[test]
fn many_decide_at_once() {
    let server = Running::new();
    let entities = get(server.address, "/v1/entities?q=a&limit=40").json();
    let names: Vec<String> = entities["entities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["name"].as_str().unwrap().to_owned())
        .collect();
    let address = server.address;
    let threads: Vec<_> = (0..16)
        .map(|thread| {
            let names = names.clone();
            std::thread::spawn(move || {
                let mut numbers = Vec::new();
                for tail in &names {
                    let body = json!({"relation": format!("r{thread}"), "head": "virus", "tail": tail, "verdict": "accepted"});
                    numbers.push(post(address, "/v1/decisions", &body).json()["number"].as_u64().unwrap());
                }
                numbers
            })
        })
        .collect();
    let numbers: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let count = 16 * names.len();
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), count);
    assert_eq!(numbers.iter().max(), Some(&(count as u64)));
    assert_eq!(list(&server).len(), count);
    let file = std::fs::read_to_string(server.decisions()).unwrap();
    assert_eq!(file.lines().count(), 1 + count);
    assert!(get(server.address, "/metrics").text().contains(&format!("rana_decisions_total {count}\n")));
}

#[test]
fn a_torn_end_is_moved_aside_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("decisions.jsonl");
    let mut server = Running::at(dir, limits(), None);
    decide(&server, "virus", "fish", "accepted").json();
    let mut torn = Vec::new();
    for number in [2, 2, 2] {
        assert_eq!(decide(&server, "virus", "bird", "accepted").json(), json!({"number": number}));
        let dir = server.stop();
        let bytes = std::fs::read(&path).unwrap();
        let start = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        // Each simulated crash leaves less of the last line.
        let end = bytes.len() - 7 * (torn.len() + 1);
        torn.push(bytes[start..end].to_vec());
        std::fs::write(&path, &bytes[..end]).unwrap();
        server = Running::at(dir, limits(), None);
        assert_eq!(list(&server).len(), 1);
        assert_eq!(std::fs::read(&path).unwrap(), bytes[..start]);
    }
    for (number, bytes) in (1..).zip(&torn) {
        let aside = path.with_file_name(format!("decisions.jsonl.torn-{number}"));
        assert_eq!(&std::fs::read(aside).unwrap(), bytes, "{number}");
    }
    assert_eq!(files(path.parent().unwrap()).len(), 4);
}

#[test]
fn the_torn_end_is_said_to_be_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("decisions.jsonl");
    std::fs::write(&path, format!("{HEADER}{{\"number\":1,")).unwrap();
    let server = bind(&path).unwrap();
    let aside = dir.path().join("decisions.jsonl.torn-1");
    let said = server.decisions_torn().unwrap().to_string();
    assert!(said.contains(&format!("12 bytes were moved to {}", aside.display())), "{said}");
    assert_eq!(server.decisions_found(), 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), HEADER);
    assert_eq!(std::fs::read_to_string(aside).unwrap(), "{\"number\":1,");
}

/// A file of the model that the run holds.
fn model() -> Vec<u8> {
    let mut left = vec![run_path().to_owned()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "safetensors") {
            return std::fs::read(path).unwrap();
        }
    }
    panic!("the run holds no model")
}

#[test]
fn what_is_no_journal_is_refused_and_left_as_it_is() {
    let model = model();
    assert!(model.len() > 1000);
    let cases: [(&str, &[u8]); 12] = [
        ("a model", &model),
        ("the beginning of safetensors", b"\x40\0\0\0\0\0\0\0{\"weight\":{\"dtype\":\"F32\",\"shape\":[1]}}"),
        ("a note", b"Buy milk."),
        ("a note with its line ended", b"Buy milk.\nAnd bread.\n"),
        ("JSON", b"{\"name\":\"rana\",\"number\":1}"),
        ("JSON with its line ended", b"{\"name\":\"rana\",\"number\":1}\n"),
        ("Parquet", b"PAR1\x15\x04\x15\x10\0\0PAR1"),
        ("NUL first", b"\0\0\0\0"),
        ("NUL first, then lines", b"\0one\ntwo\n"),
        ("a line break", b"\n"),
        ("a torn decision and nothing else", b"{\"number\":1,\"relation\":\"treats\",\"he"),
        ("a newer journal", b"{\"rana-decisions\":2,\"packed\":true}\n\0\0\0"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("something");
    for (name, bytes) in cases {
        std::fs::write(&path, bytes).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        let outcome = bind(&path);
        assert!(std::fs::read(&path).unwrap() == bytes, "{name} was changed");
        assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), old, "{name}");
        assert_eq!(files(dir.path()).len(), 1, "{name}");
        let Err(ServerError::Decisions(error)) = outcome else { panic!("{name} was taken for a journal") };
        let said = error.to_string();
        assert!(said.contains("hoose another file") && !said.contains("--"), "{name}: {said}");
        if name == "a newer journal" {
            assert!(matches!(error, JournalError::Newer { version: 2, .. }), "{said}");
            assert!(said.contains("version 2"), "{said}");
        } else {
            assert!(matches!(error, JournalError::NotAJournal { .. }), "{name}: {said}");
            assert!(said.contains("not a journal of decisions"), "{name}: {said}");
        }
    }
}

#[test]
fn a_journal_from_before_there_were_headers_still_works() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("decisions.jsonl");
    let line = |number: u64, tail: &str| {
        format!(
            "{{\"number\":{number},\"relation\":\"treats\",\"head\":\"virus\",\"tail\":\"{tail}\",\
             \"verdict\":\"accepted\",\"score\":1.5,\"confidence\":null,\"time\":\"2026-11-16T12:00:00Z\"}}\n"
        )
    };
    let old = line(1, "fish") + &line(2, "bird");
    std::fs::write(&path, &old).unwrap();
    let server = Running::at(dir, limits(), None);
    assert_eq!(list(&server).len(), 2);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), old, "opened, not written");
    assert_eq!(decide(&server, "virus", "bacterium", "accepted").json(), json!({"number": 3}));
    let server = Running::at(server.stop(), limits(), None);
    assert_eq!(list(&server).len(), 3);
    let file = std::fs::read_to_string(&path).unwrap();
    assert!(file.starts_with(&old) && file.lines().count() == 3, "{file}");
}

#[test]
fn two_servers_do_not_share_a_file() {
    let server = Running::new();
    let Err(error) = bind(&server.decisions()) else { panic!("bound") };
    assert!(error.to_string().contains("another server saves its decisions here"), "{error}");
}

#[test]
fn a_taken_address_is_named() {
    let server = Running::new();
    let dir = tempfile::tempdir().unwrap();
    let config = ServerConfig::new(ServerSettings {
        address: server.address.to_string(),
        token: None,
        decisions: dir.path().join("decisions.jsonl"),
        limits: limits(),
    })
    .unwrap();
    let Err(error) = Server::bind(Predictor::open(run_path(), None).unwrap(), config) else {
        panic!("bound")
    };
    assert!(error.to_string().contains("cannot listen here"), "{error}");
}

#[test]
fn accepted_facts_are_exported() {
    let server = Running::new();
    decide(&server, "virus", "fish", "accepted").json();
    decide(&server, "virus", "bird", "rejected").json();
    let body = json!({"relation": "é/..", "head": "virus", "tail": "bird", "verdict": "accepted"});
    post(server.address, "/v1/decisions", &body).json();
    let export = |query: &str| get(server.address, &format!("/v1/export{query}"));
    let tsv = export("?relation=treats");
    assert_eq!(
        tsv.header("content-disposition"),
        "attachment; filename=\"treats.tsv\"; filename*=UTF-8''treats.tsv"
    );
    assert_eq!(tsv.header("content-type"), "text/tab-separated-values; charset=utf-8");
    let lines: Vec<String> = tsv.text().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1], "virus\ttreats\tfish\t\t1.5\t0.2500\t\t");
    assert_eq!(export("").text().lines().count(), 3);
    assert_eq!(export("?relation=nothing").text().lines().count(), 1);
    assert!(
        export("?relation=%C3%A9/..")
            .header("content-disposition")
            .contains("filename*=UTF-8''%C3%A9___.tsv")
    );
    for (format, kind) in [
        ("jsonl", "application/x-ndjson"),
        ("ntriples", "application/n-triples"),
        ("turtle", "text/turtle"),
        ("rdf12", "text/turtle"),
        ("parquet", "application/vnd.apache.parquet"),
    ] {
        let file = export(&format!("?format={format}"));
        assert_eq!(file.status, 200, "{format}");
        assert!(file.header("content-type").starts_with(kind), "{format}");
        assert!(!file.body.is_empty());
    }
    export("?format=quickstatements").problem(422, "Names that do not fit");
}

#[test]
fn a_large_export_is_made_while_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = HEADER.to_owned();
    for number in 1..=30_000 {
        let decision = json!({
            "number": number, "relation": "treats", "head": format!("a head with a name of its own, e{number}"), "tail": "a \"tail\"",
            "verdict": "accepted", "score": 0.5, "confidence": null, "time": "2026-11-18T12:00:00Z",
        });
        journal += &format!("{decision}\n");
    }
    std::fs::write(dir.path().join("decisions.jsonl"), journal).unwrap();
    let server = Running::at(dir, limits(), None);
    for (format, lines) in [("tsv", 30_001), ("jsonl", 30_000)] {
        let file = get(server.address, &format!("/v1/export?format={format}"));
        assert_eq!(file.header("transfer-encoding"), "chunked", "{format} is whole in memory");
        let text = file.text();
        assert_eq!(text.lines().count(), lines, "{format}");
        let mut found = text.lines().skip(lines - 30_000).zip(1..);
        assert!(found.all(|(line, number)| line.contains(&format!("e{number}")) && line.contains("0.5")));
        assert!(text.ends_with('\n'));
    }
    for format in ["turtle", "parquet"] {
        let file = get(server.address, &format!("/v1/export?format={format}"));
        assert_eq!(file.status, 200, "{format}");
        assert!(!file.body.is_empty());
    }
    let file = get(server.address, "/v1/export?format=quickstatements");
    file.problem(422, "Names that do not fit");
}

#[test]
fn what_was_begun_is_finished_before_the_server_stops() {
    let mut server = Running::new();
    let address = server.address;
    let body =
        json!({"relation": "treats", "head": "virus", "tail": "fish", "verdict": "accepted"}).to_string();
    let mut stream = connect(address);
    let head = format!(
        "POST /v1/decisions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body.as_bytes()[..10]).unwrap();
    // Wait until the server has begun to read it.
    std::thread::sleep(Duration::from_millis(300));
    server.begin_to_stop();
    std::thread::sleep(Duration::from_millis(300));
    stream.write_all(&body.as_bytes()[10..]).unwrap();
    let mut answer = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut answer).unwrap();
    assert_eq!(Answer::parse(&answer).json(), json!({"number": 1}));
    let path = server.decisions();
    let _dir = server.stop();
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 2);
    assert!(std::net::TcpStream::connect(address).is_err());
}

/// The variable that makes this test program run as a server.
const CHILD: &str = "RANA_TEST_SERVER";

#[test]
#[ignore = "the server that `a_killed_server_has_lost_nothing` kills"]
fn a_server_to_be_killed() {
    let Ok(paths) = std::env::var(CHILD) else { return };
    let (run, decisions) = paths.split_once('|').unwrap();
    let config = ServerConfig::new(ServerSettings {
        address: "127.0.0.1:0".to_owned(),
        token: None,
        decisions: PathBuf::from(decisions),
        limits: limits(),
    })
    .unwrap();
    let server = Server::bind(Predictor::open(Path::new(run), None).unwrap(), config).unwrap();
    println!("\nlistens on {}", server.address());
    server.run_until(std::future::pending());
}

/// A server in a process of its own, and where it listens.
fn child(decisions: &Path) -> (Child, SocketAddr) {
    start(Command::new(std::env::current_exe().unwrap()), decisions)
}

fn start(mut program: Command, decisions: &Path) -> (Child, SocketAddr) {
    let mut child = program
        .args(["--exact", "decisions::a_server_to_be_killed", "--ignored", "--nocapture"])
        .env(CHILD, format!("{}|{}", run_path().display(), decisions.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| line.unwrap().strip_prefix("listens on ").map(str::to_owned));
    (child, address.unwrap().parse().unwrap())
}

#[test]
fn a_killed_server_has_lost_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("decisions.jsonl");
    let mut acknowledged: BTreeMap<u64, String> = BTreeMap::new();
    for round in 0..4 {
        let (mut server, address) = child(&path);
        let kept: BTreeMap<u64, String> = get(address, "/v1/decisions").json()["decisions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| (of["number"].as_u64().unwrap(), of["relation"].as_str().unwrap().to_owned()))
            .collect();
        for (number, relation) in &acknowledged {
            assert_eq!(kept.get(number), Some(relation), "in round {round}");
        }
        let clients: Vec<_> = (0..6)
            .map(|client| {
                std::thread::spawn(move || {
                    let mut kept = Vec::new();
                    for turn in 0.. {
                        let relation = format!("{round}-{client}-{turn}");
                        let body = json!({"relation": relation, "head": "virus", "tail": "fish", "verdict": "accepted"});
                        let Some(answer) = try_post(address, "/v1/decisions", &body) else { break };
                        kept.push((answer.json()["number"].as_u64().unwrap(), relation));
                    }
                    kept
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(150 + 70 * round));
        server.kill().unwrap();
        server.wait().unwrap();
        let before = acknowledged.len();
        acknowledged.extend(clients.into_iter().flat_map(|client| client.join().unwrap()));
        assert!(acknowledged.len() > before, "nothing was decided in round {round}");
    }
    let server = Running::at(dir, limits(), None);
    let kept = list(&server);
    assert!(kept.len() >= acknowledged.len());
    let relations: BTreeSet<&str> = kept.iter().map(|of| of["relation"].as_str().unwrap()).collect();
    assert!(acknowledged.values().all(|relation| relations.contains(relation.as_str())));
    println!("{} decisions acknowledged, {} kept", acknowledged.len(), kept.len());
}

/// A limit on the size of files simulates a full disk.
#[test]
#[cfg(unix)]
fn a_full_disk_refuses_decisions_and_loses_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("decisions.jsonl");
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    let (mut server, address) = start(shell, &path);
    let decide = |turn: usize| {
        let relation = format!("relation number {turn}");
        let body = json!({"relation": relation, "head": "virus", "tail": "fish", "verdict": "accepted"});
        post(address, "/v1/decisions", &body)
    };
    let count = || get(address, "/v1/decisions").json()["decisions"].as_array().unwrap().len();
    let refused = (0..1000).map(decide).position(|answer| answer.status != 201).unwrap();
    assert!(refused > 2, "{refused}");
    for turn in [refused, refused + 1] {
        let problem = decide(turn).problem(500, "The server failed");
        assert!(problem["detail"].as_str().unwrap().contains("could not be written"), "{problem}");
    }
    assert_eq!(count(), refused);
    server.kill().unwrap();
    server.wait().unwrap();
    let again = Running::at(dir, limits(), None);
    assert_eq!(list(&again).len(), refused);
    let line = post(
        again.address,
        "/v1/decisions",
        &json!({"relation": "r", "head": "virus", "tail": "fish", "verdict": "accepted"}),
    );
    assert_eq!(line.json(), json!({"number": refused + 1}));
}
