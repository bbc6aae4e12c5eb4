//! When is a page rechecked that was gone, moved or refused, and how many requests may that take?
//!
//! Few such pages return. So the wait at least doubles from one recheck to the next, and is longer where pages of the
//! same host, section and kind did not return before. All rechecks together get a small share of the requests, and a
//! larger one only where many rechecks find a page. A recheck for which the share has no room waits.

use std::collections::BTreeMap;
use std::time::Duration;

use evercrawl_model::{Change, Refusal, Time, Visit};
use evercrawl_policy::Page;
use evercrawl_state::{PageRow, PageStatus, Place};

/// The share of all requests that rechecks may take while few pages return.
const LEAST_SHARE: f64 = 0.01;
/// The largest share that they may take, however many pages return.
const MOST_SHARE: f64 = 0.1;
/// Of what the rechecks of pages that return are worth, so much becomes their share: where half of all rechecks find
/// a page, they get the largest share.
const SHARE_PER_CHANCE: f64 = 0.2;
/// Rechecks saved up while none were due, at most.
const MOST_SAVED: f64 = 10.0;

/// The chance to return at which a page waits as long as its schedule says.
const USUAL_CHANCE: f64 = 0.02;
/// By how much a smaller or larger chance lengthens or shortens that wait at most.
const WAIT_FACTORS: (f64, f64) = (0.1, 8.0);
/// What a host or section tells counts as much as this many rechecks of what lies above it.
const TRUST_ABOVE: f32 = 4.0;
/// After this many rechecks, earlier ones count half.
const MEMORY: f32 = 1000.0;
/// The most hosts and sections that are told apart.
const MOST_PLACES: usize = 1 << 14;

/// Why a page is probably not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Absence {
    /// Its server says that it was not found, or something like it.
    NotFound,
    /// Its server says that it is gone for good (410).
    Gone,
    /// It moved to another address.
    Moved,
    /// It failed too often, or something else stands in its place.
    Unusable,
}

impl Absence {
    const ALL: [Absence; 4] = [Absence::NotFound, Absence::Gone, Absence::Moved, Absence::Unusable];

    /// Why a page is absent that waits to be rechecked; `None` for other pages, and where no request is needed to
    /// learn whether the page may be fetched again.
    pub fn of(row: &PageRow) -> Option<Self> {
        let (Some(Place::Recheck(_)), Some(past)) = (row.place, &row.past) else { return None };
        match row.status {
            PageStatus::Gone => Some(Self::of_status(past.status)),
            PageStatus::Live => Some(Absence::Moved),
            PageStatus::Refused(Refusal::Robots) | PageStatus::New => None,
            PageStatus::Refused(_) => Some(Absence::Unusable),
        }
    }

    /// Why the page is absent whose visit this was.
    fn of_visit(visit: &Visit) -> Self {
        match visit.change {
            Change::Gone => Self::of_status(visit.status),
            _ if visit.is_move() => Absence::Moved,
            _ => Absence::Unusable,
        }
    }

    fn of_status(status: u16) -> Self {
        if status == 410 { Absence::Gone } else { Absence::NotFound }
    }

    /// The chance that a recheck finds the page, before any evidence.
    fn prior(self) -> f32 {
        match self {
            Absence::NotFound => 0.02,
            Absence::Gone => 0.005,
            Absence::Moved => 0.01,
            Absence::Unusable => 0.05,
        }
    }
}

/// Rechecks of pages of one place, and how many of them returned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Record {
    rechecks: f32,
    returned: f32,
}

impl Record {
    fn add(&mut self, returned: bool) {
        if self.rechecks >= MEMORY {
            *self = Record { rechecks: self.rechecks / 2.0, returned: self.returned / 2.0 };
        }
        self.rechecks += 1.0;
        self.returned += f32::from(u8::from(returned));
    }

    /// The chance to return, where `above` is that of a larger place.
    fn chance(&self, above: f32) -> f32 {
        (self.returned + TRUST_ABOVE * above) / (self.rechecks + TRUST_ABOVE)
    }
}

