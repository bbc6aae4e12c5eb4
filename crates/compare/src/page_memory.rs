//! What is remembered of a page's text from visit to visit?
//!
//! Its passages, as a sketch of what was believed last; which texts came or went lately; and what places of noise
//! showed last. After a visit whose differences are in doubt, also the passages of that visit, until a second look
//! tells what stayed ([`judge`](crate::judge)).

use crate::outline::Outline;
use crate::place::PlaceKey;
use crate::sketch::{Sketch, SketchSize};
use crate::template_memory::{Observation, TemplateMemory};

/// What is remembered of a page's text from visit to visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageMemory {
    /// The passages that are believed, without those of noise.
    pub(crate) sketch: Sketch,
    /// A visit that waits for a second look.
    pub(crate) first_look: Option<FirstLook>,
    pub(crate) recent: RecentTexts,
    pub(crate) shown: ShownNoise,
    /// The declared part of the page that it is of; 0: the whole page.
    region: u16,
    /// News too small to report, added up so far: in 65,535ths of the text.
    untold: u16,
}

/// A visit whose differences are in doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FirstLook {
    pub(crate) sketch: Sketch,
    /// The share of news, should all of it stay: in 65,535ths of the text.
    pub(crate) score: u16,
    /// It was itself the second look at a visit in doubt, and left the doubt.
    pub(crate) is_repeated: bool,
}

/// Texts that came or went lately, the latest last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecentTexts(Vec<u32>);

impl RecentTexts {
    pub(crate) const CAPACITY: usize = 8;
    /// It was there at one of two looks in short order.
    const FLICKERED: u32 = 1 << 24;
    /// It came at the last visit.
    const JUST_CAME: u32 = 1 << 25;
    const ID: u32 = (1 << 24) - 1;

    fn find(&self, id: u32) -> Option<u32> {
        self.0.iter().copied().find(|entry| entry & Self::ID == id)
    }

    pub(crate) fn contains(&self, id: u32) -> bool {
        self.find(id).is_some()
    }

    pub(crate) fn flickers(&self, id: u32) -> bool {
        self.find(id).is_some_and(|entry| entry & Self::FLICKERED != 0)
    }

    pub(crate) fn just_came(&self, id: u32) -> bool {
        self.find(id).is_some_and(|entry| entry & Self::JUST_CAME != 0)
    }

    fn push(&mut self, id: u32, flags: u32) {
        let before = self.find(id).unwrap_or(0);
        self.0.retain(|entry| entry & Self::ID != id);
        if self.0.len() >= Self::CAPACITY {
            self.0.remove(0);
        }
        self.0.push(id & Self::ID | before & Self::FLICKERED | flags);
    }

    /// A visit was settled: these texts came, and these went. A page written anew teaches nothing.
    pub(crate) fn settle(&mut self, came: &[u32], went: &[u32]) {
        self.0.iter_mut().for_each(|entry| *entry &= !Self::JUST_CAME);
        if came.len() + went.len() <= Self::CAPACITY {
            went.iter().for_each(|&id| self.push(id, 0));
            came.iter().for_each(|&id| self.push(id, Self::JUST_CAME));
        }
    }

    /// These were there at one of two looks in short order.
    pub(crate) fn flickered(&mut self, ids: &[u32]) {
        if ids.len() <= Self::CAPACITY / 2 {
            ids.iter().for_each(|&id| self.push(id, Self::FLICKERED));
        }
    }
}

/// What places of noise showed last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownNoise(Vec<(u16, u16)>);

impl ShownNoise {
    pub(crate) const CAPACITY: usize = 6;

    pub(crate) fn text_of(&self, key: PlaceKey) -> Option<u16> {
        let short = key.short();
        self.0.iter().find(|shown| shown.0 == short).map(|shown| shown.1)
    }

    /// Remembers what a place shows; false where there is no room for another place.
    pub(crate) fn remember(&mut self, key: PlaceKey, text: u16) -> bool {
        let short = key.short();
        if let Some(shown) = self.0.iter_mut().find(|shown| shown.0 == short) {
            shown.1 = text;
        } else if self.0.len() < Self::CAPACITY {
            self.0.push((short, text));
        } else {
            return false;
        }
        true
    }

