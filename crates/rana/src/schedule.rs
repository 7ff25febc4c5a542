//! [`Schedule`]: how long the rest of work takes that has several stages.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rana_graph::{Observer, Turn, Unit};

/// How often the time left is told.
const TELL_EVERY: Duration = Duration::from_millis(500);
/// The machine may be so many times as slow or as fast as expected; beyond that a measurement is too short to trust.
const WIDEST_PACE: f64 = 10.0;

/// A stage of work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    /// What it is called when it begins.
    pub(crate) name: String,
    /// How long it is expected to take.
    pub(crate) seconds: f64,
}

impl Stage {
    pub(crate) fn new(name: impl Into<String>, seconds: f64) -> Self {
        Self { name: name.into(), seconds }
    }
}

/// The stages of work and how long each is expected to take. Progress is passed on, and the time left for all of them is
/// told beside it.
pub(crate) struct Schedule<'w> {
    observer: &'w dyn Observer,
    state: Mutex<State>,
}

struct State {
    /// The stages that have not begun.
    ahead: VecDeque<Stage>,
    /// The expected seconds of the stage that runs, and its share that is done.
    running: f64,
    total: Option<u64>,
    done: u64,
    /// How much of that was done before an interruption, and says nothing about the pace.
    resumed: u64,
    /// The expected and the real seconds of what is done.
    expected: f64,
    started: Instant,
    told: Option<Instant>,
}

impl<'w> Schedule<'w> {
    /// Work with stages that are to come in this order. A stage that does not come, because it was done before, costs no
    /// time.
    pub(crate) fn new(observer: &'w dyn Observer, stages: Vec<Stage>) -> Self {
        let state = State {
            ahead: stages.into(),
            running: 0.0,
            total: None,
            done: 0,
            resumed: 0,
            expected: 0.0,
            started: Instant::now(),
            told: None,
        };
        Self { observer, state: Mutex::new(state) }
    }

    fn change(&self, is_due: bool, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        let is_due = is_due || state.told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
        if is_due {
            state.told = Some(Instant::now());
            let left = state.left(state.started.elapsed().as_secs_f64());
            drop(state);
            self.observer.time_left(left);
        }
    }
}

impl State {
    /// A stage begins: it and all before it are no longer ahead. One that was not expected takes no time.
    fn begin(&mut self, name: &str, total: Option<u64>) {
        let place = self.ahead.iter().position(|stage| stage.name == name);
        let begun = place.and_then(|place| self.ahead.drain(..=place).next_back());
        self.running = begun.map_or(0.0, |stage| stage.seconds);
        (self.total, self.done, self.resumed) = (total, 0, 0);
    }

    /// The share of the stage that some work is.
    fn share(&self, of: u64) -> f64 {
        self.total.map_or(0.0, |total| of as f64 / total.max(1) as f64).min(1.0)
    }

    /// The time left, by the pace so far.
    fn left(&self, seconds: f64) -> Duration {
        let share = self.share(self.done);
        let done = self.expected + (share - self.share(self.resumed)) * self.running;
        let ahead = (1.0 - share) * self.running + self.ahead.iter().map(|stage| stage.seconds).sum::<f64>();
        // The first seconds say little about the pace: some expected ones count beside them.
        let pace = (seconds + 2.0) / (done + 2.0);
        Duration::from_secs_f64((ahead * pace.clamp(1.0 / WIDEST_PACE, WIDEST_PACE)).max(0.0))
    }
}

impl Observer for Schedule<'_> {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        self.change(true, |state| state.begin(stage, total));
        self.observer.begin(stage, total, unit);
    }

    fn advance(&self, amount: u64) {
        self.change(false, |state| state.done += amount);
        self.observer.advance(amount);
    }

    fn resume(&self, amount: u64) {
        self.change(false, |state| {
            state.done += amount;
            state.resumed += amount;
        });
        self.observer.resume(amount);
    }

    fn end(&self) {
        self.change(false, |state| {
            state.expected += (1.0 - state.share(state.resumed)) * state.running;
            (state.running, state.total) = (0.0, None);
        });
        self.observer.end();
    }

    fn turn(&self, turn: &Turn<'_>) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let left = Some(state.left(state.started.elapsed().as_secs_f64()));
        drop(state);
        self.observer.turn(&Turn { left, ..*turn });
    }

    fn note(&self, line: &str) {
        self.observer.note(line);
    }

    fn should_stop(&self) -> bool {
        self.observer.should_stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(of: &[(&str, f64)]) -> Vec<Stage> {
        of.iter().map(|&(name, seconds)| Stage::new(name, seconds)).collect()
    }

    #[test]
    fn stages_that_do_not_come_and_stages_that_were_not_expected_cost_no_time() {
        let schedule =
            Schedule::new(&(), stages(&[("one", 50.0), ("two", 20.0), ("one", 10.0), ("two", 5.0)]));
        let left = |seconds: f64| schedule.state.lock().unwrap().left(seconds).as_secs_f64();
        assert!((left(0.0) - 85.0).abs() < 1e-9);
        // The first stage was done before.
        schedule.begin("two", Some(1), Unit::Steps);
        assert!((left(0.0) - 35.0).abs() < 1e-9);
        schedule.advance(1);
        schedule.end();
        schedule.begin("something else", None, Unit::Steps);
        schedule.end();
        assert!((left(20.0) - 15.0).abs() < 1e-9);
        schedule.begin("one", Some(2), Unit::Steps);
        schedule.advance(1);
        assert!((left(25.0) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn what_an_earlier_call_did_says_nothing_about_the_pace() {
        let schedule = Schedule::new(&(), stages(&[("one", 100.0), ("two", 100.0), ("three", 30.0)]));
        let left = |seconds: f64| schedule.state.lock().unwrap().left(seconds).as_secs_f64();
        schedule.begin("one", Some(1), Unit::Steps);
        schedule.resume(1);
        schedule.end();
        assert!((left(0.0) - 130.0).abs() < 1e-9);
        schedule.begin("two", Some(10), Unit::Steps);
        schedule.resume(9);
        schedule.advance(1);
        schedule.end();
        // The last tenth of the second stage took 10 s, as expected.
        assert!((left(10.0) - 30.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_left_follows_the_pace_of_what_is_done() {
        let schedule = Schedule::new(&(), stages(&[("one", 10.0), ("two", 30.0)]));
        let left = |seconds: f64| schedule.state.lock().unwrap().left(seconds).as_secs_f64();
        assert!((left(0.0) - 40.0).abs() < 1e-9);
        schedule.begin("one", Some(4), Unit::Steps);
        assert!((left(0.0) - 40.0).abs() < 1e-9);
        schedule.advance(2);
        // Half of the first stage took twice as long as expected: (10 + 2) / (5 + 2) of the usual.
        assert!((left(10.0) - 35.0 * 12.0 / 7.0).abs() < 1e-9);
        schedule.advance(2);
        schedule.end();
        assert!((left(10.0) - 30.0).abs() < 1e-9);
        schedule.begin("two", None, Unit::Steps);
        schedule.end();
        assert!(left(40.0).abs() < 1e-9);
    }
}