/// A host, or one of its sections.
type Area = (Absence, u32, u32);

/// The section number that stands for a whole host. A section that has this hash by chance shares the host's record.
const WHOLE_HOST: u32 = 0;

/// How rechecks are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecheckCounts {
    /// Requests of this run.
    pub requests: u64,
    /// How many of them were rechecks.
    pub rechecks: u64,
    /// How many rechecks found the page again.
    pub returned: u64,
    /// The share of all requests that rechecks may take.
    pub share: f64,
}

/// What rechecks showed so far, and how many may be made.
#[derive(Clone, Debug)]
pub(super) struct Rechecks {
    of_kind: [Record; Absence::ALL.len()],
    of_area: BTreeMap<Area, Record>,
    saved: f64,
    counts: RecheckCounts,
}

impl Default for Rechecks {
    fn default() -> Self {
        Rechecks {
            of_kind: Default::default(),
            of_area: BTreeMap::new(),
            saved: MOST_SAVED,
            counts: RecheckCounts::default(),
        }
    }
}

impl Rechecks {
    /// Learns from the visit of a page; one that was not a recheck teaches nothing.
    pub(super) fn learn(&mut self, row: &PageRow, page: &Page, visit: &Visit) {
        let Some(absence) = Absence::of(row) else { return };
        // A failure says nothing of the page.
        if visit.change == Change::Failed {
            return;
        }
        let returned = visit.change != Change::Gone && !visit.is_move();
        self.counts.returned += u64::from(returned);
        self.of_kind[absence as usize].add(returned);
        for area in [WHOLE_HOST, section(page)].map(|section| (absence, page.host, section)) {
            if self.of_area.len() < MOST_PLACES || self.of_area.contains_key(&area) {
                self.of_area.entry(area).or_default().add(returned);
            }
        }
    }

    /// The chance that a recheck of a page finds it.
    pub(super) fn chance(&self, absence: Absence, page: &Page) -> f64 {
        let everywhere = self.of_kind[absence as usize].chance(absence.prior());
        let record = |section| self.of_area.get(&(absence, page.host, section)).copied();
        let host = record(WHOLE_HOST).unwrap_or_default().chance(everywhere);
        f64::from(record(section(page)).unwrap_or_default().chance(host))
    }

    /// How long to wait before the page of this visit is rechecked: `usual`, more or less by its chance to return,
    /// and at least twice as long as the last wait if this visit was a recheck as well.
    pub(super) fn wait(
        &self,
        row: &PageRow,
        page: &Page,
        visit: &Visit,
        (usual, ended): (Duration, Time),
    ) -> Duration {
        let chance = self.chance(Absence::of_visit(visit), page);
        let factor = (USUAL_CHANCE / chance).clamp(WAIT_FACTORS.0, WAIT_FACTORS.1);
        let usual =
            Duration::try_from_secs_f64(usual.as_secs_f64() * factor).unwrap_or(Duration::MAX);
        let waited = row.past.as_ref().filter(|_| Absence::of(row).is_some());
        let waited = waited.map_or(Duration::ZERO, |past| ended.since(past.last_visit));
        usual.max(waited.saturating_mul(2))
    }

    /// Counts a request for a page.
    pub(super) fn count_request(&mut self, row: &PageRow) {
        self.counts.requests += 1;
        self.saved = (self.saved + self.share()).min(MOST_SAVED);
        if Absence::of(row).is_some() {
            self.counts.rechecks += 1;
            self.saved -= 1.0;
        }
    }

    /// Whether a page that is to be rechecked at `now` may be; otherwise when to ask again.
    pub(super) fn check(&self, row: &PageRow, now: Time) -> Result<(), Time> {
        let Some(past) = row.past.as_ref().filter(|_| Absence::of(row).is_some()) else {
            return Ok(());
        };
        if self.saved >= 1.0 {
            return Ok(());
        }
        // In proportion to its wait so far, so that the pages that were put off are not looked at again and again.
        Err(now.after((now.since(past.last_visit) / 4).max(MIN_DEFERRAL)))
    }

