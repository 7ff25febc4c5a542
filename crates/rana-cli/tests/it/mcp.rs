//! `rana mcp`: the tools of an agent, over standard input and output and over HTTP.
//!
//! `crates/rana-python/tests/test_mcp.py` does the same with a client that others wrote.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::command::run;

/// An agent that has started `rana mcp`.
struct Agent {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Agent {
    fn new(dir: &Path, arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_rana"))
            .arg("mcp")
            .args(arguments)
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        let mut agent = Self { process, input, output, calls: 0 };
        let hello = agent.ask("initialize", &hello());
        assert_eq!(hello["serverInfo"]["name"], "rana");
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let response = self.response(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    fn response(&mut self, method: &str, params: &Value) -> Value {
        self.calls += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let response: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(response["id"], self.calls);
        response
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", &json!({}));
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

fn hello() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"}
    })
}

/// A directory with a run.
fn learned(dir: &Path) {
    let line = |n: u32| format!("a{n}\tr{}\tb{}\n", n % 2, n % 7);
    std::fs::write(dir.join("facts.tsv"), (0..40).map(line).collect::<String>()).unwrap();
    run(dir, &["learn", "facts.tsv", "--out", "run", "--budget", "1ms", "--quiet"]);
}

#[test]
fn an_agent_finds_completes_and_explains() {
    let dir = tempfile::tempdir().unwrap();
    learned(dir.path());
    let mut agent = Agent::new(dir.path(), &["run"]);
    let tools = ["find_entity", "describe_entity", "list_relations", "complete_relation", "explain"];
    assert_eq!(agent.tools(), tools);
    let listed = agent.ask("tools/list", &json!({}));
    for tool in listed["tools"].as_array().unwrap() {
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        let text = tool.to_string();
        assert!(
            !text.contains("#/components/") && tool["description"].as_str().unwrap().len() > 20,
            "{text}"
        );
    }

    let found = agent.call("find_entity", &json!({"query": "a1", "limit": 2}));
    let entities = found["structuredContent"]["entities"].as_array().unwrap();
    assert_eq!((entities.len(), &entities[0]["name"]), (2, &json!("a1")));
    // The same as text, for agents that read no structure.
    let text: Value = serde_json::from_str(found["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, found["structuredContent"]);

    let described = agent.call("describe_entity", &json!({"entity": "a1"}));
    assert_eq!(described["structuredContent"]["neighbours"][0]["entity"]["name"], "b1");
    let relations = agent.call("list_relations", &json!({"query": "r"}));
    assert_eq!(relations["structuredContent"]["relations"].as_array().unwrap().len(), 2);

    let question = json!({"relation": "r0", "heads": ["a1"], "top": 2});
    let completed = agent.call("complete_relation", &question);
    let answers = completed["structuredContent"]["results"][0]["answers"].as_array().unwrap().clone();
    assert_eq!(answers.len(), 2, "{completed}");
    let tail = &answers[0]["tail"]["name"];
    let why = agent.call("explain", &json!({"relation": "r0", "head": "a1", "tail": tail}));
    assert_eq!(&why["structuredContent"]["tail"]["name"], tail, "{why}");
}

#[test]
fn what_an_agent_gets_wrong_is_said_in_words() {
    let dir = tempfile::tempdir().unwrap();
    learned(dir.path());
    let mut agent = Agent::new(dir.path(), &["run", "--max-heads", "2"]);
    let mut refused = |tool: &str, arguments: Value| {
        let result = agent.call(tool, &arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let unknown = refused("complete_relation", json!({"relation": "r9", "heads": ["a1"]}));
    assert!(
        unknown.contains("there is no relation `r9`") || unknown.contains("There is no relation `r9`"),
        "{unknown}"
    );
    let misspelt = refused("describe_entity", json!({"entity": "a1x"}));
    assert!(misspelt.contains("a1x"), "{misspelt}");
    assert!(refused("find_entity", json!({})).contains("`query` is missing"));
    assert!(refused("find_entity", json!({"query": "a", "most": 3})).contains("no argument `most`"));
    // The limits of the server hold.
    let heads = json!({"relation": "r0", "heads": ["a1", "a2", "a3"]});
    assert!(refused("complete_relation", heads).contains("at most 2"));
    // What is not allowed is not there.
    let decision = json!({"relation": "r0", "head": "a1", "tail": "b1", "verdict": "accepted"});
    let response = agent.response("tools/call", &json!({"name": "record_decision", "arguments": decision}));
    assert!(response["error"]["message"].as_str().unwrap().contains("no tool"), "{response}");
    drop(agent);
    assert!(!dir.path().join("run/decisions.jsonl").exists());
}

#[test]
fn decisions_are_recorded_if_that_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    learned(dir.path());
    let mut agent = Agent::new(dir.path(), &["run", "--allow-decisions", "--decisions", "verdicts.jsonl"]);
    assert!(agent.tools().contains(&"record_decision".to_owned()));
    let decision = json!({"relation": "r0", "head": "a1", "tail": "b1", "verdict": "accepted"});
    let kept = agent.call("record_decision", &decision);
    assert_eq!(kept["structuredContent"]["number"], 1, "{kept}");
    drop(agent);
    let journal = std::fs::read_to_string(dir.path().join("verdicts.jsonl")).unwrap();
    assert!(journal.contains("\"a1\"") && journal.contains("accepted"), "{journal}");
}

/// `rana mcp --http` as a process.
struct Serving {
    process: Child,
    address: String,
}

impl Serving {
    fn new(dir: &Path, arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_rana"))
            .args(["mcp", "run", "--http", "--listen", "127.0.0.1:0", "--json"])
            .args(arguments)
            .current_dir(dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            Some(line.unwrap().split_once("\"address\": \"")?.1.split('"').next()?.to_owned())
        });
        Self { process, address: address.unwrap() }
    }

    /// Posts a message and gives the status and the body.
    fn post(&self, headers: &str, message: &Value) -> (u16, String) {
        let body = message.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // The connection stays open: a server that closes it before it has read the body would reset it.
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut response = BufReader::new(stream);
        let mut line = || {
            let mut line = String::new();
            response.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).unwrap().parse().unwrap();
        let heads: Vec<String> =
            std::iter::from_fn(|| Some(line()).filter(|line| !line.is_empty())).collect();
        let length =
            heads.iter().find_map(|head| head.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        response.read_exact(&mut body).unwrap();
        (status, String::from_utf8(body).unwrap())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_tools_are_offered_over_http_to_those_who_have_the_token() {
    let dir = tempfile::tempdir().unwrap();
    learned(dir.path());
    let token = "0123456789abcdef";
    let server = Serving::new(dir.path(), &["--token", token]);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()});
    assert_eq!(server.post("", &hello).0, 401);
    assert_eq!(server.post("authorization: Bearer 0123456789abcdeX\r\n", &hello).0, 401);
    let headers = format!("authorization: Bearer {token}\r\n");
    let (status, body) = server.post(&headers, &hello);
    assert!(status == 200 && body.contains("\"rana\""), "{status} {body}");
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "complete_relation", "arguments": {"relation": "r0", "heads": ["a1"]}}});
    let headers = format!("{headers}mcp-protocol-version: 2025-06-18\r\n");
    let (status, body) = server.post(&headers, &call);
    assert!(
        status == 200 && body.contains("structuredContent") && body.contains("\"answers\""),
        "{status} {body}"
    );
}
