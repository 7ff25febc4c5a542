//! Loads rows into the cache before they are needed, so that their cache misses overlap.
#![allow(unsafe_code, reason = "prefetches")]

/// Starts to load values into the cache.
#[inline(always)]
pub fn fetch<T>(values: &[T]) {
    fetch_at(values.as_ptr(), values.len());
}

/// Starts to load `count` values into the cache. Any address is allowed, also an invalid one.
#[inline(always)]
pub(crate) fn fetch_at<T>(start: *const T, count: usize) {
    let before = start.addr() % LINE;
    let first = start.wrapping_byte_sub(before);
    for line in (0..before + count * size_of::<T>()).step_by(LINE) {
        fetch_line(first.wrapping_byte_add(line));
    }
}

/// Bytes per cache line.
const LINE: usize = 64;

#[inline(always)]
fn fetch_line<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and never faults, and SSE is part of every x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    // Other processors do not prefetch here.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
