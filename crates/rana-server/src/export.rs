//! `GET /v1/export`: accepted facts as a file.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rana::answer_writer::{AnswerError, AnswerFormat, AnswerWriter, AnsweredFact};
use rana::graph::Graph;
use rana::graph::format::ExportError;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::decisions::{KeptDecision, Verdict};
use crate::export_pieces::ExportPieces;
use crate::extractors::Params;
use crate::problem::Problem;

/// The characters of a file name that are percent-encoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');
/// The most characters of a file name; longer names are cut.
const LONGEST_NAME: usize = 60;
/// The largest file that is made before it is sent; larger ones are made piece by piece.
const LARGEST_WHOLE: usize = 1 << 20;

/// Which facts to export, and the format.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportParams {
    /// Only facts of this relation.
    relation: Option<String>,
    /// `tsv`, `sheet` (TSV without formulas), `jsonl`, `ntriples`, `turtle`, `rdf12`, `parquet` or `quickstatements`.
    #[serde(default = "tsv")]
    format: String,
}

fn tsv() -> String {
    "tsv".to_owned()
}

/// The accepted facts as a file.
#[utoipa::path(
    get,
    path = "/v1/export",
    tag = "decisions",
    params(ExportParams),
    responses((status = 200, body = String, content_type = "text/tab-separated-values"))
)]
pub(crate) async fn export(
    State(app): State<Arc<App>>,
    Params(params): Params<ExportParams>,
) -> Result<Response, Problem> {
    let ExportParams { relation, format } = params;
    let format: AnswerFormat =
        format.parse().map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "Unknown format", error))?;
    let disposition = disposition(relation.as_deref().unwrap_or("decisions"), format.extension());
    let work = {
        let app = Arc::clone(&app);
        move || {
            let relation = relation.as_deref().map(|text| app.decided_relation(text));
            // Not copied: other requests do not wait while the file is written, and memory stays flat.
            let accepted: Vec<Arc<KeptDecision>> = app.decisions.read(|index| {
                let all = index.of(relation.as_deref());
                all.filter(|decision| decision.verdict == Verdict::Accepted).cloned().collect()
            });
            let most = if format == AnswerFormat::Parquet { usize::MAX } else { LARGEST_WHOLE };
            let refuse = |error| match error {
                AnswerError::Export(ExportError::Name { .. }) | AnswerError::Wikidata { .. } => {
                    Problem::unprocessable("Names that do not fit", format!("Not written: {error}."))
                }
                other => Problem::internal(other.to_string()),
            };
            let whole =
                write(app.predictor.graph(), format, &accepted, Whole::up_to(most)).map_err(refuse)?;
            Ok(match whole.bytes {
                Some(bytes) => Body::from(bytes),
                // Written without an error, but not kept: it is written again while the client reads.
                None => Body::new(ExportPieces::new(app, format, accepted).map_err(refuse)?),
            })
        }
    };
    let file = app.computations.run(work).await?;
    let about = [(CONTENT_TYPE, format.media_type()), (CACHE_CONTROL, "no-store")];
    Ok((about, [(CONTENT_DISPOSITION, disposition)], file).into_response())
}

fn write<W: Write + Send>(
    graph: &Graph,
    format: AnswerFormat,
    decisions: &[Arc<KeptDecision>],
    out: W,
) -> Result<W, AnswerError> {
    let mut writer = AnswerWriter::new(format, out)?;
    decisions.iter().try_for_each(|decision| writer.write(&fact(graph, decision)))?;
    writer.finish()
}

/// A decision as a line of a file.
pub(crate) fn fact<'a>(graph: &'a Graph, decision: &'a KeptDecision) -> AnsweredFact<'a> {
    let label = |name: &str| graph.entity(name).and_then(|entity| graph.entity_label(entity));
    AnsweredFact {
        head: decision.head(),
        relation: decision.relation(),
        tail: decision.tail(),
        head_label: label(decision.head()),
        tail_label: label(decision.tail()),
        score: decision.score.map(|score| score as f32),
        confidence: decision.confidence.map(|confidence| confidence as f32),
        reviewed: true,
        ..AnsweredFact::default()
    }
}

/// A file that is kept unless it becomes too large.
struct Whole {
    bytes: Option<Vec<u8>>,
    most: usize,
}

impl Whole {
    fn up_to(most: usize) -> Self {
        Self { bytes: Some(Vec::new()), most }
    }
}

impl Write for Whole {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        match &mut self.bytes {
            Some(bytes) if bytes.len() + part.len() <= self.most => bytes.extend_from_slice(part),
            bytes => *bytes = None,
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The header that names the file to save: in ASCII for old clients, and as it is for others.
fn disposition(name: &str, extension: &str) -> HeaderValue {
    // Remove characters of paths, and those that would end the quoted string.
    let whole: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | ' ') { c } else { '_' })
        .take(LONGEST_NAME)
        .collect();
    let plain: String = whole.chars().map(|c| if c.is_ascii() { c } else { '_' }).collect();
    let encoded = utf8_percent_encode(&whole, ENCODED);
    let text =
        format!("attachment; filename=\"{plain}.{extension}\"; filename*=UTF-8''{encoded}.{extension}");
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_names() {
        let of = |name| disposition(name, "tsv").to_str().unwrap().to_owned();
        assert_eq!(of("treats"), "attachment; filename=\"treats.tsv\"; filename*=UTF-8''treats.tsv");
        assert_eq!(
            of("../a\"\r\nX: é"),
            "attachment; filename=\"___a___X_ _.tsv\"; filename*=UTF-8''___a___X_%20%C3%A9.tsv"
        );
        assert!(of(&"x".repeat(1000)).len() < 200);
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let mut whole = Whole::up_to(10);
        whole.write_all(b"0123456").unwrap();
        assert_eq!(whole.bytes.as_deref(), Some(&b"0123456"[..]));
        whole.write_all(b"789").unwrap();
        assert_eq!(whole.bytes.as_deref(), Some(&b"0123456789"[..]));
        for _ in 0..3 {
            whole.write_all(b"x").unwrap();
            assert_eq!(whole.bytes, None);
        }
    }
}
