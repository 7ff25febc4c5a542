//! [`Table`]: rows under training, with the optimiser's state beside them.

/// Rows under training, with the optimiser's state beside them.
pub(crate) struct Table<'t> {
    pub(crate) width: usize,
    pub(crate) state_width: usize,
    pub(crate) values: &'t mut [f32],
    pub(crate) state: &'t mut [f32],
    /// Scratch of the deterministic update: per row, where its chain of gradients begins.
    pub(crate) heads: &'t mut [u32],
}
