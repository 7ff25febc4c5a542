//! The relation-aware entity encoder (eqs. 1 to 6), forwards and backwards, many pairs at a time.
//!
//! What is exact algebra is used: of `W1` and `W3`, what meets a relation is applied once per relation, what
//! meets the pair once per pair, and what meets neighbours once per sum of them, nothing once per neighbour;
//! and a pair is encoded once per step however many tasks it occurs in.

use pulp::Arch;
use rana_embed::matmul::{Matrix, add_product};
use rana_graph::{EntityId, Pair, RelationId};
use rand::RngExt;

use super::activation::{activate, multiply_by_slope};
use super::config::{Attn, Padding};
use super::encoder_gradients::EncoderGradients;
use super::inputs::Inputs;
use super::layout::EndBlocks;
use super::neighbour_attention::{
    Attend, AttendGradients, AttendScratch, Attended, Backward, Forward, Logits,
};
use super::neighbour_rows::{AskedEntity, NeighbourRows, Neighbours, RowsAhead};
use crate::real::{Real, add_scaled};
use crate::seed::{Purpose, rng};
use crate::training::Block;

/// Pairs that are encoded together: enough for matrix products to pay, few enough for a cache.
pub(super) const CHUNK: usize = 64;

/// An end of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// What weights make of every relation, for each end that has weights of its own.
pub(crate) struct Projection<T>(pub(super) Vec<Projected<T>>);

/// What weights make of every relation, or the gradients of that; empty where there are no such weights.
pub(super) struct Projected<T> {
    /// W1 of it, in attention.
    pub(super) attention: Vec<T>,
    /// W3 of it, in the sum over neighbours.
    pub(super) aggregate: Vec<T>,
}

impl<T: Real> Projected<T> {
    pub(super) fn zeros(&self) -> Self {
        let zeros = |of: &[T]| vec![T::ZERO; of.len()];
        Self { attention: zeros(&self.attention), aggregate: zeros(&self.aggregate) }
    }
}

impl<T: Real> Projection<T> {
    pub(crate) fn new(inputs: Inputs<'_, T>) -> Self {
        let dim = inputs.dim();
        let relations = inputs.relations.len() / dim;
        let projected = |block: Option<&Block>| {
            let Some(block) = block else { return Vec::new() };
            let mut projected = vec![T::ZERO; relations * block.rows];
            let weights = Matrix::new(block.of(inputs.weights), block.rows, dim);
            add_product(&mut projected, Matrix::new(inputs.relations, relations, dim), weights.transposed());
            projected
        };
        let of_end = |blocks: &EndBlocks| {
            let [attention, aggregate] = blocks.of_relations();
            let (attention, aggregate) = rayon::join(|| projected(attention), || projected(aggregate));
            Projected { attention, aggregate }
        };
        Self(inputs.layout.ends.iter().map(of_end).collect())
    }
}

/// Some pairs and all that the encoder made of them, kept for the way back.
#[derive(Default)]
pub(super) struct Chunk<T> {
    pairs: Vec<Pair>,
    /// The relation that each is asked for with, whose edges may be hidden.
    asked: Vec<Option<RelationId>>,
    /// eq. 1.
    r: Vec<T>,
    /// `Wa r + b1`, for each end that has weights of its own.
    attention: Vec<Vec<T>>,
    ends: [EndState<T>; 2],
    /// eq. 6; empty if only the ends were encoded.
    relation: Vec<T>,
    /// What `[h'; t']` is multiplied with, if components are dropped.
    relation_mask: [Vec<T>; 2],
    /// The most that one of the entities has.
    neighbours: usize,
}

