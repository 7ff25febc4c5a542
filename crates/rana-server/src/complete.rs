//! `POST /v1/complete`: new facts of a relation.

use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use rana::graph::{EntityId, Graph, Pair};
use rana::predictor::{Answer, AnswerLimits, Direction, LearnedRelation, PrecisionError};
use rayon::prelude::*;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Schema, Type};

use crate::answers::Answers;
use crate::app::App;
use crate::computation_queue::Abandoned;
use crate::config::Limits;
use crate::entity_body::Entity;
use crate::explanation_body::ExplanationBody;
use crate::extractors::Body;
use crate::json_response::JsonResponse;
use crate::problem::Problem;
use crate::relation_question::{RelationBody, RelationQuestion, sentence, yes};
use crate::served_files::check_files;

/// The value of `heads` that lets the server choose them.
const PLAUSIBLE: &str = "plausible";
/// Up to this many names are looked up in microseconds.
const FEW_NAMES: usize = 64;
/// Up to this many tails are scored in well under a millisecond, so no queue is needed.
const FEW_TAILS: usize = 20_000;

/// A request to complete a relation for some heads or tails.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompleteRequest {
    /// A relation of the graph, or a new name.
    relation: Option<String>,
    /// Whether a name that the graph does not have is a new relation; it is an error otherwise.
    #[serde(default)]
    new: bool,
    /// Pairs that are facts of the relation; not needed for a task of the graph.
    #[serde(default)]
    support: Vec<[String; 2]>,
    /// Pairs that are not facts of the relation. They are never answered, and the model learns from them.
    #[serde(default)]
    rejected: Vec<[String; 2]>,
    /// Names or unique labels of heads whose tails are wanted, or `plausible` to let the server choose them.
    #[serde(default)]
    #[schema(schema_with = ends_schema)]
    heads: Ends,
    /// The same for tails whose heads are wanted. If heads and tails are listed, these pairs are judged.
    #[serde(default)]
    #[schema(schema_with = ends_schema)]
    tails: Ends,
    /// Answer only with entities that have one of these types.
    #[serde(default)]
    types: Vec<String>,
    /// Answer only with these entities.
    #[serde(default)]
    candidates: Vec<String>,
    /// Whether facts of the graph and the support are left out.
    #[serde(default = "yes")]
    exclude_known: bool,
    /// The most answers per head or tail.
    #[serde(default = "ten")]
    top: usize,
    /// The least score of an answer.
    min_score: Option<f64>,
    /// The least confidence of an answer.
    min_confidence: Option<f64>,
    /// Only answers with enough confidence that this share of them is expected to be right.
    precision: Option<f64>,
    /// Whether to explain every answer.
    #[serde(default)]
    reasons: bool,
}

fn ten() -> usize {
    10
}

/// The heads or tails to answer for.
#[derive(Debug)]
enum Ends {
    Listed(Vec<String>),
    Plausible,
}

impl Default for Ends {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl Ends {
    /// The names that are listed.
    fn names(&self) -> &[String] {
        match self {
            Self::Listed(names) => names,
            Self::Plausible => &[],
        }
    }

    fn is_given(&self) -> bool {
        !matches!(self, Self::Listed(names) if names.is_empty())
    }
}

impl<'de> Deserialize<'de> for Ends {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EndsVisitor;

        impl<'de> Visitor<'de> for EndsVisitor {
            type Value = Ends;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of names, or \"{PLAUSIBLE}\"")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Ends, E> {
                match word {
                    PLAUSIBLE => Ok(Ends::Plausible),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Ends, A::Error> {
                let mut listed = Vec::new();
                while let Some(name) = names.next_element()? {
                    listed.push(name);
                }
                Ok(Ends::Listed(listed))
            }
        }

        deserializer.deserialize_any(EndsVisitor)
    }
}

fn ends_schema() -> Schema {
    let text = ObjectBuilder::new().schema_type(Type::String);
    let word = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([PLAUSIBLE]));
    OneOfBuilder::new()
        .item(ArrayBuilder::new().items(text))
        .item(word)
        .description(Some("Names or unique labels, or `plausible` to let the server choose them."))
        .into()
}

