//! [`learn`]: from files to a [`Predictor`] in one call.
//!
//! ```text
//! OUT/
//!   learning.json     the files and the seed; written first
//!   graph/            the graph as it was read
//!   benchmark/        the graph without some relations, which are its few-shot tasks
//!   run/              the trained model
//! ```

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rana_embed::ModelKind;
use rana_fewshot::{PretrainingFacts, SplitConfig, SplitError, SplitSettings, split};
use rana_graph::format::{FormatError, Source};
use rana_graph::{
    FewShotRule, Graph, ImportOptions, Split, Store, StoreError, TaskSet, import, write_file_atomically,
};
use rana_models::OpenedRun;
use rana_models::fused::{EvidenceKind, FusedConfig};
use rana_models::registry::{self, RegistryError};
use rana_models::training::RunConfig;
use serde::{Deserialize, Serialize};

use crate::fused_training::{FusedError, FusedTraining};
use crate::predictor::{Predictor, PredictorError};
use crate::trial::{TrialError, Unwatched, VectorPlan, VectorSettings, Watch};

/// Where everything is.
const RECORD: &str = "learning.json";
const GRAPH: &str = "graph";
const BENCHMARK: &str = "benchmark";
const RUN: &str = "run";

/// Up to this many facts a graph is small, as it is for the settings of vectors.
const SMALL: usize = 50_000;
/// The settings of the model for small graphs.
const SMALL_PRESET: &str = "umls";
/// A task needs so many facts: five to learn from, and some to test by.
const FEWEST_FACTS: u64 = 10;
/// With so many tasks, how sure answers are can be learned too.
const MANY_TASKS: usize = 10;
/// Two tasks to learn from, one to choose the best model by, and one to test it by.
const FEWEST_TASKS: usize = 4;
/// The tasks leave at least one of so many facts in the graph.
const LEFT_IN_GRAPH: u64 = 3;

/// Reads files, learns from them how relations are completed, and opens the result.
///
/// The files are in any format that [`import`] knows: delimited text, RDF or Parquet, told from content and name.
/// Everything is written below `out`. A second call with the same files opens what the first one learned. A call
/// that was interrupted is resumed.
///
/// ```no_run
/// let predictor = rana::learn(["facts.tsv"], "learned")?;
/// let treats = predictor.learn_named("treats", &[("aspirin", "headache"), ("insulin", "diabetes")])?;
/// for answer in treats.answers("ibuprofen", 3)? {
///     println!("{} {:?} {}", answer.label, answer.confidence, answer.reason);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it does
/// 1. It reads the files into one graph, with [`ImportOptions::default`].
/// 2. It makes few-shot tasks of some relations: those with more than 50 and less than 500 facts, or in a small graph
///    the rarer ones with at least ten. A release directory has tasks of its own, which are used as they are.
/// 3. It trains `rana-fused`, with settings for the size of the graph.
///
/// The facts of dev and test tasks are left out of the graph and of the training, so that the result can be
/// measured honestly. If you complete such a relation, its facts may be among the answers; they are marked as
/// [known](crate::predictor::NamedAnswer::known).
///
/// The training takes seconds for thousands of facts and hours for millions. The files are read at every call, to see
/// whether they are the same. If you know that they are, [`Predictor::open`] on `out/run` is faster.
///
/// # Errors
/// If the files cannot be read or hold too little, `out` holds something else, or the disk refuses.
pub fn learn(
    sources: impl IntoIterator<Item: Into<Source>>,
    out: impl AsRef<Path>,
) -> Result<Predictor, LearnError> {
    Learning::default().learn(sources, out, &Unwatched::default())
}

/// [`learn`] with choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learning {
    /// Chooses the tasks and where training starts. The same seed gives the same result.
    pub seed: u64,
}

impl Learning {
    /// Does what [`learn`] does, with these choices. `watch` sees the progress and may stop it.
    ///
    /// # Errors
    /// Those of [`learn`], and [`LearnError::Stopped`] if `watch` asks to stop.
    pub fn learn(
        &self,
        sources: impl IntoIterator<Item: Into<Source>>,
        out: impl AsRef<Path>,
        watch: &dyn Watch,
    ) -> Result<Predictor, LearnError> {
        let sources: Vec<Source> = sources.into_iter().map(Into::into).collect();
        let out = out.as_ref();
        let imported = import(&sources, &ImportOptions::default(), watch.progress())?;
        let record = Record {
            format: FORMAT.to_owned(),
            version: VERSION,
            seed: self.seed,
            inputs: imported.inputs.iter().map(|input| input.sha256.clone()).collect(),
        };
        let [graph, benchmark, run] = [GRAPH, BENCHMARK, RUN].map(|name| out.join(name));
        let is_begun = record.is_in(out)?;
        if is_begun && OpenedRun::is_at(&run) {
            return Ok(Predictor::open(&run, Some(&benchmark))?);
        }
        let (background, tasks) = match imported.tasks.is_empty() {
            true => {
                let cut = split(&imported.graph, &self.tasks(&imported.graph)?)?;
                (cut.graph, cut.tasks)
            }
            false => (imported.graph.clone(), imported.tasks.clone()),
        };
        check_tasks(&tasks)?;
        if !is_begun {
            record.write(out)?;
        }
        Store::write(&graph, &imported.graph, &imported.tasks, imported.inputs.clone())?;
        Store::write(&benchmark, &background, &tasks, imported.inputs)?;
        let store = Store::open(&benchmark)?;
        self.training(&store)?.train(&run, &store, watch)?;
        Ok(Predictor::open(&run, Some(&benchmark))?)
    }

