//! [`Update`]: files of new facts, and of facts that are gone.

use std::path::Path;

use rana_graph::format::Source;
use rana_graph::{Graph, GraphUpdate, ImportOptions, Observer, Store, UpdateLayers, import};
use rana_models::OpenedRun;
use rana_models::fused::EvidenceRun;
use rana_models::training::RunManifest;
use serde::Serialize;

use super::drift::Drift;
use super::update_run_error::UpdateRunError;

/// What changes in a learned directory.
///
/// ```no_run
/// let update = rana::Update { added: vec!["new.tsv".into()], ..rana::Update::default() };
/// let report = update.apply("learned", &())?;
/// println!("{} facts are new; learn again: {}", report.added, report.drift.learn_again);
/// let predictor = rana::Predictor::open("learned".as_ref(), None)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Files of new facts, in any format that [`import`] reads. Facts that are there already are passed over.
    pub added: Vec<Source>,
    /// Files of facts that are gone.
    pub removed: Vec<Source>,
    /// Whether all updates so far are merged into one.
    pub merge: bool,
    /// The language of labels; those without a language are preferred if not given.
    pub language: Option<String>,
}

/// What an update did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpdateReport {
    /// How many facts it added.
    pub added: usize,
    /// How many facts it removed.
    pub removed: usize,
    /// How many facts of its files changed nothing: they were there already, or not there.
    pub unchanged: usize,
    /// How many entities are new.
    pub new_entities: usize,
    /// How many relations are new.
    pub new_relations: usize,
    /// How many updates lie over the graph now.
    pub layers: usize,
    /// How far the graph has gone from the one that was learned from.
    pub drift: Drift,
}

impl Update {
    /// Changes the graph of a learned directory. Whatever opens the directory afterwards sees the change; new entities are
    /// placed by their neighbours. The update is there when this returns, or not at all.
    ///
    /// # Errors
    /// If the directory is not one of [`learn`](crate::learn), a file cannot be read, another process updates it, or the
    /// disk refuses.
    pub fn apply(
        &self,
        directory: impl AsRef<Path>,
        observer: &dyn Observer,
    ) -> Result<UpdateReport, UpdateRunError> {
        let directory = directory.as_ref();
        let manifest = RunManifest::read(directory)?;
        let store = Store::open(manifest.graph_at(directory))?;
        manifest.check_graph(directory, &store)?;
        let parts = EvidenceRun::read(directory).map(|run| run.parts.model.is_none());
        if !matches!(parts, Ok(true)) {
            return Err(UpdateRunError::OtherModel { path: directory.to_owned(), model: manifest.model });
        }
        if !store.tasks.is_empty() {
            return Err(UpdateRunError::HasTasks { path: directory.to_owned() });
        }
        let base = &store.graph;
        let path = OpenedRun::updates_at(directory);
        let _lock = UpdateLayers::lock(&path)?;
        let mut layers = UpdateLayers::read(&path, base)?;
        let options = ImportOptions { language: self.language.clone(), ..ImportOptions::default() };
        let read = |sources: &[Source]| -> Result<Option<Graph>, UpdateRunError> {
            match sources {
                [] => Ok(None),
                sources => Ok(Some(import(sources, &options, observer)?.graph)),
            }
        };
        let (new, gone) = (read(&self.added)?, read(&self.removed)?);
        let current = if layers.update.is_empty() { base.clone() } else { layers.update.applied(base) };
        let change = GraphUpdate::between(&current, new.as_ref(), gone.as_ref());
        let facts = |of: &Option<Graph>| of.as_ref().map_or(0, |graph| graph.facts().len());
        let changed = change.added.len() + change.removed.len();
        let (new_entities, new_relations) = change.new_names(&current);
        if !change.is_empty() {
            layers.push(&path, base, &change)?;
        }
        if self.merge && layers.layers > 1 {
            layers.merge(&path, base)?;
        }
        Ok(UpdateReport {
            added: change.added.len(),
            removed: change.removed.len(),
            unchanged: (facts(&new) + facts(&gone)).saturating_sub(changed),
            new_entities,
            new_relations,
            layers: layers.layers,
            drift: Drift::of(base, &layers.update),
        })
    }
}
