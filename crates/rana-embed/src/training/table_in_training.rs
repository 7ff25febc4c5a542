//! [`Table`]: the rows of a table in training, with the state of the optimiser.

/// The rows of a table in training, with the state of the optimiser.
pub(crate) struct Table<'t> {
    pub(crate) width: usize,
    pub(crate) state_width: usize,
    pub(crate) values: &'t mut [f32],
    pub(crate) state: &'t mut [f32],
    /// A buffer of the deterministic update: the head of each row's chain of gradients.
    pub(crate) heads: &'t mut [u32],
}
