//! Where does a page lead, and may we go there? Links become discoveries or counted refusals.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use evercrawl_extract::charset::QueryEncoding;
use evercrawl_extract::{
    self as extract, Content, Extracted, LinkKind, LinkRef, Listing, Options, Page,
};
use evercrawl_model::{Band, Discovery, Keyer, Kind, PageKey, Refusal, Shape, Time};
use evercrawl_sites::Kin;
use evercrawl_urls::{Base, Canonical, Gate, Risk, RuleError, Rules, Scope, Steps, shape};
use xxhash_rust::xxh3::xxh3_64;

use crate::config::{CrawlConfig, Take};
use crate::frontier::Lease;

/// Bands of what is found, besides by depth.
const SITEMAP_BAND: Band = Band::FIRST;

/// How many links were refused, by reason.
#[derive(Clone, Debug, Default)]
pub struct RefusalCounts([u32; Refusal::ALL.len()]);

impl RefusalCounts {
    /// One more for `reason`.
    pub fn add(&mut self, reason: Refusal) {
        self.0[usize::from(reason.number())] += 1;
    }

    /// The reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Refusal, u64)> + '_ {
        let counts = Refusal::ALL.iter().zip(self.0);
        counts.filter(|(_, count)| *count > 0).map(|(&reason, count)| (reason, count.into()))
    }
}

/// Where discoveries and refusals go.
pub type Sink<'a> = (&'a mut Vec<Discovery>, &'a mut RefusalCounts);

/// Turns links into discoveries.
#[derive(Clone)]
pub struct LinkReader {
    gate: Arc<RwLock<Gate>>,
    keyer: Keyer,
    steps: Steps,
    take: Take,
    options: Arc<Options>,
}

/// What a link inherits from where it was found.
struct From<'a> {
    lease: &'a Lease,
    depth: u16,
    hops: u8,
    /// The number of the page as one that announces others, where it does.
    hub: Option<u32>,
    at: Time,
}

impl LinkReader {
    /// A reader for a crawl, with the gate that all its parts share.
    pub fn new(config: &CrawlConfig, gate: Arc<RwLock<Gate>>, keyer: Keyer) -> Self {
        let mut options = Options::default();
        options.robots_names.push(config.agent.to_ascii_lowercase());
        LinkReader { gate, keyer, steps: config.steps, take: config.take, options: options.into() }
    }

    /// What to take from pages.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Reads what a page leads to, and returns what is to be kept of it: the pages that it links to.
    pub fn read(
        &self,
        lease: &Lease,
        extracted: &Extracted<'_>,
        nofollow: bool,
        at: Time,
        sink: Sink<'_>,
    ) -> Option<Vec<PageKey>> {
        let links = match &extracted.content {
            Content::Page(page) => page.links.len(),
            _ => 0,
        };
        let hub = Kin::hub(&lease.row.url, links);
        let from = From { lease, depth: lease.row.depth.saturating_add(1), hops: 0, hub, at };
        match &extracted.content {
            Content::Page(page) => {
                let links = self.page(&from, page, extracted.charset, nofollow, sink);
                self.kept(&from, links)
            }
            Content::Listing(listing) => {
                // It names pages for machines: no author speaks for any of them by it.
                self.listing(&from, listing, sink);
                None
            }
            Content::Text(_) | Content::Nothing => self.kept(&from, Vec::new()),
        }
    }

    /// Links as they are kept; what a page says of itself is left out.
    fn kept(&self, from: &From<'_>, mut links: Vec<PageKey>) -> Option<Vec<PageKey>> {
        links.retain(|to| *to != from.lease.page);
        links.sort_unstable();
        self.take.keep_links.then_some(links)
    }

    /// The entries of a sitemap or feed, with when their source says they changed.
    fn listing(&self, from: &From<'_>, listing: &Listing, sink: Sink<'_>) {
        let index = listing.kind == extract::Kind::SitemapIndex;
        // A list of lists leads no further away from the seed than the list it names.
        let depth = if index { from.lease.row.depth } else { from.depth };
        let from = &From { depth, ..*from };
        let Ok(base) = Base::new(&from.lease.row.url, self.steps) else { return };
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        for entry in &listing.entries {
            let judged = base.join(&entry.url).and_then(|url| match index {
                true => self.judged_list(&gate, from, url),
                false => self.judged(&gate, from, url),
            });
            match judged {
                Ok(found) => sink.0.push(Discovery {
                    kind: if index { Kind::Sitemap } else { Kind::Page },
                    band: if index { SITEMAP_BAND } else { found.band },
                    claimed_change: entry.modified.or(entry.published),
                    ..found
                }),
                Err(reason) => sink.1.add(reason),
            }
        }
    }

