//! Are the commands in the README and in the guide commands that the program takes?

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use crate::args::Cli;

/// All documents: those at the root, and all below `docs`.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["", "docs", "docs/internals", "docs/measured", "bench"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let paths = files.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "md")).collect()
}

/// The name by which a link can point at a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars();
    let kept = kept.filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Where the links of a page lead that are not on the web: file and anchor.
fn links(page: &str) -> Vec<(String, String)> {
    let prose: Vec<&str> = page.split("\n```").step_by(2).collect();
    let prose = prose.join("\n");
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.contains("://") && !target.contains(' '));
    local
        .map(|target| {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            (file.to_owned(), anchor.to_owned())
        })
        .collect()
}

#[test]
fn every_link_between_documents_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    for path in pages() {
        for (file, wanted) in links(&fs::read_to_string(&path).unwrap()) {
            let target =
                if file.is_empty() { path.clone() } else { path.parent().unwrap().join(&file) };
            let text = fs::read_to_string(&target).unwrap_or_default();
            let found = text.lines().any(|line| line.starts_with('#') && anchor(line) == wanted);
            if !target.exists() || (!wanted.is_empty() && !found) {
                wrong.push(format!("{}: {file}#{wanted}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines between fences; a line that ends with a backslash continues in the next.
fn shown(page: &str) -> String {
    let blocks = page.split("\n```").skip(1).step_by(2);
    let lines: Vec<&str> = blocks.filter_map(|block| Some(block.split_once('\n')?.1)).collect();
    lines.join("\n").replace("\\\n", " ")
}

/// The commands of a line of a shell, word by word: those that begin where a command can, up to what is the shell's.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut found, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let (mut quote, mut before) = (None, ' ');
    for c in line.chars().chain(['\n']) {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c == '#' && before == ' ' => break,
            None if c.is_whitespace() => words.extend(word.take()),
            None if "|;&<>()`".contains(c) => {
                words.extend(word.take());
                found.push(std::mem::take(&mut words));
            }
            None => word.get_or_insert_default().push(c),
        }
        before = c;
    }
    words.extend(word);
    found.push(words);
    found
}

/// The calls of the program among the commands of a page.
fn calls(page: &str) -> Vec<Vec<String>> {
    let lines = shown(page);
    let all = lines.lines().flat_map(|line| commands(line.trim_start_matches("$ ")));
    let of_ours = all.filter(|words| words.first().is_some_and(|word| word == "evercrawl"));
    // A shell would put something in place of these.
    of_ours.filter(|words| !words.iter().any(|word| word.contains('$') || word == "..")).collect()
}

#[test]
fn every_command_that_is_shown_is_one_that_is_taken() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for path in pages() {
        for call in calls(&fs::read_to_string(&path).unwrap()) {
            seen += 1;
            if let Err(error) = Cli::try_parse_from(&call)
                && error.use_stderr()
            {
                wrong.push(format!("{}: {}: {error}", path.display(), call.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 100, "{seen} commands were found");
}

#[test]
fn commands_are_found_as_a_shell_finds_them() {
    let page = "x\n```\n$ evercrawl why 'a b' --data d | evercrawl urls # evercrawl no\nevercrawl changes \\\n  --follow > f\nevercrawl: said\n```\nevercrawl outside\n";
    let expected: [&[&str]; 3] = [
        &["evercrawl", "why", "a b", "--data", "d"],
        &["evercrawl", "urls"],
        &["evercrawl", "changes", "--follow"],
    ];
    assert_eq!(calls(page), expected);
}
