//! Schemas that stand alone, from those of the OpenAPI description.

use serde_json::{Map, Value, json};

/// Where the OpenAPI description keeps schemas, and where a schema that stands alone does.
const SHARED: &str = "#/components/schemas/";
const OWN: &str = "#/$defs/";

/// The schema that `reference` points to, with all that it needs.
pub(super) fn standing_alone(document: &Value, reference: &Value) -> Map<String, Value> {
    let mut root = match name(reference) {
        Some(name) => document["components"]["schemas"][name].clone(),
        None => reference.clone(),
    };
    let mut needed = Vec::new();
    lead_inside(&mut root, &mut needed);
    let mut defs = Map::new();
    while let Some(name) = needed.pop() {
        if !defs.contains_key(&name) {
            let mut schema = document["components"]["schemas"][&name].clone();
            lead_inside(&mut schema, &mut needed);
            defs.insert(name, schema);
        }
    }
    let mut root = match root {
        Value::Object(root) => root,
        _ => Map::new(),
    };
    // The protocol wants it said of every schema, also of one that is made of parts.
    root.insert("type".to_owned(), json!("object"));
    if !defs.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(defs));
    }
    root
}

fn name(reference: &Value) -> Option<&str> {
    reference["$ref"].as_str()?.strip_prefix(SHARED)
}

/// Makes references lead to the definitions of the schema itself, and notes which ones that takes.
fn lead_inside(schema: &mut Value, needed: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && let Some(name) = reference.strip_prefix(SHARED).map(str::to_owned)
            {
                *reference = format!("{OWN}{name}");
                needed.push(name);
            }
            fields.values_mut().for_each(|value| lead_inside(value, needed));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| lead_inside(item, needed)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_takes_all_it_needs_along() {
        let document = json!({"components": {"schemas": {
            "List": {"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}}},
            "Item": {"allOf": [{"$ref": "#/components/schemas/Name"}, {"$ref": "#/components/schemas/Item"}]},
            "Name": {"type": "string"},
            "Other": {"type": "string"},
        }}});
        let schema = standing_alone(&document, &json!({"$ref": "#/components/schemas/List"}));
        assert_eq!(
            Value::Object(schema),
            json!({
                "type": "object",
                "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}},
                "$defs": {
                    "Item": {"allOf": [{"$ref": "#/$defs/Name"}, {"$ref": "#/$defs/Item"}]},
                    "Name": {"type": "string"}
                }
            })
        );
        let parts = standing_alone(&document, &json!({"$ref": "#/components/schemas/Item"}));
        assert_eq!(parts["type"], "object");
    }
}
