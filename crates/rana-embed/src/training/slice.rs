//! [`Slice`]: the facts that one thread works on at a time, and the [`Plan`] that all slices share.

use rana_graph::Fact;

use crate::embed_config::EmbedConfig;
use crate::fixed_rows::FixedRows;
use crate::negative_sampler::Sampler;
use crate::side::Side;

/// Facts of a shard: enough to make fixed costs small, few enough to fit the cache.
const SHARD_FACTS: usize = 64;

/// The data that all shards of a training share.
pub(crate) struct Plan<'d> {
    pub(crate) config: &'d EmbedConfig,
    pub(crate) facts: &'d [Fact],
    pub(crate) fixed: &'d FixedRows,
    pub(crate) entities: usize,
    pub(crate) sampler: Sampler<'d>,
}

impl Plan<'_> {
    /// Facts per shard: whole chunks of facts that share negatives.
    pub(crate) fn shard_facts(&self) -> usize {
        let shared_by = self.config.negatives.shared_by;
        SHARD_FACTS.div_ceil(shared_by) * shared_by
    }
}

/// A fact in the order of an epoch.
///
/// The order holds copies of the facts. Looking up each fact in the graph would miss the cache every time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) fact: Fact,
    /// Its position among all facts.
    pub(crate) position: u32,
}

impl Listed {
    /// All facts, in their order.
    pub(crate) fn all(facts: &[Fact]) -> impl Iterator<Item = Self> + Clone {
        facts.iter().zip(0..).map(|(&fact, position)| Self { fact, position })
    }
}

/// The facts of a shard, and the key of its random numbers.
#[derive(Clone, Copy)]
pub(crate) struct Slice<'o> {
    pub(crate) epoch: u32,
    /// The position of the first fact in the order of the epoch.
    pub(crate) place: usize,
    pub(crate) side: Side,
    pub(crate) facts: &'o [Listed],
    /// The entities that negatives are drawn from, if not all.
    pub(crate) among: Option<Among<'o>>,
}

/// The entities of one bucket.
#[derive(Clone, Copy)]
pub(crate) struct Among<'o> {
    pub(crate) members: &'o [u32],
    pub(crate) bucket_of: &'o [u8],
    pub(crate) bucket: u8,
}
