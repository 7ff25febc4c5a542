//! Wrong requests get a problem, and the server keeps answering others.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rana_server::Limits;
use serde_json::{Value, json};

use crate::client::{Answer, ask, connect, exchange, get, post, post_text};
use crate::running::{Running, SHARED, limits};

fn is_well(address: SocketAddr) {
    assert_eq!(get(address, "/healthz").json(), json!({"status": "ok"}));
}

/// A valid request with some fields replaced.
fn request(fields: Value) -> Value {
    let mut request = json!({
        "relation": "new",
        "new": true,
        "support": [["acquired_abnormality", "disease_or_syndrome"], ["virus", "bacterium"]],
        "heads": ["virus"]
    });
    for (name, value) in fields.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

#[track_caller]
fn refused(fields: Value, title: &str, words: &str) -> Value {
    let problem = post(SHARED.address, "/v1/complete", &request(fields)).problem(422, title);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(words), "{detail}");
    is_well(SHARED.address);
    problem
}

#[test]
fn names_that_nothing_has() {
    assert_eq!(post(SHARED.address, "/v1/complete", &request(json!({}))).status, 200);
    let problem = refused(json!({"heads": ["viruss"]}), "Unknown entity", "`viruss`");
    assert_eq!(problem["suggestions"], json!(["virus"]));
    refused(json!({"support": [["virus", "nope nope"]]}), "Unknown entity", "`nope nope`");
    refused(json!({"rejected": [["", "virus"]]}), "Unknown entity", "``");
    refused(json!({"candidates": ["x".repeat(500)]}), "Unknown entity", "give the name");
    refused(json!({"types": ["city"]}), "Unknown type", "`city`");
    // A relation that the graph does not have is new only if the request says so.
    let problem = refused(json!({"relation": "afects", "new": false}), "Unknown relation", "set `new`");
    assert_eq!(problem["suggestions"], json!(["affects"]));
    let one = json!({"relation": "new", "new": true, "support": [["virus", "bacterium"]], "head": "virus", "tail": "bacteriun"});
    let problem = post(SHARED.address, "/v1/explain", &one).problem(422, "Unknown entity");
    assert!(problem["suggestions"].as_array().unwrap().contains(&json!("bacterium")));
}

#[test]
fn questions_that_make_no_sense() {
    refused(json!({"support": []}), "No support", "at least one pair");
    refused(json!({"heads": []}), "No heads", "plausible");
    refused(json!({"rejected": [["virus", "bacterium"]]}), "Contradictory support", "`virus`");
    refused(json!({"heads": vec!["virus"; limits().heads + 1]}), "Too many heads", "at most 10");
    refused(
        json!({"support": vec![["virus", "bacterium"]; limits().supports + 1]}),
        "Too many pairs",
        "at most 20",
    );
    refused(json!({"top": 0}), "Wrong top", "expected 1 to 50");
    refused(json!({"top": 51}), "Wrong top", "expected 1 to 50");
    refused(json!({"min_confidence": 1.5}), "Wrong share", "from 0 to 1");
    refused(json!({"precision": -0.5}), "Wrong share", "from 0 to 1");
    refused(json!({"min_score": 1e300}), "Wrong score", "too large");
    refused(json!({"types": ["a"], "candidates": ["virus"]}), "Types and candidates", "one of the two");
    refused(json!({"relation": ""}), "Wrong relation", "relation name");
    refused(json!({"relation": "x".repeat(1001)}), "Wrong relation", "relation name");
    refused(json!({"heads": "all"}), "Wrong field", "a list of names, or \"plausible\"");
    refused(json!({"heads": [1]}), "Wrong field", "string");
    refused(json!({"support": [["virus"]]}), "Wrong field", "length 2");
    refused(json!({"topp": 3}), "Wrong field", "unknown field `topp`");
    let relation = get(SHARED.address, "/v1/run").json()["example"]["relation"].clone();
    let background = json!({"relation": relation, "support": [], "heads": ["virus"]});
    assert_eq!(post(SHARED.address, "/v1/complete", &background).status, 200);
}

