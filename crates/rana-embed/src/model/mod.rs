//! The link-prediction models: how each builds a query from an entity and a relation.
//!
//! | file | concept |
//! | --- | --- |
//! | `model_kind.rs` | a model chosen by name |
//! | `model.rs` | what each model implements |
//! | `transe.rs`, `distmult.rs`, `complex.rs`, `simple.rs`, `rotate.rs` | the models |
//! | `norm.rs`, `layout.rs` | the distance of TransE, and how the numbers of a row form components |

mod complex;
mod distmult;
mod layout;
#[allow(clippy::module_inception)]
mod model;
mod model_kind;
mod norm;
mod rotate;
mod simple;
mod transe;

pub(crate) use complex::ComplEx;
pub(crate) use distmult::DistMult;
pub(crate) use layout::Layout;
pub(crate) use model::Model;
pub use model_kind::ModelKind;
pub use norm::Norm;
pub(crate) use rotate::RotatE;
pub(crate) use simple::SimplE;
pub(crate) use transe::TransE;
