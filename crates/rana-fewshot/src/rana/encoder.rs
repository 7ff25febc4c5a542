//! The relation-aware entity encoder (eqs. 1 to 6), forwards and backwards, many pairs at a time.
//!
//! What is exact algebra is used: `W3` stands outside of the neighbours' sum, `W1` is applied once per
//! pair and once per relation instead of once per neighbour, and a pair is encoded once per step
//! however many tasks it occurs in.

use pulp::{Arch, Simd, WithSimd};
use rana_embed::matmul::{Matrix, add_product};
use rana_embed::prefetch::fetch;
use rana_graph::{Edge, EntityId, Pair};
use rand::RngExt;

use super::attend::{Attend, AttendGradients, Attended, Backward, Forward, Logits};
use super::config::{Activation, Attn, Padding};
use super::inputs::Inputs;
use super::real::{Real, add_scaled};
use super::row_gradients::RowGradients;
use super::weights::EndBlocks;
use crate::seed::{Purpose, rng};

/// Pairs that are encoded together: enough for matrix products to pay, few enough for a cache.
pub(super) const CHUNK: usize = 64;

/// An end of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Head,
    Tail,
}

impl End {
    pub(crate) const BOTH: [Self; 2] = [Self::Head, Self::Tail];

    pub(crate) fn of(self, pair: Pair) -> EntityId {
        match self {
            Self::Head => pair.head,
            Self::Tail => pair.tail,
        }
    }
}

/// `Wb ρ` of every relation, for each end that has weights of its own.
pub(crate) struct Projection<T>(Vec<Vec<T>>);

impl<T: Real> Projection<T> {
    pub(crate) fn new(inputs: Inputs<'_, T>) -> Self {
        let (dim, hidden) = (inputs.dim(), inputs.layout.hidden);
        let relations = inputs.relations.len() / dim;
        let of_end = |blocks: &EndBlocks| match &blocks.attention {
            None => Vec::new(),
            Some(attention) => {
                let mut projected = vec![T::ZERO; relations * hidden];
                let weights = Matrix::new(attention.relation.of(inputs.weights), hidden, dim);
                add_product(
                    &mut projected,
                    Matrix::new(inputs.relations, relations, dim),
                    weights.transposed(),
                );
                projected
            }
        };
        Self(inputs.layout.ends.iter().map(of_end).collect())
    }
}

/// What the encoder adds gradients to.
pub(super) struct EncoderGradients<T> {
    pub(super) weights: Vec<T>,
    /// Of the [`Projection`].
    pub(super) projected: Vec<Vec<T>>,
    /// Of relation rows; empty unless they learn.
    pub(super) relations: Vec<T>,
    /// Of entity rows, if the encoder's learn.
    pub(super) entities: Option<RowGradients<T>>,
    scratch: Vec<T>,
    slopes: Vec<T>,
}

impl<T: Real> EncoderGradients<T> {
    pub(super) fn new(inputs: Inputs<'_, T>, projection: &Projection<T>, entities: bool) -> Self {
        let relations = if inputs.config.train_relations { inputs.relations.len() } else { 0 };
        Self {
            weights: vec![T::ZERO; inputs.layout.len()],
            projected: projection.0.iter().map(|projected| vec![T::ZERO; projected.len()]).collect(),
            relations: vec![T::ZERO; relations],
            entities: entities.then(|| RowGradients::new(inputs.dim())),
            scratch: vec![T::ZERO; inputs.layout.hidden],
            slopes: vec![T::ZERO; inputs.config.neighbours],
        }
    }

    /// Adds the gradients of others, which come after these.
    pub(super) fn add(&mut self, other: &Self) {
        add_scaled(&mut self.weights, T::ONE, &other.weights);
        for (to, from) in self.projected.iter_mut().zip(&other.projected) {
            add_scaled(to, T::ONE, from);
        }
        add_scaled(&mut self.relations, T::ONE, &other.relations);
        if let (Some(to), Some(from)) = (&mut self.entities, &other.entities) {
            to.append(from);
        }
    }

