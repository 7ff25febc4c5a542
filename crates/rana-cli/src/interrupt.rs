//! Ctrl-C and termination: work is asked to stop, so that it can keep what is done; or the program ends without leaving
//! what is half written.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rana::graph::remove_unfinished;

use crate::ignored_signals::stay_ignored;

/// The exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// The flag of work that stops by itself, and when it was first raised.
static STOP: Mutex<Option<(Arc<AtomicBool>, Option<Instant>)>> = Mutex::new(None);

/// A flag that Ctrl-C or a termination signal sets. A second signal ends the program at once.
pub(crate) fn stop_on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    *STOP.lock().unwrap_or_else(PoisonError::into_inner) = Some((Arc::clone(&stop), None));
    handle();
    stop
}

/// Lets Ctrl-C or a termination signal end the program without leaving temporary files.
pub(crate) fn clean_up_on_interrupt() {
    handle();
}

fn handle() {
    stay_ignored(|| {
        // This fails only if the process has this handler already.
        let _ = ctrlc::set_handler(interrupted);
    });
}

fn interrupted() {
    /// One Ctrl-C may arrive twice, because a wrapper forwards it. Signals within this time count as one.
    const SAME: Duration = Duration::from_secs(1);
    if let Some((stop, first)) = &mut *STOP.lock().unwrap_or_else(PoisonError::into_inner) {
        stop.store(true, Ordering::Relaxed);
        if first.get_or_insert_with(Instant::now).elapsed() <= SAME {
            return;
        }
    }
    remove_unfinished();
    std::process::exit(INTERRUPTED);
}

/// The command line that runs.
static COMMAND_LINE: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps the command line for [`resume_command`].
pub(crate) fn keep_command_line(arguments: Vec<OsString>) {
    // There is one command in a process.
    let _ = COMMAND_LINE.set(arguments);
}

/// The command line that runs, for messages that say how to resume.
pub(crate) fn resume_command() -> String {
    let kept = COMMAND_LINE.get().into_iter().flatten();
    let words = kept.skip(1).map(|word| word.to_string_lossy().into_owned());
    let words = words.map(|word| match word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word,
    });
    std::iter::once("rana".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
