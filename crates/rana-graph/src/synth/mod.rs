//! Generated graphs of any size with **planted structure**. They can be shared freely, have any size for
//! measurements of speed, and their true structure is known.
//!
//! # What is planted
//! - Every entity has one **type** (types are equally large) and a point in the type's latent box
//!   of `side³` integer points, `side = ⌊∛(entities per type)⌋`. Ids within a type run from the
//!   centre of the box outwards.
//! - A **translation** from type A to type B with a displacement `v` (up to a third of the box
//!   along each axis) joins a head at `x` with the entity of B at exactly `x + v`, if that is in
//!   the box: a functional relation. Relations planned larger than that continue with the six points
//!   next to `x + v`, one after the other, and become many-to-many.
//! - An **inverse** relation holds `(t, h)` only where the relation it inverts has `(h, t)`.
//! - A **composed** relation holds `(h, t)` only where its first relation leads from `h` to some
//!   `m` and its second from `m` to `t`.
//! - A **symmetric** relation joins entities of one type one step apart along one axis, always in
//!   both directions.
//! - **Noise** facts join a random head with a random tail of the right types, in relations of all
//!   families, in proportion to their planted sizes.
//!
//! # In which proportions
//! Families divide the background *relations* by [`BackgroundShares`] (60 % translations, 15 %
//! inverse, 15 % composed, 10 % symmetric). First every entity without a fact gets one translation
//! fact (the *cover*, about 0.7 facts for each entity; a random one, counted as noise, where no
//! translation fits).
//! What remains, less the noise share of all facts, is planned over the relations by a Zipf law.
//! Derived relations that have fewer facts to follow from than planned stay smaller, and
//! translations take up the difference. [`SynthReport`] states the outcome.
//!
//! Few-shot relations divide by [`FewShotShares`] within each split: 50 % are new translations
//! whose displacement no path of one or two background translations, read either way, has;
//! 25 % invert a background relation and 25 % compose two, and there every fact follows from
//! background facts, apart from noise. Rules may still predict some facts of a new translation, because
//! the check does not consider symmetric relations and the additional points of large background
//! relations, and because any displacement is taken if 256 draws find no such one. Few-shot facts are
//! drawn among well-connected heads, are distinct, and carry the noise share too. Rules are drawn
//! again until one has enough exact facts. If none has, which happens only with tiny types, a translation
//! continues with the neighbouring points, and facts that are still missing are noise.
//!
//! # What is exact
//! The numbers of entities (each in at least one background fact), of distinct background facts,
//! of relations (each in at least one fact), of few-shot relations, and the bounds of their sizes.
//! The same settings give the same bytes. Nothing is a self-loop.
//!
//! # Where to find what
//!
//! | file | concept |
//! | --- | --- |
//! | `config.rs` | the settings |
//! | `latent_space.rs` | where each entity stands |
//! | `rule.rs`, `schema.rs` | what a relation means, and the rules of all background relations |
//! | `background.rs`, `emitted_facts.rs` | the background facts, and those emitted so far |
//! | `few_shot_relations.rs` | the few-shot relations |
//! | `generator.rs` | all of it, part by part |
//! | `written_files.rs`, `error.rs` | the files, and why they cannot be written |
//!
//! Memory is nine bytes and some slack for each fact, regardless of the names; facts are streamed.
//!
//! ```
//! use rana_graph::synth::{SynthConfig, write_tsv};
//! let mut lines = Vec::new();
//! let report = write_tsv(&mut lines, &SynthConfig::like("small")?, &())?;
//! assert_eq!(report.background.total(), 12_000);
//! assert_eq!(lines.iter().filter(|&&byte| byte == b'\n').count(), 12_000);
//! # Ok::<(), rana_graph::synth::SynthError>(())
//! ```

mod background;
mod config;
mod emitted_facts;
mod error;
mod few_shot_relations;
mod generator;
mod latent_space;
mod rule;
mod schema;
#[cfg(test)]
mod tests;
mod written_files;

pub use background::BackgroundCounts;
pub use config::{BackgroundShares, FewShotShares, PerSplit, SynthConfig, SynthSettings};
pub use error::SynthError;
pub use written_files::{SynthReport, write_release, write_tsv};
