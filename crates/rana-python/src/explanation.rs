//! [`Explanation`]: what speaks for an answer, and what against it.

use pyo3::prelude::*;

use crate::answer_rows::called;
use crate::html;

/// What speaks for an answer, and what against it.
#[pyclass(frozen, module = "rana")]
pub(crate) struct Explanation(rana::predictor::Explanation);

impl Explanation {
    pub(crate) fn new(of: rana::predictor::Explanation) -> Self {
        Self(of)
    }
}

#[pymethods]
impl Explanation {
    /// The head.
    #[getter]
    fn head(&self) -> &str {
        &self.0.head.name
    }

    /// The tail.
    #[getter]
    fn tail(&self) -> &str {
        &self.0.tail.name
    }

    /// The score of the answer.
    #[getter]
    fn score(&self) -> f32 {
        self.0.score
    }

    /// The chance that it is right; None where too few examples tell.
    #[getter]
    fn confidence(&self) -> Option<f32> {
        self.0.confidence
    }

    /// What speaks for it, the strongest first.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.0.text.clone()
    }

    /// What speaks against it, the strongest first.
    #[getter]
    fn against(&self) -> Vec<String> {
        self.0.against.clone()
    }

    /// Everything: paths, sources of evidence, the most similar pair, and the attention of the model.
    #[pyo3(signature = () -> "dict[str, typing.Any]")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(&self.0).unwrap_or_default();
        py.import("json")?.call_method1("loads", (text,))
    }

    fn __repr__(&self) -> String {
        let mut text = format!("{} → {}", called(&self.0.head), called(&self.0.tail));
        if let Some(sure) = self.0.confidence {
            text += &format!(", {:.0} %", 100.0 * sure);
        }
        self.0.text.iter().for_each(|reason| text += &format!("\n  + {reason}"));
        self.0.against.iter().for_each(|doubt| text += &format!("\n  − {doubt}"));
        text
    }

    fn _repr_html_(&self) -> String {
        let row = |sign: &str, text: &String| vec![sign.to_owned(), text.clone()];
        let spoken = self.0.text.iter().map(|text| row("+", text));
        let rows: Vec<_> = spoken.chain(self.0.against.iter().map(|text| row("−", text))).collect();
        let sure = self.0.confidence.map_or_else(|| "?".to_owned(), |sure| format!("{:.0} %", 100.0 * sure));
        let below = format!("{} → {}, confidence {sure}", called(&self.0.head), called(&self.0.tail));
        html::table(&["", "evidence"], rows, &below)
    }
}
