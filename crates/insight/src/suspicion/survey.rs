//! What do some pages of each host, and the links between domains, speak of? Read from what was archived.
//!
//! Pages come in the order of their keys, which are hashes: the first few of a host are a fair sample of it.

use std::collections::HashMap;

use evercrawl_model::{HostKey, Kind as Page, Likeness, Outcome, Suspicion, Time};
use evercrawl_spam::{Doors, Kind, Look, Mirror, Sample, Sign, Site, Verdict, mirrors, page_signs};
use evercrawl_state::{PageRow, StateError, Store, View};
use evercrawl_urls::{Base, Canonical, Steps};

use super::archived::Archived;
use super::company::company;

/// The share of pages in which a mirror agrees with its original, at least.
const MIRRORS: f64 = 0.8;
/// A page's sign counts against its host from this score on, where most pages show it.
const SHOWN: f64 = 0.5;

/// How sure it is what the crawl itself took for something else than a page.
const TAKEN_FOR: f64 = 0.95;

/// A sign that is less sure than this is no reason.
const WORTH_A_WORD: f64 = 0.1;

/// What was seen of a host.
pub struct Seen {
    /// The host.
    pub host: HostKey,
    /// Its name.
    pub name: String,
    /// When its first page was found.
    pub found: Time,
    /// How many pages were looked at.
    pub looked: usize,
    /// Those of them that show something, with what each shows.
    pub pages: Vec<(String, Verdict)>,
    /// How many pages it has.
    known: usize,
    site: Site,
    doors: Doors,
    sample: Sample,
    /// What its pages are made from.
    pub(super) template: Option<u64>,
    /// What its pages show together, and its domain's links.
    pub(super) signs: Vec<Sign>,
    /// The host that the crawl itself takes it for a mirror of.
    likeness: Option<Likeness>,
}

/// Looks at up to `most` pages of every host, and at links where they take no more than `memory` bytes; `hear` is told
/// of each host. Says whether links were looked at.
pub fn survey<S: Store>(
    state: &View<S>,
    archived: &mut Archived,
    most: usize,
    memory: u64,
    mut hear: impl FnMut(Seen),
) -> Result<bool, StateError> {
    let mut hosts: Vec<Seen> = Vec::new();
    for page in state.pages() {
        let (key, row) = page?;
        if row.kind == Page::Probe || !(row.held() || was_parked(&row)) {
            continue;
        }
        let Some(url) = Canonical::from_trusted(row.url.clone()) else { continue };
        if hosts.last().is_none_or(|seen| seen.host != key.host) {
            hosts.last_mut().into_iter().for_each(Seen::conclude);
            hosts.push(Seen::new(key.host, url.authority(), row.found));
        }
        if let Some(seen) = hosts.last_mut() {
            seen.add(state, archived, &url, &row, most)?;
        }
    }
    hosts.last_mut().into_iter().for_each(Seen::conclude);
    // Some may have nothing but lists of pages.
    hosts.retain(|seen| seen.known > 0);
    let links_seen = company(state, &mut hosts, memory)?;
    let known: HashMap<HostKey, Likeness> = state.likenesses().collect::<Result<_, _>>()?;
    for seen in &mut hosts {
        seen.likeness = known.get(&seen.host).copied().filter(|likeness| likeness.mirror);
    }
    hosts.into_iter().for_each(&mut hear);
    Ok(links_seen)
}

/// Hosts that hold what an earlier one does: those that the crawl has found to, and those whose pages tell now.
pub fn copies(hosts: &[Seen]) -> Vec<Mirror> {
    let places: HashMap<HostKey, usize> =
        hosts.iter().zip(0..).map(|(seen, place)| (seen.host, place)).collect();
    let found = |(host, seen): (usize, &Seen)| {
        let likeness = seen.likeness?;
        let of = *places.get(&likeness.of)?;
        let (alike, compared) = (likeness.alike, likeness.compared);
        let evidence = format!("{alike} of {compared} pages compared by the crawl are alike");
        let same = f64::from(alike) / f64::from(compared.max(1));
        Some(Mirror { host, of, same, evidence })
    };
    let mut copies: Vec<Mirror> = hosts.iter().enumerate().filter_map(found).collect();
    let known: Vec<(usize, usize)> = copies.iter().map(|copy| (copy.host, copy.of)).collect();
    let samples: Vec<Sample> = hosts.iter().map(|seen| seen.sample.clone()).collect();
    // Two that mirror each other are one mirror.
    let is_new = |copy: &Mirror| {
        known.iter().all(|&(host, of)| host != copy.host && (host, of) != (copy.of, copy.host))
    };
    copies.extend(mirrors(&samples, MIRRORS).into_iter().filter(is_new));
    copies
}

impl Seen {
    fn new(host: HostKey, name: &str, found: Time) -> Self {
        Seen {
            host,
            name: name.to_owned(),
            found,
            looked: 0,
            pages: Vec::new(),
            known: 0,
            site: Site::default(),
            doors: Doors::default(),
            sample: Sample::default(),
            template: None,
            signs: Vec::new(),
            likeness: None,
        }
    }

