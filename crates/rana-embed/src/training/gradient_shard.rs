//! [`Shard`]: the gradients of a slice of facts, computed by one thread.

use super::row_access::{Rows, Tables};
use super::row_gradients::RowGradients;
use super::row_listing::Listing;
use super::slice::{Plan, Slice};
use super::unshared_negatives::Unshared;
use crate::embed_config::EmbedConfig;
use crate::regulariser::Regulariser;
use crate::similarity::{Blocks, Forward};

/// The gradients of a slice of facts.
#[derive(Default)]
pub(crate) struct Shard {
    pub(crate) entities: RowGradients,
    pub(crate) relations: RowGradients,
    pub(crate) loss: f64,
}

/// The buffers of a computation: one set per thread, so that they stay in its cache.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Rows of the listed entities.
    pub(crate) entity_rows: Vec<f32>,
    pub(crate) relation_rows: Vec<f32>,
    pub(crate) queries: Vec<f32>,
    pub(crate) query_gradients: Vec<f32>,
    /// Scores of the answers, then of the negatives.
    pub(crate) scores: Vec<f32>,
    score_gradients: Vec<f32>,
}

impl Shard {
    /// Computes the loss of some facts and its gradients at the current rows.
    ///
    /// If facts have negatives of their own, the tables may apply the gradients of a fact before the next one. The
    /// remaining gradients are in the shard.
    pub(crate) fn compute(
        &mut self,
        plan: &Plan<'_>,
        slice: Slice<'_>,
        listing: &Listing,
        scratch: &mut Scratch,
        tables: &mut impl Tables,
    ) {
        if plan.config.negatives.shared_by == 1 {
            self.compute_unshared(plan, slice, listing, scratch, tables);
        } else {
            self.compute_shared(plan, slice, listing, scratch, tables);
        }
    }

    fn compute_unshared(
        &mut self,
        plan: &Plan<'_>,
        slice: Slice<'_>,
        listing: &Listing,
        scratch: &mut Scratch,
        tables: &mut impl Tables,
    ) {
        let config = plan.config;
        let (dim, width) = (config.dim, config.model.relation_width(config.dim));
        let (facts, count) = (slice.facts.len(), config.negatives.count);
        self.entities.clear(facts * (2 + count), dim);
        self.relations.clear(facts, width);
        resize(&mut scratch.queries, dim);
        resize(&mut scratch.query_gradients, dim);
        resize(&mut scratch.scores, 3 * count);
        Unshared { plan, slice, listing, scratch, tables, shard: self }.compute();
    }

