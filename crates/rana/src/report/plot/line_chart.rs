//! [`LineChart`]: values along an axis, with error bars.

use super::axis::{Axis, plain};
use super::drawing::{Anchor, Colour, Drawing, Marker, Pen};
use super::frame::{EDGE, Frame, LABEL, SMALL};
use super::legend::legend_places;
use super::picture::Picture;

/// Values along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// The title.
    pub title: String,
    /// The axis from left to right.
    pub x: XAxis,
    /// The title of the horizontal axis.
    pub x_label: String,
    /// The title of the vertical axis.
    pub y_label: String,
    /// The series.
    pub series: Vec<Series>,
    /// The notes below the chart.
    pub notes: Vec<String>,
}

/// An axis from left to right.
#[derive(Clone, Debug, PartialEq)]
pub enum XAxis {
    /// Numbers.
    Linear,
    /// Numbers above zero, by their magnitude.
    Log,
    /// Names; the value of a point is the position of its name.
    Names(Vec<String>),
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name of the series.
    pub name: String,
    /// How they are drawn.
    pub style: SeriesStyle,
    /// The points, from left to right.
    pub points: Vec<LinePoint>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesStyle {
    /// Points joined by a line.
    Line,
    /// Points joined by a broken line.
    Dashed,
    /// A line without points, for long series.
    Curve,
    /// Filled points of their own.
    Marks,
    /// Hollow points of their own.
    Points,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePoint {
    /// Where it is on the axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// How far it may be off, if that is known.
    pub error: Option<f64>,
}

const WIDTH: f64 = 640.0;
const PLOT_HEIGHT: f64 = 300.0;
const LEFT: f64 = 66.0;

impl LineChart {
    /// Draws it.
    #[must_use]
    pub fn draw(&self) -> Picture {
        let frame = Frame::new(&self.title, &self.notes, WIDTH);
        let names: Vec<&str> = self.series.iter().map(|series| series.name.as_str()).collect();
        let (places, legend_height) = legend_places(&names, WIDTH - 2.0 * EDGE);
        let legend_top = frame.top() + 6.0;
        let top = legend_top + legend_height + 10.0;
        let bottom = top + PLOT_HEIGHT;
        let below = 52.0 + if self.has_long_names() { 14.0 } else { 0.0 };
        let height = bottom + below + frame.bottom();
        let mut drawing = Drawing::new(WIDTH, height);
        frame.draw(&mut drawing, height);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = match &self.x {
            XAxis::Names(names) => {
                let ends = [-0.4, names.len() as f64 - 0.6];
                Axis::around(ends.into_iter(), false, (LEFT, WIDTH - 20.0))
            }
            axis => Axis::around(points().map(|point| point.x), *axis == XAxis::Log, (LEFT, WIDTH - 20.0)),
        };
        let ends = points().flat_map(|point| {
            let error = point.error.unwrap_or_default();
            [point.y - error, point.y + error]
        });
        let y = Axis::around(ends, false, (bottom, top));
        self.draw_axes(&mut drawing, &x, &y, below);
        for (at, series) in self.series.iter().enumerate() {
            series.draw(&mut drawing, at, self.shift(at), &x, &y);
            let (left, down) = (EDGE + places[at].0, legend_top + places[at].1 + 9.0);
            series.draw_sample(&mut drawing, at, (left, down));
            drawing.text((left + 28.0, down), Anchor::Start, SMALL, Colour::INK, &series.name);
        }
        Picture::of(&drawing, &self.title, &self.description())
    }

    /// Series with error bars stand a little apart, or these would hide each other.
    fn shift(&self, at: usize) -> f64 {
        const APART: f64 = 5.0;
        let has_bars =
            |series: &Series| series.points.iter().any(|point| point.error.is_some_and(|of| of > 0.0));
        let count = self.series.iter().filter(|series| has_bars(series)).count();
        let before = self.series[..at].iter().filter(|series| has_bars(series)).count();
        match has_bars(&self.series[at]) {
            true => APART * (before as f64 - (count as f64 - 1.0) / 2.0),
            false => 0.0,
        }
    }

    fn has_long_names(&self) -> bool {
        matches!(&self.x, XAxis::Names(names) if names.len() > 4)
    }

    fn draw_axes(&self, drawing: &mut Drawing, x: &Axis, y: &Axis, below: f64) {
        let ((left, right), (bottom, top)) = (x.paper, y.paper);
        for (value, text) in y.ticks(6) {
            let place = y.place(value);
            drawing.rule((left, place), (right, place), Colour::GRID);
            drawing.text((left - 8.0, place), Anchor::End, SMALL, Colour::SOFT, &text);
        }
        for (at, (value, text)) in self.x_ticks(x).into_iter().enumerate() {
            let place = x.place(value);
            drawing.rule((place, bottom), (place, bottom + 5.0), Colour::SOFT);
            // Long names take turns in two rows.
            let row = if self.has_long_names() && at % 2 == 1 { 14.0 } else { 0.0 };
            drawing.text((place, bottom + 15.0 + row), Anchor::Middle, SMALL, Colour::SOFT, &text);
        }
        drawing.rule((left, bottom), (right, bottom), Colour::SOFT);
        let middle = (left + right) / 2.0;
        drawing.text((middle, bottom + below - 16.0), Anchor::Middle, LABEL, Colour::INK, &self.x_label);
        drawing.upright_text((EDGE + 2.0, (top + bottom) / 2.0), LABEL, Colour::INK, &self.y_label);
    }

    /// Names, the values themselves if they are few, or round numbers.
    fn x_ticks(&self, x: &Axis) -> Vec<(f64, String)> {
        if let XAxis::Names(names) = &self.x {
            return names.iter().enumerate().map(|(at, name)| (at as f64, name.clone())).collect();
        }
        let mut values: Vec<f64> =
            self.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let far_apart = |pair: &[f64]| (x.place(pair[1]) - x.place(pair[0])).abs() > 34.0;
        match values.len() <= 12 && values.windows(2).all(far_apart) {
            true => values.into_iter().map(|value| (value, plain(value))).collect(),
            false => x.ticks(8),
        }
    }

    /// A text description, for readers who cannot see the chart.
    fn description(&self) -> String {
        let series = self.series.iter().map(|series| {
            let points = series.points.iter().take(20).map(|point| match &self.x {
                XAxis::Names(names) => {
                    let name = names.get(point.x as usize).map_or("", String::as_str);
                    format!("{name}: {:.3}", point.y)
                }
                _ => format!("{}: {:.3}", plain(point.x), point.y),
            });
            format!("{}: {}", series.name, points.collect::<Vec<_>>().join(", "))
        });
        format!("{} by {}. {}", self.y_label, self.x_label, series.collect::<Vec<_>>().join(". "))
    }
}

impl Series {
    fn draw(&self, drawing: &mut Drawing, at: usize, shift: f64, x: &Axis, y: &Axis) {
        let colour = Colour::of_series(at);
        let places: Vec<(f64, f64)> =
            self.points.iter().map(|point| (x.place(point.x) + shift, y.place(point.y))).collect();
        for (point, &(across, _)) in self.points.iter().zip(&places) {
            if let Some(error) = point.error.filter(|error| *error > 0.0) {
                let ends = [point.y - error, point.y + error].map(|end| (across, y.place(end)));
                drawing.whisker(ends[0], ends[1], colour);
            }
        }
        if let Some(pen) = self.pen(colour) {
            drawing.curve(places.clone(), pen);
        }
        if self.style != SeriesStyle::Curve {
            for place in places {
                self.draw_marker(drawing, at, place);
            }
        }
    }

    fn draw_sample(&self, drawing: &mut Drawing, at: usize, (x, y): (f64, f64)) {
        if let Some(pen) = self.pen(Colour::of_series(at)) {
            drawing.line((x, y), (x + 22.0, y), pen);
        }
        if self.style != SeriesStyle::Curve {
            self.draw_marker(drawing, at, (x + 11.0, y));
        }
    }

    fn draw_marker(&self, drawing: &mut Drawing, at: usize, place: (f64, f64)) {
        let is_hollow = self.style == SeriesStyle::Points;
        drawing.marker(place, Marker::of_series(at), 3.6, Colour::of_series(at), is_hollow);
    }

    fn pen(&self, colour: Colour) -> Option<Pen> {
        let width = if self.style == SeriesStyle::Curve { 1.6 } else { 2.0 };
        (!matches!(self.style, SeriesStyle::Points | SeriesStyle::Marks)).then_some(Pen {
            colour,
            width,
            is_dashed: self.style == SeriesStyle::Dashed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> LineChart {
        let point = |x: f64, y: f64| LinePoint { x, y, error: Some(0.02) };
        LineChart {
            title: "MRR by shots & <more>".to_owned(),
            x: XAxis::Linear,
            x_label: "shots".to_owned(),
            y_label: "MRR".to_owned(),
            series: vec![Series {
                name: "ours".to_owned(),
                style: SeriesStyle::Line,
                points: vec![point(1.0, 0.2), point(2.0, 0.3), point(8.0, 0.35)],
            }],
            notes: vec!["a note".to_owned()],
        }
    }

    #[test]
    fn higher_values_are_drawn_higher_and_text_is_no_markup() {
        let picture = chart().draw();
        assert!(picture.svg.contains("MRR by shots &amp; &lt;more&gt;"), "{}", picture.svg);
        let heights: Vec<f64> = picture
            .svg
            .lines()
            .filter(|line| line.starts_with("<circle"))
            .map(|line| line.split("cy=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        // The three points, then the one of the legend.
        assert_eq!(heights.len(), 4);
        assert!(heights[0] > heights[1] && heights[1] > heights[2], "{heights:?}");
    }

    #[test]
    fn the_png_is_one_and_has_ink() {
        let png = chart().draw().png;
        let pixmap = tiny_skia::Pixmap::decode_png(&png).unwrap();
        assert_eq!(pixmap.width(), 2 * WIDTH as u32);
        let inked = pixmap.pixels().iter().filter(|pixel| pixel.red() < 128).count();
        assert!(inked > 1000, "{inked}");
        // Nothing but data, so nothing can differ.
        assert_eq!(chart().draw().png, png);
    }
}
