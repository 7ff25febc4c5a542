//! Lock-free updates: every thread updates its own rows in place.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::entity_buckets::{Dealing, Job};
use super::epoch::Buffers;
use super::epoch::slices;
use super::gradient_shard::{Scratch, Shard};
use super::one_negative::OneNegative;
use super::relation_copies::{Changed, Copies, merge};
use super::row_access::{RowsMut, Tables};
use super::row_gradients::RowGradients;
use super::row_lease::{Lease, Leases};
use super::row_listing::Listing;
use super::slice::{Among, Plan, Slice};
use super::table_in_training::Table;
use crate::embed_config::EmbedConfig;
use crate::optimiser::Update;
use crate::side::Side;

/// The result of a round.
pub(crate) struct Round {
    /// The position in the order where the next round begins.
    pub(crate) end: usize,
    pub(crate) queries: usize,
    /// The sum of the losses.
    pub(crate) loss: f64,
}

/// Runs the jobs of the round that begins at `place` of the order.
///
/// Entity rows are updated in place, after each gradient. Relations are few and needed by all jobs: each job updates
/// copies, and afterwards a relation is the mean of its copies, weighted by their numbers of updates. A job does not
/// depend on other jobs of its round, so the result does not depend on the number of threads.
pub(crate) fn step(
    plan: &Plan<'_>,
    dealing: &Dealing,
    epoch: u32,
    place: usize,
    buffers: &Buffers,
    [entities, relations]: [Table<'_>; 2],
    updates: [Update; 2],
) -> Round {
    let (jobs, end) = dealing.round_at(place);
    let leases = Leases::new(entities, &dealing.bucket_of);
    let work = |job: &Job| {
        let lent = leases.lend(job.buckets);
        let mut tables = Lent { entities: lent, relations: Copies::of(&relations), updates };
        let (queries, loss) = do_job(plan, dealing, epoch, job, buffers, &mut tables);
        (tables.relations.changed(), queries, loss)
    };
    let done: Vec<(Changed, usize, f64)> = jobs.par_iter().map(work).collect();
    let (queries, loss) =
        done.iter().fold((0, 0.0), |sum, (_, queries, loss)| (sum.0 + queries, sum.1 + loss));
    merge(relations, done.iter().map(|(changed, ..)| changed));
    Round { end, queries, loss }
}

fn do_job(
    plan: &Plan<'_>,
    dealing: &Dealing,
    epoch: u32,
    job: &Job,
    buffers: &Buffers,
    tables: &mut Lent<'_>,
) -> (usize, f64) {
    let slices = job_slices(plan, dealing, epoch, job);
    let has_one_negative = OneNegative::serves(plan.config);
    let mut loss = 0.0;
    buffers.spare.with(|Workplace { shard, scratch, listings: [now, next] }| {
        if let Some(&first) = slices.first() {
            next.fill(plan, first);
        }
        for (at, &slice) in slices.iter().enumerate() {
            // The next slice is listed in advance, so that its first rows can be prefetched.
            std::mem::swap(now, next);
            match slices.get(at + 1) {
                Some(&slice) => next.fill(plan, slice),
                None => next.clear(),
            }
            loss += if has_one_negative && now.has_distinct_entities() {
                tables.train_one_negative(plan, now, next)
            } else {
                shard.compute(plan, slice, now, scratch, tables);
                Arch::new().dispatch(TakeRest { tables, shard });
                shard.loss
            };
        }
    });
    (slices.iter().map(|slice| slice.facts.len()).sum(), loss)
}

/// The slices of a job. Negatives are drawn from the bucket of the true answer.
fn job_slices<'o>(plan: &Plan<'_>, dealing: &'o Dealing, epoch: u32, job: &Job) -> Vec<Slice<'o>> {
    let [first, second] = job.buckets;
    let cells = job.cells.iter().zip([[first, second], [second, first]]);
    cells
        .flat_map(|(cell, [head, tail])| {
            slices(plan, epoch, cell.start, &dealing.order[cell.clone()]).into_iter().map(move |slice| {
                let bucket = if slice.side == Side::Tail { tail } else { head };
                let members = dealing.members(bucket);
                let among = Some(Among { members, bucket_of: &dealing.bucket_of, bucket });
                Slice { among, ..slice }
            })
        })
        .collect()
}

/// The buffers of a thread.
#[derive(Default)]
pub(crate) struct Workplace {
    shard: Shard,
    scratch: Scratch,
    /// The current slice and the next one.
    listings: [Listing; 2],
}

/// Applies gradients one after the other, each to the current row. Call it only from vectorised code.
#[inline(always)]
fn update_in_place(rows: &mut impl RowsMut, gradients: &mut RowGradients, update: Update) {
    for (at, gradient) in gradients.iter(rows.width()) {
        let (row, state) = rows.row_mut(at);
        update.apply(row, state, gradient);
    }
    gradients.forget();
}

/// The rows that a job may update.
struct Lent<'l> {
    entities: Lease<'l>,
    relations: Copies<'l>,
    updates: [Update; 2],
}

impl Lent<'_> {
    /// Trains on the listed facts and gives the sum of their losses.
    fn train_one_negative(&mut self, plan: &Plan<'_>, listing: &Listing, next: &Listing) -> f64 {
        let Self { entities, relations, updates } = self;
        let EmbedConfig { loss, norm, .. } = *plan.config;
        OneNegative { loss, norm, listing, next, entities, relations, updates: *updates }.train()
    }
}

