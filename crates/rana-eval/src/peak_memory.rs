//! How much memory this process has needed at most.

/// The largest resident set of this process so far, in bytes; only on Linux.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    high_water_mark(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_kernel_is_understood() {
        assert_eq!(high_water_mark("Name:\trana\nVmHWM:\t   1234 kB\nVmRSS:\t 10 kB\n"), Some(1234 * 1024));
        assert_eq!(high_water_mark("Name:\trana\n"), None);
        if cfg!(target_os = "linux") {
            assert!(peak_memory().unwrap() > 100_000);
        }
    }
}
