//! Which cookies are held, and which go with a request?

use std::collections::BTreeMap;

use url::Url;

use crate::cookie::{Cookie, Target};
use crate::matching::{path_matches, site_of};
use crate::set_cookie::{self, RejectedCookie};

/// The cookies of one crawl.
#[derive(Clone, Debug, Default)]
pub struct Jar {
    limits: JarLimits,
    /// By the registered domain.
    sites: BTreeMap<Box<str>, Vec<Cookie>>,
    count: usize,
    bytes: usize,
    next_sequence: u64,
    revision: u64,
    pub(crate) imported_from: Option<String>,
}

/// How much a jar holds. Beyond that, what was not used for longest goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JarLimits {
    /// Cookies of one registered domain.
    pub per_site: usize,
    /// Cookies in all.
    pub total: usize,
    /// Bytes of names, values, domains and paths in all.
    pub bytes: usize,
    /// Bytes of one `Cookie` header.
    pub header: usize,
}

impl Default for JarLimits {
    fn default() -> Self {
        JarLimits { per_site: 150, total: 20_000, bytes: 16 << 20, header: 16 << 10 }
    }
}

/// The value of a `Cookie` header.
#[derive(Clone, PartialEq, Eq)]
pub struct CookieHeader {
    /// As it is sent.
    pub value: Vec<u8>,
    /// The same with `***` for each value that the user imported.
    pub redacted: Vec<u8>,
}

impl std::fmt::Debug for CookieHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CookieHeader({})", String::from_utf8_lossy(&self.redacted))
    }
}

impl Jar {
    /// An empty jar that holds at most this much.
    pub fn new(limits: JarLimits) -> Self {
        Jar { limits, ..Jar::default() }
    }

    /// How many cookies it holds.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A number that grows whenever a cookie comes, changes or goes.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Takes a `Set-Cookie` value that came from `url`. An expired cookie removes the one that it names.
    pub fn store(&mut self, url: &Url, set_cookie: &[u8], now: i64) -> Result<(), RejectedCookie> {
        let cookie = set_cookie::read(url, set_cookie, now)?;
        if url.scheme() != "https" && self.overlays_secure(&cookie) {
            return Err(RejectedCookie::Insecure);
        }
        self.put(cookie, now);
        Ok(())
    }

    /// The `Cookie` header of a request for `url`: longer paths first, then older cookies.
    pub fn header(&mut self, url: &Url, now: i64) -> Option<CookieHeader> {
        let host = url.host_str()?;
        let target = Target { host, path: url.path(), secure: url.scheme() == "https" };
        let held = self.sites.get_mut(site_of(host))?;
        let mut sent: Vec<&mut Cookie> =
            held.iter_mut().filter(|cookie| cookie.goes_to(&target, now)).collect();
        sent.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.sequence));
        let mut header = CookieHeader { value: Vec::new(), redacted: Vec::new() };
        for cookie in sent {
            let more = cookie.name.len() + cookie.value.len() + 3;
            if header.value.len() + more > self.limits.header {
                break;
            }
            cookie.used = now;
            header.add(cookie);
        }
        (!header.value.is_empty()).then_some(header)
    }

    /// All cookies, in the order in which they were made.
    pub(crate) fn in_order(&self) -> Vec<&Cookie> {
        let mut all: Vec<&Cookie> = self.sites.values().flatten().collect();
        all.sort_by_key(|cookie| cookie.sequence);
        all
    }

    /// Adds a cookie, in place of the one with its name, domain and path.
    pub(crate) fn put(&mut self, mut cookie: Cookie, now: i64) {
        let site: Box<str> = site_of(&cookie.domain).into();
        let old = self.remove(&site, |held| held.is_replaced_by(&cookie));
        if cookie.is_expired(now) {
            return;
        }
        self.revision += 1;
        cookie.sequence = old.map_or(self.next_sequence, |old| old.sequence);
        self.next_sequence += 1;
        self.count += 1;
        self.bytes += cookie.bytes();
        self.sites.entry(site.clone()).or_default().push(cookie);
        self.keep_limits(&site, now);
    }

    /// Whether a cookie that is for TLS alone would go unseen for this one, which is not.
    fn overlays_secure(&self, cookie: &Cookie) -> bool {
        let held = self.sites.get(site_of(&cookie.domain)).into_iter().flatten();
        held.filter(|held| held.secure && held.name == cookie.name).any(|held| {
            let target = |path| Target { host: &cookie.domain, path, secure: true };
            let other = Target { host: &held.domain, path: "/", secure: true };
            let covers = Cookie { path: "/".into(), expires: None, ..cookie.clone() };
            path_matches(&cookie.path, &held.path)
                && (held.goes_to(&target(&held.path), i64::MIN) || covers.goes_to(&other, i64::MIN))
        })
    }

    /// Removes one cookie of a site.
    fn remove(&mut self, site: &str, which: impl Fn(&Cookie) -> bool) -> Option<Cookie> {
        let held = self.sites.get_mut(site)?;
        let at = held.iter().position(which)?;
        let old = held.remove(at);
        if held.is_empty() {
            self.sites.remove(site);
        }
        self.count -= 1;
        self.bytes -= old.bytes();
        self.revision += 1;
        Some(old)
    }

    fn keep_limits(&mut self, site: &str, now: i64) {
        let of_site = self.sites.get(site).map_or(0, Vec::len);
        if of_site > self.limits.per_site
            && let Some(held) = self.sites.get(site)
            && let Some(oldest) =
                held.iter().min_by_key(|it| (!it.is_expired(now), it.used, it.sequence))
        {
            let sequence = oldest.sequence;
            self.remove(site, |cookie| cookie.sequence == sequence);
        }
        if self.count > self.limits.total || self.bytes > self.limits.bytes {
            self.drop_oldest(now);
        }
    }

    /// Drops what has expired, and then what was not used for longest until a tenth of the room is free.
    fn drop_oldest(&mut self, now: i64) {
        let mut ages: Vec<(bool, i64, u64, usize)> = self
            .sites
            .values()
            .flatten()
            .map(|cookie| (!cookie.is_expired(now), cookie.used, cookie.sequence, cookie.bytes()))
            .collect();
        ages.sort_unstable();
        let (count, bytes) = (self.limits.total / 10 * 9, self.limits.bytes / 10 * 9);
        let (mut left, mut left_bytes) = (self.count, self.bytes);
        let mut last = None;
        for (is_live, used, sequence, size) in ages {
            if is_live && left <= count && left_bytes <= bytes {
                break;
            }
            (left, left_bytes) = (left - 1, left_bytes - size);
            last = Some((is_live, used, sequence));
        }
        let Some(last) = last else { return };
        self.sites.retain(|_, held| {
            held.retain(|cookie| (!cookie.is_expired(now), cookie.used, cookie.sequence) > last);
            !held.is_empty()
        });
        (self.count, self.bytes) = (left, left_bytes);
        self.revision += 1;
    }
}

impl CookieHeader {
    fn add(&mut self, cookie: &Cookie) {
        let shown: &[u8] = if cookie.imported { b"***" } else { &cookie.value };
        for (text, value) in [(&mut self.value, &*cookie.value), (&mut self.redacted, shown)] {
            if !text.is_empty() {
                text.extend_from_slice(b"; ");
            }
            if !cookie.name.is_empty() {
                text.extend_from_slice(&cookie.name);
                text.push(b'=');
            }
            text.extend_from_slice(value);
        }
    }
}
