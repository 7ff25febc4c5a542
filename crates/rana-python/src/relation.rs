//! [`Relation`]: a relation that a predictor has learned.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use rana::graph::{EntityId, Pair};
use rana::predictor::{Answer, AnswerLimits, LearnedRelation};
use rayon::prelude::*;

use crate::answer_rows::AnswerRows;
use crate::explanation::Explanation;
use crate::failure::{Failure, Outcome};
use crate::predictor::texts;
use crate::progress::Shown;
use crate::table::Table;
use crate::work::{Way, run};

/// A relation that a predictor has learned from pairs of it. It lives on its own, whatever becomes of the predictor.
#[pyclass(frozen, module = "rana")]
pub(crate) struct Relation {
    name: String,
    predictor: rana::Predictor,
    learned: Arc<LearnedRelation>,
    threads: Option<usize>,
}

impl Relation {
    pub(crate) fn new(
        name: String,
        predictor: rana::Predictor,
        learned: Arc<LearnedRelation>,
        threads: Option<usize>,
    ) -> Self {
        Self { name, predictor, learned, threads }
    }

    fn pairs(&self, pairs: &[Pair]) -> Vec<(String, String)> {
        let graph = self.learned.graph();
        let named =
            |pair: &Pair| (graph.entity_name(pair.head).to_owned(), graph.entity_name(pair.tail).to_owned());
        pairs.iter().map(named).collect()
    }
}

