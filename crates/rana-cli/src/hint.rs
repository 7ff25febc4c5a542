//! Hints: what to type after an error. The library says what is wrong; the command line adds its flags and commands
//! here.

use rana::LearnError;
use rana::answer_writer::AnswerError;
use rana::embed::VectorError;
use rana::eval::FewShotError;
use rana::fewshot::SupportError;
use rana::fused_training::FusedError;
use rana::graph::StoreError;
use rana::graph::format::{ColumnsProblem, ExportError, FormatError};
use rana::graph::synth::SynthError;
use rana::models::OpenError;
use rana::models::fused::EvidenceRunError;
use rana::models::training::{ManifestError, RunError, TrainingError};
use rana::models::vectors::KgeError;
use rana::predictor::PredictorError;
use rana::reproduction::ReproductionError;
use rana::trial::TrialError;
use rana_server::{JournalError, ServerError};

use crate::error::CliError;

/// An error that the command line can add a hint to.
pub(crate) trait Hint {
    /// What to type, if there is something.
    fn hint(&self) -> Option<String>;
}

fn other_out() -> Option<String> {
    Some("choose another directory with --out DIR".to_owned())
}

fn other_format() -> Option<String> {
    Some("choose another format with --format NAME".to_owned())
}

fn make_tasks() -> Option<String> {
    Some("`rana split KG` makes tasks".to_owned())
}

impl Hint for CliError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Format(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Export { source, .. } => source.hint(),
            Self::FewShot(error) => error.hint(),
            Self::Support(error) => error.hint(),
            Self::Fused(error) => error.hint(),
            Self::Learn(error) => error.hint(),
            Self::Synth(error) => error.hint(),
            Self::Table(error) => error.hint(),
            Self::Training(error) => error.hint(),
            Self::Open(error) => error.hint(),
            Self::Run(error) => error.hint(),
            Self::Trial(error) => error.hint(),
            Self::Reproduction(error) => error.hint(),
            Self::Predictor(error) => error.hint(),
            Self::Server(error) => error.hint(),
            Self::Line { source, .. } => source.hint(),
            _ => None,
        }
    }
}

impl Hint for FormatError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Malformed { .. } => "`rana import --lenient` skips and counts such lines".to_owned(),
            Self::NotAsNamed { looks, .. } => format!("read it as it looks with --format {}", looks.name()),
            Self::NotParquet { .. } => "set the format with --format NAME".to_owned(),
            Self::NoDelimiter { .. } => {
                "`rana import` can be told the format by --format NAME, or the delimiter by --delimiter"
                    .to_owned()
            }
            Self::Columns { problem, .. } => return problem.hint(),
            Self::ReleaseOption { option, .. } => format!("leave out {}", flag_of_import(option)),
            Self::IsStore { file } => format!("`rana export {file}` writes its facts"),
            Self::Splits { .. } => {
                "--splits needs a directory; --valid FILE and --test FILE name single files".to_owned()
            }
            Self::UnsupportedCompression { file } => {
                format!("decompress it into a pipe: `bzcat {file} | rana import - …` (or xzcat, unzip -p)")
            }
            _ => return None,
        })
    }
}

/// The flag that sets a field of the import options.
fn flag_of_import(option: &str) -> String {
    match option {
        "delimited.columns" => "--columns, --head, --relation and --tail".to_owned(),
        "delimited.delimiter" => "--delimiter".to_owned(),
        "type_relations" => "--type-relation".to_owned(),
        "label_relations" => "--label-relation".to_owned(),
        other => format!("--{}", other.replace('_', "-")),
    }
}

impl Hint for ColumnsProblem {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Undecided { role, .. } => format!("name it with --{} NAME", role.name()),
            Self::Count { found } => {
                let others = ",_".repeat(found.saturating_sub(3));
                format!("choose them, for instance with --columns h,r,t{others}")
            }
            Self::Shared => "name them with --head, --relation and --tail".to_owned(),
            _ => return None,
        })
    }
}

impl Hint for StoreError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { path } => Some(format!("`rana import … --out {}` makes one", path.display())),
            Self::Occupied { .. } | Self::Locked { .. } => other_out(),
            _ => None,
        }
    }
}

