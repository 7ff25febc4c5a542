//! [`Layout`]: where each weight matrix stands in one vector of all weights.
//!
//! Matrices of the paper that meet a concatenation are kept as one block per part: `W1 [r; ρ]` is
//! `Wa r + Wb ρ`, so that each half can be applied where it is cheapest.

use super::config::{AggInput, Attn, AttnInput, Ends, RanaConfig};
use crate::training::{Block, WeightBlocks};

/// The attention of eq. 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttentionBlocks {
    /// W1 where it meets `r`.
    pub(crate) pair: Block,
    /// W1 where it meets the relation to a neighbour.
    pub(crate) relation: Block,
    /// W1 where it meets the neighbour, if it does.
    pub(crate) entity: Option<Block>,
    pub(crate) bias: Option<Block>,
    /// W2.
    pub(crate) out: Block,
}

/// The weights that encode one end of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndBlocks {
    pub(crate) attention: Option<AttentionBlocks>,
    /// W3 where it meets the relation to a neighbour, if it does.
    pub(crate) aggregate_relation: Option<Block>,
    /// W3 where it meets the neighbour.
    pub(crate) aggregate_entity: Block,
    pub(crate) aggregate_bias: Option<Block>,
    /// W4.
    pub(crate) combine: Block,
    pub(crate) combine_bias: Option<Block>,
}

impl EndBlocks {
    /// The blocks of W1 and W3 that multiply the relation to a neighbour.
    pub(crate) fn of_relations(&self) -> [Option<&Block>; 2] {
        [self.attention.as_ref().map(|attention| &attention.relation), self.aggregate_relation.as_ref()]
    }
}

/// Where each weight matrix stands in one vector of all weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The dimension of the vectors.
    pub dim: usize,
    /// The hidden size of eq. 2.
    pub hidden: usize,
    /// One for heads and tails, or one for each.
    pub(crate) ends: Vec<EndBlocks>,
    /// W5 where it meets the head.
    pub(crate) relation_head: Block,
    /// W5 where it meets the tail.
    pub(crate) relation_tail: Block,
    pub(crate) relation_bias: Option<Block>,
    /// All of these blocks, in order.
    pub blocks: WeightBlocks,
}

impl Layout {
    /// The weights that a configuration needs for vectors of a dimension.
    #[must_use]
    pub fn new(config: &RanaConfig, dim: usize) -> Self {
        let hidden = if config.hidden == 0 { dim } else { config.hidden };
        let mut builder = Builder { bias: config.bias, blocks: WeightBlocks::default() };
        let names: &[&str] = match config.ends {
            Ends::Shared => &[""],
            Ends::Separate => &["head.", "tail."],
        };
        let ends = names.iter().map(|name| builder.end(config, name, dim, hidden)).collect();
        let fan = (2 * dim, dim);
        let relation_head = builder.matrix("w5.head", dim, dim, fan);
        let relation_tail = builder.matrix("w5.tail", dim, dim, fan);
        let relation_bias = builder.bias("b5", dim, fan);
        let blocks = builder.blocks;
        Self { dim, hidden, ends, relation_head, relation_tail, relation_bias, blocks }
    }

    /// How many weights there are.
    #[must_use]
    pub(crate) fn weights(&self) -> usize {
        self.blocks.len()
    }

    /// W3 and its bias, eq. 3, of each end.
    pub(crate) fn aggregate_blocks(&self) -> impl Iterator<Item = &Block> {
        self.ends.iter().flat_map(|end| {
            end.aggregate_relation.iter().chain([&end.aggregate_entity]).chain(&end.aggregate_bias)
        })
    }

    /// W5 and its bias, eq. 6.
    pub(crate) fn relation_blocks(&self) -> impl Iterator<Item = &Block> {
        [&self.relation_head, &self.relation_tail].into_iter().chain(&self.relation_bias)
    }
}

struct Builder {
    bias: bool,
    blocks: WeightBlocks,
}

impl Builder {
    fn end(&mut self, config: &RanaConfig, name: &str, dim: usize, hidden: usize) -> EndBlocks {
        let sees_entity = config.attn_input == AttnInput::RelationEntity;
        let sums_relation = config.agg_input == AggInput::RelationEntity;
        let attention_fan = (if sees_entity { 3 * dim } else { 2 * dim }, hidden);
        let aggregate_fan = (if sums_relation { 2 * dim } else { dim }, dim);
        EndBlocks {
            attention: (config.attn == Attn::Learned).then(|| AttentionBlocks {
                pair: self.matrix(&format!("{name}w1.pair"), hidden, dim, attention_fan),
                relation: self.matrix(&format!("{name}w1.relation"), hidden, dim, attention_fan),
                entity: sees_entity
                    .then(|| self.matrix(&format!("{name}w1.entity"), hidden, dim, attention_fan)),
                bias: self.bias(&format!("{name}b1"), hidden, attention_fan),
                out: self.matrix(&format!("{name}w2"), 1, hidden, (hidden, 1)),
            }),
            aggregate_relation: sums_relation
                .then(|| self.matrix(&format!("{name}w3.relation"), dim, dim, aggregate_fan)),
            aggregate_entity: self.matrix(&format!("{name}w3.entity"), dim, dim, aggregate_fan),
            aggregate_bias: self.bias(&format!("{name}b3"), dim, aggregate_fan),
            combine: self.matrix(&format!("{name}w4"), dim, dim, (dim, dim)),
            combine_bias: self.bias(&format!("{name}b4"), dim, (dim, dim)),
        }
    }

    fn bias(&mut self, name: &str, rows: usize, fan: (usize, usize)) -> Option<Block> {
        self.bias.then(|| self.blocks.bias(name, rows, fan))
    }

    fn matrix(&mut self, name: &str, rows: usize, columns: usize, fan: (usize, usize)) -> Block {
        self.blocks.matrix(name, rows, columns, fan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::Init;

    #[test]
    fn the_paper_has_as_many_weights_as_counted_by_hand() {
        // W1 2d·d + d, W2 d, W3 2d·d + d, W4 d·d + d, W5 2d·d + d; the bias of W2 cancels.
        assert_eq!(Layout::new(&RanaConfig::default(), 100).weights(), 70_500);
        let separate = RanaConfig { ends: Ends::Separate, ..RanaConfig::default() };
        assert_eq!(Layout::new(&separate, 100).weights(), 2 * 70_500 - 20_100);
    }

    #[test]
    fn initial_weights_have_the_stated_spread() {
        let layout = Layout::new(&RanaConfig::default(), 50);
        let weights = layout.blocks.initial(Init::XavierNormal, 3);
        let w4 = layout.ends[0].combine.of(&weights);
        let variance = w4.iter().map(|&w| f64::from(w).powi(2)).sum::<f64>() / w4.len() as f64;
        assert!((variance / (2.0 / 100.0) - 1.0).abs() < 0.1, "{variance}");
        let bias = layout.ends[0].combine_bias.as_ref().unwrap().of(&weights);
        assert!(bias.iter().all(|&b| b == 0.0));
        assert_eq!(weights, layout.blocks.initial(Init::XavierNormal, 3));
        assert_ne!(weights, layout.blocks.initial(Init::XavierNormal, 4));
        // W5 has 100 inputs, of which each of its two blocks meets a half.
        let bound = 1.0 / 100f32.sqrt();
        let uniform = layout.blocks.initial(Init::Torch, 3);
        assert!(layout.relation_head.of(&uniform).iter().all(|w| w.abs() <= bound));
    }
}
