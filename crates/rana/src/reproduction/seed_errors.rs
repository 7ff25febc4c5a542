//! [`SeedErrors`]: the errors of the model of one seed on one relation.

use rana_eval::{AnalysedFact, CardSettings, ErrorAnalysis};
use rana_graph::{RelationId, Split, Store};
use rana_models::training::{MetaTraining, Run};
use serde::Serialize;

use super::experiment::SHOTS;
use crate::report::ResultsTable;
use crate::trial::{Trial, TrialError, Workspace};

/// How many queries the paper looked at.
const SAMPLE: usize = 20;
/// The relation that the paper looked at.
const RELATION: &str = "teamcoach";

/// The errors of the model of one seed on one relation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedErrors {
    /// The training seed.
    pub seed: u64,
    /// The errors.
    #[serde(flatten)]
    pub analysis: ErrorAnalysis,
}

impl SeedErrors {
    /// Analyses the model of a finished trial; the same queries for every seed. `None` if there is no test task.
    pub(super) fn of_trial(
        trial: &Trial,
        store: &Store,
        workspace: &Workspace,
    ) -> Result<Option<Self>, TrialError> {
        let Some(relation) = relation(store) else { return Ok(None) };
        let vectors = trial.vectors.ready(store, workspace, &())?;
        let run = Run::open(trial.run_path(store, workspace))?;
        let models = MetaTraining::models(store, &run, &vectors.set)?;
        let settings = CardSettings { shots: SHOTS, draws: 0, ..CardSettings::default() };
        let analysis = settings.errors(&*models.trained, relation, SAMPLE, &store.graph, &store.tasks)?;
        Ok(Some(Self { seed: trial.config.trainer.seed, analysis }))
    }

    /// One sentence of numbers.
    #[must_use]
    pub fn summary(&self) -> String {
        let sample = &self.analysis.sample;
        let missed: Vec<&AnalysedFact> = sample.iter().filter(|fact| !fact.is_hit()).collect();
        let sparse = missed.iter().filter(|fact| fact.is_sparse()).count();
        format!(
            "Seed {}: {} of {} right tails of `{}` are among the first ten; of the other {}, {sparse} have a head or a tail with fewer \
             than 10 neighbours.",
            self.seed,
            sample.len() - missed.len(),
            sample.len(),
            self.analysis.label.as_ref().unwrap_or(&self.analysis.relation),
            missed.len(),
        )
    }

    /// The sample, one row per query.
    #[must_use]
    pub fn sample_table(&self) -> ResultsTable {
        let titles = ["head", "right tail", "rank", "ranked first", "neighbours of both", "where"];
        let row = |fact: &AnalysedFact| {
            vec![
                fact.head.clone(),
                fact.tail.clone(),
                format!("{:.0}", fact.rank),
                fact.first.clone(),
                format!("{} and {}", fact.neighbours[0], fact.neighbours[1]),
                fact.kind.text().to_owned(),
            ]
        };
        ResultsTable {
            titles: titles.map(str::to_owned).to_vec(),
            rows: self.analysis.sample.iter().map(row).collect(),
        }
    }

    /// All queries of the relation by the neighbours of their sparser end.
    #[must_use]
    pub fn neighbour_table(&self) -> ResultsTable {
        let titles = ["neighbours of the sparser end", "queries", "MRR", "Hits@10"];
        let rows = self.analysis.by_neighbours.iter().map(|group| {
            let range = match group.most {
                Some(most) => format!("{} to {most}", group.least),
                None => format!("{} and more", group.least),
            };
            vec![
                range,
                group.queries.to_string(),
                format!("{:.3}", group.mrr),
                format!("{:.3}", group.hits_at_10),
            ]
        });
        ResultsTable { titles: titles.map(str::to_owned).to_vec(), rows: rows.collect() }
    }

    /// As a part of a Markdown page.
    pub(super) fn markdown(&self) -> String {
        format!(
            "\n## Seed {}\n\n{}\n\n{}\nAll {} queries of the relation:\n\n{}",
            self.seed,
            self.summary(),
            self.sample_table().markdown(),
            self.analysis.queries,
            self.neighbour_table().markdown(),
        )
    }
}

/// The test relation that the paper looked at, or else the largest one.
fn relation(store: &Store) -> Option<RelationId> {
    let is_named = |relation: RelationId| store.graph.relation_name(relation).ends_with(RELATION);
    let tasks = || store.tasks.of(Split::Test);
    let named = tasks().find(|task| is_named(task.relation));
    named.or_else(|| tasks().max_by_key(|task| task.facts.len())).map(|task| task.relation)
}
