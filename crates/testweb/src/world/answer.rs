//! What does the world answer to a request? A pure function of the request, the moment and a nonce.

use super::bytes::{push, push_hex, push_number};
use super::dates::{push_http_date, read_http_date};
use super::dice::{DicePurpose, WorldDice};
use super::html::{PageAppearance, PageScratch};
use super::links::{LinkStyle, LinkTarget};
use super::paths::{split_port, take_session};
use super::{
    Charset, Fate, Host, HostClass, HostFault, HostRobots, HostValidators, InsteadOfNotFound,
    Limit, PageId, RetryAfter, Trap, World,
};

/// The parts of a request that an answer depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorldRequest<'a> {
    /// The Host header: a name with or without a port.
    pub authority: &'a str,
    /// The path with its query.
    pub target: &'a str,
    /// The If-None-Match header.
    pub if_none_match: Option<&'a str>,
    /// The If-Modified-Since header.
    pub if_modified_since: Option<&'a str>,
}

/// An answer, to be kept and filled again so that its buffers are reused.
#[derive(Debug)]
pub struct WorldAnswer {
    /// The status code; 0 when there is no response at all.
    pub status: u16,
    /// Header lines, each ending with CR LF; length, date and connection are left to the transport.
    pub headers: Vec<u8>,
    /// The body.
    pub body: Vec<u8>,
    /// How long the host takes before it answers.
    pub delay_ms: u32,
    /// What befalls the answer on its way.
    pub fault: Option<HostFault>,
    /// The kind of host that was asked; none when it is not of this world.
    pub class: Option<HostClass>,
    scratch: PageScratch,
}

impl Default for WorldAnswer {
    fn default() -> Self {
        WorldAnswer::new()
    }
}

impl WorldAnswer {
    /// Creates an empty answer.
    pub fn new() -> Self {
        WorldAnswer {
            status: 0,
            headers: Vec::new(),
            body: Vec::new(),
            delay_ms: 0,
            fault: None,
            class: None,
            scratch: PageScratch::default(),
        }
    }

    /// The value of a header, for callers without a transport.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = std::str::from_utf8(&self.headers).ok()?.lines();
        let fields = lines.filter_map(|line| line.split_once(": "));
        fields
            .into_iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Begins an answer of a status and a content type.
    pub(crate) fn begin(&mut self, status: u16, content_type: &str) {
        self.status = status;
        push(&mut self.headers, "Content-Type: ");
        push(&mut self.headers, content_type);
        push(&mut self.headers, "\r\n");
    }

    /// Answers with a line of text.
    pub(crate) fn set_status(&mut self, status: u16, text: &str) {
        self.begin(status, "text/plain; charset=utf-8");
        push(&mut self.body, text);
        self.body.push(b'\n');
    }

    pub(crate) fn clear(&mut self) {
        self.status = 0;
        self.headers.clear();
        self.body.clear();
        self.delay_ms = 0;
        self.fault = None;
        self.class = None;
    }
}

impl World {
    /// Answers a request at a moment. The nonce should be another at every call: it is what noise is made of.
    pub fn answer(
        &self,
        request: &WorldRequest<'_>,
        now_ms: u64,
        nonce: u64,
        answer: &mut WorldAnswer,
    ) {
        answer.clear();
        let Some(id) = self.find_host(request.authority) else {
            return answer.set_status(
                421,
                "This world has no such host. Ask for one of its names in the Host header.",
            );
        };
        let host = &self.host(id);
        answer.class = Some(host.class());
        answer.delay_ms = host.delay_ms;
        if host.fault == Some(HostFault::Silent) {
            answer.fault = host.fault;
            return;
        }
        let (_, port) = split_port(request.authority);
        let sessions = host.trap == Some(Trap::Session);
        let (target, session) =
            if sessions { take_session(request.target) } else { (request.target, None) };
        let style = LinkStyle { port, session: sessions.then(|| session.unwrap_or(nonce)) };
        let look = PageAppearance { now_ms, nonce, style };
        if let Some(decline) = host.decline.filter(|decline| decline.from_ms <= now_ms)
            && self.answer_instead(host, decline.shows, target, answer)
        {
            return;
        }
        match target {
            "/robots.txt" => self.answer_robots(host, port, answer),
            "/sitemap.xml" if host.has_sitemap() => {
                answer.begin(200, "application/xml");
                self.push_sitemap(&mut answer.body, host, now_ms, port);
            }
            "/feed.xml" if host.feed => {
                answer.begin(200, "application/rss+xml");
                self.push_feed(&mut answer.body, host, now_ms, port);
            }
            path => self.answer_path(host, path, request, look, answer),
        }
    }

