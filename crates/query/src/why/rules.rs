//! May the URL be fetched? By scope and rules, by robots.txt, and by what the user set.

use std::sync::{Arc, RwLock};

use evercrawl_engine::links::LinkReader;
use evercrawl_engine::walk::{keeps_waiting, read_robots, scope};
use evercrawl_model::{Override, PageKey};
use evercrawl_state::{PageRow, Store};
use evercrawl_urls::{Patterns, Scope, UrlFilter};

use super::{Inputs, Question, RobotsLine, RobotsStep, ScopeStep, Step, Verdict};
use crate::code::{At, Code};
use crate::overrides::OverrideView;
use crate::source::QueryError;

/// Seeds up to this number are read to tell whether a known page is still in scope.
const SEEDS_READ: usize = 1000;

impl<S: Store> Question<'_, S> {
    pub(super) fn scope(&self, row: Option<&PageRow>) -> Result<Step, QueryError> {
        let (state, config) = (self.source.state, self.config);
        // A seed is in scope by itself, and where there are too many seeds to read, so is what was found.
        let found = row.is_some_and(|row| row.seed || state.seeds().nth(SEEDS_READ).is_some());
        let scope = if found {
            let mut alone = Scope::new(config.scope);
            alone.add(self.url);
            alone
        } else {
            scope(config.scope, state)?
        };
        let rules = self.overrides.rules(&config.rules);
        let gate = UrlFilter::new(scope, rules).map_err(evercrawl_engine::EngineError::from)?;
        let links = LinkReader::new(&config.reading, Arc::new(RwLock::new(gate)), state.keyer());
        let depth = row.map_or(0, |row| row.depth);
        let (reason, rule) = links.verdict(self.url, depth, self.source.now).err().unzip();
        let verdict = if reason.is_some() { Verdict::Refuse } else { Verdict::Pass };
        Ok(Step::new(Inputs::Scope(ScopeStep { reason: reason.map(Code), rule }), verdict))
    }

    pub(super) fn robots(&self) -> Result<Step, QueryError> {
        let Some(copy) = self.source.state.robots(self.url.origin())? else {
            let step = RobotsStep {
                fetched: None,
                status: None,
                allowed: None,
                line: None,
                retry_at: None,
            };
            return Ok(Step::info(Inputs::Robots(step)));
        };
        let status = Some(copy.status).filter(|status| *status > 0);
        let fetched = Some(At(copy.at));
        if keeps_waiting(&copy) {
            let retry_at = Some(At(copy.expires));
            let step = RobotsStep { fetched, status, allowed: None, line: None, retry_at };
            return Ok(Step::new(Inputs::Robots(step), Verdict::Wait));
        }
        let robots = read_robots(&copy, &self.config.reading.agent);
        let said = robots.verdict(self.url.path_and_query());
        let line = said.line.map(|line| RobotsLine { number: line.number, text: line.text.into() });
        let allowed = Some(said.allowed);
        let step = RobotsStep { fetched, status, allowed, line, retry_at: None };
        let verdict = if said.allowed { Verdict::Pass } else { Verdict::Refuse };
        Ok(Step::new(Inputs::Robots(step), verdict))
    }

    /// What the user set for the URL, its host, or a pattern that it matches.
    pub(super) fn user_overrides(&self, page: Option<PageKey>) -> Result<Vec<Step>, QueryError> {
        let mut steps = Vec::new();
        for (user_override, since) in self.source.state.overrides()? {
            if self.is_concerned(&user_override, page)? {
                let verdict = match user_override {
                    Override::Exclude { .. } => Verdict::Refuse,
                    Override::Pause { .. } => Verdict::Wait,
                    Override::Pin { .. } | Override::Boost { .. } | Override::Trust { .. } => {
                        Verdict::Info
                    }
                };
                let view = OverrideView::new(&user_override, since);
                steps.push(Step::new(Inputs::Override(view), verdict));
            }
        }
        Ok(steps)
    }

    fn is_concerned(
        &self,
        user_override: &Override,
        page: Option<PageKey>,
    ) -> Result<bool, QueryError> {
        Ok(match user_override {
            Override::Pin { page: pinned, .. } => page == Some(*pinned),
            Override::Pause { host, .. } | Override::Trust { host, .. } => self.host == *host,
            Override::Boost { pattern, .. } | Override::Exclude { pattern } => {
                Patterns::new(user_override.code(), std::slice::from_ref(pattern))
                    .map_err(evercrawl_engine::EngineError::from)?
                    .is_match(self.url.as_str())
            }
        })
    }
}
