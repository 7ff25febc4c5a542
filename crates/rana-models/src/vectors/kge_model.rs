//! [`KgeModel`]: vectors that were trained on the supports, ranked by their own score function.

use std::sync::Arc;

use rana_embed::{Blocks, EmbeddingSet, ModelKind};
use rana_fewshot::{AdaptedRelation, FewShotModel, PretrainingFacts, Support, SupportError};
use rana_graph::{EntityId, Graph, RelationId, Split, TaskSet};

/// An ordinary embedding model among few-shot ones: its vectors were trained on the background, all
/// facts of the train tasks and the first K facts of each dev and test task, so that the relation
/// of a task has a trained row, and tails are ranked by the model's score with this row.
///
/// It answers for the supports it was trained on and for no others.
///
/// ```
/// use rana_embed::{EmbedConfig, EmbeddingMetadata, EmbeddingSet, ModelKind, Pretraining};
/// use rana_eval::FewShotEvaluation;
/// use rana_models::vectors::KgeModel;
/// use rana_fewshot::PretrainingFacts;
/// # use rana_graph::{Duplicates, GraphBuilder, Pair, Split, TaskSetBuilder};
/// # let mut builder = GraphBuilder::new(Duplicates::Remove);
/// # for n in 0..12 { builder.add_named(&format!("e{n}"), "r", &format!("e{}", (n + 1) % 12)); }
/// # builder.add_task_relation("t").unwrap();
/// # let graph = builder.finish();
/// # let entities: Vec<_> = graph.entities().collect();
/// # let facts = entities.iter().map(|&head| Pair { head, tail: entities[3] }).collect();
/// # let mut builder = TaskSetBuilder::default();
/// # let relation = graph.relation("t").unwrap();
/// # builder.add_task(Split::Test, relation, facts);
/// # builder.add_candidates(relation, entities);
/// # let tasks = builder.finish();
/// let shots = 5;
/// let config = EmbedConfig { model: ModelKind::DistMult, dim: 8, ..EmbedConfig::default() };
/// let facts = PretrainingFacts::Supports.of(&tasks, shots);
/// let parameters = Pretraining::new(&graph, &facts, config.clone())?.finish()?;
/// let metadata = PretrainingFacts::Supports.metadata(&tasks, shots);
/// let set = EmbeddingSet::trained(&graph, config, parameters, metadata)?;
///
/// let model = KgeModel::new(&set, &graph, &tasks)?;
/// let evaluation = FewShotEvaluation { shots, ..FewShotEvaluation::default() };
/// let report = evaluation.evaluate(&model, &graph, &tasks, Split::Test, &())?;
/// assert_eq!(report.micro.queries, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KgeModel {
    set: Arc<EmbeddingSet>,
    tasks: TaskSet,
    shots: usize,
}

/// Why vectors cannot be ranked by their own score function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KgeError {
    /// The vectors belong to another graph.
    #[error(
        "these vectors of {model} belong to another graph (fingerprint {found:016x}, this one has {expected:016x}). \
         Give the graph they were trained on, or train others"
    )]
    OtherGraph {
        /// The model.
        model: ModelKind,
        /// The fingerprint of the graph given.
        expected: u64,
        /// The fingerprint of the graph they were trained on.
        found: u64,
    },
    /// The relations of dev and test tasks were not trained.
    #[error(
        "these vectors of {model} were trained on `{origin}`, which leaves the relations of dev and test tasks without \
         a row. Train others on the supports of the tasks"
    )]
    NoTaskRows {
        /// The model.
        model: ModelKind,
        /// The facts they were trained on.
        origin: String,
    },
    /// The tasks are not those that the vectors were trained on.
    #[error(
        "these vectors of {model} were trained on facts of other tasks than the graph has now. Train others on \
         supports of {shots} facts"
    )]
    OtherTasks {
        /// The model.
        model: ModelKind,
        /// How many facts of each dev and test task they were trained on.
        shots: usize,
    },
}

