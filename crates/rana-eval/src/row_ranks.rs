//! [`RowRanks`]: the ranks of one model of a card.

use rana_embed::link_prediction::Rank;
use rana_fewshot::SupportError;

/// The ranks of one row: by draw, task and query.
pub(crate) struct RowRanks {
    pub(crate) official: Vec<Vec<Rank>>,
    pub(crate) draws: Vec<Vec<Vec<Rank>>>,
    /// Why there are no draws though some were asked for.
    pub(super) not_resampled: Option<SupportError>,
}

/// Some of the ranks of a row.
pub(super) struct View<'r> {
    pub(super) official: Vec<&'r [Rank]>,
    pub(super) draws: Vec<Vec<&'r [Rank]>>,
}

impl RowRanks {
    /// The ranks without the first `skipped` queries of every task; tasks without others are left out.
    pub(super) fn view(&self, skipped: usize) -> View<'_> {
        View {
            official: without_first(skipped, &self.official),
            draws: self.draws.iter().map(|tasks| without_first(skipped, tasks)).collect(),
        }
    }
}

fn without_first(skipped: usize, tasks: &[Vec<Rank>]) -> Vec<&[Rank]> {
    tasks.iter().filter_map(|ranks| ranks.get(skipped..).filter(|ranks| !ranks.is_empty())).collect()
}
