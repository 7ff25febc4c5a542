//! How names and labels are compared: without case, accents and punctuation.

use rana_graph::last_part;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer texts are found by their first bytes.
const LENGTH: usize = 256;

/// A text as it is compared: words of lower-case letters and digits with one space between them.
pub(super) fn folded(text: &str) -> String {
    let mut out = String::new();
    fold_into(&mut out, text);
    out
}

/// Appends a text as it is compared.
pub(super) fn fold_into(out: &mut String, text: &str) {
    let text = last_part(text);
    let start = out.len();
    let words = Words { out, start };
    if text.is_ascii() {
        words.push_all(text.chars().map(|c| c.to_ascii_lowercase()), |c| c.is_ascii_alphanumeric());
    } else {
        let plain = text
            .nfkd()
            .filter(|c| !is_accent(*c))
            // There and back again, so that `ß` is `ss` and both small sigmas are one.
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase);
        // The vowel signs of many scripts are marks: they belong to the word.
        words.push_all(plain, |c| c.is_alphanumeric() || is_combining_mark(c));
    }
    if out.len() == start {
        // Nothing but signs, such as `→`: they are all there is to find it by.
        Words { out, start }
            .push_all(text.chars().flat_map(char::to_lowercase), |c| !c.is_whitespace() && !c.is_control());
    }
}

/// The accents of Latin, Greek and Cyrillic letters.
fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

struct Words<'a> {
    out: &'a mut String,
    start: usize,
}

impl Words<'_> {
    fn push_all(self, chars: impl Iterator<Item = char>, is_in_word: impl Fn(char) -> bool) {
        let mut is_between = false;
        for c in chars {
            if !is_in_word(c) {
                is_between = true;
                continue;
            }
            if self.out.len() - self.start >= LENGTH {
                break;
            }
            if is_between && self.out.len() > self.start {
                self.out.push(' ');
            }
            is_between = false;
            self.out.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_the_same_to_a_reader() {
        for (text, same) in [
            ("São Tomé", "sao tome"),
            ("acquired_abnormality", "Acquired  Abnormality"),
            ("concept:city:paris", "Concept City, Paris!"),
            ("http://dbpedia.org/resource/Paris_Hilton", "Paris Hilton"),
            ("http://www.wikidata.org/entity/Q42", "q42"),
            ("http://example.org/", "example.org"),
            ("Straße", "STRASSE"),
            ("ΟΔΟΣ", "οδός"),
            ("İstanbul", "istanbul"),
            ("→", " → "),
            ("", "\u{0}\n"),
        ] {
            assert_eq!(folded(text), folded(same), "{text} and {same}");
        }
        assert_eq!(folded("(São)  Tomé."), "sao tome");
        assert_eq!(folded("नमस्ते"), "नमस्ते");
    }

    proptest! {
        #[test]
        fn is_words_with_single_spaces(text in ".{0,40}") {
            let folded = folded(&text);
            prop_assert!(!folded.contains("  ") && folded.trim() == folded, "{folded:?}");
            prop_assert!(folded.bytes().all(|byte| byte >= b' '), "{folded:?}");
        }
    }
}
