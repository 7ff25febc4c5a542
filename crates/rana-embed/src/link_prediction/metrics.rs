//! [`Metrics`]: the usual summary of ranks.

use serde::{Deserialize, Serialize};

use super::rank::{Rank, TieRule};

/// The usual summary of ranks. All means are zero if there are no queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// The number of ranks.
    pub queries: u64,
    /// The mean reciprocal rank.
    pub mrr: f64,
    /// The mean rank.
    pub mean_rank: f64,
    /// The share of ranks up to 1.
    #[serde(rename = "hits1")]
    pub hits_at_1: f64,
    /// The share of ranks up to 3.
    #[serde(rename = "hits3")]
    pub hits_at_3: f64,
    /// The share of ranks up to 5.
    #[serde(rename = "hits5")]
    pub hits_at_5: f64,
    /// The share of ranks up to 10.
    #[serde(rename = "hits10")]
    pub hits_at_10: f64,
    /// Queries whose right answer shares its score with another candidate.
    pub tied_queries: u64,
    /// Candidates that share their score with the right answer, over all queries.
    pub ties: u64,
}

impl Metrics {
    /// Summarises ranks under a tie rule, in the given order.
    #[must_use]
    pub fn of(ranks: impl IntoIterator<Item = Rank>, rule: TieRule) -> Self {
        let mut sum = Self::default();
        for rank in ranks {
            let place = rank.by(rule);
            let within = |k: f64| f64::from(u8::from(place <= k));
            sum.queries += 1;
            sum.mrr += place.recip();
            sum.mean_rank += place;
            sum.hits_at_1 += within(1.0);
            sum.hits_at_3 += within(3.0);
            sum.hits_at_5 += within(5.0);
            sum.hits_at_10 += within(10.0);
            sum.tied_queries += u64::from(rank.tied > 0);
            sum.ties += rank.tied;
        }
        let count = sum.queries.max(1) as f64;
        Self {
            mrr: sum.mrr / count,
            mean_rank: sum.mean_rank / count,
            hits_at_1: sum.hits_at_1 / count,
            hits_at_3: sum.hits_at_3 / count,
            hits_at_5: sum.hits_at_5 / count,
            hits_at_10: sum.hits_at_10 / count,
            ..sum
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_ranks_are_summed_up_by_hand() {
        let ranks = [(0, 0), (0, 2), (2, 1), (9, 0)].map(|(better, tied)| Rank { better, tied });
        let of = |rule| Metrics::of(ranks, rule);
        let realistic = of(TieRule::Realistic);
        assert_eq!((realistic.queries, realistic.tied_queries, realistic.ties), (4, 2, 3));
        // Ranks 1, 2, 3.5 and 10.
        assert!((realistic.mrr - (1.0 + 0.5 + 1.0 / 3.5 + 0.1) / 4.0).abs() < 1e-12);
        assert_eq!(realistic.mean_rank, 16.5 / 4.0);
        let hits = |m: Metrics| [m.hits_at_1, m.hits_at_3, m.hits_at_5, m.hits_at_10];
        assert_eq!(hits(realistic), [0.25, 0.5, 0.75, 1.0]);
        assert_eq!(hits(of(TieRule::Optimistic)), [0.5, 0.75, 0.75, 1.0]);
        assert_eq!(hits(of(TieRule::Pessimistic)), [0.25, 0.5, 0.75, 1.0]);
        assert_eq!(Metrics::of([], TieRule::Realistic), Metrics::default());
    }
}
