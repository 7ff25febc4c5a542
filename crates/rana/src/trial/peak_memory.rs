//! [`PeakMemory`]: how much memory this process had at most since a moment.

use std::fs;

/// Measures the largest resident memory of this process, where the system counts it (Linux does).
#[derive(Debug)]
pub(crate) struct PeakMemory(());

impl PeakMemory {
    /// From now on. The count of the whole process begins again, so two cannot be measured at once.
    pub(crate) fn start() -> Self {
        // Where the count cannot begin again, the peak since the start of the process is given.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self(())
    }

    /// The most bytes since the start.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kilobytes: u64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::PeakMemory;

    #[test]
    fn what_is_held_for_a_moment_counts() {
        let peak = PeakMemory::start();
        let before = peak.bytes().unwrap();
        let held = vec![1_u8; 64 << 20];
        assert!(held.iter().all(|&byte| byte == 1));
        drop(held);
        assert!(peak.bytes().unwrap() >= before + (48 << 20));
    }
}
