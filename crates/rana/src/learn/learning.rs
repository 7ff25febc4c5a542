//! [`Learning`]: the choices of [`learn`], and how they are carried out.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rana_embed::{EmbedConfig, EmbeddingSet, ModelKind};
use rana_fewshot::{CandidateRule, Direction};
use rana_graph::format::Source;
use rana_graph::{
    Graph, ImportOptions, Input, Observer, Pair, Split, Store, TaskSet, TaskSetBuilder, import,
};
use rana_models::OpenedRun;
use rana_models::fused::{EvidenceRun, FusedScores, HeadsEvidence, PartPaths, Sources};
use rana_models::paths::EdgeIndex;
use rana_models::vectors::MeanTranslation;
use serde::{Deserialize, Serialize};

use super::error::LearnError;
use super::evidence_learning::{self, EvidenceLearning};
use super::known_facts::KnownFacts;
use super::learning_identity::LearningIdentity;
use super::measuring::SHOTS;
use super::quality::{QUALITY, Quality};
use super::relation_learning::{self, RelationLearning};
use super::vector_files::vectors;
use super::vector_training_plan::Plan;
use super::withheld_relations::{WithheldRelations, is_benchmark};
use super::write_json::write_json;
use crate::predictor::{Predictor, relation};
use crate::schedule::{Schedule, Stage};

/// Where everything is.
const GRAPH: &str = "graph";
const VECTORS: &str = "vectors";
const WITHHELD: &str = "withheld";

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
/// 1. It reads the files into one graph, as [`import`] does.
/// 2. It leaves some relations out and trains vectors on the other facts. On the relations left out it learns how far
///    each kind of evidence is to be trusted, measures how good the answers are, and how sure they are.
/// 3. It trains vectors on every fact. These answer, with what was learned in step 2.
///
/// A release directory of a benchmark has tasks of its own: the facts of its dev and test tasks are not used.
///
/// The training takes seconds for thousands of facts, minutes for hundreds of thousands, and hours for many millions. The
/// files are read at every call, to see whether they are the same. If you know that they are, [`Predictor::open`] on
/// `out` is faster.
///
/// # Errors
/// If the files cannot be read or hold no facts, `out` holds something else, or the disk refuses.
pub fn learn(
    sources: impl IntoIterator<Item: Into<Source>>,
    out: impl AsRef<Path>,
) -> Result<Predictor, LearnError> {
    Learning::default().learn(sources, out, &())
}

/// [`learn`] with choices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learning {
    /// Chooses the relations that are left out, and where training starts. The same seed gives the same result, unless a
    /// budget makes it depend on the speed of the machine.
    pub seed: u64,
    /// How long it may take, about; as long as it needs if not given.
    pub budget: Option<Duration>,
    /// How many bytes of memory it may take, about.
    pub memory: Option<u64>,
    /// Relations whose facts are not used at all, by name. They become test tasks of the graph, so that an evaluation
    /// shows what a relation that the graph does not have would get.
    pub leave_out: Vec<String>,
    /// The language of labels, such as `en`, where the files have it; if not given, labels without a language are
    /// preferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// How many bytes a compressed file may have after decompression; any number if not given. The result does not
    /// depend on it.
    #[serde(skip)]
    pub max_decompressed: Option<u64>,
}

impl Learning {
    /// Does what [`learn`] does, with these choices. `observer` sees the progress and may stop it.
    ///
    /// # Errors
    /// Those of [`learn`], and [`LearnError::Stopped`] if `observer` asks to stop.
    pub fn learn(
        &self,
        sources: impl IntoIterator<Item: Into<Source>>,
        out: impl AsRef<Path>,
        observer: &dyn Observer,
    ) -> Result<Predictor, LearnError> {
        let sources: Vec<Source> = sources.into_iter().map(Into::into).collect();
        let options = ImportOptions {
            language: self.language.clone(),
            max_decompressed: self.max_decompressed,
            ..ImportOptions::default()
        };
        let imported = import(&sources, &options, observer)?;
        let inputs = imported.inputs.iter().map(|input| input.sha256.clone()).collect();
        let (graph, tasks) = self.left_out(&imported.graph, &imported.tasks)?;
        let write = |path: &Path| Store::write(path, &graph, &tasks, imported.inputs.clone()).map(|_| ());
        self.learn_into(out.as_ref(), inputs, write, observer)
    }

