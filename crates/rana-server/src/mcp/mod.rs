//! The Model Context Protocol: the server as tools of an agent.
//!
//! A tool is a route of the HTTP API. Its arguments become a request that is answered in this process, so that limits, queues
//! and the words of errors are those of the routes, and its schemas are those of `/openapi.json`.
//!
//! | file | concept |
//! | --- | --- |
//! | `tool.rs` | the tools, and the request that a call of each becomes |
//! | `json_schema.rs` | the schemas of a route as schemas that stand alone |
//! | `handler.rs` | lists tools and calls them |
//! | `transport.rs` | standard input and output, or streamable HTTP |

mod handler;
mod json_schema;
mod tool;
mod transport;

pub(crate) use transport::{PATH, over_stdio, service};

/// What agents may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct McpAccess {
    /// Whether they may record decisions, which change what exports contain.
    pub decisions: bool,
}
