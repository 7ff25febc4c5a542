//! [`learn`]: from a graph to a predictor.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;
use rana::graph::{ImportOptions, Store};
use rana::{Learning, Predictor as Opened};

use crate::failure::{Failure, Outcome};
use crate::graph::GraphData;
use crate::graph_source::GraphSource;
use crate::predictor::Predictor;
use crate::progress::{Shown, Watch};
use crate::work::{Way, run, wait_for_interrupted_work};

/// Learns from a graph how its relations are completed, and opens the result.
///
/// `source` is a Graph, a path or several, a table, or triples. Everything is kept in the directory `out`: a second call with
/// the same source opens what the first one learned, and a call that was interrupted is resumed.
///
/// `budget` is in seconds, `memory` in bytes; both are kept about. The facts of the relations in `leave_out` are not used, so
/// that an evaluation shows how well they would be completed.
#[pyfunction]
#[pyo3(signature = (
    source: "Graph | str | os.PathLike[str] | typing.Any",
    out: "str | os.PathLike[str]",
    *,
    seed: "int" = 0,
    budget: "float | None" = None,
    memory: "int | None" = None,
    leave_out: "typing.Sequence[str]" = vec![],
    language: "str | None" = None,
    threads: "int | None" = None,
    progress: "bool | typing.Callable[[Progress], object] | None" = None,
) -> "Predictor")]
#[allow(clippy::too_many_arguments)]
pub(crate) fn learn(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    out: PathBuf,
    seed: u64,
    budget: Option<f64>,
    memory: Option<u64>,
    leave_out: Vec<String>,
    language: Option<String>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Predictor> {
    let failed = |failure: Failure| failure.into_exception(py);
    let source = GraphSource::of(source).map_err(failed)?;
    let seconds =
        |seconds| Duration::try_from_secs_f64(seconds).map_err(|error| failed(Failure::data(error)));
    let budget = budget.map(seconds).transpose()?;
    let learning = Learning { seed, budget, memory, leave_out, language, max_decompressed: None };
    wait_for_interrupted_work(py)?;
    let kept = out.clone();
    let way = Way { threads, shown: Shown::new(progress) };
    let opened = run(py, way, move |watch| learned(&learning, source, &out, watch)).inspect_err(|error| {
        if error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
            let note =
                format!("what is learned so far is kept in {}; the same call resumes it", kept.display());
            let _ = error.value(py).call_method1("add_note", (note,));
        }
    })?;
    Ok(Predictor::new(opened, kept, None, threads))
}

fn learned(learning: &Learning, source: GraphSource, out: &PathBuf, watch: &Watch) -> Outcome<Opened> {
    Ok(match source {
        // The files themselves say whether this was learned from them before.
        GraphSource::Files(files) => learning.learn(files, out, watch)?,
        GraphSource::Store(path) => learning.learn_store(&Store::open(path)?, out, watch)?,
        other => {
            let GraphData { graph, tasks, inputs, store } = other.read(&ImportOptions::default(), watch)?;
            match store {
                Some(store) => learning.learn_store(&store, out, watch)?,
                None => learning.learn_graph(&graph, &tasks, inputs, out, watch)?,
            }
        }
    })
}
