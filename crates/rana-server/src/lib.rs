//! The HTTP API and the web page of rana.
//!
//! A [`Server`] is bound to a run and then answers until it is stopped. `/openapi.json`
//! describes every route, and `/` is a page that uses them.

mod answer_file;
mod app;
mod auth;
mod complete;
mod computation_queue;
mod config;
mod decisions;
mod entities;
mod entity_body;
mod explain;
mod explanation_body;
mod extract;
mod json;
mod learned_cache;
mod metrics;
mod page;
mod problem;
mod relation_question;
mod relations;
mod routes;
mod run_info;
mod server;

pub use config::{Limits, ServerConfig, ServerConfigError, ServerSettings};
pub use decisions::{JournalError, TornEnd};
pub use server::{Server, ServerError};
