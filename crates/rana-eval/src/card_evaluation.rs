//! [`CardSettings`]: how the models of a card are measured, and the measuring.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use rana_embed::link_prediction::{Metrics, Rank, TieRule};
use rana_fewshot::{EpisodeError, FewShotModel, SupportOrder};
use rana_graph::{Graph, Observer, Split, TaskSet, Unit};
use rayon::prelude::*;

use super::row_ranks::RowRanks;
use crate::averages::{Averages, Spread};
use crate::candidate_policy::CandidatePolicy;
use crate::evaluation_card::{
    BaselineRow, CardResult, Common, EvaluationCard, HitsAt, Official, Protocol, Provenance, RelationCard,
    RelationMrr, RelationResampled, Resampled, Ties,
};
use crate::few_shot_evaluation::{FewShotError, official_seed};
use crate::few_shot_report::MacroMetrics;
use crate::peak_memory::peak_memory;
use crate::task_ranking::TaskRanking;

/// A model and the name of its row.
pub type NamedModel<'m> = (&'m str, &'m dyn FewShotModel);

/// How the models of a card are measured.
///
/// ```
/// use rana_eval::CardSettings;
/// use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};
/// use rana_graph::EntityId;
/// # use rana_graph::{Duplicates, GraphBuilder, Pair, Split, TaskSetBuilder};
/// # let mut builder = GraphBuilder::new(Duplicates::Remove);
/// # for n in 0..12 { builder.add_named(&format!("e{n}"), "r", &format!("e{}", (n + 1) % 12)); }
/// # builder.add_task_relation("t").unwrap();
/// # let graph = builder.finish();
/// # let entities: Vec<_> = graph.entities().collect();
/// # let facts = entities.iter().map(|&head| Pair { head, tail: entities[3] }).collect();
/// # let mut builder = TaskSetBuilder::default();
/// # let relation = graph.relation("t").unwrap();
/// # builder.add_task(Split::Test, relation, facts);
/// # builder.add_candidates(relation, entities);
/// # let tasks = builder.finish();
/// /// A model that answers with the tails of the support.
/// struct Copies;
/// struct Tails(Vec<EntityId>);
///
/// impl FewShotModel for Copies {
///     fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
///         Ok(Box::new(Tails(support.pairs.iter().map(|pair| pair.tail).collect())))
///     }
/// }
///
/// impl AdaptedRelation for Tails {
///     fn scores(&self, _: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
///         for (at, score) in out.iter_mut().enumerate() {
///             *score = f32::from(u8::from(self.0.contains(&candidates[at % candidates.len()])));
///         }
///     }
/// }
///
/// let settings = CardSettings { shots: 2, ..CardSettings::default() };
/// let card = settings.evaluate(("copies", &Copies), &[], &graph, &tasks, &())?;
/// assert_eq!(card.result.official.micro.mrr, 1.0);
/// # Ok::<(), rana_eval::FewShotError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardSettings {
    /// The split whose tasks are completed.
    pub split: Split,
    /// Support pairs per task.
    pub shots: usize,
    /// Resampled supports per task: none, or at least 2.
    pub draws: usize,
    /// The largest number of shots that shares its queries; `shots` if lower than that.
    pub common_shots: usize,
    /// What true tails are ranked among.
    pub candidates: CandidatePolicy,
    /// How ties are decided.
    pub tie_rule: TieRule,
    /// Chooses the resampled supports, and the candidates where they are sampled.
    pub seed: u64,
}

impl Default for CardSettings {
    /// The published protocol on the test tasks with five shots, and 20 resampled supports.
    fn default() -> Self {
        Self {
            split: Split::Test,
            shots: 5,
            draws: 20,
            common_shots: 8,
            candidates: CandidatePolicy::Typed,
            tie_rule: TieRule::Realistic,
            seed: 0,
        }
    }
}

