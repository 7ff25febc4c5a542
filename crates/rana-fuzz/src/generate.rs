//! Documents with deep nesting, expansion, long records and huge counts. Most are valid or nearly so.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

/// A number that is usually small and sometimes huge.
pub(crate) fn count(rng: &mut ChaCha8Rng, most: usize) -> usize {
    let top = match rng.random_range(0..100) {
        0..85 => 8,
        85..97 => 300,
        _ => most,
    };
    rng.random_range(0..=top.min(most))
}

/// A word that is usually short and sometimes long.
fn word(rng: &mut ChaCha8Rng) -> String {
    let length = match rng.random_range(0..2000) {
        0 => rng.random_range(0..24 << 20),
        1..40 => rng.random_range(0..20_000),
        _ => rng.random_range(0..12),
    };
    let letters = [
        "a", "b", "é", "東", "\\", "\"", "'", "<", ">", "&", ";", "#", " ", "\t", "{", "(", "\u{202e}", "=",
        "0",
    ];
    let one = letters[rng.random_range(0..letters.len())];
    match rng.random_bool(0.5) {
        true => one.repeat(length / one.len() + 1),
        false => (0..length.min(200)).map(|_| letters[rng.random_range(0..letters.len())]).collect(),
    }
}

fn iri(rng: &mut ChaCha8Rng) -> String {
    match rng.random_range(0..20) {
        0 => word(rng),
        1 => format!("http://e/{}", "n".repeat(count(rng, 30_000))),
        _ => format!("http://e/{}", rng.random_range(0..20)),
    }
}

/// Rows of a table.
pub(crate) fn rows(rng: &mut ChaCha8Rng, delimiter: &str) -> Vec<u8> {
    let mut text = String::new();
    if rng.random_bool(0.2) {
        text.push_str(&["head", "relation", "tail"].join(delimiter));
        text.push('\n');
    }
    let columns = if rng.random_bool(0.9) { 3 } else { count(rng, 50_000) };
    for _ in 0..=count(rng, 2000) {
        let fields: Vec<String> = (0..columns.min(if text.len() > 1 << 20 { 3 } else { columns }))
            .map(|_| match rng.random_range(0..8) {
                0 => word(rng),
                1 => format!("\"{}\"", word(rng).replace('"', "\"\"")),
                2 => "\"".to_owned(),
                _ => format!("e{}", rng.random_range(0..30)),
            })
            .collect();
        text.push_str(&fields.join(delimiter));
        text.push_str(["\n", "\r\n", "\r"][rng.random_range(0..3)]);
    }
    text.into_bytes()
}

/// A term of N-Triples or Turtle, with triples quoted in it.
fn term(rng: &mut ChaCha8Rng, depth: usize) -> String {
    match rng.random_range(0..12) {
        0 => format!("\"{}\"", word(rng).replace('\\', "\\\\").replace('"', "\\\"")),
        1 => format!("\"\"\"{}\"\"\"@en", word(rng).replace('"', "")),
        2 => format!("_:b{}", rng.random_range(0..5)),
        3 if depth > 0 => {
            let inner = term(rng, depth - 1);
            format!("<<( <http://e/s> <http://e/p> {inner} )>>")
        }
        4 => format!("\"{}\"^^<{}>", rng.random::<i64>(), iri(rng)),
        _ => format!("<{}>", iri(rng)),
    }
}

/// Many openings, a term, and most of the closings.
fn nested(rng: &mut ChaCha8Rng, open: &str, close: &str) -> String {
    let depth = count(rng, 60_000);
    let closings = if rng.random_bool(0.8) { depth } else { count(rng, 60_000) };
    let inner = term(rng, 1);
    format!("{}{inner}{}", open.repeat(depth), close.repeat(closings))
}

/// N-Triples or N-Quads.
pub(crate) fn lines(rng: &mut ChaCha8Rng, with_graphs: bool) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..=count(rng, 2000) {
        let object = match rng.random_range(0..30) {
            0 => nested(rng, "<<( <http://e/s> <http://e/p> ", " )>>"),
            _ => term(rng, 3),
        };
        let graph =
            if with_graphs && rng.random_bool(0.5) { format!(" <{}>", iri(rng)) } else { String::new() };
        text.push_str(&format!("<{}> <{}> {object}{graph} .\n", iri(rng), iri(rng)));
        if text.len() > 30 << 20 {
            break;
        }
    }
    text.into_bytes()
}

