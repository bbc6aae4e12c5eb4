//! `evercrawl push`: reports changed URLs to a running or stopped crawl.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use evercrawl_engine::live::{Inbox, SystemClock};
use evercrawl_engine::walk::SignalCounts;
use evercrawl_query::{Answer, PushRequest, PushView, Request};
use evercrawl_urls::Canonical;

use super::crawl::open_walk;
use super::{Entered, Opened, enter};
use crate::args::{Push, RunArgs};
use crate::control::unexpected;
use crate::exit::{self, Failure};
use crate::settings::Settings;
use crate::units::show_count;
use crate::{control, crawl_config, print};

/// URLs that a running crawl is told at a time, and their bytes: it does nothing else meanwhile.
const PIECE: usize = 2000;
const PIECE_BYTES: usize = 128 << 10;
/// The longest URL that is taken.
const LONGEST: usize = 8 << 10;
/// Changed keys after which what was pushed so far is committed.
const COMMIT_KEYS: usize = 40_000;
/// URLs that cannot be used and are named.
const EXAMPLES: usize = 10;

/// Tells the crawl that has the data directory open, or notes it here for the next one.
pub(crate) fn run(args: &Push) -> anyhow::Result<u8> {
    // Standard input is read once: only when somebody is there to take it.
    let ask = || if control::answers(&args.common.data) { forward(args) } else { Ok(None) };
    let pushed = match enter(&args.common, ask)? {
        Entered::Here(opened) => stopped(args, opened)?,
        Entered::There(pushed) => pushed,
    };
    if pushed.0.given == 0 {
        return Err(Failure::usage("nothing to push; give URLs, or `-` to read them from stdin"));
    }
    pushed.say(args.json)
}

/// Tells the crawl that works in the data directory.
pub(crate) fn running(
    asked: &PushRequest,
    opened: &Opened,
    inbox: &Inbox,
) -> anyhow::Result<PushView> {
    let mut pushed = Pushed::default();
    let urls = pushed.read(&opened.settings, &asked.urls);
    pushed.count(&inbox.signal(urls)?);
    Ok(pushed.0)
}

/// Nobody crawls: the pages are due sooner when somebody does.
fn stopped(args: &Push, opened: Opened) -> anyhow::Result<Pushed> {
    note(opened, |each| in_pieces(&args.urls, each))
}

/// The same for a request.
pub(crate) fn noted(asked: &PushRequest, opened: Opened) -> anyhow::Result<PushView> {
    note(opened, |each| asked.urls.chunks(PIECE).try_for_each(each)).map(|pushed| pushed.0)
}

/// Notes the URLs that `read` hands on, in pieces.
fn note(
    opened: Opened,
    read: impl FnOnce(&mut dyn FnMut(&[String]) -> anyhow::Result<()>) -> anyhow::Result<()>,
) -> anyhow::Result<Pushed> {
    let Opened { state, settings, held, .. } = opened;
    // The store is opened anew, for writing; the lock is held meanwhile.
    drop(state);
    let Some(dir) = held else { return Ok(Pushed::default()) };
    let config = Arc::new(crawl_config::crawl_config(&settings, &RunArgs::default())?);
    let mut walk = open_walk(&dir, &settings, &config)?;
    let mut pushed = Pushed::default();
    let read = read(&mut |piece| {
        let urls = pushed.read(&settings, piece);
        pushed.count(&walk.signal_all(&urls, SystemClock.now())?);
        if walk.pending() > COMMIT_KEYS {
            walk.commit_now()?;
        }
        Ok(())
    });
    walk.close()?;
    read.map(|()| pushed)
}

/// Hands all to the crawl, in pieces; `None` when nobody answers.
fn forward(args: &Push) -> anyhow::Result<Option<Pushed>> {
    let (mut pushed, mut silent) = (Pushed::default(), false);
    in_pieces(&args.urls, |piece| {
        let request = Request::Push(PushRequest { urls: piece.to_owned() });
        let mut add = |answer: Answer| match answer {
            Answer::Pushed(part) => {
                pushed.add(part);
                Ok(())
            }
            other => Err(unexpected(&other)),
        };
        silent |= control::call(&args.common.data, &request, &mut add)?.is_none();
        Ok(())
    })?;
    Ok((!silent).then_some(pushed))
}