    /// Turns the gradient of the projection into those of `Wb` and of relation rows.
    pub(super) fn finish(&mut self, inputs: Inputs<'_, T>) {
        let (dim, hidden) = (inputs.dim(), inputs.layout.hidden);
        let relations = inputs.relations.len() / dim;
        for (blocks, projected) in inputs.layout.ends.iter().zip(&self.projected) {
            let Some(attention) = &blocks.attention else { continue };
            let projected = Matrix::new(projected, relations, hidden);
            let rows = Matrix::new(inputs.relations, relations, dim);
            add_product(attention.relation.of_mut(&mut self.weights), projected.transposed(), rows);
            if !self.relations.is_empty() {
                let weights = Matrix::new(attention.relation.of(inputs.weights), hidden, dim);
                add_product(&mut self.relations, projected, weights);
            }
        }
    }
}

/// Some pairs and all that the encoder made of them, kept for the way back.
#[derive(Default)]
pub(super) struct Chunk<T> {
    pairs: Vec<Pair>,
    /// eq. 1.
    r: Vec<T>,
    ends: [EndState<T>; 2],
    /// eq. 6.
    relation: Vec<T>,
    /// What `[h'; t']` is multiplied with, if components are dropped.
    relation_mask: [Vec<T>; 2],
    neighbours: usize,
}

/// The encoder's state at one end of some pairs, row by row.
#[derive(Default)]
struct EndState<T> {
    /// `Wa r + b1`.
    pair: Vec<T>,
    /// α, of every neighbour.
    alpha: Vec<T>,
    /// α of all places without a neighbour together.
    padding: Vec<T>,
    /// What the biases of eq. 3 add up to: Σ α.
    mass: Vec<T>,
    /// `Σ α ρ` and `Σ α c`.
    relation_sum: Vec<T>,
    entity_sum: Vec<T>,
    /// What they are multiplied with, if components are dropped.
    relation_mask: Vec<T>,
    entity_mask: Vec<T>,
    /// `e + A`.
    combined: Vec<T>,
    /// eq. 5.
    encoded: Vec<T>,
}

/// The gradients at the outputs of a chunk's pairs.
pub(super) struct ChunkGradients<'a, T> {
    /// Of eq. 6.
    pub(super) relation: &'a [T],
    /// Of eq. 5 at heads and tails, if they are scored.
    pub(super) encoded: Option<[&'a [T]; 2]>,
    /// Takes the gradients of eq. 1, if entity rows learn from it.
    pub(super) r: Option<&'a mut [T]>,
}

impl<T: Real> Chunk<T> {
    /// eq. 6 of a pair.
    pub(super) fn relation(&self, at: usize) -> &[T] {
        let dim = self.relation.len() / self.pairs.len();
        &self.relation[at * dim..(at + 1) * dim]
    }

    /// eq. 5 of an end of a pair.
    pub(super) fn encoded(&self, at: usize, end: End) -> &[T] {
        let dim = self.relation.len() / self.pairs.len();
        &self.ends[end as usize].encoded[at * dim..(at + 1) * dim]
    }

    /// α over the neighbours of an end of a pair, those it does not have being zero.
    pub(super) fn alpha(&self, at: usize, end: End) -> &[T] {
        &self.ends[end as usize].alpha[at * self.neighbours..(at + 1) * self.neighbours]
    }

    /// Encodes pairs with what eq. 1 gives for each.
    pub(super) fn encode(inputs: Inputs<'_, T>, projection: &Projection<T>, pairs: &[Pair], r: &[T]) -> Self {
        let (dim, rows) = (inputs.dim(), pairs.len());
        let mut chunk = Self {
            pairs: pairs.to_vec(),
            r: r.to_vec(),
            neighbours: inputs.config.neighbours,
            ..Self::default()
        };
        for end in End::BOTH {
            let state = chunk.encode_end(inputs, projection, end);
            chunk.ends[end as usize] = state;
        }
        chunk.relation_mask = chunk.masks(inputs, 2, inputs.config.fc_dropout);
        let layout = inputs.layout;
        let mut relation =
            broadcast(layout.relation_bias.as_ref().map(|bias| bias.of(inputs.weights)), rows, dim);
        for (end, block) in End::BOTH.into_iter().zip([&layout.relation_head, &layout.relation_tail]) {
            let encoded = masked(&chunk.ends[end as usize].encoded, &chunk.relation_mask[end as usize]);
            let weights = Matrix::new(block.of(inputs.weights), dim, dim);
            add_product(&mut relation, Matrix::new(&encoded, rows, dim), weights.transposed());
        }
        activate(inputs.config.rel_act, &mut relation);
        chunk.relation = relation;
        chunk
    }

