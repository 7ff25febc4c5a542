//! [`split`]: cuts a few-shot benchmark out of a graph.

use rana_graph::{Fact, Graph, Lists, Pair, RelationId, Split, TaskSet, TaskSetBuilder};
use rayon::prelude::*;

use super::assignment;
use super::assignment_rule::Assignment;
use super::config::{SplitConfig, SplitSettings};
use super::error::SplitError;
use super::inverse_relations::Removal;
use super::report::SplitReport;
use crate::candidates::{CandidateBuilder, CandidateConfig, CandidateRule};

/// A benchmark cut out of a graph.
#[derive(Clone, Debug)]
pub struct SplitOutcome {
    /// The background: the same entities, without the facts of task relations and their inverses.
    ///
    /// Its relations are the remaining ones in their order, then those of the tasks in the order
    /// of `tasks`, then removed inverses.
    pub graph: Graph,
    /// The tasks, with candidates and with a filter from all their facts.
    pub tasks: TaskSet,
    /// What was done and what is left.
    pub report: SplitReport,
}

/// Cuts a few-shot benchmark out of a graph.
///
/// The relations with few facts, or those named, become tasks; the rest is the background. No fact
/// of a task relation stays there, nor one of a relation that is the inverse of a task relation:
/// such a twin would give every answer away.
///
/// ```
/// use rana_fewshot::{SplitConfig, SplitSettings, split};
/// use rana_graph::{Duplicates, GraphBuilder, Split};
/// let mut builder = GraphBuilder::new(Duplicates::Remove);
/// for n in 0..40 {
///     builder.add_named(&format!("e{n}"), "common", "hub");
///     builder.add_named(&format!("e{n}"), ["a", "b", "c", "d"][n % 4], &format!("e{}", n / 2));
/// }
/// let settings = SplitSettings { more_than: 5, less_than: 20, ..SplitSettings::default() };
/// let outcome = split(&builder.finish(), &SplitConfig::try_from(settings)?)?;
/// assert_eq!(outcome.tasks.len(), 4);
/// assert_eq!(outcome.tasks.of(Split::Train).count(), 2);
/// assert_eq!(outcome.graph.facts().len(), 40);
/// # Ok::<(), rana_fewshot::SplitError>(())
/// ```
///
/// # Errors
/// If no relation is few-shot, if a named relation does not exist, has no background facts, states
/// types or is the inverse of another named one, or if candidates shall come from types and the
/// graph has none.
pub fn split(graph: &Graph, config: &SplitConfig) -> Result<SplitOutcome, SplitError> {
    let settings = config.settings();
    if settings.candidates == CandidateRule::Types && !graph.has_types() {
        return Err(SplitError::NoTypes);
    }
    let facts = graph.facts_by_relation();
    let chosen = assignment::chosen(graph, &facts, settings)?;
    let removal = if settings.keep_inverses {
        Removal::nothing(chosen)
    } else {
        Removal::of_twins(graph, &facts, chosen, settings.inverse_share)
    };
    if let (Assignment::Names(_), Some(twin)) =
        (&settings.assignment, removal.twins.iter().find(|twin| twin.was_chosen))
    {
        let name = |relation| graph.relation_name(relation).to_owned();
        return Err(SplitError::NamedTwins { first: name(twin.of), second: name(twin.twin) });
    }
    let assigned = assignment::assigned(graph, &removal.kept, settings);

    let withheld: Vec<RelationId> = assigned
        .iter()
        .map(|(_, relation)| *relation)
        .chain(removal.twins.iter().map(|twin| twin.twin))
        .collect();
    let background = graph.withhold(&withheld);
    let tasks = tasks(&background, &facts, &assigned, settings);
    let report = SplitReport::new(graph, &facts, &background, &tasks, &removal.twins);
    Ok(SplitOutcome { graph: background, tasks, report })
}

/// The tasks of the relations that [`Graph::withhold`] put behind the background's.
fn tasks(
    background: &Graph,
    facts: &Lists<Fact>,
    assigned: &[(Split, RelationId)],
    settings: &SplitSettings,
) -> TaskSet {
    let config = CandidateConfig { rule: settings.candidates, cap: settings.cap, seed: settings.seed };
    let candidates = CandidateBuilder::new(background, config);
    let first = background.relation_count() as u32;
    let new_ids = (first..).map(RelationId::forward);
    let entries: Vec<_> = assigned.iter().zip(new_ids).collect();
    let built: Vec<_> = entries
        .into_par_iter()
        .map(|(&(split, old), relation)| {
            let facts = facts.get(old.number());
            let pairs: Vec<Pair> =
                facts.iter().map(|fact| Pair { head: fact.head, tail: fact.tail }).collect();
            let candidates = candidates.candidates(relation, pairs.iter().map(|pair| pair.tail));
            (split, relation, pairs, candidates)
        })
        .collect();
    let mut builder = TaskSetBuilder::default();
    for (split, relation, pairs, candidates) in built {
        builder.add_task(split, relation, pairs);
        builder.add_candidates(relation, candidates);
    }
    builder.filter_from_tasks();
    builder.finish()
}
