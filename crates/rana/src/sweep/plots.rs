//! The plots of a sweep: the effect of each setting, and the training curves of the best configurations.

use std::collections::BTreeMap;

use rana_eval::Spread;

use super::Sweep;
use super::sweep_plan::look_up;
use super::sweep_report::{SweepReport, SweepRow};
use crate::report::LearningCurve;
use crate::report::plot::{LineChart, LinePoint, Picture, Series, SeriesStyle, XAxis};
use crate::trial::{TrialError, Workspace};

/// How many learning curves are drawn.
const CURVES: usize = 5;

/// Draws all pictures into `plots/`.
pub(super) fn write(sweep: &Sweep<'_>, report: &SweepReport) -> Result<(), TrialError> {
    for field in report.varied() {
        if let Some(chart) = by_setting(report, field) {
            keep(&sweep.workspace, &format!("plots/{}", file_name(field)), &chart.draw())?;
        }
    }
    if let Some(chart) = curves(report) {
        keep(&sweep.workspace, "plots/learning-curves", &chart.draw())?;
    }
    Ok(())
}

/// Writes a picture in both forms.
pub(crate) fn keep(workspace: &Workspace, name: &str, picture: &Picture) -> Result<(), TrialError> {
    workspace.write(&format!("{name}.svg"), picture.svg.as_bytes())?;
    workspace.write(&format!("{name}.png"), &picture.png)?;
    Ok(())
}

fn file_name(field: &str) -> String {
    field.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

/// The MRR by one setting: every configuration as a point, and the mean of those that share a value.
fn by_setting(report: &SweepReport, field: &str) -> Option<LineChart> {
    let values: Vec<&toml::Value> = report.rows.iter().filter_map(|row| row.settings.get(field)).collect();
    let drawn = look_up(report.plan.random.as_ref(), field);
    let range = drawn.and_then(toml::Value::as_table);
    let is_log = range.is_some_and(|range| range.contains_key("log"));
    let (axis, place) = axis(&values, is_log);
    let style = match axis {
        XAxis::Names(_) => SeriesStyle::Marks,
        _ => SeriesStyle::Line,
    };
    let points = |of: fn(&SweepRow) -> Option<Spread>| -> Vec<LinePoint> {
        let mut points: Vec<LinePoint> = report
            .rows
            .iter()
            .filter_map(|row| {
                let Spread { mean, sd } = of(row)?;
                Some(LinePoint { x: place(row.settings.get(field)?), y: mean, error: Some(sd) })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    };
    let mut series = Vec::new();
    for (name, points) in
        [("dev", points(|row| row.dev_mrr)), ("left-out train tasks", points(|row| row.fold_mrr))]
    {
        let means = means(&points);
        // Draws from a range have no values to come back to.
        if range.is_none() && means.len() < points.len() {
            let name = format!("mean of configurations ({name})");
            series.push(Series { name, style, points: means });
        }
        if !points.is_empty() {
            let name = format!("each configuration ({name})");
            series.push(Series { name, style: SeriesStyle::Points, points });
        }
    }
    (!series.is_empty()).then(|| LineChart {
        title: format!("MRR by {field}"),
        x: axis,
        x_label: field.to_owned(),
        y_label: "MRR".to_owned(),
        series,
        notes: vec![report.caption()],
    })
}

/// How the values of a setting are laid out, and where each one is.
fn axis(values: &[&toml::Value], is_log: bool) -> (XAxis, impl Fn(&toml::Value) -> f64 + use<>) {
    let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let mut names: Vec<String> = Vec::new();
    let axis = match numbers {
        Some(numbers) => {
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if least > 0.0 && (is_log || most / least >= 20.0) { XAxis::Log } else { XAxis::Linear }
        }
        None => {
            names = values.iter().map(|value| text(value)).collect();
            names.sort();
            names.dedup();
            XAxis::Names(names.clone())
        }
    };
    let place = move |value: &toml::Value| match names.is_empty() {
        true => number(value).unwrap_or_default(),
        false => names.iter().position(|name| *name == text(value)).unwrap_or_default() as f64,
    };
    (axis, place)
}

/// The mean of points at the same place.
fn means(points: &[LinePoint]) -> Vec<LinePoint> {
    let mut places: BTreeMap<u64, Vec<LinePoint>> = BTreeMap::new();
    for point in points {
        places.entry(point.x.to_bits()).or_default().push(*point);
    }
    let mut means: Vec<LinePoint> = places
        .into_values()
        .map(|points| {
            let y = points.iter().map(|point| point.y).sum::<f64>() / points.len() as f64;
            LinePoint { x: points[0].x, y, error: None }
        })
        .collect();
    means.sort_by(|a, b| a.x.total_cmp(&b.x));
    means
}

/// How the best configurations learned: their first seed.
fn curves(report: &SweepReport) -> Option<LineChart> {
    let series: Vec<Series> = report
        .rows
        .iter()
        .filter(|row| row.selected_by(report.plan.select).is_some())
        .take(CURVES)
        .filter_map(|row| {
            let trial = row.trials.iter().find(|trial| trial.fold.is_none())?;
            let points = LearningCurve::of_run(&trial.path.join("run")).line();
            let name = if row.settings.is_empty() { "as set".to_owned() } else { row.label() };
            (!points.is_empty()).then_some(Series { name, style: SeriesStyle::Curve, points })
        })
        .collect();
    (!series.is_empty()).then(|| LineChart {
        title: format!("How the best {} learned (seed {})", series.len(), report.plan.seeds[0]),
        x: XAxis::Linear,
        x_label: "step".to_owned(),
        y_label: "dev MRR".to_owned(),
        series,
        notes: Vec::new(),
    })
}
