//! [`Layout`]: how the numbers of a row form components.

/// How the numbers of an entity row form components; needed for the N3 norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Every number is a component.
    Real,
    /// The first half holds real parts, the second half imaginary parts.
    Complex,
}
