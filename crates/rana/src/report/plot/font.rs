//! The font of plots, embedded: a picture looks the same on a machine that has none.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, OutlineBuilder};

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    Face::parse(include_bytes!("../../../assets/DejaVuSans-subset.ttf"), 0)
        .expect("the embedded font is sound")
});

/// How wide a text is, in the units of its size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let units: u32 = text.chars().map(|character| u32::from(advance(character))).sum();
    f64::from(units) * size / f64::from(FACE.units_per_em())
}

fn glyph(character: char) -> ttf_parser::GlyphId {
    FACE.glyph_index(character).or_else(|| FACE.glyph_index('\u{fffd}')).unwrap_or_default()
}

fn advance(character: char) -> u16 {
    FACE.glyph_hor_advance(glyph(character)).unwrap_or_default()
}

/// The outline of a text that begins at the origin of `place`, on its base line.
pub(super) fn outline(text: &str, size: f64, place: Transform) -> Option<Path> {
    let mut outline = Outline { path: PathBuilder::new(), x: 0.0 };
    for character in text.chars() {
        FACE.outline_glyph(glyph(character), &mut outline);
        outline.x += f32::from(advance(character));
    }
    let scale = (size / f64::from(FACE.units_per_em())) as f32;
    outline.path.finish()?.transform(place.pre_scale(scale, -scale))
}

struct Outline {
    path: PathBuilder,
    x: f32,
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + x1, y1, self.x + x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(self.x + x1, y1, self.x + x2, y2, self.x + x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
}

/// A text in lines of at most this width.
pub(super) fn wrap(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_knows_what_plots_say() {
        for character in "AZaz09 .,±−–—·×≥≤γητβ√→@=()[]é\u{fffd}".chars() {
            assert!(FACE.glyph_index(character).is_some(), "{character:?}");
        }
        assert!(width("mm", 10.0) > width("ii", 10.0));
        let lines = wrap("one two three four", 10.0, width("one two", 10.0));
        assert_eq!(lines, ["one two", "three", "four"]);
    }
}
