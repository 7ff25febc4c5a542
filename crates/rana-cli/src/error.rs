use std::error::Error;
use std::io;

use rana::fewshot::{EpisodeError, SplitError};
use rana::graph::StoreError;
use rana::graph::format::{ExportError, FormatError};
use rana::graph::synth::SynthError;

/// Whatever can end a command, as the user sees it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The arguments contradict each other (exit code 2, like clap's own).
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{file}: {source}")]
    Export { file: String, source: ExportError },
    #[error(transparent)]
    Split(#[from] SplitError),
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    #[error(transparent)]
    Synth(#[from] SynthError),
    #[error("could not write the output: {0}")]
    Output(#[from] io::Error),
}

impl CliError {
    /// Whether the reader of our output went away.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if error.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe) {
                return true;
            }
            cause = error.source();
        }
        false
    }
}