    fn edges<'a>(&self, inputs: Inputs<'a, T>, at: usize, end: End) -> &'a [Edge] {
        inputs.neighbours.of(end.of(self.pairs[at]))
    }

    /// Starts to bring into the cache what attention at the next pair needs.
    fn fetch_next(&self, inputs: Inputs<'_, T>, at: usize, end: End) {
        if at + 2 < self.pairs.len() {
            fetch(self.edges(inputs, at + 2, end));
        }
        if at + 1 < self.pairs.len() {
            for edge in self.edges(inputs, at + 1, end) {
                fetch(inputs.rows.frozen(edge.entity));
            }
        }
    }

    fn encode_end(&self, inputs: Inputs<'_, T>, projection: &Projection<T>, end: End) -> EndState<T> {
        let (dim, rows, config) = (inputs.dim(), self.pairs.len(), inputs.config);
        let hidden = inputs.layout.hidden;
        let blocks = inputs.end(end);
        let sums_relations = blocks.aggregate_relation.is_some();
        let [relation_mask, entity_mask] = self.masks(inputs, end as u64, config.emb_dropout);
        let mut state = EndState {
            pair: Vec::new(),
            alpha: vec![T::ZERO; rows * self.neighbours],
            padding: vec![T::ZERO; rows],
            mass: vec![T::ZERO; rows],
            relation_sum: vec![T::ZERO; if sums_relations { rows * dim } else { 0 }],
            entity_sum: vec![T::ZERO; rows * dim],
            relation_mask,
            entity_mask,
            combined: vec![T::ZERO; rows * dim],
            encoded: Vec::new(),
        };
        if let Some(attention) = &blocks.attention {
            state.pair = broadcast(attention.bias.as_ref().map(|bias| bias.of(inputs.weights)), rows, hidden);
            let weights = Matrix::new(attention.pair.of(inputs.weights), hidden, dim);
            add_product(&mut state.pair, Matrix::new(&self.r, rows, dim), weights.transposed());
        }
        let mut scratch = vec![T::ZERO; hidden];
        for at in 0..rows {
            self.fetch_next(inputs, at, end);
            let edges = self.edges(inputs, at, end);
            let entities = project_entities(inputs, blocks, edges);
            let attended = Attended {
                alpha: &mut state.alpha[at * self.neighbours..(at + 1) * self.neighbours],
                padding: &mut state.padding[at],
                relation_sum: sums_relations
                    .then_some(())
                    .map(|()| row_mut(&mut state.relation_sum, at, dim)),
                entity_sum: row_mut(&mut state.entity_sum, at, dim),
                scratch: &mut scratch,
            };
            let logits = logits(inputs, projection, blocks, end, &state.pair, at, entities.as_deref());
            Arch::new().dispatch(Forward { of: Attend { inputs, edges, logits }, to: attended });
            state.mass[at] = mass(inputs, edges.len());
            row_mut(&mut state.combined, at, dim).copy_from_slice(inputs.rows.frozen(end.of(self.pairs[at])));
        }
        apply_mask(&mut state.relation_sum, &state.relation_mask);
        apply_mask(&mut state.entity_sum, &state.entity_mask);
        // e + A, where A = W3 Σ α [ρ; c] + b3 Σ α.
        let parts = [
            (blocks.aggregate_relation.as_ref(), &state.relation_sum),
            (Some(&blocks.aggregate_entity), &state.entity_sum),
        ];
        for (block, sum) in parts {
            let Some(block) = block else { continue };
            let weights = Matrix::new(block.of(inputs.weights), dim, dim);
            add_product(&mut state.combined, Matrix::new(sum, rows, dim), weights.transposed());
        }
        if let Some(bias) = &blocks.aggregate_bias {
            for (row, &mass) in state.combined.chunks_exact_mut(dim).zip(&state.mass) {
                add_scaled(row, mass, bias.of(inputs.weights));
            }
        }
        state.encoded =
            broadcast(blocks.combine_bias.as_ref().map(|bias| bias.of(inputs.weights)), rows, dim);
        let weights = Matrix::new(blocks.combine.of(inputs.weights), dim, dim);
        add_product(&mut state.encoded, Matrix::new(&state.combined, rows, dim), weights.transposed());
        activate(config.enc_act, &mut state.encoded);
        state
    }

    /// Adds to gradients what those at the outputs of this chunk mean.
    pub(super) fn backward(
        &self,
        inputs: Inputs<'_, T>,
        projection: &Projection<T>,
        mut from: ChunkGradients<'_, T>,
        to: &mut EncoderGradients<T>,
    ) {
        let (dim, rows, layout) = (inputs.dim(), self.pairs.len(), inputs.layout);
        let mut relation = from.relation.to_vec();
        multiply_by_slope(inputs.config.rel_act, &self.relation, &mut relation);
        let relation_matrix = Matrix::new(&relation, rows, dim);
        if let Some(bias) = &layout.relation_bias {
            add_rows(bias.of_mut(&mut to.weights), &relation);
        }
        for (end, block) in End::BOTH.into_iter().zip([&layout.relation_head, &layout.relation_tail]) {
            let mask = &self.relation_mask[end as usize];
            let state = &self.ends[end as usize];
            let encoded = masked(&state.encoded, mask);
            add_product(
                block.of_mut(&mut to.weights),
                relation_matrix.transposed(),
                Matrix::new(&encoded, rows, dim),
            );
            let mut gradient = vec![T::ZERO; rows * dim];
            add_product(&mut gradient, relation_matrix, Matrix::new(block.of(inputs.weights), dim, dim));
            apply_mask(&mut gradient, mask);
            if let Some(encoded) = from.encoded {
                add_scaled(&mut gradient, T::ONE, encoded[end as usize]);
            }
            multiply_by_slope(inputs.config.enc_act, &state.encoded, &mut gradient);
            self.backward_end(inputs, projection, end, &gradient, from.r.as_deref_mut(), to);
        }
    }

    /// The same at one end, from the gradient before the activation of eq. 5.
    fn backward_end(
        &self,
        inputs: Inputs<'_, T>,
        projection: &Projection<T>,
        end: End,
        gradient: &[T],
        r: Option<&mut [T]>,
        to: &mut EncoderGradients<T>,
    ) {
        let (dim, rows, hidden) = (inputs.dim(), self.pairs.len(), inputs.layout.hidden);
        let (blocks, state) = (inputs.end(end), &self.ends[end as usize]);
        if let Some(bias) = &blocks.combine_bias {
            add_rows(bias.of_mut(&mut to.weights), gradient);
        }
        let gradient = Matrix::new(gradient, rows, dim);
        add_product(
            blocks.combine.of_mut(&mut to.weights),
            gradient.transposed(),
            Matrix::new(&state.combined, rows, dim),
        );
        let mut combined = vec![T::ZERO; rows * dim];
        add_product(&mut combined, gradient, Matrix::new(blocks.combine.of(inputs.weights), dim, dim));
        if let Some(entities) = &mut to.entities {
            for (&pair, gradient) in self.pairs.iter().zip(combined.chunks_exact(dim)) {
                entities.push(end.of(pair), T::ONE, gradient);
            }
        }
        if let Some(bias) = &blocks.aggregate_bias {
            for (row, &mass) in combined.chunks_exact(dim).zip(&state.mass) {
                add_scaled(bias.of_mut(&mut to.weights), mass, row);
            }
        }
        let combined = Matrix::new(&combined, rows, dim);
        let mut sums = [Vec::new(), Vec::new()];
        let parts = [
            (blocks.aggregate_relation.as_ref(), &state.relation_sum, &state.relation_mask),
            (Some(&blocks.aggregate_entity), &state.entity_sum, &state.entity_mask),
        ];
        for (sum_gradient, (block, sum, mask)) in sums.iter_mut().zip(parts) {
            let Some(block) = block else { continue };
            add_product(block.of_mut(&mut to.weights), combined.transposed(), Matrix::new(sum, rows, dim));
            sum_gradient.resize(rows * dim, T::ZERO);
            add_product(sum_gradient, combined, Matrix::new(block.of(inputs.weights), dim, dim));
            apply_mask(sum_gradient, mask);
        }
        let [relation_sum, entity_sum] = sums;
        let mut pair = vec![T::ZERO; if blocks.attention.is_some() { rows * hidden } else { 0 }];
        for at in 0..rows {
            self.fetch_next(inputs, at, end);
            let of_relation = (!relation_sum.is_empty()).then(|| row(&relation_sum, at, dim));
            let sums = (of_relation, row(&entity_sum, at, dim));
            self.backward_attention(inputs, projection, end, at, sums, &mut pair, to);
        }
        let Some(attention) = &blocks.attention else { return };
        if let Some(bias) = &attention.bias {
            add_rows(bias.of_mut(&mut to.weights), &pair);
        }
        let pair = Matrix::new(&pair, rows, hidden);
        add_product(
            attention.pair.of_mut(&mut to.weights),
            pair.transposed(),
            Matrix::new(&self.r, rows, dim),
        );
        if let Some(r) = r {
            add_product(r, pair, Matrix::new(attention.pair.of(inputs.weights), hidden, dim));
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all that attention at one entity needs")]
    fn backward_attention(
        &self,
        inputs: Inputs<'_, T>,
        projection: &Projection<T>,
        end: End,
        at: usize,
        (relation_sum, entity_sum): (Option<&[T]>, &[T]),
        pair: &mut [T],
        to: &mut EncoderGradients<T>,
    ) {
        let (dim, hidden) = (inputs.dim(), inputs.layout.hidden);
        let (blocks, state) = (inputs.end(end), &self.ends[end as usize]);
        let edges = self.edges(inputs, at, end);
        let entities = project_entities(inputs, blocks, edges);
        let logits = logits(inputs, projection, blocks, end, &state.pair, at, entities.as_deref());
        let attention = blocks.attention.as_ref();
        let mut hidden_gradient = entities.as_ref().map(|projected| vec![T::ZERO; projected.len()]);
        let mut entity_gradient = to.entities.is_some().then(|| vec![T::ZERO; edges.len() * dim]);
        let own = projection.own(end);
        Arch::new().dispatch(Backward {
            of: Attend { inputs, edges, logits },
            alpha: self.alpha(at, end),
            padding: state.padding[at],
            relation_sum,
            entity_sum,
            to: AttendGradients {
                pair: if attention.is_some() { row_mut(pair, at, hidden) } else { &mut [] },
                projected: &mut to.projected[own],
                out: attention.map_or(&mut [], |blocks| blocks.out.of_mut(&mut to.weights)),
                hidden: hidden_gradient.as_deref_mut(),
                relations: (!to.relations.is_empty()).then_some(&mut to.relations),
                entities: entity_gradient.as_deref_mut(),
                scratch: &mut to.scratch,
                slopes: &mut to.slopes,
            },
        });
        if let (Some(block), Some(gradient)) =
            (attention.and_then(|blocks| blocks.entity.as_ref()), &hidden_gradient)
        {
            let gradient = Matrix::new(gradient, edges.len(), hidden);
            let neighbours = gather(inputs, edges);
            add_product(
                block.of_mut(&mut to.weights),
                gradient.transposed(),
                Matrix::new(&neighbours, edges.len(), dim),
            );
            if let Some(entities) = &mut entity_gradient {
                add_product(entities, gradient, Matrix::new(block.of(inputs.weights), hidden, dim));
            }
        }
        if let (Some(to), Some(gradients)) = (&mut to.entities, &entity_gradient) {
            for (edge, gradient) in edges.iter().zip(gradients.chunks_exact(dim)) {
                to.push(edge.entity, T::ONE, gradient);
            }
        }
    }

    /// What components are multiplied with to drop a share of them, in two parts per pair; empty if
    /// none is dropped. Drawn by pair, so that it does not matter what else is in the batch.
    fn masks(&self, inputs: Inputs<'_, T>, place: u64, share: f32) -> [Vec<T>; 2] {
        let mut masks = [Vec::new(), Vec::new()];
        if let Some(step) = inputs.dropout.filter(|_| share > 0.0) {
            let kept = T::of(1.0 / (1.0 - f64::from(share)));
            for pair in &self.pairs {
                let both = u64::from(pair.head.0) << 32 | u64::from(pair.tail.0);
                let mut rng = rng(inputs.config.seed, Purpose::Dropout, [3 * step + place, both]);
                for mask in &mut masks {
                    let draw = |_| if rng.random::<f32>() < share { T::ZERO } else { kept };
                    mask.extend((0..inputs.dim()).map(draw));
                }
            }
        }
        masks
    }
}

impl<T: Real> Inputs<'_, T> {
    fn end(&self, end: End) -> &EndBlocks {
        &self.layout.ends[end as usize % self.layout.ends.len()]
    }
}

