//! [`Dual`]: numbers that carry a derivative, for the reference.

use std::ops::{Add, Mul, Neg, Sub};

/// The numbers of the contrast loss: plain numbers, or numbers with a derivative.
pub(super) trait Number:
    Copy + From<f64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    fn value(self) -> f64;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn ln_1p(self) -> Self;
}

impl Number for f64 {
    fn value(self) -> f64 {
        self
    }
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    fn exp(self) -> Self {
        self.exp()
    }
    fn ln_1p(self) -> Self {
        self.ln_1p()
    }
}

/// A number and its derivative in one direction.
#[derive(Clone, Copy)]
pub(super) struct Dual {
    pub(super) value: f64,
    pub(super) slope: f64,
}

impl From<f64> for Dual {
    fn from(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self { value: self.value * other.value, slope: self.slope * other.value + self.value * other.slope }
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope }
    }
}

impl Number for Dual {
    fn value(self) -> f64 {
        self.value
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        Self { value: root, slope: self.slope / (2.0 * root) }
    }
    fn exp(self) -> Self {
        let power = self.value.exp();
        Self { value: power, slope: self.slope * power }
    }
    fn ln_1p(self) -> Self {
        Self { value: self.value.ln_1p(), slope: self.slope / (1.0 + self.value) }
    }
}
