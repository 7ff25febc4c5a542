//! Whether the files that are served are still those that were opened.

use axum::http::StatusCode;
use rana::graph::changed_file;

use crate::problem::Problem;

/// Fails if a file of the graph or of the vectors was changed in place: what is computed from it would mean nothing.
pub(crate) fn check_files() -> Result<(), Problem> {
    let Some(path) = changed_file() else { return Ok(()) };
    // Clients see no paths; the log has it.
    tracing::error!(path = %path.display(), "a file that is being served was changed");
    Err(Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "Files changed",
        "A file that this server reads was changed while it ran. Load the run again (kill -HUP) or start the server again.",
    ))
}
