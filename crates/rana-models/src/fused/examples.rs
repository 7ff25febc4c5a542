//! [`Examples`]: supports and queries of tasks, from which it is learned how far each source is to be trusted.

use rana_fewshot::{Support, SupportError, SupportOrder};
use rana_graph::{EntityId, Pair, Task, TaskSet};
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::config::FusedConfig;
use super::evidence::{Evidence, Values};
use super::evidence_kind::EvidenceKind;
use super::evidence_matrix::evidence_matrix;
use super::example::{Example, ExampleQuery};
use super::likelihood_fit::{Prior, fit};
use super::prior::{prior, prior_strength};
use super::sources::Sources;
use super::support_record::support_records;
use super::trust::{TERMS, Trust, TrustedSource};
use crate::seed::{Purpose, rng};

/// Supports and queries of tasks with what each source says of them, from which trust is learned.
pub struct Examples {
    kinds: Vec<EvidenceKind>,
    config: FusedConfig,
    /// How many tasks they are of.
    tasks: usize,
    examples: Vec<Example>,
}

impl Examples {
    /// Gathers the examples of tasks, with sources that know none of their facts.
    ///
    /// A task with too few facts for a size of support gives no example of that size.
    ///
    /// # Errors
    /// If a source cannot answer for a support.
    pub fn gather(
        config: &FusedConfig,
        sources: &Sources,
        tasks: &TaskSet,
        of: &[Task<'_>],
    ) -> Result<Self, SupportError> {
        let kinds: Vec<EvidenceKind> =
            sources.kinds().filter(|kind| config.evidence.contains(kind)).collect();
        let mut plans = Vec::new();
        for task in of {
            for &shots in &config.shots {
                plans.extend((0..config.draws).map(|draw| (task, shots, draw)));
            }
        }
        let builder = ExampleBuilder { config, sources, tasks, kinds: &kinds };
        let examples: Result<Vec<Option<Example>>, SupportError> =
            plans.par_iter().map(|&(task, shots, draw)| builder.example(task, shots, draw)).collect();
        let per_task = config.shots.len() * config.draws;
        let examples = examples?;
        let tasks = examples.chunks(per_task).filter(|of| of.iter().any(Option::is_some)).count();
        let examples = examples.into_iter().flatten().collect();
        Ok(Self { kinds: kinds.clone(), config: config.clone(), tasks, examples })
    }

    /// Whether there is none to learn from.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }

    /// Learns from all examples how far each source is to be trusted, if only those of `evidence` are used. A source
    /// that never says anything is left out.
    ///
    /// # Panics
    /// If `all` is empty, or its examples are about different sources.
    #[must_use]
    pub fn learn(all: &[&Self], evidence: &[EvidenceKind]) -> Vec<TrustedSource> {
        let kinds = &all[0].kinds;
        assert!(all.iter().all(|other| other.kinds == *kinds), "examples are about the same sources");
        let examples: Vec<&Example> = all.iter().flat_map(|of| &of.examples).collect();
        let says_something = |at: usize| {
            let values = |query: &ExampleQuery| {
                let mut values = query.rows.iter().skip(at).step_by(kinds.len());
                let first = values.next();
                values.any(|value| Some(value) != first)
            };
            examples.par_iter().any(|example| example.queries.iter().any(values))
        };
        let used: Vec<usize> =
            (0..kinds.len()).filter(|&at| evidence.contains(&kinds[at]) && says_something(at)).collect();
        let chosen: Vec<Example> =
            examples.par_iter().map(|example| example.of_sources(&used, kinds.len())).collect();
        let chosen: Vec<&Example> = chosen.iter().collect();
        let scales = scales(&chosen, used.len());
        let config = &all[0].config;
        let of_source = |(&source, &scale): (&usize, &f32)| match config.prior_tasks > 0.0 {
            true => prior(kinds[source]).map(|of| of * f64::from(scale)),
            false => [0.0; TERMS],
        };
        let mean = used.iter().zip(&scales).flat_map(of_source).collect();
        let tasks = all.iter().map(|of| of.tasks).sum();
        let base = config.price(tasks);
        let of_source = |(&source, &scale): (&usize, &f32)| match config.prior_tasks > 0.0 {
            true => base.map(|price| price * prior_strength(kinds[source], scale)),
            false => base,
        };
        let price = used.iter().zip(&scales).flat_map(of_source).collect();
        let never_against =
            |source: usize| config.against_price > 0.0 && kinds[source].compares_with_support();
        let against = used
            .iter()
            .map(|&source| if never_against(source) { config.against_price } else { 0.0 })
            .collect();
        let likely = fit(&chosen, &scales, &Prior { mean, price, against });
        let learned = config.rank_fit().from(likely, &chosen, &scales);
        used.iter()
            .zip(learned.chunks_exact(TERMS))
            .zip(&scales)
            .map(|((&source, terms), &scale)| {
                let terms: Vec<f64> = terms.iter().map(|term| term / f64::from(scale)).collect();
                TrustedSource {
                    evidence: kinds[source],
                    trust: Trust::of_terms(&terms),
                    never_against: never_against(source),
                }
            })
            .collect()
    }
}

/// What is believed of sources before any example is seen.
#[must_use]
pub fn prior_trust(kinds: impl IntoIterator<Item = EvidenceKind>) -> Vec<TrustedSource> {
    kinds
        .into_iter()
        .map(|evidence| TrustedSource {
            evidence,
            trust: Trust::of_terms(&prior(evidence)),
            never_against: evidence.compares_with_support(),
        })
        .collect()
}

impl Example {
    /// The same example with some of the sources only.
    fn of_sources(&self, used: &[usize], count: usize) -> Self {
        fn pick<T: Copy>(row: &[T], used: &[usize]) -> Vec<T> {
            used.iter().map(|&source| row[source]).collect()
        }
        let queries = self.queries.iter().map(|query| ExampleQuery {
            rows: query.rows.chunks_exact(count).flat_map(|row| pick(row, used)).collect(),
            stands_for: query.stands_for.clone(),
        });
        Self { records: pick(&self.records, used), shots: self.shots, queries: queries.collect() }
    }
}

/// The mean deviation of each source among the candidates of a query: its values are divided by this.
fn scales(examples: &[&Example], sources: usize) -> Vec<f32> {
    let mut sums = vec![0.0_f64; sources];
    let mut count = 0.0;
    for (example, query) in
        examples.iter().flat_map(|example| example.queries.iter().map(move |query| (example, query)))
    {
        let rows = query.stands_for.len() as f64;
        for (source, sum) in sums.iter_mut().enumerate() {
            let spread = f64::from(example.records[source].spread);
            let values = || query.rows.iter().skip(source).step_by(sources).map(|&value| f64::from(value));
            let mean = values().sum::<f64>() / rows;
            *sum += (values().map(|value| (value - mean).powi(2)).sum::<f64>() / rows).sqrt() / spread;
        }
        count += 1.0;
    }
    sums.iter().map(|sum| (sum / count) as f32).collect()
}

/// Makes examples of tasks.
struct ExampleBuilder<'a> {
    config: &'a FusedConfig,
    sources: &'a Sources,
    tasks: &'a TaskSet,
    kinds: &'a [EvidenceKind],
}

