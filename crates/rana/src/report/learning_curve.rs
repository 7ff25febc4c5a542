//! [`LearningCurve`]: the MRR on dev during a training, read from the log of its run.

use std::path::Path;

use serde::Deserialize;

/// A dev evaluation during training.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct CurvePoint {
    /// How many steps were done.
    pub step: u64,
    /// The MRR the best model is chosen by.
    #[serde(rename = "dev_mrr")]
    pub mrr: f64,
}

/// The MRR on dev during a training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearningCurve {
    /// The evaluations, in the order of steps.
    pub points: Vec<CurvePoint>,
}

impl LearningCurve {
    /// The curve of a run; empty if its log is not there.
    #[must_use]
    pub fn of_run(run: &Path) -> Self {
        let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
        // Lines about steps have no dev MRR.
        Self { points: text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect() }
    }

    /// The best evaluation, the first of equal ones.
    #[must_use]
    pub fn best(&self) -> Option<CurvePoint> {
        let better = |best: CurvePoint, point: CurvePoint| if point.mrr > best.mrr { point } else { best };
        self.points.iter().copied().reduce(better)
    }

    /// The curve as a picture, with the evaluation that was best.
    #[cfg(feature = "plots")]
    #[must_use]
    pub fn picture(&self, title: &str) -> Option<super::plot::Picture> {
        use super::plot::{LineChart, Series, SeriesStyle, XAxis};
        let best = self.best()?;
        let marked = Self { points: vec![best] };
        let chart = LineChart {
            title: title.to_owned(),
            x: XAxis::Linear,
            x_label: "step".to_owned(),
            y_label: "dev MRR".to_owned(),
            series: vec![
                Series { name: "dev MRR".to_owned(), style: SeriesStyle::Curve, points: self.line() },
                Series {
                    name: format!("best: {:.3} after step {}", best.mrr, best.step),
                    style: SeriesStyle::Marks,
                    points: marked.line(),
                },
            ],
            notes: Vec::new(),
        };
        Some(chart.draw())
    }

    /// The points as a chart has them.
    #[cfg(feature = "plots")]
    pub(crate) fn line(&self) -> Vec<super::plot::LinePoint> {
        let place =
            |point: &CurvePoint| super::plot::LinePoint { x: point.step as f64, y: point.mrr, error: None };
        self.points.iter().map(place).collect()
    }
}

/// Values as one line of text, each as a bar of its height; evenly chosen ones with the last, if there are more than
/// `width`.
///
/// ```
/// assert_eq!(rana::report::sparkline(&[0.1, 0.2, 0.4, 0.3], 10), "▁▃█▆");
/// ```
#[must_use]
pub fn sparkline(values: &[f64], width: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let count = values.len().min(width);
    let shown: Vec<f64> = (1..=count).map(|at| values[at * values.len() / count - 1]).collect();
    let least = shown.iter().copied().fold(f64::INFINITY, f64::min);
    let most = shown.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let height = |value: f64| match most > least {
        true => ((value - least) / (most - least) * (BARS.len() - 1) as f64).round() as usize,
        false => 0,
    };
    shown.into_iter().map(|value| BARS[height(value)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_of_a_log_has_its_dev_evaluations() {
        let run = tempfile::tempdir().unwrap();
        assert_eq!(LearningCurve::of_run(run.path()), LearningCurve::default());
        let log = "{\"kind\":\"dev\",\"step\":0,\"dev_mrr\":0.1,\"is_best\":true}\n\
                   {\"kind\":\"step\",\"step\":5,\"loss\":0.7}\n\
                   {\"kind\":\"dev\",\"step\":10,\"dev_mrr\":0.3,\"is_best\":true}\n\
                   {\"kind\":\"dev\",\"step\":20,\"dev_mrr\":0.3,\"is_best\":false}\n";
        std::fs::write(run.path().join("metrics.jsonl"), log).unwrap();
        let curve = LearningCurve::of_run(run.path());
        assert_eq!(curve.points.iter().map(|point| point.step).collect::<Vec<_>>(), [0, 10, 20]);
        assert_eq!(curve.best(), Some(CurvePoint { step: 10, mrr: 0.3 }));
        let picture = curve.picture("A training").unwrap();
        assert!(picture.svg.contains("best: 0.300 after step 10"));
        assert!(LearningCurve::default().picture("None").is_none());
    }

    #[test]
    fn a_sparkline_has_the_last_value_and_a_single_one_too() {
        assert_eq!(sparkline(&[5.0, 0.0, 9.0, 1.0], 2), "▁█");
        assert_eq!(sparkline(&[0.2], 8), "▁");
        assert_eq!(sparkline(&[], 8), "");
    }
}
