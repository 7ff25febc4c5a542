//! Ordinary embedding models among few-shot ones: where their rows of Table 2 plug in.

use rana_embed::EmbeddingSet;
use rana_fewshot::FewShotModel;
use rana_graph::Store;

/// Whether [`model_of_vectors`] gives models. While it does not, the rows are "not built yet" and no vectors
/// are trained for them.
pub(super) const IS_BUILT: bool = false;

/// The few-shot model of vectors that were trained on the supports
/// ([`PretrainingFacts::Supports`](rana_fewshot::PretrainingFacts)), ranking by their own score with the
/// relation's own row.
///
/// The model itself is built apart from this; once it is there, this returns it and [`IS_BUILT`] says so.
pub(super) fn model_of_vectors<'v>(
    _set: &'v EmbeddingSet,
    _store: &'v Store,
) -> Option<Box<dyn FewShotModel + 'v>> {
    None
}
