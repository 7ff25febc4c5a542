//! The legend of a chart: where the names of its series stand.

use super::font;
use super::frame::SMALL;

/// Places the names of series in rows; gives where each begins and how high they are together.
pub(super) fn legend_places(names: &[&str], width: f64) -> (Vec<(f64, f64)>, f64) {
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
