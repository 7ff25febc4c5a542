//! [`PairTransformer`]: from two encoded ends to a pair (eqs. 6 and 7).
//!
//! A transformer (Vaswani et al., 2017) reads the head, a mask and the tail, each with its position added; what stands at
//! the mask after the last layer is the pair.

use rand::RngExt;

use super::config::{AttentionScale, FaanConfig, HeadLayout, Positions, Width};
use super::neighbour_encoder::EPSILON;
use crate::real::Real;
use crate::seed::{Purpose, rng};
use crate::tape::{Heads, Segments, Spread, Tape, Var};
use crate::training::{Block, WeightBlocks};

/// Head, mask and tail.
const POSITIONS: usize = 3;
/// The layers of the feed-forward network are as many times as wide as the transformer.
const FEED_FORWARD: usize = 2;

/// Encodes pairs.
#[derive(Clone, Debug)]
pub(super) struct PairTransformer {
    dim: usize,
    /// How many times its input is repeated.
    repeats: usize,
    heads: usize,
    layout: HeadLayout,
    scale: f64,
    dropout: f32,
    mask: Block,
    positions: Option<Block>,
    layers: Vec<Layer>,
}

/// A matrix and its bias.
#[derive(Clone, Debug)]
struct Affine {
    weight: Block,
    bias: Block,
}

impl Affine {
    fn new(blocks: &mut WeightBlocks, name: &str, (inputs, outputs): (usize, usize)) -> Self {
        let fan = (inputs, outputs);
        Self {
            weight: blocks.matrix(&format!("{name}.weight"), outputs, inputs, fan),
            bias: blocks.bias(&format!("{name}.bias"), outputs, fan),
        }
    }

    fn apply<T: Real>(&self, tape: &mut Tape<'_, T>, x: Var) -> Var {
        let (weight, bias) = (tape.weight(&self.weight), tape.weight(&self.bias));
        tape.linear(x, weight, Some(bias))
    }

    /// The same for an input that is repeated: its columns are summed up instead.
    fn apply_repeated<T: Real>(&self, tape: &mut Tape<'_, T>, x: Var, repeats: usize) -> Var {
        let (weight, bias) = (tape.weight(&self.weight), tape.weight(&self.bias));
        let dim = tape.shape(x).1;
        let mut sum = tape.slice_columns(weight, 0..dim);
        for part in 1..repeats {
            let part = tape.slice_columns(weight, part * dim..(part + 1) * dim);
            sum = tape.add(sum, part);
        }
        tape.linear(x, sum, Some(bias))
    }
}

/// The scale and the shift of a layer norm.
#[derive(Clone, Debug)]
struct Norm {
    scale: Block,
    shift: Block,
}

impl Norm {
    fn new(blocks: &mut WeightBlocks, name: &str, width: usize) -> Self {
        Self {
            scale: blocks.bias(&format!("{name}.scale"), width, (width, width)),
            shift: blocks.bias(&format!("{name}.shift"), width, (width, width)),
        }
    }

    fn start(&self, weights: &mut [f32]) {
        self.scale.of_mut(weights).fill(1.0);
        self.shift.of_mut(weights).fill(0.0);
    }

    /// The norm of a sum.
    fn of_sum<T: Real>(&self, tape: &mut Tape<'_, T>, a: Var, b: Var) -> Var {
        let sum = tape.add(a, b);
        let (scale, shift) = (tape.weight(&self.scale), tape.weight(&self.shift));
        tape.layer_norm(sum, scale, shift, Spread::Variance(EPSILON))
    }
}

/// One layer.
#[derive(Clone, Debug)]
struct Layer {
    query: Affine,
    key: Affine,
    value: Affine,
    output: Affine,
    attention_norm: Norm,
    expand: Affine,
    contract: Affine,
    norm: Norm,
}

