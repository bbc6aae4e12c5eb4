//! Which pages has a PDF, in which order, and where do the marks on them lead?

use std::collections::HashSet;

use super::file::{File, as_dict, readable};
use super::lexer::{Dict, Object};

/// The most pages that are read.
const MOST_PAGES: usize = 5000;
/// Nodes of the tree of pages above one another.
const DEEPEST: usize = 64;
/// The most marks of one page.
const MOST_MARKS: usize = 5000;

/// A page.
pub(super) struct Page {
    pub(super) dict: Dict,
    /// Its fonts and pictures, of its own or of the part that it belongs to.
    pub(super) resources: Option<Dict>,
}

/// The pages in order; those that lie about where no tree holds them.
pub(super) fn list(file: &mut File<'_>) -> Vec<Page> {
    let mut found = Vec::new();
    if let Some(catalog) = file.catalog()
        && let Some(root) = catalog.get("Pages").cloned()
    {
        walk(file, &root, None, (0, &mut HashSet::new()), &mut found);
    }
    if found.is_empty() {
        for number in file.numbers() {
            let Some(Object::Dict(dict)) = file.object(number) else { continue };
            if dict.name("Type") == Some(b"Page") && found.len() < MOST_PAGES {
                let resources = inherited(file, &dict);
                found.push(Page { dict, resources });
            }
        }
    }
    found
}

/// The resources of a page, or of the nearest part above it that has some.
fn inherited(file: &mut File<'_>, page: &Dict) -> Option<Dict> {
    let mut node = page.clone();
    for _ in 0..DEEPEST {
        if let Some(resources) = file.dict(&node, "Resources") {
            return Some(resources);
        }
        node = file.dict(&node, "Parent")?;
    }
    None
}

fn walk(
    file: &mut File<'_>,
    node: &Object,
    inherited: Option<&Dict>,
    (depth, seen): (usize, &mut HashSet<u32>),
    found: &mut Vec<Page>,
) {
    let is_new = if let Object::Ref(number) = node { seen.insert(*number) } else { true };
    if !is_new || depth > DEEPEST || found.len() >= MOST_PAGES || !file.budget.pay(10) {
        return;
    }
    let Some(dict) = file.resolve(node).and_then(as_dict) else { return };
    let own = file.dict(&dict, "Resources");
    let resources = own.as_ref().or(inherited);
    match file.entry(&dict, "Kids") {
        Some(Object::Array(kids)) => {
            for kid in &kids {
                walk(file, kid, resources, (depth + 1, seen), found);
            }
        }
        _ => {
            let resources = resources.cloned();
            found.push(Page { dict, resources });
        }
    }
}

/// Hands every address to `found` that a mark on the page leads to.
pub(super) fn links(file: &mut File<'_>, page: &Page, found: &mut dyn FnMut(&str)) {
    let Some(Object::Array(marks)) = file.entry(&page.dict, "Annots") else { return };
    for mark in marks.iter().take(MOST_MARKS) {
        let Some(mark) = file.resolve(mark).and_then(as_dict) else { continue };
        let Some(action) = file.dict(&mark, "A") else { continue };
        if let Some(Object::String(address)) = file.entry(&action, "URI") {
            found(&readable(&address));
        }
    }
}
