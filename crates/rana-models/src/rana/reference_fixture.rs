//! A small graph with tasks, and the configurations that the reference is compared in.

use rana_graph::{Edge, EntityId, Pair, RelationId, keyed_rng};
use rand::{Rng, RngExt};

use super::config::{
    Activation, AggInput, Attn, AttnInput, BetaScale, BetaSpace, Ends, InnerReduction, MetaOrder, NegWeight,
    OuterReduction, Padding, RScope, RanaConfig, Residual, ScoreSpace, TrainEntities,
};
use super::inputs::Neighbourhood;
use super::layout::Layout;
use super::reference::{Parameters, plus};
use crate::training::{Contrasts, MetaTask};

/// The neighbours of each entity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lists(pub(crate) Vec<Vec<Edge>>);

impl Neighbourhood for Lists {
    fn of(&self, entity: EntityId, _: Option<RelationId>) -> &[Edge] {
        &self.0[entity.index()]
    }
}

/// The configuration that [`fixture`] is made for: nothing in it is saturated, and places of
/// neighbours are left empty.
pub(crate) fn fixture_config() -> RanaConfig {
    RanaConfig { neighbours: 5, hidden: 3, gamma: 2.0, eta: 0.5, ..RanaConfig::default() }
}

/// Episodes in a batch of a [`fixture`]'s training.
pub(crate) const FIXTURE_BATCH: usize = 3;

/// Entities of a [`fixture`].
pub(crate) const FIXTURE_ENTITIES: u32 = 12;

const FIXTURE_RELATIONS: u32 = 4;

/// A small graph and batch: values by the seed, in 4 to 6 dimensions; pairs always the same.
///
/// Supports have 2, 4 and 1 pairs. Pairs occur twice in one support, in supports of two tasks, and in
/// a support and another task's query. There are pairs with fewer negatives than others or none, a
/// negative twice, a head that is also a negative, a pair of an entity with itself, and an entity
/// without neighbours.
pub(crate) fn fixture(config: &RanaConfig, seed: u64) -> (Layout, Parameters, Lists, Vec<MetaTask>) {
    let mut rng = keyed_rng([seed, 0, 0, 0]);
    let dim = 4 + (seed % 3) as usize;
    let layout = Layout::new(config, dim);
    let mut values = |count: usize, bound: f64| -> Vec<f64> {
        (0..count).map(|_| rng.random_range(-bound..bound)).collect()
    };
    let weights = values(layout.weights(), 0.8);
    let relations = values(2 * FIXTURE_RELATIONS as usize * dim, 1.0);
    let frozen = values(FIXTURE_ENTITIES as usize * dim, 1.0);
    let scoring = match config.train_entities {
        // Different, so that they cannot be taken for each other unnoticed.
        TrainEntities::Copy => plus(&frozen, &values(frozen.len(), 0.5)),
        TrainEntities::Frozen | TrainEntities::Shared => frozen.clone(),
    };
    let lists = (0..FIXTURE_ENTITIES).map(|entity| fixture_neighbours(entity, config, &mut rng)).collect();
    (layout, Parameters { weights, relations, frozen, scoring }, Lists(lists), fixture_tasks())
}

fn fixture_neighbours(entity: u32, config: &RanaConfig, rng: &mut impl Rng) -> Vec<Edge> {
    let count = match entity {
        0 => 4,
        11 => 0,
        _ => rng.random_range(1..=4),
    };
    (0..count.min(config.neighbours))
        .map(|_| Edge {
            relation: RelationId(rng.random_range(0..2 * FIXTURE_RELATIONS)),
            entity: EntityId(rng.random_range(0..FIXTURE_ENTITIES)),
        })
        .collect()
}

