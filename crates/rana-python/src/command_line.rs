//! The command `rana` of the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a command line, the name of the program first, and gives the exit code.
///
/// It takes the signals and the output of the process for itself: it is what the program `rana` calls, not a function for
/// programs.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| rana_cli::run(arguments))
}