    /// Answers for a host that is being called too fast.
    pub(crate) fn refuse(&self, limit: &Limit, now_ms: u64, answer: &mut WorldAnswer) {
        answer.clear();
        answer.class = Some(HostClass::Limited);
        answer.set_status(limit.status, "Too many requests.");
        let seconds = u64::from(limit.gap_ms).div_ceil(1000);
        match limit.retry_after {
            RetryAfter::Absent => return,
            RetryAfter::Seconds => {
                push(&mut answer.headers, "Retry-After: ");
                push_number(&mut answer.headers, seconds);
            }
            RetryAfter::Date => {
                push(&mut answer.headers, "Retry-After: ");
                push_http_date(&mut answer.headers, now_ms + seconds * 1000);
            }
        }
        push(&mut answer.headers, "\r\n");
    }

    fn answer_robots(&self, host: &Host, port: u16, answer: &mut WorldAnswer) {
        match host.robots {
            HostRobots::Missing => answer.set_status(404, "Not found."),
            HostRobots::Failing => answer.set_status(503, "Out of order."),
            HostRobots::Open | HostRobots::Disallow => {
                answer.begin(200, "text/plain");
                self.push_robots(&mut answer.body, host, port);
            }
        }
    }

    fn answer_path(
        &self,
        host: &Host,
        path: &str,
        request: &WorldRequest<'_>,
        look: PageAppearance,
        answer: &mut WorldAnswer,
    ) {
        if let Some(page) = self.find_path(host, path) {
            return self.answer_page(host, page, request, look, answer);
        }
        if let Some((page, hops)) = self.find_former(host, path) {
            let status = [301, 302, 307, 308][page.slot as usize % 4];
            let next =
                if hops == 1 { LinkTarget::Page(page) } else { LinkTarget::Former(page, hops - 1) };
            answer.set_status(status, "Moved.");
            push(&mut answer.headers, "Location: ");
            self.push_href(&mut answer.headers, host, next, look.style);
            return push(&mut answer.headers, "\r\n");
        }
        match path {
            "/loop/1" => answer_loop(answer, "2"),
            "/loop/2" => answer_loop(answer, "1"),
            path if path.starts_with("/gone/") => answer.set_status(410, "Gone."),
            path if self.push_trap(&mut answer.body, host, path) => {
                answer.begin(200, "text/html; charset=utf-8")
            }
            path if host.soft_404 => {
                self.show_instead(host, InsteadOfNotFound::NotFound, path, answer)
            }
            _ => answer.set_status(404, "Not found."),
        }
    }

    /// Finds the page that a former URL belongs to, and how many redirects away it is.
    fn find_former(&self, host: &Host, path: &str) -> Option<(PageId, u8)> {
        let (hops, path) = path.strip_prefix("/moved/")?.split_at_checked(1)?;
        let hops: u8 = hops.parse().ok()?;
        let page = self.find_path(host, path)?;
        matches!(self.fate(host, page.slot), Fate::Moved(most) if (1..=most).contains(&hops))
            .then_some((page, hops))
    }

