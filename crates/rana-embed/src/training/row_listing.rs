//! [`Listing`]: the rows that a slice of facts needs, with its negatives.

use super::row_lease::are_distinct;
use super::slice::{Listed, Plan, Slice};
use crate::seed::{Purpose, rng};
use crate::side::Side;
use crate::vectors::route;

/// The rows of a slice of facts.
#[derive(Default)]
pub(crate) struct Listing {
    /// The side of the queries.
    pub(crate) side: Side,
    /// Anchors, then answers, then negatives.
    pub(crate) entities: Vec<u32>,
    pub(crate) relations: Vec<u32>,
}

impl Listing {
    /// Lists the rows of a slice and draws its negatives.
    pub(crate) fn fill(&mut self, plan: &Plan<'_>, slice: Slice<'_>) {
        let config = plan.config;
        let (facts, negatives) = (slice.facts.len(), config.negatives.count);
        let chunks = facts.div_ceil(config.negatives.shared_by);
        self.entities.resize(2 * facts + chunks * negatives, 0);
        self.relations.resize(facts, 0);
        for (at, &Listed { fact, .. }) in slice.facts.iter().enumerate() {
            let directed = match slice.side {
                Side::Tail => fact.relation,
                Side::Head => fact.relation.inverse(),
            };
            let (row, asked) = route(config.inverses, directed);
            self.side = asked;
            self.relations[at] = row as u32;
            self.entities[at] = slice.side.anchor(fact).0;
            self.entities[facts + at] = slice.side.answer(fact).0;
        }
        let place = 2 * slice.place as u64 + slice.side as u64;
        let mut rng = rng(config.seed, Purpose::Negatives, [slice.epoch.into(), place]);
        plan.sampler.draw(&mut rng, slice.side, slice.facts, slice.among, &mut self.entities[2 * facts..]);
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.entities.clear();
        self.relations.clear();
    }

    /// Anchor, answer and negative of a fact, if each fact has one negative of its own.
    #[inline(always)]
    pub(crate) fn entities_of(&self, fact: usize) -> [u32; 3] {
        let facts = self.relations.len();
        [self.entities[fact], self.entities[facts + fact], self.entities[2 * facts + fact]]
    }

    /// Whether anchor, answer and negative of every fact are three different entities, if each fact has one negative
    /// of its own.
    pub(crate) fn has_distinct_entities(&self) -> bool {
        let facts = self.relations.len();
        let (anchors, others) = self.entities.split_at(facts);
        let (answers, negatives) = others.split_at(facts);
        let mut all = true;
        for ((&anchor, &answer), &negative) in anchors.iter().zip(answers).zip(negatives) {
            all &= are_distinct([anchor, answer, negative]);
        }
        all
    }
}
