//! [`Lanes`] and [`LanesMut`]: rows as vectors of the processor.

use std::array;

use pulp::Simd;

/// A row as whole vectors and a remainder, in `P` parts of equal length.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'a, S: Simd, const P: usize> {
    vectors: [&'a [S::f32s]; P],
    rests: [&'a [f32]; P],
}

impl<'a, S: Simd, const P: usize> Lanes<'a, S, P> {
    #[inline(always)]
    pub(super) fn rows<const N: usize>(block: &'a [f32], dim: usize) -> [Self; N] {
        let mut rows = [Self { vectors: [&[]; P], rests: [&[]; P] }; N];
        let part = dim / P;
        for (n, row) in rows.iter_mut().enumerate() {
            for p in 0..P {
                let start = n * dim + p * part;
                (row.vectors[p], row.rests[p]) = S::as_simd_f32s(&block[start..start + part]);
            }
        }
        rows
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.vectors[0].len()
    }

    #[inline(always)]
    pub(super) fn get(&self, simd: S, at: usize) -> [S::f32s; P] {
        let mut values = [simd.splat_f32s(0.0); P];
        for p in 0..P {
            values[p] = self.vectors[p][at];
        }
        values
    }

    #[inline(always)]
    pub(super) fn has_tail(&self) -> bool {
        !self.rests[0].is_empty()
    }

    /// The remainder, padded with zeros, which contribute nothing to any similarity.
    #[inline(always)]
    pub(super) fn tail(&self, simd: S) -> [S::f32s; P] {
        let mut values = [simd.splat_f32s(0.0); P];
        for p in 0..P {
            values[p] = simd.partial_load_f32s(self.rests[p]);
        }
        values
    }
}

/// A row to write, in the same parts.
pub(super) struct LanesMut<'a, S: Simd, const P: usize> {
    vectors: [&'a mut [S::f32s]; P],
    rests: [&'a mut [f32]; P],
}

impl<'a, S: Simd, const P: usize> LanesMut<'a, S, P> {
    #[inline(always)]
    pub(super) fn rows<const N: usize>(block: &'a mut [f32], dim: usize) -> [Self; N] {
        let mut rows: [Self; N] = array::from_fn(|_| Self {
            vectors: array::from_fn(|_| Default::default()),
            rests: array::from_fn(|_| Default::default()),
        });
        let mut rest = block;
        for row in &mut rows {
            for p in 0..P {
                let (part, others) = rest.split_at_mut(dim / P);
                (row.vectors[p], row.rests[p]) = S::as_mut_simd_f32s(part);
                rest = others;
            }
        }
        rows
    }

    #[inline(always)]
    pub(super) fn get(&self, simd: S, at: usize) -> [S::f32s; P] {
        let mut values = [simd.splat_f32s(0.0); P];
        for p in 0..P {
            values[p] = self.vectors[p][at];
        }
        values
    }

    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, values: [S::f32s; P]) {
        for p in 0..P {
            self.vectors[p][at] = values[p];
        }
    }

    #[inline(always)]
    pub(super) fn tail(&self, simd: S) -> [S::f32s; P] {
        let mut values = [simd.splat_f32s(0.0); P];
        for p in 0..P {
            values[p] = simd.partial_load_f32s(self.rests[p]);
        }
        values
    }

    #[inline(always)]
    pub(super) fn set_tail(&mut self, simd: S, values: [S::f32s; P]) {
        for p in 0..P {
            simd.partial_store_f32s(self.rests[p], values[p]);
        }
    }
}
