//! Which part of a difference is news, and which is noise?
//!
//! Noise is known by its place: a place that says something else at every look is noise, whatever it says. What a
//! place is like, the pages of a template learn together ([`TemplateMemory`]). Where nobody knows yet, a second look
//! soon after the first tells: **what stays is news**, however often the place changes and however many pages
//! change with it; what differs again was drawn for the request.
//!
//! So a visit ends in one of three ways: nothing but noise differs; what differs stands where changes hold, and is
//! news; or it is in doubt, nothing is told, and the next visit compares with what stood before both.

mod observing;

use std::collections::{HashMap, HashSet};

use crate::outline::Outline;
use crate::page_memory::{FirstLook, PageMemory};
use crate::place::{Layout, LinePlace, PlaceKey};
use crate::site_memory::SiteMemory;
use crate::sketch::{Difference, Sketch, SketchSize};
use crate::template_memory::{NoiseReason, Observation, PlaceVerdict, TemplateMemory};
use crate::time_of_visit;

/// A visit's text, and what is known where it stands.
#[derive(Clone, Copy)]
pub struct VisitText<'a> {
    /// The text.
    pub text: &'a str,
    /// Its passages.
    pub outline: &'a Outline,
    /// The places of its lines, in order.
    pub places: &'a [LinePlace],
    /// Tells the pages of a site apart.
    pub page: u64,
    /// What the pages of the site have in common.
    pub site: &'a SiteMemory,
    /// What the pages of the template have shown of their places.
    pub template: &'a TemplateMemory,
    /// Whether a difference in doubt may wait for a second look.
    pub second_look: SecondLook,
    /// When the page was visited, in seconds since 1970.
    pub at: u64,
}

/// Whether a difference in doubt may wait for a second look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondLook {
    /// There are none: what is in doubt is told.
    Never,
    /// It may wait. If this visit is a second look, it came soon after the first.
    Soon,
    /// It may wait. If this visit is a second look, it came so late that what differs again may have changed twice.
    Late,
}

/// What a visit found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The share of the text, by words, that is news; `None` when too much differs to identify passages.
    pub score: Option<f64>,
    /// Whether the visit waits for a second look: nothing is told yet, and the score says what would be.
    pub in_doubt: bool,
    /// Passages that differ and may differ on other pages of the site too, for [`SiteMemory::record_passages`].
    pub differing: Vec<u32>,
    /// What differs, where that is too much to be told passage by passage, for
    /// [`SiteMemory::record_large_difference`].
    pub untold: Option<Box<[u8]>>,
    /// What was seen of places, for [`TemplateMemory::record`].
    pub observed: Vec<Observation>,
    /// The passages whose differences are noise, and why.
    pub masked: Vec<(u32, NoiseReason)>,
}

/// The most passages of which a visit says that they are noise.
const MOST_MASKED: usize = 64;
/// The most places that a visit tells of.
const MOST_OBSERVED: usize = 128;
/// So many passages that also came on other pages are a new part of the template, wherever they stand.
const MANY_COMMON: usize = 4;

/// A passage that appeared, or that a place of noise shows.
struct Arrival {
    number: usize,
    id: u32,
    words: u32,
    /// How often it stands there.
    times: usize,
    keys: Vec<PlaceKey>,
    verdict: PlaceVerdict,
    /// The key by which it is noise, or else its first.
    by: PlaceKey,
    /// It stands where noise is, and was not compared.
    is_left_out: bool,
}

impl Arrival {
    fn reason(&self) -> Option<NoiseReason> {
        match self.verdict {
            PlaceVerdict::Noise(reason) => Some(reason),
            _ => None,
        }
    }
}

impl Arrival {
    /// Whether its words are left out from now on.
    fn is_passing(&self) -> bool {
        self.reason().is_some_and(NoiseReason::is_passing)
    }
}

impl PageMemory {
    /// Compares a page's text with what is remembered of it, and remembers it instead.
    pub fn compare_visit(&mut self, visit: &VisitText<'_>) -> Findings {
        let mut judge = Judge::new(visit);
        match self.first_look.take() {
            None => judge.first_look(self),
            Some(first) => judge.second_look(self, &first),
        }
        let mut findings = judge.findings;
        findings.observed.truncate(MOST_OBSERVED);
        findings.masked.truncate(MOST_MASKED);
        findings
    }
}