impl<T> Projection<T> {
    /// Which of the projections serves an end.
    fn own(&self, end: End) -> usize {
        end as usize % self.0.len()
    }
}

fn logits<'a, T: Real>(
    inputs: Inputs<'a, T>,
    projection: &'a Projection<T>,
    blocks: &'a EndBlocks,
    end: End,
    pairs: &'a [T],
    at: usize,
    entities: Option<&'a [T]>,
) -> Option<Logits<'a, T>> {
    blocks.attention.as_ref().map(|attention| Logits {
        pair: row(pairs, at, inputs.layout.hidden),
        relations: &projection.0[projection.own(end)],
        entities,
        out: attention.out.of(inputs.weights),
    })
}

/// What the weights of eq. 3 add up to.
fn mass<T: Real>(inputs: Inputs<'_, T>, neighbours: usize) -> T {
    let places = match inputs.config.padding {
        Padding::Masked => neighbours,
        Padding::Unmasked => inputs.config.neighbours,
    };
    match inputs.config.attn {
        Attn::Sum => T::of(places as f64),
        Attn::Learned | Attn::Uniform => T::of(places.min(1) as f64),
    }
}

/// The rows of neighbours, one after the other.
fn gather<T: Real>(inputs: Inputs<'_, T>, edges: &[Edge]) -> Vec<T> {
    edges.iter().flat_map(|edge| inputs.rows.frozen(edge.entity)).copied().collect()
}

