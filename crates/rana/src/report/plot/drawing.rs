//! [`Drawing`]: a few kinds of shapes, written as SVG and painted as PNG.
//!
//! The pages of `card_page/` follow the colours around them; a picture that stands alone brings its own: a white
//! ground, so that it reads the same in light and dark viewers, and colours that colour-blind people can tell
//! apart (Okabe and Ito).

use tiny_skia::{
    Color, FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

use super::font;
use crate::report::card_page::escape;

/// A colour, as `rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u32);

impl Colour {
    pub(super) const INK: Self = Self(0x22_2222);
    pub(super) const SOFT: Self = Self(0x66_6666);
    pub(super) const GRID: Self = Self(0xe3_e3e3);
    pub(super) const GROUND: Self = Self(0xff_ffff);

    /// Colours of series, told apart by everybody.
    pub(super) fn of_series(at: usize) -> Self {
        const PALETTE: [u32; 7] =
            [0x00_72b2, 0xd5_5e00, 0x00_9e73, 0xcc_79a7, 0xe6_9f00, 0x56_b4e9, 0x55_5555];
        Self(PALETTE[at % PALETTE.len()])
    }

    fn paint(self) -> Paint<'static> {
        let [_, red, green, blue] = self.0.to_be_bytes();
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        paint.set_color(Color::from_rgba8(red, green, blue, 255));
        paint
    }
}

impl std::fmt::Display for Colour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

/// Which end of a text its position means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The shape of a point. Series differ in shape and in colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Diamond,
    Triangle,
}

impl Marker {
    pub(super) fn of_series(at: usize) -> Self {
        [Self::Circle, Self::Diamond, Self::Square, Self::Triangle][at % 4]
    }

    /// The corners around a centre; none for a circle.
    fn corners(self, (x, y): (f64, f64), radius: f64) -> Vec<(f64, f64)> {
        match self {
            Self::Circle => Vec::new(),
            Self::Square => {
                let r = radius * 0.9;
                vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)]
            }
            Self::Diamond => {
                let r = radius * 1.25;
                vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)]
            }
            Self::Triangle => {
                let r = radius * 1.2;
                vec![(x, y - r), (x + r, y + 0.8 * r), (x - r, y + 0.8 * r)]
            }
        }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pen {
    pub(super) colour: Colour,
    pub(super) width: f64,
    pub(super) is_dashed: bool,
}

enum Shape {
    Curve { points: Vec<(f64, f64)>, pen: Pen },
    Marker { at: (f64, f64), marker: Marker, radius: f64, colour: Colour, is_hollow: bool },
    Text { at: (f64, f64), anchor: Anchor, size: f64, colour: Colour, text: String, is_upright: bool },
}

/// A picture in the making.
pub(super) struct Drawing {
    width: f64,
    height: f64,
    shapes: Vec<Shape>,
}

const DASHES: [f32; 2] = [5.0, 4.0];
const FONTS: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";
/// Pixels of a PNG per unit.
const SCALE: f32 = 2.0;

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: Vec::new() }
    }

    pub(super) fn curve(&mut self, points: Vec<(f64, f64)>, pen: Pen) {
        self.shapes.push(Shape::Curve { points, pen });
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: Pen) {
        self.curve(vec![from, to], pen);
    }

    /// A thin line, as for axes and grids.
    pub(super) fn rule(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        self.line(from, to, Pen { colour, width: 1.0, is_dashed: false });
    }

    pub(super) fn marker(
        &mut self,
        at: (f64, f64),
        marker: Marker,
        radius: f64,
        colour: Colour,
        is_hollow: bool,
    ) {
        self.shapes.push(Shape::Marker { at, marker, radius, colour, is_hollow });
    }

    /// The error bar of a value, level or upright.
    pub(super) fn whisker(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        const CAP: f64 = 3.5;
        let pen = Pen { colour, width: 1.3, is_dashed: false };
        self.line(from, to, pen);
        let is_level = (from.1 - to.1).abs() < 1e-9;
        for (x, y) in [from, to] {
            match is_level {
                true => self.line((x, y - CAP), (x, y + CAP), pen),
                false => self.line((x - CAP, y), (x + CAP, y), pen),
            }
        }
    }

    /// A text whose middle is at this height.
    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, size: f64, colour: Colour, text: &str) {
        let text = text.to_owned();
        self.shapes.push(Shape::Text { at, anchor, size, colour, text, is_upright: false });
    }

    /// A text that runs from bottom to top, its middle here.
    pub(super) fn upright_text(&mut self, at: (f64, f64), size: f64, colour: Colour, text: &str) {
        let (anchor, text) = (Anchor::Middle, text.to_owned());
        self.shapes.push(Shape::Text { at, anchor, size, colour, text, is_upright: true });
    }

    pub(super) fn svg(&self, title: &str, description: &str) -> String {
        let Self { width, height, .. } = self;
        let (title, description) = (escape(title), escape(description));
        let mut body = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
             {height:.0}\" role=\"img\" font-family=\"{FONTS}\">\n<title>{title}</title>\n<desc>{description}</desc>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
            Colour::GROUND
        );
        for shape in &self.shapes {
            body += &shape.svg();
        }
        body + "</svg>\n"
    }

    pub(super) fn png(&self) -> Vec<u8> {
        let pixels = |length: f64| (length * f64::from(SCALE)).ceil().clamp(1.0, 16_384.0) as u32;
        let mut pixmap =
            Pixmap::new(pixels(self.width), pixels(self.height)).expect("both sides are at least one pixel");
        pixmap.fill(Color::WHITE);
        for shape in &self.shapes {
            shape.paint(&mut pixmap, Transform::from_scale(SCALE, SCALE));
        }
        pixmap.encode_png().expect("memory takes any number of bytes")
    }
}

