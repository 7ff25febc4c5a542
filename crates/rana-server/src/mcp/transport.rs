//! How agents reach the tools: standard input and output, or streamable HTTP.

use std::io;
use std::sync::Arc;

use axum::Router;
use rmcp::ServiceExt;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::McpAccess;
use super::handler::McpHandler;
use crate::config::Limits;

/// Where the tools are over HTTP.
pub(crate) const PATH: &str = "/mcp";

/// The tools over streamable HTTP. There are no sessions: each request is answered on its own, so a server that was
/// restarted or reloaded is the same to its clients.
pub(crate) fn service(
    routes: Router,
    document: &Value,
    access: McpAccess,
    limits: &Limits,
) -> StreamableHttpService<McpHandler, LocalSessionManager> {
    let handler = McpHandler::new(routes, document, access);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(limits.body_bytes)
        // Hosts and origins are checked for all routes alike (`auth.rs`).
        .disable_allowed_hosts();
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(LocalSessionManager::default()), config)
}

/// The tools over standard input and output, until the agent closes them.
pub(crate) async fn over_stdio(routes: Router, document: &Value, access: McpAccess) -> io::Result<()> {
    let handler = McpHandler::new(routes, document, access);
    let running = match handler.serve(stdio()).await {
        Ok(running) => running,
        // The agent went away before it said what it is.
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map(|_| ()).map_err(io::Error::other)
}