impl CardSettings {
    /// Measures a model, and other models to compare it with.
    ///
    /// The numbers depend on the settings, the models and the data alone, not on threads.
    ///
    /// # Errors
    /// If the settings ask for a single draw or for tasks that are not there, if a task has no fact
    /// left for a query or no candidates, if two rows have the same name, if a model was trained on
    /// another official support, or if a score is NaN.
    pub fn evaluate(
        &self,
        subject: NamedModel<'_>,
        others: &[NamedModel<'_>],
        graph: &Graph,
        tasks: &TaskSet,
        progress: &dyn Observer,
    ) -> Result<EvaluationCard, FewShotError> {
        let started = Instant::now();
        self.check(subject, others)?;
        let rankings = TaskRanking::of_split(graph, tasks, self.split, self.candidates, self.seed)?;
        if rankings.is_empty() {
            return Err(FewShotError::NoTasks { split: self.split });
        }
        let mut queries = 0;
        for ranking in &rankings {
            queries += SupportOrder::official(&ranking.task).episode(self.shots)?.query.len() as u64;
        }
        let rows = 1 + others.len() as u64;
        progress.begin("ranking", Some(queries * rows * (1 + self.draws as u64)), Unit::Facts);
        let measured = self.rank(subject.1, &rankings, progress).and_then(|subject| {
            let others = others.iter().map(|(_, model)| self.rank(*model, &rankings, progress));
            Ok((subject, others.collect::<Result<Vec<_>, _>>()?))
        });
        progress.end();
        let (subject_ranks, other_ranks) = measured?;
        let baselines = others.iter().zip(&other_ranks).map(|((name, _), ranks)| BaselineRow {
            name: (*name).to_owned(),
            result: self.result(ranks, &rankings),
            per_relation: self.relation_mrrs(ranks, &rankings),
        });
        Ok(EvaluationCard {
            model: subject.0.to_owned(),
            protocol: Protocol {
                split: self.split,
                shots: self.shots,
                tie_rule: self.tie_rule,
                candidates: self.candidates,
                filter: "known tails are left out",
                draws: self.draws,
                common_shots: self.common_shots.max(self.shots),
                seed: self.seed,
                tasks: rankings.len(),
                queries,
            },
            result: self.result(&subject_ranks, &rankings),
            per_relation: self.relation_cards(&subject_ranks, &rankings),
            baselines: baselines.collect(),
            confidence: None,
            provenance: Provenance {
                graph: format!("{:016x}", graph.fingerprint()),
                version: env!("CARGO_PKG_VERSION"),
                seconds: started.elapsed().as_secs_f64(),
                peak_memory_bytes: peak_memory(),
                details: BTreeMap::new(),
            },
        })
    }

    pub(crate) fn check(
        &self,
        subject: NamedModel<'_>,
        others: &[NamedModel<'_>],
    ) -> Result<(), FewShotError> {
        if self.shots == 0 {
            return Err(EpisodeError::NoShots.into());
        }
        if self.draws == 1 {
            return Err(FewShotError::OneDraw);
        }
        let mut names = HashSet::from([subject.0]);
        match others.iter().find(|(name, _)| !names.insert(name)) {
            Some((name, _)) => Err(FewShotError::NamedTwice { name: (*name).to_owned() }),
            None => Ok(()),
        }
    }

    /// Ranks the queries of every task behind every support.
    pub(crate) fn rank(
        &self,
        model: &dyn FewShotModel,
        rankings: &[TaskRanking<'_>],
        progress: &dyn Observer,
    ) -> Result<RowRanks, FewShotError> {
        let of_draw = |draw: Option<u64>| rankings.iter().map(move |ranking| (draw, ranking));
        let jobs: Vec<_> = of_draw(None).chain((0..self.draws as u64).map(Some).flat_map(of_draw)).collect();
        let ranked: Vec<Result<Vec<Rank>, FewShotError>> = jobs
            .into_par_iter()
            .map(|(draw, ranking)| {
                let order = match draw {
                    None => SupportOrder::official(&ranking.task),
                    Some(draw) => SupportOrder::resampled(&ranking.task, self.seed, draw),
                };
                // Every support has negatives of its own.
                let seed = official_seed(ranking) | draw.map_or(0, |draw| draw + 1) << 32;
                let episode = order.episode(self.shots)?;
                let ranks = ranking.ranks(model, &episode, seed);
                progress.advance(episode.query.len() as u64);
                ranks
            })
            .collect();
        let mut ranked = ranked.into_iter();
        let official = ranked.by_ref().take(rankings.len()).collect::<Result<Vec<_>, _>>()?;
        // A model that was trained on the official supports still has its official result.
        match ranked.collect::<Result<Vec<_>, _>>() {
            Ok(ranked) => {
                let draws = ranked.chunks(rankings.len()).map(<[_]>::to_vec).collect();
                Ok(RowRanks { official, draws, not_resampled: None })
            }
            Err(FewShotError::Support { source, .. }) => {
                Ok(RowRanks { official, draws: Vec::new(), not_resampled: Some(source) })
            }
            Err(error) => Err(error),
        }
    }

    fn result(&self, ranks: &RowRanks, rankings: &[TaskRanking<'_>]) -> CardResult {
        let whole = ranks.view(0);
        // The true tail need not be among the candidates.
        let largest = rankings.iter().map(TaskRanking::candidate_count).max().unwrap_or(0) as u64 + 1;
        CardResult {
            official: self.official(&whole.official),
            resampled: self.resampled(&whole.draws),
            draw_mrrs: whole.draws.iter().map(|draw| self.metrics(&draw.concat()).mrr).collect(),
            not_resampled: ranks.not_resampled.map(|reason| reason.to_string()),
            common: self.common(ranks),
            hits_curve: self.hits_curve(&whole.official, largest),
        }
    }

    fn official(&self, ranks: &[&[Rank]]) -> Official {
        let (micro, macro_average) = self.averages(ranks);
        let by = |rule| Averages::from(&Metrics::of(ranks.concat(), rule));
        let ties = Ties {
            optimistic: by(TieRule::Optimistic),
            realistic: by(TieRule::Realistic),
            pessimistic: by(TieRule::Pessimistic),
            tied_queries: micro.tied_queries,
            tied_candidates: micro.ties,
        };
        Official { micro, macro_average, ties }
    }

    fn averages(&self, ranks: &[&[Rank]]) -> (Metrics, MacroMetrics) {
        let by_task: Vec<Metrics> = ranks.iter().map(|ranks| self.metrics(ranks)).collect();
        (self.metrics(&ranks.concat()), MacroMetrics::of(&by_task))
    }

    fn metrics(&self, ranks: &[Rank]) -> Metrics {
        Metrics::of(ranks.iter().copied(), self.tie_rule)
    }

    fn resampled(&self, draws: &[Vec<&[Rank]>]) -> Option<Resampled> {
        let averages: Vec<_> = draws.iter().map(|ranks| self.averages(ranks)).collect();
        let micro: Vec<Averages> = averages.iter().map(|(micro, _)| micro.into()).collect();
        let by_task: Vec<Averages> = averages.iter().map(|(_, by_task)| by_task.into()).collect();
        (!draws.is_empty()).then(|| Resampled {
            draws: draws.len(),
            micro: Averages::of(&micro),
            macro_average: Averages::of(&by_task),
        })
    }

    /// The queries that are in no support of up to `common_shots` facts are the last ones of every
    /// order, so they need no ranking of their own.
    fn common(&self, ranks: &RowRanks) -> Option<Common> {
        let common = ranks.view(self.common_shots.saturating_sub(self.shots));
        let tasks = common.official.len();
        (tasks > 0).then(|| {
            let official = self.official(&common.official);
            Common {
                tasks,
                left_out: ranks.official.len() - tasks,
                queries: official.micro.queries,
                resampled: self.resampled(&common.draws),
                official,
            }
        })
    }

    fn hits_curve(&self, ranks: &[&[Rank]], largest: u64) -> Vec<HitsAt> {
        let mut places: Vec<f64> = ranks.concat().iter().map(|rank| rank.by(self.tie_rule)).collect();
        places.sort_unstable_by(f64::total_cmp);
        let within = |k: u64| places.partition_point(|&place| place <= k as f64);
        let at = |k| HitsAt { k, hits: within(k) as f64 / places.len() as f64 };
        let steps =
            (0..).flat_map(|power| [10, 12, 15, 20, 25, 30, 40, 50, 60, 80].map(|step| (step, power)));
        let beyond = steps.map(|(step, power)| step * 10_u64.pow(power)).take_while(|&k| k < largest);
        (1..largest.min(10)).chain(beyond).chain([largest]).map(at).collect()
    }

    fn relation_cards(&self, ranks: &RowRanks, rankings: &[TaskRanking<'_>]) -> Vec<RelationCard> {
        let card = |(task, ranking): (usize, &TaskRanking<'_>)| {
            let official = self.metrics(&ranks.official[task]);
            let mrrs: Vec<f64> = ranks.draws.iter().map(|draw| self.metrics(&draw[task]).mrr).collect();
            RelationCard {
                relation: ranking.relation().to_owned(),
                label: ranking.label().map(str::to_owned),
                candidates: ranking.candidate_count(),
                queries: official.queries,
                official: (&official).into(),
                resampled: (!mrrs.is_empty())
                    .then(|| RelationResampled { mrr: Spread::of(mrrs.iter().copied()) }),
            }
        };
        rankings.iter().enumerate().map(card).collect()
    }

    fn relation_mrrs(&self, ranks: &RowRanks, rankings: &[TaskRanking<'_>]) -> Vec<RelationMrr> {
        let mrr = |(ranking, ranks): (&TaskRanking<'_>, &Vec<Rank>)| RelationMrr {
            relation: ranking.relation().to_owned(),
            mrr: self.metrics(ranks).mrr,
        };
        rankings.iter().zip(&ranks.official).map(mrr).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_models::{ByTable, Copies, Popularity};
    use proptest::prelude::*;
    use rana_graph::{Duplicates, GraphBuilder, LabelRank, Pair, TaskSetBuilder};

    /// Where towns lie (ten facts) and what they produce (four), among six candidates.
    fn benchmark() -> (Graph, TaskSet) {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for n in 0..10 {
            builder.add_named(&format!("town{n}"), "near", &format!("town{}", (n + 1) % 10));
        }
        for answer in ["a", "b", "c", "d", "e", "f"] {
            builder.add_named(answer, "near", "town0");
        }
        builder.add_label("lies_in", "lies in", LabelRank::Wanted);
        for task in ["lies_in", "produces"] {
            builder.add_task_relation(task).unwrap();
        }
        let graph = builder.finish();
        let id = |name: &str| graph.entity(name).unwrap();
        let facts = |tails: &str| {
            let pair = |(n, tail): (usize, char)| Pair {
                head: id(&format!("town{n}")),
                tail: id(&tail.to_string()),
            };
            tails.chars().enumerate().map(pair).collect::<Vec<Pair>>()
        };
        let mut builder = TaskSetBuilder::default();
        for (relation, tails) in [("lies_in", "aababcabab"), ("produces", "abcd")] {
            let relation = graph.relation(relation).unwrap();
            builder.add_task(Split::Test, relation, facts(tails));
            builder.add_candidates(relation, ["a", "b", "c", "d", "e", "f"].map(id).to_vec());
        }
        builder.filter_from_tasks();
        (graph, builder.finish())
    }

    fn card(settings: CardSettings) -> EvaluationCard {
        let (graph, tasks) = benchmark();
        let (copy, popularity) = (Copies, Popularity(graph.clone()));
        let others: [NamedModel<'_>; 1] = [("popularity", &popularity)];
        settings.evaluate(("copy", &copy), &others, &graph, &tasks, &()).unwrap()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn the_official_numbers_of_copying_are_those_computed_by_hand() {
        let card = card(CardSettings { shots: 3, draws: 0, common_shots: 5, ..CardSettings::default() });
        // lies_in: the support has a twice and b once. Queries a b c a b a b: a is first, b second,
        // and c shares the last four places with d, e and f: rank 3 to 6, in the middle 4.5.
        // produces: the support is a b c; d shares the last three with e and f: rank 4 to 6, 5.
        let first: [f64; 7] = [1.0, 2.0, 4.5, 1.0, 2.0, 1.0, 2.0];
        let sum: f64 = first.iter().map(|rank| rank.recip()).sum();
        let official = &card.result.official;
        close(official.micro.mrr, (sum + 0.2) / 8.0);
        close(official.macro_average.mrr, (sum / 7.0 + 0.2) / 2.0);
        close(official.micro.hits_at_1, 3.0 / 8.0);
        close(official.macro_average.hits_at_1, 3.0 / 14.0);
        close(official.micro.hits_at_5, 1.0);
        let ties = official.ties;
        assert_eq!((ties.tied_queries, ties.tied_candidates), (2, 5));
        close(ties.optimistic.mrr, (4.5 + 1.0 / 3.0 + 0.25) / 8.0);
        close(ties.realistic.mrr, official.micro.mrr);
        close(ties.pessimistic.mrr, (4.5 + 1.0 / 6.0 + 1.0 / 6.0) / 8.0);
        close(ties.pessimistic.hits_at_5, 6.0 / 8.0);
        assert_eq!(card.result.resampled, None);
        // Without the first two queries, lies_in has five left and produces none.
        let common = card.result.common.as_ref().unwrap();
        assert_eq!((common.tasks, common.left_out, common.queries), (1, 1, 5));
        close(common.official.micro.mrr, (1.0 / 4.5 + 1.0 + 0.5 + 1.0 + 0.5) / 5.0);
        let [lies_in, produces] = &card.per_relation[..] else { panic!("two tasks") };
        assert_eq!((lies_in.queries, lies_in.candidates, lies_in.label.as_deref()), (7, 6, Some("lies in")));
        assert_eq!((produces.official.mrr, produces.label.as_deref()), (0.2, None));
        // Ranks 1 1 1 2 2 2 4.5 5.
        let curve: Vec<(u64, f64)> = card.result.hits_curve.iter().map(|at| (at.k, at.hits * 8.0)).collect();
        assert_eq!(curve, [(1, 3.0), (2, 6.0), (3, 6.0), (4, 6.0), (5, 8.0), (6, 8.0), (7, 8.0)]);
        assert_eq!(card.protocol.queries, 8);
    }

    #[test]
    fn resampled_numbers_are_those_of_single_draws() {
        let settings =
            CardSettings { shots: 2, draws: 5, common_shots: 3, seed: 9, ..CardSettings::default() };
        let card = card(settings);
        let (graph, tasks) = benchmark();
        let copy = Copies;
        let rankings = TaskRanking::of_split(&graph, &tasks, Split::Test, CandidatePolicy::Typed, 9).unwrap();
        let (mut whole, mut common) = (Vec::new(), Vec::new());
        for draw in 0..5 {
            let ranks = |most_shots: usize| {
                let of_task = |ranking: &TaskRanking<'_>| {
                    let order = SupportOrder::resampled(&ranking.task, 9, draw);
                    ranking.ranks(&copy, &order.episode_common(2, most_shots).unwrap(), 0).unwrap()
                };
                rankings.iter().flat_map(of_task).collect::<Vec<_>>()
            };
            let mrr = |ranks: Vec<Rank>| Metrics::of(ranks, TieRule::Realistic).mrr;
            whole.push(mrr(ranks(2)));
            common.push(mrr(ranks(3)));
        }
        assert!(whole.iter().any(|mrr| *mrr != whole[0]), "the draws differ: {whole:?}");
        let expect = |resampled: Option<Resampled>, mrrs: &[f64]| {
            let resampled = resampled.unwrap();
            let mean = mrrs.iter().sum::<f64>() / 5.0;
            let variance = mrrs.iter().map(|mrr| (mrr - mean) * (mrr - mean)).sum::<f64>() / 4.0;
            assert_eq!(resampled.draws, 5);
            close(resampled.micro.mrr.mean, mean);
            close(resampled.micro.mrr.sd, variance.sqrt());
        };
        expect(card.result.resampled, &whole);
        expect(card.result.common.unwrap().resampled, &common);
        assert!(card.per_relation[0].resampled.unwrap().mrr.sd > 0.0);
    }

    #[test]
    fn the_json_has_the_promised_keys() {
        let json = serde_json::to_value(card(CardSettings { shots: 2, ..CardSettings::default() })).unwrap();
        let numbers = [
            "/official/micro/mrr",
            "/official/micro/hits1",
            "/official/micro/hits5",
            "/official/micro/hits10",
            "/official/macro/mrr",
            "/official/macro/hits1",
            "/official/macro/hits5",
            "/official/macro/hits10",
            "/official/ties/optimistic/mrr",
            "/official/ties/realistic/hits1",
            "/official/ties/pessimistic/hits10",
            "/official/ties/tied_queries",
            "/resampled/draws",
            "/resampled/micro/mrr/mean",
            "/resampled/micro/mrr/sd",
            "/resampled/macro/hits10/sd",
            "/common/official/micro/mrr",
            "/common/resampled/micro/mrr/sd",
            "/common/left_out",
            "/per_relation/0/official/mrr",
            "/per_relation/0/resampled/mrr/sd",
            "/baselines/popularity/official/micro/mrr",
            "/baselines/popularity/per_relation/1/mrr",
            "/provenance/seconds",
        ];
        for key in numbers {
            assert!(json.pointer(key).is_some_and(serde_json::Value::is_number), "{key} in {json:#}");
        }
        assert_eq!(json["protocol"]["candidates"], "typed");
        assert_eq!(json["per_relation"][0]["relation"], "lies_in");
    }

    #[test]
    fn settings_that_mean_nothing_are_refused() {
        let (graph, tasks) = benchmark();
        let copy = Copies;
        let evaluate = |settings: CardSettings, other: &str| {
            settings.evaluate(("copy", &copy), &[(other, &copy)], &graph, &tasks, &()).unwrap_err()
        };
        let default = CardSettings { shots: 2, ..CardSettings::default() };
        let twice = FewShotError::NamedTwice { name: "copy".to_owned() };
        assert_eq!(evaluate(default, "copy"), twice);
        assert_eq!(evaluate(CardSettings { draws: 1, ..default }, "other"), FewShotError::OneDraw);
        assert_eq!(evaluate(CardSettings { shots: 0, ..default }, "other"), EpisodeError::NoShots.into());
        let no_tasks = FewShotError::NoTasks { split: Split::Dev };
        assert_eq!(evaluate(CardSettings { split: Split::Dev, ..default }, "other"), no_tasks);
        // The second task has four facts only.
        assert!(matches!(
            evaluate(CardSettings { shots: 4, ..default }, "other"),
            FewShotError::Episode(EpisodeError::TooFewFacts { facts: 4, .. })
        ));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_card_depends_on_no_thread_and_its_tie_rules_are_in_order(
            table in prop::collection::vec(0u8..4, 16 * 16),
            policy in prop::sample::select(vec!["typed", "all", "sampled:3"]),
            seed in 0..100_u64,
        ) {
            let (graph, tasks) = benchmark();
            let model = ByTable { table, entities: 16 };
            let settings = CardSettings {
                shots: 2, draws: 3, common_shots: 3, candidates: policy.parse().unwrap(), seed,
                ..CardSettings::default()
            };
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let card = pool.install(|| settings.evaluate(("model", &model), &[], &graph, &tasks, &()));
                let card = card.unwrap();
                // Time and memory are no result.
                EvaluationCard { provenance: Provenance::default(), ..card }
            };
            let card = on(1);
            prop_assert_eq!(&on(3), &card);
            let Ties { optimistic, realistic, pessimistic, .. } = card.result.official.ties;
            prop_assert!(optimistic.mrr >= realistic.mrr && realistic.mrr >= pessimistic.mrr);
            prop_assert!(optimistic.hits_at_1 >= realistic.hits_at_1);
            prop_assert!(realistic.hits_at_1 >= pessimistic.hits_at_1);
            let curve = &card.result.hits_curve;
            prop_assert!(curve.is_sorted_by(|a, b| a.k < b.k && a.hits <= b.hits));
            prop_assert_eq!(curve.last().unwrap().hits, 1.0);
            prop_assert_eq!(curve[0].hits, card.result.official.micro.hits_at_1);
        }
    }
}
