//! Episodes: small learning problems drawn from the meta-training tasks.

use rana_graph::{Pair, RelationId};

use super::episode_sampler::Sampling;

/// A support set and a query set drawn from one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// The relation of the task.
    pub relation: RelationId,
    /// The pairs the model is given.
    pub support: Vec<Pair>,
    /// The pairs it has to predict.
    pub query: Vec<Pair>,
}

rana_graph::named!(Sampling, "sampling", { Disjoint => "disjoint", Metar => "metar" });