/// Judges one visit.
struct Judge<'a> {
    visit: &'a VisitText<'a>,
    layout: Layout<'a>,
    /// Passages that stand where noise is, by number.
    left_out: HashSet<usize>,
    /// The passages that are compared.
    ids: Vec<u32>,
    findings: Findings,
    seen: HashMap<PlaceKey, Observation>,
}

impl<'a> Judge<'a> {
    fn new(visit: &'a VisitText<'a>) -> Self {
        let layout = Layout::new(visit.text, visit.outline, visit.places);
        let left_out = places_of_noise(&layout, visit.template);
        let noise: HashSet<u32> =
            left_out.iter().map(|&number| layout.passages()[number].id).collect();
        let ids = visit.outline.ids().iter().copied().filter(|id| !noise.contains(id)).collect();
        let findings = Findings::default();
        Judge { visit, layout, left_out, ids, findings, seen: HashMap::new() }
    }

    /// A visit with nothing in doubt before it.
    fn first_look(&mut self, memory: &mut PageMemory) {
        let (site, page) = (self.visit.site, self.visit.page);
        let difference = match memory.sketch.difference(&self.ids) {
            Ok(difference) => difference,
            Err(rest) => {
                let untold = Some(rest.to_bytes());
                match site.difference_besides(&rest, &self.ids, page) {
                    Some(difference) => {
                        self.findings.untold = untold;
                        difference
                    }
                    None if self.visit.second_look == SecondLook::Never => {
                        return self.tell_all(memory, untold);
                    }
                    None => return self.wait(memory, None),
                }
            }
        };
        let arrivals = self.arrivals(memory, &difference.added, &[]);
        let unexplained = self.unexplained(memory, &arrivals, &difference);
        let shown = memory.shown.clone();
        self.observe(memory, &arrivals, 0);
        let is_unknown =
            |arrival: &Arrival| arrival.verdict == PlaceVerdict::Unknown && !arrival.is_left_out;
        let told = arrivals.iter().filter(|arrival| arrival.reason().is_none()).count();
        let only_went = told == 0 && unexplained > 0;
        let removal_unknown =
            only_went && self.visit.template.verdict(PlaceKey::REMOVAL) == PlaceVerdict::Unknown;
        if (removal_unknown || arrivals.iter().any(is_unknown))
            && self.visit.second_look != SecondLook::Never
        {
            let score = self.score(&arrivals, unexplained);
            self.mask(memory, &arrivals);
            // What noise took the place of is still in the sketch.
            memory.shown = shown;
            return self.wait(memory, Some(score));
        }
        self.settle(memory, &arrivals, &difference, unexplained);
    }

    /// A visit after one in doubt: what differs from that one too was drawn for the request; what stayed is news.
    fn second_look(&mut self, memory: &mut PageMemory, first: &FirstLook) {
        let is_soon = self.visit.second_look == SecondLook::Soon;
        let Ok(between) = first.sketch.difference(&self.ids) else {
            let untold = memory.sketch.difference(&self.ids).err().map(|rest| rest.to_bytes());
            self.tell_all(memory, untold);
            self.findings.score = Some(first.share());
            return;
        };
        let drawn: &[u32] = if is_soon { &between.added } else { &[] };
        let came_late = self.visit.second_look == SecondLook::Late && !between.added.is_empty();
        if !first.is_repeated
            && (came_late || self.may_have_changed_between(memory, &between, drawn))
        {
            return self.wait_again(memory, first);
        }
        let stayed: Vec<u32> = self.ids.iter().copied().filter(|id| !drawn.contains(id)).collect();
        let difference = match memory.sketch.difference(&stayed) {
            Ok(difference) => difference,
            Err(rest) => {
                self.findings.untold = Some(rest.to_bytes());
                let besides = self.visit.site.difference_besides(&rest, &stayed, self.visit.page);
                let Some(difference) = besides else {
                    let arrivals = self.arrivals(memory, &[], drawn);
                    self.observe(memory, &arrivals, Observation::SECOND);
                    self.mask(memory, &arrivals);
                    let untold = self.findings.untold.take();
                    self.tell_all_but(memory, untold, &stayed);
                    self.findings.score = Some(first.share());
                    return;
                };
                difference
            }
        };
        let mut arrivals = self.arrivals(memory, &difference.added, drawn);
        let waits = |arrival: &&mut Arrival| {
            arrival.verdict == PlaceVerdict::Unknown && self.layout.is_aside(arrival.number)
        };
        let waiting = arrivals.iter_mut().filter(waits);
        waiting.for_each(|arrival| arrival.verdict = PlaceVerdict::Noise(NoiseReason::Aside));
        let flag = if is_soon { Observation::SECOND } else { 0 };
        let unexplained = self.unexplained(memory, &arrivals, &difference);
        self.observe(memory, &arrivals, flag);
        if unexplained > 0 && is_soon {
            self.add(Observation::of(PlaceKey::REMOVAL, Observation::SECOND, false));
        }
        if is_soon {
            let flickered = match (&between.added[..], &between.removed[..]) {
                ([], removed) => removed,
                (added, []) => added,
                _ => &[],
            };
            memory.recent.flickered(flickered);
        }
        self.settle(memory, &arrivals, &difference, unexplained);
    }