#[test]
fn too_many_answers() {
    let server = Running::with(Limits { answers: 60, explanations: 20, ..limits() }, None);
    let ask = |fields| post(server.address, "/v1/complete", &request(fields));
    let problem = ask(json!({"heads": ["virus", "bacterium"], "top": 50})).problem(422, "Too many answers");
    assert!(problem["detail"].as_str().unwrap().contains("ask for 1 of them"), "{problem}");
    ask(json!({"heads": ["virus", "bacterium", "fish"], "top": 10, "reasons": true}))
        .problem(422, "Too many answers");
    assert_eq!(ask(json!({"heads": ["virus", "bacterium"], "top": 10, "reasons": true})).status, 200);
}

/// A request is priced before its pairs are scored.
#[test]
fn too_much_work() {
    let server = Running::with(Limits { scores: 300, ..limits() }, None);
    let ask = |heads| post(server.address, "/v1/complete", &request(json!({"heads": heads})));
    let problem = ask(json!(["virus", "bacterium", "fish", "bird"])).problem(422, "Too much work");
    assert!(problem["detail"].as_str().unwrap().contains("heads at a time"), "{problem}");
    assert_eq!(ask(json!(["virus"])).status, 200);
    assert_eq!(ask(json!("plausible")).status, 200);
}

#[test]
fn bodies_that_are_none() {
    let address = SHARED.address;
    for path in ["/v1/complete", "/v1/explain", "/v1/decisions"] {
        for broken in ["", "{", "nonsense", "{\"relation\": \"a\u{0}", "[", "\u{feff}{}"] {
            post_text(address, path, broken).problem(400, "Malformed JSON");
        }
        for other in ["[]", "1", "null"] {
            post_text(address, path, other).problem(422, "Wrong field");
        }
        // Heads or tails are missing; of other requests, a field.
        let title = if path == "/v1/complete" { "No heads" } else { "Wrong field" };
        post_text(address, path, "{}").problem(422, title);
        let deep = format!("{{\"relation\": {}", "[".repeat(2000));
        post_text(address, path, &deep).problem(422, "Wrong field");
        ask(address, "POST", path, &[("content-type", "application/json")], b"{\"relation\": \"\xff\xfe\"}")
            .problem(400, "Malformed JSON");
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
            ask(address, "POST", path, &[("content-type", kind)], b"{}").problem(415, "Wrong content type");
        }
        ask(address, "POST", path, &[], b"{}").problem(415, "Wrong content type");
        let large = "x".repeat(limits().body_bytes + 1);
        post_text(address, path, &large).problem(413, "Request too large");
        let chunks = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n{0:x}\r\n{large}\r\n0\r\n\r\n",
            large.len()
        );
        Answer::parse(&exchange(address, chunks.as_bytes())).problem(413, "Request too large");
        is_well(address);
    }
}

#[test]
fn paths_and_methods_that_are_none() {
    let address = SHARED.address;
    for path in [
        "/nothing",
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/entities/",
        "/v1/entities/a/b",
        "/v2/run",
        "/page/app.js",
    ] {
        get(address, path).problem(404, "Unknown path");
    }
    for name in ["..", "..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", ".", "%00", "a%0D%0Ab", "%E2%86%92"] {
        get(address, &format!("/v1/entities/{name}")).problem(404, "Unknown entity");
    }
    for path in ["/..", "/..%2Findex.html", "/%2e%2e%2fapp.js"] {
        get(address, path).problem(404, "Unknown path");
    }
    get(address, "/v1/entities/%ff").problem(400, "Malformed path");
    for (method, path, allowed) in [
        ("GET", "/v1/complete", "POST"),
        ("POST", "/v1/run", "GET"),
        ("DELETE", "/v1/decisions", "GET"),
        ("PUT", "/", "GET"),
        ("BREW", "/healthz", "GET"),
    ] {
        let answer = ask(address, method, path, &[], b"");
        answer.problem(405, "Wrong method");
        assert!(answer.header("allow").contains(allowed), "{:?}", answer.headers);
    }
    for path in [
        "/v1/entities?limit=many",
        "/v1/entities?q=a&limit=-1",
        "/v1/entities?query=a",
        "/v1/relations?q=a&q=b",
        "/v1/entities/virus?limit=1e3",
    ] {
        get(address, path).problem(400, "Wrong parameter");
    }
    get(address, "/v1/export?format=docx").problem(400, "Unknown format");
    is_well(address);
}