/// The best answers for each head, or for each tail.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Completion {
    /// The relation as the server understood it.
    relation: CompletedRelation,
    /// Whether tails of heads are answered, or heads of tails.
    answers: Answers,
    /// The heads or tails in the order of the request. Those that the server chose are ordered by their best answer, and
    /// those without answers are left out.
    results: Vec<GivenAnswers>,
    /// The number of plausible heads or tails that were left out because there were too many.
    heads_left_out: usize,
}

/// The relation as the server understood it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletedRelation {
    /// Its name.
    name: Option<String>,
    /// What to call it: its label, or the last part of an IRI.
    label: Option<String>,
    /// Whether it is a relation of the graph or of a task.
    in_graph: bool,
    /// The number of pairs it was learned from.
    support: usize,
    /// How well each pair of the support is found from the others (mean reciprocal rank, 0 to 1); null with only one
    /// pair.
    record: Option<f32>,
    /// The number of candidate answers.
    candidates: usize,
    /// The least confidence that answers had to reach, if any.
    min_confidence: Option<f32>,
    /// Why there is no confidence, if there is none.
    note: Option<String>,
}

/// The best answers for a head, or for a tail.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GivenAnswers {
    /// The head, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<Entity>,
    /// The tail, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    tail: Option<Entity>,
    /// The best first.
    answers: Vec<AnswerBody>,
}

/// One answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Answer)]
pub(crate) struct AnswerBody {
    /// Its rank among the answers of the head or tail, from 1.
    rank: usize,
    /// The head, if heads are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<Entity>,
    /// The tail, if tails are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    tail: Option<Entity>,
    /// Its score; higher is better. Scores are only comparable within one relation.
    score: f32,
    /// The probability that it is right; null if there are too few examples to estimate it.
    confidence: Option<f32>,
    /// Whether it is in the graph or in the support.
    known: bool,
    /// Whether it is a fact of a dev or test task, withheld from the graph.
    withheld: bool,
    /// Evidence for and against it, if asked for.
    explanation: Option<ExplanationBody>,
}

/// Completes a relation for some heads or some tails, or judges given pairs.
#[utoipa::path(
    post,
    path = "/v1/complete",
    tag = "completion",
    request_body = CompleteRequest,
    responses((status = 200, body = Completion))
)]
pub(crate) async fn complete(
    State(app): State<Arc<App>>,
    Body(request): Body<CompleteRequest>,
) -> Result<JsonResponse, Problem> {
    // Labels and misspelled names need a search.
    if !request.has_only_names(&app.predictor.store().graph) {
        return in_turn(&app, |app| CompleteQuestion::new(app, request)).await;
    }
    let asked = CompleteQuestion::new(&app, request)?;
    match app.learned.ready(&asked.question.request) {
        // This is faster than handing it to another thread.
        Some(learned) if asked.is_short(&learned) => {
            check_files()?;
            JsonResponse::new(&answer(&app, asked, &learned, &Abandoned::default())?)
        }
        _ => in_turn(&app, |_| Ok(asked)).await,
    }
}

/// Learns the relation and completes it when a computation slot is free.
async fn in_turn(
    app: &Arc<App>,
    understand: impl FnOnce(&App) -> Result<CompleteQuestion, Problem> + Send + 'static,
) -> Result<JsonResponse, Problem> {
    let work = {
        let app = Arc::clone(app);
        move |abandoned: &Abandoned| {
            let asked = understand(&app)?;
            let learned = app.learn(&asked.question)?;
            abandoned.check()?;
            JsonResponse::new(&answer(&app, asked, &learned, abandoned)?)
        }
    };
    app.computations.run_until_abandoned(work).await
}

