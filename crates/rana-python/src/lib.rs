//! The Python module of rana: glue between Python objects and the library.
//!
//! `python/rana/` is what people import; this crate is its compiled part, `rana._rana`. Algorithms are in the library.
//!
//! | file | concept |
//! | --- | --- |
//! | `graph.rs`, `graph_source.rs` | a graph, and what can be made into one |
//! | `learn.rs`, `fit.rs`, `evaluation.rs` | learning from a graph, training a model by steps, and measuring a run |
//! | `predictor.rs`, `relation.rs`, `explanation.rs` | a run that answers, a relation it learned, and why |
//! | `embeddings.rs` | vectors, as NumPy sees them |
//! | `table.rs`, `answer_rows.rs`, `html.rs` | results as Arrow tables, and how notebooks show them |
//! | `arrow_capsules.rs`, `name_column.rs` | Arrow streams in and out, and columns of names |
//! | `work.rs`, `progress.rs`, `threads.rs` | work without the GIL that Ctrl-C interrupts, what is shown of it, and on which threads |
//! | `failure.rs` | which exception a failure is |
//! | `command_line.rs` | the command `rana` |

// Python hands arguments over; a function that only reads one is still given it.
#![allow(clippy::needless_pass_by_value)]

mod answer_rows;
mod arrow_capsules;
mod command_line;
mod embeddings;
mod evaluation;
mod explanation;
mod failure;
mod fit;
mod graph;
mod graph_source;
mod html;
mod learn;
mod name_column;
mod predictor;
mod progress;
mod relation;
mod table;
mod threads;
mod work;

/// The compiled part of the package `rana`.
#[pyo3::pymodule]
mod _rana {
    #[pymodule_export]
    use crate::command_line::run_command;
    #[pymodule_export]
    use crate::embeddings::{Embeddings, VectorTable};
    #[pymodule_export]
    use crate::evaluation::{Evaluation, evaluate};
    #[pymodule_export]
    use crate::explanation::Explanation;
    #[pymodule_export]
    use crate::fit::fit;
    #[pymodule_export]
    use crate::graph::Graph;
    #[pymodule_export]
    use crate::learn::learn;
    #[pymodule_export]
    use crate::predictor::Predictor;
    #[pymodule_export]
    use crate::relation::Relation;
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::work::wait_for_interrupted_work;

    /// The version of the library.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "what Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
