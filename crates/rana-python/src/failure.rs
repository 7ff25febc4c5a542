//! [`Failure`]: why work failed, and which Python exception that is.

use std::any::Any;

use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rana::LearnError;
use rana::embed::VectorError;
use rana::eval::FewShotError;
use rana::fewshot::EpisodeError;
use rana::graph::StoreError;
use rana::graph::format::FormatError;
use rana::models::OpenError;
use rana::models::training::{ManifestError, RunError, TrainingError};
use rana::predictor::{PrecisionError, PredictorError, UnknownRelation};
use rana::search::Unresolved;

/// Why work failed. It is made without Python and becomes an exception at the end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An exception of the package, by its name in `rana._errors`.
    Named { class: &'static str, message: String },
    /// A name that means nothing, or several things.
    Unknown { class: &'static str, message: String, name: String, suggestions: Vec<String> },
    /// What Python raised.
    Raised(PyErr),
}

/// The result of work.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(class: &'static str, message: impl ToString) -> Self {
        Self::Named { class, message: message.to_string() }
    }

    /// Data that cannot be used.
    pub(crate) fn data(message: impl ToString) -> Self {
        Self::new("DataError", message)
    }

    /// A bug of ours, which must not end the interpreter.
    pub(crate) fn panic(payload: &(dyn Any + Send)) -> Self {
        let said = payload.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Self::new("InternalError", format!("this is a bug in rana, please report it: {said}"))
    }

    /// The exception.
    pub(crate) fn into_exception(self, py: Python<'_>) -> PyErr {
        let (class, message, about) = match self {
            Self::Raised(error) => return error,
            Self::Named { class, message } => (class, message, None),
            Self::Unknown { class, message, name, suggestions } => {
                (class, message, Some((name, suggestions)))
            }
        };
        let made = py.import("rana._errors").and_then(|module| module.getattr(class)).and_then(|class| {
            let exception = class.call1(PyTuple::new(py, [message])?)?;
            if let Some((name, suggestions)) = about {
                exception.setattr("name", name)?;
                exception.setattr("suggestions", suggestions)?;
            }
            Ok(PyErr::from_value(exception))
        });
        made.unwrap_or_else(|error| error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// `class`, unless the operating system refused something.
fn classed(class: &'static str, error: &(dyn std::error::Error + 'static)) -> Failure {
    let mut cause = Some(error);
    while let Some(of) = cause {
        if of.is::<std::io::Error>() {
            return Failure::new("FileError", error);
        }
        cause = of.source();
    }
    Failure::new(class, error)
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        classed("DataError", &error)
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Self::data(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        classed("GraphError", &error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        classed("RunError", &error)
    }
}

impl From<ManifestError> for Failure {
    fn from(error: ManifestError) -> Self {
        classed("RunError", &error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        classed("RunError", &error)
    }
}

impl From<VectorError> for Failure {
    fn from(error: VectorError) -> Self {
        classed("VectorError", &error)
    }
}

impl From<TrainingError> for Failure {
    fn from(error: TrainingError) -> Self {
        classed("LearningError", &error)
    }
}

impl From<FewShotError> for Failure {
    fn from(error: FewShotError) -> Self {
        match error {
            FewShotError::Episode(EpisodeError::TooFewFacts { facts, shots, .. }) => Self::new(
                "EvaluationError",
                format!(
                    "a task has {facts} facts, which leaves no queries after {shots} support pairs; lower `shots`"
                ),
            ),
            error => classed("EvaluationError", &error),
        }
    }
}

impl From<Unresolved> for Failure {
    fn from(error: Unresolved) -> Self {
        let message = error.to_string();
        let Unresolved { text: name, suggestions, .. } = error;
        Self::Unknown { class: "UnknownEntityError", message, name, suggestions }
    }
}

impl From<UnknownRelation> for Failure {
    fn from(error: UnknownRelation) -> Self {
        let message = error.to_string();
        let suggestions = error.suggestions.into_iter().map(|(name, _)| name).collect();
        Self::Unknown { class: "UnknownRelationError", message, name: error.text, suggestions }
    }
}

impl From<PredictorError> for Failure {
    fn from(error: PredictorError) -> Self {
        match error {
            PredictorError::Open(error) => error.into(),
            PredictorError::Unresolved(error) => error.into(),
            PredictorError::UnknownRelation(error) => error.into(),
            error => Self::new("RelationError", error),
        }
    }
}

impl From<PrecisionError> for Failure {
    fn from(error: PrecisionError) -> Self {
        Self::new("PrecisionError", error)
    }
}

impl From<LearnError> for Failure {
    fn from(error: LearnError) -> Self {
        match error {
            LearnError::Import(error) => error.into(),
            LearnError::UnknownRelation(error) => error.into(),
            LearnError::Store(error) => error.into(),
            LearnError::Open(error) => error.into(),
            error => classed("LearningError", &error),
        }
    }
}
