//! [`DotChart`]: rows with several values each, as a table is drawn.

use super::axis::Axis;
use super::drawing::{Anchor, Colour, Drawing, Marker};
use super::font;
use super::frame::{EDGE, Frame, LABEL, SMALL};
use super::legend::legend_places;
use super::picture::Picture;

/// Rows with several values each.
#[derive(Clone, Debug, PartialEq)]
pub struct DotChart {
    /// The title.
    pub title: String,
    /// The title of the axis.
    pub label: String,
    /// The names of the values of a row, in their order.
    pub names: Vec<String>,
    /// The rows from top to bottom.
    pub rows: Vec<DotRow>,
    /// The notes below the chart.
    pub notes: Vec<String>,
}

/// A row of a [`DotChart`].
#[derive(Clone, Debug, PartialEq)]
pub struct DotRow {
    /// The name of the row.
    pub label: String,
    /// Its values, as many as the chart has names.
    pub dots: Vec<Option<Dot>>,
    /// Whether a line is drawn above it.
    pub begins_group: bool,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// The value.
    pub value: f64,
    /// How far it may be off, if that is known.
    pub error: Option<f64>,
}

const WIDTH: f64 = 720.0;
const ROW: f64 = 26.0;

impl DotChart {
    /// Draws it.
    #[must_use]
    pub fn draw(&self) -> Picture {
        let frame = Frame::new(&self.title, &self.notes, WIDTH);
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let (places, legend_height) = legend_places(&names, WIDTH - 2.0 * EDGE);
        let legend_top = frame.top() + 6.0;
        let top = legend_top + legend_height + 12.0;
        let bottom = top + ROW * self.rows.len() as f64;
        let height = bottom + 50.0 + frame.bottom();
        let widest = self.rows.iter().map(|row| font::width(&row.label, LABEL)).fold(60.0, f64::max);
        let left = EDGE + widest.min(330.0) + 14.0;
        let mut drawing = Drawing::new(WIDTH, height);
        frame.draw(&mut drawing, height);
        let ends = self.rows.iter().flat_map(|row| row.dots.iter().flatten()).flat_map(|dot| {
            let error = dot.error.unwrap_or_default();
            [dot.value - error, dot.value + error]
        });
        let axis = Axis::around(ends, false, (left, WIDTH - 20.0)).towards_zero();
        for (value, text) in axis.ticks(7) {
            let place = axis.place(value);
            drawing.rule((place, top), (place, bottom), Colour::GRID);
            drawing.text((place, bottom + 13.0), Anchor::Middle, SMALL, Colour::SOFT, &text);
        }
        let middle = (left + WIDTH - 20.0) / 2.0;
        drawing.text((middle, bottom + 34.0), Anchor::Middle, LABEL, Colour::INK, &self.label);
        for (at, row) in self.rows.iter().enumerate() {
            let y = top + ROW * (at as f64 + 0.5);
            if row.begins_group && at > 0 {
                drawing.rule((EDGE, y - ROW / 2.0), (WIDTH - 20.0, y - ROW / 2.0), Colour::SOFT);
            }
            drawing.text((left - 10.0, y), Anchor::End, LABEL, Colour::INK, &row.label);
            if row.dots.iter().all(Option::is_none) {
                drawing.text((left + 8.0, y), Anchor::Start, SMALL, Colour::SOFT, "no number");
            }
            // Values of a row stand a little apart, or they would hide each other.
            let apart = (ROW * 0.62 / self.names.len().max(1) as f64).min(7.0);
            for (series, dot) in row.dots.iter().enumerate() {
                let Some(Dot { value, error }) = *dot else { continue };
                let y = y + apart * (series as f64 - (self.names.len() as f64 - 1.0) / 2.0);
                let colour = Colour::of_series(series);
                if let Some(error) = error.filter(|error| *error > 0.0) {
                    let ends = [value - error, value + error].map(|end| (axis.place(end), y));
                    drawing.whisker(ends[0], ends[1], colour);
                }
                drawing.marker((axis.place(value), y), Marker::of_series(series), 3.8, colour, series > 0);
            }
        }
        for (at, (name, place)) in names.iter().zip(&places).enumerate() {
            let (x, y) = (EDGE + place.0 + 8.0, legend_top + place.1 + 9.0);
            drawing.marker((x, y), Marker::of_series(at), 3.8, Colour::of_series(at), at > 0);
            drawing.text((x + 12.0, y), Anchor::Start, SMALL, Colour::INK, name);
        }
        Picture::of(&drawing, &self.title, &self.description())
    }

    /// A text description, for readers who cannot see the chart.
    fn description(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let values = self.names.iter().zip(&row.dots).filter_map(|(name, dot)| {
                let Dot { value, error } = (*dot)?;
                let error = error.map_or_else(String::new, |error| format!(" ± {error:.3}"));
                Some(format!("{name} {value:.3}{error}"))
            });
            format!("{}: {}", row.label, values.collect::<Vec<_>>().join(", "))
        });
        format!("{}. {}", self.label, rows.collect::<Vec<_>>().join(". "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_number_say_so() {
        let dot = |value| Some(Dot { value, error: Some(0.01) });
        let chart = DotChart {
            title: "Table".to_owned(),
            label: "MRR".to_owned(),
            names: vec!["ours".to_owned(), "published".to_owned()],
            rows: vec![
                DotRow { label: "a".to_owned(), dots: vec![dot(0.3), dot(0.36)], begins_group: false },
                DotRow { label: "b".to_owned(), dots: vec![None, None], begins_group: true },
            ],
            notes: Vec::new(),
        };
        let Picture { svg, png } = chart.draw();
        assert!(
            svg.contains("no number") && svg.contains("a: ours 0.300 ± 0.010, published 0.360 ± 0.010"),
            "{svg}"
        );
        assert!(tiny_skia::Pixmap::decode_png(&png).is_ok());
    }
}
