//! [`RequestedRelation`]: the relation that the arguments ask for.

use std::collections::HashSet;

use rana::graph::{EntityId, Pair, Split};
use rana::predictor::{CandidateChoice, Predictor, RelationRequest};

use super::CompleteArgs;
use super::resolver::{FilePairs, Resolver};
use crate::error::CliError;

/// What is asked for.
pub(super) struct RequestedRelation {
    /// What the relation is called.
    pub(super) name: String,
    pub(super) request: RelationRequest,
    /// The heads of facts that were withheld, if the relation is a task; their tails, if heads are asked for.
    pub(super) withheld_heads: Vec<EntityId>,
}

/// What a relation without a name is called in data.
const NAMELESS: &str = "relation";

impl RequestedRelation {
    pub(super) fn new(
        args: &CompleteArgs,
        predictor: &Predictor,
        resolver: &Resolver<'_>,
    ) -> Result<Self, CliError> {
        let store = predictor.store();
        let mut support: Vec<Pair> = Vec::new();
        for pair in args.pair.chunks_exact(2) {
            support.push(Pair { head: resolver.entity(&pair[0])?, tail: resolver.entity(&pair[1])? });
        }
        let in_file = args.support.as_deref().map(|file| resolver.pairs(file)).transpose()?;
        let called = args.relation.as_deref().or_else(|| in_file.as_ref().and_then(FilePairs::only_relation));
        let relation = match called {
            Some(name) => resolver.relation(name, args.new)?,
            None => None,
        };
        if let Some(pairs) = &in_file {
            let own = resolver.pairs_of(pairs, relation, called)?;
            if own.is_empty() {
                return Err(CliError::Usage(format!("{}: there are no pairs in this file", pairs.file())));
            }
            support.extend(own);
        }
        if support.is_empty() {
            support = relation.and_then(|relation| predictor.default_support(relation)).unwrap_or_default();
        }
        let mut withheld_heads = Vec::new();
        let task = relation.and_then(|relation| store.tasks.task(relation));
        if let Some(task) = task.filter(|task| task.split != Split::Train) {
            let given: HashSet<Pair> = support.iter().copied().collect();
            let others = task.facts.iter().filter(|pair| !given.contains(pair));
            withheld_heads.extend(others.map(|&pair| args.direction().turn(pair).head));
        }
        if support.is_empty() {
            let message = "nothing to learn from. Give pairs with --pair HEAD TAIL or --support FILE, or name a \
                           relation that the graph has facts of with --relation";
            return Err(CliError::Usage(message.to_owned()));
        }
        let candidates = match (&args.candidates, args.all_candidates) {
            (Some(file), _) => CandidateChoice::Listed(resolver.entities(file)?),
            (None, true) => CandidateChoice::All,
            (None, false) if !args.types.is_empty() => CandidateChoice::Types(
                args.types.iter().map(|name| resolver.type_of(name)).collect::<Result<_, _>>()?,
            ),
            _ => CandidateChoice::Fitting,
        };
        let rejected = match &args.rejected {
            Some(file) => resolver.pairs_of(&resolver.pairs(file)?, relation, called)?,
            None => Vec::new(),
        };
        let request = RelationRequest {
            relation,
            support,
            rejected,
            candidates,
            include_known: !args.exclude_known,
            direction: args.direction(),
        };
        let asked = called.unwrap_or(NAMELESS);
        let graph = &store.graph;
        let name = relation
            .map_or_else(|| graph.full_name(asked), |relation| graph.relation_name(relation).to_owned());
        Ok(Self { name, request, withheld_heads })
    }
}