    /// All its pages were looked at: what they show together is kept, and not what that was seen by.
    fn conclude(&mut self) {
        let (site, doors) = (std::mem::take(&mut self.site), std::mem::take(&mut self.doors));
        (self.template, self.signs) = (site.template(), site.signs());
        self.signs.extend(doors.sign());
    }

    fn add<S: Store>(
        &mut self,
        state: &View<S>,
        archived: &mut Archived,
        url: &Canonical,
        row: &PageRow,
        most: usize,
    ) -> Result<(), StateError> {
        self.found = self.found.min(row.found);
        let redirects = row.past.as_ref().is_some_and(|past| past.outcome == Outcome::Redirect);
        if !redirects && row.held() {
            self.doors.shows_something();
        }
        if row.kind != Page::Page {
            return Ok(());
        }
        self.known += 1;
        if redirects {
            return self.add_redirect(state, archived, url, row, most);
        }
        let digest = row.past.as_ref().and_then(|past| past.digest);
        if let Some([a, b, c, d, e, f, g, h, ..]) = digest {
            self.sample.add(url.path_and_query(), u64::from_be_bytes([a, b, c, d, e, f, g, h]));
        }
        if self.looked >= most {
            return Ok(());
        }
        if was_parked(row) {
            self.note(url, vec![parked()]);
            return Ok(());
        }
        let look = archived.html(state, row)?.map(|html| Look::of_html(&html));
        if self.leaves_doors(most) {
            self.doors.add_page(url.as_str(), look.as_ref().unwrap_or(&Look::default()));
        }
        if let Some(look) = look {
            self.site.add(&look);
            self.note(url, page_signs(url.as_str(), &look));
        }
        Ok(())
    }

    /// Whether fewer pages were asked where they lead than may be. The first ones tell, whatever they are: of those with
    /// content alone, or without, any number could be had.
    fn leaves_doors(&self, most: usize) -> bool {
        (self.doors.looked() as usize) < most
    }

    fn add_redirect<S: Store>(
        &mut self,
        state: &View<S>,
        archived: &mut Archived,
        url: &Canonical,
        row: &PageRow,
        most: usize,
    ) -> Result<(), StateError> {
        if !self.leaves_doors(most) {
            return Ok(());
        }
        let Some(location) = archived.location(state, row)? else { return Ok(()) };
        let base = Base::new(url.as_str(), Steps::default()).ok();
        if let Some(target) = base.and_then(|base| base.join(&location).ok()) {
            self.doors.add_redirect(url.as_str(), target.as_str(), row.is_moved());
        }
        Ok(())
    }

    fn note(&mut self, url: &Canonical, signs: Vec<Sign>) {
        self.looked += 1;
        let verdict = Verdict::new(signs);
        if verdict.probability >= WORTH_A_WORD {
            self.pages.push((url.as_str().to_owned(), verdict));
        }
    }

    /// What is to be kept of it, where it is spam with at least this probability.
    pub(super) fn suspicion(&self, threshold: f64, at: Time) -> Option<Suspicion> {
        let verdict = self.verdict();
        let told = verdict.signs.iter().filter(|sign| sign.score >= WORTH_A_WORD);
        let evidence: Vec<String> =
            told.map(|sign| format!("{}: {}", sign.kind.name(), sign.evidence)).collect();
        let (evidence, probability) = (evidence.join("; "), verdict.probability as f32);
        (verdict.probability >= threshold).then_some(Suspicion { probability, evidence, at })
    }

    /// What speaks against the host: its pages together, its links, and what most of its pages show.
    pub fn verdict(&self) -> Verdict {
        let of_kind =
            |kind: Kind| self.usual(|verdict| verdict.signs.iter().find(|sign| sign.kind == kind));
        let mut usual: Vec<Sign> = Kind::ALL.into_iter().filter_map(of_kind).collect();
        if usual.is_empty() {
            // Most pages may pretend, each in its own way.
            usual.extend(self.usual(|verdict| verdict.signs.first()));
        }
        Verdict::new([self.signs.as_slice(), &usual].concat())
    }

    /// The sign that most of its pages show: the middle one, since one page is no host.
    fn usual<'a>(&'a self, sign: impl Fn(&'a Verdict) -> Option<&'a Sign>) -> Option<Sign> {
        let mut shown: Vec<(&Sign, &str)> = Vec::new();
        for (url, verdict) in &self.pages {
            let sign = sign(verdict).filter(|sign| sign.score >= SHOWN);
            shown.extend(sign.map(|sign| (sign, url.as_str())));
        }
        if shown.len() * 2 <= self.looked {
            return None;
        }
        shown.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
        let (sign, url) = shown[shown.len() / 2];
        let evidence = format!(
            "{} of {} pages looked at, as {url}: {}",
            shown.len(),
            self.looked,
            sign.evidence
        );
        Some(Sign { evidence, ..sign.clone() })
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
