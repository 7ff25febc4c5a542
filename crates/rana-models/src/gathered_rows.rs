//! [`Gathered`]: rows of entities one behind the other, gathered once.

use std::borrow::Cow;
use std::sync::OnceLock;

use rana_graph::EntityId;

/// The rows of the entities that are asked for first, which are mostly those that are asked for again.
#[derive(Default)]
pub(crate) struct Gathered(OnceLock<(Vec<EntityId>, Vec<f32>)>);

/// Fewer rows are gathered faster than they are compared.
const FEWEST_GATHERED: usize = 64;
/// The most numbers to keep. More would fill the memory of a server that keeps many relations.
const MOST_GATHERED: usize = 1 << 22;

impl Gathered {
    /// The rows of some entities. `span` lends the rows of so many entities from one on, if they stand one behind the
    /// other already: then nothing is copied.
    pub(crate) fn rows<'r, R: AsRef<[f32]>>(
        &'r self,
        entities: &[EntityId],
        row: impl Fn(EntityId) -> R,
        span: impl FnOnce(EntityId, usize) -> Option<&'r [f32]>,
    ) -> Cow<'r, [f32]> {
        if is_span(entities)
            && let Some(rows) = span(entities[0], entities.len())
        {
            return Cow::Borrowed(rows);
        }
        let dim = entities.first().map_or(0, |&first| row(first).as_ref().len());
        if entities.len() < FEWEST_GATHERED || entities.len() * dim > MOST_GATHERED {
            return Cow::Owned(gather(entities, row));
        }
        let (of, rows) = self.0.get_or_init(|| (entities.to_vec(), gather(entities, &row)));
        if of == entities { Cow::Borrowed(rows) } else { Cow::Owned(gather(entities, row)) }
    }

    /// The memory that it keeps, in bytes.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.0.get().map_or(0, |(of, rows)| size_of_val(&of[..]) + size_of_val(&rows[..]))
    }
}

/// Whether entities are some, and follow each other in the graph: most often they are all of it.
fn is_span(entities: &[EntityId]) -> bool {
    !entities.is_empty() && entities.windows(2).all(|two| two[0].0.checked_add(1) == Some(two[1].0))
}

/// The rows of some entities, one behind the other.
pub(crate) fn gather<R: AsRef<[f32]>>(entities: &[EntityId], row: impl Fn(EntityId) -> R) -> Vec<f32> {
    let dim = entities.first().map_or(0, |&first| row(first).as_ref().len());
    let mut rows = Vec::with_capacity(entities.len() * dim);
    entities.iter().for_each(|&entity| rows.extend_from_slice(row(entity).as_ref()));
    rows
}
