//! [`RelationQuestion`]: the relation of a request, with its names looked up.

use rana::graph::{EntityId, Graph, Pair, TypeId};
use rana::predictor::{CandidateChoice, Direction, PredictorError, RelationRequest};

use crate::app::App;
use crate::problem::Problem;

/// How many similar names are suggested for an unknown type.
const SUGGESTIONS: usize = 5;
/// The longest name of a relation; longer ones are mistakes.
pub(crate) const LONGEST_RELATION: usize = 1000;

/// The default of fields that are true if left out.
pub(crate) fn yes() -> bool {
    true
}

/// The relation of a request, as names.
#[derive(Clone, Debug)]
pub(crate) struct RelationBody {
    pub(crate) relation: Option<String>,
    pub(crate) new: bool,
    pub(crate) support: Vec<[String; 2]>,
    pub(crate) rejected: Vec<[String; 2]>,
    pub(crate) types: Vec<String>,
    pub(crate) candidates: Vec<String>,
    pub(crate) exclude_known: bool,
    pub(crate) direction: Direction,
}

/// The relation of a request, with its names looked up.
#[derive(Clone, Debug)]
pub(crate) struct RelationQuestion {
    /// The name of the relation.
    pub(crate) name: Option<String>,
    pub(crate) request: RelationRequest,
}

impl RelationQuestion {
    /// Looks up the names and checks everything that needs no model.
    pub(crate) fn new(app: &App, asked: RelationBody) -> Result<Self, Problem> {
        let RelationBody {
            relation: name,
            new,
            support,
            rejected,
            types,
            candidates,
            exclude_known,
            direction,
        } = asked;
        let store = app.predictor.store();
        let graph = &store.graph;
        let limits = &app.config.limits;
        if let Some(name) = &name
            && (name.is_empty() || name.len() > LONGEST_RELATION)
        {
            let detail = format!("Expected a relation name of 1 to {LONGEST_RELATION} bytes, or null.");
            return Err(Problem::unprocessable("Wrong relation", detail));
        }
        let relation = match name.as_deref().map(|name| app.predictor.relation(name)) {
            Some(Ok(relation)) => Some(relation),
            Some(Err(error)) if error.is_ambiguous || !new => {
                let names = error.suggestions.iter().map(|(name, _)| name.clone()).collect();
                let title = if error.is_ambiguous { "Ambiguous relation" } else { "Unknown relation" };
                let ask = if error.is_ambiguous { "" } else { " For a new relation, set `new` to true." };
                let detail = sentence(&error.to_string()) + ask;
                return Err(Problem::unprocessable(title, detail).suggesting(names));
            }
            _ => None,
        };
        let own_name = relation.map(|relation| graph.relation_name(relation).to_owned());
        let name = own_name.or_else(|| name.map(|name| graph.full_name(&name)));
        for (what, count) in [("support", support.len()), ("rejected", rejected.len())] {
            if count > limits.supports {
                return Err(Problem::unprocessable(
                    "Too many pairs",
                    format!("{what} has {count} pairs; give at most {}.", limits.supports),
                ));
            }
        }
        let entity = |text: &str| app.resolve(text);
        let pairs = |pairs: &[[String; 2]]| -> Result<Vec<Pair>, Problem> {
            pairs.iter().map(|[head, tail]| Ok(Pair { head: entity(head)?, tail: entity(tail)? })).collect()
        };
        let mut support = pairs(&support)?;
        let rejected = pairs(&rejected)?;
        if support.is_empty() {
            let usual = relation.and_then(|relation| app.predictor.default_support(relation));
            support = usual.ok_or_else(|| {
                Problem::unprocessable(
                    "No support",
                    "The support is empty. Give at least one pair that the relation holds for, as \
                     [\"head\", \"tail\"]; five are better.",
                )
            })?;
        }
        let candidates = choice(app, graph, &types, &candidates)?;
        let request = RelationRequest {
            relation,
            support,
            rejected,
            candidates,
            include_known: !exclude_known,
            direction,
        };
        Ok(Self { name, request })
    }
}

fn choice(
    app: &App,
    graph: &Graph,
    types: &[String],
    candidates: &[String],
) -> Result<CandidateChoice, Problem> {
    match (types, candidates) {
        ([], []) => Ok(CandidateChoice::Fitting),
        (types, []) => {
            let ids: Result<Vec<TypeId>, Problem> = types.iter().map(|name| type_id(graph, name)).collect();
            ids.map(CandidateChoice::Types)
        }
        ([], candidates) => {
            let ids: Result<Vec<EntityId>, _> = candidates.iter().map(|name| app.resolve(name)).collect();
            Ok(CandidateChoice::Listed(ids?))
        }
        _ => Err(Problem::unprocessable(
            "Types and candidates",
            "Both types and candidates are given. Give one of the two.",
        )),
    }
}

fn type_id(graph: &Graph, name: &str) -> Result<TypeId, Problem> {
    if let Some(id) = graph.type_names().id(name) {
        return Ok(TypeId(id));
    }
    let lower = name.to_lowercase();
    let similar = graph.type_names().iter().filter(|known| {
        let known = known.to_lowercase();
        known.contains(&lower) || lower.contains(&known)
    });
    let suggestions: Vec<String> = similar.take(SUGGESTIONS).map(str::to_owned).collect();
    let detail = if graph.has_types() {
        format!("There is no type `{name}` in the graph; use one of its types.")
    } else {
        format!("There is no type `{name}`: this graph has no types. List candidates instead.")
    };
    Err(Problem::unprocessable("Unknown type", detail).suggesting(suggestions))
}

impl From<PredictorError> for Problem {
    fn from(error: PredictorError) -> Self {
        let title = match &error {
            PredictorError::Unresolved(unresolved) => return unresolved.clone().into(),
            PredictorError::NoSupport => "No support",
            PredictorError::Contradiction { .. } => "Contradictory support",
            PredictorError::NoCandidates => "No candidates",
            PredictorError::Support(_) => "Support that cannot be used",
            _ => return Self::internal(error.to_string()),
        };
        Self::unprocessable(title, sentence(&error.to_string()))
    }
}

/// A message of the library as a sentence.
pub(crate) fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if message.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}
