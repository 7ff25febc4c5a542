//! [`FewShotEvaluation`]: ranks the true tails of a split's queries by the published protocol.

use rana_embed::link_prediction::TieRule;
use rana_fewshot::{EpisodeError, FewShotModel, SupportError, first_k};
use rana_graph::{Graph, Observer, Split, TaskSet, Unit};

use crate::candidate_policy::CandidatePolicy;
use crate::few_shot_report::FewShotReport;
use crate::task_ranking::TaskRanking;

/// The published protocol: the first K facts of a task are its support, the others its queries;
/// known tails other than the one asked for are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewShotEvaluation {
    /// Support pairs per task.
    pub shots: usize,
    /// How ties are decided.
    pub tie_rule: TieRule,
    /// What true tails are ranked among.
    pub candidates: CandidatePolicy,
    /// Chooses the candidates where they are sampled.
    pub seed: u64,
}

impl Default for FewShotEvaluation {
    /// Five shots, ties in the middle, the candidates of the task.
    fn default() -> Self {
        Self { shots: 5, tie_rule: TieRule::Realistic, candidates: CandidatePolicy::Typed, seed: 0 }
    }
}

/// Why tasks cannot be evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FewShotError {
    /// A task gives no episode.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// A task has nothing to rank its tails among.
    #[error(
        "the task `{relation}` has no candidates, so every answer would be right. Give it some, leave it out, or \
         rank among all entities"
    )]
    NoCandidates {
        /// The relation.
        relation: String,
    },
    /// A score is not a number.
    #[error(
        "a tail of the task `{relation}` at `{head}` is scored with NaN, which has no rank. The vectors have diverged: \
         train again with a smaller learning rate"
    )]
    NotANumber {
        /// The relation.
        relation: String,
        /// The head.
        head: String,
    },
    /// The model was trained on another support.
    #[error("the task `{relation}`: {source}")]
    Support {
        /// The relation.
        relation: String,
        /// Why the model cannot answer for it.
        source: SupportError,
    },
    /// There is no task to evaluate on.
    #[error("there is no {split} task to evaluate on; choose another split, or cut tasks out of the graph")]
    NoTasks {
        /// The split asked for.
        split: Split,
    },
    /// One number has no spread.
    #[error("1 draw has no standard deviation; draw at least 2 supports, or 0 for none")]
    OneDraw,
    /// Two rows of a card cannot be told apart.
    #[error("two models are called `{name}`; give each row of a card another name")]
    NamedTwice {
        /// The name.
        name: String,
    },
}

impl FewShotEvaluation {
    /// Evaluates a model on all tasks of a split.
    ///
    /// # Errors
    /// If a task has no fact left for a query or no candidates, if the model was trained on another support,
    /// or if a score is NaN.
    pub fn evaluate(
        &self,
        model: &dyn FewShotModel,
        graph: &Graph,
        tasks: &TaskSet,
        split: Split,
        progress: &dyn Observer,
    ) -> Result<FewShotReport, FewShotError> {
        let rankings = TaskRanking::of_split(graph, tasks, split, self.candidates, self.seed)?;
        let episodes = rankings
            .iter()
            .map(|ranking| first_k(&ranking.task, self.shots))
            .collect::<Result<Vec<_>, EpisodeError>>()?;
        let queries = episodes.iter().map(|episode| episode.query.len() as u64).sum();
        progress.begin("ranking", Some(queries), Unit::Facts);
        let ranked: Result<Vec<_>, FewShotError> = rankings
            .iter()
            .zip(&episodes)
            .map(|(ranking, episode)| {
                let ranks = ranking.ranks(model, episode, official_seed(ranking))?;
                progress.advance(ranks.len() as u64);
                Ok((ranking.relation().to_owned(), ranking.candidate_count(), ranks))
            })
            .collect();
        progress.end();
        Ok(FewShotReport::new(split, self.shots, self.tie_rule, &ranked?))
    }
}

/// What chooses the negatives that a model draws for the official support of a task: no seed of
/// the user, so that the official result of a model is one number.
pub(crate) fn official_seed(ranking: &TaskRanking<'_>) -> u64 {
    ranking.task.relation.0.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_models::{ByTable, Diverged};
    use rana_graph::{Duplicates, EntityId, GraphBuilder, Pair, TaskSetBuilder};

    #[test]
    fn no_candidates_and_nan_are_no_perfect_score() {
        let mut graph = GraphBuilder::new(Duplicates::Remove);
        graph.add_named("a", "r", "b");
        graph.add_task_relation("t").unwrap();
        let graph = graph.finish();
        let (a, b, t) = (EntityId(0), EntityId(1), graph.relation("t").unwrap());
        let evaluate = |model: &dyn FewShotModel, candidates: Vec<EntityId>, policy: &str| {
            let mut builder = TaskSetBuilder::default();
            builder.add_task(Split::Test, t, vec![Pair { head: a, tail: b }, Pair { head: b, tail: a }]);
            builder.add_candidates(t, candidates);
            let candidates = policy.parse().unwrap();
            let evaluation = FewShotEvaluation { shots: 1, candidates, ..FewShotEvaluation::default() };
            evaluation.evaluate(model, &graph, &builder.finish(), Split::Test, &())
        };
        let model = ByTable { table: vec![0; 4], entities: 2 };
        let relation = "t".to_owned();
        let none = Err(FewShotError::NoCandidates { relation: relation.clone() });
        assert_eq!(evaluate(&model, vec![], "typed"), none);
        assert_eq!(evaluate(&model, vec![], "sampled:2"), none);
        assert_eq!(evaluate(&model, vec![], "all").unwrap().tasks[0].candidates, 2);
        let expected = FewShotError::NotANumber { relation, head: "b".to_owned() };
        for policy in ["typed", "all", "sampled:1"] {
            assert_eq!(evaluate(&Diverged, vec![a, b], policy), Err(expected.clone()));
        }
        assert_eq!(evaluate(&model, vec![a, b], "typed").unwrap().tasks[0].relation, "t");
    }
}
