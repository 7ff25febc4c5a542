//! Link prediction: given one end of a fact and its relation, how high does a model rank the other
//! end among all entities?
//!
//! Ranks are *filtered*: other answers that are known to be true are left out. Ties are decided by a stated
//! [`TieRule`]. The same scorer gives the same ranks with any number of threads and any block size.
//!
//! | file | concept |
//! | --- | --- |
//! | `evaluation.rs`, `settings.rs`, `error.rs` | the evaluation, its settings, and why it fails |
//! | `query.rs`, `scorer.rs`, `known_answers.rs` | what is asked, what scores the answers, and which are left out |
//! | `rank.rs`, `rank_counting.rs` | ranks and tie rules, and how ranks are counted block by block |
//! | `metrics.rs`, `report.rs` | the results |
//!
//! ```
//! use rana_embed::link_prediction::{KnownAnswers, LinkPrediction, LinkPredictionSettings, LinkQuery, LinkScorer};
//! use rana_graph::{Duplicates, GraphBuilder, HeldOut};
//! use std::ops::Range;
//!
//! /// Prefers entities by their number alone.
//! struct FirstIsBest(usize);
//!
//! impl LinkScorer for FirstIsBest {
//!     fn entities(&self) -> usize {
//!         self.0
//!     }
//!     fn relations(&self) -> usize {
//!         1
//!     }
//!     fn scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) {
//!         for row in out.chunks_exact_mut(candidates.len()).take(queries.len()) {
//!             candidates.clone().zip(row).for_each(|(candidate, score)| *score = -(candidate as f32));
//!         }
//!     }
//! }
//!
//! let mut builder = GraphBuilder::new(Duplicates::Remove);
//! builder.add_named("paris", "located_in", "france");
//! builder.add_held_out_named(HeldOut::Test, "lyon", "located_in", "france");
//! let graph = builder.finish();
//! let evaluation = LinkPrediction::new(LinkPredictionSettings::default())?;
//! let report = evaluation.evaluate(
//!     &FirstIsBest(graph.entity_count()),
//!     graph.held_out(HeldOut::Test),
//!     &KnownAnswers::of_graph(&graph),
//!     &(),
//! )?;
//! // Of paris, france, lyon: france is second; lyon too, as paris is a known answer.
//! assert_eq!((report.tail.mrr, report.head.mrr), (0.5, 0.5));
//! # Ok::<(), rana_embed::link_prediction::LinkPredictionError>(())
//! ```

mod error;
mod evaluation;
mod known_answers;
mod metrics;
mod query;
mod rank;
mod rank_counting;
mod report;
mod scorer;
mod settings;

pub use error::LinkPredictionError;
pub use evaluation::LinkPrediction;
pub use known_answers::KnownAnswers;
pub use metrics::Metrics;
pub use query::LinkQuery;
pub use rank::{FactRanks, Rank, TieRule};
pub use report::{LinkReport, RelationReport};
pub use scorer::LinkScorer;
pub use settings::LinkPredictionSettings;
