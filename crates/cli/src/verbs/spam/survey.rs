//! What do some pages of each host, and the links between domains, speak of?
//!
//! Pages come in the order of their keys, which are hashes: the first few of a host are a fair sample of it.

use std::collections::HashMap;

use evercrawl_engine::importance::LinkGraph;
use evercrawl_model::{HostKey, Kind as Page, Outcome, Time};
use evercrawl_rank::Repeats;
use evercrawl_spam::{Kind, Look, Mirror, Sample, Sign, Site, Verdict, farms, mirrors, page_signs};
use evercrawl_state::PageRow;
use evercrawl_urls::Canonical;

use crate::verbs::Opened;
use crate::verbs::diff::versions::Archived;
use crate::verbs::rank::Method;
use crate::verbs::rank::names::{Groups, domain_of};

/// The share of pages in which a mirror agrees with its original, at least.
const MIRRORS: f64 = 0.8;
/// A page's sign counts against its host from this score on, where most pages show it.
const SHOWN: f64 = 0.5;

/// How sure it is what the crawl itself took for something else than a page.
const TAKEN_FOR: f64 = 0.95;

/// What was seen of a host.
pub(super) struct Seen {
    pub(super) name: String,
    /// When its first page was found.
    found: Time,
    /// The pages that were looked at, with what each shows.
    pub(super) pages: Vec<(String, Verdict)>,
    site: Site,
    sample: Sample,
    /// What its domain's links show.
    farm: Option<Sign>,
}

/// Looks at up to `most` pages of every host, in the order in which hosts were found.
pub(super) fn survey(opened: &Opened, most: usize) -> anyhow::Result<Vec<Seen>> {
    let farms = farm_signs(opened)?;
    let mut hosts: Vec<(HostKey, Seen)> = Vec::new();
    for page in opened.state.pages() {
        let (key, row) = page?;
        if row.kind != Page::Page || !(row.held() || was_parked(&row)) {
            continue;
        }
        let Some(url) = Canonical::from_trusted(row.url.clone()) else { continue };
        if hosts.last().is_none_or(|(host, _)| *host != key.host) {
            let farm = farms.get(&domain_of(url.authority().to_owned())).cloned();
            hosts.push((key.host, Seen::new(url.authority(), row.found, farm)));
        }
        if let Some((_, seen)) = hosts.last_mut() {
            seen.add(opened, &url, &row, most);
        }
    }
    let mut hosts: Vec<Seen> = hosts.into_iter().map(|(_, seen)| seen).collect();
    hosts.sort_by(|a, b| a.found.cmp(&b.found).then_with(|| a.name.cmp(&b.name)));
    Ok(hosts)
}

/// Hosts that hold what an earlier one does.
pub(super) fn copies(hosts: &[Seen]) -> Vec<Mirror> {
    let samples: Vec<Sample> = hosts.iter().map(|seen| seen.sample.clone()).collect();
    mirrors(&samples, MIRRORS)
}

impl Seen {
    fn new(name: &str, found: Time, farm: Option<Sign>) -> Self {
        let (site, sample) = (Site::default(), Sample::default());
        Seen { name: name.to_owned(), found, pages: Vec::new(), site, sample, farm }
    }

    fn add(&mut self, opened: &Opened, url: &Canonical, row: &PageRow, most: usize) {
        self.found = self.found.min(row.found);
        let digest = row.past.as_ref().and_then(|past| past.digest);
        if let Some([a, b, c, d, e, f, g, h, ..]) = digest {
            self.sample.add(url.path_and_query(), u64::from_be_bytes([a, b, c, d, e, f, g, h]));
        }
        if self.pages.len() >= most {
            return;
        }
        if was_parked(row) {
            self.pages.push((url.as_str().to_owned(), Verdict::new(vec![parked()])));
        } else if let Some(html) = html_of(opened, url) {
            let look = Look::of_html(&html);
            self.site.add(url.as_str(), &look);
            let verdict = Verdict::new(page_signs(url.as_str(), &look));
            self.pages.push((url.as_str().to_owned(), verdict));
        }
    }

    /// What speaks against the host: its pages together, its links, and what most of its pages show.
    pub(super) fn verdict(&self) -> Verdict {
        let mut signs = self.site.signs();
        signs.extend(self.farm.clone());
        signs.extend(Kind::ALL.into_iter().filter_map(|kind| self.usual(kind)));
        Verdict::new(signs)
    }

    /// The sign of a kind that most of its pages show: the middle one, since one page is no host.
    fn usual(&self, kind: Kind) -> Option<Sign> {
        let sign = |verdict: &Verdict| verdict.signs.iter().find(|sign| sign.kind == kind).cloned();
        let mut shown: Vec<(Sign, &str)> = Vec::new();
        for (url, verdict) in &self.pages {
            shown.extend(
                sign(verdict).filter(|sign| sign.score >= SHOWN).map(|sign| (sign, url.as_str())),
            );
        }
        if shown.len() * 2 <= self.pages.len() {
            return None;
        }
        shown.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
        let (pages, count, middle) = (self.pages.len(), shown.len(), shown.len() / 2);
        let (sign, url) = shown.swap_remove(middle);
        let evidence = format!("{count} of {pages} pages looked at, as {url}: {}", sign.evidence);
        Some(Sign { evidence, ..sign })
    }
}

/// The crawl itself takes some pages for the offer of a parked domain, and holds nothing of them.
fn was_parked(row: &PageRow) -> bool {
    !row.held() && row.past.as_ref().is_some_and(|past| past.outcome == Outcome::Parked)
}

fn parked() -> Sign {
    let evidence = "the crawl took it for the offer of a parked domain".to_owned();
    Sign { kind: Kind::Parked, score: TAKEN_FOR, evidence }
}

/// What the links of each registered domain show, by its name.
fn farm_signs(opened: &Opened) -> anyhow::Result<HashMap<String, Sign>> {
    let links = LinkGraph::read(&opened.state)?;
    let domains = Groups::read(Method::Domain, &links, opened)?;
    let found = farms(&domains.graph(&links, Repeats::Once));
    let named = domains.names().zip(0..);
    let signs = named.filter_map(|(name, n)| Some((name.to_owned(), found.sign(n)?.clone())));
    Ok(signs.collect())
}

/// The HTML that the archive holds of a page; `None` where it holds none, or none any more.
fn html_of(opened: &Opened, url: &Canonical) -> Option<String> {
    let mut archived = Archived::open(opened, url).ok()?;
    let latest = *archived.versions.first()?;
    archived.html(&latest).ok()?
}