impl CompleteRequest {
    /// Whether it has few names, and all of them are names of entities.
    fn has_only_names(&self, graph: &Graph) -> bool {
        let [heads, tails] = [self.heads.names(), self.tails.names()];
        let pairs = self.support.iter().chain(&self.rejected).flatten();
        let mut names = heads.iter().chain(tails).chain(pairs).chain(&self.candidates);
        self.support.len() + self.rejected.len() + self.candidates.len() + heads.len() + tails.len()
            <= FEW_NAMES
            && self.types.is_empty()
            && names.all(|name| graph.entity(name).is_some())
    }
}

/// A request with its names looked up.
struct CompleteQuestion {
    question: RelationQuestion,
    /// The heads or tails to answer for; `None` if the server chooses them.
    given: Option<Vec<EntityId>>,
    /// The other ends, if pairs are judged.
    others: Option<Vec<EntityId>>,
    limits: AnswerLimits,
    /// The share of answers that should be right.
    precision: Option<f64>,
    reasons: bool,
}

impl CompleteQuestion {
    /// Looks up the names and checks everything that needs no model.
    fn new(app: &App, request: CompleteRequest) -> Result<Self, Problem> {
        check(&request, &app.config.limits)?;
        let min_confidence = request.min_confidence.map(|least| least as f32);
        let min_score = request.min_score.map(|score| score as f32);
        let limits = AnswerLimits { top: request.top, min_score, min_confidence };
        let precision = request.precision;
        let CompleteRequest {
            relation,
            new,
            support,
            rejected,
            heads,
            tails,
            types,
            candidates,
            exclude_known,
            ..
        } = request;
        let entities = |ends: &Ends| -> Result<Option<Vec<EntityId>>, Problem> {
            match ends {
                Ends::Plausible => Ok(None),
                Ends::Listed(names) => {
                    let found: Result<Vec<EntityId>, _> =
                        names.iter().map(|name| app.resolve(name)).collect();
                    Ok(Some(found?))
                }
            }
        };
        let direction = if heads.is_given() { Direction::Tails } else { Direction::Heads };
        let (given, others) = match (heads.is_given(), tails.is_given()) {
            (true, true) => (entities(&heads)?, entities(&tails)?),
            (true, false) => (entities(&heads)?, None),
            (false, _) => (entities(&tails)?, None),
        };
        let asked =
            RelationBody { relation, new, support, rejected, types, candidates, exclude_known, direction };
        Ok(Self {
            question: RelationQuestion::new(app, asked)?,
            given,
            others,
            limits,
            precision,
            reasons: request.reasons,
        })
    }

    /// Whether the answer is so fast that it need not be queued.
    fn is_short(&self, learned: &LearnedRelation) -> bool {
        let is_one = self.others.is_none() && self.given.as_ref().is_some_and(|heads| heads.len() == 1);
        is_one && !self.reasons && learned.scored_tails() <= FEW_TAILS
    }
}

