//! Are files and functions short enough to be read in one go?

use crate::assert_none;
use crate::lexer::{closing, line_of, name_at, words};
use crate::sources::{File, crates};

const LONGEST_FILE: usize = 600;
const LONGEST_FUNCTION: usize = 60;

/// What is longer all the same: a file, or a function by its file and name; and why.
const EXCEPTIONS: [(&str, &str); 0] = [];

#[test]
fn files_and_functions_are_short() {
    let mut long = Vec::new();
    for file in crates().iter().flat_map(|one| &one.files) {
        let lines = file.text.lines().count();
        if lines > LONGEST_FILE {
            long.push((file.path.clone(), lines));
        }
        let functions = functions(file).into_iter().filter(|(_, lines)| *lines > LONGEST_FUNCTION);
        long.extend(functions.map(|(name, lines)| (format!("{} {name}", file.path), lines)));
    }
    let excepted = |what: &str| EXCEPTIONS.iter().any(|(exception, _)| *exception == what);
    let wrong: Vec<String> = long
        .iter()
        .filter(|(what, _)| !excepted(what))
        .map(|(what, lines)| format!("{what}: {lines} lines"))
        .collect();
    assert_none("a file is over 600 lines long, or a function over 60:", &wrong);
    let is_long = |what: &str| long.iter().any(|(long, _)| long == what);
    let stale: Vec<String> = EXCEPTIONS
        .iter()
        .filter(|(what, _)| !is_long(what))
        .map(|(what, _)| (*what).to_owned())
        .collect();
    assert_none("exceptions that nothing needs any more:", &stale);
}

/// The functions of a file with their lengths in lines, from their names to their last braces.
fn functions(file: &File) -> Vec<(String, usize)> {
    let code = &file.code;
    words(code, "fn ")
        .filter_map(|at| {
            let name = name_at(code, at + 3);
            let open = at + code[at..].find(['{', ';'])?;
            let is_declared_only = code.as_bytes()[open] == b';';
            let lines = line_of(code, closing(code, open)) - line_of(code, at) + 1;
            (!name.is_empty() && !is_declared_only).then(|| (name.to_owned(), lines))
        })
        .collect()
}

#[test]
fn lengths_are_counted() {
    let file = File {
        path: String::new(),
        module: Vec::new(),
        text: String::new(),
        code: "fn a() {\n if x {\n }\n}\nfn b(\n c: u8,\n) -> d { e }\nx: fn (u8);".to_owned(),
    };
    assert_eq!(functions(&file), [("a".to_owned(), 4), ("b".to_owned(), 3)]);
}
