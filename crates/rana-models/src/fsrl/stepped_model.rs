//! FSRL as the trainer sees it: its network in [`Matching`].

use rana_graph::Graph;

use super::config::FsrlConfig;
use super::network::Fsrl;
use crate::matching::{Matching, matching_model};
use crate::training::{ConfigError, SteppedConfig, TrainerConfig};

impl SteppedConfig for FsrlConfig {
    const NAME: &'static str = "fsrl";

    type Model = Matching<Fsrl>;

    fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        self.check(trainer)
    }

    fn model(&self, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Matching<Fsrl> {
        matching_model(Fsrl::new(self, dim), trainer, graph)
    }

    fn work_per_pair(&self) -> f64 {
        (1 + self.negatives) as f64
    }
}
