//! [`McpHandler`]: lists tools and calls them.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tower::ServiceExt;

use super::McpAccess;
use super::tool::RouteTool;

const INSTRUCTIONS: &str = "A knowledge graph, and a model that predicts facts that it does not have. Names of entities and \
    relations have to be those of the graph: look them up by find_entity and list_relations first. Predictions have a \
    confidence; explain says what they rest on.";

/// Lists tools and calls them, by the routes of the API. A clone shares everything.
#[derive(Clone)]
pub(crate) struct McpHandler {
    routes: Router,
    tools: Arc<Vec<RouteTool>>,
}

impl McpHandler {
    /// Calls `routes`, which `document` describes.
    pub(super) fn new(routes: Router, document: &Value, access: McpAccess) -> Self {
        Self { routes, tools: Arc::new(RouteTool::all(document, access)) }
    }

    fn tool(&self, name: &str) -> Option<&RouteTool> {
        self.tools.iter().find(|tool| tool.described.name == name)
    }

    /// What a route answers.
    async fn answer(&self, tool: &RouteTool, arguments: JsonObject) -> CallToolResult {
        let refuse = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]);
        let request = match tool.request(arguments) {
            Ok(request) => request,
            Err(text) => return refuse(text),
        };
        // A route gives a response, whatever goes wrong.
        let Ok(response) = self.routes.clone().oneshot(request).await;
        let status = response.status();
        let body = match response.into_body().collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => return refuse(format!("The answer broke off: {error}.")),
        };
        match (status.is_success(), serde_json::from_slice::<Value>(&body)) {
            (true, Ok(value)) => CallToolResult::structured(value),
            (_, Ok(problem)) => refuse(in_words(status, &problem)),
            (_, Err(_)) => refuse(format!("The server failed ({status}).")),
        }
    }
}

/// A problem as an agent reads it.
fn in_words(status: StatusCode, problem: &Value) -> String {
    let detail = problem["detail"].as_str().or(problem["title"].as_str());
    let mut text = detail.map_or_else(|| status.to_string(), str::to_owned);
    let names: Vec<&str> =
        problem["suggestions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !names.is_empty() {
        text += &format!(" Similar names: {}.", names.join(", "));
    }
    text
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("rana", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Vec<Tool> = self.tools.iter().map(|tool| tool.described.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tool(name).map(|tool| tool.described.clone())
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self
            .tool(&call.name)
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no tool `{}`", call.name), None))?;
        let arguments = call.arguments.unwrap_or_default();
        tokio::select! {
            // What no agent waits for is not computed to its end.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
            result = self.answer(tool, arguments) => Ok(result.into()),
        }
    }
}
