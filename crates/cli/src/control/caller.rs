//! How does a verb ask the crawl that works in its data directory?

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use evercrawl_query::{Answer, Call, Request};

use super::{at_any_depth, failure};
use crate::exit::{self, Failure};

/// True when a crawl that works in `dir` can be asked.
pub(crate) fn answers(dir: &Path) -> bool {
    at_any_depth(dir, |socket| UnixStream::connect(socket)).is_ok()
}

/// Asks the crawl that works in `dir`, and hands each part of the answer to `show` as it comes. `None` when
/// nobody answers.
pub(crate) fn call(
    dir: &Path,
    request: &Request,
    show: &mut dyn FnMut(Answer) -> anyhow::Result<()>,
) -> anyhow::Result<Option<()>> {
    let Ok(mut crawl) = at_any_depth(dir, |socket| UnixStream::connect(socket)) else {
        return Ok(None);
    };
    let mut line = serde_json::to_vec(&Call::new(request.clone()))?;
    line.push(b'\n');
    // Where it is not taken whole, the answer says why.
    let _ = crawl.write_all(&line);
    let mut answers = BufReader::new(crawl);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A crawl that is killed may reset the connection.
        let read = answers.read_until(b'\n', &mut line).unwrap_or(0);
        if read == 0 {
            return Err(interrupted());
        }
        match serde_json::from_slice(&line) {
            Ok(Answer::End) => return Ok(Some(())),
            Ok(Answer::Failed(failed)) => return Err(failure(failed).into()),
            Ok(part) => show(part)?,
            Err(_) if line.last() != Some(&b'\n') && line.starts_with(b"{") => {
                return Err(interrupted());
            }
            Err(error) => return Err(not_understood(dir, &error)),
        }
    }
}

fn interrupted() -> anyhow::Error {
    let message = "the crawl stopped while output was pending; ask again".to_owned();
    Failure { code: exit::INTERRUPTED, message }.into()
}

fn not_understood(dir: &Path, error: &serde_json::Error) -> anyhow::Error {
    let message = format!(
        "the answer of the crawl in {} is not understood ({error}); use the same version of \
         Evercrawl for the crawl and for this command",
        dir.display()
    );
    Failure { code: exit::STORAGE, message }.into()
}

/// A part of an answer that the request does not ask for.
pub(crate) fn unexpected(part: &Answer) -> anyhow::Error {
    let text = serde_json::to_string(part).unwrap_or_default();
    let start: String = text.chars().take(60).collect();
    let message = format!("the crawl answered another question than was asked: {start}");
    Failure { code: exit::STORAGE, message }.into()
}
