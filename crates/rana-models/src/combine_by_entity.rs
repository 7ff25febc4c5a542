//! [`combine_by_entity`]: one value per entity, from values found one by one.

use rana_graph::EntityId;

/// Hands on each entity once, its values combined in the order they were found.
pub(crate) fn combine_by_entity(
    mut found: Vec<(EntityId, f32)>,
    combine: impl Fn(f32, f32) -> f32,
    hand: &mut dyn FnMut(EntityId, f32),
) {
    // Stable, so that values are always combined in the same order.
    found.sort_by_key(|&(entity, _)| entity);
    for same in found.chunk_by(|one, other| one.0 == other.0) {
        let value = same.iter().map(|&(_, value)| value).reduce(&combine).unwrap_or(0.0);
        hand(same[0].0, value);
    }
}
