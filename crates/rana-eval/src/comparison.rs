//! [`Comparison`]: two models side by side, relation by relation and query by query.
//!
//! A difference of two means says that something changed, not where. Here the difference of the MRR over all queries is
//! the sum of what each relation contributes to it, and of what each kind of query contributes.

use std::collections::HashSet;

use rana_embed::link_prediction::{Metrics, Rank, TieRule};
use rana_fewshot::SupportOrder;
use rana_graph::{EntityId, Graph, Observer, Pair, Split, TaskSet, Unit};
use serde::Serialize;

use crate::averages::Spread;
use crate::card_evaluation::{CardSettings, NamedModel};
use crate::few_shot_evaluation::FewShotError;
use crate::row_ranks::RowRanks;
use crate::task_ranking::TaskRanking;

/// Two models on the tasks of a split. Numbers in pairs are those of the first and of the second model; a gain is what the
/// first has more than the second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The names of the models.
    pub models: [String; 2],
    /// The split the tasks are of.
    pub split: Split,
    /// Support pairs per task.
    pub shots: usize,
    /// How ties are decided.
    pub tie_rule: TieRule,
    /// All queries.
    #[serde(flatten)]
    pub total: ComparedQueries,
    /// The gain in MRR over all queries on random supports; draws are the same for both models. None if there are none.
    pub resampled_gain: Option<Spread>,
    /// Each relation, from the largest contribution to the total gain to the largest loss.
    pub relations: Vec<ComparedRelation>,
    /// The queries by what joins their head and tail beside the asked relation.
    pub kinds: Vec<ComparedKind>,
}

/// Two models on some queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ComparedQueries {
    /// How many there are.
    pub queries: u64,
    /// The mean reciprocal ranks.
    pub mrr: [f64; 2],
    /// The shares of ranks up to 10.
    #[serde(rename = "hits10")]
    pub hits_at_10: [f64; 2],
    /// How many queries the first model ranks better, and how many worse.
    pub better: u64,
    /// See `better`.
    pub worse: u64,
    /// What these queries contribute to the gain in MRR over all queries.
    pub contribution: f64,
}

/// Two models on a relation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRelation {
    /// The relation.
    pub relation: String,
    /// Its label, if it has one.
    pub label: Option<String>,
    /// Its queries.
    #[serde(flatten)]
    pub queries: ComparedQueries,
    /// The gain in MRR on random supports.
    pub resampled_gain: Option<Spread>,
    /// Each query, from the largest change of the reciprocal rank to the smallest.
    #[serde(skip)]
    pub changes: Vec<QueryChange>,
}

/// Two models on one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryChange {
    /// Head and right tail.
    pub pair: Pair,
    /// The ranks of the right tail.
    pub ranks: [f64; 2],
    /// The gain in the reciprocal rank.
    pub gain: f64,
    /// What joins head and tail beside the asked relation.
    pub kind: QueryKind,
}

/// What joins the head and the right tail of a query beside the asked relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryKind {
    /// The background has an edge between them.
    Neighbour,
    /// There is none, but the tail is a tail of the support.
    RepeatedTail,
    /// Neither.
    Other,
}

impl QueryKind {
    const ALL: [Self; 3] = [Self::Neighbour, Self::RepeatedTail, Self::Other];

    /// The kind of a query, by the tails of its support.
    pub(crate) fn of(graph: &Graph, pair: Pair, tails: &HashSet<EntityId>) -> Self {
        if graph.neighbours(pair.head).iter().any(|edge| edge.entity == pair.tail) {
            Self::Neighbour
        } else if tails.contains(&pair.tail) {
            Self::RepeatedTail
        } else {
            Self::Other
        }
    }

    /// For people.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Neighbour => "the tail is a neighbour of the head",
            Self::RepeatedTail => "the tail is one of the support",
            Self::Other => "other queries",
        }
    }
}

/// Two models on the queries of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparedKind {
    /// The kind.
    pub kind: QueryKind,
    /// Its queries.
    #[serde(flatten)]
    pub queries: ComparedQueries,
}

