//! Pictures of results that stand alone: SVG, and PNG of the same.
//!
//! The caller provides the data to draw. This module knows nothing about models.

mod axis;
mod dot_chart;
mod drawing;
mod font;
mod line_chart;

pub use dot_chart::{Dot, DotChart, DotRow};
pub use line_chart::{LineChart, LinePoint, Series, SeriesStyle, XAxis};

use self::drawing::{Anchor, Colour, Drawing, Marker, Pen};

/// A picture in both forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// As SVG.
    pub svg: String,
    /// As PNG, two pixels per unit of the SVG.
    pub png: Vec<u8>,
}

impl Picture {
    fn of(drawing: &Drawing, title: &str, description: &str) -> Self {
        Self { svg: drawing.svg(title, description), png: drawing.png() }
    }
}

/// Sizes of text.
const TITLE: f64 = 15.0;
const LABEL: f64 = 12.0;
const SMALL: f64 = 11.0;
const NOTE_LINE: f64 = 15.0;
const EDGE: f64 = 16.0;

/// Places the names of series in rows; gives where each begins and how high they are together.
fn legend_places(names: &[&str], width: f64) -> (Vec<(f64, f64)>, f64) {
    const SAMPLE: f64 = 30.0;
    const GAP: f64 = 18.0;
    const ROW: f64 = 18.0;
    let (mut x, mut row) = (0.0, 0.0);
    let mut places = Vec::new();
    for name in names {
        let wide = SAMPLE + font::width(name, SMALL) + GAP;
        if x > 0.0 && x + wide > width {
            (x, row) = (0.0, row + 1.0);
        }
        places.push((x, row * ROW));
        x += wide;
    }
    (places, if names.is_empty() { 0.0 } else { (row + 1.0) * ROW })
}

/// Title and notes that a chart has above and below.
struct Frame<'a> {
    title: &'a str,
    notes: Vec<String>,
    width: f64,
}

impl<'a> Frame<'a> {
    fn new(title: &'a str, notes: &[String], width: f64) -> Self {
        let notes = notes.iter().flat_map(|note| font::wrap(note, SMALL, width - 2.0 * EDGE)).collect();
        Self { title, notes, width }
    }

    fn title_lines(&self) -> Vec<String> {
        font::wrap(self.title, TITLE, self.width - 2.0 * EDGE)
    }

    fn top(&self) -> f64 {
        EDGE + 20.0 * self.title_lines().len() as f64
    }

    fn bottom(&self) -> f64 {
        EDGE + NOTE_LINE * self.notes.len() as f64
    }

    fn draw(&self, drawing: &mut Drawing, height: f64) {
        for (at, line) in self.title_lines().iter().enumerate() {
            drawing.text((EDGE, EDGE + 8.0 + 20.0 * at as f64), Anchor::Start, TITLE, Colour::INK, line);
        }
        for (at, note) in self.notes.iter().enumerate() {
            let y = height - self.bottom() + NOTE_LINE * (at as f64 + 0.6);
            drawing.text((EDGE, y), Anchor::Start, SMALL, Colour::SOFT, note);
        }
    }
}

/// A whisker about a value, across or along.
fn whisker(drawing: &mut Drawing, from: (f64, f64), to: (f64, f64), colour: Colour) {
    const CAP: f64 = 3.5;
    let pen = Pen { colour, width: 1.3, is_dashed: false };
    drawing.line(from, to, pen);
    let is_level = (from.1 - to.1).abs() < 1e-9;
    for (x, y) in [from, to] {
        match is_level {
            true => drawing.line((x, y - CAP), (x, y + CAP), pen),
            false => drawing.line((x - CAP, y), (x + CAP, y), pen),
        }
    }
}
