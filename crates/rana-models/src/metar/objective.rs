//! The losses of a task and its inner step (eqs. 3 to 8), with their gradients.

use rana_graph::EntityId;

use super::config::{MetarConfig, SupportReduction};
use crate::real::{Real, add_scaled, dot};
use crate::training::row_gradients::RowGradients;
use crate::training::{Contrasts, MetaTask, Rows};

/// The inputs of the losses, apart from the task.
#[derive(Clone, Copy)]
pub(super) struct Objective<'a, T> {
    pub(super) config: &'a MetarConfig,
    pub(super) rows: &'a dyn Rows<T>,
}

/// How much the losses of a pair count in what is minimised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors {
    pub(super) support: f64,
    pub(super) query: f64,
}

/// The loss and the gradients of a task.
pub(super) struct TaskResult<T> {
    pub(super) loss: f64,
    /// The gradient at the relation of the support.
    pub(super) relation: Vec<T>,
    /// The gradients of the rows that were scored.
    pub(super) rows: RowGradients<T>,
    pub(super) measured: Measured,
}

/// Diagnostics of a task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    pub(super) queries: f64,
    pub(super) negatives: f64,
    /// Sums of distances.
    pub(super) positive: f64,
    pub(super) negative: f64,
    /// Negatives within the margin.
    pub(super) active: f64,
    pub(super) support_norm: f64,
    pub(super) query_norm: f64,
}

impl<T: Real> Objective<'_, T> {
    /// `h + R − t` and its length (eq. 3).
    fn difference(&self, head: EntityId, relation: &[T], tail: EntityId) -> (Vec<T>, T) {
        let mut difference = self.rows.row(head).to_vec();
        add_scaled(&mut difference, T::ONE, relation);
        add_scaled(&mut difference, -T::ONE, self.rows.row(tail));
        let length = dot(&difference, &difference).sqrt();
        (difference, length)
    }

    /// The margin loss of some contrasts (eqs. 4 and 8), each negative counting `factor` over the negatives of its
    /// pair. Adds the gradient at the relation, and the gradients of rows if they are wanted.
    fn margin_loss(
        &self,
        contrasts: &Contrasts,
        relation: &[T],
        factor: f64,
        at_relation: &mut [T],
        mut rows: Option<&mut RowGradients<T>>,
        measured: Option<&mut Measured>,
    ) -> f64 {
        let margin = f64::from(self.config.margin);
        let mut loss = 0.0;
        let mut seen = Measured::default();
        for (pair, negatives) in contrasts.iter() {
            let (positive, distance) = self.difference(pair.head, relation, pair.tail);
            seen.queries += 1.0;
            seen.positive += distance.wide();
            let factor = factor / negatives.len().max(1) as f64;
            for &negative in negatives {
                let (other, other_distance) = self.difference(pair.head, relation, negative);
                seen.negatives += 1.0;
                seen.negative += other_distance.wide();
                let gap = margin + distance.wide() - other_distance.wide();
                if gap <= 0.0 {
                    continue;
                }
                seen.active += 1.0;
                loss += factor * gap;
                // The slope of a length is its direction; at zero it has none.
                let slope = |length: T| if length > T::ZERO { T::of(factor) / length } else { T::ZERO };
                let (near, far) = (slope(distance), -slope(other_distance));
                add_scaled(at_relation, near, &positive);
                add_scaled(at_relation, far, &other);
                if let Some(rows) = rows.as_deref_mut() {
                    rows.push(pair.head, near, &positive);
                    rows.push(pair.head, far, &other);
                    rows.push(pair.tail, -near, &positive);
                    rows.push(negative, -far, &other);
                }
            }
        }
        if let Some(measured) = measured {
            *measured =
                Measured { support_norm: measured.support_norm, query_norm: measured.query_norm, ..seen };
        }
        loss
    }

    /// The factor of a pair's loss in the inner step.
    fn inner_factor(&self, pairs: usize, batch: usize) -> f64 {
        match self.config.inner_reduction {
            SupportReduction::Sum => 1.0,
            SupportReduction::MeanTask => 1.0 / pairs as f64,
            SupportReduction::MeanBatch => 1.0 / (pairs * batch) as f64,
        }
    }

    /// The relation after the inner step (eqs. 5 and 6), in a batch of this many tasks.
    pub(super) fn inner_step(&self, support: &Contrasts, relation: &[T], batch: usize) -> Vec<T> {
        let mut updated = relation.to_vec();
        if self.config.inner_step {
            let mut gradient = vec![T::ZERO; relation.len()];
            let factor = self.inner_factor(support.pairs().len(), batch);
            self.margin_loss(support, relation, factor, &mut gradient, None, None);
            add_scaled(&mut updated, -T::of(self.config.beta.into()), &gradient);
        }
        updated
    }

    /// The loss of a task and its gradients, given the relation of its support. The inner gradient counts as a
    /// constant (first order), as in the public code.
    pub(super) fn task(
        &self,
        task: &MetaTask,
        relation: &[T],
        batch: usize,
        factors: Factors,
        learns_rows: bool,
    ) -> TaskResult<T> {
        let updated = self.inner_step(&task.support, relation, batch);
        let mut rows = RowGradients::new(relation.len());
        let mut at_relation = vec![T::ZERO; relation.len()];
        let norm = |of: &[T]| dot(of, of).wide().sqrt();
        let mut measured =
            Measured { support_norm: norm(relation), query_norm: norm(&updated), ..Measured::default() };
        let mut loss = 0.0;
        if factors.support > 0.0 {
            let to = learns_rows.then_some(&mut rows);
            loss += self.margin_loss(&task.support, relation, factors.support, &mut at_relation, to, None);
        }
        let (to, seen) = (learns_rows.then_some(&mut rows), Some(&mut measured));
        loss += self.margin_loss(&task.query, &updated, factors.query, &mut at_relation, to, seen);
        TaskResult { loss, relation: at_relation, rows, measured }
    }
}
