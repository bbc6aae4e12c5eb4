//! Which signs of spam do some pages of each host, and the links between domains, show? Read from the archive.
//!
//! Pages come in the order of their keys, which are hashes: the first few of a host are a fair sample of it.

use std::collections::HashMap;

use evercrawl_model::{HostKey, HostLikeness, Outcome, PageKind as Page, Suspicion, Time};
use evercrawl_spam::{
    DoorwayEvidence, HostSample, Mirror, PageFeatures, Sign, SignKind, SiteFeatures, SpamVerdict,
    mirrors, page_signs,
};
use evercrawl_state::{PageRow, Past, StateError, Store, View};
use evercrawl_urls::{Base, Canonical, CanonicalSteps};

use super::archived::ArchivedPages;
use super::company::neighbour_signs;

/// The least share of pages in which a mirror agrees with its original.
const MIRRORS: f64 = 0.8;
/// A sign that most pages show counts against the host from this score on.
const SHOWN: f64 = 0.5;

/// The score of pages that the crawl itself classified as parked.
const TAKEN_FOR: f64 = 0.95;

/// Signs with a lower score are ignored.
const MIN_SIGN_SCORE: f64 = 0.1;

/// The survey of one host.
pub struct HostSurvey {
    /// The host.
    pub host: HostKey,
    /// Its name.
    pub name: String,
    /// When its first page was found.
    pub found: Time,
    /// How many pages were read.
    pub looked: usize,
    /// Pages with signs of spam, and their signs.
    pub pages: Vec<(String, SpamVerdict)>,
    /// How many pages it has.
    known: usize,
    site: SiteFeatures,
    doors: DoorwayEvidence,
    sample: HostSample,
    /// The template of its pages.
    pub(super) template: Option<u64>,
    /// Signs of its pages together, and of its domain's links.
    pub(super) signs: Vec<Sign>,
    /// The host of which the crawl itself considers it a mirror.
    likeness: Option<HostLikeness>,
}

/// Surveys up to `most` pages of every host, and the links if they fit in `memory` bytes; passes each host to `hear`.
/// Returns whether links were read.
pub fn survey_hosts<S: Store>(
    state: &View<S>,
    archived: &mut ArchivedPages,
    most: usize,
    memory: u64,
    mut hear: impl FnMut(HostSurvey),
) -> Result<bool, StateError> {
    let mut hosts: Vec<HostSurvey> = Vec::new();
    for page in state.pages() {
        let (key, row) = page?;
        if row.kind == Page::Probe || !(row.held() || was_parked(&row)) {
            continue;
        }
        let Some(url) = Canonical::from_trusted(row.url.clone()) else { continue };
        if hosts.last().is_none_or(|seen| seen.host != key.host) {
            hosts.last_mut().into_iter().for_each(HostSurvey::conclude);
            hosts.push(HostSurvey::new(key.host, url.authority(), row.found));
        }
        if let Some(seen) = hosts.last_mut() {
            seen.add(state, archived, &url, &row, most)?;
        }
    }
    hosts.last_mut().into_iter().for_each(HostSurvey::conclude);
    // A host may have nothing but sitemaps and feeds.
    hosts.retain(|seen| seen.known > 0);
    let links_seen = neighbour_signs(state, &mut hosts, memory)?;
    let known: HashMap<HostKey, HostLikeness> = state.likenesses().collect::<Result<_, _>>()?;
    for seen in &mut hosts {
        seen.likeness = known.get(&seen.host).copied().filter(|likeness| likeness.is_mirror);
    }
    hosts.into_iter().for_each(&mut hear);
    Ok(links_seen)
}

/// Hosts that copy an earlier one: those found during the crawl, and those shown by this survey.
pub fn find_copies(hosts: &[HostSurvey]) -> Vec<Mirror> {
    let places: HashMap<HostKey, usize> =
        hosts.iter().zip(0..).map(|(seen, place)| (seen.host, place)).collect();
    let found = |(host, seen): (usize, &HostSurvey)| {
        let likeness = seen.likeness?;
        let of = *places.get(&likeness.compared_with)?;
        let (alike, compared) = (likeness.alike_pages, likeness.compared_pages);
        let evidence = format!("{alike} of {compared} pages compared by the crawl are alike");
        let same = f64::from(alike) / f64::from(compared.max(1));
        Some(Mirror { host, of, same, evidence })
    };
    let mut copies: Vec<Mirror> = hosts.iter().enumerate().filter_map(found).collect();
    let known: Vec<(usize, usize)> = copies.iter().map(|copy| (copy.host, copy.of)).collect();
    let samples: Vec<HostSample> = hosts.iter().map(|seen| seen.sample.clone()).collect();
    // Two that mirror each other are one mirror.
    let is_new = |copy: &Mirror| {
        known.iter().all(|&(host, of)| host != copy.host && (host, of) != (copy.of, copy.host))
    };
    copies.extend(mirrors(&samples, MIRRORS).into_iter().filter(is_new));
    copies
}

