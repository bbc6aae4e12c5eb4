//! How are the requests of a rendered page made? One after another on each host, as robots.txt and pauses allow.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evercrawl_engine::Pace;
use evercrawl_extract::decode::{self, DecodeLimits};
use evercrawl_fetch::{Client, Failure, HeaderName, HeaderValue, Request, Response};
use evercrawl_render::{SubAnswer, SubRequest};
use evercrawl_robots::{MIN_REDIRECTS, RobotsTxt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};
use url::Url;

/// Makes the requests of one page.
pub(super) struct SubRequests {
    pub(super) client: Arc<Client>,
    pub(super) agent: String,
    pub(super) pace: Pace,
    pub(super) unpack: DecodeLimits,
    /// When an address may be asked again.
    pub(super) addresses: Mutex<HashMap<IpAddr, Instant>>,
}

impl SubRequests {
    /// Takes requests until nobody can send any more; `asked` was asked just now.
    pub(super) async fn serve(
        self: Arc<Self>,
        mut requests: UnboundedReceiver<SubRequest>,
        asked: Url,
    ) {
        let mut lanes: HashMap<String, UnboundedSender<SubRequest>> = HashMap::new();
        let just_asked = host_of(&asked);
        while let Some(request) = requests.recv().await {
            let host = host_of(&request.url);
            let is_rested = host != just_asked;
            let lane = lanes.entry(host).or_insert_with(|| {
                let (lane, queue) = unbounded_channel();
                tokio::spawn(Lane::new(self.clone(), is_rested).serve(queue));
                lane
            });
            // A lane ends only with this.
            let _ = lane.send(request);
        }
    }

    /// Waits until the address of a request may be asked, and takes its turn.
    async fn wait_for_address(&self, request: &Request) {
        let Ok(Some(ip)) = self.client.locate(request).await else { return };
        let now = Instant::now();
        let turn = {
            let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
            let free = addresses.entry(ip).or_insert(now);
            let turn = (*free).max(now);
            *free = turn + self.pace.address_pause(ip);
            turn
        };
        sleep_until(turn).await;
    }
}

/// A host with its port, where that is not the usual one.
fn host_of(url: &Url) -> String {
    url[url::Position::BeforeHost..url::Position::AfterPort].to_owned()
}

/// The requests to one host.
struct Lane {
    all: Arc<SubRequests>,
    rules: HashMap<String, RobotsTxt>,
    /// When the host may be asked again.
    free: Instant,
}

impl Lane {
    fn new(all: Arc<SubRequests>, is_rested: bool) -> Self {
        let pause = if is_rested { Duration::ZERO } else { all.pace.host };
        Lane { all, rules: HashMap::new(), free: Instant::now() + pause }
    }

    async fn serve(mut self, mut queue: UnboundedReceiver<SubRequest>) {
        while let Some(request) = queue.recv().await {
            if request.reply.is_closed() {
                continue;
            }
            let answer = self.answer(&request).await;
            let _ = request.reply.send(answer);
        }
    }

    async fn answer(&mut self, asked: &SubRequest) -> SubAnswer {
        let Ok(mut request) = Request::new(asked.url.as_str()) else {
            return SubAnswer::Refused("not a valid URL".to_owned());
        };
        let origin = asked.url.origin().ascii_serialization();
        if !self.rules.contains_key(&origin) {
            let rules = self.fetch_rules(&origin).await;
            self.rules.insert(origin.clone(), rules);
        }
        let Some(rules) = self.rules.get(&origin) else {
            return SubAnswer::Refused("robots".to_owned());
        };
        let verdict = rules.verdict_for_url(asked.url.as_str());
        if !verdict.allowed {
            let line = verdict.line.map(|line| format!(" line {}: {}", line.number, line.text));
            return SubAnswer::Refused(format!("robots.txt{}", line.unwrap_or_default()));
        }
        let crawl_delay = rules.crawl_delay();
        for (name, value) in &asked.headers {
            if let (Ok(name), Ok(value)) =
                (name.parse::<HeaderName>(), HeaderValue::from_str(value))
            {
                request = request.with_header(name, value);
            }
        }
        self.take_turn(&request).await;
        let fetched = self.all.client.fetch(&request).await;
        self.free = Instant::now() + self.all.pace.host_pause(crawl_delay, fetched.times.total);
        match &fetched.result {
            Ok(response) => answer_of(response, self.all.unpack),
            Err(failure @ (Failure::Forbidden(_) | Failure::ForbiddenName(_))) => {
                SubAnswer::Refused(failure.to_string())
            }
            Err(failure) => SubAnswer::Failed(failure.to_string()),
        }
    }

    async fn take_turn(&self, request: &Request) {
        sleep_until(self.free).await;
        self.all.wait_for_address(request).await;
    }

    /// The rules of an origin. Where its robots.txt cannot be had, it allows nothing.
    async fn fetch_rules(&mut self, origin: &str) -> RobotsTxt {
        let nothing = || RobotsTxt::from_response(None, b"", &self.all.agent);
        let Ok(request) = Request::new(&format!("{origin}/robots.txt")) else { return nothing() };
        self.take_turn(&request).await;
        let hops = self.all.client.fetch_following(&request, MIN_REDIRECTS).await;
        let rules = match hops.last().map(|hop| &hop.fetched.result) {
            Some(Ok(response)) if response.truncated.is_none_or(|cut| cut.is_our_cap()) => {
                let body = response.body.whole();
                let read = decode::decode(&response.content_codings(), &body, self.all.unpack);
                RobotsTxt::from_response(Some(response.status), &read.bytes, &self.all.agent)
            }
            _ => nothing(),
        };
        self.free = Instant::now() + self.all.pace.host;
        rules
    }
}

/// What the browser is told of a response. One that did not arrive whole is a failure.
fn answer_of(response: &Response, unpack: DecodeLimits) -> SubAnswer {
    if let Some(cut) = response.truncated {
        return SubAnswer::Failed(format!("the answer was cut off ({cut:?})").to_lowercase());
    }
    let body = response.body.whole();
    let decoded = decode::decode(&response.content_codings(), &body, unpack);
    if decoded.cut.is_some() {
        return SubAnswer::Failed("the answer could not be unpacked whole".to_owned());
    }
    let headers = header_pairs(response);
    SubAnswer::Response { status: response.status, headers, body: decoded.bytes.into_owned() }
}

/// The header fields of a response as text.
pub(super) fn header_pairs(response: &Response) -> Vec<(String, String)> {
    let pair = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    response.headers.iter().map(pair).collect()
}
