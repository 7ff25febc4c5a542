//! Settings of the system's allocator for a program that runs for days.
#![allow(unsafe_code, reason = "the settings of the allocator are in the C library")]

/// Lets the allocator of glibc keep one arena, and give memory back to the system early.
///
/// By default each of many threads has an arena of its own. A run that is loaded again comes to lie in another arena, and the
/// memory of the one before stays with the first, so that a server grew for its first dozen of reloads. Small blocks are
/// cached by each thread in any case. To be called before there are other threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn use_one_arena() {
    const ARENAS: libc::c_int = 1;
    const TRIM_ABOVE: libc::c_int = 128 * 1024;
    // SAFETY: `mallopt` takes two numbers and changes only the settings of the allocator; no other thread runs yet. If it
    // fails, the settings stay.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        libc::mallopt(libc::M_TRIM_THRESHOLD, TRIM_ABOVE);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn use_one_arena() {}
