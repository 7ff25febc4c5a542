//! Tables in huge pages.
//!
//! Training jumps from row to row over tens of megabytes. With pages of 4 KiB nearly every row
//! misses the processor's list of pages too; with huge ones it does not, which was worth 10 to 20 %
//! of the time with one negative per fact, on a noisy machine.
#![allow(unsafe_code, reason = "`madvise` is a call to the operating system; what it is given is checked")]

/// A table of zeros, in huge pages where the operating system has them.
pub(crate) fn zeros(len: usize) -> Vec<f32> {
    let table = vec![0.0; len];
    // Zeros come from the operating system untouched, so it is not too late to choose their pages.
    #[cfg(target_os = "linux")]
    advise(&table);
    table
}

/// Asks for huge pages over the whole ones that a table holds. If they are refused, so be it.
#[cfg(target_os = "linux")]
fn advise(table: &[f32]) {
    const HUGE: usize = 2 << 20;
    let bytes = size_of_val(table);
    let skipped = table.as_ptr().cast::<u8>().align_offset(HUGE);
    let Some(whole) = bytes.checked_sub(skipped).map(|rest| rest / HUGE * HUGE).filter(|&whole| whole > 0)
    else {
        return;
    };
    // SAFETY: the range lies inside the table, and the advice changes how its memory is backed, not
    // what it holds.
    unsafe {
        libc::madvise(table.as_ptr().cast_mut().cast::<u8>().add(skipped).cast(), whole, libc::MADV_HUGEPAGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_any_size_are_zeros_that_can_be_written() {
        for len in [0, 1, 1 << 19, (1 << 20) + 3, 5 << 20] {
            let mut table = zeros(len);
            assert!(table.len() == len && table.iter().all(|&value| value == 0.0));
            table.fill(1.0);
            assert!(table.iter().all(|&value| value == 1.0));
        }
    }
}
