//! Link-prediction vectors among few-shot models: their mean translation, and their own score function.

mod kge_model;
mod mean_translation;

pub use kge_model::{KgeError, KgeModel};
pub use mean_translation::MeanTranslation;