impl<'l> Tables for Lent<'l> {
    type Entities = Lease<'l>;
    type Relations = Copies<'l>;

    #[inline(always)]
    fn entities(&self) -> &Lease<'l> {
        &self.entities
    }

    #[inline(always)]
    fn relations(&self) -> &Copies<'l> {
        &self.relations
    }

    /// Updates the rows at once, while they and their gradients are in the first-level cache.
    #[inline(always)]
    fn take(&mut self, shard: &mut Shard) {
        let [entity_update, relation_update] = self.updates;
        update_in_place(&mut self.entities, &mut shard.entities, entity_update);
        update_in_place(&mut self.relations, &mut shard.relations, relation_update);
    }
}

/// Takes the remaining gradients of a shard.
struct TakeRest<'a, 'l> {
    tables: &'a mut Lent<'l>,
    shard: &'a mut Shard,
}

impl WithSimd for TakeRest<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.tables.take(self.shard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed_rows::FixedRows;
    use crate::loss::Loss;
    use crate::model::Norm;
    use crate::negative_sampler::Sampler;
    use crate::negatives::Negatives;
    use crate::optimiser::Optimiser;
    use crate::parameters::Parameters;
    use crate::training::row_lease::are_distinct;
    use crate::training::slice::Listed;
    use proptest::prelude::*;
    use rana_graph::{Duplicates, EntityId, Fact, GraphBuilder, RelationId};

    const ENTITIES: u32 = 30;
    const RELATIONS: u32 = 3;

    /// The trained entities and relations, and the loss.
    type Trained = (Vec<f32>, Changed, f64);

    /// Trains on some facts, each with one negative.
    fn trained(config: &EmbedConfig, side: Side, facts: &[Fact], has_one_negative: bool) -> Trained {
        let mut builder = GraphBuilder::new(Duplicates::Keep);
        for entity in 0..ENTITIES {
            builder.intern_entity(&entity.to_string());
        }
        let graph = builder.finish();
        let sampler = Sampler::new(config.negatives, &graph, facts, RELATIONS as usize);
        let plan = Plan { config, facts, fixed: &FixedRows::default(), entities: ENTITIES as usize, sampler };
        let order: Vec<Listed> = Listed::all(facts).collect();
        let slice = Slice { epoch: 0, place: 0, side, facts: &order, among: None };
        let mut listing = Listing::default();
        listing.fill(&plan, slice);
        for fact in 0..facts.len() {
            let negative = 2 * facts.len() + fact;
            while !are_distinct(listing.entities_of(fact)) {
                listing.entities[negative] = (listing.entities[negative] + 1) % ENTITIES;
            }
        }
        assert!(listing.has_distinct_entities());

        let mut parameters = Parameters::random(config, ENTITIES as usize, RELATIONS as usize);
        let Parameters { entities, relations, .. } = &mut parameters;
        let table =
            |values| Table { width: config.dim, state_width: 0, values, state: &mut [], heads: &mut [] };
        let bucket_of = vec![0; ENTITIES as usize];
        let leases = Leases::new(table(entities), &bucket_of);
        let relations = table(relations);
        let update = |max_norm| Update { optimiser: config.optimiser, rate: 0.1, max_norm };
        let train = |mut tables: Lent<'_>| {
            let loss = if has_one_negative {
                tables.train_one_negative(&plan, &listing, &Listing::default())
            } else {
                let mut shard = Shard::default();
                shard.compute(&plan, slice, &listing, &mut Scratch::default(), &mut tables);
                tables.take(&mut shard);
                shard.loss
            };
            (tables.relations.changed(), loss)
        };
        let (changed, loss) = train(Lent {
            entities: leases.lend([0, 0]),
            relations: Copies::of(&relations),
            updates: [update(config.max_norm), update(None)],
        });
        (parameters.entities, changed, loss)
    }

    proptest! {
        #[test]
        fn without_gradients_in_memory_training_gives_the_same_bits(
            facts in prop::collection::vec((0..ENTITIES, 0..RELATIONS, 1..ENTITIES), 1..80),
            dim in 16usize..50,
            norm in prop::sample::select(Norm::ALL),
            loss in prop::sample::select(&[
                Loss::Margin { margin: 0.5 },
                Loss::Logistic { gamma: 1.0 },
                Loss::SelfAdversarial { gamma: 2.0, temperature: 0.8 },
                Loss::Softmax,
            ][..]),
            side in prop::sample::select(&Side::ALL[..]),
            max_norm in prop::option::of(0.5f32..2.0),
            inverses in any::<bool>(),
        ) {
            let facts: Vec<Fact> = facts
                .into_iter()
                .map(|(head, relation, further)| Fact {
                    head: EntityId(head),
                    relation: RelationId::forward(relation),
                    tail: EntityId((head + further) % ENTITIES),
                })
                .collect();
            let config = EmbedConfig {
                norm, dim, loss, max_norm, inverses,
                init: Some(0.3),
                optimiser: Optimiser::Sgd,
                negatives: Negatives { count: 1, shared_by: 1, filtered: false, ..Negatives::default() },
                ..EmbedConfig::default()
            };
            prop_assert!(OneNegative::serves(&config));
            let (entities, changed, loss) = trained(&config, side, &facts, true);
            let (expected_entities, expected_changed, expected_loss) = trained(&config, side, &facts, false);
            prop_assert_eq!(loss, expected_loss);
            prop_assert_eq!(entities, expected_entities);
            prop_assert_eq!(changed, expected_changed);
        }
    }
}