/// `Wc c` of neighbours, if attention looks at them.
fn project_entities<T: Real>(inputs: Inputs<'_, T>, blocks: &EndBlocks, edges: &[Edge]) -> Option<Vec<T>> {
    let block = blocks.attention.as_ref()?.entity.as_ref()?;
    let (dim, hidden) = (inputs.dim(), inputs.layout.hidden);
    let mut projected = vec![T::ZERO; edges.len() * hidden];
    let weights = Matrix::new(block.of(inputs.weights), hidden, dim);
    add_product(&mut projected, Matrix::new(&gather(inputs, edges), edges.len(), dim), weights.transposed());
    Some(projected)
}

fn row<T>(rows: &[T], at: usize, width: usize) -> &[T] {
    &rows[at * width..(at + 1) * width]
}

fn row_mut<T>(rows: &mut [T], at: usize, width: usize) -> &mut [T] {
    &mut rows[at * width..(at + 1) * width]
}

/// The same row so many times; zeros if there is none.
fn broadcast<T: Real>(row: Option<&[T]>, rows: usize, width: usize) -> Vec<T> {
    row.map_or_else(|| vec![T::ZERO; rows * width], |row| row.repeat(rows))
}

/// Adds the sum of all rows.
fn add_rows<T: Real>(to: &mut [T], rows: &[T]) {
    for row in rows.chunks_exact(to.len()) {
        add_scaled(to, T::ONE, row);
    }
}

