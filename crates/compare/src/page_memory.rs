//! Which part of a difference is news, and which is noise? A page's memory learns this visit by visit.
//!
//! Three kinds of noise are told from news:
//!
//! - **[Clocks]**: a passage whose times, numbers and codes differ at three visits in a row, its other
//!   words staying. It is believed again when it has held still for four visits.
//! - **[Turns]**: passages that come back on a page that shows other words at nearly every visit. On a
//!   page that seldom differs, the same return is news: an outage begins again.
//! - **The site's passages**, which [`SiteMemory`] knows, and what differs alike on other pages of the
//!   site though it is too much to be told passage by passage: another template.
//!
//! Everything else is news, even if it appears at every visit: the front page of a newspaper is not a clock.

use std::ops::Range;

use crate::arrival::Arrival;
use crate::outline::{Outline, Passage};
use crate::rotation::{self, RotatingPassages, spot};
use crate::shape::PassageShape;
use crate::site_memory::SiteMemory;
use crate::sketch::{Difference, Sketch, SketchSize};
use crate::ticking::TickingPassages;

/// What is remembered of a page's text from visit to visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageMemory {
    sketch: Sketch,
    clocks: TickingPassages,
    turns: RotatingPassages,
    /// News too small to report, added up so far: in 65,535ths of the text.
    untold: u16,
}

/// What a visit found.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// The share of the text, by words, that is news; `None` when too much differs to identify passages.
    pub score: Option<f64>,
    /// Passages that differ and may differ on other pages of the site too, for [`SiteMemory::record_passages`].
    pub differing: Vec<u32>,
    /// What differs, where that is too much to be told passage by passage, for
    /// [`SiteMemory::record_large_difference`].
    pub untold: Option<Box<[u8]>>,
}

impl PageMemory {
    /// The most bytes that a memory takes.
    pub const LONGEST: usize =
        HEAD + 4 * SketchSize::Large.cells() + TickingPassages::LONGEST + RotatingPassages::LONGEST;

    /// The memory of a page that is seen for the first time.
    pub fn new(outline: &Outline) -> Self {
        PageMemory {
            sketch: Sketch::of_outline(outline, SketchSize::Small),
            clocks: TickingPassages::default(),
            turns: RotatingPassages::default(),
            untold: 0,
        }
    }

    /// Forgets what was learned to be noise, so that every passage that differs counts.
    pub fn forget_noise(&mut self) {
        (self.clocks, self.turns) = Default::default();
    }

    /// Compares a page's text with what is remembered of it, and remembers it instead. `page` tells
    /// the pages of a site apart.
    pub fn compare_visit(
        &mut self,
        text: &str,
        outline: &Outline,
        site: &SiteMemory,
        page: u64,
    ) -> Findings {
        let shown: Vec<u32> = self.clocks.shown_passages().collect();
        let (difference, untold) = match self.sketch.difference(outline, &shown) {
            Ok(difference) => (Some(difference), None),
            Err(rest) => (site.difference_besides(&rest, outline, page), Some(rest.to_bytes())),
        };
        let Some(difference) = difference else {
            self.sketch = Sketch::of_outline(outline, SketchSize::Large);
            return Findings { score: None, differing: Vec::new(), untold };
        };
        self.sketch = Sketch::of_outline(outline, size_for(&difference, self.sketch.size()));
        let is_common = |id: u32| site.is_common(id, page);
        let arrivals = self.collect_arrivals(text, outline, &difference.added, is_common);
        let went: Vec<(u32, bool)> =
            difference.removed.iter().map(|&id| (id, is_common(id))).collect();
        self.turns.record_arrivals(arrivals.iter().filter(|arrival| arrival.is_own()));
        let mut tally = ScoreTally::default();
        for arrival in &arrivals {
            let shared = arrival.is_own() && is_common(rotation::id_of(arrival.spot));
            let noise = arrival.common || shared || self.is_noise(arrival);
            tally.add_arrived(arrival.passage.words, noise);
        }
        for &(id, common) in &went {
            tally.add_removed(common || self.is_known(id));
        }
        let differing = self.differing(&arrivals, &difference.removed);
        self.learn(&arrivals, &went, outline);
        Findings { score: Some(tally.score(outline)), differing, untold }
    }

    /// Adds this visit's share of news, and returns the share to report: 0 while the sum of small shares is less than
    /// `least`.
    pub fn accumulate_news(&mut self, news: f64, least: f64) -> f64 {
        let together = f64::from(self.untold) / f64::from(u16::MAX) + news;
        let is_reported = news >= least || together >= least;
        self.untold = if is_reported { 0 } else { (together * f64::from(u16::MAX)).round() as u16 };
        if is_reported { together.min(1.0) } else { news }
    }

    /// The ranges of `text` that are noise according to this memory: differences there are no news.
    pub fn noise_ranges(&self, text: &str, site: &SiteMemory, page: u64) -> Vec<Range<usize>> {
        let outline = Outline::of_text(text);
        let passages = outline.passages();
        let stays = |id: u32| !self.turns.is_recent(id) && !self.clocks.has_shown(id, false);
        let is_noise = |(number, passage): &(usize, &Passage)| {
            let before = number.checked_sub(1).and_then(|at| passages.get(at));
            let shape = PassageShape::of_passage(text, passage, before);
            site.is_common(passage.id, page)
                || shape.passing && self.clocks.is_ticking(shape.id)
                || self.turns.is_shared_spot(spot(&outline, *number, stays))
        };
        let noise = passages.iter().enumerate().filter(is_noise);
        noise.map(|(_, passage)| passage.range.clone()).collect()
    }