    /// Whether something that still stood at the first look is gone, and what came at the second stands where nobody
    /// knows of noise: that may be a change that fell between the looks.
    fn may_have_changed_between(
        &self,
        memory: &PageMemory,
        between: &Difference,
        drawn: &[u32],
    ) -> bool {
        if drawn.is_empty() || between.removed.is_empty() {
            return false;
        }
        let Ok(since) = memory.sketch.difference(&self.ids) else { return false };
        let stood = between.removed.iter().filter(|id| since.removed.contains(id));
        stood.count() > 0
            && self.arrivals(memory, drawn, &[]).iter().any(|arrival| arrival.reason().is_none())
    }

    /// Nothing is told, nor learned, before a third look, for which this one is the first.
    fn wait_again(&mut self, memory: &mut PageMemory, first: &FirstLook) {
        let shown = memory.shown.clone();
        let arrivals = self.arrivals(memory, &[], &[]);
        self.mask(memory, &arrivals);
        memory.shown = shown;
        self.wait(memory, Some(first.share()));
        if let Some(look) = &mut memory.first_look {
            look.is_repeated = true;
        }
    }

    /// Nothing is told before a second look.
    fn wait(&mut self, memory: &mut PageMemory, score: Option<f64>) {
        memory.first_look = Some(FirstLook::new(&self.ids, score.unwrap_or(1.0)));
        self.findings.score = score;
        self.findings.in_doubt = true;
        self.findings.untold = None;
        self.finish();
    }

    /// More differs than can be told passage by passage.
    fn tell_all(&mut self, memory: &mut PageMemory, untold: Option<Box<[u8]>>) {
        let ids = std::mem::take(&mut self.ids);
        self.tell_all_but(memory, untold, &ids);
    }

    fn tell_all_but(&mut self, memory: &mut PageMemory, untold: Option<Box<[u8]>>, ids: &[u32]) {
        memory.sketch = Sketch::of_ids(ids, SketchSize::Large);
        self.findings.score = None;
        self.findings.untold = untold;
        self.finish();
    }

    /// What is noise is left out from now on, and all else is news.
    fn settle(
        &mut self,
        memory: &mut PageMemory,
        arrivals: &[Arrival],
        difference: &Difference,
        unexplained: usize,
    ) {
        self.findings.score = Some(self.score(arrivals, unexplained));
        self.mask(memory, arrivals);
        let passing = arrivals.iter().filter(|arrival| arrival.is_passing());
        let noise: HashSet<u32> = passing.map(|arrival| arrival.id).collect();
        let left: Vec<u32> = self.ids.iter().copied().filter(|id| !noise.contains(id)).collect();
        memory.sketch = Sketch::of_ids(&left, size_for(difference, memory.sketch.size()));
        let site_wide = |arrival: &&Arrival| !arrival.is_passing();
        let came: Vec<u32> = arrivals.iter().filter(site_wide).map(|arrival| arrival.id).collect();
        self.findings.differing = came.clone();
        if unexplained > 0 {
            self.findings.differing.extend(&difference.removed);
        }
        memory.recent.settle(&came, &difference.removed);
        self.finish();
    }

