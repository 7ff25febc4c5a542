//! [`Axis`]: from values to places on paper, with round numbers along the way.

/// A stretch of values, drawn along a stretch of paper.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    from: f64,
    to: f64,
    is_log: bool,
    /// Where both ends are on paper.
    pub(super) paper: (f64, f64),
}

impl Axis {
    /// An axis that holds all values, with some room around them.
    pub(super) fn around(values: impl Iterator<Item = f64>, is_log: bool, paper: (f64, f64)) -> Self {
        let scale = |value: f64| if is_log { value.ln() } else { value };
        let (mut from, mut to) = values
            .filter(|value| value.is_finite() && (!is_log || *value > 0.0))
            .map(scale)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
                (least.min(value), most.max(value))
            });
        if from > to {
            (from, to) = (0.0, 1.0);
        }
        let room = if to - from < 1e-9 { 0.05 * to.abs().max(0.2) } else { 0.07 * (to - from) };
        Self { from: from - room, to: to + room, is_log, paper }
    }

    /// The same, from zero if that is not far away.
    pub(super) fn towards_zero(mut self) -> Self {
        if self.from < 0.0 || self.from < 0.35 * self.to {
            self.from = 0.0;
        }
        self
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.is_log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let share = ((value - self.from) / (self.to - self.from)).clamp(-0.05, 1.05);
        self.paper.0 + share * (self.paper.1 - self.paper.0)
    }

    /// Round values on the axis, and how they are written.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        if self.is_log {
            return self.log_ticks();
        }
        let step = round_step((self.to - self.from) / about.max(1) as f64);
        let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        (first..=last).map(|at| (at as f64 * step, format!("{:.digits$}", at as f64 * step))).collect()
    }

    fn log_ticks(&self) -> Vec<(f64, String)> {
        let (from, to) = (self.from.exp(), self.to.exp());
        let powers = (from.log10().floor() as i32)..=(to.log10().ceil() as i32);
        let inside = |steps: &'static [f64]| {
            powers
                .clone()
                .flat_map(move |power| steps.iter().map(move |step| step * 10_f64.powi(power)))
                .filter(|value| (from..=to).contains(value))
                .collect::<Vec<f64>>()
        };
        let mut ticks = inside(&[1.0]);
        if ticks.len() < 3 {
            ticks = inside(&[1.0, 2.0, 5.0]);
        }
        ticks.into_iter().map(|value| (value, plain(value))).collect()
    }
}

/// A number as people write it, with no more digits than it has.
pub(super) fn plain(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// One of 1, 2 and 5 that is near, times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.max(1e-12).log10().floor());
    let rounded = [1.0, 2.0, 5.0, 10.0].into_iter().find(|round| round * power >= step * 0.7);
    rounded.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::around([0.25, 0.36].into_iter(), false, (0.0, 100.0));
        let ticks: Vec<String> = axis.ticks(5).into_iter().map(|(_, text)| text).collect();
        assert_eq!(ticks, ["0.26", "0.28", "0.30", "0.32", "0.34", "0.36"]);
        let axis = Axis::around([1e-4, 1e-2].into_iter(), true, (0.0, 100.0));
        let ticks: Vec<String> = axis.ticks(5).into_iter().map(|(_, text)| text).collect();
        assert_eq!(ticks, ["0.0001", "0.001", "0.01"]);
        assert!((axis.place(1e-3) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn one_value_and_none_have_an_axis_too() {
        for values in [vec![], vec![0.3], vec![0.3, 0.3], vec![f64::NAN]] {
            let axis = Axis::around(values.into_iter(), false, (0.0, 100.0));
            assert!(axis.place(0.3).is_finite() && !axis.ticks(5).is_empty());
        }
    }
}