    /// The links of a page, and those among them that a reader would follow to a page.
    fn page(
        &self,
        from: &From<'_>,
        page: &Page,
        charset: Option<&str>,
        nofollow: bool,
        sink: Sink<'_>,
    ) -> Vec<PageKey> {
        let mut followed = Vec::new();
        let Ok(own) = Base::new(&from.lease.row.url, self.steps) else { return followed };
        let base = page.base.as_deref().and_then(|href| own.rebased(href).ok()).unwrap_or(own);
        let mut seen = HashSet::with_capacity(page.links.len());
        let mut keys = HashSet::with_capacity(page.links.len());
        let queries = charset.and_then(QueryEncoding::of);
        let join = |href: &str| match queries {
            Some(queries) => base.join_encoded(href, &|query| queries.encode(query)),
            None => base.join(href),
        };
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        for link in page.links.iter() {
            // Menus repeat the same words; what differs only behind `#` is the same page.
            let href = link.href.split('#').next().unwrap_or_default();
            if href.is_empty() || !self.follows(&link) || !seen.insert(xxh3_64(href.as_bytes())) {
                continue;
            }
            if self.take.page_directives && (nofollow || link.rel.nofollow) {
                sink.1.add(Refusal::NoFollow);
                continue;
            }
            match join(href).and_then(|url| self.judged(&gate, from, url)) {
                Ok(found) if keys.insert(found.page.url) => {
                    let kind = if link.kind == LinkKind::Feed { Kind::Feed } else { Kind::Page };
                    if link.kind.leads_to_page() {
                        followed.push(found.page);
                    }
                    sink.0.push(Discovery { kind, ..found });
                }
                Ok(_) => {}
                Err(reason) => sink.1.add(reason),
            }
        }
        followed
    }

    fn follows(&self, link: &LinkRef<'_>) -> bool {
        link.kind.leads_to_page()
            || link.kind == LinkKind::Feed
            || link.kind == LinkKind::Embed && self.take.embeds
    }

    /// The target of a redirect: as far from the seed as the page that led to it, and as urgent.
    /// Returns what is to be kept of it, as of the one link of a page.
    pub fn redirected(
        &self,
        lease: &Lease,
        target: Result<Canonical, Refusal>,
        at: Time,
        sink: Sink<'_>,
    ) -> Option<Vec<PageKey>> {
        let hops = lease.row.hops.saturating_add(1);
        if hops > self.take.max_redirects {
            sink.1.add(Refusal::RedirectLimit);
            return None;
        }
        let from = From { lease, depth: lease.row.depth, hops, hub: lease.row.hub, at };
        let mut followed = Vec::new();
        if let (Ok(target), true) = (&target, lease.row.seed) {
            // A site that moved is still the site that was asked for.
            self.widen(target);
        }
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        match target.and_then(|url| self.judged(&gate, &from, url)) {
            Ok(found) => {
                followed.push(found.page);
                sink.0.push(Discovery { seed: lease.row.seed, kind: lease.row.kind, ..found });
            }
            Err(reason) => sink.1.add(reason),
        }
        self.kept(&from, followed)
    }

    /// A bare domain that cannot be had by `https` is tried by `http`.
    pub fn plain_twin(&self, lease: &Lease, at: Time) -> Option<Discovery> {
        let rest = lease.row.url.strip_prefix("https://").filter(|_| lease.row.guess)?;
        let url = self.steps.canonicalize(&format!("http://{rest}")).ok()?;
        Some(Discovery { tags: lease.row.tags, ..self.seed(url, 0, at) })
    }

    /// A URL that the user gave. It widens the scope.
    pub fn seed(&self, url: Canonical, tags: u32, at: Time) -> Discovery {
        self.widen(&url);
        self.given(url, tags, at)
    }

    /// The same before it widens the scope.
    pub fn given(&self, url: Canonical, tags: u32, at: Time) -> Discovery {
        Discovery { seed: true, tags, band: Band::FIRST, ..self.discovery(url, 0, at) }
    }

