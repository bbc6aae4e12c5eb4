//! Are the commands in the README and in the guide commands that the program takes?

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use crate::args::Cli;

/// The README and all pages of the guide.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> =
        guide.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    pages.push(root.join("README.md"));
    pages
}

/// The lines between fences; what ends with a backslash goes on in the next.
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
