//! [`Layout`]: where each weight matrix stands in one vector of all weights.
//!
//! Matrices of the paper that meet a concatenation are kept as one block per part: `W1 [r; ρ]` is
//! `Wa r + Wb ρ`, so that each half can be applied where it is cheapest.

use std::ops::Range;

use rana_graph::keyed_rng;
use rand::RngExt;

use super::config::{AggInput, Attn, AttnInput, Ends, Init, RanaConfig};
use crate::seed::Purpose;

/// One matrix or bias in the vector of all weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What files call it.
    pub name: String,
    /// Outputs.
    pub rows: usize,
    /// Inputs; 1 for a bias.
    pub columns: usize,
    start: usize,
    /// The inputs and outputs of the whole map it is a part of.
    fan: (usize, usize),
    is_bias: bool,
}

impl Block {
    /// Its values.
    pub(crate) fn of<'w, T>(&self, weights: &'w [T]) -> &'w [T] {
        &weights[self.range()]
    }

    /// Its values, to change.
    pub(crate) fn of_mut<'w, T>(&self, weights: &'w mut [T]) -> &'w mut [T] {
        &mut weights[self.range()]
    }

    /// Where it stands.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }
}

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

/// What encodes one end of a pair.
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
    /// What meets the relation to a neighbour: of W1 and of W3.
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
    blocks: Vec<Block>,
    len: usize,
}

impl Layout {
    /// The weights that a configuration needs for vectors of a dimension.
    #[must_use]
    pub fn new(config: &RanaConfig, dim: usize) -> Self {
        let hidden = if config.hidden == 0 { dim } else { config.hidden };
        let mut builder = Builder { bias: config.bias, blocks: Vec::new(), len: 0 };
        let names: &[&str] = match config.ends {
            Ends::Shared => &[""],
            Ends::Separate => &["head.", "tail."],
        };
        let ends = names.iter().map(|name| builder.end(config, name, dim, hidden)).collect();
        let fan = (2 * dim, dim);
        let relation_head = builder.matrix("w5.head", dim, dim, fan);
        let relation_tail = builder.matrix("w5.tail", dim, dim, fan);
        let relation_bias = builder.bias("b5", dim, fan);
        let Builder { blocks, len, .. } = builder;
        Self { dim, hidden, ends, relation_head, relation_tail, relation_bias, blocks, len }
    }

    /// How many weights there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none, which no configuration makes so.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Every block, in order.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// W5 and its bias, eq. 6.
    pub(crate) fn relation_blocks(&self) -> impl Iterator<Item = &Block> {
        [&self.relation_head, &self.relation_tail].into_iter().chain(&self.relation_bias)
    }

    /// The weights that training starts from.
    #[must_use]
    pub fn initial(&self, init: Init, seed: u64) -> Vec<f32> {
        let mut weights = vec![0.0; self.len];
        for (number, block) in self.blocks.iter().enumerate() {
            let mut rng = keyed_rng([seed, Purpose::Weights as u64, number as u64, 0]);
            let (inputs, outputs) = (block.fan.0 as f64, block.fan.1 as f64);
            let values = block.of_mut(&mut weights);
            match init {
                Init::XavierNormal if block.is_bias => {}
                Init::XavierNormal => {
                    let deviation = (2.0 / (inputs + outputs)).sqrt();
                    values.fill_with(|| (deviation * normal(&mut rng)) as f32);
                }
                Init::Torch => {
                    let bound = 1.0 / inputs.sqrt();
                    values.fill_with(|| rng.random_range(-bound..bound) as f32);
                }
            }
        }
        weights
    }
}

/// A number from the standard normal distribution, by the method of Box and Muller.
fn normal(rng: &mut impl rand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

struct Builder {
    bias: bool,
    blocks: Vec<Block>,
    len: usize,
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
        self.bias.then(|| self.block(name, rows, 1, fan, true))
    }

    fn matrix(&mut self, name: &str, rows: usize, columns: usize, fan: (usize, usize)) -> Block {
        self.block(name, rows, columns, fan, false)
    }

    fn block(
        &mut self,
        name: &str,
        rows: usize,
        columns: usize,
        fan: (usize, usize),
        is_bias: bool,
    ) -> Block {
        let block = Block { name: name.to_owned(), rows, columns, start: self.len, fan, is_bias };
        self.len += rows * columns;
        self.blocks.push(block.clone());
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_has_as_many_weights_as_counted_by_hand() {
        // W1 2d·d + d, W2 d, W3 2d·d + d, W4 d·d + d, W5 2d·d + d; the bias of W2 cancels.
        assert_eq!(Layout::new(&RanaConfig::default(), 100).len(), 70_500);
        let separate = RanaConfig { ends: Ends::Separate, ..RanaConfig::default() };
        assert_eq!(Layout::new(&separate, 100).len(), 2 * 70_500 - 20_100);
    }

    #[test]
    fn initial_weights_have_the_stated_spread() {
        let layout = Layout::new(&RanaConfig::default(), 50);
        let weights = layout.initial(Init::XavierNormal, 3);
        let w4 = layout.ends[0].combine.of(&weights);
        let variance = w4.iter().map(|&w| f64::from(w).powi(2)).sum::<f64>() / w4.len() as f64;
        assert!((variance / (2.0 / 100.0) - 1.0).abs() < 0.1, "{variance}");
        let bias = layout.ends[0].combine_bias.as_ref().unwrap().of(&weights);
        assert!(bias.iter().all(|&b| b == 0.0));
        assert_eq!(weights, layout.initial(Init::XavierNormal, 3));
        assert_ne!(weights, layout.initial(Init::XavierNormal, 4));
        let bound = 1.0 / 100f32.sqrt();
        let uniform = layout.initial(Init::Torch, 3);
        assert!(layout.relation_head.of(&uniform).iter().all(|w| w.abs() <= bound));
    }
}
