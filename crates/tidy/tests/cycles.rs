//! Can the modules of a crate be read in some order, without going in circles?

use std::collections::{BTreeMap, BTreeSet};

use crate::lexer::{closing, name_at, words};
use crate::sources::{Crate, File, crates};

/// Modules that need each other, and why they may. The list only gets shorter.
const EXCEPTIONS: [(&str, &[&str], &str); 8] = [
    (
        "cli",
        &["args", "control", "crawl_config", "doorbell", "seeds", "verbs"],
        "the list of verbs and what verbs share stand in one module",
    ),
    (
        "fetch",
        &["config", "dns"],
        "the configuration holds that of DNS, and its error is that of both",
    ),
    (
        "insight",
        &["importance", "suspicion"],
        "suspects are left out of the graph that suspicion reads",
    ),
    ("lab", &["synthetic", "world"], "a world holds the processes that make it"),
    (
        "policy",
        &["registry", "schedulers"],
        "the registry makes schedulers, which are told one of its goals",
    ),
    (
        "sites",
        &["directories", "links", "partition"],
        "a partition is made by either of two methods",
    ),
    ("state", &["reading", "view"], "readings are handed out by the view that they read"),
    (
        "urls",
        &["canonical", "read", "steps"],
        "a canonical URL, how it is read, and by which steps",
    ),
];

/// Which module at the top of a crate uses which, and one file in which it does.
type Uses = BTreeMap<(String, String), String>;

#[test]
fn modules_do_not_import_each_other_in_circles() {
    let mut wrong = Vec::new();
    let mut used = [false; EXCEPTIONS.len()];
    for one in crates() {
        let uses = uses(&one);
        for circle in circles(&uses) {
            let names: Vec<&str> = circle.iter().map(String::as_str).collect();
            let excepted =
                EXCEPTIONS.iter().position(|(of, modules, _)| *of == one.name && *modules == names);
            match excepted {
                Some(exception) => used[exception] = true,
                None => wrong.push(described(&one.name, &circle, &uses)),
            }
        }
    }
    crate::assert_none("modules import each other in circles:", &wrong);
    assert_eq!(used, [true; EXCEPTIONS.len()], "exceptions that nothing needs any more");
}

fn described(name: &str, circle: &BTreeSet<String>, uses: &Uses) -> String {
    let mut text = format!("{name}: {circle:?}");
    for ((from, to), path) in uses {
        if circle.contains(from) && circle.contains(to) {
            text.push_str(&format!("\n    {from} uses {to} in {path}"));
        }
    }
    text
}

fn uses(of: &Crate) -> Uses {
    let modules: BTreeSet<&str> =
        of.files.iter().filter_map(|file| file.module.first()).map(String::as_str).collect();
    let exports = exports(of, &modules);
    let mut uses = Uses::new();
    for file in of.files.iter().filter(|file| !file.code.is_empty()) {
        let Some(from) = file.module.first() else { continue };
        for name in names_from_the_root(file) {
            let to = if modules.contains(&*name) { Some(&name) } else { exports.get(&name) };
            if let Some(to) = to.filter(|to| *to != from) {
                uses.entry((from.clone(), to.clone())).or_insert_with(|| file.path.clone());
            }
        }
    }
    uses
}

/// What the crate's root takes from its modules, and from which.
fn exports(of: &Crate, modules: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for file in of.files.iter().filter(|file| file.module.is_empty()) {
        for at in words(&file.code, "use ") {
            let module = name_at(&file.code, at + 4);
            if modules.contains(module) {
                let end = at + file.code[at..].find(';').unwrap_or_default();
                let names = file.code[at + 4 + module.len()..end].split(|c| !is_name(c));
                exports.extend(names.map(|name| (name.to_owned(), module.to_owned())));
            }
        }
    }
    exports
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names that a file takes from the crate's root, by whichever path.
fn names_from_the_root(file: &File) -> Vec<String> {
    let above = "super::".repeat(file.module.len());
    let from_above = words(&file.code, &above)
        .filter(|at| !file.code[..*at].ends_with("super::"))
        .map(|at| at + above.len());
    let from_root = words(&file.code, "crate::").map(|at| at + "crate::".len());
    from_root.chain(from_above).flat_map(|at| first_names(&file.code, at)).collect()
}

/// `a` of `a::b`, `a` and `c` of `{a::b, c}`.
fn first_names(code: &str, at: usize) -> Vec<String> {
    if !code[at..].starts_with('{') {
        return vec![name_at(code, at).to_owned()];
    }
    let mut names = Vec::new();
    let mut depth = 0;
    let mut at_name = true;
    for (n, c) in code[at + 1..closing(code, at)].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => at_name = true,
            c if is_name(c) && at_name => {
                names.push(name_at(code, at + 1 + n).to_owned());
                at_name = false;
            }
            _ => {}
        }
    }
    names
}

/// The sets of modules each of which leads to all others of its set.
fn circles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let mut reach: BTreeSet<(&str, &str)> = uses.keys().map(|(a, b)| (&**a, &**b)).collect();
    loop {
        let longer: Vec<_> = reach
            .iter()
            .flat_map(|&(a, b)| {
                reach.range((b, "")..).take_while(move |c| c.0 == b).map(move |c| (a, c.1))
            })
            .filter(|pair| !reach.contains(pair))
            .collect();
        if longer.is_empty() {
            break;
        }
        reach.extend(longer);
    }
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for &(a, _) in reach.iter().filter(|(a, b)| a == b) {
        if !circles.iter().any(|circle| circle.contains(a)) {
            let members = reach.iter().filter(|(b, c)| *b == a && reach.contains(&(c, a)));
            circles.push(members.map(|(_, c)| (*c).to_owned()).collect());
        }
    }
    circles
}

#[test]
fn names_are_found_by_every_path() {
    let file = |module: &[&str], code: &str| File {
        path: String::new(),
        module: module.iter().map(|name| (*name).to_owned()).collect(),
        text: String::new(),
        code: code.to_owned(),
    };
    let code =
        "use crate::{a::{B, C}, D,\n e};\nuse super::f::G; use super::super::h; crate::i::j()";
    assert_eq!(names_from_the_root(&file(&["x", "y"], code)), ["a", "D", "e", "i", "h"]);
    assert_eq!(names_from_the_root(&file(&["x"], "use super::f::G;")), ["f"]);
}

#[test]
fn circles_are_found() {
    let pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "e")];
    let uses = pairs.map(|(a, b)| ((a.to_owned(), b.to_owned()), String::new()));
    let found = circles(&uses.into_iter().collect());
    let expected = [vec!["a", "b", "c"], vec!["e"]]
        .map(|circle| circle.into_iter().map(str::to_owned).collect::<BTreeSet<_>>());
    assert_eq!(found, expected);
}
