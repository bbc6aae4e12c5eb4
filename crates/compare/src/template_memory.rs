//! Which places on the pages of one template hold what they say, and which say something else at every look?
//!
//! A template is a host and a shape of URL. Its pages share what is learned of places, so that the first
//! revisit of a page is judged by what the others showed. Two kinds of looks count apart: those from visit to
//! visit, and second looks, made so soon that what differs was drawn for the request.
//!
//! - **Drawn**: the place differed at second looks. A true change between two looks is rare, and taken back: such a
//!   place changes less from visit to visit than its second looks say.
//! - **Alternating**: the same words came back, again and again.
//! - **Rotating**: other words at nearly every visit, on several pages, and they hardly ever stayed.
//! - **Holding**: second looks found the words still. What changes there is news at once.
//!
//! Numbers are never taken to rotate: a price may change at every visit.

use std::collections::HashSet;

use crate::place::{KeyKind, PlaceKey};
use crate::words::mix;

/// What the pages of a template have shown of their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateMemory {
    entries: Vec<PlaceHistory>,
    /// Texts that places of noise showed lately, the latest last.
    texts: Vec<u32>,
}

/// What was seen of a place, to be added to a [`TemplateMemory`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The key of the place.
    pub key: u32,
    /// What was seen, in the bits below.
    pub flags: u8,
    /// Lines that were looked at.
    pub looked: u8,
    /// Lines that differed.
    pub differed: u8,
}

impl Observation {
    /// The look came soon after another.
    pub(crate) const SECOND: u8 = 1;
    /// Words came.
    pub(crate) const CAME: u8 = 2;
    /// The words that came had stood on the page before.
    pub(crate) const RETURNED: u8 = 4;
    /// Words that came at the visit before are still there.
    pub(crate) const HELD: u8 = 8;

    /// Observations as an event carries them.
    pub fn encode(observed: &[Self]) -> Box<[u8]> {
        let bytes = |seen: &Self| {
            let [a, b, c, d] = seen.key.to_le_bytes();
            [a, b, c, d, seen.flags, seen.looked, seen.differed]
        };
        observed.iter().flat_map(bytes).collect()
    }

    fn decode(bytes: &[u8]) -> Vec<Self> {
        let seen = |&[a, b, c, d, flags, looked, differed]: &[u8; 7]| Observation {
            key: u32::from_le_bytes([a, b, c, d]),
            flags,
            looked,
            differed,
        };
        bytes.as_chunks().0.iter().map(seen).collect()
    }

    pub(crate) fn of(key: PlaceKey, flags: u8, differed: bool) -> Self {
        Observation { key: key.0, flags, looked: 1, differed: u8::from(differed) }
    }
}

/// Why differences in a place are not news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseReason {
    /// It says something else at every look.
    Drawn = 1,
    /// The same words come and go.
    Alternating = 2,
    /// It says something else at nearly every visit, on several pages.
    Rotating = 3,
    /// Other pages of the site changed in the same way.
    SiteWide = 4,
    /// It stands in a menu, header, footer, sidebar or notice, where changes were not yet seen to stay.
    Aside = 5,
    /// It says little but when the page was visited.
    TimeOfVisit = 6,
}

impl NoiseReason {
    /// All reasons.
    pub const ALL: [NoiseReason; 6] = [
        NoiseReason::Drawn,
        NoiseReason::Alternating,
        NoiseReason::Rotating,
        NoiseReason::SiteWide,
        NoiseReason::Aside,
        NoiseReason::TimeOfVisit,
    ];

    /// Its code, as users see it.
    pub const fn code(self) -> &'static str {
        match self {
            NoiseReason::Drawn => "drawn",
            NoiseReason::Alternating => "alternating",
            NoiseReason::Rotating => "rotating",
            NoiseReason::SiteWide => "site_wide",
            NoiseReason::Aside => "aside",
            NoiseReason::TimeOfVisit => "time_of_visit",
        }
    }

    /// Whether the words themselves are noise, and not only not told as the page's news.
    pub const fn is_passing(self) -> bool {
        !matches!(self, NoiseReason::SiteWide | NoiseReason::Aside)
    }

    /// Reads its number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| *reason as u8 == number)
    }
}

/// What is known of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceVerdict {
    Noise(NoiseReason),
    Holds,
    Unknown,
}

