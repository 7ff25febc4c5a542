//! Pictures of results that stand alone: SVG, and PNG of the same.
//!
//! The caller provides the data to draw. This module knows nothing about models.
//!
//! | file | concept |
//! | --- | --- |
//! | `line_chart.rs`, `dot_chart.rs` | the two kinds of chart |
//! | `frame.rs` | the title and the notes around a chart, and the sizes of text |
//! | `axis.rs` | from values to places on paper |
//! | `legend.rs` | where the names of series stand |
//! | `drawing.rs` | shapes, written as SVG and painted as PNG |
//! | `font.rs` | the embedded font |
//! | `picture.rs` | the result |

mod axis;
mod dot_chart;
mod drawing;
mod font;
mod frame;
mod legend;
mod line_chart;
mod picture;

pub use dot_chart::{Dot, DotChart, DotRow};
pub use line_chart::{LineChart, LinePoint, Series, SeriesStyle, XAxis};
pub use picture::Picture;
