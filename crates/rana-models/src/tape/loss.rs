//! Losses, and sums over all numbers.

use super::tape::{Tape, Var};
use crate::real::Real;

impl<T: Real> Tape<'_, T> {
    /// `max(0, margin + negative − positive)`, number by number.
    pub(crate) fn margin_loss(&mut self, positive: Var, negative: Var, margin: f64) -> Var {
        let margin = T::of(margin);
        let gaps = self.values(positive).iter().zip(self.values(negative));
        assert_eq!(self.shape(positive), self.shape(negative), "shapes differ");
        let greater = |gap: T| if gap > T::ZERO { gap } else { T::ZERO };
        let values = gaps.map(|(&positive, &negative)| greater(margin + negative - positive)).collect();
        self.push(self.shape(positive), values, &[positive, negative], move |pass| {
            let (gradient, result) = (pass.gradient, pass.result());
            let within = |gradient: T, gap: T| if gap > T::ZERO { gradient } else { T::ZERO };
            pass.add(positive, gradient, result, |gradient, gap| -within(gradient, gap));
            pass.add(negative, gradient, result, within);
        })
    }

    /// The sum of all numbers, 1 × 1; in double precision.
    pub(crate) fn sum(&mut self, x: Var) -> Var {
        self.total(x, 1.0)
    }

    /// The mean of all numbers, 1 × 1; in double precision.
    pub(crate) fn mean(&mut self, x: Var) -> Var {
        self.total(x, 1.0 / self.values(x).len().max(1) as f64)
    }

    fn total(&mut self, x: Var, factor: f64) -> Var {
        let sum: f64 = self.values(x).iter().map(|value| value.wide()).sum();
        self.push((1, 1), vec![T::of(factor * sum)], &[x], move |pass| {
            let gradient = pass.gradient[0] * T::of(factor);
            if let Some(at) = pass.at(x) {
                at.iter_mut().for_each(|at| *at += gradient);
            }
        })
    }
}