/// Turtle, or TriG.
pub(crate) fn turtle(rng: &mut ChaCha8Rng, with_graphs: bool) -> Vec<u8> {
    let mut text =
        format!("@prefix e: <http://e/{}> .\n@base <http://b/> .\n", "p".repeat(count(rng, 12_000)));
    for _ in 0..count(rng, 3000) {
        text.push_str(&format!("@prefix p{}: <{}> .\n", rng.random_range(0..50), iri(rng)));
    }
    for _ in 0..=count(rng, 1000) {
        let object = match rng.random_range(0..16) {
            0 => nested(rng, "[ e:p ", " ]"),
            1 => nested(rng, "( ", " )"),
            2 => nested(rng, "<< e:s e:p ", " >>"),
            3 => format!("<< e:s e:p {} >>", term(rng, 2)),
            4 => vec!["e:x"; 1 + count(rng, 20_000)].join(" , "),
            5 => vec!["e:x"; 1 + count(rng, 20_000)].join(" ; e:p "),
            _ => term(rng, 2),
        };
        let statement = format!("e:s{} e:p {object} .\n", rng.random_range(0..9));
        match with_graphs && rng.random_bool(0.4) {
            true => text.push_str(&format!("<{}> {{ {statement} }}\n", iri(rng))),
            false => text.push_str(&statement),
        }
        if text.len() > 30 << 20 {
            break;
        }
    }
    text.into_bytes()
}

/// RDF/XML.
pub(crate) fn xml(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut text = "<?xml version=\"1.0\"?>\n".to_owned();
    if rng.random_bool(0.4) {
        text.push_str("<!DOCTYPE r [\n");
        let declarations = count(rng, 40);
        for at in 0..declarations {
            let before = at.saturating_sub(1);
            let value = match rng.random_range(0..4) {
                0 => format!("&a{before};").repeat(count(rng, 500)),
                1 => "x".repeat(count(rng, 20_000)),
                _ => "http://e/".to_owned(),
            };
            text.push_str(&format!("<!ENTITY a{at} \"{value}\">\n"));
        }
        text.push_str("]>\n");
    }
    let namespace = "n".repeat(count(rng, 20_000));
    text.push_str(&format!(
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/{namespace}\">\n"
    ));
    for _ in 0..=count(rng, 500) {
        let depth = count(rng, 30_000);
        let content = match rng.random_range(0..6) {
            0 => "&a0;".repeat(count(rng, 100_000)),
            1 => word(rng).replace(['<', '&'], ""),
            2 => format!("<![CDATA[{}]]>", word(rng).replace("]]>", "")),
            3 => format!("{}{}", "<e:T><e:p>".repeat(depth), "</e:p></e:T>".repeat(depth)),
            _ => "text".to_owned(),
        };
        let about = format!("http://e/{}", rng.random_range(0..20));
        text.push_str(&format!(
            "<rdf:Description rdf:about=\"{about}\"><e:p>{content}</e:p></rdf:Description>\n"
        ));
        if text.len() > 30 << 20 {
            break;
        }
    }
    if rng.random_bool(0.9) {
        text.push_str("</rdf:RDF>\n");
    }
    text.into_bytes()
}

/// JSON of a request, with fields that have the right or another shape.
pub(crate) fn request(rng: &mut ChaCha8Rng, names: &[&str]) -> Vec<u8> {
    let name = |rng: &mut ChaCha8Rng| match rng.random_range(0..12) {
        0 => serde_json::json!(word(rng)),
        1 => serde_json::json!(rng.random::<f64>() * 1e300),
        2 => serde_json::Value::Null,
        _ => serde_json::json!(names[rng.random_range(0..names.len())]),
    };
    let many = |rng: &mut ChaCha8Rng, most: usize| -> Vec<serde_json::Value> {
        (0..count(rng, most)).map(|_| name(rng)).collect()
    };
    let pairs = |rng: &mut ChaCha8Rng| -> Vec<serde_json::Value> {
        (0..count(rng, 1500)).map(|_| serde_json::json!([name(rng), name(rng)])).collect()
    };
    let mut body = serde_json::json!({"relation": name(rng), "new": true, "support": pairs(rng), "heads": many(rng, 1200)});
    for field in [
        "top",
        "precision",
        "min_confidence",
        "reasons",
        "types",
        "candidates",
        "rejected",
        "head",
        "tail",
        "exclude_known",
        "verdict",
    ] {
        if rng.random_bool(0.3) {
            body[field] = match rng.random_range(0..6) {
                0 => serde_json::json!(rng.random::<u64>()),
                1 => serde_json::json!(rng.random_bool(0.5)),
                2 => serde_json::json!(many(rng, 3000)),
                3 => serde_json::json!(pairs(rng)),
                4 => serde_json::json!(0.5),
                _ => name(rng),
            };
        }
    }
    if rng.random_bool(0.3) {
        // One that can be answered, of any size.
        let entity = |rng: &mut ChaCha8Rng| format!("e{}", rng.random_range(0..23));
        let support: Vec<[String; 2]> =
            (0..1 + count(rng, 1200)).map(|_| [entity(rng), entity(rng)]).collect();
        let heads: Vec<String> = (0..1 + count(rng, 1200)).map(|_| entity(rng)).collect();
        body = serde_json::json!({"relation": "new", "new": true, "support": support});
        match rng.random_bool(0.6) {
            true => body["heads"] = heads.into(),
            false => (body["head"], body["tail"]) = (entity(rng).into(), entity(rng).into()),
        }
    }
    let mut text = body.to_string();
    if rng.random_bool(0.05) {
        let depth = count(rng, 100_000);
        text = format!("{{\"relation\": {}{}", "[".repeat(depth), "]".repeat(depth));
    }
    text.into_bytes()
}