    /// Computes blocks of facts that share negatives, with matrix products.
    fn compute_shared(
        &mut self,
        plan: &Plan<'_>,
        slice: Slice<'_>,
        listing: &Listing,
        scratch: &mut Scratch,
        tables: &impl Tables,
    ) {
        let config = plan.config;
        let (dim, width) = (config.dim, config.model.relation_width(config.dim));
        let (facts, negatives) = (slice.facts.len(), config.negatives.count);
        self.entities.reset(&listing.entities, dim, facts);
        self.relations.reset(&listing.relations, width, facts);
        resize(&mut scratch.entity_rows, listing.entities.len() * dim);
        tables.entities().load_all(&listing.entities, dim, &mut scratch.entity_rows);
        resize(&mut scratch.relation_rows, facts * width);
        tables.relations().load_all(&listing.relations, width, &mut scratch.relation_rows);

        let (anchors, others) = scratch.entity_rows.split_at(facts * dim);
        let (answers, candidates) = others.split_at(facts * dim);
        resize(&mut scratch.queries, facts * dim);
        config.model.queries(dim, listing.side, anchors, &scratch.relation_rows, &mut scratch.queries);

        resize(&mut scratch.scores, facts * (1 + negatives));
        resize(&mut scratch.score_gradients, facts * (1 + negatives));
        let similarity = config.model.similarity(config.norm);
        let (true_scores, false_scores) = scratch.scores.split_at_mut(facts);
        similarity.scores(Blocks::pairs(facts, dim), &scratch.queries, answers, true_scores);
        for part in Part::all(config, facts) {
            let (queries, candidates) = (&scratch.queries[part.queries()], &candidates[part.candidates()]);
            similarity.scores(part.shape, queries, candidates, &mut false_scores[part.scores()]);
        }
        let drawn = &listing.entities[2 * facts..];
        let shared_by = config.negatives.shared_by;
        let of_chunks = slice.facts.chunks(shared_by).zip(drawn.chunks_exact(negatives));
        for ((chunk, drawn), scores) in of_chunks.zip(false_scores.chunks_mut(shared_by * negatives)) {
            plan.sampler.mask(slice.side, chunk, drawn, scores);
        }

        let (true_gradients, false_gradients) = scratch.score_gradients.split_at_mut(facts);
        self.loss =
            config.loss.gradients(negatives, true_scores, false_scores, true_gradients, false_gradients);

        resize(&mut scratch.query_gradients, facts * dim);
        scratch.query_gradients.fill(0.0);
        let (for_anchors, for_others) = self.entities.gradients.split_at_mut(facts * dim);
        let (for_answers, for_candidates) = for_others.split_at_mut(facts * dim);
        let pairs = Forward {
            queries: &scratch.queries,
            candidates: answers,
            scores: true_scores,
            score_gradients: true_gradients,
        };
        similarity.backward(Blocks::pairs(facts, dim), pairs, &mut scratch.query_gradients, for_answers);
        for part in Part::all(config, facts) {
            let forward = Forward {
                queries: &scratch.queries[part.queries()],
                candidates: &candidates[part.candidates()],
                scores: &false_scores[part.scores()],
                score_gradients: &false_gradients[part.scores()],
            };
            let for_queries = &mut scratch.query_gradients[part.queries()];
            similarity.backward(part.shape, forward, for_queries, &mut for_candidates[part.candidates()]);
        }
        let for_relations = &mut self.relations.gradients;
        config.model.backward(
            dim,
            listing.side,
            anchors,
            &scratch.relation_rows,
            &scratch.query_gradients,
            for_anchors,
            for_relations,
        );

        let regulariser = config.regulariser;
        regulariser.add_gradients(dim, config.model.entity_layout(), anchors, for_anchors);
        regulariser.add_gradients(dim, config.model.entity_layout(), answers, for_answers);
        if let Some(layout) = config.model.relation_layout() {
            regulariser.add_gradients(width, layout, &scratch.relation_rows, for_relations);
        }
        if regulariser == Regulariser::None {
            self.drop_satisfied(&scratch.score_gradients[..facts]);
        }
    }

    /// Removes the rows of facts without a gradient. A margin loss has many of them.
    fn drop_satisfied(&mut self, true_gradients: &[f32]) {
        let facts = true_gradients.len();
        for (at, &gradient) in true_gradients.iter().enumerate() {
            if gradient == 0.0 {
                self.entities.rows[at] = RowGradients::NONE;
                self.entities.rows[facts + at] = RowGradients::NONE;
                self.relations.rows[at] = RowGradients::NONE;
            }
        }
    }
}

/// The complete chunks of a shard, or the shorter last one.
struct Part {
    first: usize,
    first_chunk: usize,
    shape: Blocks,
}

impl Part {
    fn all(config: &EmbedConfig, facts: usize) -> impl Iterator<Item = Self> {
        let (shared_by, dim) = (config.negatives.shared_by, config.dim);
        let (whole, rest) = (facts / shared_by, facts % shared_by);
        let shape = |groups, queries| Blocks { groups, queries, candidates: config.negatives.count, dim };
        [
            Self { first: 0, first_chunk: 0, shape: shape(whole, shared_by) },
            Self { first: whole * shared_by, first_chunk: whole, shape: shape(usize::from(rest > 0), rest) },
        ]
        .into_iter()
        .filter(|part| part.shape.groups > 0)
    }

    fn queries(&self) -> std::ops::Range<usize> {
        span(self.first, self.shape.groups * self.shape.queries, self.shape.dim)
    }

    fn candidates(&self) -> std::ops::Range<usize> {
        span(
            self.first_chunk * self.shape.candidates,
            self.shape.groups * self.shape.candidates,
            self.shape.dim,
        )
    }

    fn scores(&self) -> std::ops::Range<usize> {
        span(self.first, self.shape.groups * self.shape.queries, self.shape.candidates)
    }
}

fn span(first: usize, count: usize, width: usize) -> std::ops::Range<usize> {
    first * width..(first + count) * width
}

/// Resizes a buffer whose content will be overwritten.
pub(super) fn resize(buffer: &mut Vec<f32>, len: usize) {
    buffer.resize(len, 0.0);
}