fn fixture_tasks() -> Vec<MetaTask> {
    type Pairs<'a> = &'a [((u32, u32), &'a [u32])];
    let contrasts = |pairs: Pairs| {
        let mut contrasts = Contrasts::default();
        for &((head, tail), negatives) in pairs {
            let pair = Pair { head: EntityId(head), tail: EntityId(tail) };
            contrasts.push(pair, negatives.iter().map(|&negative| EntityId(negative)));
        }
        contrasts
    };
    let task = |support: Pairs, query: Pairs| MetaTask {
        relation: None,
        support: contrasts(support),
        query: contrasts(query),
        rejected: Vec::new(),
    };
    vec![
        task(&[((0, 1), &[2, 3, 4]), ((5, 6), &[3, 0, 7])], &[((8, 1), &[9, 10, 11]), ((0, 4), &[2])]),
        task(
            &[((0, 1), &[2, 9]), ((7, 11), &[8]), ((4, 10), &[]), ((7, 11), &[3, 6, 2])],
            &[((11, 2), &[5, 5, 0]), ((3, 7), &[])],
        ),
        task(&[((6, 5), &[8, 2, 10])], &[((5, 6), &[1, 2, 3, 4]), ((9, 9), &[0, 7]), ((1, 0), &[6, 8])]),
    ]
}

/// [`fixture_config`] with each choice that the objective depends on, and some that meet.
pub(crate) fn fixture_configs() -> Vec<(&'static str, RanaConfig)> {
    let base = fixture_config();
    macro_rules! with {
        ($($field:ident: $value:expr),*) => {
            (stringify!($($field = $value),*), RanaConfig { $($field: $value,)* ..base.clone() })
        };
    }
    use MetaOrder::{Second, Zero};
    vec![
        ("as it is", base.clone()),
        with!(meta_order: Zero),
        with!(meta_order: Second),
        with!(meta_order: Second, inner_steps: 3),
        with!(inner_steps: 3),
        with!(padding: Padding::Unmasked),
        with!(padding: Padding::Unmasked, attn: Attn::Uniform),
        with!(padding: Padding::Unmasked, attn: Attn::Sum),
        with!(padding: Padding::Unmasked, attn_input: AttnInput::RelationEntity, train_relations: true),
        with!(attn: Attn::Uniform),
        with!(attn: Attn::Sum),
        with!(neighbours: 0),
        with!(attn_input: AttnInput::RelationEntity, ends: Ends::Separate),
        with!(agg_input: AggInput::Entity),
        with!(bias: false, hidden: 0),
        with!(ends: Ends::Separate),
        with!(r_scope: RScope::TaskMean),
        with!(enc_act: Activation::Tanh, rel_act: Activation::None),
        with!(enc_act: Activation::LeakyRelu, rel_act: Activation::Tanh),
        with!(enc_act: Activation::None, rel_act: Activation::Sigmoid),
        with!(residual: Residual::Translation, meta_order: Second),
        with!(train_relations: true),
        with!(train_entities: TrainEntities::Frozen),
        with!(train_entities: TrainEntities::Shared, meta_order: Second, train_relations: true),
        with!(
            train_entities: TrainEntities::Shared, residual: Residual::Translation, r_scope: RScope::TaskMean
        ),
        with!(
            train_entities: TrainEntities::Shared, attn_input: AttnInput::RelationEntity,
            agg_input: AggInput::Entity
        ),
        with!(score_space: ScoreSpace::Encoded),
        with!(score_space: ScoreSpace::Encoded, meta_order: Second, beta_grad: true, ends: Ends::Separate),
        with!(
            score_space: ScoreSpace::Encoded, meta_order: Second, r_scope: RScope::TaskMean,
            outer_includes_support: true
        ),
        with!(
            score_space: ScoreSpace::Encoded, meta_order: Second, train_entities: TrainEntities::Shared,
            train_relations: true
        ),
        with!(
            score_space: ScoreSpace::Encoded, train_entities: TrainEntities::Shared, r_scope: RScope::TaskMean,
            beta_grad: true
        ),
        with!(
            score_space: ScoreSpace::Encoded, meta_order: Second, ends: Ends::Separate, r_scope: RScope::TaskMean
        ),
        with!(score_space: ScoreSpace::EncodedSupport, meta_order: Second),
        with!(
            score_space: ScoreSpace::EncodedSupport, meta_order: Second, beta_grad: true,
            outer_includes_support: true
        ),
        with!(score_space: ScoreSpace::EncodedSupport, residual: Residual::Translation),
        with!(neg_weight: NegWeight::Uniform, meta_order: Second),
        with!(neg_weight: NegWeight::One),
        with!(neg_weight: NegWeight::SelfAdversarial, adv_temp: 0.5),
        with!(
            neg_weight: NegWeight::SelfAdversarial, meta_order: Second, inner_steps: 2,
            outer_includes_support: true
        ),
        with!(beta_space: BetaSpace::Frozen, beta_scale: BetaScale::None, meta_order: Second),
        with!(beta_scale: BetaScale::None, beta_temp: 0.5),
        with!(beta_grad: true),
        with!(beta_grad: true, meta_order: Second, inner_steps: 2, beta_temp: 3.0),
        with!(inner_reduction: InnerReduction::MeanTask),
        with!(inner_reduction: InnerReduction::MeanBatch, meta_order: Second),
        with!(inner_reduction: InnerReduction::Half),
        with!(outer_reduction: OuterReduction::Sum),
        with!(outer_includes_support: true),
        with!(outer_includes_support: true, outer_reduction: OuterReduction::Sum, meta_order: Second),
    ]
}
