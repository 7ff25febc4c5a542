//! [`Gmatching`]: the network of GMatching.

use super::config::{FewShots, GmatchingConfig, Padding};
use crate::matching::{MatchingProcessor, MatchingSettings, Network, PairEncoder, References, Slots};
use crate::real::Real;
use crate::tape::{Segments, Tape, Var};
use crate::training::{Block, WeightBlocks};

/// The network of GMatching.
#[derive(Clone, Debug)]
pub struct Gmatching {
    config: GmatchingConfig,
    settings: MatchingSettings,
    blocks: WeightBlocks,
    /// `W_c` and `b_c`.
    neighbour: Block,
    neighbour_bias: Block,
    pair_encoder: PairEncoder,
    processor: MatchingProcessor,
}

impl Gmatching {
    pub(super) fn new(config: &GmatchingConfig, dim: usize) -> Self {
        let mut blocks = WeightBlocks::default();
        let fan = (2 * dim, dim);
        let neighbour = blocks.matrix("neighbour.weight", dim, 2 * dim, fan);
        let neighbour_bias = blocks.bias("neighbour.bias", dim, fan);
        let pair_encoder = if config.pair_encoder {
            PairEncoder::with_layers(&mut blocks, dim, config.pair_dropout)
        } else {
            PairEncoder::plain(dim)
        };
        let processor = MatchingProcessor::new(
            &mut blocks,
            2 * dim,
            config.process_steps,
            config.start_with_reference,
            config.similarity,
        );
        let settings = config.settings();
        Self { config: config.clone(), settings, blocks, neighbour, neighbour_bias, pair_encoder, processor }
    }
}

impl Network for Gmatching {
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

    /// `f(N_e) = tanh(mean of W_c [ρ; c] + b_c)`. The mean is taken before the product, which is the same and cheaper.
    /// An entity without neighbours is `tanh(b_c)`.
    fn encode<T: Real>(&self, tape: &mut Tape<'_, T>, slots: &Slots) -> Var {
        let share = self.config.neighbour_dropout;
        let (relations, entities) =
            (tape.dropout(slots.relations, share), tape.dropout(slots.entities, share));
        let neighbours = tape.concat_columns(&[relations, entities]);
        let mean = tape.segment_mean(neighbours, &slots.segments);
        let (weight, bias) = (tape.weight(&self.neighbour), tape.weight(&self.neighbour_bias));
        let sums = match self.config.padding {
            Padding::Masked => tape.linear(mean, weight, Some(bias)),
            Padding::Counted => {
                let sums = tape.linear(mean, weight, None);
                let places = self.config.neighbours as f64;
                let times = slots.segments.lengths().map(|length| T::of(places / length.max(1) as f64));
                let times = tape.constant(times.collect::<Vec<T>>(), 1);
                let biases = tape.product_transposed(times, bias);
                tape.add(sums, biases)
            }
        };
        tape.tanh(sums)
    }

    fn references<T: Real>(&self, tape: &mut Tape<'_, T>, supports: Var, shots: &Segments) -> References {
        match self.config.few_shots {
            FewShots::Mean => References {
                rows: tape.segment_mean(supports, shots),
                of_tasks: Segments::equal(shots.count(), 1),
                loss: None,
            },
            FewShots::Max => References { rows: supports, of_tasks: shots.clone(), loss: None },
        }
    }
}
