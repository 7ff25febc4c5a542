//! [`Learner`]: the relation-meta learner (eqs. 1 and 2), forward and backward.
//!
//! Pairs are the rows of a matrix, those of one task one behind the other. Matrix products and sums run over fixed
//! chunks of rows, so that the same batch gives the same bits with any number of threads.

use rana_embed::matmul::{Matrix, add_product};
use rand::Rng;
use rayon::prelude::*;

use super::config::{MetarConfig, Normalisation};
use crate::real::{Real, add_scaled};
use crate::seed::{Purpose, rng};
use crate::training::{Block, WeightBlocks};

/// Rows that are worked on at once.
const CHUNK: usize = 128;
/// Into how many parts the gradients of weights are summed.
const PARTS: usize = 8;
/// The slope of the activation below zero.
const LEAK: f64 = 0.01;
/// Added to the variance of a batch norm.
const EPSILON: f64 = 1e-5;
/// The share of a new batch in the running statistics of a batch norm.
const MOMENTUM: f64 = 0.1;

/// One fully connected layer.
#[derive(Clone, Debug)]
struct Layer {
    inputs: usize,
    outputs: usize,
    weight: Block,
    bias: Block,
    /// The scale and the shift of the norm, one number per place in the support.
    affine: Option<(Block, Block)>,
    /// Their running mean and variance.
    running: Option<(Block, Block)>,
    /// Whether an activation and dropout follow; the last layer is linear.
    is_hidden: bool,
}

/// The relation-meta learner: where its weights stand.
#[derive(Clone, Debug)]
pub(super) struct Learner {
    pub(super) dim: usize,
    /// Places in a support.
    shots: usize,
    layers: Vec<Layer>,
    dropout: f32,
    pub(super) blocks: WeightBlocks,
    pub(super) buffers: WeightBlocks,
}

/// How a pass treats norms and dropout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// By the statistics of the batch, with dropout keyed by seed and step.
    Train { seed: u64, step: u64 },
    /// By the running statistics, without dropout.
    Evaluate,
}

/// The values of a layer's forward pass that the backward pass needs.
struct LayerPass<T> {
    input: Vec<T>,
    /// The sums after the norm, before its scale and shift.
    normalised: Vec<T>,
    /// One over the deviation, by place.
    scale: Vec<T>,
    /// Which components were kept; empty without dropout.
    kept: Vec<bool>,
}

/// The result of a forward pass.
pub(super) struct Pass<T> {
    layers: Vec<LayerPass<T>>,
    mode: Mode,
    /// The relation of each pair (eq. 1).
    pub(super) output: Vec<T>,
    /// The buffers after the pass; empty if they stay as they are.
    pub(super) buffers: Vec<T>,
}

impl<T: Real> Pass<T> {
    /// The pass of some of its pairs alone. In evaluation mode no pair depends on the others.
    pub(super) fn of_pairs(mut self, learner: &Learner, pairs: &[usize]) -> Self {
        let of = |values: &[T], width: usize| -> Vec<T> {
            pairs.iter().flat_map(|&pair| &values[pair * width..(pair + 1) * width]).copied().collect()
        };
        for (layer, pass) in learner.layers.iter().zip(&mut self.layers) {
            debug_assert!(pass.kept.is_empty());
            pass.input = of(&pass.input, layer.inputs);
            pass.normalised = of(&pass.normalised, layer.outputs);
        }
        self.output = of(&self.output, learner.dim);
        self
    }
}

/// The gradients of a pass.
pub(super) struct LearnerGradients<T> {
    pub(super) weights: Vec<T>,
    /// At `[h; t]` of each pair.
    pub(super) input: Vec<T>,
}

impl Learner {
    pub(super) fn new(config: &MetarConfig, shots: usize, dim: usize) -> Self {
        let [first, second] = config.hidden;
        let (mut blocks, mut buffers) = (WeightBlocks::default(), WeightBlocks::default());
        let sizes = [2 * dim, first, second, dim];
        let layers = (0..3)
            .map(|at| {
                let (inputs, outputs, number) = (sizes[at], sizes[at + 1], at + 1);
                let fan = (inputs, outputs);
                let weight = blocks.matrix(&format!("w{number}"), outputs, inputs, fan);
                let bias = blocks.bias(&format!("b{number}"), outputs, fan);
                let is_normed = config.normalisation == Normalisation::BatchPerShot;
                let pair = |of: &mut WeightBlocks, names: [&str; 2]| {
                    let [one, other] = names.map(|name| of.bias(&format!("norm{number}.{name}"), shots, fan));
                    (one, other)
                };
                Layer {
                    inputs,
                    outputs,
                    weight,
                    bias,
                    affine: is_normed.then(|| pair(&mut blocks, ["scale", "shift"])),
                    running: is_normed.then(|| pair(&mut buffers, ["mean", "variance"])),
                    is_hidden: at < 2,
                }
            })
            .collect();
        Self { dim, shots, layers, dropout: config.dropout, blocks, buffers }
    }