    /// Notes which passages are noise.
    fn mask(&mut self, memory: &mut PageMemory, arrivals: &[Arrival]) {
        let masked = arrivals.iter().filter_map(|arrival| Some((arrival.id, arrival.reason()?)));
        self.findings.masked = masked.collect();
        let of_words = |arrival: &&Arrival| {
            arrival.is_passing() && self.layout.shape(arrival.number).is_none()
        };
        for arrival in arrivals.iter().filter(of_words) {
            let key = PlaceKey::of_text(arrival.id);
            if !self.visit.template.has_shown(arrival.id) {
                self.seen.insert(key, Observation::of(key, 0, true));
            }
        }
        for arrival in arrivals.iter().filter(|arrival| !arrival.is_passing()) {
            arrival.keys.iter().for_each(|key| memory.shown.remove(*key));
        }
    }

    fn finish(&mut self) {
        let mut observed: Vec<Observation> = self.seen.drain().map(|(_, seen)| seen).collect();
        observed.sort_unstable_by_key(|seen| (seen.differed == 0, seen.key));
        self.findings.observed = observed;
    }

    /// The passages that appeared, each once, in the order of the text, and those that stand where noise is. `drawn`
    /// are those that differed at both looks.
    fn arrivals(&self, memory: &PageMemory, came: &[u32], drawn: &[u32]) -> Vec<Arrival> {
        let passages = self.layout.passages();
        let moves = |number: usize| {
            let id = passages[number].id;
            self.left_out.contains(&number) || came.contains(&id) || drawn.contains(&id)
        };
        let common = came.iter().filter(|id| self.visit.site.is_common(**id, self.visit.page));
        let many_common = common.count() >= MANY_COMMON;
        let mut known = HashSet::new();
        let mut arrivals: Vec<Arrival> = Vec::new();
        for number in (0..passages.len()).filter(|&number| moves(number)) {
            if !known.insert(passages[number].id) {
                let again = |arrival: &&mut Arrival| arrival.id == passages[number].id;
                arrivals.iter_mut().find(again).into_iter().for_each(|arrival| arrival.times += 1);
                continue;
            }
            let mut arrival = self.arrival(number, |other| !moves(other));
            if drawn.contains(&arrival.id) {
                arrival.verdict = PlaceVerdict::Noise(NoiseReason::Drawn);
            } else if !arrival.is_left_out {
                self.judge(&mut arrival, memory, many_common);
            }
            if !self.is_believed_again(memory, &arrival) {
                arrivals.push(arrival);
            }
        }
        arrivals
    }

    fn arrival(&self, number: usize, stays: impl Fn(usize) -> bool) -> Arrival {
        let passage = &self.layout.passages()[number];
        let template = self.visit.template;
        let mut keys = self.layout.number_keys(number);
        if !keys.iter().any(|key| template.knows(*key)) {
            keys.extend(self.layout.word_keys(number, stays));
        }
        let is_left_out = self.left_out.contains(&number);
        let path = self.layout.path_key(number);
        if is_left_out && !keys.contains(&path) {
            keys.push(path);
        }
        let noise = |key: &PlaceKey| matches!(template.verdict(*key), PlaceVerdict::Noise(_));
        let by = keys.iter().copied().find(noise).or(keys.first().copied()).unwrap_or(path);
        let verdict = combine(keys.iter().map(|key| template.verdict(*key)));
        let (id, words) = (passage.id, passage.words);
        Arrival { number, id, words, times: 1, keys, verdict, by, is_left_out }
    }

