//! A real browser, by the WebDriver protocol.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Answer, connect};

/// The key under which WebDriver hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The longest time to wait for a condition.
const PATIENCE: Duration = Duration::from_secs(30);

/// A browser window that is closed when it is dropped.
pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Opens a window. `None` if there is no browser, unless RANA_BROWSER is set, as in `.ci/run`.
    pub(crate) fn open(downloads: &Path) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(driver) = driver else {
            assert!(
                std::env::var_os("RANA_BROWSER").is_none(),
                "RANA_BROWSER is set, but there is no chromedriver"
            );
            eprintln!("skipped: there is no chromedriver here (Debian: apt-get install chromium-driver)");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Self {
            driver,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            session: String::new(),
            _profile: profile,
        };
        let began = Instant::now();
        while std::net::TcpStream::connect(browser.address).is_err() {
            assert!(began.elapsed() < PATIENCE, "chromedriver does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        let flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
            &format!("--user-data-dir={}", browser._profile.path().display()),
        ];
        let preferences =
            json!({ "download.default_directory": downloads, "download.prompt_for_download": false });
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": flags, "prefs": preferences },
        } } });
        let opened = browser.send("POST", "/session", &capabilities);
        browser.session = opened["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
        Some(browser)
    }

    pub(crate) fn go(&self, address: &str) {
        self.ask("POST", "/url", &json!({ "url": address }));
    }

    /// Runs a script in the page and gives what it returns.
    pub(crate) fn script(&self, script: &str) -> Value {
        self.ask("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until a script returns true.
    #[track_caller]
    pub(crate) fn wait(&self, script: &str) -> Value {
        let began = Instant::now();
        loop {
            let found = self.script(script);
            if !matches!(found, Value::Null | Value::Bool(false)) {
                return found;
            }
            if began.elapsed() > PATIENCE {
                let page = self.script("return document.body.innerText");
                panic!("it never came to `{script}`; the page says: {}", page.as_str().unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.ask("POST", &format!("/element/{element}/click"), &json!({}));
    }

    /// Types into an element.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.ask("POST", &format!("/element/{element}/value"), &json!({ "text": text }));
    }

    /// Presses keys in the focused element.
    pub(crate) fn press(&self, keys: &str) {
        let presses: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
            })
            .collect();
        let actions = json!({ "actions": [{ "type": "key", "id": "keys", "actions": presses }] });
        self.ask("POST", "/actions", &actions);
    }

    /// Saves a screenshot of the page in the directory `RANA_SCREENSHOTS`, if it is set.
    pub(crate) fn picture(&self, name: &str, width: u32, height: u32) {
        let Some(directory) = std::env::var_os("RANA_SCREENSHOTS") else { return };
        self.ask("POST", "/window/rect", &json!({ "width": width, "height": height }));
        let encoded = self.ask("GET", "/screenshot", &Value::Null);
        let bytes = base64(encoded.as_str().unwrap());
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(Path::new(&directory).join(format!("{name}.png")), bytes).unwrap();
        self.ask("POST", "/window/rect", &json!({ "width": 1280, "height": 900 }));
    }

    fn element(&self, selector: &str) -> String {
        let began = Instant::now();
        loop {
            let query = json!({ "using": "css selector", "value": selector });
            let found = self.try_ask("POST", "/element", &query);
            if let Ok(found) = found {
                return found[ELEMENT].as_str().unwrap().to_owned();
            }
            assert!(began.elapsed() < PATIENCE, "there is no {selector}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        self.try_ask(method, path, body).unwrap_or_else(|error| panic!("{method} {path} {body}: {error}"))
    }

    fn try_ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        let found = self.send(method, &format!("/session/{}{path}", self.session), body);
        if found.get("error").is_some() { Err(found) } else { Ok(found) }
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = connect(self.address);
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}",
            self.address
        )
        .unwrap();
        // The driver keeps connections open, so the response ends after its content length.
        let mut bytes = Vec::new();
        let answer = loop {
            let mut some = [0; 64 * 1024];
            let count = stream.read(&mut some).unwrap();
            assert!(count > 0, "chromedriver hung up");
            bytes.extend_from_slice(&some[..count]);
            if bytes.windows(4).any(|four| four == b"\r\n\r\n") {
                let answer = Answer::parse(&bytes);
                if answer.body.len() as u64 >= answer.header("content-length").parse().unwrap() {
                    break answer;
                }
            }
        };
        let mut answer: Value = serde_json::from_slice(&answer.body).unwrap();
        answer["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closes the window, unless the test is failing anyway.
        if !std::thread::panicking() {
            let _ = self.try_ask("DELETE", "", &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Reads base 64 as WebDriver writes it.
fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').map(value).collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let bits = four
            .iter()
            .enumerate()
            .fold(0_u32, |bits, (at, &digit)| bits | u32::from(digit) << (18 - 6 * at));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}