    /// The share of all requests that rechecks may take.
    fn share(&self) -> f64 {
        let [rechecks, returned] = [|of: &Record| of.rechecks, |of: &Record| of.returned]
            .map(|number| self.of_kind.iter().map(number).sum::<f32>());
        let chance = Record { rechecks, returned }.chance(Absence::NotFound.prior());
        (SHARE_PER_CHANCE * f64::from(chance)).clamp(LEAST_SHARE, MOST_SHARE)
    }

    /// How they are doing in this run.
    pub(super) fn counts(&self) -> RecheckCounts {
        RecheckCounts { share: self.share(), ..self.counts }
    }

    /// Appends what was learned to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.of_kind.iter().for_each(|record| record.write(out));
        out.extend((self.of_area.len() as u32).to_le_bytes());
        for ((absence, host, section), record) in &self.of_area {
            out.push(*absence as u8);
            out.extend(host.to_le_bytes());
            out.extend(section.to_le_bytes());
            record.write(out);
        }
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(super) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut rechecks = Rechecks::default();
        for record in &mut rechecks.of_kind {
            *record = Record::read(from)?;
        }
        for _ in 0..u32::from_le_bytes(take(from)?).min(MOST_PLACES as u32) {
            let [kind] = take(from)?;
            let absence = *Absence::ALL.get(usize::from(kind))?;
            let (host, section) =
                (u32::from_le_bytes(take(from)?), u32::from_le_bytes(take(from)?));
            rechecks.of_area.insert((absence, host, section), Record::read(from)?);
        }
        Some(rechecks)
    }
}

/// How long a recheck is put off at least.
const MIN_DEFERRAL: Duration = Duration::from_secs(60);

/// The section of a page, by its directory.
fn section(page: &Page) -> u32 {
    page.group
}

impl Record {
    fn write(self, out: &mut Vec<u8>) {
        out.extend(self.rechecks.to_le_bytes());
        out.extend(self.returned.to_le_bytes());
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let number = |bytes| Some(f32::from_le_bytes(bytes)).filter(|number| *number >= 0.0);
        let (rechecks, returned) = (number(take(from)?)?, number(take(from)?)?);
        Some(Record { rechecks, returned })
    }
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_model::{HostKey, Outcome, PageKey, Score};

    use crate::tests::waiting;

    const DAY: Duration = Duration::from_secs(86_400);
    const NOW: Time = Time::from_secs(100 * 86_400);

    /// A page that has been gone since day 1, or moved.
    fn absent(status: PageStatus, code: u16) -> PageRow {
        let mut row = PageRow { status, ..waiting(100) };
        row.place = Some(Place::Recheck(NOW));
        row.past.iter_mut().for_each(|past| past.status = code);
        row
    }

    fn found(change: Change, status: u16) -> Visit {
        Visit {
            page: PageKey { host: HostKey { shard: 0, host: 1 }, url: 2 },
            at: NOW,
            outcome: Outcome::Ok,
            cause: None,
            noise: evercrawl_model::VisitNoise::default(),
            status,
            change,
            score: Score::new(0.0),
            digest: None,
            bytes: 0,
            ms: 0,
            record: None,
            near: None,
        }
    }

    fn in_group(group: u32) -> Page {
        Page { group, host: 7, ..Page::new(0) }
    }

    fn days(wait: Duration) -> u64 {
        wait.as_secs() / 86_400
    }

