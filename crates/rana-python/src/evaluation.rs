//! [`evaluate`] and [`Evaluation`]: how good the model of a run is.

use std::path::PathBuf;

use pyo3::prelude::*;
use rana::eval::{CandidatePolicy, CardSettings, EvaluationCard};
use rana::graph::Split;
use rana::models::OpenedRun;
use rana::report::html_page;

use crate::failure::Failure;
use crate::html;
use crate::progress::Shown;
use crate::work::{Way, run};

/// Measures the model of a run on few-shot tasks that its graph withholds.
///
/// `on` is `test` or `dev`. `draws` random supports are evaluated beside the official one. Tails are ranked among `candidates`:
/// `typed`, `all` or `sampled:K`.
#[pyfunction]
#[pyo3(signature = (
    run: "str | os.PathLike[str]",
    *,
    on: "str" = "test",
    shots: "int | None" = None,
    draws: "int" = 20,
    candidates: "str" = "typed",
    seed: "int" = 0,
    threads: "int | None" = None,
    progress: "bool | typing.Callable[[Progress], object] | None" = None,
) -> "Evaluation")]
#[allow(clippy::too_many_arguments)]
pub(crate) fn evaluate(
    py: Python<'_>,
    run: PathBuf,
    on: &str,
    shots: Option<usize>,
    draws: usize,
    candidates: &str,
    seed: u64,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Evaluation> {
    let failed = |failure: Failure| failure.into_exception(py);
    let split = match on {
        "test" => Split::Test,
        "dev" => Split::Dev,
        other => return Err(failed(Failure::data(format!("`on` is `test` or `dev`, not `{other}`")))),
    };
    let candidates = candidates.parse::<CandidatePolicy>().map_err(|error| failed(Failure::data(error)))?;
    let way = Way { threads, shown: Shown::new(progress) };
    let path = run;
    self::run(py, way, move |watch| {
        let run = OpenedRun::open(&path, None, None)?;
        let shots = shots.unwrap_or(run.opened.shots);
        let settings = CardSettings { split, shots, draws, candidates, seed, ..CardSettings::default() };
        Ok(Evaluation { card: rana::evaluate(&run, settings, watch)? })
    })
}

/// An evaluation card: the result of a model on few-shot tasks, with the models it is compared with.
#[pyclass(frozen, module = "rana")]
pub(crate) struct Evaluation {
    card: EvaluationCard,
}

#[pymethods]
impl Evaluation {
    /// The name of the model.
    #[getter]
    fn model(&self) -> &str {
        &self.card.model
    }

    /// The mean reciprocal rank over all queries, with the official supports.
    #[getter]
    fn mrr(&self) -> f64 {
        self.card.result.official.micro.mrr
    }

    /// The whole card as JSON, as `rana eval --json` prints it.
    fn to_json(&self) -> String {
        serde_json::to_string(&self.card).unwrap_or_default()
    }

    /// The whole card.
    #[pyo3(signature = () -> "dict[str, typing.Any]")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.to_json(),))
    }

    /// The card as a page with plots, as `rana eval --html` writes it.
    fn to_html(&self) -> String {
        html_page(std::slice::from_ref(&self.card))
    }

    fn __repr__(&self) -> String {
        format!(
            "Evaluation of {}: MRR {:.3} on {} tasks",
            self.card.model,
            self.mrr(),
            self.card.protocol.tasks
        )
    }

    fn _repr_html_(&self) -> String {
        let card = &self.card;
        let row = |name: &str, mrr: f64| vec![name.to_owned(), format!("{mrr:.3}")];
        let others = card.baselines.iter().map(|other| row(&other.name, other.result.official.micro.mrr));
        let rows = std::iter::once(row(&card.model, self.mrr())).chain(others);
        let (tasks, shots) = (card.protocol.tasks, card.protocol.shots);
        html::table(&["model", "MRR"], rows, &format!("{tasks} tasks, {shots} known pairs each"))
    }
}