#[test]
fn only_who_has_the_token_may_ask() {
    let token = "0123456789abcdef";
    let server = Running::with(limits(), Some(token));
    let address = server.address;
    let with = |value: &str| ask(address, "GET", "/v1/run", &[("authorization", value)], b"");
    let missing = get(address, "/v1/run");
    missing.problem(401, "Token needed");
    assert_eq!(missing.header("www-authenticate"), "Bearer");
    for wrong in ["Bearer wrong", "Bearer 0123456789abcdeg", "Basic 0123456789abcdef", "0123456789abcdef"] {
        with(wrong).problem(401, "Token needed");
    }
    assert_eq!(with(&format!("Bearer {token}")).status, 200);
    for path in ["/v1/complete", "/v1/explain", "/v1/decisions"] {
        post(address, path, &json!({})).problem(401, "Token needed");
    }
    for path in ["/v1/entities?q=a", "/v1/entities/virus", "/v1/relations", "/v1/decisions", "/v1/export"] {
        get(address, path).problem(401, "Token needed");
    }
    // With a token, any host name works. The page loads without the token, to ask for it.
    let other = [("authorization", &*format!("Bearer {token}")), ("host", "rana.example.org")];
    assert_eq!(ask(address, "GET", "/v1/run", &other, b"").status, 200);
    for path in ["/", "/app.js", "/healthz", "/openapi.json"] {
        assert_eq!(get(address, path).status, 200);
    }
}

#[test]
fn another_site_cannot_ask_in_this_machines_name() {
    ask(SHARED.address, "GET", "/v1/run", &[("host", "evil.example")], b"").problem(421, "Not this host");
    ask(SHARED.address, "GET", "/v1/run", &[("host", "localhost:1")], b"").json();
}

#[test]
fn slow_clients_do_not_hold_others_up() {
    let server = Running::with(Limits { read_seconds: 1, connections: 8, ..limits() }, None);
    let address = server.address;
    let start = Instant::now();
    // As many connections as allowed, which send nothing, half a head, or a body byte by byte.
    let mut silent = connect(address);
    let mut half: Vec<_> = (0..6).map(|_| connect(address)).collect();
    for stream in &mut half {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nho").unwrap();
    }
    let mut slow = connect(address);
    let head = format!(
        "POST /v1/complete HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: 1000\r\n\r\n"
    );
    slow.write_all(head.as_bytes()).unwrap();
    let drip = std::thread::spawn(move || {
        let mut answer = Vec::new();
        slow.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        for _ in 0..100 {
            if slow.write_all(b" ").is_err() {
                break;
            }
            let mut bytes = [0; 4096];
            match slow.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => answer.extend_from_slice(&bytes[..count]),
                Err(_) => {}
            }
        }
        answer
    });
    // Waits until the slow connections are closed.
    is_well(address);
    let dripped = drip.join().unwrap();
    Answer::parse(&dripped).problem(408, "Request too slow");
    let mut rest = Vec::new();
    let _ = silent.read_to_end(&mut rest);
    for stream in &mut half {
        let _ = stream.read_to_end(&mut rest);
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    is_well(address);
}

/// Connections that are kept open and busy make room for others.
#[test]
fn busy_connections_do_not_keep_others_out() {
    let server = Running::with(Limits { connections: 8, ..limits() }, None);
    let address = server.address;
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\n\r\n");
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let mut stream = connect(address);
                    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                    let mut bytes = [0; 4096];
                    // As many requests as the server takes on one connection.
                    let mut ask = || {
                        stream.write_all(request.as_bytes()).is_ok()
                            && stream.read(&mut bytes).is_ok_and(|count| count > 0)
                    };
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        if !ask() {
                            break;
                        }
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        for _ in 0..5 {
            is_well(address);
        }
        let waited = start.elapsed();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(waited < Duration::from_secs(10), "{waited:?}");
    });
}