impl Hint for AnswerError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Export(error) => error.hint(),
            Self::Wikidata { .. } => other_format(),
        }
    }
}

impl Hint for ExportError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Name { .. } | Self::InverseName { .. } => other_format(),
            Self::Occupied(_) => other_out(),
            _ => None,
        }
    }
}

impl Hint for SynthError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Occupied { .. } => other_out(),
            _ => None,
        }
    }
}

impl Hint for VectorError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::OtherGraph { .. } | Self::Missing { .. } | Self::Version { .. } | Self::Altered { .. } => {
                Some("`rana embed KG` makes vectors".to_owned())
            }
            Self::Occupied { .. } | Self::Locked { .. } => other_out(),
            Self::UnknownFormat { .. } => Some("set the format with --format NAME".to_owned()),
            _ => None,
        }
    }
}

impl Hint for SupportError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::OtherShots { trained, found } => Some(format!(
                "evaluate with --shots {trained}, or make vectors with `rana embed --facts supports --shots {found}`"
            )),
            _ => None,
        }
    }
}

impl Hint for KgeError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::OtherGraph { model, .. } => format!("`rana embed KG --model {model}` makes others"),
            Self::NoTaskRows { model, .. } => {
                format!("`rana embed KG --model {model} --facts supports --shots K` makes others")
            }
            Self::OtherTasks { model, shots } => {
                format!("`rana embed KG --model {model} --facts supports --shots {shots}` makes others")
            }
        })
    }
}

impl Hint for FewShotError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Support { source, .. } => source.hint(),
            Self::NoTasks { .. } => make_tasks(),
            _ => None,
        }
    }
}

impl Hint for ManifestError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoRun { path } => {
                let is_unfinished = path.join("learning.json").exists();
                let exists = path.exists();
                let path = path.display();
                Some(if is_unfinished {
                    "learning is not finished: the same `rana learn` command resumes it".to_owned()
                } else if exists {
                    format!("`rana learn FILES --out {path}` makes a directory that answers")
                } else {
                    format!("there is no directory {path}; `rana learn FILES --out {path}` makes it")
                })
            }
            Self::Other { .. } | Self::OtherTasks { .. } => {
                Some("--graph KG says where its graph is, --vectors DIR where its vectors are".to_owned())
            }
            Self::Io { .. } | Self::Malformed { .. } | Self::Changed { .. } => None,
        }
    }
}

impl Hint for RunError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Manifest(error) => error.hint(),
            Self::Tensors(error) => error.hint(),
            Self::Exists { .. } => {
                Some("--resume resumes its training; --out DIR chooses another directory".to_owned())
            }
            Self::Foreign { .. } | Self::Locked { .. } | Self::NoCheckpoint { .. } => other_out(),
            Self::NoModel { path } => Some(format!("`rana train KG --out {} --resume`", path.display())),
            Self::Io { .. } | Self::Malformed { .. } | Self::Config { .. } => None,
        }
    }
}

impl Hint for TrainingError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Dimension(_) => Some("`rana embed KG --model transe` makes such vectors".to_owned()),
            Self::FoldIsKnown { fold, .. } => {
                Some(format!("`rana embed KG --fold {fold}` makes such vectors; --vectors DIR chooses them"))
            }
            Self::NoDevTasks => make_tasks(),
            Self::TooFewFacts { .. } => Some("lower it with --set shots=K".to_owned()),
            Self::Diverged { .. } => Some("lower it with --set learning_rate=X".to_owned()),
            Self::Run(error) => error.hint(),
            Self::Config(_) | Self::Episode(_) | Self::NoCandidates { .. } | Self::Validation(_) => None,
        }
    }
}

impl Hint for EvidenceRunError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Manifest(error) => error.hint(),
            Self::Vectors(error) => error.hint(),
            Self::Start(_) => None,
            Self::Io { .. } | Self::Malformed { .. } => {
                Some("`rana learn` or `rana fuse` trains it again".to_owned())
            }
        }
    }
}

