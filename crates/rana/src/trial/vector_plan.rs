//! [`VectorPlan`]: the vectors a trial starts from, made once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rana_embed::{EmbedConfig, EmbeddingSet, ModelKind, Preset, PresetError};
use rana_fewshot::{Fold, PretrainingFacts};
use rana_graph::{Observer, Store};
use rana_models::training::StartVectors;
use serde::{Deserialize, Serialize};

use super::error::TrialError;
use super::trial_identity::hash;
use super::workspace::Workspace;
use crate::vector_training::{VectorTraining, train_resumably};

/// The name of the settings recommended for the size of a graph.
const RECOMMENDED: &str = "recommended";
/// The usual number of facts in a support.
const SUPPORT: usize = 5;

/// The vectors a trial starts from.
#[derive(Clone, Debug, PartialEq)]
pub enum VectorPlan {
    /// Trained in the workspace, unless they are there already.
    Train(VectorSettings),
    /// Made elsewhere.
    Given {
        /// Where they are.
        path: PathBuf,
        /// What they are.
        checksum: u64,
    },
}

/// How vectors are trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VectorSettings {
    /// What their directory is called, beside hash and seed.
    pub name: String,
    /// How they are trained, seed included.
    pub config: EmbedConfig,
    /// Which facts they are trained on.
    pub facts: PretrainingFacts,
    /// How many facts of each dev and test task are among these, if supports are.
    pub shots: usize,
    /// The part of the train tasks whose facts are not among these.
    pub fold: Option<Fold>,
}

/// What vectors depend on. Vectors of the same identity are trained once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VectorIdentity {
    /// How they were trained.
    Trained {
        /// The settings, seed included.
        config: Box<EmbedConfig>,
        /// Which facts they were trained on.
        facts: PretrainingFacts,
        /// How many facts of each dev and test task were among these.
        support_shots: Option<usize>,
        /// The part of the train tasks whose facts were not.
        #[serde(default)]
        fold: Option<Fold>,
    },
    /// What they are, if nothing is known of their making.
    Given {
        /// A checksum.
        #[serde(with = "rana_graph::hex")]
        checksum: u64,
    },
}

/// Vectors that are there.
#[derive(Debug)]
pub struct ReadyVectors {
    /// The vectors.
    pub set: EmbeddingSet,
    /// Where they are.
    pub path: PathBuf,
    /// How long making them took, if they were made just now.
    pub seconds: Option<f64>,
}

impl VectorPlan {
    /// Vectors of a graph that exist already.
    ///
    /// # Errors
    /// If there are none, they belong to another graph, or a training cannot start from them.
    pub fn given(path: impl Into<PathBuf>, store: &Store) -> Result<Self, TrialError> {
        let path = path.into();
        let set = EmbeddingSet::open(&path, &store.graph)?;
        let start = StartVectors::pretrained(&store.graph, &set)
            .map_err(|error| TrialError::Training(error.into()))?;
        Ok(Self::Given { path, checksum: start.checksum() })
    }

    /// Vectors by name: an embedding preset, `recommended` for the graph's size, or the directory they are in.
    ///
    /// # Errors
    /// If there is neither such a preset nor such a directory, or its vectors do not fit.
    pub fn of_name(name: &str, seed: u64, store: &Store) -> Result<Self, TrialError> {
        let model = ModelKind::TransE;
        let settings = match VectorSettings::of_preset(name, model) {
            _ if name == RECOMMENDED => VectorSettings::recommended(model, store),
            Ok(settings) => settings,
            Err(_) if Path::new(name).is_dir() => return Self::given(name, store),
            Err(error) => return Err(TrialError::NoVectors { name: name.to_owned(), source: error }),
        };
        let config = EmbedConfig { seed, ..settings.config };
        let settings = VectorSettings { config, ..settings };
        Ok(Self::Train(settings))
    }

    /// The vectors for a training that leaves out a part of the train tasks: they may not know these either.
    #[must_use]
    pub fn without(&self, fold: Fold) -> Self {
        match self {
            Self::Train(settings) if settings.facts != PretrainingFacts::Background => {
                Self::Train(VectorSettings { fold: Some(fold), ..settings.clone() })
            }
            plan => plan.clone(),
        }
    }

    /// What they depend on.
    #[must_use]
    pub fn identity(&self) -> VectorIdentity {
        match self {
            Self::Train(settings) => VectorIdentity::Trained {
                config: Box::new(settings.config.clone()),
                facts: settings.facts,
                support_shots: settings.support_shots(),
                fold: settings.fold,
            },
            Self::Given { checksum, .. } => VectorIdentity::Given { checksum: *checksum },
        }
    }