    /// How few-shot tasks are cut out of a graph.
    fn tasks(&self, graph: &Graph) -> Result<SplitConfig, LearnError> {
        let usual = SplitSettings { seed: self.seed, ..SplitSettings::default() };
        let rule = FewShotRule { more_than: usual.more_than as u64, less_than: usual.less_than as u64 };
        let facts = graph.facts_by_relation();
        let all = graph.relations().filter(|relation| !graph.type_relations().contains(relation));
        let sizes: Vec<u64> = all.map(|relation| facts.get(relation.number()).len() as u64).collect();
        let large = sizes.iter().filter(|&&size| size >= FEWEST_FACTS).count();
        let too_small = LearnError::TooSmall { relations: graph.relation_count(), large };
        let rule = task_rule(rule, sizes, graph.facts().len() as u64).ok_or(too_small)?;
        let settings =
            SplitSettings { more_than: rule.more_than as usize, less_than: rule.less_than as usize, ..usual };
        Ok(SplitConfig::try_from(settings)?)
    }

    /// How `rana-fused` is trained on a graph of this size.
    fn training(&self, store: &Store) -> Result<FusedTraining, LearnError> {
        let entry = registry::find(registry::DEFAULT)?;
        let is_small = store.graph.facts().len() <= SMALL;
        let name = if is_small { SMALL_PRESET } else { entry.tuned_preset() };
        let model = RunConfig::preset(entry.name, name)?.with_trainer(|trainer| trainer.seed = self.seed);
        let facts = match is_small {
            // Vectors that know no task serve all folds, which saves more than half of the time. On four splits of UMLS they
            // were as good: cross-validated MRR .716 (.706 if they know the train tasks), dev MRR .815 (.847).
            true => PretrainingFacts::Background,
            false => PretrainingFacts::TrainTasks,
        };
        let vectors =
            |model| VectorPlan::Train(VectorSettings { facts, ..VectorSettings::recommended(model, store) });
        let usual = FusedConfig::default();
        // A fold without a task teaches nothing.
        let folds = usual.folds.min(store.tasks.of(Split::Train).count());
        let fused = FusedConfig { folds, seed: self.seed, ..usual };
        let products = fused.evidence.contains(&EvidenceKind::Product);
        Ok(FusedTraining {
            name: name.to_owned(),
            vectors: vectors(ModelKind::TransE),
            products: products.then(|| vectors(ModelKind::DistMult)),
            model,
            fused,
        })
    }
}

/// Which relations become tasks, by their sizes: the usual rule if it finds many of them, else the rarer relations.
/// None if there are too few.
fn task_rule(usual: FewShotRule, mut sizes: Vec<u64>, facts: u64) -> Option<FewShotRule> {
    let taken = |rule: FewShotRule| -> (usize, u64) {
        let of = sizes.iter().filter(|&&size| rule.holds(size));
        (of.clone().count(), of.sum())
    };
    let leaves_enough = |taken: u64| (facts - taken) * LEFT_IN_GRAPH >= facts;
    let (tasks, of_tasks) = taken(usual);
    if tasks >= MANY_TASKS && leaves_enough(of_tasks) {
        return Some(usual);
    }
    sizes.retain(|&size| size >= FEWEST_FACTS);
    sizes.sort_unstable();
    let (mut tasks, mut of_tasks, mut most) = (0, 0, None);
    for alike in sizes.chunk_by(|one, other| one == other) {
        let is_enough = tasks >= MANY_TASKS && alike[0] >= usual.less_than;
        tasks += alike.len();
        of_tasks += alike.iter().sum::<u64>();
        if is_enough || !leaves_enough(of_tasks) {
            break;
        }
        most = Some((tasks, alike[0]));
    }
    let (_, largest) = most.filter(|&(tasks, _)| tasks >= FEWEST_TASKS)?;
    Some(FewShotRule { more_than: FEWEST_FACTS - 1, less_than: largest + 1 })
}

/// Fails unless there are tasks to learn from and a task to choose the best model by.
fn check_tasks(tasks: &TaskSet) -> Result<(), LearnError> {
    let [train, dev] = [Split::Train, Split::Dev].map(|split| tasks.of(split).count());
    if train >= 2 && dev >= 1 { Ok(()) } else { Err(LearnError::FewTasks { train, dev }) }
}