impl Hint for LearnError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Import(error) => error.hint(),
            Self::Other { .. } | Self::Occupied { .. } => other_out(),
            Self::Memory { .. } => Some("allow more by --memory SIZE".to_owned()),
            Self::Store(error) => error.hint(),
            Self::Vectors(error) => error.hint(),
            Self::Support(error) => error.hint(),
            Self::Run(error) => error.hint(),
            Self::Open(error) => error.hint(),
            _ => None,
        }
    }
}

impl Hint for OpenError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Manifest(error) => error.hint(),
            Self::Graph { .. } => Some("say where it is with --graph KG".to_owned()),
            Self::Vectors { .. } => {
                Some("`rana eval RUN --vectors DIR` takes them from another place".to_owned())
            }
            Self::Model { .. } | Self::Update(_) | Self::UpdatedModel { .. } => None,
            Self::Run(error) => error.hint(),
            Self::Training(error) => error.hint(),
            Self::Evidence(error) => error.hint(),
            Self::Support(error) => error.hint(),
        }
    }
}

impl Hint for TrialError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Table(error) => error.hint(),
            Self::Training(error) => error.hint(),
            Self::Run(error) => error.hint(),
            Self::FewShot(error) => error.hint(),
            Self::Taken { .. } => other_out(),
            _ => None,
        }
    }
}

impl Hint for FusedError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Config(_) => None,
            Self::Trial(error) => error.hint(),
            Self::Run(error) => error.hint(),
            Self::Evidence(error) => error.hint(),
            Self::Support(error) => error.hint(),
            Self::Evaluation(error) => error.hint(),
            Self::NoExamples => {
                Some("lower it with --set shots=[1], or make tasks with `rana split KG`".to_owned())
            }
            Self::Exists { .. } => other_out(),
        }
    }
}

impl Hint for ReproductionError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoFiles { .. } => Some(
                "say where they are with --data DIR, or set RANA_DATASETS to the folder that holds such folders"
                    .to_owned(),
            ),
            Self::Unavailable { instead, .. } => Some(format!("--dataset {instead}")),
            Self::Preset { .. } => Some("choose others with --preset NAME".to_owned()),
            Self::Vectors { .. } | Self::Row { .. } | Self::Split(_) => None,
            Self::Kge(error) => error.hint(),
            Self::Format(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Fused(error) => error.hint(),
            Self::Trial(error) => error.hint(),
        }
    }
}

impl Hint for PredictorError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Open(error) => error.hint(),
            Self::Support(error) => error.hint(),
            Self::NoSupport => Some("give pairs with --support FILE or --pair HEAD TAIL".to_owned()),
            Self::NoCandidates => {
                Some("choose candidates with --type, --candidates or --all-candidates".to_owned())
            }
            _ => None,
        }
    }
}

impl Hint for ServerError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Predictor(error) => error.hint(),
            Self::Bind { .. } => Some("choose another address with --listen ADDRESS".to_owned()),
            Self::Decisions(JournalError::Torn { .. }) => None,
            Self::Decisions(_) => Some("choose another file with --decisions FILE".to_owned()),
            Self::System(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_reach_through_nested_errors() {
        let no_run = || ManifestError::NoRun { path: "here".into() };
        let expected = "there is no directory here; `rana learn FILES --out here` makes it";
        let nested: [CliError; 4] = [
            OpenError::from(no_run()).into(),
            RunError::from(no_run()).into(),
            PredictorError::from(OpenError::from(no_run())).into(),
            FusedError::from(TrialError::from(RunError::from(no_run()))).into(),
        ];
        for error in nested {
            assert_eq!(error.hint().as_deref(), Some(expected), "{error}");
        }
    }

    #[test]
    fn options_of_an_import_are_flags() {
        let problem = ColumnsProblem::Count { found: 5 };
        let error = CliError::from(FormatError::Columns { file: "a".to_owned(), problem });
        assert_eq!(error.hint().unwrap(), "choose them, for instance with --columns h,r,t,_,_");
        for (option, flag) in [
            ("type_triples", "--type-triples"),
            ("label_relations", "--label-relation"),
            ("valid", "--valid"),
        ] {
            assert_eq!(flag_of_import(option), flag);
        }
    }
}
