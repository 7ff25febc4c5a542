//! [`Adam`]: how gradients become steps (Kingma and Ba, 2015).

use rana_graph::EntityId;

use super::learned_rows::LearnedRows;
use super::row_gradients::SummedRows;
use super::trainer_config::{RowUpdates, TrainerConfig};

/// The running means of gradients and of their squares.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub(crate) first: Vec<f32>,
    pub(crate) second: Vec<f32>,
}

impl Moments {
    pub(crate) fn new(len: usize) -> Self {
        Self { first: vec![0.0; len], second: vec![0.0; len] }
    }
}

/// The constants of one of Adam's steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adam {
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    rate: f32,
    /// The bias correction of the running means, which start at zero.
    correction: (f32, f32),
}

impl Adam {
    /// At a step, counted from 0.
    pub(crate) fn at(config: &TrainerConfig, step: u64, rate: f32) -> Self {
        let power = step.saturating_add(1).min(i32::MAX as u64) as i32;
        let correction = |beta: f32| (1.0 - f64::from(beta).powi(power)) as f32;
        Self {
            beta1: config.adam_beta1,
            beta2: config.adam_beta2,
            epsilon: config.adam_epsilon,
            rate,
            correction: (correction(config.adam_beta1), correction(config.adam_beta2)),
        }
    }

    /// Moves values against their gradients.
    pub(crate) fn update(
        &self,
        values: &mut [f32],
        gradients: &[f32],
        first: &mut [f32],
        second: &mut [f32],
    ) {
        let moments = first.iter_mut().zip(second);
        for ((value, &gradient), (first, second)) in values.iter_mut().zip(gradients).zip(moments) {
            *first = self.beta1 * *first + (1.0 - self.beta1) * gradient;
            *second = self.beta2 * *second + (1.0 - self.beta2) * gradient * gradient;
            let (mean, square) = (*first / self.correction.0, *second / self.correction.1);
            *value -= self.rate * mean / (square.sqrt() + self.epsilon);
        }
    }
}

/// Adam's state for the rows of a table that learn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RowMoments {
    pub(crate) moments: Moments,
    /// For each row with a copy, the step it was last updated at.
    pub(crate) last: Vec<u64>,
}

/// The number of steps without a gradient after which less than 10⁻⁹ of a row's momentum is left, so it no longer
/// moves.
fn longest_replay(beta1: f32) -> usize {
    if beta1 == 0.0 { 1 } else { (1e-9f64.ln() / f64::from(beta1).ln()).ceil() as usize }
}

impl RowMoments {
    /// Moves rows against their gradients.
    pub(crate) fn update(
        &mut self,
        config: &TrainerConfig,
        step: u64,
        rows: &mut LearnedRows,
        gradients: &SummedRows<f32>,
    ) {
        let dim = rows.dim();
        let slots: Vec<usize> = gradients.entities().iter().map(|&entity| rows.touch(entity)).collect();
        let count = rows.learned().len();
        self.moments.first.resize(count * dim, 0.0);
        self.moments.second.resize(count * dim, 0.0);
        self.last.resize(count, step);
        let adam = Adam::at(config, step, config.entity_learning_rate_at(step));
        let values = rows.values_mut();
        for ((_, gradient), slot) in gradients.iter().zip(slots) {
            let range = slot * dim..(slot + 1) * dim;
            let row = &mut values[range.clone()];
            adam.update(
                row,
                gradient,
                &mut self.moments.first[range.clone()],
                &mut self.moments.second[range],
            );
            if let Some(most) = config.max_norm {
                shorten(row, most);
            }
            self.last[slot] = step;
        }
    }

