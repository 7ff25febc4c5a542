//! Evidence in names: the words that head and tail share.

use std::sync::Arc;

use super::evidence::{Evidence, Values};
use super::evidence_kind::EvidenceKind;
use super::reason::Reason;
use crate::paths::EdgeIndex;

/// The cosine between the words of head and tail.
pub(super) fn name(index: Arc<EdgeIndex>) -> Evidence {
    Evidence {
        kind: EvidenceKind::Name,
        values: Values::Few(Box::new(move |head, hand| index.labels().similar(head, hand))),
        reason: Box::new(|_, _, share| (share > 0.0).then_some(Reason::Named { share })),
    }
}
