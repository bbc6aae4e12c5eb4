//! What does the API look like to a program? OpenAPI 3.1, made of the table of routes.

use serde_json::{Map, Value as Json, json};

use crate::problem::ProblemCode;
use crate::route::{Access, Answers, Body, Kind, Parameter, Route, Value};

/// Bodies and answers whose fields callers rely on most. Every other answer is an object.
const SCHEMAS: &str = include_str!("openapi_schemas.json");

/// The description of these routes.
pub(crate) fn describe(routes: &[&[Route]]) -> Json {
    let mut paths = Map::new();
    for route in routes.iter().flat_map(|some| some.iter()).filter(|route| route.kind == Kind::Api)
    {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.code().to_ascii_lowercase()] = operation(route);
    }
    let codes: Vec<&str> = ProblemCode::ALL.into_iter().map(ProblemCode::code).collect();
    let mut schemas: Json = serde_json::from_str(SCHEMAS).unwrap_or_default();
    schemas["Problem"] = json!({
        "type": "object",
        "required": ["type", "title", "status", "code", "detail", "hint"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "code": {"enum": codes},
            "detail": {"type": "string"},
            "hint": {"type": ["string", "null"]},
        },
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Evercrawl",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The views of the verbs, over HTTP.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn operation(route: &Route) -> Json {
    let mut operation = json!({
        "summary": route.about,
        "operationId": operation_id(route),
        "parameters": parameters(route),
        "responses": responses(route),
    });
    if let Access::Scope(scope) = route.access {
        operation["security"] = json!([{"token": []}]);
        operation["x-scope"] = scope.code().into();
    }
    if let Body::Json(name) = route.body {
        let content = json!({"application/json": {"schema": reference(name)}});
        operation["requestBody"] = json!({"required": true, "content": content});
    }
    operation
}

/// Such as `get_collections_name_urls`.
fn operation_id(route: &Route) -> String {
    let path = route.path.trim_start_matches("/api/v1").replace(['{', '}'], "");
    let words: Vec<&str> = path.split(['/', '.']).filter(|word| !word.is_empty()).collect();
    format!("{}_{}", route.method.code().to_ascii_lowercase(), words.join("_"))
}

fn parameters(route: &Route) -> Vec<Json> {
    let variables = route.path.split('/').filter_map(|part| part.strip_prefix('{'));
    let in_path = variables.map(|name| {
        let name = name.trim_end_matches('}');
        json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}})
    });
    in_path.chain(route.parameters.iter().map(in_query)).collect()
}

fn in_query(parameter: &Parameter) -> Json {
    json!({
        "name": parameter.name,
        "in": "query",
        "required": parameter.needed,
        "description": parameter.about,
        "schema": schema_of(parameter.value),
    })
}

fn schema_of(value: Value) -> Json {
    match value {
        Value::Text(most) => json!({"type": "string", "maxLength": most}),
        Value::Count(most) => json!({"type": "integer", "minimum": 0, "maximum": most}),
        Value::Seconds => json!({"type": "number", "exclusiveMinimum": 0}),
        Value::Time => {
            json!({"type": "string", "description": "RFC 3339, or how long ago as in `2d`"})
        }
        Value::Word(words) => json!({"type": "string", "enum": words}),
        Value::Flag => json!({"type": "boolean"}),
    }
}

fn responses(route: &Route) -> Json {
    let problem = json!({
        "description": "There is no answer, and why.",
        "content": {"application/problem+json": {"schema": reference("Problem")}},
    });
    let (status, answer) = match route.answers {
        Answers::Json(name) => (
            made(route),
            json!({
                "description": "The answer.",
                "content": {"application/json": {"schema": reference(name)}},
            }),
        ),
        Answers::List(name) => (
            made(route),
            json!({
                "description": "Some of the items.",
                "content": {"application/json": {"schema": list_of(name)}},
            }),
        ),
        Answers::Media(kind) => (
            "200".to_owned(),
            json!({
                "description": "The answer.",
                "content": {kind: {"schema": {"type": "string"}}},
            }),
        ),
        Answers::Empty(status) => (status.to_string(), json!({"description": "Done."})),
    };
    json!({status: answer, "default": problem})
}

/// What makes something answers 201.
fn made(route: &Route) -> String {
    let makes = matches!(route.body, Body::Json("NewCollection" | "NewToken"));
    let lists = matches!(route.answers, Answers::List(_));
    if makes && !lists { "201" } else { "200" }.to_owned()
}

fn list_of(name: &str) -> Json {
    json!({
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"type": "array", "items": reference(name)},
            "next": {"type": ["string", "null"]},
        },
    })
}

fn reference(name: &str) -> Json {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