    pub(crate) fn was_shown(&self, key: PlaceKey) -> bool {
        self.text_of(key).is_some()
    }

    pub(crate) fn remove(&mut self, key: PlaceKey) {
        let short = key.short();
        self.0.retain(|shown| shown.0 != short);
    }

    pub(crate) fn shorts(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().map(|shown| shown.0)
    }
}

impl PageMemory {
    /// The most bytes that a memory takes between visits that are not in doubt.
    pub const LONGEST: usize = HEAD
        + 2
        + 4 * SketchSize::Large.cells()
        + 4 * RecentTexts::CAPACITY
        + 4 * ShownNoise::CAPACITY;

    /// The most bytes that a memory takes while it waits for a second look, and after one that found the same bytes.
    pub const LONGEST_IN_DOUBT: usize = Self::LONGEST + 2 + 4 * SketchSize::Huge.cells();

    /// The memory of a page that is seen for the first time.
    pub fn new(outline: &Outline) -> Self {
        PageMemory {
            sketch: Sketch::of_ids(outline.ids(), SketchSize::Small),
            first_look: None,
            recent: RecentTexts::default(),
            shown: ShownNoise::default(),
            region: 0,
            untold: 0,
        }
    }

    /// The memory of a declared part of a page that is seen for the first time.
    pub fn of_region(outline: &Outline, region: u16) -> Self {
        PageMemory { region, ..Self::new(outline) }
    }

    /// The declared part of the page that it is of; 0: the whole page.
    pub fn region(&self) -> u16 {
        self.region
    }

    /// Adds this visit's share of news, and returns the share to report: 0 while the sum of small shares is less than
    /// `least`.
    pub fn accumulate_news(&mut self, news: f64, least: f64) -> f64 {
        let together = share(self.untold) + news;
        let is_reported = news >= least || together >= least;
        self.untold = if is_reported { 0 } else { parts(together) };
        if is_reported { together.min(1.0) } else { news }
    }

    /// Whether the last visit waits for a second look.
    pub fn is_in_doubt(&self) -> bool {
        self.first_look.is_some()
    }

    /// The same for a memory as it is stored.
    pub fn waits_for_second_look(bytes: &[u8]) -> bool {
        bytes
            .first()
            .is_some_and(|head| matches!(head & 0xF, FORMAT | OF_REGION) && head & IN_DOUBT != 0)
    }

    /// A second look found what the first had found, to the byte: all of it stays. Returns the share of news; `None`
    /// when no visit was in doubt.
    pub fn confirm(&mut self) -> Option<f64> {
        let first = self.first_look.take()?;
        self.sketch = first.sketch;
        Some(share(first.score))
    }

    /// Sets the share of news of a visit in doubt, should all of it stay.
    pub fn expect_news(&mut self, score: f64) {
        if let Some(first) = &mut self.first_look {
            first.score = parts(score);
        }
    }

    /// The page is as it was at the last visit: places of noise showed the same again.
    pub fn hold_still(&self, template: &TemplateMemory) -> Vec<Observation> {
        let keys = self.shown.shorts().flat_map(|short| template.keys_like(short));
        keys.map(|key| Observation::of(key, 0, false)).collect()
    }

    /// Forgets what was learned of noise, on the page and of its template; returns how many places that were.
    pub fn forget_noise(&mut self, template: &mut TemplateMemory) -> usize {
        self.recent = RecentTexts::default();
        self.shown = ShownNoise::default();
        self.first_look = None;
        template.forget_noise()
    }

    /// In how many places the page shows noise.
    pub fn noise_places(&self) -> usize {
        self.shown.0.len()
    }

