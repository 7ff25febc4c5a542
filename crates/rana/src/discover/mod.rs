//! The best new facts of any relation, in one list.
//!
//! Scores of models rank the answers of one question. A list over all relations needs a number that means the same
//! everywhere. Rules have one: of all pairs that the body of a rule leads to, the share that are known facts. It is counted on
//! the graph, needs no training, and is its own reason.
//!
//! | file | concept |
//! | --- | --- |
//! | `rule.rs` | a rule, how far it is trusted, and how it is said |
//! | `rule_miner.rs` | the rules of a relation, found at its known facts and counted |
//! | `discoverer.rs` | the new facts of a relation by its rules, with bounded work |
//! | `discovery.rs`, `discovery_error.rs` | the facts of all relations in a file: by shard, resumed after an interruption |

mod discoverer;
mod discovery;
mod discovery_error;
mod rule;
mod rule_miner;

pub use discoverer::{DiscoverLimits, Discovered, Discoverer};
pub use discovery::{Discovery, DiscoveryReport, NamedDiscovery};
pub use discovery_error::DiscoveryError;
pub use rule::{Rule, RuleBody};
