//! [`placed_rows`]: vectors of entities that were not there when vectors were trained, placed by their neighbours.

use rana_embed::{EmbeddingSet, ModelKind, RelationRows, Table};
use rana_graph::{Edge, EntityId, Graph};

/// Neighbours that place an entity; more would not move it.
const MOST_NEIGHBOURS: usize = 200;
/// Rounds in which entities are placed: those of the first one by neighbours that were trained, later ones by any.
const ROUNDS: usize = 3;

/// The rows of a graph that has more entities than its vectors: those that were trained, then a row for each new entity.
///
/// With translations, a new entity lies where its facts lead: in the mean of `x − r` for each fact `(e, r, x)` and of
/// `x + r` for each `(x, r, e)`. With products, it points where these facts score high: along the sum of `r · x`, as long
/// as trained rows are. Entities without a placed neighbour lie in the middle of all.
pub(super) fn placed_rows(set: &EmbeddingSet, graph: &Graph) -> Table {
    let trained = &set.entities;
    let (known, dim) = (trained.rows(), trained.dim());
    let count = graph.entity_count().max(known);
    let middle = mean_row(trained);
    let length = trained.norms().map_or(1.0, |norms| norms.mean as f32);
    let mut rows = trained.values().to_vec();
    for _ in known..count {
        rows.extend_from_slice(&middle);
    }
    let mut is_placed = vec![false; count];
    is_placed[..known].fill(true);
    for _ in 0..ROUNDS {
        // Of one round, so that the order of entities does not matter.
        let before = rows.clone();
        let mut newly = Vec::new();
        for new in known..count {
            let neighbours = graph.neighbours(EntityId(new as u32)).iter();
            let placed =
                neighbours.filter(|edge| is_placed[edge.entity.index()] && edge.entity.index() != new);
            let mut sum = vec![0.0; dim];
            let mut of = 0.0_f32;
            for edge in placed.take(MOST_NEIGHBOURS) {
                let beside = &before[edge.entity.index() * dim..][..dim];
                of += f32::from(u8::from(add(set, edge, beside, &mut sum)));
            }
            if of == 0.0 {
                continue;
            }
            let scale = match set.metadata.model {
                ModelKind::TransE => 1.0 / of,
                _ => {
                    length / sum.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
                }
            };
            rows[new * dim..][..dim].iter_mut().zip(&sum).for_each(|(row, sum)| *row = scale * sum);
            newly.push(new);
        }
        newly.into_iter().for_each(|new| is_placed[new] = true);
    }
    Table::new(count, dim, rows).unwrap_or_else(|_| trained.clone())
}

/// Adds where an entity lies that has an edge to another one; `false` if the relation has no vector.
fn add(set: &EmbeddingSet, edge: &Edge, beside: &[f32], sum: &mut [f32]) -> bool {
    let at = match set.metadata.relation_rows {
        RelationRows::Forward => edge.relation.number(),
        RelationRows::Directed => 2 * edge.relation.number(),
    };
    if at >= set.relations.rows() {
        return false;
    }
    let relation = set.relations.row(at);
    let ends = sum.iter_mut().zip(relation.iter().zip(beside));
    match (set.metadata.model, edge.relation.is_inverse()) {
        (ModelKind::TransE, false) => ends.for_each(|(sum, (relation, beside))| *sum += beside - relation),
        (ModelKind::TransE, true) => ends.for_each(|(sum, (relation, beside))| *sum += beside + relation),
        _ => ends.for_each(|(sum, (relation, beside))| *sum += relation * beside),
    }
    true
}

fn mean_row(of: &Table) -> Vec<f32> {
    let mut mean = vec![0.0; of.dim()];
    let share = 1.0 / of.rows().max(1) as f32;
    for row in of.values().chunks_exact(of.dim()) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += share * value);
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_embed::EmbeddingMetadata;
    use rana_graph::{Duplicates, GraphBuilder};

    #[test]
    fn new_entities_lie_where_their_facts_lead() {
        let facts =
            [("a", "r", "b"), ("c", "r", "b"), ("new", "r", "b"), ("a", "r", "far"), ("far", "s", "lost")];
        let build = |count: usize| {
            let mut builder = GraphBuilder::new(Duplicates::Remove);
            for (head, relation, tail) in &facts[..count] {
                builder.add_named(head, relation, tail);
            }
            builder.finish()
        };
        let (old, new) = (build(2), build(5));
        let entities = Table::new(3, 2, vec![0.0, 0.0, 1.0, 2.0, 2.0, 1.0]).unwrap();
        let relations = Table::new(1, 2, vec![1.0, 0.5]).unwrap();
        let of = |model| {
            let metadata = EmbeddingMetadata { model, ..EmbeddingMetadata::default() };
            placed_rows(
                &EmbeddingSet::new(&old, entities.clone(), relations.clone(), metadata).unwrap(),
                &new,
            )
        };
        let at = |table: &Table, name: &str| table.row(new.entity(name).unwrap().index()).to_vec();
        let placed = of(ModelKind::TransE);
        assert_eq!((placed.rows(), &placed.values()[..6]), (6, entities.values()));
        assert_eq!(at(&placed, "new"), [0.0, 1.5], "b − r");
        assert_eq!(at(&placed, "far"), [1.0, 0.5], "a + r");
        // The relation of its only fact has no vector.
        assert_eq!(at(&placed, "lost"), [1.0, 1.0], "the middle");
        let placed = of(ModelKind::DistMult);
        let row = at(&placed, "new");
        assert!((row[0] - row[1]).abs() < 1e-6 && row[0] > 0.0, "along r · b = (1, 1): {row:?}");
    }
}