fn answer(
    app: &App,
    asked: CompleteQuestion,
    learned: &LearnedRelation,
    abandoned: &Abandoned,
) -> Result<Completion, Problem> {
    let graph = app.predictor.graph();
    let CompleteQuestion { question, given: listed, others, mut limits, precision, reasons } = asked;
    limits.min_confidence = least_confidence(learned, limits.min_confidence, precision)?;
    let is_listed = listed.is_some();
    let (heads, heads_left_out) = match listed {
        Some(heads) => {
            check_price(&app.config.limits, heads.len() * others.as_ref().map_or(1, Vec::len), learned)?;
            (heads, 0)
        }
        None => {
            let most = most_heads(&app.config.limits, limits.top, reasons);
            plausible(graph, learned, most.min(affordable_heads(&app.config.limits, learned)))
        }
    };
    if let (true, Some(&given), Some(&other)) = (reasons, heads.first(), learned.candidates().first()) {
        // The first explanation computes what all explanations share. Otherwise several threads would compute it at
        // once.
        let pair = learned.direction().turn(Pair { head: given, tail: other });
        let _ = learned.explain(pair.head, pair.tail);
    }
    let of_head = |&head: &EntityId| {
        abandoned.check()?;
        Ok(given_answers(graph, learned, head, others.as_deref(), &limits, reasons))
    };
    let mut results = heads.par_iter().map(of_head).collect::<Result<Vec<GivenAnswers>, Problem>>()?;
    if !is_listed {
        results.retain(|result| !result.answers.is_empty());
        let best = |result: &GivenAnswers| {
            let first = &result.answers[0];
            (first.confidence.unwrap_or(0.0), first.score)
        };
        results.sort_by(|one, other| {
            let ((sure, score), (other_sure, other_score)) = (best(one), best(other));
            other_sure.total_cmp(&sure).then(other_score.total_cmp(&score))
        });
    }
    let relation = CompletedRelation {
        in_graph: question.request.relation.is_some(),
        label: match question.request.relation {
            Some(relation) => Some(learned.graph().relation_title(relation)),
            None => question.name.clone(),
        },
        name: question.name,
        support: learned.support().len(),
        record: learned.leave_one_out(),
        candidates: learned.candidates().len(),
        min_confidence: limits.min_confidence,
        note: learned.note(),
    };
    Ok(Completion { relation, answers: learned.direction().into(), results, heads_left_out })
}

/// How many heads a request may have, by the number of tails that are scored for each.
fn affordable_heads(limits: &Limits, learned: &LearnedRelation) -> usize {
    (limits.scores / learned.scored_tails().max(1)).max(1)
}

/// Refuses a request that would score too many pairs, before it does.
fn check_price(limits: &Limits, heads: usize, learned: &LearnedRelation) -> Result<(), Problem> {
    let most = affordable_heads(limits, learned);
    if heads <= most {
        return Ok(());
    }
    Err(Problem::unprocessable(
        "Too much work",
        format!(
            "{heads} heads with {} candidate tails each are more than {} pairs to score. Ask for at most {most} heads at \
             a time, or give fewer candidates.",
            learned.scored_tails(),
            limits.scores
        ),
    ))
}

fn given_answers(
    graph: &Graph,
    learned: &LearnedRelation,
    given: EntityId,
    others: Option<&[EntityId]>,
    limits: &AnswerLimits,
    reasons: bool,
) -> GivenAnswers {
    let direction = learned.direction();
    let answers = match others {
        None => learned.complete(given, limits),
        Some(others) => {
            let judged = others.iter().map(|&tail| learned.judge(Pair { head: given, tail }));
            let mut judged: Vec<Answer> = judged.collect();
            judged.sort_by_key(|answer| answer.rank);
            judged
        }
    };
    let ends: Vec<EntityId> = answers.iter().map(|answer| direction.turn(answer.pair).tail).collect();
    // The first is the given end, the second the answered one, as head and tail.
    let ends_of = |given: Option<Entity>, answered: Option<Entity>| match direction {
        Direction::Tails => (given, answered),
        Direction::Heads => (answered, given),
    };
    let answers = answers.into_iter().zip(Entity::list(graph, &ends)).map(|(answer, end)| {
        let (head, tail) = ends_of(None, Some(end));
        AnswerBody {
            rank: answer.rank,
            head,
            tail,
            score: answer.score,
            confidence: answer.confidence,
            known: answer.known,
            withheld: answer.withheld,
            explanation: reasons.then(|| learned.explain(answer.pair.head, answer.pair.tail).into()),
        }
    });
    let answers = answers.collect();
    let (head, tail) = ends_of(Some(Entity::new(graph, given)), None);
    GivenAnswers { head, tail, answers }
}

