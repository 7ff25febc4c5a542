//! [`RunningMean`]: the mean of the parameters over the last steps (Polyak and Juditsky, 1992).
//!
//! Steps of constant size never settle: the parameters move around a good place. Their mean over time is closer to it than
//! any of them. Training itself does not see the mean.

use super::parameters::Parameters;

/// How many times the parameters enter the mean within its span.
const SAMPLES: u64 = 20;

/// The running mean of parameters.
#[derive(Clone, Debug)]
pub(crate) struct RunningMean {
    /// The mean so far.
    pub(crate) parameters: Parameters,
    /// How many times parameters have entered it.
    pub(crate) samples: u64,
}

impl RunningMean {
    /// The mean before the first step: the parameters that training starts from.
    pub(crate) fn new(start: &Parameters) -> Self {
        Self { parameters: start.clone(), samples: 0 }
    }

    /// Whether the parameters enter the mean after a step, for a mean over this many steps.
    pub(crate) fn is_due(span: u64, step: u64) -> bool {
        step.is_multiple_of((span / SAMPLES).max(1))
    }

    /// Takes in parameters. The first ones count alike; later each new one counts as much as it does in a mean over the
    /// span, and old ones fade.
    pub(crate) fn add(&mut self, span: u64, new: &Parameters) {
        self.samples += 1;
        let share = 1.0 / self.samples.min(SAMPLES.min(span.max(1))) as f32;
        let mean = &mut self.parameters;
        mix(&mut mean.weights, &new.weights, share);
        mix(&mut mean.buffers, &new.buffers, share);
        mix(&mut mean.relations, &new.relations, share);
        for (slot, &entity) in new.rows.learned().iter().enumerate() {
            // A row that is new here was the one of the start until now.
            let own = mean.rows.touch(entity);
            debug_assert_eq!(own, slot);
        }
        mix(mean.rows.values_mut(), new.rows.learned_values(), share);
    }
}

fn mix(mean: &mut [f32], new: &[f32], share: f32) {
    mean.iter_mut().zip(new).for_each(|(mean, &new)| *mean += share * (new - *mean));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rana_embed::Table;
    use rana_graph::EntityId;

    use super::*;
    use crate::training::{LearnedRows, ParameterLayout};

    fn parameters(base: &Arc<Table>, weight: f32) -> Parameters {
        Parameters {
            layout: Arc::new(ParameterLayout::default()),
            weights: vec![weight],
            buffers: Vec::new(),
            relations: Vec::new(),
            rows: LearnedRows::new(Arc::clone(base)),
        }
    }

    #[test]
    fn the_first_samples_count_alike_and_later_ones_fade() {
        let base = Arc::new(Table::new(2, 1, vec![1.0, 2.0]).unwrap());
        let mut mean = RunningMean::new(&parameters(&base, 100.0));
        for weight in [1.0, 2.0, 6.0] {
            mean.add(1000, &parameters(&base, weight));
        }
        assert!((mean.parameters.weights[0] - 3.0).abs() < 1e-6, "{:?}", mean.parameters.weights);
        for _ in 0..400 {
            mean.add(1000, &parameters(&base, 8.0));
        }
        assert!((mean.parameters.weights[0] - 8.0).abs() < 1e-4, "{:?}", mean.parameters.weights);
        // A mean over one step is the last parameters.
        let mut last = RunningMean::new(&parameters(&base, 0.0));
        last.add(1, &parameters(&base, 5.0));
        last.add(1, &parameters(&base, 7.0));
        assert_eq!(last.parameters.weights, [7.0]);
    }

    #[test]
    fn a_row_that_begins_to_learn_later_was_the_start_until_then() {
        let base = Arc::new(Table::new(2, 1, vec![1.0, 2.0]).unwrap());
        let mut mean = RunningMean::new(&parameters(&base, 0.0));
        mean.add(1000, &parameters(&base, 0.0));
        let mut later = parameters(&base, 0.0);
        later.rows.touch(EntityId(1));
        later.rows.values_mut()[0] = 4.0;
        mean.add(1000, &later);
        assert_eq!(mean.parameters.rows.row(EntityId(1)), [3.0]);
        assert_eq!(mean.parameters.rows.row(EntityId(0)), [1.0]);
    }

    #[test]
    fn samples_are_spread_over_the_span() {
        let due = (1..=1000).filter(|&step| RunningMean::is_due(1000, step)).count();
        assert_eq!(due, 20);
        assert!((1..=5).all(|step| RunningMean::is_due(5, step)));
    }
}
