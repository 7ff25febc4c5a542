//! [`LearnedRelation`]: a relation that a model has learned from its support.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use rana_eval::confidence::{Calibration, HeadScores, PrecisionPoint, Scale, Signs, Tails};
use rana_fewshot::{AdaptedRelation, Direction};
use rana_graph::{EntityId, Graph, Pair, RelationId, Split};
use rana_models::paths::VisibleEdges;

use super::answer_limits::AnswerLimits;
use super::error::PrecisionError;
use super::plausible_heads::{are_like_tails, plausible_heads};
use super::predictor::Predictor;
use super::relation_request::RelationRequest;

/// A relation that a model has learned from its support; it lives on its own.
pub struct LearnedRelation {
    pub(super) predictor: Predictor,
    pub(super) request: RelationRequest,
    /// The request as the model sees it: a question for tails. So are the pairs below.
    asked: RelationRequest,
    pub(super) scorer: Box<dyn AdaptedRelation>,
    /// How well each pair of the support is found by the others.
    leave_one_out: Option<f32>,
    /// The candidates that it was learned among.
    fitting: Tails,
    /// The candidates of its answers, if others.
    chosen: Option<Tails>,
    /// Its facts, if it is a task that was trained on.
    trained: Vec<Pair>,
    /// Its facts, if it is a task that was withheld from the graph and from training.
    withheld: HashSet<Pair>,
    /// The paths that join pairs of the support, made when they are first asked for.
    paths: OnceLock<HashMap<Vec<RelationId>, usize>>,
}

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The fact, but for its relation.
    pub pair: Pair,
    /// Its place among the answers of the head (of the tail, if heads are asked for), from 1.
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

impl LearnedRelation {
    pub(super) fn new(
        predictor: &Predictor,
        request: RelationRequest,
        asked: RelationRequest,
        scorer: Box<dyn AdaptedRelation>,
        leave_one_out: Option<f32>,
        fitting: Vec<EntityId>,
        chosen: Option<Vec<EntityId>>,
    ) -> Self {
        let task = request.relation.and_then(|relation| predictor.store().tasks.task(relation));
        let (trained, withheld): (&[Pair], &[Pair]) = match task {
            Some(task) if task.split == Split::Train => (task.facts, &[]),
            Some(task) => (&[], task.facts),
            None => (&[], &[]),
        };
        let turn = |pairs: &[Pair]| request.direction.turn_all(pairs);
        let (trained, withheld) = (turn(trained), turn(withheld).into_iter().collect());
        let (fitting, chosen) = (Tails::new(fitting), chosen.map(Tails::new));
        let predictor = predictor.clone();
        let paths = OnceLock::new();
        Self { predictor, request, asked, scorer, leave_one_out, fitting, chosen, trained, withheld, paths }
    }

    /// The graph that it is completed in.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        self.predictor.graph()
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

