//! Passes the git commit of the build to the program, which writes it into its results.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=RANA_COMMIT");
    // RANA_COMMIT sets the commit of a build outside a git repository.
    let given = std::env::var("RANA_COMMIT").ok();
    let commit = given.or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    println!("cargo:rustc-env=RANA_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    // Rebuild after every commit and checkout: git appends both to logs/HEAD.
    println!("cargo:rerun-if-changed=build.rs");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo:rerun-if-changed={log}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