    /// Places in a support.
    pub(super) fn shots(&self) -> usize {
        self.shots
    }

    /// Sets what does not start at zero or at random: scales and variances are one.
    pub(super) fn start(&self, weights: &mut [f32], buffers: &mut [f32]) {
        for layer in &self.layers {
            if let Some((scale, _)) = &layer.affine {
                scale.of_mut(weights).fill(1.0);
            }
            if let Some((_, variance)) = &layer.running {
                variance.of_mut(buffers).fill(1.0);
            }
        }
    }

    /// The relations of pairs. `places` says which place in its support each pair has.
    pub(super) fn forward<T: Real>(
        &self,
        weights: &[T],
        buffers: &[T],
        input: Vec<T>,
        places: &[usize],
        mode: Mode,
    ) -> Pass<T> {
        let mut updated = if let Mode::Train { .. } = mode { buffers.to_vec() } else { Vec::new() };
        let mut layers = Vec::with_capacity(self.layers.len());
        let mut input = input;
        for (number, layer) in self.layers.iter().enumerate() {
            let mut sums = layer.linear(weights, &input);
            let scale = layer.normalise(&mut sums, buffers, &mut updated, places, self.shots, mode);
            let kept = self.kept(layer, number, places.len(), mode);
            let output = layer.activate(weights, &sums, places, &kept, self.keep_scale());
            layers.push(LayerPass { input, normalised: sums, scale, kept });
            input = output;
        }
        Pass { layers, mode, output: input, buffers: updated }
    }

    /// The factor of components that are kept, so that sums stay as large.
    fn keep_scale(&self) -> f64 {
        1.0 / (1.0 - f64::from(self.threshold()) / 256.0)
    }

    /// The share of dropped components in 256ths, as one random byte decides.
    fn threshold(&self) -> u8 {
        (self.dropout * 256.0).round().min(255.0) as u8
    }

    fn kept(&self, layer: &Layer, number: usize, rows: usize, mode: Mode) -> Vec<bool> {
        let Mode::Train { seed, step } = mode else { return Vec::new() };
        let threshold = self.threshold();
        if !layer.is_hidden || threshold == 0 {
            return Vec::new();
        }
        let mut kept = vec![true; rows * layer.outputs];
        kept.par_chunks_mut(CHUNK * layer.outputs).enumerate().for_each(|(chunk, kept)| {
            let place = (number as u64) << 32 | chunk as u64;
            let mut bytes = vec![0u8; kept.len()];
            rng(seed, Purpose::Dropout, [step, place]).fill_bytes(&mut bytes);
            kept.iter_mut().zip(bytes).for_each(|(kept, byte)| *kept = byte >= threshold);
        });
        kept
    }

    /// The gradients of a pass, given those at its output.
    pub(super) fn backward<T: Real>(
        &self,
        weights: &[T],
        pass: &Pass<T>,
        places: &[usize],
        output: Vec<T>,
    ) -> LearnerGradients<T> {
        let mut gradients = vec![T::ZERO; self.blocks.len()];
        let mut at_output = output;
        for (layer, kept) in self.layers.iter().zip(&pass.layers).rev() {
            layer.back_through_activation(weights, kept, places, self.keep_scale(), &mut at_output);
            layer.back_through_norm(weights, kept, places, pass.mode, &mut at_output, &mut gradients);
            at_output = layer.back_through_linear(weights, &kept.input, &at_output, &mut gradients);
        }
        LearnerGradients { weights: gradients, input: at_output }
    }
}

impl Layer {
    /// `x Wᵀ + b`.
    fn linear<T: Real>(&self, weights: &[T], input: &[T]) -> Vec<T> {
        let (weight, bias) = (self.weight.of(weights), self.bias.of(weights));
        let mut sums = vec![T::ZERO; input.len() / self.inputs * self.outputs];
        let inputs = input.par_chunks(CHUNK * self.inputs);
        sums.par_chunks_mut(CHUNK * self.outputs).zip(inputs).for_each(|(sums, input)| {
            let rows = input.len() / self.inputs;
            sums.chunks_exact_mut(self.outputs).for_each(|row| row.copy_from_slice(bias));
            let weight = Matrix::new(weight, self.outputs, self.inputs).transposed();
            add_product(sums, Matrix::new(input, rows, self.inputs), weight);
        });
        sums
    }

