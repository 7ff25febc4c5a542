//! Products and lengths of rows.

use super::tape::{Tape, Var};
use crate::real::{Real, add_scaled, dot};

impl<T: Real> Tape<'_, T> {
    /// The product of each row of `a` with the same row of `b`: n × d and n × d to n × 1.
    pub(crate) fn row_dot(&mut self, a: Var, b: Var) -> Var {
        let (rows, columns) = self.shape(a);
        assert_eq!(self.shape(a), self.shape(b), "shapes differ");
        let pairs = self.values(a).chunks_exact(columns).zip(self.values(b).chunks_exact(columns));
        let values = pairs.map(|(a, b)| dot(a, b)).collect();
        self.push((rows, 1), values, &[a, b], move |pass| {
            let (gradient, a_values, b_values) = (pass.gradient, pass.values(a), pass.values(b));
            for (input, other) in [(a, b_values), (b, a_values)] {
                if let Some(at) = pass.at(input) {
                    let rows = at.chunks_exact_mut(columns).zip(other.chunks_exact(columns));
                    rows.zip(gradient).for_each(|((at, other), &gradient)| add_scaled(at, gradient, other));
                }
            }
        })
    }

    /// The squared length of each row.
    pub(crate) fn row_square(&mut self, x: Var) -> Var {
        self.row_dot(x, x)
    }

    /// The length of each row. At zero it has no slope.
    pub(crate) fn row_length(&mut self, x: Var) -> Var {
        let (rows, columns) = self.shape(x);
        let values = self.values(x).chunks_exact(columns).map(|row| dot(row, row).sqrt()).collect();
        self.push((rows, 1), values, &[x], move |pass| {
            let (gradient, x_values, lengths) = (pass.gradient, pass.values(x), pass.result());
            if let Some(at) = pass.at(x) {
                let rows = at.chunks_exact_mut(columns).zip(x_values.chunks_exact(columns));
                for ((at, x), (&gradient, &length)) in rows.zip(gradient.iter().zip(lengths)) {
                    if length > T::ZERO {
                        add_scaled(at, gradient / length, x);
                    }
                }
            }
        })
    }
}
