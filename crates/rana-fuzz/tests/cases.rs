//! Some cases for every target, with the overflow checks of a debug build.
#![allow(missing_docs)]

use std::process::Command;

#[test]
fn no_case_ends_its_worker_or_passes_a_ceiling() {
    let findings = concat!(env!("CARGO_TARGET_TMPDIR"), "/fuzz-findings");
    let run = Command::new(env!("CARGO_BIN_EXE_rana-fuzz"))
        .args(["run", "--cases", "15", "--seconds", "60", "--findings", findings])
        .output()
        .expect("the program can be started");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}