    /// Where they are or will be.
    #[must_use]
    pub fn path(&self, store: &Store, workspace: &Workspace) -> PathBuf {
        match self {
            Self::Train(settings) => workspace.vectors(&settings.directory(store)),
            Self::Given { path, .. } => path.clone(),
        }
    }

    /// Whether they are there.
    #[must_use]
    pub fn is_ready(&self, store: &Store, workspace: &Workspace) -> bool {
        match self {
            Self::Train(settings) => settings.is_at(&self.path(store, workspace), store),
            Self::Given { .. } => true,
        }
    }

    /// Trains them, unless they exist. An interrupted training is resumed to the same result.
    ///
    /// # Errors
    /// If training fails or is stopped, or the disk refuses.
    pub fn ready(
        &self,
        store: &Store,
        workspace: &Workspace,
        observer: &dyn Observer,
    ) -> Result<ReadyVectors, TrialError> {
        let path = self.path(store, workspace);
        let seconds = match self {
            Self::Train(settings) if !settings.is_at(&path, store) => {
                let started = Instant::now();
                settings.train(store, &path, observer)?;
                Some(started.elapsed().as_secs_f64())
            }
            _ => None,
        };
        Ok(ReadyVectors { set: EmbeddingSet::open(&path, &store.graph)?, path, seconds })
    }
}

impl VectorSettings {
    /// A model as a preset has it, on the facts that it is made for.
    ///
    /// # Errors
    /// If there is no such preset.
    pub fn of_preset(name: &str, model: ModelKind) -> Result<Self, PresetError> {
        let facts = Preset::find(name, model)?.facts.parse().expect("presets name facts that there are");
        let config = EmbedConfig::preset(name, model)?;
        Ok(Self { name: name.to_owned(), config, facts, shots: SUPPORT, fold: None })
    }

    /// A model with the settings that serve the size of a graph, on its background.
    #[must_use]
    pub fn recommended(model: ModelKind, store: &Store) -> Self {
        let config = EmbedConfig::recommended(model, store.graph.facts().len());
        let facts = PretrainingFacts::Background;
        Self { name: RECOMMENDED.to_owned(), config, facts, shots: SUPPORT, fold: None }
    }

    fn support_shots(&self) -> Option<usize> {
        (self.facts == PretrainingFacts::Supports).then_some(self.shots)
    }

    fn directory(&self, store: &Store) -> String {
        let unseeded = EmbedConfig { seed: 0, ..self.config.clone() };
        let hash = hash(&(&store.manifest.data, unseeded, self.facts, self.support_shots(), self.fold));
        format!("{}-{hash:08x}-{}", self.name, self.config.seed)
    }

    /// Whether just these vectors are at a place.
    fn is_at(&self, path: &Path, store: &Store) -> bool {
        let left = self.fold.map(|fold| fold.of(&store.tasks));
        let expected = self.facts.metadata(left.as_ref().unwrap_or(&store.tasks), self.shots);
        EmbeddingSet::read_metadata(path).is_ok_and(|metadata| {
            metadata.training.as_ref() == Some(&self.config)
                && metadata.origin == expected.origin
                && metadata.support_shots == expected.support_shots
                && metadata.task_facts == expected.task_facts
                && metadata.fold == self.fold.map(|fold| fold.to_string())
                && metadata.graph == store.graph.fingerprint()
        })
    }

    /// What observers are told that the training is called.
    pub(crate) fn stage(&self) -> String {
        format!("pre-training {} (seed {})", self.config.model, self.config.seed)
    }

    fn train(&self, store: &Store, path: &Path, observer: &dyn Observer) -> Result<(), TrialError> {
        let target = EmbeddingSet::target(path)?;
        let training = VectorTraining::new(store, self.config.clone(), self.facts, self.fold, self.shots)?;
        let pretraining = training.pretraining();
        let stage = self.stage();
        let checkpoint = path.join(EmbeddingSet::CHECKPOINT);
        let trainer = train_resumably::<TrialError>(pretraining, &checkpoint, &stage, observer)?;
        let trainer = trainer.ok_or(TrialError::Stopped)?;
        training.vectors(trainer)?.write_to(&target)?;
        // It only takes room from here on.
        let _ = fs::remove_file(&checkpoint);
        Ok(())
    }
}
