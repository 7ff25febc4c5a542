//! [`Serving`]: `rana serve` as a process.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A server that is killed when it is dropped.
pub(crate) struct Serving {
    pub(crate) process: Child,
    pub(crate) address: String,
    /// Kept open: a program whose reader is gone ends.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Serving {
    /// Serves in a directory, on a free port.
    pub(crate) fn new(dir: &Path, arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_rana"))
            .args(["serve"])
            .args(arguments)
            .args(["--listen", "127.0.0.1:0", "--json"])
            .current_dir(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            Some(line.split_once("\"address\": \"")?.1.split('"').next()?.to_owned())
        });
        Self { process, address: address.unwrap(), _output: lines }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
