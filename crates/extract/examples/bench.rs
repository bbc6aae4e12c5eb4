//! What does reading a page cost? CPU time of the HTML pass over a corpus of pages, beside a bare
//! tokenizer pass, which is the floor.
//!
//! `cargo run --release -p evercrawl-extract --example bench -- DIRECTORY [PAGES]`

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evercrawl_extract::html::{Extractor, HtmlOptions, LinkKind};
use html5gum::{Emitter, Error, State, Tokenizer};
use url::Url;

const ROUNDS: usize = 5;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
    let most = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1500);
    let pages = read_pages(Path::new(&directory), most);
    let bytes: usize = pages.iter().map(String::len).sum();
    say(&format!("{} pages, {} bytes each", pages.len(), bytes / pages.len().max(1)));

    let mut extractor = Extractor::new();
    let options = HtmlOptions::default();
    let Ok(base) = Url::parse("https://docs.example.org/a/b/c.html") else { return };
    let with_anchors = HtmlOptions { anchor_text: true, ..HtmlOptions::default() };
    report("bare tokenizer", &pages, |page| {
        let Ok(()) = Tokenizer::new_with_emitter(page, Nothing::default()).finish();
        0
    });
    report("extract", &pages, |page| extractor.extract_html(page, &options).links.len());
    report("extract, anchor text", &pages, |page| {
        extractor.extract_html(page, &with_anchors).links.len()
    });
    report("extract, resolve anchors", &pages, |page| {
        let links = &extractor.extract_html(page, &options).links;
        let anchors = links.iter().filter(|link| link.kind == LinkKind::Anchor);
        anchors.filter(|link| !link.href.starts_with('#') && base.join(link.href).is_ok()).count()
    });
}

/// Prints the best of some rounds: noise only ever adds.
fn report(name: &str, pages: &[String], mut work: impl FnMut(&str) -> usize) {
    let bytes: usize = pages.iter().map(String::len).sum();
    let mut best = Duration::MAX;
    let mut links = 0;
    for _ in 0..ROUNDS {
        let start = cpu_time();
        links = pages.iter().map(|page| work(page)).sum();
        best = best.min(cpu_time() - start);
    }
    let each = best.as_secs_f64() / pages.len().max(1) as f64;
    let speed = bytes as f64 / best.as_secs_f64() / 1e6;
    say(&format!("{name:28} {:.4} ms a page  {speed:6.0} MB/s  {links} links", each * 1e3));
}

/// Time that this thread has spent on a processor, which other programs disturb less than the
/// clock on the wall. Linux tells it in nanoseconds.
fn cpu_time() -> Duration {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = line.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(spent.unwrap_or_default())
}

#[allow(clippy::print_stdout, reason = "the figures are what the program is for")]
fn say(line: &str) {
    println!("{line}");
}

fn read_pages(directory: &Path, most: usize) -> Vec<String> {
    let mut files = Vec::new();
    find_pages(directory, &mut files);
    files.sort();
    // Spread over the whole corpus rather than its first directories.
    let step = (files.len() / most.max(1)).max(1);
    files.iter().step_by(step).filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

fn find_pages(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find_pages(&path, files);
        } else if path.extension().is_some_and(|end| end == "html") {
            files.push(path);
        }
    }
}

/// An emitter that does only what the tokenizer cannot do without: it finds the end of raw text.
#[derive(Default)]
struct Nothing {
    name: [u8; 8],
    length: usize,
    is_end: bool,
    raw: Option<&'static [u8]>,
}

impl Nothing {
    fn name(&self) -> &[u8] {
        self.name.get(..self.length).unwrap_or_default()
    }
}

impl Emitter for Nothing {
    type Token = Infallible;
    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn should_emit_errors(&mut self) -> bool {
        false
    }
    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }
    fn emit_string(&mut self, _: &[u8]) {}
    fn init_start_tag(&mut self) {
        (self.length, self.is_end) = (0, false);
    }
    fn init_end_tag(&mut self) {
        (self.length, self.is_end) = (0, true);
    }
    fn init_comment(&mut self) {}
    fn emit_current_tag(&mut self) -> Option<State> {
        if self.is_end {
            return None;
        }
        let (raw, state): (&'static [u8], _) = match self.name() {
            b"script" => (b"script", State::ScriptData),
            b"style" => (b"style", State::RawText),
            b"title" => (b"title", State::RcData),
            _ => return None,
        };
        self.raw = Some(raw);
        Some(state)
    }
    fn emit_current_comment(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_self_closing(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_tag_name(&mut self, piece: &[u8]) {
        let end = self.length + piece.len();
        if let Some(free) = self.name.get_mut(self.length..end) {
            free.copy_from_slice(piece);
        }
        self.length = end;
    }
    fn push_comment(&mut self, _: &[u8]) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn init_attribute(&mut self) {}
    fn push_attribute_name(&mut self, _: &[u8]) {}
    fn push_attribute_value(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && self.raw == Some(self.name())
    }
}
