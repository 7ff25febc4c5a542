//! [`Network`]: encoder, transformer and matching together, with their weights.

use super::config::FaanConfig;
use super::neighbour_encoder::NeighbourEncoder;
use super::pair_transformer::PairTransformer;
use crate::training::WeightBlocks;

/// The parts of FAAN that learn.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub(super) config: FaanConfig,
    pub(super) blocks: WeightBlocks,
    pub(super) encoder: NeighbourEncoder,
    pub(super) transformer: PairTransformer,
}

impl Network {
    /// For vectors of `dim` numbers.
    pub(super) fn new(config: &FaanConfig, dim: usize) -> Self {
        let mut blocks = WeightBlocks::default();
        let encoder = NeighbourEncoder::new(&mut blocks, config, dim);
        let transformer = PairTransformer::new(&mut blocks, config, dim);
        Self { config: config.clone(), blocks, encoder, transformer }
    }

    /// The weights that training starts from.
    pub(super) fn initial(&self, seed: u64) -> Vec<f32> {
        let mut weights = self.blocks.initial(self.config.init, seed);
        self.encoder.start(&mut weights);
        self.transformer.start(&mut weights, seed);
        weights
    }
}