/// The encoder's state at one end of some pairs, row by row.
#[derive(Default)]
struct EndState<T> {
    /// α, of every neighbour.
    alpha: Vec<T>,
    /// α of all places without a neighbour together.
    padding: Vec<T>,
    /// What the biases of eq. 3 add up to: Σ α.
    mass: Vec<T>,
    /// `Σ α c`.
    entity_sum: Vec<T>,
    /// What A of eq. 3 is multiplied with, if components are dropped.
    aggregate_mask: Vec<T>,
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
        let dim = self.r.len() / self.pairs.len();
        &self.ends[end as usize].encoded[at * dim..(at + 1) * dim]
    }

    /// α over the neighbours of an end of a pair, those it does not have being zero.
    pub(super) fn alpha(&self, at: usize, end: End) -> &[T] {
        &self.ends[end as usize].alpha[at * self.neighbours..(at + 1) * self.neighbours]
    }

    /// How many neighbours an end of a pair is seen with.
    pub(super) fn count(&self, inputs: Inputs<'_, T>, at: usize, end: End) -> usize {
        inputs.neighbours.of(end.of(self.pairs[at]), self.asked[at]).len()
    }

    /// Encodes pairs with what eq. 1 gives for each.
    pub(super) fn encode(
        inputs: Inputs<'_, T>,
        projection: &Projection<T>,
        pairs: Vec<Pair>,
        asked: Vec<Option<RelationId>>,
        r: Vec<T>,
    ) -> Self {
        let (dim, rows) = (inputs.dim(), pairs.len());
        let mut chunk = Self::encode_ends(inputs, projection, pairs, asked, r);
        chunk.relation_mask = [2, 3].map(|place| chunk.mask(inputs, place, inputs.config.fc_dropout));
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

    /// Encodes both ends of pairs, and makes no relation of them.
    pub(super) fn encode_ends(
        inputs: Inputs<'_, T>,
        projection: &Projection<T>,
        pairs: Vec<Pair>,
        asked: Vec<Option<RelationId>>,
        r: Vec<T>,
    ) -> Self {
        let mut chunk = Self::with_attention(inputs, pairs, asked, r);
        for end in End::BOTH {
            let state = chunk.encode_end(inputs, projection, end);
            chunk.ends[end as usize] = state;
        }
        chunk
    }

    /// eq. 5 of entities at one end, with what eq. 1 gives for each.
    pub(super) fn encode_entities(
        inputs: Inputs<'_, T>,
        projection: &Projection<T>,
        entities: &[EntityId],
        end: End,
        r: Vec<T>,
    ) -> Vec<T> {
        let pairs: Vec<Pair> = entities.iter().map(|&entity| Pair { head: entity, tail: entity }).collect();
        let asked = vec![None; pairs.len()];
        Self::with_attention(inputs, pairs, asked, r).encode_end(inputs, projection, end).encoded
    }

    /// Pairs with `Wa r + b1`, before their ends are encoded.
    fn with_attention(
        inputs: Inputs<'_, T>,
        pairs: Vec<Pair>,
        asked: Vec<Option<RelationId>>,
        r: Vec<T>,
    ) -> Self {
        let mut chunk = Self { pairs, asked, r, ..Self::default() };
        let counts = (0..chunk.pairs.len()).flat_map(|at| End::BOTH.map(|end| chunk.count(inputs, at, end)));
        chunk.neighbours = counts.max().unwrap_or(0);
        chunk.attention =
            inputs.layout.ends.iter().map(|blocks| chunk.attention_of_pairs(inputs, blocks)).collect();
        chunk
    }

    /// A walk over the neighbours at an end of all pairs.
    fn walk<'a>(&self, inputs: Inputs<'a, T>, end: End) -> NeighbourRows<'a, T> {
        let attention = inputs.end(end).attention.as_ref();
        NeighbourRows::to(
            (end.of(self.pairs[0]), self.asked[0]),
            inputs,
            attention.is_some_and(|blocks| blocks.entity.is_some()),
        )
    }

    /// The entity at an end of a pair, if there is one.
    fn entity(&self, at: usize, end: End) -> Option<AskedEntity> {
        Some((end.of(*self.pairs.get(at)?), *self.asked.get(at)?))
    }

    /// `Wa r + b1` of all pairs; empty if attention is not learned.
    fn attention_of_pairs(&self, inputs: Inputs<'_, T>, blocks: &EndBlocks) -> Vec<T> {
        let Some(attention) = &blocks.attention else { return Vec::new() };
        linear(inputs.weights, &attention.pair, attention.bias.as_ref(), &self.r)
    }

    fn encode_end(&self, inputs: Inputs<'_, T>, projection: &Projection<T>, end: End) -> EndState<T> {
        let (dim, rows, config) = (inputs.dim(), self.pairs.len(), inputs.config);
        let blocks = inputs.end(end);
        let mut state = EndState {
            alpha: vec![T::ZERO; rows * self.neighbours],
            padding: vec![T::ZERO; rows],
            mass: vec![T::ZERO; rows],
            entity_sum: vec![T::ZERO; rows * dim],
            aggregate_mask: self.mask(inputs, end as u64, config.emb_dropout),
            combined: vec![T::ZERO; rows * dim],
            encoded: Vec::new(),
        };
        let mut scratch = AttendScratch::new(inputs);
        let mut walk = self.walk(inputs, end);
        for (at, &pair) in self.pairs.iter().enumerate() {
            let entity = (end.of(pair), self.asked[at]);
            let (neighbours, ahead) = walk.step(entity, [1, 2].map(|more| self.entity(at + more, end)));
            let entities = project_entities(inputs, blocks, neighbours);
            let attended = Attended {
                alpha: &mut state.alpha[at * self.neighbours..(at + 1) * self.neighbours],
                padding: &mut state.padding[at],
                relation_sum: row_mut(&mut state.combined, at, dim),
                entity_sum: row_mut(&mut state.entity_sum, at, dim),
                scratch: &mut scratch,
            };
            let of = self.attend(inputs, projection, (at, end), neighbours, entities.as_deref());
            Arch::new().dispatch(Forward { of, to: attended, ahead });
            state.mass[at] = mass(inputs, neighbours.edges.len());
        }
        // A = W3 Σ α [ρ; c] + b3 Σ α, of which the relations' part stands there already.
        let weights = Matrix::new(blocks.aggregate_entity.of(inputs.weights), dim, dim);
        add_product(&mut state.combined, Matrix::new(&state.entity_sum, rows, dim), weights.transposed());
        if let Some(bias) = &blocks.aggregate_bias {
            for (row, &mass) in state.combined.chunks_exact_mut(dim).zip(&state.mass) {
                add_scaled(row, mass, bias.of(inputs.weights));
            }
        }
        apply_mask(&mut state.combined, &state.aggregate_mask);
        for (row, &pair) in state.combined.chunks_exact_mut(dim).zip(&self.pairs) {
            add_scaled(row, T::ONE, inputs.rows.frozen(end.of(pair)));
        }
        state.encoded =
            linear(inputs.weights, &blocks.combine, blocks.combine_bias.as_ref(), &state.combined);
        activate(config.enc_act, &mut state.encoded);
        state
    }

    /// The inputs of attention at one entity.
    fn attend<'a>(
        &'a self,
        inputs: Inputs<'a, T>,
        projection: &'a Projection<T>,
        (at, end): (usize, End),
        neighbours: &'a Neighbours<'a, T>,
        entities: Option<&'a [T]>,
    ) -> Attend<'a, T> {
        let own = projection.own(end);
        let Projected { attention, aggregate } = &projection.0[own];
        let logits = inputs.end(end).attention.as_ref().map(|blocks| Logits {
            pair: row(&self.attention[own], at, inputs.layout.hidden),
            relations: attention,
            entities,
            out: blocks.out.of(inputs.weights),
        });
        let sums_relations = !aggregate.is_empty();
        Attend { inputs, neighbours, logits, aggregate: sums_relations.then_some(aggregate) }
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
        let has_relation = !self.relation.is_empty();
        let mut relation = from.relation.to_vec();
        if has_relation {
            multiply_by_slope(inputs.config.rel_act, &self.relation, &mut relation);
            if let Some(bias) = &layout.relation_bias {
                add_rows(bias.of_mut(&mut to.weights), &relation);
            }
        }
        let relation_matrix = Matrix::new(&relation, rows, dim);
        let mut attention: Vec<Vec<T>> = self.attention.iter().map(|of| vec![T::ZERO; of.len()]).collect();
        for (end, block) in End::BOTH.into_iter().zip([&layout.relation_head, &layout.relation_tail]) {
            let mask = &self.relation_mask[end as usize];
            let state = &self.ends[end as usize];
            let mut gradient = vec![T::ZERO; rows * dim];
            if has_relation {
                let encoded = masked(&state.encoded, mask);
                add_product(
                    block.of_mut(&mut to.weights),
                    relation_matrix.transposed(),
                    Matrix::new(&encoded, rows, dim),
                );
                add_product(&mut gradient, relation_matrix, Matrix::new(block.of(inputs.weights), dim, dim));
                apply_mask(&mut gradient, mask);
            }
            if let Some(encoded) = from.encoded {
                add_scaled(&mut gradient, T::ONE, encoded[end as usize]);
            }
            multiply_by_slope(inputs.config.enc_act, &state.encoded, &mut gradient);
            let own = projection.own(end);
            self.backward_end(inputs, projection, end, &gradient, &mut attention[own], to);
        }
        for (blocks, gradient) in layout.ends.iter().zip(&attention) {
            self.backward_pairs(inputs, blocks, gradient, from.r.as_deref_mut(), to);
        }
    }

    /// The same from the gradient of `Wa r + b1`.
    fn backward_pairs(
        &self,
        inputs: Inputs<'_, T>,
        blocks: &EndBlocks,
        gradient: &[T],
        r: Option<&mut [T]>,
        to: &mut EncoderGradients<T>,
    ) {
        let Some(attention) = &blocks.attention else { return };
        let (dim, rows, hidden) = (inputs.dim(), self.pairs.len(), inputs.layout.hidden);
        add_linear_gradients(&mut to.weights, &attention.pair, attention.bias.as_ref(), &self.r, gradient);
        if let Some(r) = r {
            let gradient = Matrix::new(gradient, rows, hidden);
            add_product(r, gradient, Matrix::new(attention.pair.of(inputs.weights), hidden, dim));
        }
    }

    /// The same at one end, from the gradient before the activation of eq. 5.
    fn backward_end(
        &self,
        inputs: Inputs<'_, T>,
        projection: &Projection<T>,
        end: End,
        gradient: &[T],
        attention: &mut [T],
        to: &mut EncoderGradients<T>,
    ) {
        let (dim, rows) = (inputs.dim(), self.pairs.len());
        let (blocks, state) = (inputs.end(end), &self.ends[end as usize]);
        let bias = blocks.combine_bias.as_ref();
        add_linear_gradients(&mut to.weights, &blocks.combine, bias, &state.combined, gradient);
        let gradient = Matrix::new(gradient, rows, dim);
        let mut combined = vec![T::ZERO; rows * dim];
        add_product(&mut combined, gradient, Matrix::new(blocks.combine.of(inputs.weights), dim, dim));
        if let Some(entities) = &mut to.entities {
            for (&pair, gradient) in self.pairs.iter().zip(combined.chunks_exact(dim)) {
                entities.push(end.of(pair), T::ONE, gradient);
            }
        }
        apply_mask(&mut combined, &state.aggregate_mask);
        if let Some(bias) = &blocks.aggregate_bias {
            for (row, &mass) in combined.chunks_exact(dim).zip(&state.mass) {
                add_scaled(bias.of_mut(&mut to.weights), mass, row);
            }
        }
        let aggregate = Matrix::new(&combined, rows, dim);
        let block = &blocks.aggregate_entity;
        add_product(
            block.of_mut(&mut to.weights),
            aggregate.transposed(),
            Matrix::new(&state.entity_sum, rows, dim),
        );
        let mut entity_sum = vec![T::ZERO; rows * dim];
        add_product(&mut entity_sum, aggregate, Matrix::new(block.of(inputs.weights), dim, dim));
        let mut walk = self.walk(inputs, end);
        for (at, &pair) in self.pairs.iter().enumerate() {
            let entity = (end.of(pair), self.asked[at]);
            let seen = walk.step(entity, [1, 2].map(|more| self.entity(at + more, end)));
            let sums = (row(&combined, at, dim), row(&entity_sum, at, dim));
            self.backward_attention(inputs, projection, (at, end), seen, sums, attention, to);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all that attention at one entity needs")]
    fn backward_attention(
        &self,
        inputs: Inputs<'_, T>,
        projection: &Projection<T>,
        (at, end): (usize, End),
        (neighbours, ahead): (&Neighbours<'_, T>, RowsAhead<'_, '_, T>),
        (relation_sum, entity_sum): (&[T], &[T]),
        pair: &mut [T],
        to: &mut EncoderGradients<T>,
    ) {
        let (dim, hidden) = (inputs.dim(), inputs.layout.hidden);
        let (blocks, state) = (inputs.end(end), &self.ends[end as usize]);
        let edges = neighbours.edges;
        let entities = project_entities(inputs, blocks, neighbours);
        let of = self.attend(inputs, projection, (at, end), neighbours, entities.as_deref());
        let attention = blocks.attention.as_ref();
        let mut hidden_gradient = entities.as_ref().map(|projected| vec![T::ZERO; projected.len()]);
        let mut entity_gradient = to.entities.is_some().then(|| vec![T::ZERO; edges.len() * dim]);
        let of_relations = &mut to.projected[projection.own(end)];
        Arch::new().dispatch(Backward {
            of,
            alpha: self.alpha(at, end),
            padding: state.padding[at],
            relation_sum,
            entity_sum,
            to: AttendGradients {
                pair: if attention.is_some() { row_mut(pair, at, hidden) } else { &mut [] },
                projected: &mut of_relations.attention,
                aggregate: &mut of_relations.aggregate,
                out: attention.map_or(&mut [], |blocks| blocks.out.of_mut(&mut to.weights)),
                hidden: hidden_gradient.as_deref_mut(),
                entities: entity_gradient.as_deref_mut(),
                scratch: &mut to.scratch,
            },
            ahead,
        });
        if let (Some(block), Some(gradient)) =
            (attention.and_then(|blocks| blocks.entity.as_ref()), &hidden_gradient)
        {
            let gradient = Matrix::new(gradient, edges.len(), hidden);
            let rows = neighbours.rows.concat();
            add_product(
                block.of_mut(&mut to.weights),
                gradient.transposed(),
                Matrix::new(&rows, edges.len(), dim),
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

    /// What components are multiplied with to drop a share of them; empty if none is dropped. Drawn by pair,
    /// so that it does not matter what else is in the batch.
    fn mask(&self, inputs: Inputs<'_, T>, place: u64, share: f32) -> Vec<T> {
        /// Places that are dropped from.
        const PLACES: u64 = 4;
        let mut mask = Vec::new();
        if let Some(step) = inputs.dropout.filter(|_| share > 0.0) {
            let kept = T::of(1.0 / (1.0 - f64::from(share)));
            for pair in &self.pairs {
                let both = u64::from(pair.head.0) << 32 | u64::from(pair.tail.0);
                let mut rng = rng(inputs.seed, Purpose::Dropout, [PLACES * step + place, both]);
                let draw = |_| if rng.random::<f32>() < share { T::ZERO } else { kept };
                mask.extend((0..inputs.dim()).map(draw));
            }
        }
        mask
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

/// The sum of the weights of eq. 3.
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

/// `Wc c` of neighbours, if attention looks at them.
fn project_entities<T: Real>(
    inputs: Inputs<'_, T>,
    blocks: &EndBlocks,
    neighbours: &Neighbours<'_, T>,
) -> Option<Vec<T>> {
    let block = blocks.attention.as_ref()?.entity.as_ref()?;
    let (dim, hidden, rows) = (inputs.dim(), inputs.layout.hidden, neighbours.rows.len());
    let mut projected = vec![T::ZERO; rows * hidden];
    let weights = Matrix::new(block.of(inputs.weights), hidden, dim);
    add_product(&mut projected, Matrix::new(&neighbours.rows.concat(), rows, dim), weights.transposed());
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

/// A linear map of some rows.
fn linear<T: Real>(weights: &[T], block: &Block, bias: Option<&Block>, from: &[T]) -> Vec<T> {
    let rows = from.len() / block.columns;
    let mut to = broadcast(bias.map(|bias| bias.of(weights)), rows, block.rows);
    let matrix = Matrix::new(block.of(weights), block.rows, block.columns);
    add_product(&mut to, Matrix::new(from, rows, block.columns), matrix.transposed());
    to
}

/// Adds the gradients of its weights, from those of what it gave.
fn add_linear_gradients<T: Real>(
    weights: &mut [T],
    block: &Block,
    bias: Option<&Block>,
    from: &[T],
    gradient: &[T],
) {
    if let Some(bias) = bias {
        add_rows(bias.of_mut(weights), gradient);
    }
    let rows = from.len() / block.columns;
    let gradient = Matrix::new(gradient, rows, block.rows);
    add_product(block.of_mut(weights), gradient.transposed(), Matrix::new(from, rows, block.columns));
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
