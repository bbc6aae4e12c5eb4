//! Which crates are there, which files have they, and which of these are part of the program?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::lexer::{code_only, name_at, without_tests, words};

/// A crate of this workspace.
pub(crate) struct Crate {
    /// Without `evercrawl-`.
    pub(crate) name: String,
    pub(crate) manifest: toml::Table,
    pub(crate) files: Vec<File>,
}

/// A file of a crate's `src`.
pub(crate) struct File {
    /// From the workspace's root.
    pub(crate) path: String,
    /// The path of its module: none for the crate's root.
    pub(crate) module: Vec<String>,
    pub(crate) text: String,
    /// Its code without tests; nothing where all of it is for tests.
    pub(crate) code: String,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The crates in the order of their names.
pub(crate) fn crates() -> Vec<Crate> {
    let folders = std::fs::read_dir(root().join("crates")).unwrap();
    let mut names: Vec<String> =
        folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| root().join("crates").join(name).join("Cargo.toml").is_file());
    names.sort();
    assert!(names.len() > 10, "only {names:?} are there");
    names.into_iter().map(read_crate).collect()
}

fn read_crate(name: String) -> Crate {
    let folder = format!("crates/{name}");
    let manifest = read(&format!("{folder}/Cargo.toml")).parse().unwrap();
    let mut paths = Vec::new();
    find(&root().join(&folder).join("src"), "rs", &mut paths);
    let mut files: Vec<File> = paths.iter().map(|path| read_source(path, &folder)).collect();
    let of_tests: BTreeSet<Vec<String>> = files.iter().flat_map(modules_of_tests).collect();
    for file in &mut files {
        if (1..=file.module.len()).any(|n| of_tests.contains(&file.module[..n])) {
            file.code.clear();
        }
    }
    Crate { name, manifest, files }
}

fn read_source(path: &Path, folder: &str) -> File {
    let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    let text = read(&path);
    let code = without_tests(&code_only(&text));
    let inside = path.strip_prefix(folder).unwrap().strip_prefix("/src/").unwrap();
    let mut module: Vec<String> =
        inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    File { path, module, text, code }
}

/// The modules that a file declares for tests only.
fn modules_of_tests(file: &File) -> Vec<Vec<String>> {
    let all = code_only(&file.text);
    let declared = |code: &str| -> BTreeSet<String> {
        words(code, "mod ").map(|at| name_at(code, at + 4).to_owned()).collect()
    };
    let kept = declared(&file.code);
    let only_tests = declared(&all).into_iter().filter(|name| !kept.contains(name));
    only_tests.map(|name| [file.module.clone(), vec![name]].concat()).collect()
}

/// All files below a folder whose names end so, in order.
pub(crate) fn find(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            find(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}
