//! [`Objective`]: margin loss and inner step of a batch of tasks, with gradients, for any distance.

use rayon::prelude::*;

use super::pair_distance::{PairDistance, PairGradients};
use super::support_choices::SupportReduction;
use crate::real::{Real, add_scaled, dot};
use crate::training::row_gradients::RowGradients;
use crate::training::{Contrasts, Diagnostics, MetaTask, Rows};

/// The settings of the losses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossSettings {
    /// γ, the margin between a true pair and its negative.
    pub(crate) margin: f32,
    /// β, the size of the inner step; none without one.
    pub(crate) beta: Option<f32>,
    /// How the support loss is summed up for the inner step.
    pub(crate) reduction: SupportReduction,
    /// Whether the support loss is minimised too.
    pub(crate) includes_support: bool,
    /// Whether the rows of entities learn.
    pub(crate) learns_rows: bool,
}

/// The losses of tasks.
pub(crate) struct Objective<'a, T, D> {
    pub(crate) settings: LossSettings,
    pub(crate) distance: &'a D,
    pub(crate) rows: &'a dyn Rows<T>,
    /// Numbers per row.
    pub(crate) row_width: usize,
}

/// The loss and the gradients of a batch.
pub(crate) struct BatchResult<T> {
    pub(crate) loss: f64,
    /// The gradients at the relations of the supports, one behind the other.
    pub(crate) relations: Vec<T>,
    /// The gradients of the rows that were scored; empty unless they learn.
    pub(crate) rows: RowGradients<T>,
    pub(crate) diagnostics: Diagnostics,
}

/// How much the losses of a pair count in what is minimised.
#[derive(Clone, Copy, Debug)]
struct Factors {
    support: f64,
    query: f64,
}

/// The loss and the gradients of a task.
struct TaskResult<T> {
    loss: f64,
    relation: Vec<T>,
    rows: RowGradients<T>,
    measured: Measured,
}

/// What a task looks like: counts and sums.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    queries: f64,
    negatives: f64,
    positive_distance: f64,
    negative_distance: f64,
    /// Negatives within the margin.
    active: f64,
    support_norm: f64,
    query_norm: f64,
}