impl KgeModel {
    /// The model of these vectors, if they were trained on the supports of these tasks.
    ///
    /// # Errors
    /// If they were trained on no supports, on those of other tasks, or belong to another graph.
    pub fn new(set: &EmbeddingSet, graph: &Graph, tasks: &TaskSet) -> Result<Self, KgeError> {
        let metadata = &set.metadata;
        let model = metadata.model;
        if metadata.graph != graph.fingerprint() {
            let (expected, found) = (graph.fingerprint(), metadata.graph);
            return Err(KgeError::OtherGraph { model, expected, found });
        }
        let vectors = set.vectors();
        let has_rows = vectors.relation_count() >= graph.named_relation_count();
        let Some(shots) = metadata.support_shots.filter(|_| has_rows) else {
            return Err(KgeError::NoTaskRows { model, origin: metadata.origin.clone() });
        };
        if metadata.task_facts != PretrainingFacts::Supports.metadata(tasks, shots).task_facts {
            return Err(KgeError::OtherTasks { model, shots });
        }
        Ok(Self { set: Arc::new(set.clone()), tasks: tasks.clone(), shots })
    }

    /// How many facts of each dev and test task it was trained on: the only number of shots it can be
    /// evaluated with.
    #[must_use]
    pub fn shots(&self) -> usize {
        self.shots
    }

    /// Whether it can be evaluated with this many shots.
    ///
    /// # Errors
    /// If it was trained on another number of facts of each task.
    pub fn check_shots(&self, shots: usize) -> Result<(), SupportError> {
        match shots == self.shots {
            true => Ok(()),
            false => Err(SupportError::OtherShots { trained: self.shots, found: shots }),
        }
    }
}

impl FewShotModel for KgeModel {
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        let task = support.relation.and_then(|relation| self.tasks.task(relation));
        let task = task.ok_or(SupportError::NoTask)?;
        if task.split == Split::Train {
            return Err(SupportError::TrainTask);
        }
        self.check_shots(support.pairs.len())?;
        if !task.facts.starts_with(support.pairs) {
            return Err(SupportError::OtherFacts { trained: self.shots });
        }
        Ok(Box::new(TrainedRelation { set: Arc::clone(&self.set), relation: task.relation }))
    }
}

/// A relation with its own row.
struct TrainedRelation {
    set: Arc<EmbeddingSet>,
    relation: RelationId,
}