impl CardSettings {
    /// Compares two models on the official supports, and on random ones if the settings ask for some.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn compare(
        &self,
        models: [NamedModel<'_>; 2],
        graph: &Graph,
        tasks: &TaskSet,
        observer: &dyn Observer,
    ) -> Result<Comparison, FewShotError> {
        self.check(models[0], &models[1..])?;
        let rankings = TaskRanking::of_split(graph, tasks, self.split, self.candidates, self.seed)?;
        if rankings.is_empty() {
            return Err(FewShotError::NoTasks { split: self.split });
        }
        let mut episodes = Vec::new();
        for ranking in &rankings {
            episodes.push(SupportOrder::official(&ranking.task).episode(self.shots)?);
        }
        let queries: u64 = episodes.iter().map(|episode| episode.query.len() as u64).sum();
        observer.begin("ranking", Some(2 * queries * (1 + self.draws as u64)), Unit::Facts);
        let rank = |of: usize| self.rank(models[of].1, &rankings, observer);
        let ranks = rank(0).and_then(|one| Ok([one, rank(1)?]));
        observer.end();
        let ranks = ranks?;

        let mut relations = Vec::new();
        for (at, (ranking, episode)) in rankings.iter().zip(&episodes).enumerate() {
            let tails: HashSet<EntityId> = episode.support.iter().map(|pair| pair.tail).collect();
            let changes = episode.query.iter().enumerate().map(|(query, &pair)| {
                let of = [0, 1].map(|model| self.place(ranks[model].official[at][query]));
                QueryChange {
                    pair,
                    ranks: of,
                    gain: 1.0 / of[0] - 1.0 / of[1],
                    kind: QueryKind::of(graph, pair, &tails),
                }
            });
            let mut changes: Vec<QueryChange> = changes.collect();
            changes.sort_by(|one, other| other.gain.abs().total_cmp(&one.gain.abs()));
            relations.push(ComparedRelation {
                relation: ranking.relation().to_owned(),
                label: ranking.label().map(str::to_owned),
                queries: ComparedQueries::of(&changes, queries),
                resampled_gain: self.resampled_gain(&ranks, |draw| draw[at].clone()),
                changes,
            });
        }
        let all: Vec<QueryChange> = relations.iter().flat_map(|of| of.changes.iter().copied()).collect();
        relations.sort_by(|one, other| other.queries.contribution.total_cmp(&one.queries.contribution));
        let kinds = QueryKind::ALL.map(|kind| {
            let own: Vec<QueryChange> = all.iter().copied().filter(|change| change.kind == kind).collect();
            ComparedKind { kind, queries: ComparedQueries::of(&own, queries) }
        });
        Ok(Comparison {
            models: models.map(|(name, _)| name.to_owned()),
            split: self.split,
            shots: self.shots,
            tie_rule: self.tie_rule,
            total: ComparedQueries::of(&all, queries),
            resampled_gain: self.resampled_gain(&ranks, |draw| draw.concat()),
            relations,
            kinds: kinds.into_iter().filter(|of| of.queries.queries > 0).collect(),
        })
    }

    fn place(&self, rank: Rank) -> f64 {
        rank.by(self.tie_rule)
    }

    /// The gain in MRR, draw by draw, of some of the ranks.
    fn resampled_gain(
        &self,
        ranks: &[RowRanks; 2],
        some: impl Fn(&[Vec<Rank>]) -> Vec<Rank>,
    ) -> Option<Spread> {
        let mrr = |draw: &[Vec<Rank>]| Metrics::of(some(draw), self.tie_rule).mrr;
        let [one, other] = ranks;
        let gains: Vec<f64> =
            one.draws.iter().zip(&other.draws).map(|(one, other)| mrr(one) - mrr(other)).collect();
        (!gains.is_empty()).then(|| Spread::of(gains.iter().copied()))
    }
}

impl ComparedQueries {
    /// Some of `all` queries.
    fn of(changes: &[QueryChange], all: u64) -> Self {
        let count = changes.len() as f64;
        let mean = |of: &dyn Fn(&QueryChange) -> f64| changes.iter().map(of).sum::<f64>() / count.max(1.0);
        let number =
            |of: &dyn Fn(&QueryChange) -> bool| changes.iter().filter(|change| of(change)).count() as u64;
        Self {
            queries: changes.len() as u64,
            mrr: [0, 1].map(|model| mean(&|change| 1.0 / change.ranks[model])),
            hits_at_10: [0, 1].map(|model| mean(&|change| f64::from(u8::from(change.ranks[model] <= 10.0)))),
            better: number(&|change| change.gain > 0.0),
            worse: number(&|change| change.gain < 0.0),
            contribution: changes.iter().map(|change| change.gain).sum::<f64>() / all.max(1) as f64,
        }
    }

