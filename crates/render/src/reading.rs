//! What do the frames of a page show?

use serde_json::{Value, json};

use crate::rendered::Frame;

/// The script that reads a document.
pub(crate) const READER: &str = include_str!("reader.js");

/// The frames of a tree as the browser describes it, the page first, at most `most`.
pub(crate) fn frame_ids(tree: &Value, most: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut next = vec![&tree["frameTree"]];
    while let Some(tree) = next.pop() {
        if let Some(id) = tree["frame"]["id"].as_str() {
            found.push(id.to_owned());
        }
        if found.len() >= most {
            break;
        }
        next.extend(tree["childFrames"].as_array().into_iter().flatten().rev());
    }
    found
}

/// The parameters of the evaluation of [`READER`] in a world.
pub(crate) fn evaluation(world: &Value) -> Value {
    json!({ "expression": READER, "contextId": world["executionContextId"], "returnByValue": true })
}

/// What the script returned.
pub(crate) fn frame(result: &Value) -> Option<Frame> {
    let value = result["result"].get("value")?;
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    Some(Frame {
        url: text("url"),
        base: text("base"),
        title: text("title"),
        text: text("text"),
        html: text("html"),
    })
}