/// What was seen of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PlaceHistory {
    key: PlaceKey,
    /// Looks from visit to visit, and how many of them differed.
    looks: u8,
    differed: u8,
    /// Second looks, and how many of them differed.
    second_looks: u8,
    second_differed: u8,
    came: u8,
    returned: u8,
    held: u8,
    /// Looks in a row at which it stayed.
    still: u8,
    /// A bit for each page that it differed on.
    pages: u8,
}

/// Bytes of an entry.
const ENTRY: usize = 13;

/// Counts are halved from here on.
const MOST_COUNTED: u8 = 60;
/// The same for lines of which there are several, which count one by one.
const MOST_LINES_COUNTED: u8 = 240;

impl TemplateMemory {
    /// The most places that are remembered.
    pub(crate) const CAPACITY: usize = 96;

    /// The most texts that are remembered.
    const MOST_TEXTS: usize = 96;

    /// The most bytes that it takes as it is stored.
    pub const MOST_BYTES: usize = ENTRY * Self::CAPACITY + 3 * Self::MOST_TEXTS + 2;

    pub(crate) fn verdict(&self, key: PlaceKey) -> PlaceVerdict {
        self.find(key).map_or(PlaceVerdict::Unknown, PlaceHistory::verdict)
    }

    pub(crate) fn knows(&self, key: PlaceKey) -> bool {
        self.find(key).is_some()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.texts.is_empty()
    }

    /// The paths of places that are told from others with the same tags.
    pub(crate) fn paths_beside(&self) -> HashSet<u16> {
        let beside = |entry: &&PlaceHistory| {
            use KeyKind::{After, Before, FromEnd, FromStart};
            matches!(entry.key.kind(), After | Before | FromStart | FromEnd)
        };
        self.entries.iter().filter(beside).map(|entry| entry.key.path()).collect()
    }

    /// Whether places are known by their numbers.
    pub(crate) fn has_numbers(&self) -> bool {
        let numbers = |kind| matches!(kind, KeyKind::Shape | KeyKind::Digits);
        self.entries.iter().any(|entry| numbers(entry.key.kind()))
    }

