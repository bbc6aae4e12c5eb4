//! The one form for what is declared in JSON-LD, microdata and RDFa: nodes with types and properties.

use serde_json::{Map, Value};

/// The name of a type or a property, without the vocabulary before it: `schema:Offer`, `https://schema.org/Offer`.
pub(super) fn local(name: &str) -> &str {
    name.trim().rsplit(['/', '#', ':']).next().unwrap_or_default()
}

/// What one property of a node holds; the name may stand with or without its vocabulary.
pub(super) fn property<'a>(node: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let found = node.get(name).or_else(|| {
        node.iter()
            .find(|(has, _)| !has.starts_with('@') && local(has) == name)
            .map(|(_, value)| value)
    });
    found.filter(|value| !value.is_null())
}

/// The values of a property, one by one.
pub(super) fn values(value: Option<&Value>) -> &[Value] {
    match value {
        Some(Value::Array(list)) => list,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    }
}

/// What the first value says in words.
pub(super) fn text(value: Option<&Value>) -> Option<String> {
    values(value).iter().find_map(|value| match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(node) => {
            let own = node.get("@value").or_else(|| node.get("@id")).or_else(|| node.get("name"));
            own.filter(|own| !own.is_object() && !own.is_array()).and_then(|own| text(Some(own)))
        }
        _ => None,
    })
}

/// Whether a node is of a type.
pub(super) fn is_of(node: &Map<String, Value>, wanted: impl Fn(&str) -> bool) -> bool {
    let types = node.get("@type").or_else(|| node.get("type"));
    values(types).iter().filter_map(Value::as_str).any(|name| wanted(local(name)))
}
