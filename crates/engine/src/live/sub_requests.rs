//! How are the requests of a page made while it is rendered? As those of the crawl are: through the gate, as robots.txt
//! allows, and no sooner than hosts and addresses may be asked.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evercrawl_fetch::{Client, Failure, Fetched, HeaderName, HeaderValue, Request, Response};
use evercrawl_model::{RobotsCopy, Time};
use evercrawl_render::{SubAnswer, SubRequest};
use evercrawl_robots::RobotsTxt;
use evercrawl_state::{Reading, Store};
use evercrawl_urls::{Base, Canonical, CanonicalSteps};
use tokio::sync::OnceCell;

use super::SystemClock;
use super::fetcher::RobotsManner;
use crate::frontier::{Asker, FrontierConfig, Lease, Lent, SharedPauses, paced_address};
use crate::links::LinkReader;
use crate::process::unpack;
use crate::robots::{keeps_waiting, read_robots};
use crate::schedule::{is_overload_status, parse_retry_after};

/// How long rules are gone by that were fetched here.
const RULES_FRESH: Duration = Duration::from_secs(24 * 3600);
/// The pauses between looks for rules that the crawl may have: together longer than it takes to the next commit.
const COMMITTED_WITHIN: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(150),
    Duration::from_millis(250),
];
/// Origins whose rules are kept.
const MOST_ORIGINS: usize = 10_000;
/// How long a host is left alone that has too much to do and does not say for how long.
const OVERLOAD_PAUSE: Duration = Duration::from_secs(60);
/// How often one that waits looks again, at the least and at the most.
const LOOK_AGAIN: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];

/// Makes the requests of the pages of one walk.
pub(super) struct SubRequests<S> {
    pub(super) client: Arc<Client>,
    pub(super) links: LinkReader,
    pub(super) steps: CanonicalSteps,
    pub(super) agent: String,
    pub(super) pauses: SharedPauses,
    pub(super) pace: FrontierConfig,
    pub(super) manner: Arc<RobotsManner>,
    pub(super) reading: Reading<S>,
    pub(super) clock: SystemClock,
    pub(super) rules: Mutex<HashMap<String, Arc<Rules>>>,
}

/// The rules of an origin, which somebody may be fetching.
pub(super) struct Rules {
    cell: OnceCell<RobotsTxt>,
    asked: Time,
}

impl<S: Store> SubRequests<S> {
    /// What comes of a request of a page.
    pub(super) async fn answer(&self, asked: &SubRequest) -> SubAnswer {
        let refused = |reason: &str| SubAnswer::Refused(reason.to_owned());
        let base = Base::new(asked.url.as_str(), self.steps);
        let Ok(url) = base.map(|base| base.canonical().clone()) else {
            return refused("not_a_url");
        };
        if let Err(reason) = self.links.sub_request_verdict(&url, self.clock.now()) {
            return refused(reason.code());
        }
        let rules = self.rules_of(&url).await;
        let Some(rules) = rules.cell.get() else { return refused("robots") };
        if !rules.verdict_for_url(asked.url.as_str()).allowed {
            return refused("robots");
        }
        let Ok(mut request) = Request::new(asked.url.as_str()) else { return refused("not_a_url") };
        for (name, value) in &asked.headers {
            if let (Ok(name), Ok(value)) =
                (name.parse::<HeaderName>(), HeaderValue::from_str(value))
            {
                request = request.with_header(name, value);
            }
        }
        let waits = || !asked.reply.is_closed();
        let Some(fetched) = self.ask(&url, &request, rules.crawl_delay(), waits).await else {
            return refused("not_waited_for");
        };
        match &fetched.result {
            Ok(response) => self.answer_of(&url, response),
            Err(failure @ (Failure::Forbidden(_) | Failure::ForbiddenName(_))) => {
                refused(failure.code())
            }
            Err(failure) => SubAnswer::Failed(failure.code().to_owned()),
        }
    }

    /// While a leased page is rendered its host may be asked for what the page is made of: the page itself came. The
    /// first request waits for the host's pause.
    pub(super) fn lend(&self, lease: &Lease, url: &url::Url) -> Option<Lent> {
        let base = Base::new(url.as_str(), self.steps).ok()?;
        let asker = self.asker(base.canonical().authority(), lease.ip, None, Duration::ZERO);
        Some(self.pauses.lend(&asker, self.clock.now()))
    }

