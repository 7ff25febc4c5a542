//! Helpers that run the `rana` binary.

use std::path::Path;
use std::process::Output;

/// A `rana` command in a directory, without environment variables that change the output.
pub(crate) fn rana(dir: &Path, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::cargo_bin("rana").unwrap();
    command
        .current_dir(dir)
        .args(arguments)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env("COLUMNS", "100");
    command
}

/// Runs a command that must succeed and gives what it printed.
pub(crate) fn run(dir: &Path, arguments: &[&str]) -> Output {
    let output = rana(dir, arguments).output().unwrap();
    assert!(output.status.success(), "rana {arguments:?}: {}", text(&output.stderr));
    output
}

/// Runs a command that must succeed and reads its standard output as JSON.
pub(crate) fn json(dir: &Path, arguments: &[&str]) -> serde_json::Value {
    let output = run(dir, &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("rana {arguments:?}: {error}: {}", text(&output.stdout)))
}

/// Runs a command that must fail and gives its exit code and message.
pub(crate) fn fail(dir: &Path, arguments: &[&str]) -> (i32, String) {
    let output = rana(dir, arguments).output().unwrap();
    assert!(!output.status.success(), "rana {arguments:?} should have failed");
    assert!(output.stdout.is_empty(), "a failure prints no data: {}", text(&output.stdout));
    (output.status.code().unwrap(), text(&output.stderr))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
