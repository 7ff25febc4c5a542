//! Detects the format of a file by its name and its first bytes.

use super::{Format, FormatError, OpenSource};

/// The format of a file: that of its content where it is unambiguous, otherwise that of its name. A name
/// that contradicts the content is an error.
pub(crate) fn detect(source: &OpenSource<'_>) -> Result<Format, FormatError> {
    let named = from_name(source.plain_name());
    let looks = from_content(&source.sample);
    match (named, looks) {
        (Some(named), Some(looks)) if !compatible(named, looks) => {
            Err(FormatError::NotAsNamed { file: source.name.clone(), named, looks })
        }
        (Some(Format::Parquet), None) => Err(FormatError::NotParquet { file: source.name.clone() }),
        (Some(named), _) => Ok(named),
        (None, Some(looks)) => Ok(looks),
        (None, None) => Ok(Format::Delimited),
    }
}

/// A name may be more specific than what the content shows: N-Triples is also Turtle, and so on.
fn compatible(named: Format, looks: Format) -> bool {
    let rdf_text =
        |format| matches!(format, Format::NTriples | Format::NQuads | Format::Turtle | Format::TriG);
    named == looks || (rdf_text(named) && rdf_text(looks))
}

fn from_name(name: &str) -> Option<Format> {
    let (_, ending) = name.rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        "tsv" | "csv" | "tab" => Some(Format::Delimited),
        "nt" => Some(Format::NTriples),
        "nq" => Some(Format::NQuads),
        "ttl" | "n3" => Some(Format::Turtle),
        "trig" => Some(Format::TriG),
        "rdf" | "owl" | "xml" => Some(Format::RdfXml),
        "parquet" | "pq" => Some(Format::Parquet),
        _ => None,
    }
}

/// The format of the first bytes, if it is unambiguous.
fn from_content(sample: &[u8]) -> Option<Format> {
    if sample.starts_with(b"PAR1") {
        return Some(Format::Parquet);
    }
    let text = String::from_utf8_lossy(sample);
    let text = skip_comments(&text);
    let lower = text.get(..64.min(text.len())).unwrap_or(text).to_ascii_lowercase();
    if lower.starts_with("<?xml") || lower.starts_with("<rdf:rdf") {
        return Some(Format::RdfXml);
    }
    if ["@prefix", "@base", "prefix ", "base <"].iter().any(|word| lower.starts_with(word)) {
        return Some(if text.contains('{') { Format::TriG } else { Format::Turtle });
    }
    let line = text.lines().next()?.trim();
    from_statement(line).or_else(|| looks_like_turtle(line).then_some(Format::Turtle))
}

/// A text without the comments, of Turtle or of XML, at its start.
fn skip_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let rest = match text.starts_with('#') {
            true => text.split_once('\n'),
            false => text.strip_prefix("<!--").and_then(|text| text.split_once("-->")),
        };
        match rest {
            Some((_, rest)) => text = rest,
            None => return text,
        }
    }
}

/// Whether a line is the beginning of a Turtle statement about an IRI; rows of a table that holds
/// IRIs in brackets have tabs or end in a bracket.
fn looks_like_turtle(line: &str) -> bool {
    let Some((iri, rest)) = line.strip_prefix('<').and_then(|line| line.split_once('>')) else {
        return false;
    };
    !iri.contains(char::is_whitespace) && rest.starts_with(' ') && rest.ends_with([';', ',', '.'])
}

/// Whether a line is a whole N-Triples or N-Quads statement.
fn from_statement(line: &str) -> Option<Format> {
    let line = line.strip_suffix('.')?.trim_end();
    let subject_ends =
        if line.starts_with('<') { line.find('>')? } else { line.strip_prefix("_:").and(line.find(' '))? };
    let rest = line[subject_ends + 1..].trim_start();
    let predicate_ends = rest.starts_with('<').then(|| rest.find('>')).flatten()?;
    let rest = rest[predicate_ends + 1..].trim();
    let object_ends = match rest.chars().next()? {
        '<' => rest.find('>')? + 1,
        // After the closing quote there may be a language (no space in it) or a datatype.
        '"' => {
            let quote = rest.rfind('"')? + 1;
            quote + rest[quote..].find(' ').unwrap_or(rest.len() - quote)
        }
        _ => rest.find(' ').unwrap_or(rest.len()),
    };
    Some(if rest[object_ends..].trim().is_empty() { Format::NTriples } else { Format::NQuads })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_detected_from_the_content() {
        for (text, format) in [
            ("<a:x> <a:p> <a:y> .\n", Some(Format::NTriples)),
            ("# a comment\n_:x <a:p> \"y\" .\n", Some(Format::NTriples)),
            ("<a:x> <a:p> <a:y> <a:g> .\n", Some(Format::NQuads)),
            ("<a:x> <a:p> \"a b\"@en <a:g> .\n", Some(Format::NQuads)),
            ("<a:x> <a:p> \"1\"^^<a:int> .\n", Some(Format::NTriples)),
            ("@prefix a: <a:> .\na:x a:p a:y .\n", Some(Format::Turtle)),
            ("PREFIX a: <a:>\na:g { a:x a:p a:y }\n", Some(Format::TriG)),
            ("<?xml version=\"1.0\"?>", Some(Format::RdfXml)),
            ("PAR1....", Some(Format::Parquet)),
            ("# a licence\n\n@prefix a: <a:> .\n", Some(Format::Turtle)),
            ("<!-- made by hand --> <rdf:RDF/>", Some(Format::RdfXml)),
            ("<a:x> a <a:T> ;\n  <a:p> <a:y> .\n", Some(Format::Turtle)),
            ("<a:x>\t<a:p>\t<a:y>\n", None),
            ("paris\tcapital_of\tfrance\n", None),
            ("Q1,P31,Q5\n", None),
            ("", None),
        ] {
            assert_eq!(from_content(text.as_bytes()), format, "{text}");
        }
    }
}
