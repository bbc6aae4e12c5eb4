//! `evercrawl pin`, `boost`, `pause`, `trust`, `exclude`, `resume`, `overrides`: what the user sets for
//! single URLs, patterns and hosts, while a crawl runs or is stopped.
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
use evercrawl_query::{Answer, OverrideRequest, OverridesView, Request};
use evercrawl_state::DiskStore;

use super::crawl::open_walk;
use super::{Entered, Opened, enter};
use crate::args::RunArgs;
use crate::control::unexpected;
use crate::settings::Settings;
use crate::{control, crawl_config, exit, print};
use decide::decide;

pub(crate) use args::Override;

/// Changed keys after which pages that were put aside or back are committed.
const COMMIT_KEYS: usize = 40_000;

/// Runs a verb here, or in the crawl that has the data directory open.
pub(crate) fn run(verb: &Override) -> anyhow::Result<u8> {
    let (common, asked) = (&verb.about().common, verb.request());
    let request = Request::Override(asked.clone());
    let mut show = |answer: Answer| match answer {
        Answer::Overrides(view) => write(verb, &view),
        other => Err(unexpected(&other)),
    };
    match enter(common, || control::call(&common.data, &request, &mut show))? {
        Entered::Here(opened) => write(verb, &stopped(&asked, opened)?)?,
        Entered::There(()) => {}
    }
    Ok(exit::OK)
}

/// Does what is asked in the crawl that works in the data directory.
pub(crate) fn running(
    asked: &OverrideRequest,
    opened: &Opened,
    inbox: &Inbox,
) -> anyhow::Result<OverridesView> {
    let decided = decide(asked, opened)?;
    if !decided.changes.is_empty() {
        inbox.ask(decided.changes.clone())?;
    }
    Ok(decided.view)
}

/// Nobody crawls: the changes are made here.
pub(crate) fn stopped(asked: &OverrideRequest, opened: Opened) -> anyhow::Result<OverridesView> {
    let decided = decide(asked, &opened)?;
    let Opened { state, settings, held, .. } = opened;
    // The store is opened anew, for writing; the lock is held meanwhile.
    drop(state);
    if let (Some(dir), false) = (&held, decided.changes.is_empty()) {
        change(dir, &settings, &decided.changes)?;
    }
    Ok(decided.view)
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

fn write(verb: &Override, view: &OverridesView) -> anyhow::Result<()> {
    let mut out = print::data();
    match verb.about().json {
        true => show::write_json(&mut out, view)?,
        false => show::write_text(&mut out, view)?,
    }
    Ok(out.flush()?)
}
