//! [`Pace`]: how long work takes, told from what is done already.

use std::time::Duration;

/// How long work takes, told from what is done already.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    work: f64,
    seconds: f64,
}

impl Pace {
    /// So much work took so long.
    pub fn add(&mut self, work: f64, seconds: f64) {
        self.work += work;
        self.seconds += seconds;
    }

    /// How long so much more will take; unknown before anything is done.
    #[must_use]
    pub fn left(&self, work: f64) -> Option<Duration> {
        let seconds = work * self.seconds / self.work;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_what_was_done() {
        let mut pace = Pace::default();
        assert_eq!(pace.left(3.0), None);
        pace.add(2.0, 10.0);
        pace.add(2.0, 30.0);
        assert_eq!(pace.left(3.0), Some(Duration::from_secs(30)));
        assert_eq!(pace.left(0.0), Some(Duration::ZERO));
    }
}
