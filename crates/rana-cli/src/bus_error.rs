//! A sentence instead of a signal, if a file that is mapped into memory is cut short while it is read.
#![allow(unsafe_code, reason = "the handler of a signal is installed through the C library")]

/// Exits with a sentence on SIGBUS, which the system sends if a mapped file has lost the part that is read.
///
/// Graphs and vectors are mapped, and must not be changed while a program reads them: replace them by writing anew, as
/// every command of this program does.
#[cfg(unix)]
pub(crate) fn explain_bus_errors() {
    const SENTENCE: &[u8] =
        b"error: a file of the graph or of the vectors was cut short while it was read. Restore it, \
                              and start again\n";
    /// The exit code for errors of input and output (EX_IOERR of sysexits.h).
    const CODE: libc::c_int = 74;

    extern "C" fn explain(_: libc::c_int) {
        // SAFETY: `write` and `_exit` may be called in the handler of a signal. Nothing else happens here: no allocation,
        // no lock, no return to the code that was interrupted.
        unsafe {
            libc::write(libc::STDERR_FILENO, SENTENCE.as_ptr().cast(), SENTENCE.len());
            libc::_exit(CODE);
        }
    }

    // SAFETY: the structure is zeroed, which is a valid value of it, and then filled; the handler lives as long as the
    // program. A failure leaves the signal as it was.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = explain as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

#[cfg(not(unix))]
pub(crate) fn explain_bus_errors() {}
