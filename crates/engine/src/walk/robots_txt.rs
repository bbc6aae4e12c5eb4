//! What does a robots.txt that was asked for mean? Rules for its origin, lists of pages, a pause for its host.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_metrics::{BlockCause, RobotsOutcome};
use evercrawl_model::{Event, HostUpdate, Outcome, Refusal, RobotsCopy, Time};
use evercrawl_robots::{Access, RobotsTxt, availability};
use evercrawl_state::{StateError, Store, View};
use evercrawl_urls::Base;

use super::Walk;
use super::consequences::{Consequence, Consequences, Note};
use super::steps::host_pace;
use crate::EngineError;
use crate::config::WalkConfig;
use crate::frontier::{Lease, RobotsRules};
use crate::links::LinkReader;
use crate::robots::{keeps_waiting, read_robots};
use crate::schedule::is_overload_status;

/// How long a robots.txt is believed.
const ROBOTS_FRESH: Duration = Duration::from_secs(24 * 3600);
/// How long the last good copy stays in force while robots.txt is unreachable.
const ROBOTS_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long to wait before asking again for one that its host would not give.
const ROBOTS_RETRY: Duration = Duration::from_secs(3600);

/// A robots.txt that was asked for.
#[derive(Debug)]
pub struct RobotsAnswer {
    /// Scheme, host and port.
    pub origin: String,
    /// The page that it was asked for.
    pub lease: Box<Lease>,
    /// The final status; `None` where no answer came.
    pub status: Option<u16>,
    /// How the request ended.
    pub outcome: Outcome,
    /// True when the host's address is one that we do not connect to.
    pub forbidden: bool,
    /// How long a pause the host asked for.
    pub asked_pause: Option<Duration>,
    /// The body.
    pub body: Vec<u8>,
    /// True when the body arrived whole, as far as it is read.
    pub is_whole: bool,
    /// The host's address.
    pub ip: Option<IpAddr>,
    /// How long it took.
    pub took: Duration,
}

impl RobotsAnswer {
    /// What the answer means. A robots.txt that did not arrive whole is unreachable: what is missing may forbid what
    /// the rest allows.
    fn access(&self) -> Access {
        match availability(self.status) {
            Access::Parse if !self.is_whole => Access::DisallowAll,
            access => access,
        }
    }

    /// Whether the host, not only its robots.txt, is to be left alone: it did not answer, or asked for that.
    fn wants_rest(&self) -> bool {
        self.asked_pause.is_some() || self.status.is_none_or(is_overload_status)
    }
}

impl<S: Store> Walk<S> {
    /// Nothing is allowed until robots.txt can be had: the whole host waits, its pages stay. Returns when to ask again,
    /// and the copy to go by meanwhile.
    fn robots_cannot_be_had(
        &mut self,
        answer: &RobotsAnswer,
        update: &mut HostUpdate,
        now: Time,
    ) -> Result<(Time, Option<RobotsCopy>), EngineError> {
        let asked = answer.asked_pause.or(answer.status.map(|_| ROBOTS_RETRY));
        let jitter = host_pace::jitter(answer.lease.page, now, self.seed);
        let again =
            now.after(host_pace::backoff(&self.config.schedule, &answer.lease, asked, jitter));
        let kept = kept_copy(self.ledger.view(), &answer.origin, now)?;
        if kept.is_none() || answer.wants_rest() {
            self.counts.host_blocked(answer.asked_pause, BlockCause::Robots);
            host_pace::block(&answer.lease, again, &mut self.ledger.frontier, update, now);
        }
        Ok((again, kept))
    }

    /// A robots.txt came, or did not.
    pub fn robots(&mut self, answer: RobotsAnswer, now: Time) -> Result<(), EngineError> {
        let (page, access) = (answer.lease.page, answer.access());
        self.ledger.frontier.end_robots_request(page.host);
        if answer.forbidden {
            self.counts.meters.count_robots_fetch(RobotsOutcome::PrivateAddress);
            return self.refuse(&answer.lease, Refusal::PrivateAddress, None, now);
        }
        self.counts.hosts.robots(page.host, robots_outcome(&answer));
        self.counts.robots_fetched(access, answer.asked_pause);
        let mut update = HostUpdate { ip: answer.ip, ..HostUpdate::default() };
        if answer.status.is_none() && answer.lease.row.guess && answer.lease.row.seed {
            self.ledger.frontier.record_answer(page.host, answer.ip, answer.took, now);
            // A bare domain does not answer by `https`: it is tried by `http`.
            let twin = self.links.plain_twin(&answer.lease, now).map(Event::Discovered);
            self.carry_out(twin.map(Consequence::Event).into_iter().collect(), now)?;
            let again = Some(self.config.schedule.rare_visit(now));
            return self.refuse(&answer.lease, Refusal::HostDead, again, now);
        }
        if answer.status.is_none() && self.other_scheme_answers(&answer, now)? {
            return self.refuse_scheme(answer, now);
        }
        let (expires, kept) = match access {
            Access::DisallowAll => self.robots_cannot_be_had(&answer, &mut update, now)?,
            _ => (now.after(ROBOTS_FRESH), None),
        };
        let copy = match kept {
            // The copy of before is gone by until another can be had.
            Some(kept) => RobotsCopy { expires, ..kept },
            None => robots_copy(&answer, now, expires),
        };
        if !keeps_waiting(&copy) {
            if access != Access::DisallowAll {
                host_pace::forgive(&answer.lease, &mut self.ledger.frontier, &mut update);
            }
            let robots = Arc::new(read_robots(&copy, &self.config.reading.agent));
            if self.config.sitemaps && access != Access::DisallowAll {
                let of_seed = self.ledger.view().host(page.host)?.is_some_and(|host| host.seed);
                let lease = (&*answer.lease, of_seed);
                let found = lists(&answer.origin, &robots, lease, &self.links, &self.config, now);
                self.carry_out(found, now)?;
            }
            let https = answer.origin.starts_with("https:");
            self.ledger.frontier.set_robots_rules(
                page.host,
                https,
                RobotsRules { robots, expires, unreachable: false },
            );
        }
        // By the rules just learned: a Crawl-delay holds from the first page on.
        let frontier = &mut self.ledger.frontier;
        update.next_allowed = Some(frontier.record_answer(page.host, answer.ip, answer.took, now));
        let learned = [
            Event::RobotsLearned { origin: answer.origin, copy },
            Event::HostLearned { host: page.host, update },
        ];
        self.carry_out(learned.map(Consequence::Event).into(), now)?;
        self.ledger.frontier.defer_page(&answer.lease, now);
        self.ledger.rest_if_paused(page.host, now)
    }
}

