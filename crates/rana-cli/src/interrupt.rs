//! Ctrl-C: work is asked to stop, so that it can keep what is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag that Ctrl-C or a termination signal sets. A second signal ends the program at once.
pub(crate) fn stop_on_interrupt() -> Arc<AtomicBool> {
    /// One Ctrl-C may arrive twice, because a wrapper forwards it. Signals within this time count as one.
    const SAME: Duration = Duration::from_secs(1);
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let mut first = None;
    // This fails only if the process has a handler already, and it has not.
    let _ = ctrlc::set_handler(move || {
        raised.store(true, Ordering::Relaxed);
        if first.get_or_insert_with(Instant::now).elapsed() > SAME {
            std::process::exit(130);
        }
    });
    stop
}

/// The command line of this process, for messages that say how to resume.
pub(crate) fn resume_command() -> String {
    let words = std::env::args().skip(1).map(|word| match word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word,
    });
    std::iter::once("rana".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
