//! Signals that a program was started to ignore.
#![allow(unsafe_code, reason = "what a signal does is asked and set through the C library")]

/// Sets handlers of signals, and lets the signals that were ignored before be ignored again: `nohup` lets a program ignore
/// hang-ups, and a shell lets one in the background ignore Ctrl-C.
#[cfg(unix)]
pub(crate) fn stay_ignored(set_handlers: impl FnOnce()) {
    const MAYBE_IGNORED: [libc::c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];
    let ignored = MAYBE_IGNORED.map(is_ignored);
    set_handlers();
    for (signal, _) in MAYBE_IGNORED.into_iter().zip(ignored).filter(|(_, ignored)| *ignored) {
        // SAFETY: ignoring a signal runs no code of ours.
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

#[cfg(unix)]
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: the structure is zeroed, which is a valid value of it. Without a new action the call only fills it, and if it
    // fails, the zeros say the default.
    let action = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action);
        action
    };
    action.sa_sigaction == libc::SIG_IGN
}

#[cfg(not(unix))]
pub(crate) fn stay_ignored(set_handlers: impl FnOnce()) {
    set_handlers();
}