    /// A URL that somebody says has changed, and which is not known: as near as a seed's links.
    pub fn pushed(&self, url: Canonical, at: Time) -> Result<Discovery, Refusal> {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        gate.judge(&url, 1, at)?;
        Ok(Discovery { shape: self.shape(&url), ..self.discovery(url, 1, at) })
    }

    /// A list of pages that a host is known or likely to have.
    pub fn list(&self, url: Canonical, via: &Lease, guess: bool, at: Time) -> Discovery {
        Discovery {
            kind: Kind::Sitemap,
            guess,
            tags: via.row.tags,
            band: SITEMAP_BAND,
            ..self.discovery(url, 0, at)
        }
    }

    /// An address that cannot exist, on the host of a page.
    pub fn probe(&self, of: &Lease, at: Time) -> Option<Discovery> {
        let own = Canonical::from_trusted(of.row.url.clone())?;
        // Made from the secret of the data directory: no host can tell that it is a question.
        let nonsense = xxh3_64(&self.key(&own).0.host.host.to_le_bytes());
        let url = self.steps.canonicalize(&format!("{}/{nonsense:016x}", own.origin())).ok()?;
        let found = self.discovery(url, 0, at);
        Some(Discovery {
            kind: Kind::Probe,
            guess: true,
            band: Band::FIRST,
            host_cap: None,
            ..found
        })
    }

    /// Where a redirect leads.
    pub fn target(&self, lease: &Lease, location: &str) -> Result<Canonical, Refusal> {
        Base::new(&lease.row.url, self.steps)?.join(location)
    }

    /// Whether a list of pages may be fetched.
    pub fn list_verdict(&self, url: &Canonical, at: Time) -> Result<(), Refusal> {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        packed_allowed(gate.judge(url, 0, at))
    }

    /// The verdict that a URL would get, `depth` links away from a seed.
    pub fn verdict(&self, url: &Canonical, depth: u16, at: Time) -> Result<(), (Refusal, String)> {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let words = || gate.explain(url, depth, at).unwrap_or_default();
        gate.judge(url, depth, at).map_err(|reason| (reason, words()))
    }

    /// Other rules hold from now on, for all that share the gate; the scope stays.
    pub fn set_rules(&self, rules: Rules) -> Result<(), RuleError> {
        let mut next = Gate::new(Scope::default(), rules)?;
        let mut gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(next.scope_mut(), gate.scope_mut());
        *gate = next;
        Ok(())
    }

    /// What lies around a seed belongs to the crawl from now on.
    pub fn widen(&self, url: &Canonical) {
        self.gate.write().unwrap_or_else(PoisonError::into_inner).scope_mut().add(url);
    }

    fn judged(&self, gate: &Gate, from: &From<'_>, url: Canonical) -> Result<Discovery, Refusal> {
        gate.judge(&url, from.depth, from.at)?;
        Ok(self.found(from, url))
    }

    fn judged_list(
        &self,
        gate: &Gate,
        from: &From<'_>,
        url: Canonical,
    ) -> Result<Discovery, Refusal> {
        packed_allowed(gate.judge(&url, from.depth, from.at))?;
        Ok(self.found(from, url))
    }

    fn found(&self, from: &From<'_>, url: Canonical) -> Discovery {
        Discovery {
            hops: from.hops,
            via: Some(from.lease.page),
            hub: from.hub,
            tags: from.lease.row.tags,
            shape: self.shape(&url),
            ..self.discovery(url, from.depth, from.at)
        }
    }

    fn shape(&self, url: &Canonical) -> Option<Shape> {
        let shape = shape(url)?;
        let numbers = shape.risk == Risk::Numbers;
        let cap = if numbers { self.take.number_cap } else { self.take.shape_cap };
        Some(Shape { hash: shape.hash, cap, refusal: shape.risk.refusal() })
    }

    fn discovery(&self, url: Canonical, depth: u16, at: Time) -> Discovery {
        let found = Discovery::new(self.key(&url), url.into_string(), depth, at);
        Discovery { host_cap: self.take.pages_per_host, ..found }
    }

    /// The key of a URL, and more of its hash.
    pub fn key(&self, url: &Canonical) -> (PageKey, u64) {
        self.keyer.page(self.keyer.host(url.domain(), url.authority()), url.as_str())
    }
}

/// Sitemaps come packed, so an extension that pages are filtered by says nothing against them.
fn packed_allowed(verdict: Result<(), Refusal>) -> Result<(), Refusal> {
    if verdict == Err(Refusal::Extension) { Ok(()) } else { verdict }
}
