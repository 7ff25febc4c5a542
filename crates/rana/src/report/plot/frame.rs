//! [`Frame`]: the title above a chart and the notes below it, and the sizes that all charts share.

use super::drawing::{Anchor, Colour, Drawing};
use super::font;

/// The size of the title.
const TITLE: f64 = 15.0;
/// The size of the names of axes and rows.
pub(super) const LABEL: f64 = 12.0;
/// The size of all other text.
pub(super) const SMALL: f64 = 11.0;
/// How high a line of notes is.
const NOTE_LINE: f64 = 15.0;
/// The free space at each edge.
pub(super) const EDGE: f64 = 16.0;

/// Title and notes that a chart has above and below.
pub(super) struct Frame<'a> {
    title: &'a str,
    notes: Vec<String>,
    width: f64,
}

impl<'a> Frame<'a> {
    pub(super) fn new(title: &'a str, notes: &[String], width: f64) -> Self {
        let notes = notes.iter().flat_map(|note| font::wrap(note, SMALL, width - 2.0 * EDGE)).collect();
        Self { title, notes, width }
    }

    fn title_lines(&self) -> Vec<String> {
        font::wrap(self.title, TITLE, self.width - 2.0 * EDGE)
    }

    pub(super) fn top(&self) -> f64 {
        EDGE + 20.0 * self.title_lines().len() as f64
    }

    pub(super) fn bottom(&self) -> f64 {
        EDGE + NOTE_LINE * self.notes.len() as f64
    }

    pub(super) fn draw(&self, drawing: &mut Drawing, height: f64) {
        for (at, line) in self.title_lines().iter().enumerate() {
            drawing.text((EDGE, EDGE + 8.0 + 20.0 * at as f64), Anchor::Start, TITLE, Colour::INK, line);
        }
        for (at, note) in self.notes.iter().enumerate() {
            let y = height - self.bottom() + NOTE_LINE * (at as f64 + 0.6);
            drawing.text((EDGE, y), Anchor::Start, SMALL, Colour::SOFT, note);
        }
    }
}