    /// Normalises sums in place by the statistics of each place in the support; one over the deviations.
    fn normalise<T: Real>(
        &self,
        sums: &mut [T],
        buffers: &[T],
        updated: &mut [T],
        places: &[usize],
        shots: usize,
        mode: Mode,
    ) -> Vec<T> {
        let Some((running_mean, running_variance)) = &self.running else { return Vec::new() };
        let (mean, variance): (Vec<f64>, Vec<f64>) = match mode {
            Mode::Evaluate => {
                let wide = |block: &Block| block.of(buffers).iter().map(|value| value.wide()).collect();
                (wide(running_mean), wide(running_variance))
            }
            Mode::Train { .. } => {
                let (counts, mean) = self.by_place(sums, places, shots, &|value, _| value);
                let (_, variance) =
                    self.by_place(sums, places, shots, &|value, place| (value - mean[place]).powi(2));
                for place in 0..shots {
                    let unbiased = variance[place] * counts[place] / (counts[place] - 1.0).max(1.0);
                    let found = [(running_mean, mean[place]), (running_variance, unbiased)];
                    for (block, found) in found {
                        let value = &mut block.of_mut(updated)[place];
                        *value = T::of((1.0 - MOMENTUM) * value.wide() + MOMENTUM * found);
                    }
                }
                (mean, variance)
            }
        };
        let scale: Vec<T> =
            variance.iter().map(|variance| T::of(1.0 / (variance + EPSILON).sqrt())).collect();
        let mean: Vec<T> = mean.into_iter().map(T::of).collect();
        let rows = sums.par_chunks_mut(self.outputs).zip(places).with_min_len(CHUNK);
        rows.for_each(|(row, &place)| {
            row.iter_mut().for_each(|value| *value = (*value - mean[place]) * scale[place]);
        });
        scale
    }

    /// How many values each place in the support has, and the mean of something over them.
    fn by_place<T: Real>(
        &self,
        values: &[T],
        places: &[usize],
        shots: usize,
        of: &(impl Fn(f64, usize) -> f64 + Sync),
    ) -> (Vec<f64>, Vec<f64>) {
        let chunks: Vec<Vec<f64>> = values
            .par_chunks(CHUNK * self.outputs)
            .zip(places.par_chunks(CHUNK))
            .map(|(values, places)| {
                let mut sums = vec![0.0; shots];
                for (row, &place) in values.chunks_exact(self.outputs).zip(places) {
                    sums[place] += row.iter().map(|value| of(value.wide(), place)).sum::<f64>();
                }
                sums
            })
            .collect();
        let mut counts = vec![0.0; shots];
        places.iter().for_each(|&place| counts[place] += self.outputs as f64);
        let mut means = vec![0.0; shots];
        for sums in chunks {
            means.iter_mut().zip(sums).for_each(|(mean, sum)| *mean += sum);
        }
        means.iter_mut().zip(&counts).for_each(|(mean, count): (_, &f64)| *mean /= count.max(1.0));
        (counts, means)
    }

    /// The scale and the shift of a place; those of a layer without a norm change nothing.
    fn affine<T: Real>(&self, weights: &[T], place: usize) -> (T, T) {
        match &self.affine {
            Some((scale, shift)) => (scale.of(weights)[place], shift.of(weights)[place]),
            None => (T::ONE, T::ZERO),
        }
    }

    /// Scale and shift, the activation, and dropout.
    fn activate<T: Real>(
        &self,
        weights: &[T],
        normalised: &[T],
        places: &[usize],
        kept: &[bool],
        keep_scale: f64,
    ) -> Vec<T> {
        let (leak, keep_scale) = (T::of(LEAK), T::of(keep_scale));
        let mut output = normalised.to_vec();
        let rows = output.par_chunks_mut(self.outputs).zip(places).enumerate().with_min_len(CHUNK);
        rows.for_each(|(at, (row, &place))| {
            let (scale, shift) = self.affine(weights, place);
            row.iter_mut().for_each(|value| *value = scale * *value + shift);
            if !self.is_hidden {
                return;
            }
            row.iter_mut().for_each(|value| *value *= if *value < T::ZERO { leak } else { T::ONE });
            if let Some(kept) = kept.get(at * self.outputs..(at + 1) * self.outputs) {
                let pairs = row.iter_mut().zip(kept);
                pairs.for_each(|(value, &kept)| *value *= if kept { keep_scale } else { T::ZERO });
            }
        });
        output
    }

