//! The activation functions of the encoder, and their slopes.

use pulp::{Arch, Simd, WithSimd};

use super::config::Activation;
use crate::real::Real;

/// The slope of LeakyReLU below zero: PyTorch's default, the paper gives none.
const LEAK: f64 = 0.01;

pub(super) fn activate<T: Real>(activation: Activation, values: &mut [T]) {
    Arch::new().dispatch(Activate { activation, values });
}

struct Activate<'v, T> {
    activation: Activation,
    values: &'v mut [T],
}

impl<T: Real> WithSimd for Activate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let leak = T::of(LEAK);
        match self.activation {
            Activation::Sigmoid => {
                for value in self.values {
                    *value = value.softplus_and_sigmoid().1;
                }
            }
            Activation::Tanh => {
                for value in self.values {
                    *value = value.tanh();
                }
            }
            Activation::LeakyRelu => {
                for value in self.values {
                    *value *= if *value < T::ZERO { leak } else { T::ONE };
                }
            }
            Activation::None => {}
        }
    }
}

/// Multiplies gradients by the slope of an activation, which its value tells.
pub(super) fn multiply_by_slope<T: Real>(activation: Activation, values: &[T], gradients: &mut [T]) {
    let leak = T::of(LEAK);
    let each = values.iter().zip(gradients);
    match activation {
        Activation::Sigmoid => each.for_each(|(&value, gradient)| *gradient *= value * (T::ONE - value)),
        Activation::Tanh => each.for_each(|(&value, gradient)| *gradient *= T::ONE - value * value),
        Activation::LeakyRelu => {
            each.for_each(|(&value, gradient)| *gradient *= if value < T::ZERO { leak } else { T::ONE });
        }
        Activation::None => {}
    }
}