    /// Whether it answers with tails or with heads.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.request.direction
    }

    /// The entities that its answers are looked for among.
    #[must_use]
    pub fn candidates(&self) -> &[EntityId] {
        self.chosen.as_ref().unwrap_or(&self.fitting).ids()
    }

    /// How many entities are scored to answer once: also those that are only compared with, to say how sure it is.
    #[must_use]
    pub fn scored_tails(&self) -> usize {
        self.fitting.ids().len() + self.chosen.as_ref().map_or(0, |chosen| chosen.ids().len())
    }

    /// The memory that it keeps for itself, in bytes, roughly. It may grow while it answers.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        let RelationRequest { support, rejected, .. } = &self.request;
        let pairs = 2 * (support.len() + rejected.len()) + self.trained.len() + self.withheld.len();
        size_of::<Self>()
            + self.scorer.kept_bytes()
            + self.scored_tails() * size_of::<EntityId>()
            + pairs * size_of::<Pair>()
    }

    /// How well each pair of the support is found by the others, from 0 to 1; none if there is only one, or if the pairs
    /// are facts of the graph, which the vectors know already.
    #[must_use]
    pub fn leave_one_out(&self) -> Option<f32> {
        self.leave_one_out.filter(|_| !self.knows_support())
    }

    /// Whether some of the support are facts of the graph: then finding them says little about others.
    fn knows_support(&self) -> bool {
        let graph = self.graph();
        let relation = self.request.relation.filter(|&relation| relation.number() < graph.relation_count());
        relation.is_some_and(|relation| {
            self.support().iter().any(|pair| graph.contains(pair.head, relation, pair.tail))
        })
    }

    /// The leave-one-out rank as a sign of how sure answers are. A support that the vectors know counts no more than the
    /// usual one that they do not.
    fn record(&self) -> Option<f32> {
        let usual = self.calibration().and_then(|calibration| calibration.usual_record);
        match usual.filter(|_| self.knows_support()) {
            Some(usual) => self.leave_one_out.map(|record| record.min(usual)),
            None => self.leave_one_out,
        }
    }

    fn calibration(&self) -> Option<&Calibration> {
        self.predictor.calibration_for(self.direction())
    }

    /// Why it cannot be said how sure answers are, if it cannot.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let because = match (self.calibration(), self.leave_one_out) {
            (None, _) if self.direction() == Direction::Heads => {
                "it was not measured for heads; learn again, from enough relations"
            }
            (None, _) => "the run had too few tasks to learn it from",
            (_, None) => "a single pair leaves nothing to test it by; give at least two",
            _ => return None,
        };
        Some(format!("too few examples to say how sure the answers are: {because}"))
    }

    /// How sure an answer must be for a share `precision` of such answers to be right, and what was measured on relations
    /// that the model had not seen.
    ///
    /// # Errors
    /// If no confidence promises it, or nothing is known about how sure answers are.
    pub fn confidence_for(&self, precision: f64) -> Result<PrecisionPoint, PrecisionError> {
        let calibration = match (self.note(), self.calibration()) {
            (None, Some(calibration)) => calibration,
            (note, _) => return Err(PrecisionError::Unknown { note: note.unwrap_or_default() }),
        };
        calibration.threshold(precision).ok_or_else(|| PrecisionError::TooHigh {
            wanted: precision,
            best: calibration.best_precision().map_or(0.0, |point| point.promised()),
        })
    }

    /// The best answers for a head; for a tail, if heads are asked for.
    #[must_use]
    pub fn complete(&self, given: EntityId, limits: &AnswerLimits) -> Vec<Answer> {
        let (scores, confidence) = self.scores(given);
        // Otherwise none of them is among the answers.
        let known = if self.request.include_known { self.known_tails(given) } else { Vec::new() };
        let mut least: f32 = 1.0;
        let answers = scores.best(limits.top).into_iter().enumerate().map(|(at, (tail, score))| {
            let asked = Pair { head: given, tail };
            // The last bit of a logarithm must not turn an order around.
            let confidence = confidence(score).map(|chance| chance.min(least));
            least = confidence.unwrap_or(least);
            Answer {
                pair: self.direction().turn(asked),
                rank: at + 1,
                score,
                confidence,
                known: known.binary_search(&tail).is_ok(),
                withheld: self.withheld.contains(&asked),
            }
        });
        let is_wanted = |answer: &Answer| {
            limits.min_score.is_none_or(|least| answer.score >= least)
                && limits.min_confidence.is_none_or(|least| answer.confidence.is_some_and(|is| is >= least))
        };
        answers.filter(is_wanted).collect()
    }

    /// One given pair among the answers: its score, how sure it is, and its place. It may be known already.
    #[must_use]
    pub fn judge(&self, pair: Pair) -> Answer {
        let asked = self.direction().turn(pair);
        let (score, confidence, above) = self.score(asked);
        Answer {
            pair,
            rank: above + 1,
            score,
            confidence,
            known: self.known_tails(asked.head).binary_search(&asked.tail).is_ok(),
            withheld: self.withheld.contains(&asked),
        }
    }

    /// Whether heads look like the tails of the support and not like its heads: then pairs or heads may be swapped. If
    /// heads are asked for, the same of tails.
    #[must_use]
    pub fn looks_swapped(&self, heads: &[EntityId]) -> bool {
        are_like_tails(self.graph(), self.asked.relation, &self.asked.support, heads)
    }

    /// The heads that plausibly have this relation and none of whose tails is known, ascending. If heads are asked for,
    /// the tails none of whose heads is known.
    #[must_use]
    pub fn plausible_heads(&self) -> Vec<EntityId> {
        let trained: HashSet<EntityId> = self.trained.iter().map(|pair| pair.head).collect();
        let known = |head: EntityId| trained.contains(&head);
        plausible_heads(self.graph(), self.asked.relation, &self.asked.support, known)
    }

    /// The score of an answer, the chance that it is right, and how many candidates of the head score higher. The pair is
    /// as the model sees it.
    pub(super) fn score(&self, pair: Pair) -> (f32, Option<f32>, usize) {
        let mut score = [0.0];
        self.scorer.scores(&[pair.head], &[pair.tail], &mut score);
        let (scores, confidence) = self.scores(pair.head);
        (score[0], confidence(score[0]), scores.above(score[0]))
    }

    /// The edges that reasons about it may name.
    pub(super) fn visible_edges(&self) -> VisibleEdges {
        self.predictor.visible_edges(self.request.relation)
    }

    /// The paths that join pairs of the support, by their relations, and how many pairs each joins.
    pub(super) fn support_paths(&self) -> &HashMap<Vec<RelationId>, usize> {
        self.paths.get_or_init(|| {
            let edges = self.visible_edges();
            let mut counts = HashMap::new();
            for &pair in self.support() {
                let own: HashSet<Vec<RelationId>> =
                    edges.paths(pair).into_iter().map(|path| path.by).collect();
                own.into_iter().for_each(|by| *counts.entry(by).or_default() += 1);
            }
            counts
        })
    }

    /// What a head is answered with, and how sure answers with some score are.
    ///
    /// How far an answer stands out is seen among all that fit the relation, as it was when confidence was learned: that
    /// others are not asked for, or known, makes none of the rest more likely.
    fn scores(&self, head: EntityId) -> (HeadScores<'_>, impl Fn(f32) -> Option<f32> + '_) {
        let all = HeadScores::of(&*self.scorer, head, &self.fitting)
            .without(Pair::tails_of(&self.asked.support, head));
        let signs = Signs { record: self.record(), shots: self.support().len() };
        let calibrated: Option<(&Calibration, Scale)> =
            self.calibration().map(|learned| (learned, learned.scale(&all, signs)));
        let answers = match &self.chosen {
            None if !self.request.include_known => all,
            None => HeadScores::of(&*self.scorer, head, &self.fitting),
            Some(chosen) => HeadScores::of(&*self.scorer, head, chosen),
        };
        let answers = answers.without(self.left_out(head));
        (answers, move |score| calibrated.and_then(|(learned, scale)| learned.confidence(score, &scale)))
    }

    /// The tails that are not answered for a head.
    fn left_out(&self, head: EntityId) -> Vec<EntityId> {
        let mut left_out: Vec<EntityId> = Pair::tails_of(&self.asked.rejected, head).collect();
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
            Pair::tails_of(&self.trained, head).chain(Pair::tails_of(&self.asked.support, head)).collect();
        if let Some(relation) = self.asked.relation {
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
