//! Does each crate depend only on the layers above its own?

use std::collections::BTreeMap;

use crate::assert_none;
use crate::sources::{Crate, crates, read};

/// Our crates that a crate is made of; those that its tests use may be of any layer.
fn dependencies(of: &Crate) -> Vec<String> {
    let Some(table) = of.manifest.get("dependencies").and_then(toml::Value::as_table) else {
        return Vec::new();
    };
    table.keys().filter_map(|name| name.strip_prefix("evercrawl-").map(str::to_owned)).collect()
}

/// The crates of ARCHITECTURE.md's table with their layers, in its order.
pub(crate) fn table() -> Vec<(String, String)> {
    let text = read("ARCHITECTURE.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("| layer | crate |")).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (cells[1].to_owned(), cells[2].trim_matches('`').to_owned())
        })
        .collect()
}

#[test]
fn every_crate_is_in_the_table_of_layers_once() {
    let mut listed: Vec<String> = table().into_iter().map(|(_, name)| name).collect();
    listed.sort();
    let there: Vec<String> = crates().into_iter().map(|one| one.name).collect();
    assert_eq!(listed, there, "ARCHITECTURE.md's table of layers, and the folders in crates/");
}

#[test]
fn a_crate_depends_only_on_its_own_layer_and_those_above() {
    let mut heights: BTreeMap<String, usize> = BTreeMap::new();
    let mut layers: Vec<String> = Vec::new();
    for (layer, name) in table() {
        if layers.last() != Some(&layer) {
            assert!(!layers.contains(&layer), "the layer {layer} stands twice in the table");
            layers.push(layer);
        }
        heights.insert(name, layers.len() - 1);
    }
    let mut wrong = Vec::new();
    for one in crates() {
        for other in dependencies(&one) {
            let (own, its) = (heights[&one.name], heights[&other]);
            if its > own {
                let (own, its) = (&layers[own], &layers[its]);
                wrong.push(format!("{} ({own}) depends on {other} ({its})", one.name));
            }
        }
    }
    assert_none("a crate depends on a layer below its own:", &wrong);
}
