//! Do pure crates stay away from files, sockets, clocks, threads and chance?

use crate::assert_none;
use crate::layers::table;
use crate::lexer::{line_of, words};
use crate::sources::crates;

/// What no pure crate may name.
const IMPURE: [&str; 17] = [
    "std::fs",
    "std::net::Tcp",
    "std::net::Udp",
    "std::net::ToSocketAddrs",
    "std::os",
    "std::process",
    "std::env",
    "std::thread",
    "std::io::stdin",
    "std::io::stdout",
    "SystemTime",
    "Instant",
    "RandomState",
    "tokio",
    "rustix",
    "async fn",
    "async move",
];

/// Which file may name what all the same, and why.
const EXCEPTIONS: [(&str, &str, &str); 3] = [
    (
        "crates/rank/src/",
        "std::thread",
        "sums over a hundred million links are divided over threads, and added in one order",
    ),
    (
        "crates/policy/src/allocate/parallel.rs",
        "std::thread",
        "sums over a million pages are divided over threads, and added in one order",
    ),
    (
        "crates/policy/src/numbers.rs",
        "RandomState",
        "servers choose the keys of a hash table, and must not know which collide; no result depends on it",
    ),
];

#[test]
fn pure_crates_have_no_files_sockets_clocks_threads_or_chance() {
    let pure: Vec<String> =
        table().into_iter().filter(|(layer, _)| layer == "pure").map(|(_, name)| name).collect();
    assert!(pure.len() > 5, "only {pure:?} are pure");
    let mut wrong = Vec::new();
    let mut used = [false; EXCEPTIONS.len()];
    for one in crates().iter().filter(|one| pure.contains(&one.name)) {
        for file in &one.files {
            for name in IMPURE {
                for at in words(&file.code, name) {
                    let excepted = EXCEPTIONS
                        .iter()
                        .position(|(path, what, _)| file.path.starts_with(path) && *what == name);
                    match excepted {
                        Some(exception) => used[exception] = true,
                        None => {
                            wrong.push(format!("{}:{}: {name}", file.path, line_of(&file.code, at)))
                        }
                    }
                }
            }
        }
    }
    assert_none("a pure crate names what is not pure:", &wrong);
    assert_eq!(used, [true; EXCEPTIONS.len()], "exceptions that nothing needs any more");
}