    /// From the gradient at the output to that before the activation, after the shift.
    fn back_through_activation<T: Real>(
        &self,
        weights: &[T],
        pass: &LayerPass<T>,
        places: &[usize],
        keep_scale: f64,
        gradient: &mut [T],
    ) {
        if !self.is_hidden {
            return;
        }
        let (leak, keep_scale) = (T::of(LEAK), T::of(keep_scale));
        let normalised = pass.normalised.par_chunks(self.outputs);
        let rows = gradient.par_chunks_mut(self.outputs).zip(normalised).zip(places).enumerate();
        rows.with_min_len(CHUNK).for_each(|(at, ((row, normalised), &place))| {
            let (scale, shift) = self.affine(weights, place);
            for (gradient, &value) in row.iter_mut().zip(normalised) {
                *gradient *= if scale * value + shift < T::ZERO { leak } else { T::ONE };
            }
            if let Some(kept) = pass.kept.get(at * self.outputs..(at + 1) * self.outputs) {
                let pairs = row.iter_mut().zip(kept);
                pairs.for_each(|(gradient, &kept)| *gradient *= if kept { keep_scale } else { T::ZERO });
            }
        });
    }

    /// From the gradient after the shift to that of the sums, adding those of scale and shift.
    fn back_through_norm<T: Real>(
        &self,
        weights: &[T],
        pass: &LayerPass<T>,
        places: &[usize],
        mode: Mode,
        gradient: &mut [T],
        gradients: &mut [T],
    ) {
        let Some((scale, shift)) = &self.affine else { return };
        let shots = scale.rows;
        let (counts, of_shift) = self.by_place(gradient, places, shots, &|value, _| value);
        let products: Vec<T> =
            gradient.iter().zip(&pass.normalised).map(|(&gradient, &value)| gradient * value).collect();
        let (_, of_scale) = self.by_place(&products, places, shots, &|value, _| value);
        for place in 0..shots {
            scale.of_mut(gradients)[place] += T::of(of_scale[place] * counts[place]);
            shift.of_mut(gradients)[place] += T::of(of_shift[place] * counts[place]);
        }
        let scales = scale.of(weights);
        let normalised = pass.normalised.par_chunks(self.outputs);
        let rows = gradient.par_chunks_mut(self.outputs).zip(normalised).zip(places);
        rows.with_min_len(CHUNK).for_each(|((row, normalised), &place)| {
            let factor = scales[place] * pass.scale[place];
            let (mean, product) = match mode {
                Mode::Train { .. } => (T::of(of_shift[place]), T::of(of_scale[place])),
                // Running statistics do not depend on the batch.
                Mode::Evaluate => (T::ZERO, T::ZERO),
            };
            for (gradient, &value) in row.iter_mut().zip(normalised) {
                *gradient = factor * (*gradient - mean - value * product);
            }
        });
    }

    /// From the gradient of the sums to that of the input, adding those of weight and bias.
    fn back_through_linear<T: Real>(
        &self,
        weights: &[T],
        input: &[T],
        gradient: &[T],
        gradients: &mut [T],
    ) -> Vec<T> {
        let rows = input.len() / self.inputs;
        let chunks = rows.div_ceil(CHUNK);
        let parts: Vec<(Vec<T>, Vec<T>)> = (0..PARTS.min(chunks))
            .into_par_iter()
            .map(|part| {
                let share = |part: usize| (part * chunks / PARTS.min(chunks) * CHUNK).min(rows);
                let (start, end) = (share(part), share(part + 1));
                let gradient = &gradient[start * self.outputs..end * self.outputs];
                let input = &input[start * self.inputs..end * self.inputs];
                let mut weight = vec![T::ZERO; self.outputs * self.inputs];
                let transposed = Matrix::new(gradient, end - start, self.outputs).transposed();
                add_product(&mut weight, transposed, Matrix::new(input, end - start, self.inputs));
                let mut bias = vec![T::ZERO; self.outputs];
                gradient.chunks_exact(self.outputs).for_each(|row| add_scaled(&mut bias, T::ONE, row));
                (weight, bias)
            })
            .collect();
        for (weight, bias) in &parts {
            add_scaled(self.weight.of_mut(gradients), T::ONE, weight);
            add_scaled(self.bias.of_mut(gradients), T::ONE, bias);
        }
        let weight = Matrix::new(self.weight.of(weights), self.outputs, self.inputs);
        let mut at_input = vec![T::ZERO; input.len()];
        let chunks = gradient.par_chunks(CHUNK * self.outputs);
        at_input.par_chunks_mut(CHUNK * self.inputs).zip(chunks).for_each(|(to, gradient)| {
            add_product(to, Matrix::new(gradient, gradient.len() / self.outputs, self.outputs), weight);
        });
        at_input
    }
}
