//! GMatching as the trainer sees it: its network in [`Matching`].

use rana_graph::Graph;

use super::config::GmatchingConfig;
use super::network::Gmatching;
use crate::matching::{Matching, matching_model};
use crate::training::{ConfigError, SteppedConfig, TrainerConfig};

impl SteppedConfig for GmatchingConfig {
    const NAME: &'static str = "gmatching";

    type Model = Matching<Gmatching>;

    fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        self.check(trainer)
    }

    fn model(&self, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Matching<Gmatching> {
        matching_model(Gmatching::new(self, dim), trainer, graph)
    }

    fn work_per_pair(&self) -> f64 {
        (1 + self.negatives) as f64
    }
}