impl ExampleBuilder<'_> {
    /// The example of one random support; none if the task has too few facts.
    fn example(&self, task: &Task<'_>, shots: usize, draw: usize) -> Result<Option<Example>, SupportError> {
        // Supports of different sizes are drawn apart: a query of one may be in the other.
        let number = (draw * 1000 + shots) as u64;
        let Ok(episode) = SupportOrder::resampled(task, self.config.seed, number).episode(shots) else {
            return Ok(None);
        };
        let support = Support::of_task(task, &episode.support, self.config.seed);
        let evidence = self
            .kinds
            .iter()
            .map(|&kind| self.sources.adapt(kind, &support))
            .collect::<Result<Vec<Evidence>, _>>()?;
        let records = support_records(self.sources, self.kinds, &support)?;
        let queries = episode.query.iter().take(self.config.queries);
        let queries = queries.map(|&query| self.query(task, &evidence, query)).collect();
        Ok(Some(Example { records, shots, queries }))
    }

    /// A query and its candidates: the right one first, then those that a source with few values speaks for, then some
    /// of the others, which stand for all of them.
    fn query(&self, task: &Task<'_>, evidence: &[Evidence], query: Pair) -> ExampleQuery {
        let known = self.tasks.known_tails(query.head, task.relation);
        let mut rivals: Vec<EntityId> = task
            .candidates
            .iter()
            .copied()
            .filter(|tail| *tail != query.tail && known.binary_search(tail).is_err())
            .collect();
        rivals.sort_unstable();
        rivals.dedup();
        let mut spoken_for: Vec<EntityId> = Vec::new();
        for of in evidence {
            if let Values::Few(values) = &of.values {
                values(query.head, &mut |tail, _| spoken_for.push(tail));
            }
        }
        spoken_for.sort_unstable();
        let (mut candidates, mut others): (Vec<EntityId>, Vec<EntityId>) =
            rivals.into_iter().partition(|tail| spoken_for.binary_search(tail).is_ok());
        let place = [task.relation.0.into(), (u64::from(query.head.0) << 32) | u64::from(query.tail.0)];
        let mut rng = rng(self.config.seed, Purpose::TrainingQueries, place);
        let drawn = others.len().min(self.config.candidates);
        let each_stands_for = (others.len() as f32 / drawn.max(1) as f32).ln();
        let (others, _) = others.partial_shuffle(&mut rng, drawn);
        let mut stands_for = vec![0.0; 1 + candidates.len()];
        stands_for.resize(1 + candidates.len() + others.len(), each_stands_for);
        candidates.insert(0, query.tail);
        candidates.extend_from_slice(others);
        ExampleQuery { rows: evidence_matrix(evidence, &[query.head], &candidates), stands_for }
    }
}