/// Plausible heads, and how many were left out. If there are too many, those with the most facts are kept.
fn plausible(graph: &Graph, learned: &LearnedRelation, most: usize) -> (Vec<EntityId>, usize) {
    let mut heads = learned.plausible_heads();
    let left_out = heads.len().saturating_sub(most);
    heads.sort_by_key(|&head| std::cmp::Reverse(graph.degree(head)));
    heads.truncate(most);
    (heads, left_out)
}

/// The most heads of a request with this many answers per head.
fn most_heads(limits: &Limits, top: usize, reasons: bool) -> usize {
    let answers = if reasons { limits.explanations } else { limits.answers };
    limits.heads.min(answers / top).max(1)
}

fn check(request: &CompleteRequest, limits: &Limits) -> Result<(), Problem> {
    let top = request.top;
    if !(1..=limits.top).contains(&top) {
        let detail = format!("top is {top}; expected 1 to {}.", limits.top);
        return Err(Problem::unprocessable("Wrong top", detail));
    }
    let [heads, tails] = [&request.heads, &request.tails];
    if !heads.is_given() && !tails.is_given() {
        let detail = format!(
            "heads is empty, and so is tails. Name the entities to complete in one of them, or use \"{PLAUSIBLE}\"."
        );
        return Err(Problem::unprocessable("No heads", detail));
    }
    let is_judged = heads.is_given() && tails.is_given();
    if is_judged && (heads.names().is_empty() || tails.names().is_empty()) {
        let detail = format!("\"{PLAUSIBLE}\" stands alone. List heads and tails, or give one of the two.");
        return Err(Problem::unprocessable("Heads and tails", detail));
    }
    for (field, names) in [("heads", heads.names()), ("tails", tails.names())] {
        if names.len() > limits.heads {
            return Err(Problem::unprocessable(
                "Too many heads",
                format!("{field} has {} names; ask for at most {} at a time.", names.len(), limits.heads),
            ));
        }
    }
    if is_judged || !heads.names().is_empty() || !tails.names().is_empty() {
        let (heads, top) = match is_judged {
            true => (heads.names(), tails.names().len()),
            false if heads.is_given() => (heads.names(), top),
            false => (tails.names(), top),
        };
        let most = most_heads(limits, top, request.reasons);
        if heads.len() > most {
            let of = if request.reasons { "explained answers" } else { "answers" };
            return Err(Problem::unprocessable(
                "Too many answers",
                format!(
                    "{} heads or tails with {top} answers each are too many {of}; ask for {most} of them, or a lower top.",
                    heads.len()
                ),
            ));
        }
    }
    let shares = [("min_confidence", request.min_confidence), ("precision", request.precision)];
    for (field, value) in shares {
        if let Some(value) = value
            && !(0.0..=1.0).contains(&value)
        {
            let detail = format!("{field} is {value}; expected a number from 0 to 1.");
            return Err(Problem::unprocessable("Wrong share", detail));
        }
    }
    if request.min_score.is_some_and(|score| score.abs() > f32::MAX.into()) {
        return Err(Problem::unprocessable("Wrong score", "min_score is too large for a score."));
    }
    Ok(())
}

/// The least confidence of answers, also for a precision.
fn least_confidence(
    learned: &LearnedRelation,
    least: Option<f32>,
    precision: Option<f64>,
) -> Result<Option<f32>, Problem> {
    let Some(wanted) = precision else { return Ok(least) };
    match learned.confidence_for(wanted) {
        Ok(point) => Ok(Some(least.unwrap_or(0.0).max(point.confidence))),
        Err(error @ PrecisionError::Unknown { .. }) => {
            Err(Problem::unprocessable("No precision", sentence(&format!("{error}. Ask without precision"))))
        }
        Err(error @ PrecisionError::TooHigh { .. }) => {
            Err(Problem::unprocessable("No such precision", sentence(&format!("{error}. Ask for less"))))
        }
    }
}
