//! Which pages does urlwatch's `urls.yaml` name? One document for each job; what is in it beside the address is named.
//!
//! Only the part of YAML is read that this file needs: documents between `---`, and keys at the beginning of lines.
//! What stands below a key and is indented belongs to it.

use std::io::{self, BufRead};

use super::LONGEST_LINE;
use crate::found::{FoundSeed, Place, Taker};
use crate::lines::{Line, Lines};

/// Keys that nothing is lost with.
const IDLE: [&str; 3] = ["name", "kind", "note"];

/// Reads a list of jobs.
pub(crate) fn read_urlwatch(input: impl BufRead, take: &mut dyn Taker) -> io::Result<()> {
    let mut lines = Lines::new(input, LONGEST_LINE);
    let mut job = Job::default();
    while let Some((number, line)) = lines.next()? {
        let Line::Text(text) = line else {
            take.refuse(Place::Line(number), "the line is too long");
            continue;
        };
        if text.starts_with("---") || text.starts_with("...") {
            std::mem::take(&mut job).finish(take);
        } else if let Some((key, value)) = key_and_value(&text) {
            job.line = if job.line == 0 { number } else { job.line };
            job.key(key, &value);
        }
    }
    job.finish(take);
    Ok(())
}

#[derive(Default)]
struct Job {
    line: u64,
    url: Option<String>,
    is_command: bool,
    is_rendered: bool,
    others: Vec<String>,
}

impl Job {
    fn key(&mut self, key: &str, value: &str) {
        match key {
            "url" => self.url = Some(value.to_owned()),
            "navigate" => (self.url, self.is_rendered) = (Some(value.to_owned()), true),
            "command" => self.is_command = true,
            key if IDLE.contains(&key) => {}
            key => self.others.push(key.chars().take(40).collect()),
        }
    }

    fn finish(self, take: &mut dyn Taker) {
        let place = Place::Line(self.line);
        if self.is_command {
            return take.refuse(place, "a job that runs a command");
        }
        let Some(url) = self.url.filter(|url| !url.is_empty()) else {
            return match self.line {
                0 => {}
                _ => take.refuse(place, "a job without a URL"),
            };
        };
        for key in &self.others {
            take.refuse(
                place.clone(),
                &format!("`{key}` of urlwatch; the URL is taken without it"),
            );
        }
        if self.is_rendered {
            take.refuse(
                place.clone(),
                "`navigate` of urlwatch (a browser); the URL is fetched without one",
            );
        }
        take.seed(place, FoundSeed::new(url));
    }
}

/// The key that a line begins with, and its value without quotation marks; `None` of comments, and of what belongs to
/// the key before.
fn key_and_value(line: &str) -> Option<(&str, String)> {
    if line.starts_with([' ', '\t', '#', '-', '%', '}', ']']) {
        return None;
    }
    let (key, value) = line.split_once(':')?;
    let value = value.trim();
    let is_key = !key.is_empty()
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '"' | '\''));
    let unquoted = |mark: char| {
        value.strip_prefix(mark).and_then(|rest| rest.rsplit_once(mark)).map(|(text, _)| text)
    };
    let plain = || value.split(" #").next().unwrap_or_default().trim();
    let value = unquoted('"').or_else(|| unquoted('\'')).unwrap_or_else(plain);
    is_key.then(|| (key.trim_matches(['"', '\'']), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::testing::Kept;

    #[test]
    fn jobs_are_read_and_what_is_not_taken_is_named() {
        let mut kept = Kept::default();
        let text = "# jobs\nname: \"A: b\"\nurl: \"http://a.test/?x=1#y\" # note\nfilter:\n  - css: main\n  - url: http://no/\n\
                    max_tries: 2\n---\nurl: http://b.test/\n---\ncommand: ls\n---\nname: none\n---\nnavigate: 'http://c.test/'\n";
        read_urlwatch(text.as_bytes(), &mut kept).unwrap();
        assert_eq!(kept.urls(), ["http://a.test/?x=1#y", "http://b.test/", "http://c.test/"]);
        let want = ["`filter`", "`max_tries`", "a job that runs", "a job without", "`navigate`"];
        assert_eq!(kept.refused.len(), want.len(), "{:?}", kept.refused);
        for (line, word) in kept.refused.iter().zip(want) {
            assert!(line.contains(word), "{line}");
        }
    }
}