impl Shape {
    fn svg(&self) -> String {
        match self {
            Self::Curve { points, pen: Pen { colour, width, is_dashed } } => {
                let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                let dashes = match is_dashed {
                    true => format!(" stroke-dasharray=\"{} {}\"", DASHES[0], DASHES[1]),
                    false => String::new(),
                };
                format!(
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}/>\n",
                    points.join(" ")
                )
            }
            Self::Marker { at: (x, y), marker, radius, colour, is_hollow } => {
                let fill = if *is_hollow { Colour::GROUND } else { *colour };
                let style = format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.5\"");
                match marker {
                    Marker::Circle => {
                        format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" {style}/>\n")
                    }
                    marker => {
                        let corners = marker.corners((*x, *y), *radius);
                        let points: Vec<String> =
                            corners.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                        format!("<polygon points=\"{}\" {style}/>\n", points.join(" "))
                    }
                }
            }
            Self::Text { at: (x, y), anchor, size, colour, text, is_upright } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let (below, text) = (baseline(*size), escape(text));
                let turn = if *is_upright { " rotate(-90)" } else { "" };
                format!(
                    "<text transform=\"translate({x:.1} {y:.1}){turn}\" y=\"{below:.1}\" text-anchor=\"{anchor}\" \
                     font-size=\"{size}\" fill=\"{colour}\">{text}</text>\n"
                )
            }
        }
    }

    fn paint(&self, pixmap: &mut Pixmap, view: Transform) {
        match self {
            Self::Curve { points, pen } => {
                if let Some(path) = polygon(points, false) {
                    let dash = pen.is_dashed.then(|| StrokeDash::new(DASHES.to_vec(), 0.0)).flatten();
                    let stroke = Stroke {
                        width: pen.width as f32,
                        dash,
                        line_cap: LineCap::Butt,
                        ..Stroke::default()
                    };
                    pixmap.stroke_path(&path, &pen.colour.paint(), &stroke, view, None);
                }
            }
            Self::Marker { at, marker, radius, colour, is_hollow } => {
                let corners = marker.corners(*at, *radius);
                let path = match corners.is_empty() {
                    true => circle(*at, *radius),
                    false => polygon(&corners, true),
                };
                let Some(path) = path else { return };
                let fill = if *is_hollow { Colour::GROUND } else { *colour };
                pixmap.fill_path(&path, &fill.paint(), FillRule::Winding, view, None);
                let stroke = Stroke { width: 1.5, ..Stroke::default() };
                pixmap.stroke_path(&path, &colour.paint(), &stroke, view, None);
            }
            Self::Text { at: (x, y), anchor, size, colour, text, is_upright } => {
                let width = font::width(text, *size);
                let left = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => -width / 2.0,
                    Anchor::End => -width,
                };
                let mut place = view.pre_translate(*x as f32, *y as f32);
                if *is_upright {
                    place = place.pre_rotate(-90.0);
                }
                place = place.pre_translate(left as f32, baseline(*size) as f32);
                if let Some(path) = font::outline(text, *size, place) {
                    pixmap.fill_path(&path, &colour.paint(), FillRule::Winding, Transform::identity(), None);
                }
            }
        }
    }
}

/// How far below its middle a text stands.
fn baseline(size: f64) -> f64 {
    0.36 * size
}

fn polygon(points: &[(f64, f64)], is_closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, &(x, y)) in points.iter().enumerate() {
        match at {
            0 => path.move_to(x as f32, y as f32),
            _ => path.line_to(x as f32, y as f32),
        }
    }
    if is_closed {
        path.close();
    }
    path.finish()
}

fn circle((x, y): (f64, f64), radius: f64) -> Option<Path> {
    let side = 2.0 * radius as f32;
    let bounds = Rect::from_xywh((x - radius) as f32, (y - radius) as f32, side, side)?;
    PathBuilder::from_oval(bounds)
}
