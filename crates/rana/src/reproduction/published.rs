//! The published numbers: Tables 2 and 3 (with the spread of the paper's five runs, if it gives one).

use rana_eval::Averages;
use serde::Serialize;

/// A published result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The published metrics.
    pub value: Averages,
    /// Its standard deviation, where it was published too.
    pub sd: Option<Averages>,
}

/// MRR, Hits@10, Hits@5 and Hits@1, in the order of the paper.
type Numbers = [f64; 4];

/// A row of a table: its key, NELL-One, Wiki-One.
type Row = (&'static str, Numbers, Numbers);

#[rustfmt::skip]
const TABLE_2: &[Row] = &[
    ("transe",    [0.174, 0.313, 0.231, 0.101], [0.133, 0.187, 0.157, 0.100]),
    ("distmult",  [0.200, 0.311, 0.251, 0.137], [0.071, 0.151, 0.099, 0.024]),
    ("complex",   [0.184, 0.297, 0.229, 0.118], [0.080, 0.181, 0.122, 0.032]),
    ("simple",    [0.158, 0.285, 0.226, 0.097], [0.093, 0.180, 0.128, 0.043]),
    ("rotate",    [0.176, 0.329, 0.247, 0.101], [0.049, 0.090, 0.064, 0.026]),
    ("gmatching", [0.176, 0.294, 0.233, 0.113], [0.263, 0.387, 0.337, 0.197]),
    ("metar",     [0.209, 0.355, 0.280, 0.141], [0.323, 0.418, 0.385, 0.270]),
    ("fsrl",      [0.153, 0.319, 0.212, 0.073], [0.158, 0.287, 0.206, 0.097]),
    ("faan",      [0.279, 0.428, 0.364, 0.200], [0.341, 0.463, 0.395, 0.281]),
    ("gana",      [0.344, 0.517, 0.437, 0.246], [0.351, 0.446, 0.407, 0.299]),
    ("hire",      [0.306, 0.520, 0.439, 0.207], [0.371, 0.469, 0.419, 0.319]),
    ("rana",      [0.361, 0.573, 0.475, 0.253], [0.379, 0.480, 0.437, 0.329]),
];

/// The spread of the last row of Table 2; the others have none.
const RANA_SD: Row = ("rana", [0.011, 0.009, 0.010, 0.013], [0.008, 0.012, 0.008, 0.011]);

#[rustfmt::skip]
const TABLE_3: &[Row] = &[
    ("whole",                     [0.372, 0.580, 0.477, 0.257], [0.387, 0.486, 0.443, 0.339]),
    ("eq3-without-r",             [0.339, 0.535, 0.427, 0.222], [0.362, 0.468, 0.410, 0.299]),
    ("eq4-with-c",                [0.358, 0.573, 0.471, 0.256], [0.367, 0.477, 0.424, 0.302]),
    ("eq3-without-alpha",         [0.326, 0.526, 0.407, 0.235], [0.377, 0.483, 0.433, 0.315]),
    ("a-one-negative",            [0.294, 0.520, 0.428, 0.210], [0.349, 0.451, 0.417, 0.311]),
    ("b-no-negative-attention",   [0.293, 0.494, 0.416, 0.213], [0.298, 0.387, 0.371, 0.257]),
    ("c-no-pruning",              [0.298, 0.507, 0.425, 0.217], [0.311, 0.445, 0.360, 0.243]),
    ("d-neither",                 [0.257, 0.447, 0.396, 0.192], [0.286, 0.363, 0.321, 0.242]),
    ("e-rotate-loss",             [0.268, 0.479, 0.365, 0.165], [0.310, 0.389, 0.401, 0.255]),
];

fn averages([mrr, hits_at_10, hits_at_5, hits_at_1]: Numbers) -> Averages {
    Averages { mrr, hits_at_1, hits_at_5, hits_at_10 }
}

/// The benchmarks of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Benchmark {
    NellOne,
    WikiOne,
}

impl Benchmark {
    /// The benchmark of this name; other names have nothing published.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        match name {
            "NELL-One" => Some(Self::NellOne),
            "Wiki-One" => Some(Self::WikiOne),
            _ => None,
        }
    }

    fn of(self, (_, nell, wiki): &Row) -> Averages {
        averages(match self {
            Self::NellOne => *nell,
            Self::WikiOne => *wiki,
        })
    }

    /// A row of Table 2.
    pub(super) fn table_2(self, key: &str) -> Option<Published> {
        let row = TABLE_2.iter().find(|row| row.0 == key)?;
        Some(Published { value: self.of(row), sd: (key == RANA_SD.0).then(|| self.of(&RANA_SD)) })
    }

    /// A row of Table 3.
    pub(super) fn table_3(self, key: &str) -> Option<Published> {
        let row = TABLE_3.iter().find(|row| row.0 == key)?;
        Some(Published { value: self.of(row), sd: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_paper_in_its_order() {
        let rana = Benchmark::NellOne.table_2("rana").unwrap();
        assert_eq!(
            (rana.value.mrr, rana.value.hits_at_10, rana.value.hits_at_5, rana.value.hits_at_1),
            (0.361, 0.573, 0.475, 0.253)
        );
        assert_eq!(rana.sd.unwrap().mrr, 0.011);
        assert_eq!(Benchmark::WikiOne.table_2("hire").unwrap().value.hits_at_1, 0.319);
        assert_eq!(Benchmark::NellOne.table_2("gana").unwrap().sd, None);
        let d = Benchmark::NellOne.table_3("d-neither").unwrap();
        assert_eq!((d.value.mrr, d.value.hits_at_1, d.sd), (0.257, 0.192, None));
        assert_eq!(Benchmark::of_name("WD50K"), None);
    }

    /// Hits must grow with k; the one exception is a slip of the paper itself.
    #[test]
    fn only_the_papers_own_slip_is_impossible() {
        let rows =
            TABLE_2.iter().chain(TABLE_3).flat_map(|(key, nell, wiki)| [(key, nell, 'n'), (key, wiki, 'w')]);
        let impossible: Vec<_> = rows
            .filter(|(_, [mrr, ten, five, one], _)| !(ten >= five && five >= one && mrr >= one))
            .map(|(key, _, dataset)| (*key, dataset))
            .collect();
        assert_eq!(impossible, [("e-rotate-loss", 'w')]);
    }
}