impl AdaptedRelation for TrainedRelation {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        let vectors = self.set.vectors();
        let dim = vectors.dim;
        let mut queries = vec![0.0; heads.len() * dim];
        for (&head, query) in heads.iter().zip(queries.chunks_exact_mut(dim)) {
            vectors.query(head, self.relation, query);
        }
        let mut rows = Vec::with_capacity(candidates.len() * dim);
        candidates.iter().for_each(|&entity| rows.extend_from_slice(vectors.entity(entity)));
        let shape = Blocks::one(heads.len(), candidates.len(), dim);
        vectors.similarity().scores(shape, &queries, &rows, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_embed::link_prediction::{Metrics, Rank, TieRule};
    use rana_embed::{EmbedConfig, Norm, Pretraining};
    use rana_eval::{CardSettings, FewShotError, FewShotEvaluation};
    use rana_graph::{Duplicates, GraphBuilder, Pair, TaskSetBuilder};

    const SHOTS: usize = 3;
    const ENTITIES: usize = 14;

    /// A ring of entities, and what the next, the third and the fifth from an entity are to it.
    fn benchmark() -> (Graph, TaskSet) {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for n in 0..ENTITIES {
            builder.add_named(&format!("e{n}"), "next", &format!("e{}", (n + 1) % ENTITIES));
        }
        let tasks = [("first", Split::Train, 1), ("third", Split::Dev, 3), ("fifth", Split::Test, 5)];
        for (name, ..) in tasks {
            builder.add_task_relation(name).unwrap();
        }
        let graph = builder.finish();
        let id = |n: usize| graph.entity(&format!("e{}", n % ENTITIES)).unwrap();
        let mut builder = TaskSetBuilder::default();
        for (name, split, step) in tasks {
            let relation = graph.relation(name).unwrap();
            // Every head has two tails, so that there is something to leave out.
            let fact = |n: usize| Pair { head: id(n / 2), tail: id(n / 2 + step + n % 2) };
            builder.add_task(split, relation, (0..16).map(fact).collect());
            builder.add_candidates(relation, (0..ENTITIES - 2).map(id).collect());
        }
        builder.filter_from_tasks();
        (graph, builder.finish())
    }

    fn trained(
        config: &EmbedConfig,
        facts: PretrainingFacts,
        graph: &Graph,
        tasks: &TaskSet,
    ) -> EmbeddingSet {
        let pretraining = Pretraining::new(graph, &facts.of(tasks, SHOTS), config.clone()).unwrap();
        let parameters = pretraining.finish().unwrap();
        EmbeddingSet::trained(graph, config.clone(), parameters, facts.metadata(tasks, SHOTS)).unwrap()
    }

    fn config(model: ModelKind) -> EmbedConfig {
        EmbedConfig { model, dim: 8, epochs: 3, ..EmbedConfig::default() }
    }

    /// The score of a fact, written from the model's formula.
    fn score(set: &EmbeddingSet, Pair { head, tail }: Pair, relation: RelationId) -> f64 {
        let directed = set.metadata.training.as_ref().unwrap().inverses;
        let row = if directed { relation.index() } else { relation.number() };
        let wide = |row: &[f32]| row.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
        let (h, t) = (wide(set.entities.row(head.index())), wide(set.entities.row(tail.index())));
        let r = wide(set.relations.row(row));
        let half = h.len() / 2;
        let all = |term: &dyn Fn(usize) -> f64| (0..h.len()).map(term).sum::<f64>();
        let halves = |term: &dyn Fn(usize, usize) -> f64| (0..half).map(|k| term(k, k + half)).sum::<f64>();
        match (set.metadata.model, set.metadata.norm) {
            (ModelKind::TransE, Norm::L1) => -all(&|k| (h[k] + r[k] - t[k]).abs()),
            (ModelKind::TransE, Norm::L2) => -all(&|k| (h[k] + r[k] - t[k]).powi(2)).sqrt(),
            (ModelKind::DistMult, _) => all(&|k| h[k] * r[k] * t[k]),
            (ModelKind::Complex, _) => halves(&|re, im| {
                let (turned_re, turned_im) = (h[re] * r[re] - h[im] * r[im], h[re] * r[im] + h[im] * r[re]);
                turned_re * t[re] + turned_im * t[im]
            }),
            (ModelKind::Simple, _) => halves(&|a, b| (h[a] * r[a] * t[b] + t[a] * r[b] * h[b]) / 2.0),
            (ModelKind::RotatE, _) => -halves(&|re, im| {
                let (sin, cos) = r[re].sin_cos();
                (h[re] * cos - h[im] * sin - t[re]).hypot(h[re] * sin + h[im] * cos - t[im])
            }),
        }
    }

    /// The ranks of the queries of a split by the definition.
    fn naive_ranks(set: &EmbeddingSet, tasks: &TaskSet, split: Split) -> Vec<Rank> {
        let of_task = |task: rana_graph::Task<'_>| {
            let rank = |query: &Pair| {
                let right = score(set, *query, task.relation);
                let rivals = task.candidates.iter().map(|&tail| Pair { tail, ..*query });
                let better = rivals
                    .filter(|rival| !task.facts.contains(rival))
                    .filter(|rival| score(set, *rival, task.relation) > right)
                    .count();
                Rank { better: better as u64, tied: 0 }
            };
            task.facts[SHOTS..].iter().map(rank).collect::<Vec<_>>()
        };
        tasks.of(split).flat_map(of_task).collect()
    }

    #[test]
    fn ranks_are_those_of_the_formula_for_every_model() {
        let (graph, tasks) = benchmark();
        let configs = ModelKind::ALL.iter().flat_map(|&model| {
            [(Norm::L1, false), (Norm::L2, true)].map(|(norm, inverses)| EmbedConfig {
                norm,
                inverses,
                ..config(model)
            })
        });
        for config in configs {
            let set = trained(&config, PretrainingFacts::Supports, &graph, &tasks);
            let model = KgeModel::new(&set, &graph, &tasks).unwrap();
            let evaluation = FewShotEvaluation { shots: SHOTS, ..FewShotEvaluation::default() };
            for split in [Split::Dev, Split::Test] {
                let report = evaluation.evaluate(&model, &graph, &tasks, split, &()).unwrap();
                let naive = Metrics::of(naive_ranks(&set, &tasks, split), TieRule::Realistic);
                assert_eq!(report.micro, naive, "{config:?}");
                assert_eq!(naive.queries, 13);
            }
        }
    }

