//! [`Fsrl`]: the network of FSRL.

use super::config::FsrlConfig;
use super::neighbour_encoder::NeighbourEncoder;
use super::support_aggregator::SupportAggregator;
use crate::matching::{MatchingProcessor, MatchingSettings, Network, PairEncoder, References, Slots};
use crate::real::Real;
use crate::tape::{Segments, Tape, Var};
use crate::training::WeightBlocks;

/// The network of FSRL.
#[derive(Clone, Debug)]
pub struct Fsrl {
    settings: MatchingSettings,
    blocks: WeightBlocks,
    neighbour_encoder: NeighbourEncoder,
    pair_encoder: PairEncoder,
    aggregator: SupportAggregator,
    processor: MatchingProcessor,
}

impl Fsrl {
    pub(super) fn new(config: &FsrlConfig, dim: usize) -> Self {
        let mut blocks = WeightBlocks::default();
        let neighbour_encoder = NeighbourEncoder::new(config, &mut blocks, dim);
        let pair_encoder = if config.pair_encoder {
            PairEncoder::with_layers(&mut blocks, dim, config.pair_dropout)
        } else {
            PairEncoder::plain(dim)
        };
        let aggregator = SupportAggregator::new(config, &mut blocks, dim);
        let processor = MatchingProcessor::new(
            &mut blocks,
            2 * dim,
            config.process_steps,
            config.start_with_reference,
            config.similarity,
        );
        Self { settings: config.settings(), blocks, neighbour_encoder, pair_encoder, aggregator, processor }
    }
}

impl Network for Fsrl {
    fn settings(&self) -> &MatchingSettings {
        &self.settings
    }

    fn blocks(&self) -> &WeightBlocks {
        &self.blocks
    }

    fn pair_encoder(&self) -> &PairEncoder {
        &self.pair_encoder
    }

    fn processor(&self) -> &MatchingProcessor {
        &self.processor
    }

    fn encode<T: Real>(&self, tape: &mut Tape<'_, T>, slots: &Slots) -> Var {
        self.neighbour_encoder.encode(tape, slots)
    }

    fn references<T: Real>(&self, tape: &mut Tape<'_, T>, supports: Var, shots: &Segments) -> References {
        let (rows, loss) = self.aggregator.aggregate(tape, supports, shots);
        References { rows, of_tasks: Segments::equal(shots.count(), 1), loss: Some(loss) }
    }
}
