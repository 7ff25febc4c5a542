//! [`Svg`]: a drawing that follows the colours of the page around it.
//!
//! Plotting libraries write colours and sizes into their SVG, which then is neither dark on a dark
//! page nor readable on a phone, and have no place for a description; three charts need so little
//! that it is written here. Colours are CSS classes of `style.css`.

use std::fmt::Display;

/// The width of every drawing, in its own units; small, so that text stays readable on a phone.
pub(super) const WIDTH: f64 = 440.0;

/// A drawing in the making.
#[derive(Default)]
pub(super) struct Svg {
    body: String,
}

/// Which end of a text its position means.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        // Half the height of a digit below the middle.
        let y = y + 4.5;
        let text = escape(text);
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>\n"
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.body += &format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>\n"
        );
    }

    pub(super) fn circle(&mut self, (x, y): (f64, f64), radius: f64, class: &str) {
        self.body += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" class=\"{class}\"/>\n");
    }

    pub(super) fn diamond(&mut self, (x, y): (f64, f64), radius: f64, class: &str) {
        self.body += &format!(
            "<path d=\"M{x:.1} {:.1}l{radius} {radius}l-{radius} {radius}l-{radius} -{radius}z\" class=\"{class}\"/>\n",
            y - radius
        );
    }

    /// A line through points, broken in the rhythm of `dashes` if that is not empty.
    pub(super) fn curve(&mut self, points: &[(f64, f64)], dashes: &str, class: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dashes = match dashes {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        self.body += &format!("<polyline points=\"{}\"{dashes} class=\"{class}\"/>\n", points.join(" "));
    }

    /// Opens a group whose title is shown under the pointer.
    pub(super) fn begin_group(&mut self, title: &str) {
        self.body += &format!("<g><title>{}</title>\n", escape(title));
    }

    pub(super) fn end_group(&mut self) {
        self.body += "</g>\n";
    }

    /// The drawing as an element. `id` must be the only one of its kind on the page.
    pub(super) fn finish(self, id: &str, height: f64, title: &str, description: &str) -> String {
        let Self { body } = self;
        let (title, description) = (escape(title), escape(description));
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{description}</desc>\n{body}</svg>\n"
        )
    }
}

/// Text as it must be written in HTML and SVG, also inside quotes.
pub(crate) fn escape(text: impl Display) -> String {
    let mut escaped = String::new();
    for character in text.to_string().chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            // No document may hold these, escaped or not.
            character if character.is_control() => escaped.push('\u{fffd}'),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(
            escape("<b a='x' b=\"y\">&\u{0}é"),
            "&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;\u{fffd}é"
        );
    }
}
