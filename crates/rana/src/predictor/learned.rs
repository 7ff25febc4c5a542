//! [`LearnedRelation`]: a relation that a model has learned from its support.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use rana_eval::confidence::{Calibration, HeadScores, Scale, Signs, Tails};
use rana_fewshot::AdaptedRelation;
use rana_fewshot::fused::FusedRelation;
use rana_fewshot::rana::Inspection;
use rana_graph::{EntityId, Graph, Pair, Split};

use super::opened::Predictor;
use super::paths::{PathSignature, support_paths};
use super::plausible::plausible_heads;
use super::request::{AnswerLimits, RelationRequest};

/// A relation that a model has learned from its support.
pub struct LearnedRelation<'p> {
    pub(super) predictor: &'p Predictor<'p>,
    pub(super) request: RelationRequest,
    pub(super) scorer: Scorer<'p>,
    record: Option<f32>,
    /// What it was learned among.
    fitting: Tails,
    /// What is answered with, if not these.
    chosen: Option<Tails>,
    /// Its facts, if it is a task that was trained on.
    trained: &'p [Pair],
    /// Its facts, if it is a task that was withheld from the graph and from training.
    withheld: &'p [Pair],
    /// What RANA looked at, once somebody asks.
    inspection: OnceLock<Inspection>,
    /// The paths that join pairs of the support, once somebody asks.
    paths: OnceLock<HashMap<PathSignature, usize>>,
}

/// What scores answers.
pub(super) enum Scorer<'p> {
    Rana(Box<dyn AdaptedRelation + 'p>),
    Fused(FusedRelation<'p>),
}

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The fact, but for its relation.
    pub pair: Pair,
    /// Its place among the answers of the head, from 1.
    pub rank: usize,
    /// Its score; higher is better, and only comparable among the answers of one relation.
    pub score: f32,
    /// The chance that it is right; none where too few examples tell.
    pub confidence: Option<f32>,
    /// Whether the graph has it already, or it is in the support.
    pub known: bool,
    /// Whether it is a fact of a dev or test task, withheld from the graph.
    pub withheld: bool,
}

impl<'p> LearnedRelation<'p> {
    pub(super) fn new(
        predictor: &'p Predictor<'p>,
        request: RelationRequest,
        scorer: Scorer<'p>,
        record: Option<f32>,
        fitting: Vec<EntityId>,
        chosen: Option<Vec<EntityId>>,
    ) -> Self {
        let task = request.relation.and_then(|relation| predictor.store().tasks.task(relation));
        let (trained, withheld): (&[Pair], &[Pair]) = match task {
            Some(task) if task.split == Split::Train => (task.facts, &[]),
            Some(task) => (&[], task.facts),
            None => (&[], &[]),
        };
        let (inspection, paths) = (OnceLock::new(), OnceLock::new());
        let (fitting, chosen) = (Tails::new(fitting), chosen.map(Tails::new));
        Self { predictor, request, scorer, record, fitting, chosen, trained, withheld, inspection, paths }
    }

