//! Rows gathered and dropped in one go: where many rows are gathered, writing them once is most of the cost.

use rand::Rng;
use rayon::prelude::*;

use super::dropout::dropout_threshold;
use super::tape::{Tape, Var};
use crate::real::Real;
use crate::seed::{Purpose, rng};

/// Rows whose fate comes from one random stream.
const CHUNK: usize = 128;

impl<T: Real> Tape<'_, T> {
    /// The rows of these numbers, as [`gather_rows`](Self::gather_rows) gives them, with about this share of their
    /// numbers dropped. A row that comes up twice is dropped from anew.
    pub(crate) fn gather_dropped_rows(&mut self, x: Var, rows: Vec<u32>, share: f32) -> Var {
        let threshold = dropout_threshold(share);
        if threshold == 0 {
            return self.gather_rows(x, rows);
        }
        let Some((key, number)) = self.next_dropout() else { return self.gather_rows(x, rows) };
        let (_, columns) = self.shape(x);
        let factor = T::of(256.0 / (256.0 - f64::from(threshold)));
        // The bytes that decide, of the rows of a chunk.
        let bytes_of = move |chunk: usize, rows: usize| {
            let place = u64::from(key.tape) << 40 | number << 24 | chunk as u64;
            let mut bytes = vec![0u8; rows * columns];
            rng(key.seed, Purpose::Dropout, [key.step, place]).fill_bytes(&mut bytes);
            bytes
        };
        let values = self.values(x);
        let mut gathered = vec![T::ZERO; rows.len() * columns];
        let chunks = gathered.par_chunks_mut(CHUNK * columns).zip(rows.par_chunks(CHUNK)).enumerate();
        chunks.for_each(|(chunk, (to, rows))| {
            let bytes = bytes_of(chunk, rows.len());
            let with_bytes = to.chunks_exact_mut(columns).zip(bytes.chunks_exact(columns));
            for ((to, bytes), &row) in with_bytes.zip(rows) {
                let from = &values[row as usize * columns..(row as usize + 1) * columns];
                for (to, (&from, &byte)) in to.iter_mut().zip(from.iter().zip(bytes)) {
                    *to = if byte >= threshold { factor * from } else { T::ZERO };
                }
            }
        });
        self.push((rows.len(), columns), gathered, &[x], move |pass| {
            let gradient = pass.gradient;
            let Some(at) = pass.at(x) else { return };
            let chunks = gradient.chunks(CHUNK * columns).zip(rows.chunks(CHUNK)).enumerate();
            for (chunk, (gradient, rows)) in chunks {
                let bytes = bytes_of(chunk, rows.len());
                let with_bytes = gradient.chunks_exact(columns).zip(bytes.chunks_exact(columns));
                for ((gradient, bytes), &row) in with_bytes.zip(rows) {
                    let at = &mut at[row as usize * columns..(row as usize + 1) * columns];
                    for (at, (&gradient, &byte)) in at.iter_mut().zip(gradient.iter().zip(bytes)) {
                        *at += if byte >= threshold { factor * gradient } else { T::ZERO };
                    }
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::DropoutKey;
    use super::*;

    /// A share of the numbers is gone, the others have grown, and gradients go the same way.
    #[test]
    fn gathered_rows_are_dropped_with_their_gradients() {
        let key = DropoutKey { seed: 5, step: 2, tape: 0 };
        let (columns, rows) = (10, (0..300u32).map(|at| at % 7).collect::<Vec<_>>());
        let values: Vec<f64> = (0..7 * columns).map(|at| 1.0 + at as f64).collect();
        let mut tape = Tape::new(&[]).with_dropout(Some(key));
        let x = tape.rows(values.clone(), columns);
        let found = tape.gather_dropped_rows(x, rows.clone(), 0.25);
        let factor = 4.0 / 3.0;
        let mut expected = vec![0.0; values.len()];
        let mut kept = 0;
        for (found, &row) in tape.values(found).chunks_exact(columns).zip(&rows) {
            for (column, &found) in found.iter().enumerate() {
                let at = row as usize * columns + column;
                if found != 0.0 {
                    kept += 1;
                    expected[at] += factor;
                    assert!((found - factor * values[at]).abs() < 1e-12);
                }
            }
        }
        assert!((kept as f64 / 3000.0 - 0.75).abs() < 0.05, "{kept}");
        let sum = tape.sum(found);
        let gradients = tape.backward(sum);
        for (found, expected) in gradients.of(x).unwrap().iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
        }
        // Without a key nothing is dropped.
        let mut tape = Tape::new(&[]);
        let x = tape.rows(values.clone(), columns);
        let found = tape.gather_dropped_rows(x, vec![3, 3], 0.25);
        assert_eq!(tape.values(found), [&values[30..40], &values[30..40]].concat());
    }
}
