//! [`RouteTool`]: a tool that is a route of the API.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, Request};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::McpAccess;
use super::json_schema::standing_alone;

/// A tool that is a route of the API.
pub(super) struct RouteTool {
    /// How it is described to agents.
    pub(super) described: Tool,
    route: Route,
}

/// How arguments become a request.
#[derive(Clone, Copy)]
enum Route {
    /// A `GET`: the argument of the first name is the query `q`, or the last part of the path.
    Search {
        path: &'static str,
        argument: &'static str,
    },
    Detail {
        path: &'static str,
        argument: &'static str,
    },
    /// A `POST` of all arguments.
    Post {
        path: &'static str,
    },
}

/// A tool before its schemas are known.
struct Plan {
    name: &'static str,
    description: &'static str,
    route: Route,
    /// Where the schema of what it gives is in the OpenAPI description: path, method and status.
    route_in_api: (&'static str, &'static str, &'static str),
    writes: bool,
}

static PLANS: [Plan; 6] = [
    Plan {
        name: "find_entity",
        description: "Find entities of the knowledge graph by name or label. It also finds beginnings of words and \
                      misspelt names. Use the names it gives in the other tools.",
        route: Route::Search { path: "/v1/entities", argument: "query" },
        route_in_api: ("/v1/entities", "get", "200"),
        writes: false,
    },
    Plan {
        name: "describe_entity",
        description: "The types of an entity and its facts in the knowledge graph.",
        route: Route::Detail { path: "/v1/entities", argument: "entity" },
        route_in_api: ("/v1/entities/{name}", "get", "200"),
        writes: false,
    },
    Plan {
        name: "list_relations",
        description: "The relations of the knowledge graph whose name or label contains a text, with some of their facts.",
        route: Route::Search { path: "/v1/relations", argument: "query" },
        route_in_api: ("/v1/relations", "get", "200"),
        writes: false,
    },
    Plan {
        name: "complete_relation",
        description: "Predict missing facts of a relation: the best tails for heads, each with a confidence from 0 to 1. \
                      Without `support` the relation is learned from its facts in the graph. For a relation that the graph \
                      does not have, set `new` and give about five pairs that it holds for as `support`. Answers are \
                      predictions, not facts; say how sure they are.",
        route: Route::Post { path: "/v1/complete" },
        route_in_api: ("/v1/complete", "post", "200"),
        writes: false,
    },
    Plan {
        name: "explain",
        description: "What speaks for a predicted fact and what against it: paths in the graph, similar examples, and other \
                      evidence. Give the same `relation` and `support` as in complete_relation.",
        route: Route::Post { path: "/v1/explain" },
        route_in_api: ("/v1/explain", "post", "200"),
        writes: false,
    },
    Plan {
        name: "record_decision",
        description: "Record the verdict of a person on a predicted fact: accepted or rejected. Only do so when the person \
                      has said it.",
        route: Route::Post { path: "/v1/decisions" },
        route_in_api: ("/v1/decisions", "post", "201"),
        writes: true,
    },
];

impl RouteTool {
    /// The tools that agents may call, by the OpenAPI description of the routes.
    pub(super) fn all(document: &Value, access: McpAccess) -> Vec<Self> {
        let allowed = PLANS.iter().filter(|plan| access.decisions || !plan.writes);
        allowed.map(|plan| Self::new(document, plan)).collect()
    }

    fn new(document: &Value, plan: &Plan) -> Self {
        let (path, method, status) = plan.route_in_api;
        let operation = &document["paths"][path][method];
        let given = &operation["responses"][status]["content"]["application/json"]["schema"];
        let input = match plan.route {
            Route::Post { .. } => {
                standing_alone(document, &operation["requestBody"]["content"]["application/json"]["schema"])
            }
            Route::Search { argument, .. } => {
                arguments(argument, "A name or label, its beginning, or the beginning of a word in it.")
            }
            Route::Detail { argument, .. } => arguments(argument, "The name or unique label of the entity."),
        };
        let annotations = ToolAnnotations::new().read_only(!plan.writes).destructive(false).open_world(false);
        let described = Tool::new(plan.name, plan.description, Arc::new(input))
            .with_raw_output_schema(Arc::new(standing_alone(document, given)))
            .with_annotations(annotations);
        Self { described, route: plan.route }
    }

    /// The request that a call becomes.
    ///
    /// # Errors
    /// If an argument is missing or unknown, in words for the agent.
    pub(super) fn request(&self, arguments: JsonObject) -> Result<Request<Body>, String> {
        let text = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let built = match self.route {
            Route::Post { path } => Request::builder()
                .method(Method::POST)
                .uri(path)
                .header(CONTENT_TYPE, "application/json")
                .body(Body::from(Value::Object(arguments).to_string())),
            Route::Search { path, argument } => {
                let (query, limit) = query_and_limit(argument, &arguments)?;
                Request::builder().uri(format!("{path}?q={}{limit}", text(query))).body(Body::empty())
            }
            Route::Detail { path, argument } => {
                let (name, limit) = query_and_limit(argument, &arguments)?;
                let limit = limit.replacen('&', "?", 1);
                Request::builder().uri(format!("{path}/{}{limit}", text(name))).body(Body::empty())
            }
        };
        // Only a path of several kilobytes cannot be one.
        built.map_err(|error| format!("The arguments are too long: {error}."))
    }
}

/// The schema of a text and a limit.
fn arguments(name: &str, description: &str) -> JsonObject {
    let schema = json!({
        "type": "object",
        "properties": {
            name: {"type": "string", "description": description},
            "limit": {"type": "integer", "minimum": 1, "description": "The most results."}
        },
        "required": [name],
        "additionalProperties": false
    });
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// The text of an argument, and the parameter that limits the results.
fn query_and_limit<'a>(name: &str, arguments: &'a JsonObject) -> Result<(&'a str, String), String> {
    if let Some(unknown) = arguments.keys().find(|key| *key != name && *key != "limit") {
        return Err(format!("There is no argument `{unknown}`; there are `{name}` and `limit`."));
    }
    let text = arguments.get(name).and_then(Value::as_str);
    let text = text.ok_or_else(|| format!("The argument `{name}` is missing; it is a text."))?;
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => String::new(),
        Some(limit) => {
            let limit = limit.as_u64().ok_or("The argument `limit` is a whole number of at least 1.")?;
            format!("&limit={limit}")
        }
    };
    Ok((text, limit))
}
