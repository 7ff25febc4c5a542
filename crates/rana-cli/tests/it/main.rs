//! Tests of the `rana` binary.
#![allow(missing_docs, clippy::unwrap_used)]

mod benchmarks;
mod cli;
mod command;
mod compare;
mod complete;
#[path = "../../../../tests/datasets.rs"]
mod datasets;
mod embed;
#[cfg(unix)]
mod faults;
mod fuse;
mod golden;
mod learn;
mod mcp;
mod models;
mod old_runs;
mod reproduce;
mod serve;
#[cfg(unix)]
mod serving;
mod sweep;
mod train;
mod update;
