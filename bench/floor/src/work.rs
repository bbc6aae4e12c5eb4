//! What is done with a page? The steps that no crawler with an archive can do without.

use std::collections::HashSet;
use std::hint::black_box;

use libdeflater::{CompressionLvl, Compressor};
use sha1::{Digest, Sha1};
use url::Url;

use crate::Step;
use crate::links::Links;

/// The level at which the crawler packs, unless told otherwise.
const GZIP_LEVEL: i32 = 1;

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) pages: u64,
    pub(crate) links: u64,
    pub(crate) bytes: u64,
    pub(crate) packed: u64,
}

/// The list of URLs, and what becomes of the pages behind them.
pub(crate) struct Work {
    until: Step,
    list: Vec<String>,
    seen: HashSet<String>,
    next: usize,
    in_flight: usize,
    totals: Totals,
    links: Links,
    compressor: Compressor,
    packed: Vec<u8>,
}

/// What a connection does next.
pub(crate) enum Next {
    Url(Url),
    Wait,
    Over,
}

impl Work {
    /// Work that begins with `list` and goes no further than `until`.
    pub(crate) fn new(until: Step, list: Vec<String>) -> Self {
        Work {
            until,
            seen: list.iter().cloned().collect(),
            list,
            next: 0,
            in_flight: 0,
            totals: Totals::default(),
            links: Links::default(),
            compressor: Compressor::new(CompressionLvl::new(GZIP_LEVEL).unwrap_or_default()),
            packed: Vec::new(),
        }
    }

    pub(crate) fn next(&mut self) -> Next {
        match self.list.get(self.next).and_then(|url| Url::parse(url).ok()) {
            Some(url) => {
                self.next += 1;
                self.in_flight += 1;
                Next::Url(url)
            }
            None if self.in_flight == 0 => Next::Over,
            None => Next::Wait,
        }
    }

    /// A page has come.
    pub(crate) fn take(&mut self, url: &Url, body: &[u8]) {
        self.in_flight -= 1;
        self.totals.pages += 1;
        self.totals.bytes += body.len() as u64;
        if self.until >= Step::Sha1 {
            black_box(Sha1::digest(body));
        }
        if self.until >= Step::Links {
            self.discover(url, body);
        }
        if self.until >= Step::Gzip {
            self.pack(body);
        }
    }

    fn discover(&mut self, page: &Url, body: &[u8]) {
        for href in self.links.read(body) {
            self.totals.links += 1;
            let Ok(mut url) = page.join(&href) else { continue };
            if url.host_str() != page.host_str() || url.port() != page.port() {
                continue;
            }
            url.set_fragment(None);
            if !self.seen.contains(url.as_str()) {
                self.seen.insert(url.as_str().to_owned());
                self.list.push(url.into());
            }
        }
    }

    fn pack(&mut self, body: &[u8]) {
        self.packed.resize(self.compressor.gzip_compress_bound(body.len()), 0);
        let packed = self.compressor.gzip_compress(body, &mut self.packed);
        self.totals.packed += packed.unwrap_or_default() as u64;
    }

    /// The totals, and the URLs of all pages.
    pub(crate) fn finish(&mut self) -> (Totals, Vec<String>) {
        (self.totals, std::mem::take(&mut self.list))
    }
}
