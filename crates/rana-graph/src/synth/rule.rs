//! [`Rule`]: what a relation means in the latent space, and [`Schema`]: the background's rules.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::latent_space::{Shift, Space, add, negate};

/// Where the tails of one head lie around the translated point, in the order they are used.
pub(super) const AROUND: [Shift; 7] =
    [[0, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];

/// How many translations are drawn to find one that no short path performs, before any is taken.
pub(super) const TRIES: usize = 256;

/// A translation from one type to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Translation {
    pub(super) head_type: u32,
    pub(super) tail_type: u32,
    pub(super) shift: Shift,
}

impl Translation {
    /// Draws a translation out of `head_type` that moves at least one step.
    pub(super) fn draw(head_type: u32, space: &Space, rng: &mut ChaCha8Rng) -> Self {
        let reach = space.reach();
        let tail_type = rng.random_range(0..space.types());
        loop {
            let shift = std::array::from_fn(|_| rng.random_range(-reach..=reach));
            if shift != [0; 3] {
                return Self { head_type, tail_type, shift };
            }
        }
    }

    /// The tail of a head, on the translated point (`step` 0) or beside it (`step` 1 to 6).
    pub(super) fn tail(&self, head: u32, step: usize, space: &Space) -> Option<u32> {
        space.moved(head, self.tail_type, add(self.shift, AROUND[step]))
    }

    /// The first head whose tail at `step` is at the point of this one.
    pub(super) fn head(&self, tail: u32, step: usize, space: &Space) -> Option<u32> {
        space.moved(tail, self.head_type, negate(add(self.shift, AROUND[step])))
    }

    pub(super) fn reversed(&self) -> Self {
        Self { head_type: self.tail_type, tail_type: self.head_type, shift: negate(self.shift) }
    }

    /// This translation and then another, if the types meet.
    pub(super) fn then(&self, next: &Self) -> Option<Self> {
        (self.tail_type == next.head_type).then(|| Self {
            head_type: self.head_type,
            tail_type: next.tail_type,
            shift: add(self.shift, next.shift),
        })
    }
}

/// What a relation means. Numbers are those of translating background relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Translation(Translation),
    /// A background relation read backwards.
    Inverse(u32),
    /// The first background relation and then the second.
    Composed(u32, u32),
    /// Joins entities of one type that are `shift` apart, in both directions.
    Symmetric(Translation),
}