impl HostSurvey {
    fn new(host: HostKey, name: &str, found: Time) -> Self {
        HostSurvey {
            host,
            name: name.to_owned(),
            found,
            looked: 0,
            pages: Vec::new(),
            known: 0,
            site: SiteFeatures::default(),
            doors: DoorwayEvidence::default(),
            sample: HostSample::default(),
            template: None,
            signs: Vec::new(),
            likeness: None,
        }
    }

    /// Draws the conclusions from all pages read, and frees the evidence.
    fn conclude(&mut self) {
        let (site, doors) = (std::mem::take(&mut self.site), std::mem::take(&mut self.doors));
        (self.template, self.signs) = (site.template(), site.signs());
        self.signs.extend(doors.sign());
    }

    fn add<S: Store>(
        &mut self,
        state: &View<S>,
        archived: &mut ArchivedPages,
        url: &Canonical,
        row: &PageRow,
        most: usize,
    ) -> Result<(), StateError> {
        self.found = self.found.min(row.found);
        let redirects = row.past.as_ref().is_some_and(|past| past.outcome == Outcome::Redirect);
        if !redirects && row.held() {
            self.doors.record_content();
        }
        if row.kind != Page::Page {
            return Ok(());
        }
        self.known += 1;
        if redirects {
            return self.add_redirect(state, archived, url, row, most);
        }
        let digest = row.past.as_ref().and_then(Past::whole_digest);
        if let Some([a, b, c, d, e, f, g, h, ..]) = digest {
            self.sample.add(url.path_and_query(), u64::from_be_bytes([a, b, c, d, e, f, g, h]));
        }
        if self.looked >= most {
            return Ok(());
        }
        if was_parked(row) {
            self.record_signs(url, vec![parked_sign()]);
            return Ok(());
        }
        let features = archived.html(state, row)?.map(|html| PageFeatures::of_html(&html));
        if self.has_door_links(most) {
            self.doors
                .add_page(url.as_str(), features.as_ref().unwrap_or(&PageFeatures::default()));
        }
        if let Some(features) = features {
            self.site.add(&features);
            self.record_signs(url, page_signs(url.as_str(), &features));
        }
        Ok(())
    }

    /// Whether more redirects may be read. The first ones are enough, of any kind: of pages with content, or without,
    /// there may be any number.
    fn has_door_links(&self, most: usize) -> bool {
        (self.doors.pages_counted() as usize) < most
    }

    fn add_redirect<S: Store>(
        &mut self,
        state: &View<S>,
        archived: &mut ArchivedPages,
        url: &Canonical,
        row: &PageRow,
        most: usize,
    ) -> Result<(), StateError> {
        if !self.has_door_links(most) {
            return Ok(());
        }
        let Some(location) = archived.location(state, row)? else { return Ok(()) };
        let base = Base::new(url.as_str(), CanonicalSteps::default()).ok();
        if let Some(target) = base.and_then(|base| base.join(&location).ok()) {
            self.doors.add_redirect(url.as_str(), target.as_str(), row.is_moved());
        }
        Ok(())
    }

    fn record_signs(&mut self, url: &Canonical, signs: Vec<Sign>) {
        self.looked += 1;
        let verdict = SpamVerdict::new(signs);
        if verdict.probability >= MIN_SIGN_SCORE {
            self.pages.push((url.as_str().to_owned(), verdict));
        }
    }

    /// The suspicion to store, if the probability of spam reaches `threshold`.
    pub(super) fn suspicion(&self, threshold: f64, at: Time) -> Option<Suspicion> {
        let verdict = self.verdict();
        let strong = verdict.signs.iter().filter(|sign| sign.score >= MIN_SIGN_SCORE);
        let evidence: Vec<String> =
            strong.map(|sign| format!("{}: {}", sign.kind.name(), sign.evidence)).collect();
        let (evidence, probability) = (evidence.join("; "), verdict.probability as f32);
        (verdict.probability >= threshold).then_some(Suspicion { probability, evidence, at })
    }

    /// The verdict: signs of its pages together, of its links, and those that most of its pages show.
    pub fn verdict(&self) -> SpamVerdict {
        let of_kind = |kind: SignKind| {
            self.most_common_sign(|verdict| verdict.signs.iter().find(|sign| sign.kind == kind))
        };
        let mut usual: Vec<Sign> = SignKind::ALL.into_iter().filter_map(of_kind).collect();
        if usual.is_empty() {
            // Most pages may show signs, each a different one.
            usual.extend(self.most_common_sign(|verdict| verdict.signs.first()));
        }
        SpamVerdict::new([self.signs.as_slice(), &usual].concat())
    }

    /// The sign that most of its pages show, with their median score, since one page is not the host.
    fn most_common_sign<'a>(
        &'a self,
        sign: impl Fn(&'a SpamVerdict) -> Option<&'a Sign>,
    ) -> Option<Sign> {
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

/// The crawl itself classifies parked pages and keeps no content of them.
fn was_parked(row: &PageRow) -> bool {
    !row.held() && row.past.as_ref().is_some_and(|past| past.outcome == Outcome::Parked)
}

fn parked_sign() -> Sign {
    let evidence = "the crawl took it for the offer of a parked domain".to_owned();
    Sign { kind: SignKind::Parked, score: TAKEN_FOR, evidence }
}
