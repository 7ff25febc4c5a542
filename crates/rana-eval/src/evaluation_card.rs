//! [`EvaluationCard`]: the full, self-describing result of an evaluation.

use std::collections::BTreeMap;

use rana_embed::link_prediction::{Metrics, TieRule};
use rana_graph::Split;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::averages::{Averages, Spread};
use crate::candidate_policy::CandidatePolicy;
use crate::confidence::Reliability;
use crate::few_shot_report::MacroMetrics;

/// The results of a model on the tasks of a split, with other models under the same protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvaluationCard {
    /// The name of the model that the card is about.
    pub model: String,
    /// How it was measured.
    pub protocol: Protocol,
    /// What was measured.
    #[serde(flatten)]
    pub result: CardResult,
    /// Each task, in the order of the file.
    pub per_relation: Vec<RelationCard>,
    /// The rows of the other models, by name, in the order they were given.
    #[serde(serialize_with = "by_name")]
    pub baselines: Vec<BaselineRow>,
    /// Whether answers are right as often as they are said to be, if the model says how sure it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Reliability>,
    /// Where all this comes from.
    pub provenance: Provenance,
}

/// How the models of a card were measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Protocol {
    /// The split the tasks are of.
    pub split: Split,
    /// Support pairs per task.
    pub shots: usize,
    /// How ties are decided in every number that does not say otherwise.
    pub tie_rule: TieRule,
    /// What true tails are ranked among.
    pub candidates: CandidatePolicy,
    /// What is left out of the candidates.
    pub filter: &'static str,
    /// Resampled supports per task.
    pub draws: usize,
    /// In `common`, facts that are in a support of up to this many shots are no queries.
    pub common_shots: usize,
    /// Chooses the resampled supports, and the candidates where they are sampled.
    pub seed: u64,
    /// How many tasks there are.
    pub tasks: usize,
    /// How many queries they have behind one support.
    pub queries: u64,
}

/// What was measured of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CardResult {
    /// On the official support: the first K facts.
    pub official: Official,
    /// On resampled supports, if any were drawn.
    pub resampled: Option<Resampled>,
    /// The MRR of each draw over all queries. Draws are the same for all rows of a protocol, so they can be paired.
    #[serde(default)]
    pub draw_mrrs: Vec<f64>,
    /// Why there is nothing on resampled supports though some were drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_resampled: Option<String>,
    /// On the queries that are common to all K, if any task is large enough.
    pub common: Option<Common>,
    /// The share of official ranks up to k, for growing k.
    #[serde(default)]
    pub hits_curve: Vec<HitsAt>,
}

/// A result on the official support.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Official {
    /// Over all queries, as published results are.
    pub micro: Metrics,
    /// Over tasks, each counting the same.
    #[serde(rename = "macro")]
    pub macro_average: MacroMetrics,
    /// What ties do to the numbers.
    #[serde(default)]
    pub ties: Ties,
}

/// The same ranks under each tie rule, over all queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ties {
    /// If every tie were decided for the true tail.
    pub optimistic: Averages,
    /// If the true tail stood in the middle of its ties.
    pub realistic: Averages,
    /// If every tie were decided against the true tail.
    pub pessimistic: Averages,
    /// Queries whose true tail shares its score with another candidate.
    pub tied_queries: u64,
    /// Candidates that share their score with the true tail, over all queries.
    pub tied_candidates: u64,
}

/// Results over random supports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resampled {
    /// How many supports of each task were drawn.
    pub draws: usize,
    /// The mean over all queries, by draw.
    pub micro: Averages<Spread>,
    /// The mean over tasks, by draw.
    #[serde(rename = "macro")]
    pub macro_average: Averages<Spread>,
}

/// Results on queries that are in no support of up to `common_shots` facts, so that results with
/// different numbers of shots answer the same queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Common {
    /// How many tasks have such a query.
    #[serde(default)]
    pub tasks: usize,
    /// How many tasks are too small.
    #[serde(default)]
    pub left_out: usize,
    /// How many such queries there are.
    pub queries: u64,
    /// On the official support.
    pub official: Official,
    /// On resampled supports, if any were drawn.
    pub resampled: Option<Resampled>,
}

/// A point of the curve of hits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HitsAt {
    /// The largest rank that counts.
    pub k: u64,
    /// The share of queries with such a rank.
    pub hits: f64,
}

/// How well a model completes one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationCard {
    /// The relation.
    pub relation: String,
    /// Its label, if it has one.
    pub label: Option<String>,
    /// How many candidates its queries are ranked among, known tails included.
    #[serde(default)]
    pub candidates: usize,
    /// How many queries it has.
    pub queries: u64,
    /// On the official support.
    pub official: Averages,
    /// On resampled supports, if any were drawn.
    pub resampled: Option<RelationResampled>,
}

/// A task over random supports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationResampled {
    /// The mean reciprocal rank of its queries, by draw.
    pub mrr: Spread,
}

/// A row of another model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BaselineRow {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// What was measured.
    #[serde(flatten)]
    pub result: CardResult,
    /// Each task, in the order of the file.
    pub per_relation: Vec<RelationMrr>,
}

/// How well a row completes one task, in a word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RelationMrr {
    /// The relation.
    pub relation: String,
    /// The mean reciprocal rank on the official support.
    pub mrr: f64,
}

/// Where the numbers of a card come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Provenance {
    /// The fingerprint of the graph: names and background facts.
    pub graph: String,
    /// The version of this library.
    pub version: &'static str,
    /// How long the evaluation took.
    pub seconds: f64,
    /// The most memory the process has held so far, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// What else the caller knows, such as the commit or the settings of a training.
    #[serde(flatten)]
    pub details: BTreeMap<String, String>,
}

impl EvaluationCard {
    /// All rows, the model first.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &CardResult)> + Clone {
        let others = self.baselines.iter().map(|row| (row.name.as_str(), &row.result));
        std::iter::once((self.model.as_str(), &self.result)).chain(others)
    }

    /// The rows that have nothing on resampled supports though some were drawn, and why.
    pub fn not_resampled(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows().filter_map(|(name, result)| Some((name, result.not_resampled.as_deref()?)))
    }

    /// The row of another model with the highest official MRR; the first if there are equal ones.
    #[must_use]
    pub fn best_baseline(&self) -> Option<&BaselineRow> {
        let mrr = |row: &BaselineRow| row.result.official.micro.mrr;
        self.baselines.iter().rev().max_by(|a, b| mrr(a).total_cmp(&mrr(b)))
    }
}

fn by_name<S: Serializer>(rows: &[BaselineRow], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(rows.len()))?;
    for row in rows {
        map.serialize_entry(&row.name, row)?;
    }
    map.end()
}