/// Every answer names its request, by the client's id or a new one; the queue can be watched.
#[test]
fn requests_have_ids_and_the_queue_is_counted() {
    let answer = |header: &str| {
        let mut stream = connect(SHARED.address);
        let request =
            format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{header}connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    assert!(answer("x-request-id: trace-7\r\n").contains("x-request-id: trace-7\r\n"));
    assert!(answer("").contains("x-request-id: "));
    let metrics = get(SHARED.address, "/metrics");
    let text = String::from_utf8(metrics.body).unwrap();
    for name in ["rana_queue_waiting{kind=\"computation\"} 0", "rana_refused_total{kind=\"lookup\"} 0"] {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn pages_of_other_sites_may_not_send() {
    let decide = |headers: &[(&str, &str)]| {
        let mut all = vec![("content-type", "application/json")];
        all.extend(headers);
        ask(SHARED.address, "POST", "/v1/complete", &all, b"{}")
    };
    decide(&[("sec-fetch-site", "cross-site")]).problem(403, "Another site");
    decide(&[("origin", "http://evil.example")]).problem(403, "Another site");
    assert_ne!(decide(&[("sec-fetch-site", "same-origin")]).status, 403);
    let two = format!(
        "GET /v1/run HTTP/1.1\r\nhost: localhost\r\nhost: {}\r\nconnection: close\r\n\r\n",
        SHARED.address
    );
    let mut stream = connect(SHARED.address);
    stream.write_all(two.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    assert!([400, 421].contains(&Answer::parse(&bytes).status));
}

#[test]
fn a_client_that_does_not_read_loses_its_place() {
    let server = Running::with(Limits { read_seconds: 1, connections: 1, ..limits() }, None);
    let address = server.address;
    let mut deaf = connect(address);
    // More than the buffers of the system hold.
    let request = format!("GET /openapi.json HTTP/1.1\r\nhost: {address}\r\n\r\n");
    deaf.write_all(request.repeat(2000).as_bytes()).unwrap();
    let start = Instant::now();
    is_well(address);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    drop(deaf);
}

#[test]
fn nonsense_on_the_wire() {
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"POST /v1/complete HTTP/1.1\r\ncontent-length: -5\r\n\r\n",
        b"POST /v1/complete HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"POST /v1/complete HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ] {
        exchange(SHARED.address, bytes);
    }
    let long = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(200_000));
    exchange(SHARED.address, long.as_bytes());
    // A client that disconnects in the middle.
    let mut stream = connect(SHARED.address);
    stream
        .write_all(b"POST /v1/complete HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n")
        .unwrap();
    stream.write_all(b"content-length: 100\r\n\r\n{\"rel").unwrap();
    drop(stream);
    is_well(SHARED.address);
}

#[test]
fn many_at_once_are_answered_or_turned_away() {
    let server = Running::with(Limits { computations: 1, queue: 2, ..limits() }, None);
    let address = server.address;
    let heads: Vec<String> = get(address, "/v1/entities?q=a&limit=10").json()["entities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entity| entity["name"].as_str().unwrap().to_owned())
        .collect();
    let threads: Vec<_> = (0..24)
        .map(|number| {
            let body = request(json!({
                "heads": heads,
                "top": 10,
                "support": [[heads[number % heads.len()], "virus"], ["virus", "bacterium"]],
                "reasons": true
            }));
            std::thread::spawn(move || post(address, "/v1/complete", &body))
        })
        .collect();
    let answers: Vec<Answer> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let answered = answers.iter().filter(|answer| answer.status == 200).count();
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.problem(503, "Too busy");
        assert_eq!(answer.header("retry-after"), "1");
    }
    assert!(answered >= 3, "{answered}");
    is_well(address);
}
