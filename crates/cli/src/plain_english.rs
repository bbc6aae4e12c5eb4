//! Are help texts, messages and documents free of the phrases that the glossary forbids?
//!
//! `docs/internals/glossary.md` has the rules. This list holds the phrases that crept in before and that a
//! plain clause replaces; a use that is right after all is reworded.

use std::fs;
use std::path::{Path, PathBuf};

use crate::help::tests::every_help;
use crate::settings::KEYS;

/// Phrases that no text for users has, in lower case, between word boundaries.
const FORBIDDEN: [&str; 24] = [
    "whoever",
    "whosoever",
    "what is not a",
    "by lot",
    "cannot be had",
    "akin",
    "anew",
    "wish",
    "wished",
    "wishes",
    "is no number",
    "is no url",
    "is no setting",
    "is no rate",
    "is no page",
    "is no time",
    "once more",
    "so often",
    "so long ago",
    "left alone",
    "goes on",
    "gone on",
    "is told",
    "mends",
];

/// Files that are not held to it: this one has the list.
const LATER: [&str; 1] = ["plain_english.rs"];

/// The forbidden phrases in a text.
fn found_in(text: &str) -> Vec<&'static str> {
    let lower = text.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let bounded = |at: usize, phrase: &str| {
        let before = lower[..at].chars().next_back().is_some_and(is_word);
        let after = lower[at + phrase.len()..].chars().next().is_some_and(is_word);
        !before && !after
    };
    let has = |phrase: &&str| lower.match_indices(*phrase).any(|(at, _)| bounded(at, phrase));
    FORBIDDEN.into_iter().filter(has).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below `folder` that end in `ending`.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files(&path, ending) } else { vec![path] })
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect()
}

fn complain(place: &str, text: &str, wrong: &mut Vec<String>) {
    wrong.extend(found_in(text).iter().map(|phrase| format!("{place}: `{phrase}` in: {text}")));
}

#[test]
fn help_and_settings_are_in_plain_english() {
    let mut wrong = Vec::new();
    for (name, text) in every_help() {
        text.lines().for_each(|line| complain(&name, line, &mut wrong));
    }
    KEYS.iter().for_each(|key| complain(key.name, key.help, &mut wrong));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documents_for_users_are_in_plain_english() {
    let mut wrong = Vec::new();
    let own = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "ARCHITECTURE.md"];
    let mut pages: Vec<PathBuf> = own.iter().map(|name| root().join(name)).collect();
    pages.extend(files(&root().join("docs"), ".md"));
    // The glossary names the words to avoid.
    pages.retain(|page| !page.ends_with("docs/internals/glossary.md"));
    assert!(pages.len() > 20, "{} documents were found", pages.len());
    for page in pages {
        let place = page.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&page).unwrap();
        text.lines().for_each(|line| complain(&place, &without_names(line), &mut wrong));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A line without the names in it: single words in backticks.
fn without_names(line: &str) -> String {
    let parts = line.split('`').enumerate();
    let kept = parts.filter(|(number, part)| number % 2 == 0 || part.contains(' '));
    kept.map(|(_, part)| part).collect::<Vec<_>>().join(" ")
}

#[test]
fn messages_are_in_plain_english() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for file in files(&root().join("crates"), ".rs") {
        let path = file.to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        if !path.contains("/src/") || LATER.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        // Everything that the program prints, and the errors of all crates.
        let prints = path.contains("/cli/src/");
        for (before, literal) in literals(text) {
            // A single word is a name, not a message.
            if literal.contains(' ') && (prints || before.trim_end().ends_with("#[error(")) {
                seen += 1;
                complain(&path, &literal, &mut wrong);
            }
        }
    }
    assert!(seen > 400, "{seen} strings were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The string literals of a source file, each with the code on its line and the line before.
fn literals(source: &str) -> Vec<(String, String)> {
    let (mut found, mut code, mut rest) = (Vec::new(), String::new(), source);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with('"') {
            let (length, literal) = literal(rest);
            found.push((code.clone(), literal));
            code.clear();
            length
        } else {
            code.push_str(&rest[..1]);
            1
        };
        rest = &rest[skipped..];
    }
    found
}

/// How long the literal is with which `text` begins, and its content without line breaks.
fn literal(text: &str) -> (usize, String) {
    let (mut content, mut escaped) = (String::new(), false);
    for (at, c) in text.char_indices().skip(1) {
        match (escaped, c) {
            (false, '"') => {
                return (at + 1, content.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            (false, '\\') => escaped = true,
            (true, _) => {
                escaped = false;
                content.push(' ');
            }
            (false, c) => content.push(c),
        }
    }
    (text.len(), content)
}

#[test]
fn phrases_and_strings_are_found() {
    assert_eq!(found_in("Whoever wishes, it goes on."), ["whoever", "wishes", "goes on"]);
    assert!(found_in("a maker of mends_x, makin, renewed").is_empty());
    let source = "// \"no\"\nlet a = \"one \\\n  two\"; // 'x'\nb('\"', \"three \\\" four\")";
    let found: Vec<String> = literals(source).into_iter().map(|(_, text)| text).collect();
    assert_eq!(found, ["one two", "three four"]);
}
