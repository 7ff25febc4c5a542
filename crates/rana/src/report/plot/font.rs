//! The font of plots, embedded: a picture looks the same on a machine that has none.

use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use tiny_skia::{Path, PathBuilder, Transform};

static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::new(include_bytes!("../../../assets/DejaVuSans-subset.ttf")).expect("the embedded font is sound")
});

/// How wide a text is, in the units of its size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let units: f32 = glyphs(text).map(|(_, advance)| advance).sum();
    f64::from(units) * size / units_per_em()
}

fn units_per_em() -> f64 {
    f64::from(FONT.metrics(Size::unscaled(), LocationRef::default()).units_per_em)
}

/// The glyph of each character and how far it moves the next one.
fn glyphs(text: &str) -> impl Iterator<Item = (GlyphId, f32)> {
    let (characters, metrics) =
        (FONT.charmap(), FONT.glyph_metrics(Size::unscaled(), LocationRef::default()));
    text.chars().map(move |character| {
        let glyph = characters.map(character).or_else(|| characters.map('\u{fffd}')).unwrap_or_default();
        (glyph, metrics.advance_width(glyph).unwrap_or_default())
    })
}

/// The outline of a text that begins at the origin of `place`, on its base line.
pub(super) fn outline(text: &str, size: f64, place: Transform) -> Option<Path> {
    let mut outline = Outline { path: PathBuilder::new(), x: 0.0 };
    let outlines = FONT.outline_glyphs();
    for (glyph, advance) in glyphs(text) {
        if let Some(glyph) = outlines.get(glyph) {
            glyph
                .draw(DrawSettings::unhinted(Size::unscaled(), LocationRef::default()), &mut outline)
                .ok()?;
        }
        outline.x += advance;
    }
    let scale = (size / units_per_em()) as f32;
    outline.path.finish()?.transform(place.pre_scale(scale, -scale))
}

struct Outline {
    path: PathBuilder,
    x: f32,
}

impl OutlinePen for Outline {
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
            assert!(FONT.charmap().map(character).is_some(), "{character:?}");
        }
        assert!(width("mm", 10.0) > width("ii", 10.0));
        let lines = wrap("one two three four", 10.0, width("one two", 10.0));
        assert_eq!(lines, ["one two", "three", "four"]);
    }
}
