//! Where does a page lead, and may we go there? Links become discoveries or counted refusals.

mod verdicts;

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use evercrawl_extract::charset::QueryEncoding;
use evercrawl_extract::{
    self as extract, Content, Extraction, HtmlOptions, LinkKind, LinkRef, LinkSources, Links,
    Listing,
};
use evercrawl_model::{Band, Discovery, Keyer, PageKey, PageKind, Refusal, Time, UrlShape};
use evercrawl_rank::Topic;
use evercrawl_sites::GroupKeys;
use evercrawl_state::Seen;
use evercrawl_urls::{
    Base, Canonical, CanonicalSteps, FilterRules, Risk, RuleError, Scope, UrlFilter, family_of,
};
use memchr::memchr;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::config::{ReadingConfig, Take};
use crate::frontier::Lease;
use crate::guesses::Guesses;

/// Bands of what is found, besides by depth.
const SITEMAP_BAND: Band = Band::FIRST;

/// Whether a page is in the crawl only because another is made of it: by itself it would not be let in.
fn is_requisite(gate: &UrlFilter, lease: &Lease, at: Time) -> bool {
    let url = Canonical::from_trusted(lease.row.url.clone());
    url.is_some_and(|url| gate.check_url(&url, lease.row.depth, at) == Err(Refusal::OutOfScope))
}

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

/// Where a page leads.
#[derive(Clone, Debug, Default)]
pub struct FoundLinks {
    /// Links that may enter the frontier.
    pub found: Vec<Discovery>,
    /// How many more may, and are in it already.
    pub known: usize,
    /// Links that may not, by reason.
    pub refused: RefusalCounts,
}

/// Turns links into discoveries.
#[derive(Clone)]
pub struct LinkReader {
    gate: Arc<RwLock<UrlFilter>>,
    keyer: Keyer,
    steps: CanonicalSteps,
    take: Take,
    options: Arc<HtmlOptions>,
    /// The same, with the places of lines.
    options_with_places: Arc<HtmlOptions>,
    seen: Seen,
    guesses: Guesses,
    /// What new pages should be about, where they come by topic.
    topic: Option<Arc<Topic>>,
}

/// The most bytes that are kept of the words of a link, and of all links of a page.
const ANCHOR: usize = 64;
const ANCHORS: usize = 4096;

/// What is kept of a page's links.
#[derive(Debug, Default)]
pub struct Kept {
    /// The pages that it links to, in the order of their keys; `None` leaves what was known.
    pub links: Option<Vec<PageKey>>,
    /// The words that each link is put in, where they are kept.
    pub anchors: Vec<Box<str>>,
}

/// What a link inherits from where it was found.
struct From<'a> {
    lease: &'a Lease,
    /// Name and port of its host.
    authority: &'a str,
    depth: u16,
    hops: u8,
    /// The number of the page as one that announces others, where it does.
    hub: Option<u32>,
    at: Time,
}

/// Where links were read.
struct Source<'p> {
    links: &'p Links,
    /// What the page says its links are relative to.
    base: Option<&'p str>,
    charset: Option<&'p str>,
    nofollow: bool,
}

impl LinkReader {
    /// A reader for a crawl, with the gate that all its parts share.
    pub fn new(config: &ReadingConfig, gate: Arc<RwLock<UrlFilter>>, keyer: Keyer) -> Self {
        let mut options = HtmlOptions::default();
        options.robots_names.push(config.agent.to_ascii_lowercase());
        options.anchor_text = config.take.keep_anchors || config.topic.is_some();
        options.sources = config.take.sources;
        let options_with_places = Arc::new(HtmlOptions { places: true, ..options.clone() });
        let (steps, take, options) = (config.steps, config.take, options.into());
        let topic = config.topic.clone().map(Arc::new);
        let (seen, guesses) = (Seen::default(), Guesses::default());
        LinkReader { gate, keyer, steps, take, options, options_with_places, topic, seen, guesses }
    }

    /// The same, leaving out links of pages to what was `seen`.
    pub fn without(self, seen: Seen) -> Self {
        LinkReader { seen, ..self }
    }

    /// How much a text is about what the user looks for, where that is asked for.
    pub(crate) fn topic_likeness(&self, text: &str) -> f64 {
        self.topic.as_ref().map_or(0.0, |topic| topic.match_text(text))
    }

    /// What to take from pages of which places matter.
    pub fn options_with_places(&self) -> &HtmlOptions {
        &self.options_with_places
    }

    /// What to take from pages.
    pub fn options(&self) -> &HtmlOptions {
        &self.options
    }

