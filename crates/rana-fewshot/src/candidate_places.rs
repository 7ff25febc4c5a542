//! [`CandidatePlaces`]: where entities stand in a list of candidates.

use rana_graph::EntityId;

/// Where entities stand in a list of candidates, which comes in the order of its file.
#[derive(Clone, Debug, Default)]
pub struct CandidatePlaces {
    /// The places in the order of their entities, unless the candidates are in that order themselves.
    order: Option<Vec<u32>>,
}

impl CandidatePlaces {
    /// The places of some candidates.
    #[must_use]
    pub fn new(candidates: &[EntityId]) -> Self {
        let order = (!candidates.is_sorted()).then(|| {
            let mut order: Vec<u32> = (0..candidates.len() as u32).collect();
            order.sort_unstable_by_key(|&place| candidates[place as usize]);
            order
        });
        Self { order }
    }

    /// The places of an entity among these candidates: none, one, or more if it is a candidate more than once.
    pub fn of<'c>(
        &'c self,
        candidates: &'c [EntityId],
        entity: EntityId,
    ) -> impl Iterator<Item = usize> + 'c {
        let at = move |rank: usize| self.order.as_ref().map_or(rank, |order| order[rank] as usize);
        let first = match &self.order {
            None => candidates.partition_point(|&other| other < entity),
            Some(order) => order.partition_point(|&place| candidates[place as usize] < entity),
        };
        (first..candidates.len()).map(at).take_while(move |&place| candidates[place] == entity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_those_of_a_search(
            ids in prop::collection::vec(0_u32..20, 0..30),
            is_sorted in any::<bool>(),
            asked in 0_u32..20,
        ) {
            let mut candidates: Vec<EntityId> = ids.into_iter().map(EntityId).collect();
            if is_sorted {
                candidates.sort_unstable();
            }
            let mut found: Vec<usize> = CandidatePlaces::new(&candidates).of(&candidates, EntityId(asked)).collect();
            found.sort_unstable();
            let all: Vec<usize> = (0..candidates.len()).filter(|&at| candidates[at] == EntityId(asked)).collect();
            prop_assert_eq!(found, all);
        }
    }
}
