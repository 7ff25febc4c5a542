//! [`ConsideredRelation`]: a relation that may hold between two entities.

use std::sync::OnceLock;

use rana_eval::confidence::{HeadScores, RelationSigns, Tails};
use rana_fewshot::{AdaptedRelation, Direction, Support, SupportError};
use rana_graph::{Pair, RelationId};
use rana_models::paths::VisibleEdges;

use super::end_profile::EndProfile;
use super::relation_scorers::RelationScorers;

/// A relation that may hold between two entities, as its known pairs show it.
pub(crate) struct ConsideredRelation {
    /// Which one of the graph it is, if it is one.
    pub(crate) relation: Option<RelationId>,
    /// Pairs that it holds for.
    pub(crate) support: Vec<Pair>,
    edges: VisibleEdges,
    heads: EndProfile,
    tails: EndProfile,
    /// What scores its tails and its heads, made when first asked for.
    adapted: [OnceLock<Result<Box<dyn AdaptedRelation>, SupportError>>; 2],
}

impl ConsideredRelation {
    pub(super) fn new(scorers: &RelationScorers, relation: Option<RelationId>, support: Vec<Pair>) -> Self {
        let edges = VisibleEdges::without(&scorers.edges, relation);
        let graph = &scorers.graph;
        let heads = EndProfile::of(graph, &edges, support.iter().map(|pair| pair.head));
        let tails = EndProfile::of(graph, &edges, support.iter().map(|pair| pair.tail));
        Self { relation, support, edges, heads, tails, adapted: Default::default() }
    }

    /// How much head and tail are like those of known pairs; the other signs are left at zero.
    pub(super) fn likeness(&self, scorers: &RelationScorers, pair: Pair) -> RelationSigns {
        let like = |profile: &EndProfile, entity| profile.likeness(&scorers.graph, &self.edges, entity);
        RelationSigns {
            head_likeness: like(&self.heads, pair.head),
            tail_likeness: like(&self.tails, pair.tail),
            ..RelationSigns::default()
        }
    }

    /// All signs.
    pub(super) fn signs(
        &self,
        scorers: &RelationScorers,
        pair: Pair,
        likeness: RelationSigns,
    ) -> Result<RelationSigns, SupportError> {
        Ok(RelationSigns {
            tail_margin: self.margin(scorers, pair, Direction::Tails)?,
            head_margin: self.margin(scorers, pair, Direction::Heads)?,
            ..likeness
        })
    }

    /// How far the answer in one direction stands out among rivals.
    fn margin(
        &self,
        scorers: &RelationScorers,
        pair: Pair,
        direction: Direction,
    ) -> Result<f64, SupportError> {
        let adapted = self.scorer(scorers, direction)?;
        let turned = direction.turn(pair);
        let mut score = [0.0];
        adapted.scores(&[turned.head], &[turned.tail], &mut score);
        let rivals = HeadScores::of(adapted, turned.head, &scorers.rivals).without([turned.tail]);
        Ok(rivals.lead(score[0], scorers.temperatures[direction as usize]))
    }

    /// What scores it in one direction.
    pub(super) fn scorer(
        &self,
        scorers: &RelationScorers,
        direction: Direction,
    ) -> Result<&dyn AdaptedRelation, SupportError> {
        let adapt = || {
            let pairs = direction.turn_all(&self.support);
            scorers.models[direction as usize].adapt(&Support {
                relation: self.relation.map(|relation| direction.turn_relation(relation)),
                pairs: &pairs,
                candidates: scorers.rivals.ids(),
                rejected: &[],
                seed: self.relation.map_or(0, |relation| relation.0.into()),
            })
        };
        match self.adapted[direction as usize].get_or_init(adapt) {
            Ok(adapted) => Ok(&**adapted),
            Err(error) => Err(*error),
        }
    }
}

/// The entities that margins are seen among: ends of facts, evenly among all of them, so that usual answers are there,
/// and entities, evenly among all, so that rare ones are.
pub(super) fn rivals(graph: &rana_graph::Graph) -> Tails {
    const OF_FACTS: usize = 400;
    const OF_ENTITIES: usize = 400;
    let facts = graph.facts();
    let ends =
        facts.iter().step_by(facts.len().div_ceil(OF_FACTS).max(1)).flat_map(|fact| [fact.head, fact.tail]);
    let every = graph.entity_count().div_ceil(OF_ENTITIES).max(1);
    let mut rivals: Vec<_> = ends.chain(graph.entities().step_by(every)).collect();
    rivals.sort_unstable();
    rivals.dedup();
    Tails::new(rivals)
}
