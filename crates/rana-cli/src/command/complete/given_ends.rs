//! [`GivenEnds`]: what a relation is completed for: heads, tails, or pairs.

use std::collections::HashSet;
use std::path::Path;

use rana::graph::EntityId;
use rana::predictor::{Direction, LearnedRelation};

use super::CompleteArgs;
use super::requested_relation::RequestedRelation;
use super::resolver::Resolver;
use super::shard::Shard;
use crate::error::CliError;

/// What a relation is completed for.
pub(super) struct GivenEnds {
    /// The heads whose tails are wanted, or the tails whose heads are; each once, in the order they were asked for.
    pub(super) entities: Vec<EntityId>,
    /// The other ends, if pairs are to be judged.
    pub(super) others: Option<Vec<EntityId>>,
}

/// The arguments for one end.
struct End<'a> {
    names: &'a [String],
    file: Option<&'a Path>,
    types: &'a [String],
    plausible: bool,
}

impl End<'_> {
    fn is_given(&self) -> bool {
        !self.names.is_empty() || self.file.is_some() || !self.types.is_empty() || self.plausible
    }

    /// The entities that are named.
    fn named(&self, resolver: &Resolver<'_>) -> Result<Vec<EntityId>, CliError> {
        let graph = resolver.graph();
        let mut entities = Vec::new();
        for name in self.names {
            entities.push(resolver.entity(name)?);
        }
        if let Some(file) = self.file {
            entities.extend(resolver.entities(file)?);
        }
        for name in self.types {
            let of = resolver.type_of(name)?;
            entities.extend(graph.entities().filter(|&entity| graph.types(entity).contains(&of)));
        }
        Ok(entities)
    }
}

impl CompleteArgs {
    fn end(&self, direction: Direction) -> End<'_> {
        let (names, file, types, plausible) = match direction {
            Direction::Tails => (&self.head, &self.heads, &self.heads_of_type, self.plausible),
            Direction::Heads => (&self.tail, &self.tails, &self.tails_of_type, self.plausible_tails),
        };
        End { names, file: file.as_deref(), types, plausible }
    }

    /// Whether tails or heads are asked for. If both ends are given, pairs are judged by their tails.
    pub(super) fn direction(&self) -> Direction {
        match self.end(Direction::Heads).is_given() && !self.end(Direction::Tails).is_given() {
            true => Direction::Heads,
            false => Direction::Tails,
        }
    }

    /// What the relation is completed for; the part of a shard only.
    pub(super) fn given_ends(
        &self,
        asked: &RequestedRelation,
        learned: &LearnedRelation,
        resolver: &Resolver<'_>,
    ) -> Result<GivenEnds, CliError> {
        let direction = learned.direction();
        let end = self.end(direction);
        let mut entities = end.named(resolver)?;
        let is_named = !entities.is_empty();
        if end.plausible {
            entities.extend(learned.plausible_heads());
        }
        if entities.is_empty() && !is_named {
            let [given, _] = direction.ends();
            if end.plausible {
                return Err(CliError::Usage(format!(
                    "no other entity looks like the {given}s of the support. Name {given}s with --{given} or --{given}s"
                )));
            }
            entities.clone_from(&asked.withheld_heads);
            if entities.is_empty() && end.file.is_none() && end.types.is_empty() {
                let message = "for which heads? Name them with --head NAME, --heads FILE, --heads-of-type TYPE or \
                               --plausible. Tails instead, with --tail NAME and the like, are answered with heads";
                return Err(CliError::Usage(message.to_owned()));
            }
        }
        let other = self.end(Direction::Heads);
        let others = match direction == Direction::Tails && other.is_given() {
            true => Some(each_once(other.named(resolver)?)),
            false => None,
        };
        let mut entities = each_once(entities);
        if let Some(Shard { number, of }) = self.shard {
            entities = entities.into_iter().skip(number - 1).step_by(of).collect();
        }
        Ok(GivenEnds { entities, others })
    }

    /// Whether ends are chosen by what they are and not one by one.
    pub(super) fn is_bulk(&self) -> bool {
        let end = self.end(self.direction());
        end.plausible || !end.types.is_empty()
    }
}

fn each_once(mut entities: Vec<EntityId>) -> Vec<EntityId> {
    let mut seen = HashSet::new();
    entities.retain(|entity| seen.insert(*entity));
    entities
}