    fn answer_page(
        &self,
        host: &Host,
        page: PageId,
        request: &WorldRequest<'_>,
        look: PageAppearance,
        answer: &mut WorldAnswer,
    ) {
        let life = self.life(page);
        if !life.covers(look.now_ms) {
            let admits_it =
                WorldDice::new(self.config.seed, DicePurpose::Life, page.key(), 2).chance(0.5);
            if host.soft_404 {
                return self.show_instead(
                    host,
                    InsteadOfNotFound::NotFound,
                    request.target,
                    answer,
                );
            }
            let gone = admits_it && life.created_ms <= look.now_ms;
            return answer.set_status(if gone { 410 } else { 404 }, "There is no such page.");
        }
        match self.fate(host, page.slot) {
            Fate::Failing => return answer.set_status(500, "Something is broken here."),
            Fate::Flaky if self.is_down(page, look.now_ms) => {
                return answer.set_status(503, "Something broke just now.");
            }
            _ => {}
        }
        if let Some(leading) = self.leading(host, page) {
            return self.lead(page, leading, look.style.port, answer);
        }
        answer.fault = host.fault.filter(|_| self.is_cut(host, page.slot));
        let stamp = self.stamp(host, page, look);
        if stamp.matches(page, request) {
            answer.status = 304;
            return stamp.push(&mut answer.headers, page);
        }
        let source = self.source(page);
        answer.begin(200, content_type(self.host(source.page.host).charset));
        stamp.push(&mut answer.headers, page);
        self.push_page(&mut answer.body, source, look, &mut answer.scratch);
    }

    fn stamp(&self, host: &Host, page: PageId, look: PageAppearance) -> ValidatorStamp {
        let changed_ms = self.last_change(page, look.now_ms);
        // While its second lasts, a Last-Modified could come to name two versions; so it is not given until then.
        let settled_ms = (changed_ms / 1000 < look.now_ms / 1000).then_some(changed_ms);
        let (etag, modified_ms) = match host.validators {
            HostValidators::Right => (Some(changed_ms), settled_ms),
            HostValidators::LastModifiedOnly => (None, settled_ms),
            HostValidators::Absent => (None, None),
            HostValidators::EtagAlwaysNew => (Some(look.nonce), None),
            HostValidators::EtagFrozen => (Some(1), None),
            HostValidators::LastModifiedNow => (None, Some(look.now_ms)),
        };
        ValidatorStamp {
            etag,
            modified_ms,
            honest: host.validators != HostValidators::LastModifiedNow,
        }
    }
}

/// The validators that go with one answer.
struct ValidatorStamp {
    etag: Option<u64>,
    modified_ms: Option<u64>,
    /// Whether the date says anything about the page.
    honest: bool,
}

impl ValidatorStamp {
    /// Whether the caller's copy is still good, as far as the host knows. An entity tag outranks a date.
    fn matches(&self, page: PageId, request: &WorldRequest<'_>) -> bool {
        match (request.if_none_match, request.if_modified_since) {
            (Some(tags), _) => self.etag.is_some_and(|etag| {
                let mut tag = Vec::with_capacity(32);
                push_etag(&mut tag, page, etag);
                tags.split(',').any(|given| given.trim().trim_start_matches("W/").as_bytes() == tag)
            }),
            (None, Some(date)) if self.honest => self
                .modified_ms
                .zip(read_http_date(date))
                .is_some_and(|(modified_ms, since)| modified_ms / 1000 <= since),
            _ => false,
        }
    }

    fn push(&self, out: &mut Vec<u8>, page: PageId) {
        if let Some(etag) = self.etag {
            push(out, "ETag: ");
            push_etag(out, page, etag);
            push(out, "\r\n");
        }
        if let Some(modified_ms) = self.modified_ms {
            push(out, "Last-Modified: ");
            push_http_date(out, modified_ms);
            push(out, "\r\n");
        }
    }
}

fn push_etag(out: &mut Vec<u8>, page: PageId, etag: u64) {
    out.push(b'"');
    push_hex(out, u64::from(page.slot));
    out.push(b'-');
    push_hex(out, etag);
    out.push(b'"');
}

fn answer_loop(answer: &mut WorldAnswer, next: &str) {
    answer.set_status(302, "Elsewhere.");
    push(&mut answer.headers, "Location: /loop/");
    push(&mut answer.headers, next);
    push(&mut answer.headers, "\r\n");
}

fn content_type(charset: Charset) -> &'static str {
    match charset {
        Charset::Utf8 => "text/html; charset=utf-8",
        Charset::Latin1 => "text/html; charset=iso-8859-1",
        Charset::Latin1Meta | Charset::Undeclared => "text/html",
    }
}