    /// Says what an arrival is, beyond what its places say.
    fn judge(&self, arrival: &mut Arrival, memory: &PageMemory, many_common: bool) {
        let noise = PlaceVerdict::Noise;
        if let PlaceVerdict::Noise(_) = arrival.verdict {
            return;
        }
        let is_common = self.visit.site.is_common(arrival.id, self.visit.page);
        // In a menu, a footer or a notice what two pages show is the site's.
        let is_aside = self.layout.is_aside(arrival.number);
        let is_elsewhere = self.visit.site.is_elsewhere(arrival.id, self.visit.page);
        let unknown = arrival.verdict == PlaceVerdict::Unknown;
        if memory.recent.flickers(arrival.id) {
            arrival.verdict = noise(NoiseReason::Alternating);
        } else if self.names_the_time(arrival.number) {
            arrival.verdict = noise(NoiseReason::TimeOfVisit);
        } else if is_common && (unknown || many_common) || is_aside && is_elsewhere {
            arrival.verdict = noise(NoiseReason::SiteWide);
        }
    }

    /// Whether a passage says little but when the page was visited.
    fn names_the_time(&self, number: usize) -> bool {
        let passage = &self.layout.passages()[number];
        let words = self.visit.text.get(passage.range.clone()).unwrap_or_default();
        time_of_visit::names_the_time(words, self.visit.at)
    }

    /// Whether a place that was noise shows what it showed then: it is no change that it is believed again.
    fn is_believed_again(&self, memory: &PageMemory, arrival: &Arrival) -> bool {
        let shown = |key: &PlaceKey| memory.shown.text_of(*key) == Some(short_text(arrival.id));
        !arrival.is_passing() && arrival.keys.iter().any(shown)
    }

    /// How many passages went that no noise took the place of.
    fn unexplained(
        &self,
        memory: &PageMemory,
        arrivals: &[Arrival],
        difference: &Difference,
    ) -> usize {
        let known = |id: &&u32| {
            memory.recent.flickers(**id)
                || self.visit.site.is_common(**id, self.visit.page)
                || self.visit.template.has_shown(**id)
        };
        let known = difference.removed.iter().filter(known).count();
        let is_fresh = |arrival: &&Arrival| {
            let replaces = !arrival.is_passing() || !memory.shown.was_shown(arrival.by);
            arrival.reason().is_some() && replaces
        };
        let fresh = arrivals.iter().filter(is_fresh).map(|arrival| arrival.times).sum();
        difference.removed.len().saturating_sub(known.max(fresh))
    }

    /// The share of the text that is news. Of what went only the number is known: each is taken to be as long as the
    /// others are.
    fn score(&self, arrivals: &[Arrival], unexplained: usize) -> f64 {
        let outline = self.visit.outline;
        let news = arrivals.iter().filter(|arrival| arrival.reason().is_none());
        let news: u32 = news.map(|arrival| arrival.words).sum();
        let words = f64::from(outline.words().max(1));
        let mean = words / outline.passages().len().max(1) as f64;
        (f64::from(news).max(unexplained as f64 * mean) / words).min(1.0)
    }
}

/// Noise by any key is noise; else what holds by any key holds.
fn combine(verdicts: impl Iterator<Item = PlaceVerdict>) -> PlaceVerdict {
    verdicts.fold(PlaceVerdict::Unknown, |so_far, verdict| match (so_far, verdict) {
        (PlaceVerdict::Noise(_), _) | (_, PlaceVerdict::Unknown) => so_far,
        _ => verdict,
    })
}

fn short_text(id: u32) -> u16 {
    (id & 0xFFFF) as u16
}

/// How large the next sketch should be: large where much differs, until hardly anything does.
fn size_for(difference: &Difference, now: SketchSize) -> SketchSize {
    let most = if now == SketchSize::Small { 4 } else { 2 };
    if difference.len() > most { SketchSize::Large } else { SketchSize::Small }
}

/// The passages that stand where noise is, by what the template knows of their places.
fn places_of_noise(layout: &Layout<'_>, template: &TemplateMemory) -> HashSet<usize> {
    if template.noise_places() == 0 {
        return HashSet::new();
    }
    let is_noise = |key: PlaceKey| matches!(template.verdict(key), PlaceVerdict::Noise(_));
    let mut paths: HashMap<PlaceKey, bool> = HashMap::new();
    let has_shapes = template.has_numbers();
    let stands = |number: &usize| {
        let path = layout.path_key(*number);
        *paths.entry(path).or_insert_with(|| is_noise(path))
            || has_shapes && layout.number_keys(*number).into_iter().any(is_noise)
    };
    (0..layout.passages().len()).filter(stands).collect()
}
