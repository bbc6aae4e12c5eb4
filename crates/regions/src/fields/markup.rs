//! What do the attributes of microdata and RDFa declare? Brought into the form of JSON-LD.

use std::collections::HashMap;

use evercrawl_extract::{Extractor, HtmlOptions};
use serde_json::{Map, Value};

use crate::tree::{Element, Id, PageTree};

/// Properties that are read, bytes of each that say its text, and references to elements elsewhere.
const MOST_PROPERTIES: usize = 20_000;
const MOST_TEXT: usize = 2000;
const MOST_REFERENCES: usize = 20;

/// The names of attributes.
struct Names {
    node: &'static str,
    kind: &'static str,
    property: &'static str,
}

/// The nodes that microdata declares.
pub(super) fn microdata(tree: &PageTree<'_>) -> Vec<Value> {
    read(tree, &Names { node: "itemscope", kind: "itemtype", property: "itemprop" })
}

/// The nodes that RDFa declares.
pub(super) fn rdfa(tree: &PageTree<'_>) -> Vec<Value> {
    read(tree, &Names { node: "typeof", kind: "typeof", property: "property" })
}

fn read(tree: &PageTree<'_>, names: &Names) -> Vec<Value> {
    let nodes = Nodes::of(tree, names);
    nodes.roots.iter().map(|root| nodes.node(*root, 0)).collect()
}

struct Nodes<'a> {
    tree: &'a PageTree<'a>,
    names: &'a Names,
    /// The nodes that are no property of another.
    roots: Vec<Id>,
    /// The elements that are properties of a node.
    properties: HashMap<Id, Vec<Id>>,
}

impl<'a> Nodes<'a> {
    fn of(tree: &'a PageTree<'a>, names: &'a Names) -> Self {
        let mut nodes = Nodes { tree, names, roots: Vec::new(), properties: HashMap::new() };
        // The node that an element stands in.
        let mut around: Vec<Option<Id>> = Vec::with_capacity(tree.elements.len());
        let (mut count, mut references) = (0, 0);
        for (id, element) in tree.elements.iter().enumerate() {
            let inside = element.parent.and_then(|parent| match nodes.is_node(parent) {
                true => Some(parent),
                false => around[parent],
            });
            around.push(inside);
            let is_property = element.attribute(names.property).is_some();
            match inside.filter(|_| is_property && count < MOST_PROPERTIES) {
                Some(node) => nodes.properties.entry(node).or_default().push(id),
                None if nodes.is_node(id) => nodes.roots.push(id),
                None => {}
            }
            count += usize::from(is_property);
        }
        for id in 0..tree.elements.len() {
            for name in
                tree.elements[id].attribute("itemref").unwrap_or_default().split_whitespace()
            {
                references += 1;
                if references <= MOST_REFERENCES {
                    nodes.refer(id, name, &around);
                }
            }
        }
        nodes
    }

    fn is_node(&self, id: Id) -> bool {
        self.tree.elements[id].attribute(self.names.node).is_some()
    }

    /// Adds the properties in the element that a node refers to.
    fn refer(&mut self, node: Id, name: &str, around: &[Option<Id>]) {
        let elements = &self.tree.elements;
        let Some(found) = elements.iter().position(|one| one.attribute("id") == Some(name)) else {
            return;
        };
        let own = (found..elements[found].after).filter(|id| {
            // What belongs to a node in there is its own; and a node is not a part of itself.
            elements[*id].attribute(self.names.property).is_some()
                && around[*id] == around[found]
                && !(elements[*id].outer.start <= elements[node].outer.start
                    && elements[*id].after > node)
        });
        let own: Vec<Id> = own.collect();
        self.properties.entry(node).or_default().extend(own);
    }

    fn node(&self, id: Id, depth: usize) -> Value {
        let element = &self.tree.elements[id];
        let mut node = Map::new();
        let kinds = element.attribute(self.names.kind).unwrap_or_default().split_whitespace();
        node.insert("@type".to_owned(), kinds.map(|kind| Value::from(kind.to_owned())).collect());
        for property in self.properties.get(&id).into_iter().flatten().filter(|_| depth < 20) {
            let named = self.tree.elements[*property].attribute(self.names.property);
            let value = match self.is_node(*property) {
                true => self.node(*property, depth + 1),
                false => Value::from(self.text(*property)),
            };
            for name in named.unwrap_or_default().split_whitespace() {
                if let Value::Array(values) =
                    node.entry(super::node::local(name)).or_insert_with(|| Value::Array(Vec::new()))
                {
                    values.push(value.clone());
                }
            }
        }
        Value::Object(node)
    }

    /// What a property says: by an attribute that says it to machines, else what readers see.
    fn text(&self, id: Id) -> String {
        let element = &self.tree.elements[id];
        if let Some(value) = said_to_machines(element) {
            return value.trim().to_owned();
        }
        let source = self.tree.content(id);
        let cut = (0..=MOST_TEXT.min(source.len())).rev().find(|at| source.is_char_boundary(*at));
        let source = &source[..cut.unwrap_or(0)];
        Extractor::new().extract_html(source, &HtmlOptions::default()).text.clone()
    }
}

fn said_to_machines(element: &Element) -> Option<&str> {
    let own = match &*element.name {
        "a" | "area" | "link" => "href",
        "img" | "audio" | "video" | "source" | "iframe" | "embed" => "src",
        "data" | "meter" | "input" => "value",
        "time" => "datetime",
        _ => "content",
    };
    element
        .attribute("content")
        .or_else(|| element.attribute(own))
        .or_else(|| element.attribute("resource"))
}
