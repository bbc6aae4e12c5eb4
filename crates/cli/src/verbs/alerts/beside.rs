//! How are users told while a crawl runs? On a thread of its own, which asks the crawl as other verbs do. A fault in it
//! is reported and stops no crawl.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use evercrawl_engine::live::SystemClock;

use super::{Found, Questions, Round, broken, is_data_dir, outbox, read_rules, rules_path};
use crate::args::Common;
use crate::print;

/// How often the log is looked at.
const EVERY: Duration = Duration::from_secs(2);

/// Tells users while a crawl runs; nothing where the data directory has no rules.
pub(crate) struct Beside {
    common: Common,
    is_quiet: bool,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Beside {
    /// Begins; the rules are read again whenever they change.
    pub(crate) fn start(common: &Common, is_quiet: bool) -> anyhow::Result<Self> {
        // A mistake in the rules is told before the crawl, not during it.
        if read_rules(&common.data)?.is_some() && is_data_dir(&common.data) {
            begin(common)?;
        }
        let (stop, stopped) = channel();
        let own = common.clone();
        let thread = std::thread::Builder::new()
            .name("alerts".to_owned())
            .spawn(move || run(&own, &stopped, is_quiet))?;
        Ok(Beside { common: common.clone(), is_quiet, thread: Some((stop, thread)) })
    }

    /// Tells what is left, after the crawl has ended.
    pub(crate) fn finish(mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            let _ = thread.join();
        }
        let mut round = Round::new(&self.common.data);
        loop {
            let found =
                go(&mut round, &self.common, &mut || Questions::open(&self.common).map(Some));
            match tell(found, self.is_quiet) {
                Some(true) => {}
                _ => return,
            }
        }
    }
}

/// What is stored by now is not told; a crawl that only begins is judged from its first page on.
fn begin(common: &Common) -> anyhow::Result<()> {
    let mut outbox = outbox(&common.data)?;
    if outbox.has_begun() {
        return Ok(());
    }
    let last = match Questions::open(common) {
        Ok(mut questions) => questions.last_number(SystemClock.now())?,
        // There is no crawl yet.
        Err(_) => None,
    };
    outbox.begin(last).map_err(broken)
}

fn run(common: &Common, stopped: &Receiver<()>, is_quiet: bool) {
    let mut round = Round::new(&common.data);
    let mut last_trouble = String::new();
    while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        match go(&mut round, common, &mut || Ok(Questions::of_crawl(common))) {
            // What does not change is told once.
            Err(error) if format!("{error:#}") == last_trouble => {}
            found => {
                last_trouble =
                    found.as_ref().err().map_or_else(String::new, |error| format!("{error:#}"));
                tell(found, is_quiet);
            }
        }
    }
}

fn go(
    round: &mut Round,
    common: &Common,
    questions: &mut dyn FnMut() -> anyhow::Result<Option<Questions>>,
) -> anyhow::Result<Option<Found>> {
    match rules_path(&common.data).exists() && is_data_dir(&common.data) {
        true => match read_rules(&common.data)? {
            Some(rules) => round.go(&rules, questions, None).map(Some),
            None => Ok(None),
        },
        false => Ok(None),
    }
}

/// Says what became of a round; whether more is to be done.
fn tell(found: anyhow::Result<Option<Found>>, is_quiet: bool) -> Option<bool> {
    match found {
        Ok(found) => {
            let found = found?;
            for trouble in &found.sent.troubles {
                eprintln!("{}", print::plain(&format!("alerts: {trouble}")));
            }
            if !found.hits.is_empty() && !is_quiet {
                let hits = crate::units::show_counted(found.hits.len() as u64, "hit");
                eprintln!("alerts: {hits}; `evercrawl hits` lists them");
            }
            Some(found.more)
        }
        Err(error) => {
            eprintln!("{}", print::plain(&format!("alerts: {error:#}")));
            None
        }
    }
}