    /// The same from a graph store, which is copied into the directory.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn learn_store(
        &self,
        store: &Store,
        out: impl AsRef<Path>,
        observer: &dyn Observer,
    ) -> Result<Predictor, LearnError> {
        let inputs = store.manifest.inputs.clone();
        self.learn_identified(
            (&store.graph, &store.tasks),
            store.manifest.data.clone(),
            inputs,
            out,
            observer,
        )
    }

    /// The same from a graph in memory, which is kept in the directory. `inputs` says what it was made from.
    ///
    /// A store of the same graph gives the same directory.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn learn_graph(
        &self,
        graph: &Graph,
        tasks: &TaskSet,
        inputs: Vec<Input>,
        out: impl AsRef<Path>,
        observer: &dyn Observer,
    ) -> Result<Predictor, LearnError> {
        self.learn_identified((graph, tasks), Store::identity(graph, tasks), inputs, out, observer)
    }

    fn learn_identified(
        &self,
        (graph, tasks): (&Graph, &TaskSet),
        identity: String,
        inputs: Vec<Input>,
        out: impl AsRef<Path>,
        observer: &dyn Observer,
    ) -> Result<Predictor, LearnError> {
        let (graph, tasks) = self.left_out(graph, tasks)?;
        let write = |path: &Path| Store::write(path, &graph, &tasks, inputs).map(|_| ());
        self.learn_into(out.as_ref(), vec![identity], write, observer)
    }

    /// The graph without the relations that are left out, which become test tasks.
    fn left_out(&self, graph: &Graph, tasks: &TaskSet) -> Result<(Graph, TaskSet), LearnError> {
        if self.leave_out.is_empty() {
            return Ok((graph.clone(), tasks.clone()));
        }
        if !tasks.is_empty() {
            return Err(LearnError::HasTasks);
        }
        let named = |name: &String| relation(graph, name);
        let relations = self.leave_out.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        let rest = graph.withhold(&relations);
        let mut builder = TaskSetBuilder::default();
        for relation in relations {
            let facts = graph.facts().iter().filter(|fact| fact.relation == relation);
            let pairs = facts.map(|fact| Pair { head: fact.head, tail: fact.tail }).collect();
            // The name is one of the graph.
            if let Some(relation) = rest.relation(graph.relation_name(relation)) {
                builder.add_task(Split::Test, relation, pairs);
                builder.add_candidates(relation, rest.entities().collect());
            }
        }
        builder.filter_from_tasks();
        Ok((rest, builder.finish()))
    }

    fn learn_into(
        &self,
        out: &Path,
        inputs: Vec<String>,
        write_graph: impl FnOnce(&Path) -> Result<(), rana_graph::StoreError>,
        observer: &dyn Observer,
    ) -> Result<Predictor, LearnError> {
        let started = Instant::now();
        let identity = LearningIdentity::new(self, inputs);
        let earlier = identity.earlier(out)?;
        if OpenedRun::is_at(out) {
            observer.note("this was learned before from the same files; nothing is left to do");
            return Ok(Predictor::open(out, None)?);
        }
        let graph = out.join(GRAPH);
        if earlier.is_none() {
            identity.write(out, &[])?;
        }
        write_graph(&graph)?;
        let store = Store::open(&graph)?;
        let known = KnownFacts::new(&store);
        if known.facts.is_empty() {
            let _ = fs::remove_dir_all(out);
            return Err(LearnError::NoFacts);
        }
        let withheld = WithheldRelations::choose(&store, &known, self.seed);
        let trainings = withheld.groups.len() + 1;
        let plan = Plan::new(&store.graph, &known.facts, trainings, self.seed, self.budget, self.memory)?;
        plan.note.iter().for_each(|note| observer.note(note));
        let configs: Vec<EmbedConfig> = match earlier {
            Some(planned) if !planned.is_empty() => planned,
            _ => plan.vectors.iter().map(|(config, _)| config.clone()).collect(),
        };
        identity.write(out, &configs)?;
        let groups = withheld.groups.len();
        let of_vectors = |group: Option<usize>| {
            let stage = move |(config, time): &(EmbedConfig, Duration)| {
                Stage::new(vector_stage(config.model, group, groups), time.as_secs_f64())
            };
            plan.vectors.iter().map(stage)
        };
        let mut stages: Vec<Stage> = (0..groups).flat_map(|group| of_vectors(Some(group))).collect();
        let entities = store.graph.entity_count();
        stages.extend(
            Direction::ALL.iter().flat_map(|&of| evidence_learning::stages(withheld.len(), entities, of)),
        );
        stages.push(relation_learning::stage(withheld.len()));
        stages.extend(of_vectors(None));
        let schedule = Schedule::new(observer, stages);
        self.train(out, &store, &known, &withheld, &configs, &schedule, started)?;
        Ok(Predictor::open(out, None)?)
    }

    #[allow(clippy::too_many_arguments)]
    fn train(
        &self,
        out: &Path,
        store: &Store,
        known: &KnownFacts,
        withheld: &WithheldRelations,
        configs: &[EmbedConfig],
        observer: &dyn Observer,
        started: Instant,
    ) -> Result<(), LearnError> {
        let graph = &store.graph;
        let fused = evidence_learning::config(self.seed, withheld.len());
        fused.check()?;
        let edges = Arc::new(fused.edges(graph, &store.tasks));
        let without = Sources::new(graph, edges);
        // What answers for all of a group's relations at once must see none of their facts.
        let mut blind = Vec::new();
        let mut sources = Vec::new();
        for (number, group) in withheld.groups.iter().enumerate() {
            let mut sets = Vec::new();
            for config in configs {
                let path = out.join(WITHHELD).join(format!("{}-{number}", config.model));
                let stage = vector_stage(config.model, Some(number), withheld.groups.len());
                sets.push(vectors(&path, graph, &known.without(group), config, &stage, observer)?);
            }
            sources.push(with_vectors(without.clone(), &sets));
            let hidden = Arc::new(EdgeIndex::without(graph, group));
            blind.push(with_vectors(Sources::new(graph, hidden), &sets));
        }
        let learned = EvidenceLearning::new(graph, withheld, &sources, &fused, Direction::Tails, observer)?;
        let turned = withheld.turned(store, known);
        let heads = EvidenceLearning::new(graph, &turned, &sources, &fused, Direction::Heads, observer)?;
        drop(sources);
        let relating = RelationLearning::new(graph, known, withheld, &blind, [&learned, &heads], observer)?;
        drop(blind);
        let mut parts = PartPaths { model: None, vectors: None, products: None };
        for config in configs {
            let path = PathBuf::from(VECTORS).join(config.model.to_string());
            let stage = vector_stage(config.model, None, withheld.groups.len());
            vectors(&out.join(&path), graph, &known.facts, config, &stage, observer)?;
            match config.model {
                ModelKind::TransE => parts.vectors = Some(path),
                _ => parts.products = Some(path),
            }
        }
        let quality = learned.quality.map(|quality| Quality {
            heads: heads.quality.map(Box::new),
            relating: relating.quality.map(Box::new),
            ..quality
        });
        let chosen = quality.as_ref().and_then(Quality::chosen_row);
        let mrr = chosen.map_or(0.0, |row| row.mrr);
        if let Some(quality) = &quality {
            write_json(&out.join(QUALITY), quality)?;
        }
        let run = EvidenceRun {
            parts,
            config: fused,
            seed: self.seed,
            shots: SHOTS,
            trusted: learned.trusted,
            scores: FusedScores { dev_mrr: None, cross_validated_mrr: mrr, cross_validated_macro_mrr: mrr },
            calibration: learned.calibration,
            heads: Some(HeadsEvidence { trusted: heads.trusted, calibration: heads.calibration }),
            relating: relating.confidence,
            candidates: if is_benchmark(store) { CandidateRule::Auto } else { CandidateRule::All },
        };
        run.write(out, store, started.elapsed().as_secs_f64())?;
        // Only the measurement needed these.
        let _ = fs::remove_dir_all(out.join(WITHHELD));
        Ok(())
    }
}

/// What the training of vectors is called: without a group of relations, or on every fact.
fn vector_stage(model: ModelKind, group: Option<usize>, groups: usize) -> String {
    match group {
        None => format!("training vectors ({model}) on every fact"),
        Some(_) if groups == 1 => format!("training vectors ({model}) without the relations left out"),
        Some(group) => {
            format!("training vectors ({model}) without the relations left out, {} of {groups}", group + 1)
        }
    }
}

/// Sources with the evidence of vectors too.
fn with_vectors(mut sources: Sources, sets: &[EmbeddingSet]) -> Sources {
    for set in sets {
        sources = match set.metadata.model {
            ModelKind::TransE => {
                sources.with_mean_translation(MeanTranslation::new(&set.entities, set.own_norm()))
            }
            _ => sources.with_products(set.entities.clone()),
        };
    }
    sources
}