    fn asker<'a>(
        &self,
        authority: &'a str,
        ip: Option<IpAddr>,
        crawl_delay: Option<Duration>,
        took: Duration,
    ) -> Asker<'a> {
        let pace = &self.pace.pace;
        Asker {
            authority,
            address: ip.map(paced_address),
            host_pause: pace.host_pause(crawl_delay, took),
            address_pause: ip.map_or(Duration::ZERO, |ip| pace.address_pause(ip)),
            per_host: self.pace.per_host,
        }
    }

    /// Asks once the host and its address may be asked, if somebody still waits for it then.
    async fn ask(
        &self,
        url: &Canonical,
        request: &Request,
        crawl_delay: Option<Duration>,
        waits: impl Fn() -> bool,
    ) -> Option<Fetched> {
        let ip = self.client.locate(request).await.ok().flatten();
        let asker = |took| self.asker(url.authority(), ip, crawl_delay, took);
        let turn = loop {
            if !waits() {
                return None;
            }
            let now = self.clock.now();
            match self.pauses.claim(&asker(Duration::ZERO), now) {
                Ok(turn) => break turn,
                Err(at) => {
                    tokio::time::sleep(at.since(now).clamp(LOOK_AGAIN[0], LOOK_AGAIN[1])).await
                }
            }
        };
        let fetched = self.client.fetch(request).await;
        turn.end(&asker(fetched.times.total), self.clock.now());
        Some(fetched)
    }

    /// What the browser is told of a response. One that did not arrive whole is a failure.
    fn answer_of(&self, url: &Canonical, response: &Response) -> SubAnswer {
        let now = self.clock.now();
        if is_overload_status(response.status) {
            let asked =
                response.header("retry-after").and_then(|value| parse_retry_after(value, now));
            self.pauses.block(url.authority(), now.after(asked.unwrap_or(OVERLOAD_PAUSE)), now);
        }
        let body = response.body.whole();
        let decoded = unpack(response, &body, self.manner.unpack);
        if response.truncated.is_some() || decoded.cut.is_some() {
            return SubAnswer::Failed("cut".to_owned());
        }
        let body = decoded.bytes.into_owned();
        SubAnswer::Response { status: response.status, headers: header_pairs(response), body }
    }

    /// The rules of a URL's origin: as the crawl has them, or fetched.
    async fn rules_of(&self, url: &Canonical) -> Arc<Rules> {
        let now = self.clock.now();
        let rules = {
            let mut all = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= MOST_ORIGINS {
                all.clear();
            }
            let fresh = || Arc::new(Rules { cell: OnceCell::new(), asked: now });
            let entry = all.entry(url.origin().to_owned()).or_insert_with(fresh);
            if now.since(entry.asked) >= RULES_FRESH {
                *entry = fresh();
            }
            entry.clone()
        };
        rules.cell.get_or_init(|| self.find_rules(url, now)).await;
        rules
    }

    async fn find_rules(&self, url: &Canonical, now: Time) -> RobotsTxt {
        if let Some(copy) = self.held_rules(url, now).await {
            // Where none could be had, nothing is allowed, as for pages.
            let status = (!keeps_waiting(&copy)).then_some(copy.status);
            return match status {
                Some(_) => read_robots(&copy, &self.agent),
                None => RobotsTxt::from_response(None, b"", &self.agent),
            };
        }
        self.fetch_rules(url).await
    }

    /// The copy that the crawl has. What it learned within the last moments is seen after its next commit, so a look
    /// in vain is repeated before a server is asked a second time.
    async fn held_rules(&self, url: &Canonical, now: Time) -> Option<RobotsCopy> {
        for pause in COMMITTED_WITHIN {
            tokio::time::sleep(pause).await;
            let held = self.reading.view().and_then(|view| view.robots(url.origin()));
            if let Some(copy) = held.ok().flatten().filter(|copy| copy.expires > now) {
                return Some(copy);
            }
        }
        None
    }

    /// Where robots.txt is unreachable, or did not arrive whole, nothing is allowed.
    async fn fetch_rules(&self, url: &Canonical) -> RobotsTxt {
        let nothing = || RobotsTxt::from_response(None, b"", &self.agent);
        let mut next = Base::new(&format!("{}/robots.txt", url.origin()), self.steps)
            .map(|base| base.canonical().clone());
        for _ in 0..=self.manner.redirects {
            let Ok(at) = &next else { return nothing() };
            let Ok(request) = Request::new(at.as_str()) else { return nothing() };
            let request = request.with_limits(self.manner.limits.clone());
            let Some(fetched) = self.ask(at, &request, None, || true).await else {
                return nothing();
            };
            let Ok(response) = &fetched.result else { return nothing() };
            match response.location(request.url()) {
                Some(to) => {
                    next = Base::new(to.as_str(), self.steps).map(|base| base.canonical().clone())
                }
                None => {
                    let body = response.body.whole();
                    let read = unpack(response, &body, self.manner.unpack);
                    let is_whole = response.truncated.is_none_or(|cut| cut.is_our_cap());
                    let status = (is_whole && !read.is_broken()).then_some(response.status);
                    return RobotsTxt::from_response(status, &read.bytes, &self.agent);
                }
            }
        }
        // So many redirects mean that there is none (RFC 9309, 2.3.1.2).
        RobotsTxt::from_response(Some(404), b"", &self.agent)
    }
}

/// The header fields of a response as text.
pub(super) fn header_pairs(response: &Response) -> Vec<(String, String)> {
    let pair = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    response.headers.iter().map(pair).collect()
}