/// Calls `each` for some of what was given at a time; `-` stands for the lines of standard input.
fn in_pieces(
    given: &[String],
    mut each: impl FnMut(&[String]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut piece = Piece::default();
    for text in given {
        if text != "-" {
            piece.take(text, &mut each)?;
            continue;
        }
        for line in io::stdin().lock().lines() {
            let line = line
                .map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
            if let Some(url) = url_of(&line) {
                piece.take(url, &mut each)?;
            }
        }
    }
    if piece.urls.is_empty() { Ok(()) } else { each(&piece.urls) }
}

/// What is handed on together.
#[derive(Default)]
struct Piece {
    urls: Vec<String>,
    bytes: usize,
}

impl Piece {
    /// Takes one more, after handing on the others where there is no room.
    fn take(
        &mut self,
        url: &str,
        each: &mut impl FnMut(&[String]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if url.len() > LONGEST {
            let message = format!(
                "a URL of {} bytes is too long; at most {LONGEST} bytes are allowed",
                url.len()
            );
            return Err(Failure::usage(message));
        }
        if self.urls.len() >= PIECE || self.bytes + url.len() > PIECE_BYTES {
            each(&self.urls)?;
            *self = Piece::default();
        }
        self.bytes += url.len();
        self.urls.push(url.to_owned());
        Ok(())
    }
}

/// The URL on a line, if it is not empty or a comment.
pub(crate) fn url_of(line: &str) -> Option<&str> {
    Some(line.trim()).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// What came of a push.
#[derive(Debug, Default)]
pub(crate) struct Pushed(pub(crate) PushView);

impl Pushed {
    /// The URLs that can be used among `texts`; the others are counted.
    pub(crate) fn read(&mut self, settings: &Settings, texts: &[String]) -> Vec<Canonical> {
        let mut urls = Vec::with_capacity(texts.len());
        for text in texts {
            self.0.given += 1;
            match super::canonical(settings, text) {
                Ok(url) => urls.push(url),
                Err(error) => {
                    self.0.unusable += 1;
                    self.exemplify(error.to_string());
                }
            }
        }
        urls
    }

    fn exemplify(&mut self, example: String) {
        if self.0.examples.len() < EXAMPLES {
            self.0.examples.push(example);
        }
    }

    /// Counts what the crawl made of them.
    pub(crate) fn count(&mut self, told: &SignalCounts) {
        self.0.known += told.known;
        self.0.new += told.new;
        for (reason, count) in told.refused.iter() {
            *self.0.refused.entry(reason.to_string()).or_default() += count;
        }
    }

    fn add(&mut self, other: PushView) {
        self.0.given += other.given;
        self.0.known += other.known;
        self.0.new += other.new;
        self.0.unusable += other.unusable;
        for (reason, count) in other.refused {
            *self.0.refused.entry(reason).or_default() += count;
        }
        other.examples.into_iter().for_each(|example| self.exemplify(example));
    }

    fn say(&self, json: bool) -> anyhow::Result<u8> {
        for example in &self.0.examples {
            eprintln!("evercrawl: {}", print::complaint(example));
        }
        let mut out = print::data();
        if json {
            print::json_line(&mut out, &self.0)?;
        } else {
            writeln!(out, "{}", self.words())?;
        }
        out.flush()?;
        Ok(match self.0.known + self.0.new {
            0 if self.0.unusable == self.0.given => exit::USAGE,
            0 => exit::UNEXPECTED,
            _ => exit::OK,
        })
    }

    fn words(&self) -> String {
        let mut words =
            format!("{} known, {} new", show_count(self.0.known), show_count(self.0.new));
        for (reason, count) in &self.0.refused {
            words += &format!(", {} refused ({reason})", show_count(*count));
        }
        if self.0.unusable > 0 {
            words += &format!(", {} invalid", show_count(self.0.unusable));
        }
        words
    }
}