fn apply_mask<T: Real>(values: &mut [T], mask: &[T]) {
    for (value, &mask) in values.iter_mut().zip(mask) {
        *value *= mask;
    }
}

fn masked<'a, T: Real>(values: &'a [T], mask: &[T]) -> std::borrow::Cow<'a, [T]> {
    if mask.is_empty() {
        return values.into();
    }
    let mut values = values.to_vec();
    apply_mask(&mut values, mask);
    values.into()
}

/// The slope of LeakyReLU below zero: PyTorch's default, the paper gives none.
const LEAK: f64 = 0.01;

fn activate<T: Real>(activation: Activation, values: &mut [T]) {
    Arch::new().dispatch(Activate { activation, values });
}

struct Activate<'v, T> {
    activation: Activation,
    values: &'v mut [T],
}

impl<T: Real> WithSimd for Activate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let leak = T::of(LEAK);
        match self.activation {
            Activation::Sigmoid => {
                for value in self.values {
                    *value = value.softplus_and_sigmoid().1;
                }
            }
            Activation::Tanh => {
                for value in self.values {
                    *value = value.tanh();
                }
            }
            Activation::LeakyRelu => {
                for value in self.values {
                    *value *= if *value < T::ZERO { leak } else { T::ONE };
                }
            }
            Activation::None => {}
        }
    }
}

/// Multiplies gradients by the slope of an activation, which its value tells.
fn multiply_by_slope<T: Real>(activation: Activation, values: &[T], gradients: &mut [T]) {
    let leak = T::of(LEAK);
    let each = values.iter().zip(gradients);
    match activation {
        Activation::Sigmoid => each.for_each(|(&value, gradient)| *gradient *= value * (T::ONE - value)),
        Activation::Tanh => each.for_each(|(&value, gradient)| *gradient *= T::ONE - value * value),
        Activation::LeakyRelu => {
            each.for_each(|(&value, gradient)| *gradient *= if value < T::ZERO { leak } else { T::ONE });
        }
        Activation::None => {}
    }
}
