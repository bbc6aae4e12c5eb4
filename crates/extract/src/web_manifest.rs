//! What does a web application manifest name? Its icons and screenshots, and the pages that it starts and offers.

use serde_json::Value;

use crate::html::{LinkKind, LinkPlace, LinkSink};

/// Adds the addresses in a manifest. What is no JSON has none.
pub(crate) fn read_manifest(json: &str, sink: &mut LinkSink<'_>) {
    let Ok(manifest) = serde_json::from_str::<Value>(json) else { return };
    for list in ["icons", "screenshots", "splash_screens"] {
        add_sources(&manifest[list], sink);
    }
    add_address(&manifest["start_url"], LinkKind::Related, sink);
    add_address(&manifest["serviceworker"]["src"], LinkKind::Embed, sink);
    for shortcut in manifest["shortcuts"].as_array().into_iter().flatten() {
        add_address(&shortcut["url"], LinkKind::Related, sink);
        add_sources(&shortcut["icons"], sink);
    }
    for application in manifest["related_applications"].as_array().into_iter().flatten() {
        add_address(&application["url"], LinkKind::Related, sink);
    }
}

/// Whether a JSON document that nobody calls a manifest is one.
pub(crate) fn is_manifest(content_type: Option<&str>, url: &str, json: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let declared =
        content_type.is_some_and(|t| t.trim_start().starts_with("application/manifest+json"));
    let named = path.ends_with(".webmanifest") || path.ends_with("/manifest.json");
    declared || named || json.contains("\"icons\"") && json.contains("\"start_url\"")
}

fn add_sources(images: &Value, sink: &mut LinkSink<'_>) {
    for image in images.as_array().into_iter().flatten() {
        add_address(&image["src"], LinkKind::Embed, sink);
    }
}

fn add_address(value: &Value, kind: LinkKind, sink: &mut LinkSink<'_>) {
    if let Some(address) = value.as_str() {
        sink.add(address, kind, LinkPlace::Manifest);
    }
}
