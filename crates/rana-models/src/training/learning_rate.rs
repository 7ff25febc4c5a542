//! The learning rate at each step of a training: it rises during the warm-up, then falls linearly.

use super::trainer_config::TrainerConfig;

impl TrainerConfig {
    /// The learning rate of the weights at a step, counted from 0.
    #[must_use]
    pub fn learning_rate_at(&self, step: u64) -> f32 {
        self.learning_rate * self.decay_at(step)
    }

    /// The learning rate of table rows at a step, counted from 0.
    #[must_use]
    pub fn entity_learning_rate_at(&self, step: u64) -> f32 {
        self.entity_learning_rate.unwrap_or(self.learning_rate) * self.decay_at(step)
    }

    fn decay_at(&self, step: u64) -> f32 {
        let warmup = self.warmup_steps.unwrap_or(0);
        if step < warmup {
            return ((step + 1) as f64 / warmup as f64) as f32;
        }
        let done = (step - warmup) as f64 / self.steps.saturating_sub(warmup).max(1) as f64;
        (1.0 - done * f64::from(1.0 - self.final_learning_rate)) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_learning_rate_falls_linearly() {
        let config = TrainerConfig { final_learning_rate: 0.5, steps: 10, ..TrainerConfig::default() };
        assert_eq!(config.learning_rate_at(0), 0.01);
        assert_eq!(config.learning_rate_at(5), 0.0075);
        // It rises first if asked to, and then falls over what is left.
        let config = TrainerConfig { warmup_steps: Some(4), steps: 14, ..config };
        assert_eq!([0, 1, 3].map(|step| config.learning_rate_at(step)), [0.0025, 0.005, 0.01]);
        assert_eq!([4, 9].map(|step| config.learning_rate_at(step)), [0.01, 0.0075]);
        // A training that is shorter than that only rises.
        let config = TrainerConfig { steps: 2, ..config };
        assert_eq!([0, 1].map(|step| config.learning_rate_at(step)), [0.0025, 0.005]);
    }
}
