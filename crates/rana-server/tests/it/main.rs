//! Tests of the server over a socket, with a trained run.
#![allow(missing_docs, clippy::unwrap_used, clippy::needless_pass_by_value)]

mod browser;
mod client;
mod decisions;
mod health;
mod requests;
mod routes;
mod running;
mod webdriver;
