//! [`Dataset`]: where raw files are, and how they become a graph with tasks.

use std::path::{Path, PathBuf};

use rana_fewshot::{SplitConfig, split};
use rana_graph::format::Source;
use rana_graph::{ImportOptions, Observer, Store, import};

use super::error::ReproductionError;
use super::published::Benchmark;
use crate::trial::Workspace;

/// A benchmark by its name, and where its raw files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// The name, under which numbers may have been published.
    pub name: String,
    source: Files,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Files {
    /// In a directory.
    At(PathBuf),
    /// The embedded graph.
    Umls,
}

impl Dataset {
    /// The name of the embedded graph.
    pub const UMLS: &str = "UMLS";

    /// The embedded graph, for smoke runs.
    #[must_use]
    pub fn umls() -> Self {
        Self { name: Self::UMLS.to_owned(), source: Files::Umls }
    }

    /// Looks for the raw files of a benchmark: in `data` if that is given, else in a folder of its name in
    /// those of `folders` that are there.
    ///
    /// # Errors
    /// If they are not found; the error lists where they were looked for.
    pub fn find(name: &str, data: Option<&Path>, folders: &[PathBuf]) -> Result<Self, ReproductionError> {
        let looked: Vec<PathBuf> = match data {
            Some(data) => vec![data.to_owned()],
            None => folders.iter().map(|folder| folder.join(name)).collect(),
        };
        match looked.iter().find(|path| path.is_dir()) {
            Some(path) => Ok(Self { name: name.to_owned(), source: Files::At(path.clone()) }),
            None => {
                let looked: Vec<String> = looked.iter().map(|path| path.display().to_string()).collect();
                let (name, looked) = (name.to_owned(), looked.join(", "));
                Err(match &*name {
                    "Wiki-One" => ReproductionError::Unavailable { name, looked, instead: "WD50K" },
                    _ => ReproductionError::NoFiles { name, looked },
                })
            }
        }
    }

    pub(super) fn benchmark(&self) -> Option<Benchmark> {
        Benchmark::of_name(&self.name)
    }

    /// The settings of its vectors, unless a preset has its own.
    pub(super) fn vectors(&self) -> &'static str {
        match self.source {
            Files::Umls => "recommended",
            Files::At(_) => "nell-one",
        }
    }

    /// Imports the files into the workspace and cuts tasks out of a graph without tasks. Also returns how, in words.
    /// The same files give the same store, so the import is repeated every time.
    pub(super) fn prepare(
        &self,
        workspace: &Workspace,
        observer: &dyn Observer,
    ) -> Result<(Store, String), ReproductionError> {
        let (source, from) = match &self.source {
            Files::At(path) => {
                // Reports are passed on to other machines, so they name the folder without its path.
                let name = path
                    .file_name()
                    .map_or_else(|| path.display().to_string(), |of| of.display().to_string());
                (Source::from(path.clone()), name)
            }
            Files::Umls => (crate::umls(), "the embedded graph".to_owned()),
        };
        let imported = import(&[source], &ImportOptions::default(), observer)?;
        let path = workspace.graph();
        let how = if imported.tasks.is_empty() {
            let config = SplitConfig::default();
            let cut = split(&imported.graph, &config)?;
            Store::write(&path, &cut.graph, &cut.tasks, imported.inputs)?;
            format!("{from}, tasks cut by the published rule (seed 0)")
        } else {
            Store::write(&path, &imported.graph, &imported.tasks, imported.inputs)?;
            format!("{from}, with its own tasks")
        };
        Ok((Store::open(&path)?, how))
    }
}
