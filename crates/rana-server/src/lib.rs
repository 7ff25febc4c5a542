//! The HTTP API and the web page of rana.
//!
//! A [`Server`] serves one run until it is stopped. `/openapi.json` describes every route, and `/` is a web page that
//! uses them.

mod app;
mod auth;
mod complete;
mod computation_queue;
mod config;
mod connection_policy;
mod decisions;
mod entities;
mod entity_body;
mod explain;
mod explanation_body;
mod export;
mod extractors;
mod json_response;
mod learned_cache;
mod metrics;
mod page;
mod problem;
mod relation_question;
mod relations;
mod request_log;
mod routes;
mod run_info;
mod server;

pub use config::{Limits, ServerConfig, ServerConfigError, ServerSettings};
pub use decisions::{JournalError, TornEnd};
pub use server::{Server, ServerError};
