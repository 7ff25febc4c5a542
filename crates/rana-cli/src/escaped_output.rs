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
        let mut text = String::with_capacity(self.pending.len());
        let mut rest: &[u8] = &self.pending;
        while !rest.is_empty() {
            let (valid, invalid) = match std::str::from_utf8(rest) {
                Ok(valid) => (valid, 0),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    (std::str::from_utf8(valid).unwrap_or_default(), error.error_len().unwrap_or(after.len()))
                }
            };
            let is_whole = valid.len() + invalid == rest.len() && invalid > 0 && invalid < 4;
            let mut tail = valid;
            while let Some(c) = tail.chars().next() {
                if let Some(style) = OWN.iter().find(|style| tail.starts_with(**style)) {
                    text.push_str(style);
                    tail = &tail[style.len()..];
                    continue;
                }
                let may_be_style = c == '\u{1b}' && OWN.iter().any(|style| style.starts_with(tail));
                if may_be_style && !at_end && invalid == 0 {
                    break;
                }
                push(&mut text, c);
                tail = &tail[c.len_utf8()..];
            }
            if !tail.is_empty() || (is_whole && !at_end && is_incomplete(&rest[valid.len()..])) {
                let from = rest.len() - tail.len() - invalid;
                rest = &rest[from..];
                break;
            }
            if invalid > 0 {
                text.push(char::REPLACEMENT_CHARACTER);
            }
            rest = &rest[valid.len() + invalid..];
        }
        self.pending = rest.to_vec();
        self.out.write_all(text.as_bytes())
    }
}

/// Whether bytes are the beginning of a character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
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
