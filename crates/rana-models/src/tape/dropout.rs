//! Dropout: some numbers become zero, the others grow so that sums stay as large.

use rand::Rng;
use rayon::prelude::*;

use super::tape::{Tape, Var};
use crate::real::Real;
use crate::seed::{Purpose, rng};

/// Numbers whose fate comes from one random stream.
const CHUNK: usize = 1 << 14;

/// What decides which numbers are dropped. The same key gives the same choice with any number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DropoutKey {
    /// The seed of the training.
    pub(crate) seed: u64,
    /// The step of the training.
    pub(crate) step: u64,
    /// The number of the tape, where a step has several.
    pub(crate) tape: u32,
}

impl<T: Real> Tape<'_, T> {
    /// Drops about this share of the numbers of a matrix; the same matrix on a tape without a key.
    pub(crate) fn dropout(&mut self, x: Var, share: f32) -> Var {
        let threshold = dropout_threshold(share);
        if threshold == 0 {
            return x;
        }
        let Some((key, number)) = self.next_dropout() else { return x };
        let factor = T::of(256.0 / (256.0 - f64::from(threshold)));
        let mut factors = vec![T::ZERO; self.values(x).len()];
        factors.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, factors)| {
            let place = u64::from(key.tape) << 40 | number << 24 | chunk as u64;
            let mut bytes = vec![0u8; factors.len()];
            rng(key.seed, Purpose::Dropout, [key.step, place]).fill_bytes(&mut bytes);
            for (to, byte) in factors.iter_mut().zip(bytes) {
                if byte >= threshold {
                    *to = factor;
                }
            }
        });
        let columns = self.shape(x).1;
        let factors = self.constant(factors, columns);
        self.multiply(x, factors)
    }
}

/// The share of dropped numbers in 256ths: one random byte decides.
pub(super) fn dropout_threshold(share: f32) -> u8 {
    (share * 256.0).round().min(255.0) as u8
}