    /// What the first model has more in MRR.
    #[must_use]
    pub fn gain(&self) -> f64 {
        self.mrr[0] - self.mrr[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_models::{Copies, Popularity};
    use rana_graph::{Duplicates, GraphBuilder, TaskSetBuilder};

    /// Two relations: the tails of `same` are those of its support, the tails of `near` are neighbours of the head.
    fn benchmark() -> (Graph, TaskSet) {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for n in 0..10 {
            builder.add_named(&format!("a{n}"), "r", &format!("b{n}"));
        }
        // The most popular entity is not an answer of any query.
        for n in 0..9 {
            builder.add_named("hub", "r", &format!("a{n}"));
        }
        builder.add_task_relation("same").unwrap();
        builder.add_task_relation("near").unwrap();
        let graph = builder.finish();
        let entity = |name: &str| graph.entity(name).unwrap();
        let pair = |head: &str, tail: &str| Pair { head: entity(head), tail: entity(tail) };
        let mut tasks = TaskSetBuilder::default();
        let same = (0..6).map(|n| pair(&format!("a{n}"), if n % 2 == 0 { "a8" } else { "a9" })).collect();
        let near = (0..4).map(|n| pair(&format!("a{n}"), &format!("b{n}"))).collect();
        for (name, facts) in [("same", same), ("near", near)] {
            let relation = graph.relation(name).unwrap();
            tasks.add_task(Split::Test, relation, facts);
            tasks.add_candidates(relation, graph.entities().collect());
        }
        tasks.filter_from_tasks();
        (graph, tasks.finish())
    }

    #[test]
    fn contributions_add_up_and_each_query_has_a_kind() {
        let (graph, tasks) = benchmark();
        let settings = CardSettings { shots: 2, draws: 3, ..CardSettings::default() };
        let popularity = Popularity(graph.clone());
        let models: [NamedModel<'_>; 2] = [("copies", &Copies), ("popularity", &popularity)];
        let compared = settings.compare(models, &graph, &tasks, &()).unwrap();
        // Each model alone has the same numbers on its card.
        for (at, model) in models.into_iter().enumerate() {
            let card = settings.evaluate(model, &[], &graph, &tasks, &()).unwrap();
            assert!((card.result.official.micro.mrr - compared.total.mrr[at]).abs() < 1e-12);
            assert!((card.result.official.micro.hits_at_10 - compared.total.hits_at_10[at]).abs() < 1e-12);
        }
        assert_eq!(compared.total.queries, 6);
        let sums = [
            compared.relations.iter().map(|of| of.queries.contribution).sum::<f64>(),
            compared.kinds.iter().map(|of| of.queries.contribution).sum::<f64>(),
            compared.total.contribution,
        ];
        assert!(sums.iter().all(|sum| (sum - compared.total.gain()).abs() < 1e-12), "{sums:?}");
        // Copying gains where tails come again, and loses nothing elsewhere but ties.
        assert_eq!(compared.relations[0].relation, "same");
        let kinds: Vec<QueryKind> = compared.kinds.iter().map(|of| of.kind).collect();
        assert_eq!(kinds, [QueryKind::Neighbour, QueryKind::RepeatedTail]);
        let repeated = compared.kinds[1].queries;
        assert_eq!((repeated.queries, repeated.better, repeated.worse), (4, 4, 0));
        assert!(compared.resampled_gain.unwrap().mean > 0.0);
        let changes = &compared.relations[0].changes;
        assert!(changes.is_sorted_by(|one, other| one.gain.abs() >= other.gain.abs()), "{changes:?}");
    }

    #[test]
    fn a_model_gains_nothing_over_itself() {
        let (graph, tasks) = benchmark();
        let settings = CardSettings { shots: 2, draws: 2, ..CardSettings::default() };
        let compared = settings.compare([("one", &Copies), ("other", &Copies)], &graph, &tasks, &()).unwrap();
        assert_eq!((compared.total.better, compared.total.worse, compared.total.contribution), (0, 0, 0.0));
        assert_eq!(compared.resampled_gain, Some(Spread::default()));
    }
}
