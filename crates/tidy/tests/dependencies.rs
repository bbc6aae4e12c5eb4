//! Do the dependencies have licences and sources that `deny.toml` allows?
//!
//! `cargo deny check` does the same and more (advisories, which need a database from the network);
//! but it takes longer to build than all of our own crates.

use std::process::Command;

use serde::Deserialize;

use crate::assert_none;
use crate::sources::{read, root};

/// What `cargo metadata` says.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// None for our own.
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    req: String,
    source: Option<String>,
}

/// The part of `deny.toml` that is checked here.
#[derive(Deserialize)]
struct Rules {
    graph: Graph,
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

fn rules() -> Rules {
    toml::from_str(&read("deny.toml")).unwrap()
}

/// All packages that are built on any of the platforms.
fn packages() -> Vec<Package> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version=1", "--locked"]).current_dir(root());
    for target in rules().graph.targets {
        command.args(["--filter-platform", &target]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout).unwrap();
    assert!(metadata.packages.len() > 100, "only {} packages", metadata.packages.len());
    metadata.packages
}

#[test]
fn licences_are_allowed() {
    let allowed = rules().licenses.allow;
    let wrong: Vec<String> = packages()
        .iter()
        .filter(|package| !package.license.as_deref().is_some_and(|text| permits(text, &allowed)))
        .map(|package| format!("{} {}: {:?}", package.name, package.version, package.license))
        .collect();
    assert_none("a dependency has a licence that deny.toml does not allow:", &wrong);
}

#[test]
fn no_dependency_is_banned() {
    let bans = rules().bans.deny;
    let mut wrong = Vec::new();
    for package in packages() {
        for ban in bans.iter().filter(|ban| ban.name == package.name) {
            wrong.push(format!("{}: {}", package.name, ban.reason));
        }
    }
    assert_none("deny.toml bans a dependency:", &wrong);
}

#[test]
fn dependencies_come_from_the_registry_by_version() {
    let mut wrong = Vec::new();
    for package in packages() {
        let from = package.source.as_deref();
        if !from.is_none_or(|from| from.starts_with("registry+")) {
            wrong.push(format!("{} comes from {from:?}", package.name));
        }
        let ours = from.is_none();
        for dependency in package.dependencies {
            if ours && dependency.source.is_some() && dependency.req == "*" {
                wrong.push(format!("{} takes any version of {}", package.name, dependency.name));
            }
        }
    }
    assert_none("a dependency is not a version of the registry's:", &wrong);
}

/// Whether a licence expression (SPDX, or two licences with a slash) can be met by allowed ones.
fn permits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    let met = any_of(&mut rest, allowed);
    met && rest.is_empty()
}

fn any_of(rest: &mut &[&str], allowed: &[String]) -> bool {
    let mut met = all_of(rest, allowed);
    while let ["OR", more @ ..] = *rest {
        *rest = more;
        met |= all_of(rest, allowed);
    }
    met
}

fn all_of(rest: &mut &[&str], allowed: &[String]) -> bool {
    let mut met = one(rest, allowed);
    while let ["AND", more @ ..] = *rest {
        *rest = more;
        met &= one(rest, allowed);
    }
    met
}

fn one(rest: &mut &[&str], allowed: &[String]) -> bool {
    let is_allowed = |licence: &str| allowed.iter().any(|allowed| allowed == licence);
    match *rest {
        ["(", inside @ ..] => {
            *rest = inside;
            let met = any_of(rest, allowed);
            *rest = rest.strip_prefix(&[")"]).unwrap_or_default();
            met
        }
        [licence, "WITH", exception, more @ ..] => {
            *rest = more;
            is_allowed(&format!("{licence} WITH {exception}"))
        }
        [licence, more @ ..] => {
            *rest = more;
            is_allowed(licence)
        }
        [] => false,
    }
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    for expression in [
        "MIT",
        "MIT OR Apache-2.0",
        "MIT/Apache-2.0",
        "(MIT OR GPL-3.0) AND ISC",
        "GPL-3.0 OR Apache-2.0 WITH LLVM-exception",
        "MIT AND (ISC OR GPL-3.0)",
    ] {
        assert!(permits(expression, &allowed), "{expression}");
    }
    for expression in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND GPL-3.0", "Apache-2.0"] {
        assert!(!permits(expression, &allowed), "{expression}");
    }
}