    /// The keys that a page remembers by these sixteen bits.
    pub(crate) fn keys_like(&self, short: u16) -> impl Iterator<Item = PlaceKey> + '_ {
        self.entries.iter().map(|entry| entry.key).filter(move |key| key.short() == short)
    }

    fn find(&self, key: PlaceKey) -> Option<&PlaceHistory> {
        self.entries.binary_search_by_key(&key, |entry| entry.key).ok().map(|at| &self.entries[at])
    }

    /// How many places are noise.
    pub fn noise_places(&self) -> usize {
        let noise = |entry: &&PlaceHistory| matches!(entry.verdict(), PlaceVerdict::Noise(_));
        self.entries.iter().filter(noise).count()
    }

    /// Which of a host's templates a URL is of: by its number of directories, its first directory, and whether its
    /// last part has numbers. There are sixteen, so that no server can make up more.
    pub fn number_of(url: &str) -> u8 {
        let path = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = path.find('/').map_or("", |at| &path[at + 1..]);
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let (directories, last) = path.rsplit_once('/').unwrap_or(("", path));
        let first = directories.split('/').next().unwrap_or_default();
        let letters = first.bytes().filter(|byte| !byte.is_ascii_digit());
        let depth = directories.split('/').filter(|part| !part.is_empty()).count() as u64;
        let numbered = u64::from(last.bytes().any(|byte| byte.is_ascii_digit()));
        let start = depth << 2 | numbered << 1 | u64::from(last.is_empty());
        let hash = letters.fold(start, |hash, byte| mix(hash ^ u64::from(byte), FACTOR));
        (mix(hash, FACTOR) >> 60) as u8
    }

    /// Adds what a visit to a page saw.
    pub fn record(&mut self, page: u64, observed: &[Observation]) {
        for seen in observed {
            let key = PlaceKey(seen.key);
            if let Some(text) = key.text() {
                self.remember_text(text);
                continue;
            }
            let at = match self.entries.binary_search_by_key(&key, |entry| entry.key) {
                Ok(at) => at,
                // What never differed need not be known.
                Err(_) if seen.differed == 0 && seen.flags & Observation::SECOND == 0 => continue,
                Err(_) => self.insert(key),
            };
            self.entries[at].record(page, seen);
            if self.entries[at].is_settled() {
                self.entries.remove(at);
            }
        }
    }

    /// Whether a place of noise showed a text lately, on any page.
    pub(crate) fn has_shown(&self, id: u32) -> bool {
        self.texts.contains(&id)
    }

    fn remember_text(&mut self, id: u32) {
        if self.texts.contains(&id) {
            return;
        }
        if self.texts.len() >= Self::MOST_TEXTS {
            self.texts.remove(0);
        }
        self.texts.push(id);
    }

    /// Makes room for a place, if need be by forgetting the one that tells least.
    fn insert(&mut self, key: PlaceKey) -> usize {
        if self.entries.len() >= Self::CAPACITY {
            let least = (0..self.entries.len()).min_by_key(|&at| self.entries[at].evidence());
            self.entries.remove(least.unwrap_or(0));
        }
        let at = self.entries.partition_point(|entry| entry.key < key);
        self.entries.insert(at, PlaceHistory::new(key));
        at
    }

    /// Forgets the places of noise, and what they showed; returns how many they were.
    pub(crate) fn forget_noise(&mut self) -> usize {
        let before = self.entries.len();
        self.entries.retain(|entry| !matches!(entry.verdict(), PlaceVerdict::Noise(_)));
        self.texts.clear();
        before - self.entries.len()
    }

    /// Adds what [`Observation::encode`] wrote.
    pub fn record_encoded(&mut self, page: u64, observed: &[u8]) {
        self.record(page, &Observation::decode(observed));
    }

    /// The memory as it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(2 + 3 * self.texts.len() + ENTRY * self.entries.len());
        out.extend([FORMAT, u8::try_from(self.texts.len()).unwrap_or(0)]);
        out.extend(self.texts.iter().flat_map(|id| {
            let [a, b, c, _] = id.to_le_bytes();
            [a, b, c]
        }));
        self.entries.iter().for_each(|entry| entry.write(&mut out));
        out
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave; anything else is nothing known.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let Some((&[FORMAT, texts], rest)) = bytes.split_first_chunk() else {
            return Self::default();
        };
        let Some((texts, rest)) = rest.split_at_checked(3 * usize::from(texts)) else {
            return Self::default();
        };
        let texts = texts.as_chunks().0.iter().take(Self::MOST_TEXTS);
        let texts = texts.map(|&[a, b, c]| u32::from_le_bytes([a, b, c, 0])).collect();
        let entries = rest.as_chunks::<ENTRY>().0.iter().take(Self::CAPACITY);
        let mut entries: Vec<PlaceHistory> = entries.map(PlaceHistory::read).collect();
        entries.sort_unstable_by_key(|entry| entry.key);
        entries.dedup_by_key(|entry| entry.key);
        TemplateMemory { entries, texts }
    }
}

const FORMAT: u8 = 1;
const FACTOR: u64 = 0x9FB2_1C65_1E98_DF25;

impl PlaceHistory {
    fn new(key: PlaceKey) -> Self {
        PlaceHistory {
            key,
            looks: 0,
            differed: 0,
            second_looks: 0,
            second_differed: 0,
            came: 0,
            returned: 0,
            held: 0,
            still: 0,
            pages: 0,
        }
    }

    fn record(&mut self, page: u64, seen: &Observation) {
        let several = self.key.kind() == KeyKind::Several;
        let most = if several { MOST_LINES_COUNTED } else { MOST_COUNTED };
        let (looks, differed) = if seen.flags & Observation::SECOND != 0 {
            (&mut self.second_looks, &mut self.second_differed)
        } else {
            (&mut self.looks, &mut self.differed)
        };
        if looks.saturating_add(seen.looked) >= most {
            (*looks, *differed) = (*looks / 2, *differed / 2);
        }
        *looks = looks.saturating_add(seen.looked.min(most / 2));
        *differed = differed.saturating_add(seen.differed.min(seen.looked)).min(*looks);
        self.still = if seen.differed == 0 { self.still.saturating_add(1) } else { 0 };
        let counted = |flag: u8| u8::from(seen.flags & flag != 0);
        if self.came >= MOST_COUNTED {
            self.came /= 2;
            self.returned /= 2;
            self.held /= 2;
        }
        self.came += counted(Observation::CAME);
        self.returned = (self.returned + counted(Observation::RETURNED)).min(self.came);
        self.held = (self.held + counted(Observation::HELD)).min(self.came);
        if seen.differed > 0 {
            self.pages |= 1 << (page % 8);
        }
    }