impl Layer {
    /// `inner` is the width of all heads together.
    fn new(blocks: &mut WeightBlocks, name: &str, width: usize, inner: usize) -> Self {
        let mut affine =
            |part: &str, sizes: (usize, usize)| Affine::new(blocks, &format!("{name}.{part}"), sizes);
        let (query, key, value) =
            (affine("query", (width, inner)), affine("key", (width, inner)), affine("value", (width, inner)));
        let output = affine("output", (inner, width));
        let expand = affine("expand", (width, FEED_FORWARD * width));
        let contract = affine("contract", (FEED_FORWARD * width, width));
        let mut norm = |part: &str| Norm::new(blocks, &format!("{name}.{part}"), width);
        let (attention_norm, norm) = (norm("attention_norm"), norm("norm"));
        Self { query, key, value, output, attention_norm, expand, contract, norm }
    }
}

impl PairTransformer {
    /// Adds the weights for ends of `dim` numbers.
    pub(super) fn new(blocks: &mut WeightBlocks, config: &FaanConfig, dim: usize) -> Self {
        let repeats = match config.width {
            Width::Vector => 1,
            Width::VectorPerHead => config.heads,
        };
        let width = repeats * dim;
        // If heads do not divide the width, they are a little wider together than what they look at.
        let of_head = width.div_ceil(config.heads);
        let divisor = match config.attention_scale {
            AttentionScale::HeadWidth => of_head,
            AttentionScale::HeadWidthOverHeads => (of_head / config.heads).max(1),
        };
        let mask = blocks.bias("transformer.mask", dim, (dim, dim));
        let positions = match config.positions {
            Positions::Learned => Some(blocks.matrix("transformer.positions", POSITIONS, dim, (dim, dim))),
            Positions::Waves => None,
        };
        let layers = (0..config.layers)
            .map(|layer| Layer::new(blocks, &format!("transformer.{layer}"), width, of_head * config.heads))
            .collect();
        Self {
            dim,
            repeats,
            heads: config.heads,
            layout: config.head_layout,
            scale: 1.0 / (divisor as f64).sqrt(),
            dropout: config.layer_dropout,
            mask,
            positions,
            layers,
        }
    }

    /// Norms start as those that change nothing, positions as waves, the mask between 0 and 1.
    pub(super) fn start(&self, weights: &mut [f32], seed: u64) {
        for layer in &self.layers {
            layer.attention_norm.start(weights);
            layer.norm.start(weights);
        }
        let mut rng = rng(seed, Purpose::Weights, [0, 1]);
        self.mask.of_mut(weights).fill_with(|| rng.random());
        if let Some(positions) = &self.positions {
            positions.of_mut(weights).copy_from_slice(&waves::<f32>(self.dim));
        }
    }

    /// Numbers of an encoded pair.
    pub(super) fn width(&self) -> usize {
        self.repeats * self.dim
    }

    /// A row for each pair, from those of its two ends.
    pub(super) fn encode<T: Real>(&self, tape: &mut Tape<'_, T>, ends: Var) -> Var {
        let count = tape.shape(ends).0 as u32 / 2;
        let input = self.input(tape, ends, count);
        let repeated =
            if self.repeats == 1 { input } else { tape.concat_columns(&vec![input; self.repeats]) };
        let mut state = repeated;
        for (number, layer) in self.layers.iter().enumerate() {
            let narrow = (number == 0 && self.repeats > 1).then_some(input);
            let is_last = number + 1 == self.layers.len();
            state = self.layer(tape, layer, state, narrow, is_last.then_some(count));
        }
        state
    }

    /// Head, mask and tail of each pair, each with its position (eq. 6).
    fn input<T: Real>(&self, tape: &mut Tape<'_, T>, ends: Var, count: u32) -> Var {
        let mask = tape.weight(&self.mask);
        let mask = tape.reshape(mask, self.dim);
        let all = tape.concat_rows(&[ends, mask]);
        let elements = (0..count).flat_map(|pair| [2 * pair, 2 * count, 2 * pair + 1]).collect();
        let elements = tape.gather_rows(all, elements);
        let positions = match &self.positions {
            Some(positions) => tape.weight(positions),
            None => tape.constant(waves(self.dim), self.dim),
        };
        let positions = tape.gather_rows(positions, (0..count).flat_map(|_| 0..POSITIONS as u32).collect());
        tape.add(elements, positions)
    }

