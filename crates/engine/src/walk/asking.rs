//! What may be asked of a host? Its robots.txt: held, asked for, come or not.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_model::{Event, HostUpdate, Refusal, RobotsCopy, Time};
use evercrawl_robots::{Access, RobotsTxt, availability};
use evercrawl_state::Store;
use evercrawl_urls::Base;

use super::Walk;
use crate::EngineError;
use crate::frontier::{Lease, RobotsRules};

/// How long a robots.txt is believed.
const ROBOTS_FRESH: Duration = Duration::from_secs(24 * 3600);
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
    /// True when the host's address is one that we do not connect to.
    pub forbidden: bool,
    /// How long the host asked to be left alone.
    pub asked_pause: Option<Duration>,
    /// The body.
    pub body: Vec<u8>,
    /// The host's address.
    pub ip: Option<IpAddr>,
    /// How long it took.
    pub took: Duration,
}

impl<S: Store> Walk<S> {
    /// The rules of an origin as last fetched, where they can still be believed.
    pub(super) fn stored_rules(
        &self,
        origin: &str,
        now: Time,
    ) -> Result<Option<RobotsRules>, EngineError> {
        let copy = self.state.view().robots(origin)?.filter(|copy| copy.expires > now);
        Ok(copy.map(|copy| RobotsRules {
            robots: Arc::new(read_robots(&copy, &self.config.reading.agent)),
            expires: copy.expires,
        }))
    }

    /// A robots.txt came, or did not.
    pub fn robots(&mut self, answer: RobotsAnswer, now: Time) -> Result<(), EngineError> {
        let (page, access) = (answer.lease.page, availability(answer.status));
        self.frontier.end_robots_request(page.host);
        if answer.forbidden {
            return self.refuse(&answer.lease, Refusal::PrivateAddress, None, now).map(drop);
        }
        self.tally.robots += 1;
        let mut update = HostUpdate { ip: answer.ip, ..HostUpdate::default() };
        if answer.status.is_none() && answer.lease.row.guess && answer.lease.row.seed {
            self.frontier.record_answer(page.host, answer.ip, answer.took, now);
            return self.try_plain(&answer.lease, now);
        }
        let mut expires = now.after(ROBOTS_FRESH);
        if access == Access::DisallowAll {
            // Nothing is allowed until it can be had: the whole host waits, its pages stay.
            let asked = answer.asked_pause.or(answer.status.map(|_| ROBOTS_RETRY));
            expires = self.leave_alone(&answer.lease, asked, &mut update, now);
        }
        let body = if access == Access::Parse { answer.body } else { Vec::new() };
        let copy = RobotsCopy { at: now, expires, status: answer.status.unwrap_or(0), body };
        if access != Access::DisallowAll {
            self.recovered(&answer.lease, &mut update);
            let robots = Arc::new(read_robots(&copy, &self.config.reading.agent));
            self.discover_sitemaps(&answer.origin, &robots, &answer.lease, now)?;
            let https = answer.origin.starts_with("https:");
            self.frontier.set_robots_rules(page.host, https, RobotsRules { robots, expires });
        }
        // By the rules just learned: a Crawl-delay holds from the first page on.
        let next_allowed = self.frontier.record_answer(page.host, answer.ip, answer.took, now);
        update.next_allowed = Some(next_allowed);
        self.apply(&Event::RobotsLearned { origin: answer.origin, copy }, now)?;
        self.apply(&Event::HostLearned { host: page.host, update }, now)?;
        self.frontier.defer_page(&answer.lease, now);
        self.rest_if_paused(page, now)
    }

    /// A bare domain does not answer by `https`: it is tried by `http`.
    fn try_plain(&mut self, lease: &Lease, now: Time) -> Result<(), EngineError> {
        if let Some(twin) = self.links.plain_twin(lease, now) {
            self.apply(&Event::Discovered(twin), now)?;
        }
        let again = Some(self.config.schedule.rare_visit(now));
        self.refuse(lease, Refusal::HostDead, again, now).map(drop)
    }

    /// Sitemaps that robots.txt names; or on a seed's host the usual place, where it names none.
    fn discover_sitemaps(
        &mut self,
        origin: &str,
        robots: &RobotsTxt,
        lease: &Lease,
        now: Time,
    ) -> Result<(), EngineError> {
        if !self.config.sitemaps {
            return Ok(());
        }
        let Ok(base) = Base::new(&format!("{origin}/"), self.config.reading.steps) else {
            return Ok(());
        };
        let mut named: Vec<String> = robots.sitemaps().map(str::to_owned).collect();
        let seed_host = self.state.view().host(lease.page.host)?.is_some_and(|host| host.seed);
        let guess = named.is_empty() && seed_host;
        if guess {
            named.push("/sitemap.xml".to_owned());
        }
        for href in named {
            let Ok(url) = base.join(&href) else { continue };
            match self.links.list_verdict(&url, now) {
                Ok(()) => {
                    self.apply(&Event::Discovered(self.links.list(url, lease, guess, now)), now)?
                }
                Err(reason) => self.apply(&Event::LinksRefused { reason, count: 1 }, now)?,
            };
        }
        Ok(())
    }
}

/// Whether a robots.txt that could not be had keeps its whole host waiting.
pub fn keeps_waiting(copy: &RobotsCopy) -> bool {
    availability(Some(copy.status)) == Access::DisallowAll
}

/// The rules in a stored robots.txt.
pub fn read_robots(copy: &RobotsCopy, agent: &str) -> RobotsTxt {
    RobotsTxt::from_response((copy.status > 0).then_some(copy.status), &copy.body, agent)
}