    /// The passages that appeared; each once, in the order of the text.
    fn collect_arrivals<'a>(
        &self,
        text: &str,
        outline: &'a Outline,
        came: &[u32],
        is_common: impl Fn(u32) -> bool,
    ) -> Vec<Arrival<'a>> {
        let stays = |id: u32| {
            !came.contains(&id) && !self.turns.is_recent(id) && !self.clocks.has_shown(id, false)
        };
        let mut arrivals: Vec<Arrival<'_>> = Vec::with_capacity(came.len());
        for (number, passage) in outline.passages().iter().enumerate() {
            let again = |arrival: &Arrival<'_>| arrival.passage.id == passage.id;
            if came.contains(&passage.id) && !arrivals.iter().any(again) {
                let before = number.checked_sub(1).and_then(|at| outline.passages().get(at));
                let shape = PassageShape::of_passage(text, passage, before);
                // No clock shows the same twice.
                let ticked =
                    self.clocks.may_be_ticking(shape.id) && !self.turns.is_recent(passage.id);
                let common = is_common(passage.id);
                let spot = spot(outline, number, stays);
                arrivals.push(Arrival { passage, shape, spot, common, ticked });
            }
        }
        arrivals
    }

    /// Whether a passage that appeared is noise.
    fn is_noise(&self, arrival: &Arrival<'_>) -> bool {
        self.clocks.is_ticking(arrival.shape.id)
            || arrival.is_own() && self.turns.is_rotation(arrival)
    }

    /// Whether a passage that disappeared is known to come and go.
    fn is_known(&self, id: u32) -> bool {
        self.clocks.has_shown(id, true) || self.turns.has_rotation() && self.turns.is_recent(id)
    }

    /// What the site should hear of: all but what this page's own clocks show, and where passages take
    /// turns.
    fn differing(&self, arrivals: &[Arrival<'_>], went: &[u32]) -> Vec<u32> {
        let new = arrivals.iter().filter(|arrival| !arrival.ticked);
        let old = went.iter().copied().filter(|&id| !self.clocks.has_shown(id, false));
        let shared = arrivals
            .iter()
            .filter(|arrival| arrival.is_own() && self.turns.is_shared_spot(arrival.spot));
        let spots = shared.map(|arrival| rotation::id_of(arrival.spot));
        new.map(|arrival| arrival.passage.id).chain(old).chain(spots).collect()
    }

    fn learn(&mut self, arrivals: &[Arrival<'_>], went: &[(u32, bool)], outline: &Outline) {
        let old = went.iter().filter(|(id, common)| !common && !self.clocks.has_shown(*id, false));
        let old = old.map(|(id, _)| *id);
        let new = arrivals.iter().filter(|arrival| arrival.is_own()).map(|new| new.passage.id);
        let lasting: Vec<u32> = old.chain(new).collect();
        // A rewritten page teaches nothing about rotating passages.
        if lasting.len() <= RotatingPassages::CAPACITY {
            lasting.into_iter().for_each(|id| self.turns.remember(id));
        }
        self.clocks.learn(arrivals, outline);
    }

    /// How many passages are known to tick.
    pub fn ticking_passages(&self) -> usize {
        self.clocks.sure_count()
    }

    /// The number of places with rotating passages.
    pub fn rotating_places(&self) -> usize {
        self.turns.shared_places()
    }

    /// The memory as it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(Self::LONGEST);
        let large = u8::from(self.sketch.size() == SketchSize::Large);
        let counts = self.clocks.len() | self.turns.places() << 4;
        out.extend([FORMAT | large << 7, u8::try_from(counts).unwrap_or(0)]);
        out.extend(self.untold.to_le_bytes());
        self.sketch.write(&mut out);
        self.clocks.write(&mut out);
        self.turns.write(&mut out);
        out
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave; `None` when it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[format, counts, low, high], rest) = bytes.split_first_chunk::<HEAD>()?;
        let size = if format >> 7 == 1 { SketchSize::Large } else { SketchSize::Small };
        let (sketch, rest) = Sketch::read(rest, size).filter(|_| format & 0x7F == FORMAT)?;
        let (clocks, rest) = TickingPassages::read(rest, usize::from(counts & 0b1111))?;
        let turns = RotatingPassages::read(rest, usize::from(counts >> 4))?;
        Some(PageMemory { sketch, clocks, turns, untold: u16::from_le_bytes([low, high]) })
    }
}

const FORMAT: u8 = 2;

/// Bytes before the sketch: the format, the counts, what is untold.
const HEAD: usize = 4;

/// How large the next sketch should be: large where much differs, until hardly anything does.
fn size_for(difference: &Difference, now: SketchSize) -> SketchSize {
    let most = if now == SketchSize::Large { 2 } else { 4 };
    if difference.len() > most { SketchSize::Large } else { SketchSize::Small }
}

/// Counts which part of a difference is news.
#[derive(Default)]
struct ScoreTally {
    news_words: u32,
    noise_came: u32,
    known_went: u32,
    news_went: u32,
}

impl ScoreTally {
    fn add_arrived(&mut self, words: u32, noise: bool) {
        if noise { self.noise_came += 1 } else { self.news_words += words }
    }

    fn add_removed(&mut self, known: bool) {
        if known { self.known_went += 1 } else { self.news_went += 1 }
    }

    /// The share of the text that is news.
    ///
    /// Of what went only the number is known: each is taken to be as long as the others are. Where
    /// noise came, as much of what went was noise too, known or not.
    fn score(&self, outline: &Outline) -> f64 {
        let replaced = self.noise_came.saturating_sub(self.known_went);
        let went = f64::from(self.news_went.saturating_sub(replaced));
        let words = f64::from(outline.words().max(1));
        let mean = words / outline.passages().len().max(1) as f64;
        (f64::from(self.news_words).max(went * mean) / words).min(1.0)
    }
}