    /// The memory as it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(Self::LONGEST);
        let doubt = match &self.first_look {
            None => 0,
            Some(first) if first.is_repeated => IN_DOUBT | REPEATED,
            Some(_) => IN_DOUBT,
        };
        let counts = self.recent.0.len() | self.shown.0.len() << 4;
        let format = if self.region == 0 { FORMAT } else { OF_REGION };
        out.extend([format | self.sketch.size().number() << 4 | doubt]);
        out.extend(u8::try_from(counts));
        out.extend(self.untold.to_le_bytes());
        if self.region != 0 {
            out.extend(self.region.to_le_bytes());
        }
        self.sketch.write(&mut out);
        out.extend(self.recent.0.iter().flat_map(|entry| entry.to_le_bytes()));
        for (key, text) in &self.shown.0 {
            out.extend(key.to_le_bytes());
            out.extend(text.to_le_bytes());
        }
        if let Some(first) = &self.first_look {
            out.extend(first.score.to_le_bytes());
            first.sketch.write(&mut out);
        }
        out
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave; `None` when it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[head, counts, low, high], rest) = bytes.split_first_chunk::<HEAD>()?;
        let untold = u16::from_le_bytes([low, high]);
        match head & 0xF {
            FORMAT => Self::read(head, counts, untold, rest),
            OF_REGION => {
                let (region, rest) = rest.split_first_chunk()?;
                let region = u16::from_le_bytes(*region);
                Some(PageMemory { region, ..Self::read(head, counts, untold, rest)? })
                    .filter(|_| region != 0)
            }
            BEFORE_PLACES => Self::read_before_places(head, untold, rest),
            _ => None,
        }
    }

    fn read(head: u8, counts: u8, untold: u16, rest: &[u8]) -> Option<Self> {
        let (sketch, rest) = Sketch::read(rest, SketchSize::from_number(head >> 4 & 0b11)?)?;
        let (recent, rest) = rest.split_at_checked(4 * usize::from(counts & 0xF))?;
        let (shown, rest) = rest.split_at_checked(4 * usize::from(counts >> 4))?;
        let recent = recent.as_chunks().0.iter().take(RecentTexts::CAPACITY);
        let shown = shown.as_chunks().0.iter().take(ShownNoise::CAPACITY);
        let pair =
            |&[a, b, c, d]: &[u8; 4]| (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        let first_look = match head & IN_DOUBT {
            0 => None,
            _ => Some(FirstLook::read(rest, head & REPEATED != 0)?),
        };
        Some(PageMemory {
            sketch,
            first_look,
            recent: RecentTexts(recent.map(|four| u32::from_le_bytes(*four)).collect()),
            shown: ShownNoise(shown.map(pair).collect()),
            region: 0,
            untold,
        })
    }

    /// Before noise was known by its place, its words were remembered; of that only the sketch is of use.
    fn read_before_places(head: u8, untold: u16, rest: &[u8]) -> Option<Self> {
        let size = if head >> 7 == 1 { SketchSize::Large } else { SketchSize::Small };
        let (sketch, _) = Sketch::read(rest, size)?;
        let (recent, shown) = (RecentTexts::default(), ShownNoise::default());
        Some(PageMemory { sketch, first_look: None, recent, shown, region: 0, untold })
    }
}

impl FirstLook {
    pub(crate) fn share(&self) -> f64 {
        share(self.score)
    }

    pub(crate) fn new(ids: &[u32], score: f64) -> Self {
        let sketch = Sketch::of_ids(ids, SketchSize::Huge);
        FirstLook { sketch, score: parts(score), is_repeated: false }
    }

    fn read(bytes: &[u8], is_repeated: bool) -> Option<Self> {
        let (&score, rest) = bytes.split_first_chunk()?;
        let (sketch, _) = Sketch::read(rest, SketchSize::Huge)?;
        Some(FirstLook { sketch, score: u16::from_le_bytes(score), is_repeated })
    }
}

fn parts(share: f64) -> u16 {
    (share.clamp(0.0, 1.0) * f64::from(u16::MAX)).round() as u16
}

fn share(parts: u16) -> f64 {
    f64::from(parts) / f64::from(u16::MAX)
}

const FORMAT: u8 = 3;
const OF_REGION: u8 = 4;
const BEFORE_PLACES: u8 = 2;
const IN_DOUBT: u8 = 1 << 6;
const REPEATED: u8 = 1 << 7;

/// Bytes before the sketch: the format, the counts, what is untold.
const HEAD: usize = 4;