    /// The graph that it is completed in.
    #[must_use]
    pub fn graph(&self) -> &'p Graph {
        &self.predictor.store().graph
    }

    /// What is known of it.
    #[must_use]
    pub fn request(&self) -> &RelationRequest {
        &self.request
    }

    /// The pairs it was learned from, each once.
    #[must_use]
    pub fn support(&self) -> &[Pair] {
        &self.request.support
    }

    /// The entities that its tails are looked for among.
    #[must_use]
    pub fn candidates(&self) -> &[EntityId] {
        self.chosen.as_ref().unwrap_or(&self.fitting).ids()
    }

    /// How many tails are scored to answer for a head: also those that are only compared with, to say how sure it is.
    #[must_use]
    pub fn scored_tails(&self) -> usize {
        self.fitting.ids().len() + self.chosen.as_ref().map_or(0, |chosen| chosen.ids().len())
    }

    /// How well each pair of the support is found by the others, from 0 to 1; none if there is only one.
    #[must_use]
    pub fn record(&self) -> Option<f32> {
        self.record
    }

    /// Why it cannot be said how sure answers are, if it cannot.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let because = match (self.predictor.calibration(), self.record) {
            (None, _) => "the run had too few tasks to learn it from",
            (_, None) => "a single pair leaves nothing to test it by; give at least two",
            _ => return None,
        };
        Some(format!("too few examples to say how sure the answers are: {because}"))
    }

    /// The best answers for a head.
    #[must_use]
    pub fn complete(&self, head: EntityId, limits: &AnswerLimits) -> Vec<Answer> {
        let (scores, confidence) = self.scores(head);
        // Otherwise none of them is among the answers.
        let known = if self.request.include_known { self.known_tails(head) } else { Vec::new() };
        let mut least: f32 = 1.0;
        let answers = scores.best(limits.top).into_iter().enumerate().map(|(at, (tail, score))| {
            let pair = Pair { head, tail };
            // The last bit of a logarithm must not turn an order around.
            let confidence = confidence(score).map(|chance| chance.min(least));
            least = confidence.unwrap_or(least);
            Answer {
                pair,
                rank: at + 1,
                score,
                confidence,
                known: known.binary_search(&tail).is_ok(),
                withheld: self.withheld.contains(&pair),
            }
        });
        let is_wanted = |answer: &Answer| {
            limits.min_score.is_none_or(|least| answer.score >= least)
                && limits.min_confidence.is_none_or(|least| answer.confidence.is_some_and(|is| is >= least))
        };
        answers.filter(is_wanted).collect()
    }

    /// The heads that plausibly have this relation and none of whose tails is known, ascending.
    #[must_use]
    pub fn plausible_heads(&self) -> Vec<EntityId> {
        let trained: HashSet<EntityId> = self.trained.iter().map(|pair| pair.head).collect();
        let known = |head: EntityId| trained.contains(&head);
        plausible_heads(self.graph(), self.request.relation, self.support(), known)
    }

    /// The score of an answer, the chance that it is right, and how many candidates of the head score higher.
    pub(super) fn score(&self, pair: Pair) -> (f32, Option<f32>, usize) {
        let mut score = [0.0];
        self.adapted().scores(&[pair.head], &[pair.tail], &mut score);
        let (scores, confidence) = self.scores(pair.head);
        (score[0], confidence(score[0]), scores.above(score[0]))
    }

    /// What RANA looked at.
    pub(super) fn inspection(&self) -> &Inspection {
        once(&self.inspection, || self.predictor.rana().inspect(&self.request.to_support(self.fitting.ids())))
    }

    /// The paths that join pairs of the support, and how many of them.
    pub(super) fn support_paths(&self) -> &HashMap<PathSignature, usize> {
        self.paths.get_or_init(|| support_paths(self.graph(), self.request.relation, self.support()))
    }

    fn adapted(&self) -> &dyn AdaptedRelation {
        match &self.scorer {
            Scorer::Rana(relation) => &**relation,
            Scorer::Fused(relation) => relation,
        }
    }

    /// What a head is answered with, and how sure answers with some score are.
    ///
    /// How far an answer stands out is seen among all that fit the relation, as it was when confidence was learned: that
    /// others are not asked for, or known, makes none of the rest more likely.
    fn scores(&self, head: EntityId) -> (HeadScores<'_>, impl Fn(f32) -> Option<f32> + use<'p>) {
        let all =
            HeadScores::of(self.adapted(), head, &self.fitting).without(Pair::tails_of(self.support(), head));
        let signs = Signs { record: self.record, shots: self.support().len() };
        let calibrated: Option<(&Calibration, Scale)> =
            self.predictor.calibration().map(|learned| (learned, learned.scale(&all, signs)));
        let answers = match &self.chosen {
            None if !self.request.include_known => all,
            None => HeadScores::of(self.adapted(), head, &self.fitting),
            Some(chosen) => HeadScores::of(self.adapted(), head, chosen),
        };
        let answers = answers.without(self.left_out(head));
        (answers, move |score| calibrated.and_then(|(learned, scale)| learned.confidence(score, &scale)))
    }

    /// The tails that are not answered for a head.
    fn left_out(&self, head: EntityId) -> Vec<EntityId> {
        let mut left_out: Vec<EntityId> = Pair::tails_of(&self.request.rejected, head).collect();
        if !self.request.include_known {
            left_out.extend(self.known_tails(head));
            if !self.joins_itself() {
                left_out.push(head);
            }
        }
        left_out
    }

    /// The tails of a head in the support, the graph, and a task that was trained on, ascending.
    fn known_tails(&self, head: EntityId) -> Vec<EntityId> {
        let mut known: Vec<EntityId> =
            Pair::tails_of(self.trained, head).chain(Pair::tails_of(self.support(), head)).collect();
        if let Some(relation) = self.request.relation {
            let edges = self.graph().neighbours(head).iter();
            known.extend(edges.filter(|edge| edge.relation == relation).map(|edge| edge.entity));
        }
        known.sort_unstable();
        known
    }

    /// Whether an entity is known to have this relation to itself.
    fn joins_itself(&self) -> bool {
        self.support().iter().any(|pair| pair.head == pair.tail)
    }
}

/// What a cell holds, made if it is empty.
///
/// `make` works on many threads. One of them that waits for others may begin another explanation, which asks for the
/// same: with `get_or_init` alone it would wait for itself for ever, here it makes it once more.
fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    match cell.get() {
        Some(made) => made,
        None => {
            let made = make();
            cell.get_or_init(|| made)
        }
    }
}
