//! [`Adam`]: how gradients become steps (Kingma and Ba, 2015).

use rana_graph::EntityId;

use super::learned_rows::LearnedRows;
use super::row_gradients::SummedRows;
use super::trainer_config::{RowUpdates, TrainerConfig};
use crate::vector_kernels::wide;

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
        wide(|| {
            let moments = first.iter_mut().zip(second);
            for ((value, &gradient), (first, second)) in values.iter_mut().zip(gradients).zip(moments) {
                *first = self.beta1 * *first + (1.0 - self.beta1) * gradient;
                *second = self.beta2 * *second + (1.0 - self.beta2) * gradient * gradient;
                let (mean, square) = (*first / self.correction.0, *second / self.correction.1);
                *value -= self.rate * mean / (square.sqrt() + self.epsilon);
            }
        });
    }
}

/// Adam's state for the rows of a table that learn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RowMoments {
    pub(crate) moments: Moments,
    /// For each row with a copy, the step it was last updated at.
    pub(crate) last: Vec<u64>,
}

/// Momentum below this share of the usual gradient no longer moves a row.
const STILL: f32 = 1e-9;

/// The number of steps without a gradient after which less than that is left of a row's momentum.
fn longest_replay(beta1: f32) -> usize {
    if beta1 == 0.0 { 1 } else { (f64::from(STILL).ln() / f64::from(beta1).ln()).ceil() as usize }
}

/// Steps whose constants are computed once for all rows.
const RECENT: u64 = 256;

/// A row that learns, with its moments and the step it was last updated at.
struct LearningRow<'a> {
    values: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    last: &'a mut u64,
}

/// Rows that learn, one behind the other from a slot on, with their moments.
struct LearningRows<'a> {
    dim: usize,
    start: usize,
    values: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    last: &'a mut [u64],
}

impl LearningRows<'_> {
    /// How many rows are worth a thread of their own.
    const SHARE: usize = 512;

    /// Calls a function for some of the rows, on all threads. `slots` rise; each has something that belongs to the row.
    fn for_each<T: Sync>(self, slots: &[(usize, T)], each: &(impl Fn(LearningRow<'_>, &T) + Sync)) {
        let Self { dim, start, values, first, second, last } = self;
        if slots.len() <= Self::SHARE {
            for (slot, own) in slots {
                let row = slot - start;
                let range = row * dim..(row + 1) * dim;
                let row = LearningRow {
                    values: &mut values[range.clone()],
                    first: &mut first[range.clone()],
                    second: &mut second[range],
                    last: &mut last[row],
                };
                each(row, own);
            }
            return;
        }
        let (left_slots, right_slots) = slots.split_at(slots.len() / 2);
        let middle = right_slots[0].0;
        let rows = middle - start;
        let (left_values, values) = values.split_at_mut(rows * dim);
        let (left_first, first) = first.split_at_mut(rows * dim);
        let (left_second, second) = second.split_at_mut(rows * dim);
        let (left_last, last) = last.split_at_mut(rows);
        let left =
            Self { dim, start, values: left_values, first: left_first, second: left_second, last: left_last };
        let right = Self { dim, start: middle, values, first, second, last };
        rayon::join(|| left.for_each(left_slots, each), || right.for_each(right_slots, each));
    }
}

impl RowMoments {
    fn rows<'a>(&'a mut self, rows: &'a mut LearnedRows) -> LearningRows<'a> {
        LearningRows {
            dim: rows.dim(),
            start: 0,
            values: rows.values_mut(),
            first: &mut self.moments.first,
            second: &mut self.moments.second,
            last: &mut self.last,
        }
    }

    /// Moves rows against their gradients.
    pub(crate) fn update(
        &mut self,
        config: &TrainerConfig,
        step: u64,
        rows: &mut LearnedRows,
        gradients: &SummedRows<f32>,
    ) {
        let dim = rows.dim();
        let mut slots: Vec<(usize, &[f32])> =
            gradients.iter().map(|(entity, gradient)| (rows.touch(entity), gradient)).collect();
        slots.sort_unstable_by_key(|&(slot, _)| slot);
        let count = rows.learned().len();
        self.moments.first.resize(count * dim, 0.0);
        self.moments.second.resize(count * dim, 0.0);
        self.last.resize(count, step);
        let adam = Adam::at(config, step, config.entity_learning_rate_at(step));
        self.rows(rows).for_each(&slots, &|row, gradient| {
            adam.update(row.values, gradient, row.first, row.second);
            if let Some(most) = config.max_norm {
                shorten(row.values, most);
            }
            *row.last = step;
        });
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
        let mut slots: Vec<(usize, ())> =
            entities.filter_map(|entity| Some((rows.slot(entity)?, ()))).collect();
        slots.sort_unstable();
        slots.dedup();
        let zeros = vec![0.0; rows.dim()];
        let longest = longest_replay(config.adam_beta1);
        let at = |step: u64| Adam::at(config, step, config.entity_learning_rate_at(step));
        // Most rows have missed the same few steps.
        let oldest = step.saturating_sub(RECENT);
        let recent: Vec<Adam> = (oldest..step).map(at).collect();
        self.rows(rows).for_each(&slots, &|row, ()| {
            let missed = *row.last + 1..step;
            let replayed = if row.first.iter().all(|&mean| mean == 0.0) { 0 } else { longest };
            for past in missed.clone().take(replayed) {
                let adam = past.checked_sub(oldest).map_or_else(|| at(past), |place| recent[place as usize]);
                adam.update(row.values, &zeros, row.first, row.second);
            }
            let rest = missed.count().saturating_sub(replayed).min(i32::MAX as usize) as i32;
            let (first_decay, second_decay) = (config.adam_beta1.powi(rest), config.adam_beta2.powi(rest));
            row.first.iter_mut().for_each(|value| *value *= first_decay);
            row.second.iter_mut().for_each(|value| *value *= second_decay);
            let is_still = |(mean, square): (&f32, &f32)| mean.abs() <= STILL * square.sqrt();
            if row.first.iter().zip(&*row.second).all(is_still) {
                row.first.fill(0.0);
            }
            if let Some(most) = config.max_norm {
                shorten(row.values, most);
            }
            *row.last = (*row.last).max(step.saturating_sub(1));
        });
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
            let touched: Vec<EntityId> = gradients.summed().iter().map(|(entity, _)| entity).collect();
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

    /// Many rows are shared out between threads; each is visited once, with what belongs to it.
    #[test]
    fn each_of_many_rows_is_moved_once() {
        let count = 5 * LearningRows::SHARE;
        let slots: Vec<(usize, f32)> =
            (0..count).filter(|at| at % 3 != 1).map(|at| (at, at as f32)).collect();
        let (mut values, mut first, mut second) =
            (vec![0.0; 2 * count], vec![0.0; 2 * count], vec![0.0; 2 * count]);
        let mut last = vec![0; count];
        let rows = LearningRows {
            dim: 2,
            start: 0,
            values: &mut values,
            first: &mut first,
            second: &mut second,
            last: &mut last,
        };
        rows.for_each(&slots, &|row, own| {
            row.values[1] += own;
            *row.last += 1;
        });
        for at in 0..count {
            let is_chosen = at % 3 != 1;
            assert_eq!(last[at], u64::from(is_chosen));
            assert_eq!(values[2 * at..2 * at + 2], [0.0, if is_chosen { at as f32 } else { 0.0 }]);
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