/// A plan of a sweep, or settings.
pub(crate) fn plan(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let number = |rng: &mut ChaCha8Rng| match rng.random_range(0..4) {
        0 => i64::MAX.to_string(),
        1 => "-1".to_owned(),
        2 => "1e308".to_owned(),
        _ => rng.random_range(1..20).to_string(),
    };
    let list = |rng: &mut ChaCha8Rng| {
        let values: Vec<String> = (0..count(rng, 3000)).map(|_| number(rng)).collect();
        format!("[{}]", values.join(", "))
    };
    if rng.random_bool(0.3) {
        let values: Vec<String> = (1..=1 + count(rng, 400)).map(|value| value.to_string()).collect();
        let values = values.join(", ");
        return format!("preset = 'umls'\n[grid]\nJ = [{values}]\nbatch = [{values}]\n").into_bytes();
    }
    let mut text = format!("preset = 'umls'\nseeds = {}\n", list(rng));
    if rng.random_bool(0.5) {
        text.push_str(&format!("folds = {}\n", number(rng)));
    }
    text.push_str("[grid]\n");
    for field in ["J", "batch", "steps", "eta", "gamma", "seed"] {
        if rng.random_bool(0.5) {
            text.push_str(&format!("{field} = {}\n", list(rng)));
        }
    }
    if rng.random_bool(0.5) {
        text.push_str(&format!("[random]\ntrials = {}\neta = {{ linear = {} }}\n", number(rng), list(rng)));
    }
    if rng.random_bool(0.3) {
        text.push_str(&format!(
            "[each]\ngamma = {}\nprune = [{}]\n",
            list(rng),
            "\"off\", ".repeat(count(rng, 20_000))
        ));
    }
    text.into_bytes()
}

/// Rows of vectors that begin with a name.
pub(crate) fn named_rows(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let number = |rng: &mut ChaCha8Rng| match rng.random_range(0..40) {
        0 => ["nan", "-inf", "1e39", "1e-50", "0x1", "1_0", "١"][rng.random_range(0..7)].to_owned(),
        1 => "9".repeat(count(rng, 100_000)),
        _ => format!("{}.5", rng.random_range(-9..9)),
    };
    let dim = count(rng, 20_000);
    let mut text = if rng.random_bool(0.1) { "\u{feff}".to_owned() } else { String::new() };
    for at in 0..=count(rng, 2000) {
        let name = match rng.random_range(0..20) {
            0 => word(rng),
            1 => at.to_string(),
            _ => format!("e{}", at % 23),
        };
        let length = if rng.random_bool(0.95) { dim } else { count(rng, 20_000) };
        let numbers: Vec<String> = (0..length).map(|_| number(rng)).collect();
        let id = if rng.random_bool(0.3) { "7\t" } else { "" };
        text.push_str(&format!(
            "{name}\t{id}{}{}",
            numbers.join(" "),
            ["\n", "\r\n"][rng.random_range(0..2)]
        ));
        if text.len() > 6 << 20 {
            break;
        }
    }
    text.into_bytes()
}

/// A journal of decisions.
pub(crate) fn journal(rng: &mut ChaCha8Rng, names: &[&str]) -> Vec<u8> {
    let mut text = String::new();
    if rng.random_bool(0.9) {
        text.push_str("{\"rana-decisions\":1}\n");
    }
    for at in 0..count(rng, 5000) {
        let name = names[rng.random_range(0..names.len())];
        let verdict = ["accepted", "rejected", "withdrawn"][rng.random_range(0..3)];
        let line = match rng.random_range(0..30) {
            0 => word(rng),
            1 => "{".repeat(count(rng, 50_000)),
            _ => serde_json::json!({
                "number": at + 1, "time": "2026-11-18T12:00:00Z", "relation": "r", "head": name, "tail": name,
                "verdict": verdict,
                "score": rng.random::<f64>(), "confidence": rng.random::<f64>()
            })
            .to_string(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text.into_bytes()
}

/// Bytes of no form at all.
pub(crate) fn noise(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = vec![0; count(rng, 100_000)];
    rng.fill_bytes(&mut bytes);
    bytes
}