    /// Reads what a page and the headers of its answer lead to, and returns what is to be kept of it: the pages that it
    /// links to.
    pub fn read(
        &self,
        lease: &Lease,
        (extracted, headers): (&Extraction<'_>, &Links),
        nofollow: bool,
        at: Time,
        found_links: &mut FoundLinks,
    ) -> Kept {
        let (links, base) = match &extracted.content {
            Content::Page(page) => (page.links.len(), page.base.as_deref()),
            _ => (0, None),
        };
        let hub = GroupKeys::hub_key(&lease.row.url, links);
        let depth = lease.row.depth.saturating_add(1);
        let from = From { lease, authority: authority(lease), depth, hops: 0, hub, at };
        if let Content::Listing(listing) = &extracted.content {
            // It names pages for machines: no author speaks for any of them by it.
            self.listing(&from, listing, found_links);
            return Kept::default();
        }
        let source = Source { links: extracted.links, base, charset: extracted.charset, nofollow };
        let mut followed = self.page(&from, &source, found_links);
        if !headers.is_empty() {
            let source = Source { links: headers, base: None, charset: None, nofollow };
            followed.extend(self.page(&from, &source, found_links));
        }
        self.kept(&from, followed)
    }

    /// Reads where a `Refresh` header leads: a link like that of a `meta` element.
    pub fn read_refresh(
        &self,
        lease: &Lease,
        refresh: Option<&str>,
        nofollow: bool,
        at: Time,
        found_links: &mut FoundLinks,
    ) {
        let Some(target) = refresh.and_then(extract::refresh_target) else { return };
        if self.take.page_directives && nofollow {
            return found_links.refused.add(Refusal::NoFollow);
        }
        let depth = lease.row.depth.saturating_add(1);
        let from = From { lease, authority: authority(lease), depth, hops: 0, hub: None, at };
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        match self.target(lease, target).and_then(|url| self.judged(&gate, &from, url)) {
            Ok(found) => found_links.found.push(found),
            Err(reason) => found_links.refused.add(reason),
        }
    }

    /// Links as they are kept; what a page says of itself is left out.
    fn kept(&self, from: &From<'_>, mut links: Vec<(PageKey, &str)>) -> Kept {
        if !self.take.keep_links {
            return Kept::default();
        }
        links.retain(|(to, _)| *to != from.lease.page);
        links.sort_unstable_by_key(|(to, _)| *to);
        links.dedup_by_key(|(to, _)| *to);
        let anchors = match self.take.keep_anchors {
            true => bounded(links.iter().map(|(_, words)| *words)),
            false => Vec::new(),
        };
        Kept { links: Some(links.into_iter().map(|(to, _)| to).collect()), anchors }
    }

    /// The entries of a sitemap or feed, with when their source says they changed.
    fn listing(&self, from: &From<'_>, listing: &Listing, found_links: &mut FoundLinks) {
        let index = listing.kind == extract::ContentKind::SitemapIndex;
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
                Ok(found) => found_links.found.push(Discovery {
                    kind: if index { PageKind::Sitemap } else { PageKind::Page },
                    band: if index { SITEMAP_BAND } else { found.band },
                    claimed_change: entry.modified.or(entry.published),
                    ..found
                }),
                Err(reason) => found_links.refused.add(reason),
            }
        }
    }

    /// The links of a page, and those among them that a reader would follow to a page.
    fn page<'p>(
        &self,
        from: &From<'_>,
        page: &Source<'p>,
        found_links: &mut FoundLinks,
    ) -> Vec<(PageKey, &'p str)> {
        let mut followed = Vec::new();
        let Ok(own) = Base::new(&from.lease.row.url, self.steps) else { return followed };
        let base = page.base.and_then(|href| own.with_base_href(href).ok()).unwrap_or(own);
        let mut seen = Hashes::with_capacity_and_hasher(page.links.len(), AsTheyAre);
        let mut keys = Hashes::with_capacity_and_hasher(page.links.len(), AsTheyAre);
        let queries = page.charset.and_then(QueryEncoding::from_name);
        let join = |href: &str| match queries {
            Some(queries) => base.join_encoded(href, &|query| queries.encode(query)),
            None => base.join(href),
        };
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let may_lie_anywhere = self.may_lie_anywhere(&gate, from);
        for link in page.links.iter() {
            // Menus repeat the same words; what differs only behind `#` is the same page.
            let href = &link.href[..memchr(b'#', link.href.as_bytes()).unwrap_or(link.href.len())];
            // By a secret seed: nobody can publish links that fall into one bucket.
            let hash = || xxh3_64_with_seed(href.as_bytes(), self.keyer.seed());
            if href.is_empty() || !self.follows(&link) || !seen.insert(hash()) {
                continue;
            }
            if self.take.page_directives && (page.nofollow || link.rel.nofollow) {
                found_links.refused.add(Refusal::NoFollow);
                continue;
            }
            let requisite = may_lie_anywhere(link.kind);
            let looked_up = join(href).and_then(|url| self.look_up(&gate, from, url, requisite));
            let looked_up = looked_up.map_err(|reason| found_links.refused.add(reason));
            let Ok((key, url)) = looked_up else { continue };
            if !keys.insert(key.0.url) {
                continue;
            }
            if link.kind.leads_to_page() {
                followed.push((key.0, link.label));
            }
            let Some(url) = url else {
                found_links.known += 1;
                continue;
            };
            let guess = link.place.is_guess();
            if guess && !self.guesses.admit(key.0, link.place) {
                found_links.refused.add(Refusal::Unlikely);
                continue;
            }
            let kind = if link.kind == LinkKind::Feed { PageKind::Feed } else { PageKind::Page };
            let on_topic = self.on_topic(url.as_str(), link.label);
            let found = Discovery { kind, on_topic, guess, ..self.found(from, key, url) };
            found_links.found.push(found);
        }
        followed
    }

    /// Which links of a page lead to what it is made of and may lie on any host: frames only where the page itself is
    /// of the crawl, so that frames within frames end.
    fn may_lie_anywhere(
        &self,
        gate: &UrlFilter,
        from: &From<'_>,
    ) -> impl Fn(LinkKind) -> bool + use<> {
        let embeds = self.take.embeds_from_any_host;
        let frames = embeds && !is_requisite(gate, from.lease, from.at);
        move |kind| match kind {
            LinkKind::Embed => embeds,
            LinkKind::Frame => frames,
            _ => false,
        }
    }

    /// What a link is known by, and its URL where that may be new. What is known was let in when it was
    /// found, and is not judged again. By topic, what speaks for a page is otherwise with every link to it.
    fn look_up(
        &self,
        gate: &UrlFilter,
        from: &From<'_>,
        url: Canonical,
        requisite: bool,
    ) -> Result<((PageKey, u64), Option<Canonical>), Refusal> {
        let key = self.key_from(from, &url);
        if self.topic.is_none() && self.seen.has(key.0, key.1) {
            return Ok((key, None));
        }
        if requisite {
            return gate.check_requisite(&url, from.at).map(|()| (key, Some(url)));
        }
        judged(gate, from, url).map(|url| (key, Some(url)))
    }

    /// How much an address and the words of a link say of what the user looks for, of 255.
    fn on_topic(&self, url: &str, words: &str) -> u8 {
        let likeness = |topic: &Arc<Topic>| topic.match_text(words).max(topic.match_text(url));
        let likeness = self.topic.as_ref().map_or(0.0, likeness);
        (255.0 * likeness).round().clamp(0.0, 255.0) as u8
    }

    fn follows(&self, link: &LinkRef<'_>) -> bool {
        let needs = match link.kind {
            LinkKind::Embed | LinkKind::Cite | LinkKind::Ping => LinkSources::Requisites,
            LinkKind::Submission | LinkKind::Mention => LinkSources::All,
            kind if kind.leads_to_page() || kind == LinkKind::Feed => LinkSources::Pages,
            _ => return false,
        };
        self.take.sources >= needs
    }

    /// What came of addresses that were only guessed.
    pub(crate) fn guesses(&self) -> &Guesses {
        &self.guesses
    }

    /// The target of a redirect: as far from the seed as the page that led to it, and as urgent.
    /// Returns what is to be kept of it, as of the one link of a page.
    pub fn redirected(
        &self,
        lease: &Lease,
        target: Result<Canonical, Refusal>,
        at: Time,
        found_links: &mut FoundLinks,
    ) -> Kept {
        let hops = lease.row.hops.saturating_add(1);
        if hops > self.take.max_redirects {
            found_links.refused.add(Refusal::RedirectLimit);
            return Kept::default();
        }
        let (authority, depth, hub) = (authority(lease), lease.row.depth, lease.row.hub);
        let from = From { lease, authority, depth, hops, hub, at };
        let mut followed = Vec::new();
        if let (Ok(target), true) = (&target, lease.row.seed) {
            // A site that moved is still the site that was asked for.
            self.widen(target);
        }
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let requisite = self.take.embeds_from_any_host && is_requisite(&gate, lease, at);
        let judged = target.and_then(|url| match requisite {
            true => gate
                .check_requisite(&url, at)
                .map(|()| self.found(&from, self.key_from(&from, &url), url)),
            false => self.judged(&gate, &from, url),
        });
        match judged {
            Ok(found) => {
                followed.push((found.page, ""));
                found_links.found.push(Discovery {
                    seed: lease.row.seed,
                    kind: lease.row.kind,
                    ..found
                });
            }
            Err(reason) => found_links.refused.add(reason),
        }
        self.kept(&from, followed)
    }

    /// A bare domain that does not answer by `https` is tried by `http`.
    pub(crate) fn plain_twin(&self, lease: &Lease, at: Time) -> Option<Discovery> {
        let is_bare = lease.row.guess && lease.row.seed;
        let rest = lease.row.url.strip_prefix("https://").filter(|_| is_bare)?;
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
        gate.check_url(&url, 1, at)?;
        Ok(Discovery { shape: self.shape(&url), ..self.discovery(url, 1, at) })
    }

    /// A list of pages that a host is known or likely to have.
    pub fn list(&self, url: Canonical, via: &Lease, guess: bool, at: Time) -> Discovery {
        Discovery {
            kind: PageKind::Sitemap,
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
            kind: PageKind::Probe,
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

    /// Other rules hold from now on, for all that share the gate; the scope stays.
    pub fn set_rules(&self, rules: FilterRules) -> Result<(), RuleError> {
        let mut next = UrlFilter::new(Scope::default(), rules)?;
        let mut gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(next.scope_mut(), gate.scope_mut());
        *gate = next;
        Ok(())
    }

    /// What lies around a seed belongs to the crawl from now on.
    pub fn widen(&self, url: &Canonical) {
        self.gate.write().unwrap_or_else(PoisonError::into_inner).scope_mut().add(url);
    }

    fn judged(
        &self,
        gate: &UrlFilter,
        from: &From<'_>,
        url: Canonical,
    ) -> Result<Discovery, Refusal> {
        judged(gate, from, url).map(|url| self.found(from, self.key_from(from, &url), url))
    }

    fn judged_list(
        &self,
        gate: &UrlFilter,
        from: &From<'_>,
        url: Canonical,
    ) -> Result<Discovery, Refusal> {
        packed_allowed(gate.check_url(&url, from.depth, from.at))?;
        Ok(self.found(from, self.key_from(from, &url), url))
    }

    fn found(&self, from: &From<'_>, key: (PageKey, u64), url: Canonical) -> Discovery {
        Discovery {
            hops: from.hops,
            via: Some(from.lease.page),
            hub: from.hub,
            tags: from.lease.row.tags,
            shape: self.shape(&url),
            host_cap: self.take.pages_per_host,
            ..Discovery::new(key, url.into_string(), from.depth, from.at)
        }
    }

    fn shape(&self, url: &Canonical) -> Option<UrlShape> {
        let shape = family_of(url)?;
        let numbers = shape.risk == Risk::Numbers;
        let cap = if numbers { self.take.number_cap } else { self.take.shape_cap };
        Some(UrlShape { hash: shape.hash, cap, refusal: shape.risk.refusal() })
    }

    fn discovery(&self, url: Canonical, depth: u16, at: Time) -> Discovery {
        let found = Discovery::new(self.key(&url), url.into_string(), depth, at);
        Discovery { host_cap: self.take.pages_per_host, ..found }
    }

    /// The key of a URL, and more of its hash.
    pub fn key(&self, url: &Canonical) -> (PageKey, u64) {
        self.keyer.page(self.keyer.host(url.domain(), url.authority()), url.as_str())
    }

    /// The same of a link: most stay on the host of their page, whose key is known.
    fn key_from(&self, from: &From<'_>, url: &Canonical) -> (PageKey, u64) {
        if url.authority() == from.authority {
            return self.keyer.page(from.lease.page.host, url.as_str());
        }
        self.key(url)
    }
}

fn judged(gate: &UrlFilter, from: &From<'_>, url: Canonical) -> Result<Canonical, Refusal> {
    gate.check_url(&url, from.depth, from.at).map(|()| url)
}

/// Name and port of the host of a leased page.
fn authority(lease: &Lease) -> &str {
    lease.row.url.split('/').nth(2).unwrap_or_default()
}

/// Numbers that are hashes already.
type Hashes = HashSet<u64, AsTheyAre>;

#[derive(Clone, Copy)]
struct AsTheyAre;

impl BuildHasher for AsTheyAre {
    type Hasher = AsItIs;

    fn build_hasher(&self) -> AsItIs {
        AsItIs(0)
    }
}

struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// The words of links with single spaces, as much of each and of all as is kept.
fn bounded<'a>(words: impl Iterator<Item = &'a str>) -> Vec<Box<str>> {
    let mut left = ANCHORS;
    let bounded = words.map(|words| {
        let text = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = &text[..text.floor_char_boundary(ANCHOR.min(left))];
        left -= text.len();
        Box::from(text)
    });
    bounded.collect()
}

/// Sitemaps come packed, so an extension that pages are filtered by says nothing against them.
fn packed_allowed(verdict: Result<(), Refusal>) -> Result<(), Refusal> {
    if verdict == Err(Refusal::Extension) { Ok(()) } else { verdict }
}
