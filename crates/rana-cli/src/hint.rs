//! What to type next: the library says what is wrong, the command line adds the option or command that helps.

use rana::embed::TableError;
use rana::eval::FewShotError;
use rana::fused_training::FusedError;
use rana::graph::StoreError;
use rana::graph::format::{ColumnsProblem, ExportError, FormatError};
use rana::graph::synth::SynthError;
use rana::models::OpenError;
use rana::models::training::{ManifestError, RunError, TrainingError};
use rana::predictor::PredictorError;
use rana::reproduction::ReproductionError;
use rana::trial::TrialError;

use crate::error::CliError;

impl CliError {
    /// What to type, if an option or a command helps.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Format(error) => format(error),
            Self::Store(error) => store(error),
            Self::Export { source, .. } => export(source),
            Self::Synth(SynthError::Occupied { .. }) => Some("choose another --out".to_owned()),
            Self::Table(error) => table(error),
            Self::FewShot(FewShotError::NoTasks { .. }) => Some("`rana split` makes tasks".to_owned()),
            Self::Training(error) => training(error),
            Self::Run(error) => run(error),
            Self::Open(error) => open(error),
            Self::Predictor(PredictorError::Open(error)) => open(error),
            Self::Fused(error) => fused(error),
            Self::Trial(error) => trial(error),
            Self::Reproduction(error) => reproduction(error),
            _ => None,
        }
    }
}

fn hint(text: impl Into<String>) -> Option<String> {
    Some(text.into())
}

fn format(error: &FormatError) -> Option<String> {
    match error {
        FormatError::NotAsNamed { looks, .. } => hint(format!("--format {}", looks.name())),
        FormatError::NotParquet { .. } => hint("--format FORMAT reads it as something else"),
        FormatError::NoDelimiter { .. } => hint("--format or --delimiter"),
        FormatError::Columns { problem, .. } => match problem {
            ColumnsProblem::Undecided { role, .. } => hint(format!("--{} NAME", role.name())),
            ColumnsProblem::Count { found } => {
                hint(format!("--columns h,r,t{}", ",_".repeat(found.saturating_sub(3))))
            }
            ColumnsProblem::Shared => hint("--head, --relation and --tail name the columns"),
            _ => None,
        },
        FormatError::IsStore { file } => hint(format!("`rana export {file}` writes its facts")),
        FormatError::Splits { .. } => hint("--valid FILE and --test FILE name single files"),
        FormatError::UnsupportedCompression { .. } => {
            hint("decompress into a pipe: `xzcat FILE | rana import - …`")
        }
        FormatError::Malformed { .. } => hint("--lenient skips and counts such places"),
        FormatError::Release { .. } => hint("`rana split` cuts tasks out of a graph"),
        _ => None,
    }
}

fn store(error: &StoreError) -> Option<String> {
    match error {
        StoreError::Missing { path } => {
            hint(format!("`rana import FILES --out {}` makes one", path.display()))
        }
        StoreError::Occupied { .. } | StoreError::Locked { .. } => hint("choose another --out"),
        _ => None,
    }
}

fn export(error: &ExportError) -> Option<String> {
    matches!(error, ExportError::Occupied(_)).then(|| "choose another --out".to_owned())
}

fn table(error: &TableError) -> Option<String> {
    match error {
        TableError::Missing { .. } | TableError::OtherGraph { .. } | TableError::Version { .. } => {
            hint("`rana embed KG` trains vectors")
        }
        _ => None,
    }
}

fn training(error: &TrainingError) -> Option<String> {
    match error {
        TrainingError::Dimension(_) => hint("`rana embed KG --model transe` trains such vectors"),
        TrainingError::FoldIsKnown { fold, .. } => {
            hint(format!("`rana embed KG --fold {fold}` trains such vectors"))
        }
        TrainingError::NoDevTasks => hint("`rana split KG --out TASKS` makes dev tasks"),
        TrainingError::Diverged { .. } => hint("--set learning_rate=0.001"),
        TrainingError::Run(error) => run(error),
        _ => None,
    }
}

fn run(error: &RunError) -> Option<String> {
    match error {
        RunError::Exists { .. } => hint("--resume resumes it; or choose another --out"),
        RunError::Foreign { .. } | RunError::Locked { .. } => hint("choose another --out"),
        RunError::NoModel { .. } => hint("`rana train KG --out RUN --resume`"),
        RunError::Manifest(error) => manifest(error),
        _ => None,
    }
}

fn manifest(error: &ManifestError) -> Option<String> {
    match error {
        ManifestError::NoRun { .. } => {
            hint("`rana train KG --out RUN` or `rana fuse KG --out RUN` makes one")
        }
        ManifestError::Other { .. } | ManifestError::OtherTasks { .. } => {
            hint("--graph KG or --vectors DIR says where the right one is")
        }
        _ => None,
    }
}

fn open(error: &OpenError) -> Option<String> {
    match error {
        OpenError::Manifest(error) => manifest(error),
        OpenError::Graph { .. } => hint("if the graph has moved, --graph KG says where it is"),
        OpenError::Vectors { .. } => {
            hint("if the vectors have moved, `rana eval RUN --vectors DIR` says where they are")
        }
        OpenError::Run(error) => run(error),
        OpenError::Training(error) => training(error),
        _ => None,
    }
}

fn fused(error: &FusedError) -> Option<String> {
    match error {
        FusedError::Exists { .. } => hint("choose another --out"),
        FusedError::NoExamples => hint("`rana split` cuts more tasks out of a graph"),
        FusedError::Trial(error) => trial(error),
        FusedError::Run(error) => run(error),
        _ => None,
    }
}

fn trial(error: &TrialError) -> Option<String> {
    match error {
        TrialError::Taken { .. } => hint("choose another --out"),
        TrialError::Store(error) => store(error),
        TrialError::Table(error) => table(error),
        TrialError::Training(error) => training(error),
        TrialError::Run(error) => run(error),
        _ => None,
    }
}

fn reproduction(error: &ReproductionError) -> Option<String> {
    match error {
        ReproductionError::NoFiles { .. } => hint("--data DIR, or the environment variable RANA_DATASETS"),
        ReproductionError::Preset { .. } => hint("--preset NAME chooses others"),
        _ => None,
    }
}
