//! [`Picture`]: a finished picture, as SVG and as PNG.

use super::drawing::Drawing;

/// A picture in both forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// As SVG.
    pub svg: String,
    /// As PNG, two pixels per unit of the SVG.
    pub png: Vec<u8>,
}

impl Picture {
    pub(super) fn of(drawing: &Drawing, title: &str, description: &str) -> Self {
        Self { svg: drawing.svg(title, description), png: drawing.png() }
    }
}
