//! [`Imported`] and [`ImportReport`]: what an import gives, and what it read, kept and skipped.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::graph::Graph;
use crate::graph_builder::Duplicates;
use crate::held_out::{HeldOut, HeldOutReport};
use crate::store::{Counts, Input};
use crate::tasks::TaskSet;

/// The result of an import: the graph, its tasks, and a report.
#[derive(Debug)]
pub struct Imported {
    /// The graph.
    pub graph: Graph,
    /// Its tasks; none unless a release directory was read.
    pub tasks: TaskSet,
    /// The files it was made from, with their hashes.
    pub inputs: Vec<Input>,
    /// What was read, what was skipped and why.
    pub report: ImportReport,
}

/// What an import has read and skipped.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// What was read from each source.
    pub sources: Vec<SourceReport>,
    /// Counts of the imported graph.
    pub counts: Counts,
    /// Repeated facts; removed unless duplicates are kept.
    pub duplicates: u64,
    /// What was done with them.
    pub duplicates_policy: Duplicates,
    /// Facts that join an entity with itself; they are kept.
    pub self_loops: u64,
    /// Counts of the held-out facts, for each list that has a source.
    pub held_out: BTreeMap<HeldOut, HeldOutReport>,
    /// Tasks whose relation has no candidates.
    pub tasks_without_candidates: u64,
    /// Messages of the first malformed places that were skipped.
    pub first_malformed: Vec<String>,
}

/// What an import has read from one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SourceReport {
    /// The source as it was given.
    pub name: String,
    /// The format it was read in.
    pub format: String,
    /// The list of held-out facts it was read into, none if it was read into the graph.
    pub held_out: Option<HeldOut>,
    /// Its size, before decompression.
    pub bytes: u64,
    /// Statements that became facts, duplicates included.
    pub facts: u64,
    /// Statements that became labels.
    pub labels: u64,
    /// Statements that gave an entity a type.
    pub types: u64,
    /// Literal values that are not labels.
    pub literals: u64,
    /// Literal values among them that were left out.
    pub literals_dropped: u64,
    /// Malformed places skipped.
    pub malformed: u64,
}