const FORMAT: &str = "rana-learning";
const VERSION: u32 = 1;

/// What a directory was learned from: `learning.json`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    format: String,
    version: u32,
    seed: u64,
    /// The SHA-256 of every file, in their order.
    inputs: Vec<String>,
}

impl Record {
    /// Whether a directory is the place of this learning already; if not, it must be empty.
    fn is_in(&self, out: &Path) -> Result<bool, LearnError> {
        let file = out.join(RECORD);
        let path = out.to_owned();
        match fs::read(&file) {
            Ok(text) => match serde_json::from_slice::<Self>(&text) {
                Ok(earlier) if earlier == *self => Ok(true),
                _ => Err(LearnError::Other { path }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match fs::read_dir(out).map(|mut entries| entries.next().is_some()) {
                    Ok(true) => Err(LearnError::Occupied { path }),
                    Err(source) if source.kind() != io::ErrorKind::NotFound => {
                        Err(LearnError::Io { path, action: "list the directory", source })
                    }
                    _ => Ok(false),
                }
            }
            Err(source) => Err(LearnError::Io { path: file, action: "read the file", source }),
        }
    }

    fn write(&self, out: &Path) -> Result<(), LearnError> {
        let file = out.join(RECORD);
        let written = fs::create_dir_all(out).and_then(|()| {
            let text = serde_json::to_vec_pretty(self)?;
            write_file_atomically(&file, |out| out.write_all(&text))
        });
        written.map_err(|source| LearnError::Io { path: file, action: "write the file", source })
    }
}

/// Why nothing can be learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A file cannot be read.
    #[error(transparent)]
    Import(#[from] FormatError),
    /// There are too few relations with enough facts.
    #[error(
        "the graph is too small to learn from. It needs at least {FEWEST_TASKS} relations with {FEWEST_FACTS} facts or \
         more, and beside them others with at least half as many facts. Of its {relations} relations {large} have \
         {FEWEST_FACTS} facts or more"
    )]
    TooSmall {
        /// How many relations there are.
        relations: usize,
        /// How many of them have facts enough for a task.
        large: usize,
    },
    /// There are too few tasks.
    #[error("there are {train} train tasks and {dev} dev tasks to learn from; at least 2 and 1 are needed")]
    FewTasks {
        /// How many train tasks there are.
        train: usize,
        /// How many dev tasks there are.
        dev: usize,
    },
    /// No tasks can be cut out of the graph.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// The directory was learned from other files or with another seed.
    #[error("{}: this was learned from other files, or with another seed. Choose another directory, or remove it", path.display())]
    Other {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds something else.
    #[error("{}: the directory holds other files, so it is left alone. Choose another one, or an empty one", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// A graph cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There are no settings to train with.
    #[error(transparent)]
    Settings(#[from] RegistryError),
    /// The training failed.
    #[error(transparent)]
    Training(FusedError),
    /// It was stopped.
    #[error("stopped. The same call goes on where it was")]
    Stopped,
    /// The result cannot be opened.
    #[error(transparent)]
    Open(#[from] PredictorError),
    /// A file cannot be accessed.
    #[error("{}: could not {action}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
}

impl From<FusedError> for LearnError {
    fn from(error: FusedError) -> Self {
        match error {
            FusedError::Trial(TrialError::Stopped) => Self::Stopped,
            error => Self::Training(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(sizes: &[u64]) -> Option<(u64, u64)> {
        let usual = FewShotRule { more_than: 50, less_than: 500 };
        let rule = task_rule(usual, sizes.to_vec(), sizes.iter().sum())?;
        Some((rule.more_than, rule.less_than))
    }

    #[test]
    fn the_usual_rule_unless_it_finds_too_little() {
        let large = [&[100; 10][..], &[600; 10]].concat();
        assert_eq!(rule(&large), Some((50, 500)));
        // Few relations are in its range: the rarer ones, as long as a third of the facts stays.
        let small = [&[3; 20][..], &[12; 4], &[20; 4], &[70, 90]].concat();
        assert_eq!(rule(&small), Some((9, 71)));
        // All relations are too large for it.
        let huge = [1_000, 1_100, 1_200, 1_300, 40_000];
        assert_eq!(rule(&huge), Some((9, 1_301)));
        // Tasks of more facts than usual are no use once there are many.
        let mixed = [&[30; 12][..], &[600; 3], &[9_000]].concat();
        assert_eq!(rule(&mixed), Some((9, 31)));
    }

    #[test]
    fn too_few_relations_make_no_tasks() {
        assert_eq!(rule(&[]), None);
        assert_eq!(rule(&[9; 100]), None);
        assert_eq!(rule(&[20, 30, 40, 1_000]), None);
        // If all were tasks, nothing would be left to learn from.
        assert_eq!(rule(&[40; 12]), None);
    }
}
