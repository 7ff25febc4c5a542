//! The program `rana`; everything is in the library of this crate.

use std::process::ExitCode;

/// The static binary has an allocator of its own: that of musl is slow.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(rana_cli::run(std::env::args_os().collect()))
}
