//! What a split did, for people and for files.

use rana_graph::{Fact, Graph, Lists, Pair, RelationId, Split, TaskSet};
use serde::Serialize;

use super::inverse_relations::Twin;

/// What a split did and what it left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SplitReport {
    /// Train, dev and test in numbers.
    pub splits: Vec<SplitCount>,
    /// Every task in the order of the task set.
    pub tasks: Vec<SplitTask>,
    /// Relations taken out of the background, and out of the tasks, as inverses of a task relation.
    pub removed_inverses: Vec<RemovedInverse>,
    /// How many facts the background has left.
    pub background_facts: usize,
    /// How many relations the background has left.
    pub background_relations: usize,
    /// How many entities have no background edge left; a model knows nothing of them but what
    /// tasks say.
    pub isolated_entities: usize,
    /// How many task facts touch such an entity.
    pub facts_at_isolated_entities: usize,
    /// How many task facts stand reversed in the background still, under a relation that is no
    /// inverse of the task's as a whole.
    pub reversed_facts_left: usize,
}

/// How much there is of one split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SplitCount {
    /// The split.
    pub split: Split,
    /// How many tasks it has.
    pub tasks: usize,
    /// How many facts they have together.
    pub facts: usize,
}

/// One task in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SplitTask {
    /// Its split.
    pub split: Split,
    /// The name of its relation.
    pub relation: String,
    /// How many facts it has.
    pub facts: usize,
    /// How many candidate tails its queries have.
    pub candidates: usize,
}

/// A relation that was taken out because it is the inverse of a task relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemovedInverse {
    /// The name of the relation that was taken out.
    pub relation: String,
    /// The name of the task relation it is the inverse of.
    pub inverse_of: String,
    /// How many facts went with it.
    pub facts: usize,
    /// Whether it would have been a task itself.
    pub was_task: bool,
}

impl SplitReport {
    pub(super) fn new(
        graph: &Graph,
        facts: &Lists<Fact>,
        background: &Graph,
        tasks: &TaskSet,
        twins: &[Twin],
    ) -> Self {
        let pairs = || tasks.iter().flat_map(|task| task.facts);
        let isolated = |entity| background.degree(entity) == 0;
        let name = |relation: RelationId| graph.relation_name(relation).to_owned();
        Self {
            splits: Split::ALL.map(|split| SplitCount::new(tasks, split)).into(),
            tasks: tasks
                .iter()
                .map(|task| SplitTask {
                    split: task.split,
                    relation: background.relation_name(task.relation).to_owned(),
                    facts: task.facts.len(),
                    candidates: task.candidates.len(),
                })
                .collect(),
            removed_inverses: twins
                .iter()
                .map(|twin| RemovedInverse {
                    relation: name(twin.twin),
                    inverse_of: name(twin.of),
                    facts: facts.get(twin.twin.number()).len(),
                    was_task: twin.was_chosen,
                })
                .collect(),
            background_facts: background.facts().len(),
            background_relations: background.relation_count(),
            isolated_entities: background.entities().filter(|&entity| isolated(entity)).count(),
            facts_at_isolated_entities: pairs()
                .filter(|pair| isolated(pair.head) || isolated(pair.tail))
                .count(),
            reversed_facts_left: pairs().filter(|pair| stands_reversed(background, pair)).count(),
        }
    }
}

impl SplitCount {
    fn new(tasks: &TaskSet, split: Split) -> Self {
        Self {
            split,
            tasks: tasks.of(split).count(),
            facts: tasks.of(split).map(|task| task.facts.len()).sum(),
        }
    }
}

/// Whether any fact leads from the tail of a pair to its head.
fn stands_reversed(graph: &Graph, pair: &Pair) -> bool {
    // The shorter neighbourhood of the two, because hubs are long.
    let (from, to, backwards) = if graph.degree(pair.head) <= graph.degree(pair.tail) {
        (pair.head, pair.tail, true)
    } else {
        (pair.tail, pair.head, false)
    };
    graph.neighbours(from).iter().any(|edge| edge.entity == to && edge.relation.is_inverse() == backwards)
}
