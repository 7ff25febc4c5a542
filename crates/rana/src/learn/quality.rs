//! [`Quality`]: what learning is worth on relations that were withheld.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file in a learned directory.
pub(super) const QUALITY: &str = "quality.json";
/// The row of the learned trust in evidence.
pub const LEARNED: &str = "learned";

/// What was measured on relations that were withheld in turn: `quality.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// How many pairs of a relation were given.
    pub shots: usize,
    /// The rows of the comparison; one of them was chosen.
    pub rows: Vec<QualityRow>,
    /// The row that answers.
    pub chosen: String,
    /// The relations.
    pub relations: Vec<WithheldRelation>,
    /// The same for heads: given the tail, which head?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heads: Option<Box<Quality>>,
    /// The same for relations: given head and tail, which relation?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relating: Option<Box<RelationQuality>>,
}

/// How well the relation between two entities is found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationQuality {
    /// The most relations that were ranked for a pair.
    pub among: usize,
    /// How far confidence was from the share of right relations, in the mean; none if there is no confidence.
    pub expected_error: Option<f64>,
    /// What was measured.
    #[serde(flatten)]
    pub quality: Quality,
}

/// One way to answer, and how good it is over all relations that were withheld.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QualityRow {
    /// Its name.
    pub name: String,
    /// The mean over relations of the mean reciprocal rank.
    pub mrr: f64,
    /// The standard error of that mean; none if there is one relation only.
    pub mrr_error: Option<f64>,
    /// The mean over relations of the share of right tails among the first ten.
    pub hits_at_10: f64,
    /// The standard error of that mean.
    pub hits_at_10_error: Option<f64>,
}

/// A relation that was withheld.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithheldRelation {
    /// Its name.
    pub name: String,
    /// How many facts it has.
    pub facts: usize,
    /// How many of them were asked for.
    pub queries: usize,
    /// The mean reciprocal rank of each row.
    pub mrr: Vec<f64>,
    /// The share of right tails among the first ten, for each row.
    pub hits_at_10: Vec<f64>,
}

impl Quality {
    /// What was measured when a directory was learned; none if no relation could be left out, or the directory was not
    /// made by [`learn`](crate::learn).
    #[must_use]
    pub fn read(out: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(out.join(QUALITY)).ok()?).ok()
    }

    /// Sums up what was measured and chooses the best row; of equal ones the first.
    pub(super) fn new(shots: usize, names: &[&str], relations: Vec<WithheldRelation>) -> Option<Self> {
        if relations.is_empty() {
            return None;
        }
        let row = |(at, name): (usize, &&str)| {
            let [mrr, hits] = [
                relations.iter().map(|of| of.mrr[at]).collect::<Vec<_>>(),
                relations.iter().map(|of| of.hits_at_10[at]).collect(),
            ]
            .map(|values| mean_and_error(&values));
            QualityRow {
                name: (*name).to_owned(),
                mrr: mrr.0,
                mrr_error: mrr.1,
                hits_at_10: hits.0,
                hits_at_10_error: hits.1,
            }
        };
        let rows: Vec<QualityRow> = names.iter().enumerate().map(row).collect();
        let mut best = rows.first()?;
        for row in &rows {
            if row.mrr > best.mrr {
                best = row;
            }
        }
        let chosen = best.name.clone();
        Some(Self { shots, rows, chosen, relations, heads: None, relating: None })
    }

    /// The row that answers.
    #[must_use]
    pub fn chosen_row(&self) -> Option<&QualityRow> {
        self.row(&self.chosen)
    }

    /// A row by its name.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&QualityRow> {
        self.rows.iter().find(|row| row.name == name)
    }
}

/// The mean of some values and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, Option<f64>) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_row_is_chosen_and_the_first_of_equal_ones() {
        let relation = |mrr: [f64; 3]| WithheldRelation {
            name: "r".to_owned(),
            facts: 9,
            queries: 4,
            mrr: mrr.to_vec(),
            hits_at_10: vec![0.5; 3],
        };
        let names = [LEARNED, "rules", "mean-translation"];
        let of = |relations: Vec<WithheldRelation>| Quality::new(5, &names, relations).unwrap();
        let quality = of(vec![relation([0.2, 0.4, 0.3]), relation([0.4, 0.4, 0.1])]);
        assert_eq!(quality.chosen, "rules");
        let learned = quality.row(LEARNED).unwrap();
        assert!((learned.mrr - 0.3).abs() < 1e-12 && (learned.mrr_error.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(of(vec![relation([0.4, 0.4, 0.3])]).chosen, LEARNED);
        assert_eq!(of(vec![relation([0.4, 0.4, 0.3])]).rows[0].mrr_error, None);
        assert_eq!(Quality::new(5, &names, Vec::new()), None);
    }
}
