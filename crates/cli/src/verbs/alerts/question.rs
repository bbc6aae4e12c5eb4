//! How are questions about the crawl asked, again and again in one process?

use evercrawl_engine::live::SystemClock;
use evercrawl_model::Time;
use evercrawl_query::{Answer, LogRequest, LogView, Request};

use super::{from_now_on, log_part};
use crate::args::Common;
use crate::control;
use crate::verbs::{Entered, Opened, enter};

/// Somebody who answers.
pub(crate) enum Questions {
    /// The data directory is open here.
    Here(Box<Opened>),
    /// The crawl that works in it answers.
    There(std::path::PathBuf),
}

impl Questions {
    /// Here, or through the crawl that works in the data directory.
    pub(crate) fn open(common: &Common) -> anyhow::Result<Self> {
        let is_there = || Ok(control::answers(&common.data).then_some(()));
        Ok(match enter(common, is_there)? {
            Entered::Here(opened) => Questions::Here(Box::new(opened)),
            Entered::There(()) => Questions::There(common.data.clone()),
        })
    }

    /// Through the crawl that works in the data directory; `None` where none does.
    pub(crate) fn of_crawl(common: &Common) -> Option<Self> {
        control::answers(&common.data).then(|| Questions::There(common.data.clone()))
    }

    fn each(
        &self,
        request: &Request,
        take: &mut dyn FnMut(Answer) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match self {
            Questions::Here(opened) => {
                control::desk::answer(opened, request.clone(), SystemClock.now(), take)
            }
            Questions::There(data) => control::call(data, request, take)?
                .ok_or_else(|| anyhow::anyhow!("the crawl stopped; ask again")),
        }
    }

    /// One answer. A page that cannot be compared has none.
    pub(crate) fn ask(&mut self, request: Request) -> Result<Option<Answer>, String> {
        let mut found: Option<Answer> = None;
        let asked = self.each(&request, &mut |answer| {
            match (&mut found, answer) {
                (Some(Answer::History(all)), Answer::History(part)) => {
                    all.visits.extend(part.visits)
                }
                (found, answer) => *found = Some(answer),
            }
            Ok(())
        });
        match (asked, &request) {
            (Ok(()), _) => Ok(found),
            (Err(_), Request::Diff(_)) => Ok(None),
            (Err(error), _) => Err(format!("{error:#}")),
        }
    }

    /// Some rows of the log, part by part.
    pub(crate) fn parts(&mut self, request: LogRequest) -> anyhow::Result<Vec<LogView>> {
        let mut parts = Vec::new();
        self.each(&Request::Log(request), &mut |answer| {
            parts.push(log_part(answer)?);
            Ok(())
        })?;
        Ok(parts)
    }

    /// The number of the last row of the log.
    pub(crate) fn last_number(&mut self, now: Time) -> anyhow::Result<Option<u64>> {
        let mut last = None;
        self.each(&from_now_on(now), &mut |answer| {
            last = log_part(answer)?.last.or(last);
            Ok(())
        })?;
        Ok(last)
    }
}
