//! [`PreparedEntities`]: what evaluations compute once per entity, whatever pair it is then seen in.
//!
//! The weights of neighbours depend on both ends of a pair, so entities cannot be encoded once. But neighbours by the same
//! relation always have the same weight: they are summed up here, and a pair only weighs a few sums.

use rana_graph::EntityId;

use super::model::FaanModel;
use super::neighbourhood::Hidden;
use crate::real::{add_scaled, dot};
use crate::tape::{Segments, Tape};

/// Some entities, ready to be seen in any pair.
pub(super) struct PreparedEntities {
    dim: usize,
    /// The row of each.
    pub(super) rows: Vec<f32>,
    /// `Wᵀ e` of eq. 2.
    projected: Vec<f32>,
    /// `W₁ e` of eq. 5.
    own: Vec<f32>,
    /// Which sums each has.
    groups: Segments,
    /// The relation of each sum, and how many neighbours are in it.
    relations: Vec<(u32, f32)>,
    /// `W₂ Σ c_k` over neighbours by the same relation.
    sums: Vec<f32>,
}

impl PreparedEntities {
    /// The memory of the numbers, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let Self { rows, projected, own, relations, sums, .. } = self;
        let tables = [rows, projected, own, sums].map(|table| size_of_val(&table[..]));
        tables.iter().sum::<usize>() + size_of_val(&relations[..])
    }

    pub(super) fn new(model: &FaanModel, entities: &[EntityId], hidden: Hidden) -> Self {
        let (parameters, encoder) = (&*model.parameters, &model.network.encoder);
        let dim = encoder.dim;
        let mut rows = Vec::with_capacity(entities.len() * dim);
        let (mut relations, mut totals): (Vec<(u32, f32)>, Vec<f32>) = (Vec::new(), Vec::new());
        let mut lengths = Vec::with_capacity(entities.len());
        for &entity in entities {
            rows.extend_from_slice(parameters.rows.row(entity));
            let first = relations.len();
            for edge in model.neighbourhood.of(entity, hidden) {
                let row = parameters.rows.row(edge.entity);
                let relation = edge.relation.0;
                match relations[first..].iter().position(|&(other, _)| other == relation) {
                    Some(at) => {
                        let at = first + at;
                        relations[at].1 += 1.0;
                        add_scaled(&mut totals[at * dim..(at + 1) * dim], 1.0, row);
                    }
                    None => {
                        relations.push((relation, 1.0));
                        totals.extend_from_slice(row);
                    }
                }
            }
            lengths.push(relations.len() - first);
        }
        let mut tape = Tape::forward_only(&parameters.weights);
        let (of_rows, of_totals) = (tape.constant(&rows[..], dim), tape.constant(totals, dim));
        let [attention, own, context] =
            [&encoder.attention, &encoder.own, &encoder.context].map(|block| tape.weight(block));
        let projected = tape.linear(of_rows, attention, None);
        let own = tape.linear(of_rows, own, None);
        let sums = tape.linear(of_totals, context, None);
        let [projected, own, sums] = [projected, own, sums].map(|found| tape.values(found).to_vec());
        Self { dim, rows, projected, own, groups: Segments::of_lengths(lengths), relations, sums }
    }

    fn row<'v>(&self, values: &'v [f32], at: usize) -> &'v [f32] {
        &values[at * self.dim..(at + 1) * self.dim]
    }

    /// `Wᵀ r` of an entity as the tail of a head (eq. 1).
    pub(super) fn weak_relation(&self, tail: usize, heads: &Self, head: usize, to: &mut [f32]) {
        to.copy_from_slice(self.row(&self.projected, tail));
        add_scaled(to, -1.0, self.row(&heads.projected, head));
    }

    /// `W₁ e + W₂ c` of an entity in a pair (eqs. 2 to 5), given `Wᵀ r`. `logits` is room to work in.
    pub(super) fn sum(
        &self,
        entity: usize,
        weak: &[f32],
        relations: &[f32],
        logits: &mut Vec<f32>,
        to: &mut [f32],
    ) {
        to.copy_from_slice(self.row(&self.own, entity));
        let groups = self.groups.range(entity);
        let found = &self.relations[groups.clone()];
        logits.clear();
        logits.extend(found.iter().map(|&(relation, _)| dot(weak, self.row(relations, relation as usize))));
        let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut total = 0.0;
        for (logit, &(_, count)) in logits.iter_mut().zip(found) {
            *logit = (*logit - most).exp();
            total += count * *logit;
        }
        for (group, &weight) in groups.zip(&*logits) {
            add_scaled(to, weight / total, self.row(&self.sums, group));
        }
    }
}