    #[test]
    fn waits_at_least_double_and_are_longer_where_nothing_returns() {
        let (rechecks, page) = (Rechecks::default(), in_group(1));
        let wait = |row: &PageRow, visit: &Visit, usual| {
            days(rechecks.wait(row, &page, visit, (usual, NOW)))
        };
        let (live, gone) = (waiting(100), absent(PageStatus::Gone, 404));
        assert_eq!(wait(&live, &found(Change::Gone, 404), 10 * DAY), 10, "the first recheck");
        assert_eq!(wait(&live, &found(Change::Gone, 410), 10 * DAY), 40, "gone for good");
        // It was last visited on day 1.
        assert_eq!(wait(&gone, &found(Change::Gone, 404), 10 * DAY), 198);
        assert_eq!(
            rechecks.wait(&gone, &page, &found(Change::Gone, 410), (Duration::MAX, NOW)),
            Duration::MAX
        );
    }

    #[test]
    fn what_returned_before_is_expected_to_return_first_in_its_section_then_on_its_host() {
        let mut rechecks = Rechecks::default();
        let gone = absent(PageStatus::Gone, 404);
        let chance =
            |rechecks: &Rechecks, group| rechecks.chance(Absence::NotFound, &in_group(group));
        let before = chance(&rechecks, 1);
        for _ in 0..20 {
            rechecks.learn(&gone, &in_group(1), &found(Change::Same, 200));
            rechecks.learn(&gone, &in_group(2), &found(Change::Gone, 404));
            // A failure, and a visit that was no recheck, teach nothing.
            rechecks.learn(&gone, &in_group(2), &found(Change::Failed, 500));
            rechecks.learn(&waiting(100), &in_group(2), &found(Change::Same, 200));
        }
        let [flapping, dead, other] = [1, 2, 3].map(|group| chance(&rechecks, group));
        assert!(before < 0.03 && flapping > 0.8 && dead < 0.1, "{before} {flapping} {dead}");
        assert!(dead < other && other < flapping, "{other}");
        assert_eq!(rechecks.counts().returned, 20);
        let mut bytes = Vec::new();
        rechecks.write(&mut bytes);
        let read = Rechecks::read(&mut bytes.as_slice()).unwrap();
        assert_eq!([1, 2, 3].map(|group| chance(&read, group)), [flapping, dead, other]);
        assert!(Rechecks::read(&mut &bytes[..bytes.len() - 1]).is_none());
    }

    /// How many of this many requests may be rechecks, if each is wanted.
    fn rechecks_among(rechecks: &mut Rechecks, requests: u32) -> u32 {
        let (live, gone) = (waiting(100), absent(PageStatus::Gone, 404));
        let mut made = 0;
        for _ in 0..requests {
            let row = if rechecks.check(&gone, NOW).is_ok() { &gone } else { &live };
            made += u32::from(row == &gone);
            rechecks.count_request(row);
        }
        made
    }

    #[test]
    fn rechecks_take_a_hundredth_of_all_requests_unless_pages_return() {
        let mut rechecks = Rechecks::default();
        let made = rechecks_among(&mut rechecks, 10_000);
        assert!((90..=115).contains(&made), "{made}");
        let gone = absent(PageStatus::Gone, 404);
        (0..50).for_each(|_| rechecks.learn(&gone, &in_group(1), &found(Change::Changed, 200)));
        let made = rechecks_among(&mut rechecks, 10_000);
        assert!((900..=1015).contains(&made), "{made}");
        let put_off = rechecks.check(&gone, NOW).unwrap_err();
        assert!(put_off >= NOW.after(24 * DAY), "a quarter of its wait");
    }

    #[test]
    fn what_needs_no_request_is_no_recheck() {
        for (row, absence) in [
            (absent(PageStatus::Gone, 404), Some(Absence::NotFound)),
            (absent(PageStatus::Gone, 410), Some(Absence::Gone)),
            (absent(PageStatus::Live, 301), Some(Absence::Moved)),
            (absent(PageStatus::Refused(Refusal::ErrorHistory), 500), Some(Absence::Unusable)),
            (absent(PageStatus::Refused(Refusal::Robots), 200), None),
            (waiting(100), None),
        ] {
            assert_eq!(Absence::of(&row), absence, "{row:?}");
        }
    }
}
