//! What the benches of steps share: vectors to start from, times, and the inputs of a batch as tensors.

use std::time::Instant;

use rana_embed::format::{Tensor, Values};
use rana_graph::{Graph, keyed_rng};
use rana_models::training::{Contrasts, MetaTask};
use rand::RngExt;

/// Random vectors of norm 1, as pre-training leaves them.
pub(crate) fn unit_vectors(rows: usize, dim: usize, seed: u64) -> Vec<f32> {
    let mut rng = keyed_rng([seed, 0, 0, 0]);
    let mut values: Vec<f32> = (0..rows * dim).map(|_| rng.random_range(-1.0..1.0)).collect();
    for row in values.chunks_exact_mut(dim) {
        let norm = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        row.iter_mut().for_each(|value| *value /= norm);
    }
    values
}

/// Milliseconds of each of some repetitions, the median first, then the least.
pub(crate) fn milliseconds(warm_up: usize, repeats: usize, mut work: impl FnMut()) -> serde_json::Value {
    (0..warm_up).for_each(|_| work());
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    serde_json::json!({ "median": times[times.len() / 2], "min": times[0] })
}

/// Numbers under a name, owned until they are written.
pub(crate) struct Named {
    name: String,
    shape: Vec<usize>,
    numbers: Numbers,
}

enum Numbers {
    Ids(Vec<u32>),
    Values(Vec<f32>),
}

impl Named {
    /// Ids.
    pub(crate) fn ids(name: impl Into<String>, shape: &[usize], ids: Vec<u32>) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), numbers: Numbers::Ids(ids) }
    }

    /// Numbers of single precision.
    pub(crate) fn values(name: impl Into<String>, shape: &[usize], values: Vec<f32>) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), numbers: Numbers::Values(values) }
    }

    /// As it is written.
    pub(crate) fn tensor(&self) -> Tensor<'_> {
        let values = match &self.numbers {
            Numbers::Ids(ids) => Values::U32(ids),
            Numbers::Values(values) => Values::F32(values),
        };
        Tensor { name: self.name.clone(), shape: self.shape.clone(), values }
    }
}

/// The ids of the contrasts of each task: heads, tails, negatives, and the number of the task of each pair. A row for each
/// task, if all have as many pairs; else they stand one behind the other.
pub(crate) fn contrasts(name: &str, batch: &[MetaTask], of: impl Fn(&MetaTask) -> &Contrasts) -> [Named; 4] {
    let [mut heads, mut tails, mut negatives, mut tasks] = [(); 4].map(|()| Vec::new());
    for (number, task) in batch.iter().enumerate() {
        for (pair, of_pair) in of(task).iter() {
            heads.push(pair.head.0);
            tails.push(pair.tail.0);
            negatives.extend(of_pair.iter().map(|negative| negative.0));
            tasks.push(number as u32);
        }
    }
    let each = heads.len() / batch.len();
    let is_even = batch.iter().all(|task| of(task).pairs().len() == each);
    let pairs = if is_even { vec![batch.len(), each] } else { vec![heads.len()] };
    let with_negatives = [&pairs[..], &[negatives.len() / heads.len()]].concat();
    [
        Named::ids(format!("{name}.heads"), &pairs, heads),
        Named::ids(format!("{name}.tails"), &pairs, tails),
        Named::ids(format!("{name}.negatives"), &with_negatives, negatives),
        Named::ids(format!("{name}.tasks"), &pairs, tasks),
    ]
}

/// Every entity's neighbours in as many places as there may be: their relations, themselves, how many.
pub(crate) fn neighbours(graph: &Graph, most: usize) -> [Named; 3] {
    let [mut relations, mut entities, mut counts] = [(); 3].map(|()| Vec::new());
    for entity in graph.entities() {
        let edges = graph.neighbours(entity);
        let edges = &edges[..edges.len().min(most)];
        relations.extend(edges.iter().map(|edge| edge.relation.index() as u32));
        entities.extend(edges.iter().map(|edge| edge.entity.0));
        counts.push(edges.len() as u32);
        relations.resize(counts.len() * most, 0);
        entities.resize(counts.len() * most, 0);
    }
    let all = counts.len();
    [
        Named::ids("neighbours.relations", &[all, most], relations),
        Named::ids("neighbours.entities", &[all, most], entities),
        Named::ids("neighbours.counts", &[all], counts),
    ]
}
