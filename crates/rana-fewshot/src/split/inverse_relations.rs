//! Relations that say what another says, read backwards.

use std::collections::{HashMap, HashSet};

use rana_graph::{EntityId, Fact, Graph, Lists, RelationId};

/// A relation taken out because it is the inverse of a task relation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Twin {
    /// The task relation.
    pub(super) of: RelationId,
    /// Its inverse.
    pub(super) twin: RelationId,
    /// Whether the inverse was to become a task itself.
    pub(super) was_chosen: bool,
}

/// The chosen relations without each other's inverses, and the inverses to take out.
pub(super) struct Removal {
    pub(super) kept: Vec<RelationId>,
    pub(super) twins: Vec<Twin>,
}

impl Removal {
    /// Every chosen relation stays, and so does everything else.
    pub(super) fn nothing(chosen: Vec<RelationId>) -> Self {
        Self { kept: chosen, twins: Vec::new() }
    }

    /// Takes out every inverse of a chosen relation; of two chosen ones the first stays.
    pub(super) fn of_twins(
        graph: &Graph,
        facts: &Lists<Fact>,
        mut chosen: Vec<RelationId>,
        share: f64,
    ) -> Self {
        let inverses = inverses(graph, facts, &chosen, share);
        let was_chosen: HashSet<RelationId> = chosen.iter().copied().collect();
        let mut gone = HashSet::new();
        let mut twins = Vec::new();
        for &of in &chosen {
            if gone.contains(&of) {
                continue;
            }
            for &twin in inverses.get(&of).into_iter().flatten() {
                if gone.insert(twin) {
                    twins.push(Twin { of, twin, was_chosen: was_chosen.contains(&twin) });
                }
            }
        }
        chosen.retain(|relation| !gone.contains(relation));
        Self { kept: chosen, twins }
    }
}

/// The inverses of each of `relations` that has any, ascending.
///
/// Repeated facts count once: a share is one of distinct facts.
fn inverses(
    graph: &Graph,
    facts: &Lists<Fact>,
    relations: &[RelationId],
    share: f64,
) -> HashMap<RelationId, Vec<RelationId>> {
    let mut inverses: HashMap<_, Vec<_>> = HashMap::new();
    for ((relation, other), reversed) in reversed_counts(graph, facts, relations) {
        let shares_enough =
            |relation: RelationId| reversed as f64 / distinct(facts.get(relation.number())) as f64 >= share;
        if shares_enough(relation) && shares_enough(other) {
            inverses.entry(relation).or_default().push(other);
        }
    }
    inverses.values_mut().for_each(|others| others.sort_unstable());
    inverses
}

/// How many facts of each of `relations` stand reversed under each other relation.
fn reversed_counts(
    graph: &Graph,
    facts: &Lists<Fact>,
    relations: &[RelationId],
) -> HashMap<(RelationId, RelationId), usize> {
    let mut by_ends: HashMap<(EntityId, EntityId), Vec<RelationId>> = HashMap::new();
    for fact in relations.iter().flat_map(|relation| facts.get(relation.number())) {
        by_ends.entry((fact.head, fact.tail)).or_default().push(fact.relation);
    }
    // One pass over all facts finds every reversal, for any degrees of the entities.
    let mut met: HashSet<(RelationId, Fact)> = HashSet::new();
    for &fact in graph.facts() {
        for &relation in by_ends.get(&(fact.tail, fact.head)).into_iter().flatten() {
            if relation != fact.relation {
                met.insert((relation, fact));
            }
        }
    }
    let mut counts = HashMap::new();
    for (relation, fact) in met {
        *counts.entry((relation, fact.relation)).or_default() += 1;
    }
    counts
}

fn distinct(facts: &[Fact]) -> usize {
    facts.iter().collect::<HashSet<_>>().len()
}