    /// One layer (eq. 7). `narrow` is the input before it was repeated. The last layer of so many pairs gives only what
    /// stands at their masks.
    fn layer<T: Real>(
        &self,
        tape: &mut Tape<'_, T>,
        layer: &Layer,
        state: Var,
        narrow: Option<Var>,
        last: Option<u32>,
    ) -> Var {
        let masks: Option<Vec<u32>> =
            last.map(|count| (0..count).map(|pair| POSITIONS as u32 * pair + 1).collect());
        let at_masks = |tape: &mut Tape<'_, T>, x: Var| match &masks {
            Some(masks) => tape.gather_rows(x, masks.clone()),
            None => x,
        };
        let apply = |tape: &mut Tape<'_, T>, affine: &Affine, x: Var| match narrow {
            Some(_) => affine.apply_repeated(tape, x, self.repeats),
            None => affine.apply(tape, x),
        };
        let input = narrow.unwrap_or(state);
        let asking = match self.layout {
            HeadLayout::ByHead => at_masks(tape, input),
            // Heads are dealt out over all positions.
            HeadLayout::Mixed => input,
        };
        let queries = apply(tape, &layer.query, asking);
        let (keys, values) = (apply(tape, &layer.key, input), apply(tape, &layer.value, input));
        let context = self.attend(tape, queries, keys, values);
        let context = match self.layout {
            HeadLayout::ByHead => context,
            HeadLayout::Mixed => at_masks(tape, context),
        };
        let state = at_masks(tape, state);
        let output = layer.output.apply(tape, context);
        let output = tape.dropout(output, self.dropout);
        let state = layer.attention_norm.of_sum(tape, state, output);
        let hidden = layer.expand.apply(tape, state);
        let hidden = tape.gelu(hidden);
        let output = layer.contract.apply(tape, hidden);
        let output = tape.dropout(output, self.dropout);
        layer.norm.of_sum(tape, state, output)
    }

    /// What the positions that ask gather from all, the heads side by side.
    fn attend<T: Real>(&self, tape: &mut Tape<'_, T>, queries: Var, keys: Var, values: Var) -> Var {
        let (rows, inner) = tape.shape(keys);
        let pairs = rows / POSITIONS;
        match self.layout {
            HeadLayout::ByHead => {
                let asking = tape.shape(queries).0 / pairs;
                let heads = Heads {
                    queries: Segments::equal(pairs, asking),
                    keys: Segments::equal(pairs, POSITIONS),
                    heads: self.heads,
                };
                let weights = tape.attention_weights(queries, keys, &heads, self.scale);
                let weights = tape.dropout(weights, self.dropout);
                tape.attend(weights, values, &heads)
            }
            HeadLayout::Mixed => {
                let [queries, keys, values] =
                    [queries, keys, values].map(|all| tape.reshape(all, inner / self.heads));
                let heads = Heads::within(&Segments::equal(pairs * self.heads, POSITIONS), 1);
                let weights = tape.attention_weights(queries, keys, &heads, self.scale);
                let weights = tape.dropout(weights, self.dropout);
                let context = tape.attend(weights, values, &heads);
                tape.reshape(context, inner)
            }
        }
    }
}

/// Sines and cosines of each position, of ever longer waves.
fn waves<T: Real>(dim: usize) -> Vec<T> {
    let wave = |position: usize, column: usize| {
        let length = 10000f64.powf((column / 2 * 2) as f64 / dim as f64);
        let angle = position as f64 / length;
        T::of(if column.is_multiple_of(2) { angle.sin() } else { angle.cos() })
    };
    (0..POSITIONS).flat_map(|position| (0..dim).map(move |column| wave(position, column))).collect()
}
