//! The server as clients meet it: over a socket, with a run that was really trained.
#![allow(missing_docs, clippy::unwrap_used, clippy::needless_pass_by_value)]

mod browser;
mod client;
mod decisions;
mod requests;
mod routes;
mod running;
mod webdriver;
