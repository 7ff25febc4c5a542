//! [`support_contrasts`]: the support with its negatives in evaluation.

use rana_fewshot::Support;
use rana_graph::{EntityId, Pair};

use super::support_choices::SupportNegatives;
use crate::seed::{Purpose, rng};
use crate::training::{Contrasts, UniformNegatives};

/// The support with its negatives. Only tails of the support itself count as known: an evaluation must not look
/// at others. Rejected tails of a head are negatives of its pairs.
pub(crate) fn support_contrasts(
    support: &Support<'_>,
    negatives: &UniformNegatives,
    choice: SupportNegatives,
    seed: u64,
) -> Contrasts {
    let mut rng = rng(seed, Purpose::TestNegatives, [support.seed, 0]);
    let mut contrasts = Contrasts::default();
    for &pair in support.pairs {
        let mut known: Vec<EntityId> = Pair::tails_of(support.pairs, pair.head).collect();
        known.sort_unstable();
        let mut of_pair: Vec<EntityId> = Pair::tails_of(support.rejected, pair.head).collect();
        of_pair.extend(match choice {
            SupportNegatives::FirstValid => negatives.first(pair, support.candidates, &known),
            SupportNegatives::Seeded => negatives.of_pair(pair, support.candidates, &known, &mut rng),
        });
        contrasts.push(pair, of_pair);
    }
    contrasts
}