    #[test]
    fn a_card_has_the_official_result_and_says_why_it_has_no_other() {
        let (graph, tasks) = benchmark();
        let set = trained(&config(ModelKind::DistMult), PretrainingFacts::Supports, &graph, &tasks);
        let model = KgeModel::new(&set, &graph, &tasks).unwrap();
        let settings = CardSettings { shots: SHOTS, draws: 4, common_shots: 5, ..CardSettings::default() };
        let card = settings.evaluate(("distmult", &model), &[], &graph, &tasks, &()).unwrap();
        let naive = Metrics::of(naive_ranks(&set, &tasks, Split::Test), TieRule::Realistic);
        assert_eq!(card.result.official.micro, naive);
        let other_facts = SupportError::OtherFacts { trained: SHOTS };
        assert_eq!(card.result.not_resampled, Some(other_facts.to_string()));
        assert_eq!((card.result.resampled, card.per_relation[0].resampled), (None, None));
        let common = card.result.common.as_ref().unwrap();
        assert_eq!((common.queries, common.resampled), (11, None));
        // Nothing to say where nothing was asked for.
        let none = CardSettings { draws: 0, ..settings };
        let card = none.evaluate(("distmult", &model), &[], &graph, &tasks, &()).unwrap();
        assert_eq!(card.result.not_resampled, None);
    }

    #[test]
    fn other_supports_are_refused() {
        let (graph, tasks) = benchmark();
        let set = trained(&config(ModelKind::TransE), PretrainingFacts::Supports, &graph, &tasks);
        let model = KgeModel::new(&set, &graph, &tasks).unwrap();
        let refused = |settings: CardSettings| match settings
            .evaluate(("transe", &model), &[], &graph, &tasks, &())
            .unwrap_err()
        {
            FewShotError::Support { source, .. } => source,
            error => panic!("{error}"),
        };
        let settings = CardSettings { shots: SHOTS, draws: 0, ..CardSettings::default() };
        for shots in [SHOTS - 1, SHOTS + 1] {
            let expected = SupportError::OtherShots { trained: SHOTS, found: shots };
            assert_eq!(refused(CardSettings { shots, ..settings }), expected);
        }
        assert_eq!(refused(CardSettings { split: Split::Train, ..settings }), SupportError::TrainTask);
        let task = tasks.of(Split::Test).next().unwrap();
        let adapt = |relation: Option<RelationId>, pairs: &[Pair]| {
            model
                .adapt(&Support { relation, pairs, candidates: task.candidates, rejected: &[], seed: 0 })
                .err()
        };
        let own = &task.facts[..SHOTS];
        assert_eq!(adapt(Some(task.relation), own), None);
        assert_eq!(adapt(None, own), Some(SupportError::NoTask));
        assert_eq!(adapt(graph.relation("next"), own), Some(SupportError::NoTask));
        let others = SupportError::OtherFacts { trained: SHOTS };
        assert_eq!(adapt(Some(task.relation), &task.facts[1..=SHOTS]), Some(others));
    }

    #[test]
    fn vectors_that_were_not_trained_on_these_supports_are_refused() {
        let (graph, tasks) = benchmark();
        let model = ModelKind::Complex;
        for facts in [PretrainingFacts::Background, PretrainingFacts::TrainTasks] {
            let set = trained(&config(model), facts, &graph, &tasks);
            let expected = KgeError::NoTaskRows { model, origin: facts.to_string() };
            assert_eq!(KgeModel::new(&set, &graph, &tasks).unwrap_err(), expected);
        }
        let set = trained(&config(model), PretrainingFacts::Supports, &graph, &tasks);
        // The same facts in another order are other supports.
        let mut builder = TaskSetBuilder::default();
        for task in tasks.iter() {
            builder.add_task(task.split, task.relation, task.facts.iter().rev().copied().collect());
            builder.add_candidates(task.relation, task.candidates.to_vec());
        }
        let reversed = builder.finish();
        let other_tasks = KgeError::OtherTasks { model, shots: SHOTS };
        assert_eq!(KgeModel::new(&set, &graph, &reversed).unwrap_err(), other_tasks);
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        builder.add_named("a", "next", "b");
        let other = builder.finish();
        let error = KgeModel::new(&set, &other, &tasks).unwrap_err();
        assert!(matches!(error, KgeError::OtherGraph { .. }), "{error}");
    }
}
