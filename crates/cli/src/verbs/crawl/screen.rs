//! How is a crawl shown while it runs?

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use evercrawl_engine::live::Progress;
use evercrawl_engine::walk::Walk;
use evercrawl_model::Time;
use evercrawl_query::{RunReport, Status, Survey};
use evercrawl_state::DiskStore;
use serde_json::json;

use super::Label;
use crate::control::{Posted, StatusBoard};
use crate::{print, report};

/// What counts as lately.
const LATELY: Duration = Duration::from_secs(60);

/// How often a status says anew what takes a walk through the sample to find out.
const SURVEY_EVERY: Duration = Duration::from_secs(5);

/// Shows progress: one line that changes on a terminal, a line now and then elsewhere, and a status
/// for `evercrawl status`.
pub(crate) struct Screen {
    json: bool,
    quiet: bool,
    terminal: bool,
    board: StatusBoard,
    label: Label,
    /// The data directory, in JSON.
    data: Option<String>,
    shown: Time,
    put: Time,
    /// What takes longer to find out, and when that was done.
    survey: Option<(Time, Survey)>,
    /// How many requests there had been, second by second for a minute.
    lately: VecDeque<(Time, u64)>,
    /// What was last said of a proxy that failed.
    said_of_proxy: Option<String>,
}

impl Screen {
    pub(crate) fn new(json: bool, quiet: bool, board: StatusBoard) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let (shown, put, lately) = (Time::EPOCH, Time::EPOCH, VecDeque::new());
        let (label, data) = (Label::default(), None);
        Screen {
            json,
            quiet,
            terminal,
            board,
            label,
            data,
            shown,
            put,
            survey: None,
            lately,
            said_of_proxy: None,
        }
    }

    /// The same for one data directory of several: its lines name it, and do not overwrite those of others.
    pub(super) fn labelled(self, label: &Label, dir: &Path) -> Self {
        let terminal = self.terminal && !label.is_one_of_several();
        let data = Some(dir.display().to_string());
        Screen { terminal, label: label.clone(), data, ..self }
    }

    pub(crate) fn show(&mut self, progress: &Progress, walk: &Walk<DiskStore>) {
        if progress.at.since(self.put) >= Duration::from_secs(1) {
            self.put = progress.at;
            self.put_status(progress, walk);
        }
        self.tell_of_proxy(progress);
        let every = if self.terminal && !self.json { 200 } else { 10_000 };
        if self.quiet || progress.at.since(self.shown) < Duration::from_millis(every) {
            return;
        }
        self.shown = progress.at;
        if self.json {
            let run = RunReport::of(progress);
            let line = json!({"event": "progress", "data": self.data, "run": run});
            // The reader may go away; the crawl continues.
            let _ = writeln!(std::io::stdout(), "{line}");
        } else if self.terminal {
            eprint!("\r\x1b[2K{}", fit(&report::progress_line(progress)));
            let _ = std::io::stderr().flush();
        } else {
            self.label.print(&report::progress_line(progress));
        }
    }

    /// Says each time that a proxy fails why nothing is fetched through it.
    fn tell_of_proxy(&mut self, progress: &Progress) {
        let Some(trouble) = &progress.proxy_trouble else { return };
        if self.said_of_proxy.as_ref() != Some(trouble) {
            self.clear();
            self.label.print(&print::plain(trouble));
            self.said_of_proxy = Some(trouble.clone());
        }
    }

    /// Puts up how the run is doing, for other verbs. What cannot be found out now is found out next time.
    fn put_status(&mut self, progress: &Progress, walk: &Walk<DiskStore>) {
        let last = self.survey.as_ref().map_or(Time::EPOCH, |(at, _)| *at);
        if progress.at.since(last) >= SURVEY_EVERY
            && let Ok(survey) = Survey::of_walk(walk, progress.at)
        {
            self.survey = Some((progress.at, survey));
        }
        let lately = self.lately(progress);
        if let Some((_, survey)) = &self.survey
            && let Ok(status) = Status::of_walk(progress, walk, lately, survey.clone())
        {
            let (next, meters) = (progress.next.distribution(), walk.meters());
            self.board.put(Posted { status, next, meters });
        }
    }

    /// Requests a second in the last minute, or since the run began.
    fn lately(&mut self, progress: &Progress) -> f64 {
        let requests = progress.tally.pages + progress.tally.robots;
        if self.lately.is_empty() {
            self.lately.push_back((progress.began, 0));
        }
        while self.lately.len() > 1 && progress.at.since(self.lately[0].0) > LATELY {
            self.lately.pop_front();
        }
        let (since, before) = self.lately[0];
        self.lately.push_back((progress.at, requests));
        requests.saturating_sub(before) as f64 / progress.at.since(since).as_secs_f64().max(1.0)
    }

    pub(crate) fn clear(&self) {
        if self.terminal && !self.json && !self.quiet {
            eprint!("\r\x1b[2K");
        }
    }
}

/// As much of a line as the terminal is wide.
fn fit(line: &str) -> String {
    let width = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(100, |size| size.ws_col);
    line.chars().take(usize::from(width.max(20)) - 1).collect()
}