impl<T: Real, D: PairDistance<T>> Objective<'_, T, D> {
    /// The margin loss of some contrasts, each negative counting `factor` over the negatives of its pair. Adds the
    /// gradient at the relation, and the gradients of rows if they are wanted.
    fn margin_loss(
        &self,
        contrasts: &Contrasts,
        relation: &[T],
        factor: f64,
        at_relation: &mut [T],
        mut rows: Option<&mut RowGradients<T>>,
        measured: &mut Measured,
    ) -> f64 {
        let margin = f64::from(self.settings.margin);
        let mut loss = 0.0;
        let mut ends = [vec![T::ZERO; self.row_width], vec![T::ZERO; self.row_width]];
        for (pair, negatives) in contrasts.iter() {
            let (head, tail) = (self.rows.row(pair.head), self.rows.row(pair.tail));
            let near = self.distance.difference(head, relation, tail);
            let near_distance = dot(&near, &near).sqrt();
            measured.queries += 1.0;
            measured.positive_distance += near_distance.wide();
            let factor = factor / negatives.len().max(1) as f64;
            for &negative in negatives {
                let far = self.distance.difference(head, relation, self.rows.row(negative));
                let far_distance = dot(&far, &far).sqrt();
                measured.negatives += 1.0;
                measured.negative_distance += far_distance.wide();
                let gap = margin + near_distance.wide() - far_distance.wide();
                if gap <= 0.0 {
                    continue;
                }
                measured.active += 1.0;
                loss += factor * gap;
                // The slope of a length is its direction; at zero it has none.
                let slope = |length: T| if length > T::ZERO { T::of(factor) / length } else { T::ZERO };
                let both = [(pair.tail, &near, slope(near_distance)), (negative, &far, -slope(far_distance))];
                for (tail, difference, slope) in both {
                    let of_pair = [head, relation, self.rows.row(tail)];
                    let Some(rows) = rows.as_deref_mut() else {
                        let mut to = PairGradients { relation: at_relation, ends: None };
                        self.distance.add_gradients(of_pair, slope, difference, &mut to);
                        continue;
                    };
                    let [at_head, at_tail] = &mut ends;
                    at_head.fill(T::ZERO);
                    at_tail.fill(T::ZERO);
                    let mut to = PairGradients { relation: at_relation, ends: Some([at_head, at_tail]) };
                    self.distance.add_gradients(of_pair, slope, difference, &mut to);
                    rows.push(pair.head, T::ONE, at_head);
                    rows.push(tail, T::ONE, at_tail);
                }
            }
        }
        loss
    }

    /// The factor of a pair's loss in the inner step.
    fn inner_factor(&self, pairs: usize, batch: usize) -> f64 {
        match self.settings.reduction {
            SupportReduction::Sum => 1.0,
            SupportReduction::MeanTask => 1.0 / pairs as f64,
            SupportReduction::MeanBatch => 1.0 / (pairs * batch) as f64,
        }
    }

    /// The relation after the inner step, in a batch of this many tasks.
    pub(crate) fn inner_step(&self, support: &Contrasts, relation: &[T], batch: usize) -> Vec<T> {
        let mut updated = relation.to_vec();
        if let Some(beta) = self.settings.beta {
            let mut gradient = vec![T::ZERO; relation.len()];
            let factor = self.inner_factor(support.pairs().len(), batch);
            self.margin_loss(support, relation, factor, &mut gradient, None, &mut Measured::default());
            self.distance.inner_direction(&mut gradient);
            add_scaled(&mut updated, -T::of(beta.into()), &gradient);
        }
        updated
    }

    /// The loss of a task and its gradients, given the relation of its support. The inner gradient counts as a
    /// constant (first order), as in the public code.
    fn task(&self, task: &MetaTask, relation: &[T], batch: usize, factors: Factors) -> TaskResult<T> {
        let updated = self.inner_step(&task.support, relation, batch);
        let learns_rows = self.settings.learns_rows;
        let mut rows = RowGradients::new(self.row_width);
        let mut at_relation = vec![T::ZERO; relation.len()];
        let mut loss = 0.0;
        if factors.support > 0.0 {
            let (to, mut unused) = (learns_rows.then_some(&mut rows), Measured::default());
            let factor = factors.support;
            loss += self.margin_loss(&task.support, relation, factor, &mut at_relation, to, &mut unused);
        }
        let norm = |of: &[T]| dot(of, of).wide().sqrt();
        let mut measured =
            Measured { support_norm: norm(relation), query_norm: norm(&updated), ..Measured::default() };
        let to = learns_rows.then_some(&mut rows);
        loss += self.margin_loss(&task.query, &updated, factors.query, &mut at_relation, to, &mut measured);
        TaskResult { loss, relation: at_relation, rows, measured }
    }

    /// The loss of a batch and its gradients, given the relations of the supports, one behind the other.
    pub(crate) fn batch(&self, tasks: &[MetaTask], relations: &[T]) -> BatchResult<T> {
        let width = relations.len() / tasks.len().max(1);
        let factors = self.factors(tasks);
        let results: Vec<TaskResult<T>> = tasks
            .par_iter()
            .zip(relations.par_chunks(width.max(1)))
            .with_min_len(8)
            .map(|(task, relation)| self.task(task, relation, tasks.len(), factors))
            .collect();
        let mut batch = BatchResult {
            loss: 0.0,
            relations: Vec::with_capacity(relations.len()),
            rows: RowGradients::new(self.row_width),
            diagnostics: Measured::diagnostics(results.iter().map(|result| &result.measured)),
        };
        for result in &results {
            batch.loss += result.loss;
            batch.relations.extend_from_slice(&result.relation);
            batch.rows.append(&result.rows);
        }
        batch
    }

    /// How much each pair counts: the mean over all queries of the batch, and over all support pairs if they count.
    fn factors(&self, tasks: &[MetaTask]) -> Factors {
        let share = |count: usize| 1.0 / count.max(1) as f64;
        let queries = tasks.iter().map(|task| task.query.pairs().len()).sum();
        let support = tasks.iter().map(|task| task.support.pairs().len()).sum();
        Factors {
            query: share(queries),
            support: if self.settings.includes_support { share(support) } else { 0.0 },
        }
    }
}

impl Measured {
    fn diagnostics<'m>(all: impl ExactSizeIterator<Item = &'m Self>) -> Diagnostics {
        let tasks = all.len() as f64;
        let mut sum = Self::default();
        for of in all {
            sum.queries += of.queries;
            sum.negatives += of.negatives;
            sum.positive_distance += of.positive_distance;
            sum.negative_distance += of.negative_distance;
            sum.active += of.active;
            sum.support_norm += of.support_norm;
            sum.query_norm += of.query_norm;
        }
        let mean = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        vec![
            ("positive_distance", mean(sum.positive_distance, sum.queries)),
            ("negative_distance", mean(sum.negative_distance, sum.negatives)),
            ("support_relation_norm", mean(sum.support_norm, tasks)),
            ("query_relation_norm", mean(sum.query_norm, tasks)),
            ("active_negatives", mean(sum.active, sum.negatives)),
        ]
    }
}
