//! The program `rana`; everything is in the library of this crate.

use std::process::ExitCode;

/// The static binary has an allocator of its own: that of musl is slow.
#[cfg(all(target_env = "musl", not(feature = "musl-allocator")))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(rana_cli::run(std::env::args_os().collect()))
}