    /// Makes up for the updates that rows have missed before a step, if that is wanted.
    pub(crate) fn catch_up(
        &mut self,
        config: &TrainerConfig,
        step: u64,
        rows: &mut LearnedRows,
        entities: impl Iterator<Item = EntityId>,
    ) {
        if config.adam_rows == RowUpdates::Sparse {
            return;
        }
        let dim = rows.dim();
        let mut slots: Vec<usize> = entities.filter_map(|entity| rows.slot(entity)).collect();
        slots.sort_unstable();
        slots.dedup();
        let zeros = vec![0.0; dim];
        let longest = longest_replay(config.adam_beta1);
        for slot in slots {
            let range = slot * dim..(slot + 1) * dim;
            let row = &mut rows.values_mut()[range.clone()];
            let missed = self.last[slot] + 1..step;
            for past in missed.clone().take(longest) {
                let adam = Adam::at(config, past, config.entity_learning_rate_at(past));
                let (first, second) =
                    (&mut self.moments.first[range.clone()], &mut self.moments.second[range.clone()]);
                adam.update(row, &zeros, first, second);
            }
            let rest = missed.count().saturating_sub(longest).min(i32::MAX as usize) as i32;
            for (values, beta) in [
                (&mut self.moments.first[range.clone()], config.adam_beta1),
                (&mut self.moments.second[range], config.adam_beta2),
            ] {
                let decay = beta.powi(rest);
                values.iter_mut().for_each(|value| *value *= decay);
            }
            if let Some(most) = config.max_norm {
                shorten(row, most);
            }
            self.last[slot] = self.last[slot].max(step.saturating_sub(1));
        }
    }
}

/// Scales a row back to a norm if it is longer.
fn shorten(row: &mut [f32], most: f32) {
    let norm = row.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norm > most {
        row.iter_mut().for_each(|value| *value *= most / norm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::row_gradients::RowGradients;
    use rana_embed::Table;
    use std::sync::Arc;

    /// Rows that replay what they missed end where dense Adam would have put them.
    #[test]
    fn replay_is_dense_adam() {
        let config = TrainerConfig {
            adam_rows: RowUpdates::Replay,
            final_learning_rate: 0.5,
            steps: 40,
            ..TrainerConfig::default()
        };
        let base = Arc::new(Table::new(2, 2, vec![1.0, -1.0, 0.5, 0.25]).unwrap());
        let mut rows = LearnedRows::new(Arc::clone(&base));
        let mut lazy = RowMoments::default();
        let mut dense = base.values().to_vec();
        let mut moments = Moments::new(4);
        for step in 0..30u64 {
            // The first row has a gradient at every seventh step, the second at every third.
            let mut gradients = RowGradients::new(2);
            let mut full = [0.0f32; 4];
            for (row, period) in [(0usize, 7), (1, 3)] {
                if step % period == 0 {
                    let gradient = [(step as f32).sin(), 0.3 - row as f32];
                    gradients.push(EntityId(row as u32), 1.0, &gradient);
                    full[2 * row..2 * row + 2].copy_from_slice(&gradient);
                }
            }
            let touched: Vec<EntityId> = gradients.summed().entities().to_vec();
            lazy.catch_up(&config, step, &mut rows, touched.iter().copied());
            lazy.update(&config, step, &mut rows, &gradients.summed());
            let adam = Adam::at(&config, step, config.entity_learning_rate_at(step));
            adam.update(&mut dense, &full, &mut moments.first, &mut moments.second);
        }
        lazy.catch_up(&config, 30, &mut rows, [EntityId(0), EntityId(1)].into_iter());
        for row in 0..2 {
            assert_eq!(rows.row(EntityId(row as u32)), &dense[2 * row..2 * row + 2]);
        }
    }

    #[test]
    fn rows_are_scaled_back_to_the_most_they_may_have() {
        let config = TrainerConfig { max_norm: Some(0.5), ..TrainerConfig::default() };
        let base = Arc::new(Table::new(1, 2, vec![3.0, 4.0]).unwrap());
        let mut rows = LearnedRows::new(base);
        let mut gradients = RowGradients::new(2);
        gradients.push(EntityId(0), 1.0, &[1.0, 0.0]);
        RowMoments::default().update(&config, 0, &mut rows, &gradients.summed());
        let norm = rows.row(EntityId(0)).iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!((norm - 0.5).abs() < 1e-6, "{norm}");
    }
}