impl<S: Store> Walk<S> {
    /// Whether the host of an origin that gave no answer does answer by the other scheme.
    fn other_scheme_answers(&self, answer: &RobotsAnswer, now: Time) -> Result<bool, EngineError> {
        let other = match answer.origin.split_once("://") {
            Some(("https", rest)) => format!("http://{rest}"),
            Some((_, rest)) => format!("https://{rest}"),
            None => return Ok(false),
        };
        let copy = self.ledger.view().robots(&other)?;
        Ok(copy.is_some_and(|copy| copy.status > 0 && copy.expires > now))
    }

    /// A host answers by one scheme only: pages of the other are not asked for, for a while, and do not stop
    /// those that can be had.
    fn refuse_scheme(&mut self, answer: RobotsAnswer, now: Time) -> Result<(), EngineError> {
        let (page, expires) = (answer.lease.page, now.after(ROBOTS_RETRY));
        let copy = robots_copy(&answer, now, expires);
        let robots = Arc::new(read_robots(&copy, &self.config.reading.agent));
        let https = answer.origin.starts_with("https:");
        let rules = RobotsRules { robots, expires, unreachable: true };
        self.ledger.frontier.set_robots_rules(page.host, https, rules);
        let next = self.ledger.frontier.record_answer(page.host, answer.ip, answer.took, now);
        let update = HostUpdate { ip: answer.ip, next_allowed: Some(next), ..Default::default() };
        let learned = [
            Event::RobotsLearned { origin: answer.origin, copy },
            Event::HostLearned { host: page.host, update },
        ];
        self.carry_out(learned.map(Consequence::Event).into(), now)?;
        self.refuse(&answer.lease, Refusal::HostDead, Some(expires), now)
    }
}

/// How a request for robots.txt ended, by what it means for its host.
fn robots_outcome(answer: &RobotsAnswer) -> Outcome {
    match answer.status.filter(|status| availability(Some(*status)) == answer.access()) {
        // Most hosts have none, and that is no failure.
        Some(status) if status < 500 => Outcome::Ok,
        Some(status) => Outcome::from_status(status),
        None => answer.outcome,
    }
}

/// What is kept of a robots.txt. Where none came, its text is the code of what went wrong.
fn robots_copy(answer: &RobotsAnswer, now: Time, expires: Time) -> RobotsCopy {
    // One that did not arrive whole did not come.
    let status = answer.status.filter(|status| availability(Some(*status)) == answer.access());
    let body = match (status, answer.access()) {
        (None, _) => answer.outcome.code().as_bytes().to_vec(),
        (_, Access::Parse) => answer.body.clone(),
        _ => Vec::new(),
    };
    RobotsCopy { at: now, expires, status: status.unwrap_or(0), body }
}

/// Sitemaps that robots.txt names; or on a seed's host the usual place, where it names none.
fn lists(
    origin: &str,
    robots: &RobotsTxt,
    (lease, of_seed): (&Lease, bool),
    links: &LinkReader,
    config: &WalkConfig,
    now: Time,
) -> Consequences {
    let Ok(base) = Base::new(&format!("{origin}/"), config.reading.steps) else {
        return Vec::new();
    };
    let mut named: Vec<String> = robots.sitemaps().map(str::to_owned).collect();
    let guess = named.is_empty() && of_seed;
    if guess {
        named.push("/sitemap.xml".to_owned());
    }
    let urls = named.iter().filter_map(|href| base.join(href).ok());
    let found = urls.map(|url| match links.list_verdict(&url, now) {
        Ok(()) => Consequence::Note(Note::ListFound(links.list(url, lease, guess, now))),
        Err(reason) => Consequence::Event(Event::LinksRefused { reason, count: 1 }),
    });
    found.collect()
}

/// The last good copy of an origin's robots.txt, where it may still be gone by.
fn kept_copy<S: Store>(
    view: &View<S>,
    origin: &str,
    now: Time,
) -> Result<Option<RobotsCopy>, StateError> {
    let copy = view.robots(origin)?;
    Ok(copy.filter(|copy| !keeps_waiting(copy) && now.since(copy.at) < ROBOTS_KEPT))
}

/// The rules of an origin as last fetched, where they can still be believed.
pub(super) fn stored_rules<S: Store>(
    view: &View<S>,
    origin: &str,
    agent: &str,
    now: Time,
) -> Result<Option<RobotsRules>, StateError> {
    let copy = view.robots(origin)?.filter(|copy| copy.expires > now);
    Ok(copy.map(|copy| RobotsRules {
        robots: Arc::new(read_robots(&copy, agent)),
        expires: copy.expires,
        unreachable: copy.status == 0,
    }))
}
