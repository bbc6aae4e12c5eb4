//! `evercrawl pin`, `boost`, `pause`, `exclude`, `resume`, `wishes`: what the user wishes of a
//! crawl, while it runs or before it runs again.
//!
//! A verb first decides, by what is known, which changes it asks for; nothing is changed where it
//! cannot be done as asked. The changes are then made in one commit, by the crawl that works in
//! the data directory or, where none does, here.

mod args;
mod decide;
mod show;

use std::io::Write;

use evercrawl_engine::DataDir;
use evercrawl_engine::live::{Inbox, SystemClock};
use evercrawl_engine::walk::{OverrideChange, Walk};
use evercrawl_state::DiskStore;

use super::crawl::open_walk;
use super::{Entered, Opened, enter};
use crate::args::RunArgs;
use crate::settings::Settings;
use crate::{control, crawl_config, exit, print};
use decide::{Decided, decide};

pub(crate) use args::Override;
pub(crate) use show::standing;

/// Changed keys after which pages that were put aside or back are committed.
const COMMIT_KEYS: usize = 40_000;

/// Runs a verb here, or in the crawl that has the data directory open.
pub(crate) fn run(verb: &Override) -> anyhow::Result<u8> {
    let common = &verb.about().common;
    match enter(common, || control::forward(&common.data, &[]))? {
        Entered::Here(opened) => stopped(verb, opened),
        Entered::There(code) => Ok(code),
    }
}

/// Runs a verb in the crawl that works in the data directory.
pub(crate) fn running(
    verb: &Override,
    opened: &Opened,
    inbox: &Inbox,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    let decided = decide(verb, opened)?;
    if !decided.changes.is_empty() {
        inbox.ask(decided.changes.clone())?;
    }
    say(verb, &decided, out)
}

/// Nobody crawls: the changes are made here.
fn stopped(verb: &Override, opened: Opened) -> anyhow::Result<u8> {
    let decided = decide(verb, &opened)?;
    let Opened { state, settings, held, .. } = opened;
    // The store is opened anew, for writing; the lock is held meanwhile.
    drop(state);
    if let (Some(dir), false) = (&held, decided.changes.is_empty()) {
        change(dir, &settings, &decided.changes)?;
    }
    say(verb, &decided, &mut print::data())
}

fn change(dir: &DataDir, settings: &Settings, changes: &[OverrideChange]) -> anyhow::Result<()> {
    let config = crawl_config::crawl_config(settings, &RunArgs::default())?;
    let mut walk = open_walk(dir, settings, &config)?;
    let changed = make(&mut walk, changes);
    walk.close()?;
    changed
}

fn make(walk: &mut Walk<DiskStore>, changes: &[OverrideChange]) -> anyhow::Result<()> {
    let now = SystemClock.now();
    for change in changes {
        walk.change_override(change, now)?;
    }
    walk.commit_now()?;
    while walk.sweep(now)? {
        if walk.pending() > COMMIT_KEYS {
            walk.commit_now()?;
        }
    }
    Ok(())
}

fn say(verb: &Override, decided: &Decided, out: &mut dyn Write) -> anyhow::Result<u8> {
    if verb.about().json {
        for line in &decided.json {
            print::json_line(out, line)?;
        }
    } else {
        for line in &decided.words {
            writeln!(out, "{}", print::plain(line))?;
        }
    }
    out.flush()?;
    Ok(exit::OK)
}
