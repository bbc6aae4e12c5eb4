//! Who asks for pages? One thread with all the sockets, many requests at a time.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_extract::decode;
use evercrawl_fetch::{
    Client, Failure, FetchLimits, Fetched, Request, RequestValidators, Response, Times,
};
use evercrawl_model::Outcome;
use evercrawl_robots::{MAX_BYTES, MIN_REDIRECTS};
use evercrawl_state::Store;
use tokio::sync::mpsc::UnboundedReceiver;

use super::handover::Sender;
use super::on_the_spot::OnTheSpot;
use super::proxy_rests::ProxyRests;
use super::{Order, Report, SystemClock};
use crate::EngineError;
use crate::config::CrawlConfig;
use crate::frontier::Lease;
use crate::process::{Job, outcome_of, unpack};
use crate::schedule::parse_retry_after;
use crate::walk::RobotsAnswer;

/// Pages of fewer bytes than this are read on the spot.
const SHORT_PAGE: usize = 2 * 1024;

/// How many times as long a page usually is that comes packed.
const USUALLY_PACKED: usize = 8;

/// Pages of more bytes than this do not let smaller ones wait.
const LARGE_PAGE: usize = 256 * 1024;

/// Asks for pages, on one thread, many at a time.
pub(super) struct Fetcher<S> {
    pub(super) client: Client,
    pub(super) jobs: Sender<Job>,
    pub(super) reports: Sender<Report>,
    pub(super) clock: SystemClock,
    pub(super) on_the_spot: OnTheSpot<S>,
    pub(super) proxies: ProxyRests,
}

