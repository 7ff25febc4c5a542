//! The HTTP API and the web page of rana.
//!
//! A [`Server`] serves one run until it is stopped. `/openapi.json` describes every route, and `/` is a web page that
//! uses them.
//!
//! | file | concept |
//! | --- | --- |
//! | `server.rs`, `connection_policy.rs`, `config.rs` | connections, how many are kept, and the settings |
//! | `routes.rs`, `app.rs` | all routes, and what they share |
//! | `complete.rs`, `explain.rs`, `relate.rs`, `entities.rs`, `relations.rs`, `export.rs`, `run_info.rs`, `page.rs` | one route or group of routes each |
//! | `decisions/` | verdicts of users on answers, and the journal that keeps them |
//! | `relation_question.rs`, `answers.rs`, `extractors.rs` | what requests hold |
//! | `json_response.rs`, `entity_body.rs`, `explanation_body.rs`, `problem.rs` | what responses hold |
//! | `auth.rs` | who may ask |
//! | `health_check.rs` | asking a server from outside whether it answers |
//! | `mcp/` | the same as tools of an agent |
//! | `computation_queue.rs`, `learned_cache.rs`, `metrics.rs` | computations in turn, relations kept, and counts for operators |
//! | `served_files.rs` | whether the files that are served are still those that were opened |

mod answers;
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
mod export_pieces;
mod extractors;
mod health_check;
mod json_response;
mod learned_cache;
mod mcp;
mod metrics;
mod page;
mod problem;
mod relate;
mod relation_question;
mod relations;
mod request_log;
mod routes;
mod run_info;
mod served_files;
mod server;

pub use config::{Limits, ServerConfig, ServerConfigError, ServerSettings};
pub use decisions::{JournalError, TornEnd};
pub use health_check::{HealthError, check_health};
pub use mcp::McpAccess;
pub use server::{Reloader, Server, ServerError};
