//! [`Escaped`]: text for people, in which control characters of names cannot reach the terminal.

use std::borrow::Cow;
use std::io::{self, Write};

/// The sequences that the program itself writes: bold, dimmed, bold red and yellow, red and yellow, and plain again.
const OWN: [&str; 7] =
    ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[33m", "\u{1b}[1;31m", "\u{1b}[1;33m", "\u{1b}[0m"];

/// Whether a character can move the cursor, change the terminal, or turn the direction of the text around it.
fn is_harmful(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push(out: &mut String, c: char) {
    if is_harmful(c) {
        // All of them are below U+10000, so this is also an escape of JSON.
        out.push_str(&format!("\\u{:04x}", c as u32));
    } else {
        out.push(c);
    }
}

/// A text with its control characters escaped, for a place where the program writes no style. Line breaks and tabs are
/// escaped too: the text is one cell or one line.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let in_one_line = |c: char| matches!(c, '\n' | '\t');
    if !text.contains(|c| is_harmful(c) || in_one_line(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => push(&mut out, c),
        }
    }
    Cow::Owned(out)
}

/// Hands text on with control characters escaped, except line breaks, tabs and the program's own styles.
pub(crate) struct Escaped<W: Write> {
    out: W,
    /// Bytes that may be the start of a character or of a style.
    pending: Vec<u8>,
}

impl<W: Write> Escaped<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, pending: Vec::new() }
    }

    /// Writes what is pending; at the end also what is incomplete.
    fn hand_on(&mut self, at_end: bool) -> io::Result<()> {
        let whole = match std::str::from_utf8(&self.pending) {
            Err(error) if !at_end && error.error_len().is_none() => error.valid_up_to(),
            _ => self.pending.len(),
        };
        let text = String::from_utf8_lossy(&self.pending[..whole]);
        let held = if at_end { 0 } else { begun_style(&text) };
        let mut rest = &text[..text.len() - held];
        let mut out = String::with_capacity(rest.len());
        while let Some(c) = rest.chars().next() {
            let style = OWN.iter().find(|style| rest.starts_with(**style));
            match style {
                Some(style) => out.push_str(style),
                None => push(&mut out, c),
            }
            rest = &rest[style.map_or(c.len_utf8(), |style| style.len())..];
        }
        self.pending.drain(..whole - held);
        self.out.write_all(out.as_bytes())
    }
}

/// How many bytes at the end of a text are the beginning of a style.
fn begun_style(text: &str) -> usize {
    let Some(at) = text.rfind('\u{1b}') else { return 0 };
    let end = &text[at..];
    if OWN.iter().any(|style| style.len() > end.len() && style.starts_with(end)) { end.len() } else { 0 }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        self.hand_on(false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hand_on(true)?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Escaped<W> {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{BOLD, DIM};
    use proptest::prelude::*;

    fn written(pieces: &[&[u8]]) -> String {
        let mut bytes = Vec::new();
        let mut out = Escaped::new(&mut bytes);
        for piece in pieces {
            out.write_all(piece).unwrap();
        }
        drop(out);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn styles_pass_and_sequences_of_names_do_not() {
        let text = format!("{BOLD}Paris{BOLD:#} {DIM}x{DIM:#}\tline\n");
        assert_eq!(written(&[text.as_bytes()]), text);
        // The clipboard, the title, the cursor, an 8-bit sequence, a text turned around.
        for (name, shown) in [
            ("\u{1b}]52;c;AAAA\u{7}", "\\u001b]52;c;AAAA\\u0007"),
            ("\u{1b}[2J", "\\u001b[2J"),
            ("\u{9b}31m", "\\u009b31m"),
            ("a\u{202e}b", "a\\u202eb"),
            ("a\rb\u{8}", "a\\u000db\\u0008"),
        ] {
            assert_eq!(written(&[name.as_bytes()]), shown);
            assert_eq!(escape(name), shown);
        }
        assert_eq!(escape("a\nb"), "a\\nb");
        assert_eq!(escape("東京"), "東京");
    }

    proptest! {
        /// However a text is cut into pieces, the same comes out, and nothing but own styles begins with an escape.
        #[test]
        fn pieces_do_not_matter(text in "[a\u{1b}\\[0-9;m\u{9b}é東\u{7}]{0,30}", cuts in proptest::collection::vec(0usize..90, 0..4)) {
            let bytes = text.as_bytes();
            let whole = written(&[bytes]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(&written(&pieces), &whole);
            let without = OWN.iter().fold(whole, |text, style| text.replace(style, ""));
            prop_assert!(!without.contains(is_harmful));
        }
    }
}