impl<S: Store + 'static> Fetcher<S> {
    /// Takes orders until no more can come; what is out then is dropped.
    pub(super) fn run(self, mut orders: UnboundedReceiver<Vec<Order>>, config: &CrawlConfig) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else {
            let _ = self.reports.send(Report::Broken(EngineError::Broken("the fetcher")));
            return;
        };
        let (fetcher, manner) = (Rc::new(self), Arc::new(RobotsManner::new(config)));
        let local = tokio::task::LocalSet::new();
        let signal_source = fetcher.clone();
        local.spawn_local(
            async move { signal_source.on_the_spot.tell(&signal_source.reports).await },
        );
        local.block_on(&runtime, async move {
            while let Some(orders) = orders.recv().await {
                for order in orders {
                    tokio::task::spawn_local(fetcher.clone().fulfil(order, manner.clone()));
                }
            }
        });
    }

    async fn fulfil(self: Rc<Self>, order: Order, manner: Arc<RobotsManner>) {
        match order {
            Order::Page(lease) => self.page(lease).await,
            Order::Locate(lease) => self.locate(lease).await,
            Order::Robots { origin, lease } => self.robots(origin, lease, manner).await,
        }
    }

    async fn locate(&self, lease: Box<Lease>) {
        let ip = match Request::new(&lease.row.url) {
            Ok(request) => self.client.locate(&request).await.ok().flatten(),
            Err(_) => None,
        };
        let _ = self.reports.send(Report::Located(lease, ip));
    }

    async fn page(&self, lease: Box<Lease>) {
        let asked = self.clock.now();
        let (etag, last_modified) = lease.validators_to_send();
        let validators = RequestValidators {
            etag: etag.map(str::to_owned),
            last_modified: last_modified.map(str::to_owned),
        };
        let Ok(request) = Request::new(&lease.row.url) else {
            return self.hand_on(Job { lease, fetched: unaskable(), asked, ended: asked });
        };
        let proxy = self.client.proxy_of(&request);
        if let Some(rest) = self.proxies.resting(proxy.as_deref(), asked) {
            return drop(self.reports.send(Report::ProxyRests(lease, rest)));
        }
        let fetched = self.client.fetch(&request.with_validators(validators)).await;
        let ended = self.clock.now();
        if let Some(rest) = self.proxies.judge(proxy.as_deref(), &fetched.result, ended) {
            return drop(self.reports.send(Report::ProxyRests(lease, rest)));
        }
        self.hand_on(Job { lease, fetched, asked, ended });
    }

    /// Has what came read. If nobody is there who could, the run is over.
    fn hand_on(&self, job: Job) {
        let _ = match job.fetched.result.as_ref().map_or(0, bytes_to_read) {
            0..SHORT_PAGE => return self.on_the_spot.read(job),
            SHORT_PAGE..=LARGE_PAGE => self.jobs.send(job),
            _ => self.jobs.send_behind(job),
        };
    }

    async fn robots(&self, origin: String, lease: Box<Lease>, manner: Arc<RobotsManner>) {
        let mut answer = RobotsAnswer {
            lease,
            status: None,
            outcome: Outcome::Protocol,
            forbidden: false,
            asked_pause: None,
            body: Vec::new(),
            ip: None,
            took: Duration::ZERO,
            origin,
        };
        if let Ok(request) = Request::new(&format!("{}/robots.txt", answer.origin)) {
            let request = request.with_limits(manner.limits.clone());
            let proxy = self.client.proxy_of(&request);
            if let Some(rest) = self.proxies.resting(proxy.as_deref(), self.clock.now()) {
                return drop(self.reports.send(Report::ProxyRests(answer.lease, rest)));
            }
            let mut hops = self.client.fetch_following(&request, manner.redirects).await;
            answer.ip = hops.first().and_then(|hop| hop.fetched.ip);
            answer.took = hops.iter().map(|hop| hop.fetched.times.total).sum();
            let result = hops.pop().map(|hop| hop.fetched.result);
            if let Some(Err(failure)) = &result {
                answer.outcome = outcome_of(failure);
            }
            let heard = result.as_ref();
            let rest =
                heard.and_then(|it| self.proxies.judge(proxy.as_deref(), it, self.clock.now()));
            if let Some(rest) = rest {
                return drop(self.reports.send(Report::ProxyRests(answer.lease, rest)));
            }
            answer.forbidden =
                matches!(result, Some(Err(Failure::Forbidden(_) | Failure::ForbiddenName(_))));
            if let Some(Ok(response)) = result {
                let pause = response.header("retry-after");
                answer.status = Some(response.status);
                answer.outcome = Outcome::from_status(response.status);
                answer.asked_pause = pause.and_then(|v| parse_retry_after(v, self.clock.now()));
                let body = response.body.whole();
                answer.body = unpack(&response, &body, manner.unpack).bytes.into_owned();
            }
        }
        let _ = self.reports.send(Report::Robots(Box::new(answer)));
    }
}

/// How many bytes an answer may have to be read: what is packed may be long.
fn bytes_to_read(got: &Response) -> usize {
    let is_packed = got.header("content-encoding").is_some();
    got.body.len() * if is_packed { USUALLY_PACKED } else { 1 }
}

/// How a robots.txt is asked for.
struct RobotsManner {
    redirects: usize,
    limits: FetchLimits,
    unpack: decode::DecodeLimits,
}

impl RobotsManner {
    /// What lies beyond the part of a robots.txt that is ever read is not even fetched.
    fn new(config: &CrawlConfig) -> Self {
        let limits = config.fetch.limits.clone();
        RobotsManner {
            redirects: usize::from(config.walk.reading.take.max_redirects).max(MIN_REDIRECTS),
            limits: FetchLimits { body_bytes: limits.body_bytes.min(MAX_BYTES), ..limits },
            unpack: config.walk.reading.unpack,
        }
    }
}

/// What stands for a fetch of a URL that cannot be asked for.
fn unaskable() -> Fetched {
    Fetched {
        result: Err(Failure::Protocol("the URL cannot be asked for".into())),
        request_bytes: bytes::Bytes::new(),
        times: Times::default(),
        ip: None,
        bytes_on_wire: 0,
    }
}
