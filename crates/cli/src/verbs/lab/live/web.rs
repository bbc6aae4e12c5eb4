//! What does a world of the lab answer when the real engine asks it for pages?

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_fetch::{Failure, Fetched, HeaderMap, HeaderValue, Protocol, Response, Times};
use evercrawl_lab::LabWorld;
use evercrawl_lab::run::TruthObserver;
use evercrawl_model::Time;
use evercrawl_policy::{Days, Finding, SplitMix64};
use evercrawl_urls::{Canonical, CanonicalSteps};

/// Worlds that were made begin at day 0, which no crawler's clock has ever shown: they are moved here.
const MADE_BEGINS: Days = 20_000.0;

const DAY_MS: f64 = 86_400_000.0;

/// A world that speaks HTTP, and a witness of every fetch.
pub(super) struct LabWeb<'a> {
    pub(super) witness: TruthObserver<'a>,
    world: &'a LabWorld,
    steps: CanonicalSteps,
    pages: HashMap<String, u32>,
    /// The addresses of the pages that were born.
    addresses: Vec<Option<Canonical>>,
    /// How many versions of each page were seen so far.
    versions: Vec<u32>,
    random: SplitMix64,
    offset: Days,
    /// Whether fetches count.
    pub(super) charged: bool,
}

impl<'a> LabWeb<'a> {
    pub(super) fn new(
        world: &'a LabWorld,
        witness: TruthObserver<'a>,
        steps: CanonicalSteps,
        seed: u64,
    ) -> Self {
        let made = world.span.to < MADE_BEGINS / 2.0;
        LabWeb {
            witness,
            world,
            steps,
            pages: HashMap::new(),
            addresses: vec![None; world.pages.len()],
            versions: vec![0; world.pages.len()],
            random: SplitMix64::new(seed ^ 0x4c61_6257_6562),
            offset: if made { MADE_BEGINS } else { 0.0 },
            charged: false,
        }
    }

    /// The clock's time at a moment of the world.
    pub(super) fn time(&self, at: Days) -> Time {
        Time::from_millis(((at + self.offset) * DAY_MS).max(0.0) as u64)
    }

    /// The moment of the world at a time of the clock.
    pub(super) fn days(&self, time: Time) -> Days {
        time.millis() as f64 / DAY_MS - self.offset
    }

    /// The pages that came to be up to `now`, with the page that announces each. Those that died before the crawl
    /// began are left out: the lab knows them to be dead.
    pub(super) fn born(&mut self, now: Time) -> Vec<(Canonical, Option<u32>)> {
        let (until, begin) = (self.days(now), self.world.span.begin);
        let born = self.witness.born(until);
        let there = born.filter(|page| self.world.pages[*page as usize].dies > begin);
        let there: Vec<u32> = there.collect();
        there.into_iter().filter_map(|page| self.name(page)).collect()
    }

    /// Where a page is that was born.
    pub(super) fn address(&self, page: u32) -> Option<Canonical> {
        self.addresses.get(page as usize)?.clone()
    }

    /// Gives a page an address: its own, or where that is taken or unknown one made of its groups.
    fn name(&mut self, page: u32) -> Option<(Canonical, Option<u32>)> {
        let fact = &self.world.pages[page as usize];
        let host = format!("http://h{}.lab", fact.host);
        let own = self.world.urls.get(page as usize).and_then(|url| {
            let path = url.split_once("://").map_or(url.as_str(), |(_, rest)| {
                rest.split_once('/').map_or("", |(_, path)| path)
            });
            self.steps.canonicalize(&format!("{host}/{}", path.trim_start_matches('/'))).ok()
        });
        let made = || self.steps.canonicalize(&format!("{host}/pages/{}/{page}", fact.group)).ok();
        let url = own.filter(|url| !self.pages.contains_key(url.as_str())).or_else(made)?;
        self.pages.insert(url.as_str().to_owned(), page);
        self.addresses[page as usize] = Some(url.clone());
        let hub = fact.kin[1];
        Some((url, (hub != u32::MAX).then_some(hub)))
    }

    /// The answer to a request for a page: its text, or that it is as it was, or gone.
    fn page(&mut self, page: u32, asked: &Asked<'_>, now: Time) -> Result<Response, Failure> {
        let host = &self.world.hosts[self.world.pages[page as usize].host as usize];
        let mut chance = |share: f32| share > 0.0 && self.random.uniform() < f64::from(share);
        if chance(host.failure) {
            return Ok(response(500, Vec::new()));
        }
        let noise = chance(host.noise);
        let sight = self.witness.observe_page(
            page,
            now.millis() as f64 / DAY_MS - self.offset,
            self.charged,
        );
        if sight.found == Finding::Gone {
            return Ok(response(410, Vec::new()));
        }
        let version = &mut self.versions[page as usize];
        if sight.found == Finding::Changed || noise {
            *version += 1;
        }
        let etag = format!("\"{version}\"");
        let mut answer = match asked.etag == Some(etag.as_str()) {
            true => response(304, Vec::new()),
            false => response(200, text(page, *version)),
        };
        set(&mut answer, "etag", &etag);
        if let Some(at) = sight.modified.filter(|_| host.lastmod) {
            set(&mut answer, "last-modified", &self.time(at).http_date());
        }
        Ok(answer)
    }
}

impl Web for LabWeb<'_> {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let result = match self.pages.get(asked.url) {
            Some(&page) => self.page(page, asked, now),
            None => Ok(response(404, Vec::new())),
        };
        let fetched = Fetched {
            result,
            request_bytes: Bytes::from_static(b"GET / HTTP/1.1\r\n\r\n"),
            times: Times::default(),
            ip: Some([127, 0, 0, 1].into()),
            bytes_on_wire: 0,
        };
        (fetched, Duration::ZERO)
    }
}

fn response(status: u16, body: Vec<u8>) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("text/html; charset=utf-8"));
    Response {
        head: format!("HTTP/1.1 {status} \r\n\r\n").into(),
        interim: Bytes::new(),
        status,
        headers,
        body: body.into(),
        truncated: None,
        chunked: false,
        protocol: Protocol::Http11,
        tls: None,
    }
}

fn set(response: &mut Response, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers.insert(name, value);
    }
}

/// Words that no other page and no other version has.
fn text(page: u32, version: u32) -> Vec<u8> {
    let mut random = SplitMix64::new(u64::from(page) << 32 | u64::from(version));
    let mut text = String::from("<html><body><p>");
    for _ in 0..60 {
        let mut number = random.next_u64();
        for _ in 0..6 {
            text.push(char::from(b'a' + (number % 26) as u8));
            number /= 26;
        }
        text.push(' ');
    }
    text.push_str("</p></body></html>");
    text.into_bytes()
}