/// The heads that names stand for, each name once or as often as it is given.
fn entities(predictor: &rana::Predictor, names: &[String], skip: bool) -> Outcome<Vec<EntityId>> {
    let found: Vec<Result<EntityId, _>> = names.par_iter().map(|name| predictor.entity(name)).collect();
    let mut heads = Vec::with_capacity(found.len());
    for head in found {
        match head {
            Ok(head) => heads.push(head),
            Err(_) if skip => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(heads)
}

#[pymethods]
impl Relation {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The pairs it was learned from.
    #[getter]
    fn support(&self) -> Vec<(String, String)> {
        self.pairs(self.learned.support())
    }

    /// How many entities may be answers.
    #[getter]
    fn candidate_count(&self) -> usize {
        self.learned.candidates().len()
    }

    /// How well each pair is found by the others, from 0 to 1 (mean reciprocal rank); None if that says nothing.
    #[getter]
    fn leave_one_out(&self) -> Option<f32> {
        self.learned.leave_one_out()
    }

    /// Why it cannot be said how sure answers are, if it cannot.
    #[getter]
    fn note(&self) -> Option<String> {
        self.learned.note()
    }

    /// The best answers for heads: at most `k` for each, the best first.
    ///
    /// `heads` is a name, a list of names, or a table with the column `head`; without it, all entities that look like heads of
    /// the relation and have no tail yet. `precision` keeps the answers that are sure enough for this share of them to be
    /// right, as measured on relations left out; `min_confidence` and `min_score` are limits too. `reasons=True` says why, for
    /// each answer. Unknown heads raise, or are left out with `unknown="skip"`.
    ///
    /// The columns are head, relation, tail, rank, score, confidence (null where too few examples tell), known, head_label and
    /// tail_label, and reasons if asked for.
    #[pyo3(signature = (
        heads: "str | typing.Iterable[str] | typing.Any" = None,
        *,
        k: "int" = 10,
        precision: "float | None" = None,
        min_confidence: "float | None" = None,
        min_score: "float | None" = None,
        reasons: "bool" = false,
        unknown: "typing.Literal['raise', 'skip']" = "raise",
        progress: "bool | typing.Callable[[Progress], object] | None" = None,
    ) -> "Table")]
    #[allow(clippy::too_many_arguments)]
    fn complete(
        &self,
        py: Python<'_>,
        heads: Option<Bound<'_, PyAny>>,
        k: usize,
        precision: Option<f64>,
        min_confidence: Option<f32>,
        min_score: Option<f32>,
        reasons: bool,
        unknown: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Table> {
        let names = heads.map(|heads| -> Outcome<Vec<String>> {
            match heads.cast::<PyString>() {
                Ok(one) => Ok(vec![one.to_str()?.to_owned()]),
                Err(_) => texts(&heads, "heads"),
            }
        });
        let check = || -> Outcome<(Option<Vec<String>>, bool)> {
            for (name, share) in [("precision", precision), ("min_confidence", min_confidence.map(f64::from))]
            {
                if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
                    return Err(Failure::data(format!("`{name}` is a share, from 0 to 1")));
                }
            }
            let skip = match unknown {
                "skip" => true,
                "raise" => false,
                other => return Err(Failure::data(format!("`unknown` is `raise` or `skip`, not `{other}`"))),
            };
            Ok((names.transpose()?, skip))
        };
        let (names, skip) = check().map_err(|failure| failure.into_exception(py))?;
        let (predictor, learned) = (self.predictor.clone(), Arc::clone(&self.learned));
        let relation = self.name.clone();
        let way = Way { threads: self.threads, shown: Shown::new(progress) };
        run(py, way, move |watch| {
            let heads = match names {
                Some(names) => entities(&predictor, &names, skip)?,
                None => learned.plausible_heads(),
            };
            let promised = precision.map(|wanted| learned.confidence_for(wanted)).transpose()?;
            let promised = promised.map(|point| point.confidence);
            let limits = AnswerLimits { top: k, min_score, min_confidence: promised.or(min_confidence) };
            let why = |_: EntityId, answers: Vec<Answer>| {
                let why = |answer: Answer| {
                    let text = match reasons {
                        true => learned.explain(answer.pair.head, answer.pair.tail).text,
                        false => Vec::new(),
                    };
                    (answer, text)
                };
                answers.into_iter().map(why).collect::<Vec<_>>()
            };
            let mut rows = AnswerRows::new(reasons);
            let is_whole = learned.complete_each(&heads, &limits, watch, why, |answers| -> Outcome<()> {
                answers.iter().for_each(|(answer, text)| rows.add(learned.graph(), &relation, answer, text));
                Ok(())
            })?;
            // Only an interrupt stops it, and that is what is raised.
            if is_whole { rows.finish() } else { Err(Failure::new("RanaError", "stopped")) }
        })
    }

    /// What speaks for a pair, and what against it.
    #[pyo3(signature = (head: "str", tail: "str") -> "Explanation")]
    fn explain(&self, py: Python<'_>, head: String, tail: String) -> PyResult<Explanation> {
        let (predictor, learned) = (self.predictor.clone(), Arc::clone(&self.learned));
        let way = Way { threads: self.threads, shown: Shown::silent() };
        run(py, way, move |_| {
            let (head, tail) = (predictor.entity(&head)?, predictor.entity(&tail)?);
            Ok(Explanation::new(learned.explain(head, tail)))
        })
    }

    /// How sure an answer must be for a share of such answers to be right: the least confidence, and the share that was
    /// measured above it.
    #[pyo3(signature = (precision: "float") -> "tuple[float, float]")]
    fn confidence_for(&self, py: Python<'_>, precision: f64) -> PyResult<(f64, f64)> {
        let point = self.learned.confidence_for(precision);
        let point = point.map_err(|error| Failure::from(error).into_exception(py))?;
        Ok((f64::from(point.confidence), point.precision))
    }

    /// The entities that look like heads of the relation and have no tail yet.
    fn plausible_heads(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let learned = Arc::clone(&self.learned);
        let way = Way { threads: self.threads, shown: Shown::silent() };
        run(py, way, move |_| {
            let heads = learned.plausible_heads().into_iter();
            Ok(heads.map(|head| learned.graph().entity_name(head).to_owned()).collect())
        })
    }

    fn __repr__(&self) -> String {
        let pairs = self.learned.support().len();
        format!("Relation({}, learned from {pairs} pairs)", self.name)
    }
}