    /// Noise that has stayed for so long that it is none any more.
    fn is_settled(&self) -> bool {
        let PlaceVerdict::Noise(_) = self.verdict() else { return false };
        let rate = f64::from(self.differed) / f64::from(self.looks.max(1));
        // It stays so often by chance once in five hundred times.
        let needed = (0.002_f64.ln() / (1.0 - rate.min(0.99)).max(0.01).ln()).ceil();
        f64::from(self.still) >= needed.clamp(6.0, 24.0)
    }

    fn verdict(&self) -> PlaceVerdict {
        if self.is_drawn() {
            PlaceVerdict::Noise(NoiseReason::Drawn)
        } else if self.is_alternating() {
            PlaceVerdict::Noise(NoiseReason::Alternating)
        } else if self.is_rotating() {
            PlaceVerdict::Noise(NoiseReason::Rotating)
        } else if self.second_looks >= self.needed_to_hold() {
            PlaceVerdict::Holds
        } else {
            PlaceVerdict::Unknown
        }
    }

    fn needed_to_hold(&self) -> u8 {
        match self.key.kind() {
            KeyKind::Path | KeyKind::Removal => 3,
            KeyKind::Several => 60,
            _ => 2,
        }
    }

    /// It differed at second looks, and from visit to visit about as often.
    fn is_drawn(&self) -> bool {
        let least = match self.key.kind() {
            KeyKind::Several => 0.5,
            KeyKind::Removal => return false,
            _ => 0.2,
        };
        let needed = if self.second_looks < 3 { 1 } else { 2 };
        let second = self.second_rate();
        let by_chance = self.looks >= 3 && self.rate() < 0.4 * second;
        self.second_differed >= needed && second >= least && !by_chance
    }

    /// Words came back: at least a third of those that came, where it differs often.
    fn is_alternating(&self) -> bool {
        self.is_of_words()
            && self.came >= 3
            && u16::from(self.returned) * 3 >= u16::from(self.came)
            && self.rate() >= 0.3
            && u16::from(self.held) * 3 <= u16::from(self.came) * 2
    }

    /// Other words at nearly every visit, on several pages, that did not stay.
    fn is_rotating(&self) -> bool {
        self.is_of_words()
            && self.differed >= 6
            && self.rate() >= 0.75
            && self.pages.count_ones() >= 3
            && u16::from(self.held) * 3 < u16::from(self.came)
    }

    /// Whether it shows words, and a second look was there to see whether they stay: without any, all is told.
    fn is_of_words(&self) -> bool {
        self.second_looks > 0
            && !matches!(self.key.kind(), KeyKind::Shape | KeyKind::Digits | KeyKind::Removal)
    }

    fn rate(&self) -> f64 {
        f64::from(self.differed) / f64::from(self.looks.max(1))
    }

    fn second_rate(&self) -> f64 {
        f64::from(self.second_differed) / f64::from(self.second_looks.max(1))
    }

    /// How much would be forgotten with it.
    fn evidence(&self) -> u32 {
        u32::from(self.differed)
            + 2 * u32::from(self.second_looks)
            + 4 * u32::from(self.second_differed)
            + u32::from(self.came)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.key.0.to_le_bytes());
        out.extend([self.looks, self.differed, self.second_looks, self.second_differed]);
        out.extend([self.came, self.returned, self.held, self.still, self.pages]);
    }

    fn read(bytes: &[u8; ENTRY]) -> Self {
        let &[
            a,
            b,
            c,
            d,
            looks,
            differed,
            second_looks,
            second_differed,
            came,
            returned,
            held,
            still,
            pages,
        ] = bytes;
        PlaceHistory {
            key: PlaceKey(u32::from_le_bytes([a, b, c, d])),
            looks,
            differed: differed.min(looks),
            second_looks,
            second_differed: second_differed.min(second_looks),
            came: came.min(MOST_COUNTED),
            returned: returned.min(came).min(MOST_COUNTED),
            held: held.min(came).min(MOST_COUNTED),
            still,
            pages,
        }
    }
}
