//! What is known? Everything that can be read, from a store that others may use meanwhile.

use std::collections::HashMap;
use std::sync::Arc;

use evercrawl_compare::{SiteMemory, TemplateMemory};
use evercrawl_model::{
    Band, HostKey, Keyer, LifeChange, LogNotice, PageKey, RobotsCopy, Time, Visit,
};

use crate::StateError;
use crate::counters::Counters;
use crate::keys::{self, Lane};
use crate::layers::Layers;
use crate::machine::MachineRow;
use crate::meta::{self, ArchiveFile, Settings};
use crate::position::Position;
use crate::reading::Reading;
use crate::rows::{self, HostRow, Logged, PageRow, Soft404Row};
use crate::spending::Spending;
use crate::store::{Slice, Space, Store};

pub(crate) const SETTINGS: &[u8] = b"k";
pub(crate) const COUNTERS: &[u8] = b"c";
pub(crate) const SPENDING: &[u8] = b"b";
pub(crate) const FILES: u8 = b'f';
pub(crate) const TAGS: u8 = b't';

/// A page's place in a lane of its host's back queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The turn (new pages) or the due time in milliseconds (known pages).
    pub position: u64,
    /// The page.
    pub page: PageKey,
}

/// What the log says under one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogEntry {
    /// A page was visited; and how its life state changed, where it did.
    Visit(Visit, Option<LifeChange>),
    /// Something else happened.
    Notice(LogNotice),
}

impl LogEntry {
    /// When it was.
    pub fn at(&self) -> Time {
        match self {
            LogEntry::Visit(visit, _) => visit.at,
            LogEntry::Notice(notice) => notice.at(),
        }
    }
}

/// The state as readers see it. Opened from a store alone it shows what was committed, and costs
/// next to nothing; [`State`](crate::State) sees through one what it has changed since.
pub struct View<S> {
    pub(crate) layers: Layers<S>,
    pub(crate) keyer: Keyer,
    pub(crate) counters: Counters,
    pub(crate) spending: Spending,
    was_clean: bool,
}

impl<S: Store> View<S> {
    /// Looks at what was committed to `store`; one that nothing was ever committed to reads as
    /// empty.
    pub fn open(store: Arc<S>) -> Result<Self, StateError> {
        Self::with(Layers::new(store), Settings { seed: 0, shards: 1 })
    }

    /// Begins a state with `fresh` settings where there is none.
    pub(crate) fn with(mut layers: Layers<S>, fresh: Settings) -> Result<Self, StateError> {
        layers.read_position()?;
        let stored = layers.get(Space::Meta, SETTINGS)?;
        let was_clean = stored.is_none() || layers.machine_row(MachineRow::CleanMark)?.is_some();
        let settings = stored.map_or(Ok(fresh), |row| meta::decode_settings(&row))?;
        let counters = match layers.get(Space::Meta, COUNTERS)? {
            Some(row) => Counters::decode(&row)?,
            None => Counters::default(),
        };
        let spending = match layers.get(Space::Meta, SPENDING)? {
            Some(row) => Spending::decode(&row)?,
            None => Spending::default(),
        };
        let keyer = Keyer::new(settings.seed, settings.shards);
        Ok(View { layers, keyer, counters, spending, was_clean })
    }

    /// True when the settings are missing, and with them the secret that page keys are made with: no crawl ever began, or they are lost.
    pub fn has_no_settings(&self) -> Result<bool, StateError> {
        Ok(self.layers.get(Space::Meta, SETTINGS)?.is_none())
    }

    /// False when the last run did not end cleanly.
    pub fn was_clean(&self) -> bool {
        self.was_clean
    }

    /// The batch that this reflects last.
    pub fn position(&self) -> Position {
        self.layers.position()
    }

    /// What makes keys here.
    pub fn keyer(&self) -> Keyer {
        self.keyer
    }

    /// Totals.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What was received lately.
    pub fn spending(&self) -> &Spending {
        &self.spending
    }

    /// The store below, for readers on other threads; it lags behind by what is not committed.
    pub fn reading(&self) -> Reading<S> {
        Reading { store: self.layers.store().clone(), blocks: None }
    }

    /// The page at `key`.
    pub fn page(&self, key: PageKey) -> Result<Option<PageRow>, StateError> {
        let row = self.layers.get(Space::Pages, &key.to_bytes())?;
        row.map(|row| PageRow::decode(&row)).transpose()
    }

    /// The URL of the page at `key`, without decoding the rest of its row.
    pub fn url(&self, key: PageKey) -> Result<Option<String>, StateError> {
        let row = self.layers.get(Space::Pages, &key.to_bytes())?;
        row.map(|row| PageRow::url_of(&row).map(str::to_owned)).transpose()
    }

    /// The page with canonical URL `url` on `host`.
    pub fn find(&self, host: HostKey, url: &str) -> Result<Option<(PageKey, PageRow)>, StateError> {
        let (key, check) = self.keyer.page(host, url);
        match self.probe(key, check)? {
            KeySlot::Known(key) => Ok(self.page(key)?.map(|row| (key, row))),
            KeySlot::Free(_) => Ok(None),
        }
    }

    /// Follows the chain of colliding URLs to the one with hash `check`, or to the place where it
    /// would go.
    pub(crate) fn probe(&self, mut key: PageKey, check: u64) -> Result<KeySlot, StateError> {
        loop {
            match self.layers.get(Space::Known, &key.to_bytes())? {
                None => return Ok(KeySlot::Free(key)),
                Some(row) if *row == known_by(check) => return Ok(KeySlot::Known(key)),
                Some(_) => key = key.next_probe(),
            }
        }
    }

    /// Every page, in the order of their keys.
    pub fn pages(&self) -> impl Iterator<Item = Result<(PageKey, PageRow), StateError>> + '_ {
        self.pages_after(None)
    }

    /// Pages that come after `key`, in the order of their keys; all where it is `None`.
    pub fn pages_after(
        &self,
        key: Option<PageKey>,
    ) -> impl Iterator<Item = Result<(PageKey, PageRow), StateError>> + '_ {
        let from = key.map_or(Vec::new(), |key| keys::after(&key.to_bytes()));
        self.pages_between(&from, &[0xff; 19])
    }

    /// Every page of a host.
    pub fn pages_of(
        &self,
        host: HostKey,
    ) -> impl Iterator<Item = Result<(PageKey, PageRow), StateError>> + '_ {
        let last = PageKey { host, url: u64::MAX };
        self.pages_between(&host.to_bytes(), &keys::after(&last.to_bytes()))
    }

    fn pages_between(
        &self,
        from: &[u8],
        to: &[u8],
    ) -> impl Iterator<Item = Result<(PageKey, PageRow), StateError>> + use<'_, S> {
        self.layers.scan(Space::Pages, from, to).map(|row| {
            let (key, row) = row?;
            let key = PageKey::from_bytes(&key).ok_or_else(|| keys::bad("page"))?;
            Ok((key, PageRow::decode(&row)?))
        })
    }

    /// The row of a host.
    pub fn host(&self, key: HostKey) -> Result<Option<HostRow>, StateError> {
        self.layers.host(key)
    }

    /// What the pages of a host have in common, as far as it differed lately.
    pub fn site(&self, key: HostKey) -> Result<SiteMemory, StateError> {
        let row = self.layers.get(Space::Hosts, &keys::site(key))?;
        Ok(row.map_or_else(SiteMemory::default, |row| SiteMemory::from_bytes(&row)))
    }

    /// What the pages of a host whose URLs are like this one have shown of their places.
    pub fn template(&self, key: HostKey, url: &str) -> Result<TemplateMemory, StateError> {
        let key = keys::template(key, TemplateMemory::number_of(url));
        let row = self.layers.get(Space::Hosts, &key)?;
        Ok(row.map_or_else(TemplateMemory::default, |row| TemplateMemory::from_bytes(&row)))
    }

    /// How a host answers for what does not exist, where that was asked.
    pub fn soft_404_profile(&self, key: HostKey) -> Result<Option<Soft404Row>, StateError> {
        let row = self.layers.get(Space::Hosts, &keys::soft_404(key))?;
        row.map(|row| rows::decode_soft_404(&row)).transpose()
    }

    /// Every host.
    pub fn hosts(&self) -> impl Iterator<Item = Result<(HostKey, HostRow), StateError>> + '_ {
        self.hosts_after(None)
    }

    /// Every host after this one.
    pub fn hosts_after(
        &self,
        after: Option<HostKey>,
    ) -> impl Iterator<Item = Result<(HostKey, HostRow), StateError>> + '_ {
        let after = after.map(|host| [b"h".as_slice(), &host.to_bytes()].concat());
        let from = after.map_or(b"h".to_vec(), |key| keys::after(&key));
        self.layers.scan(Space::Hosts, &from, &keys::HOSTS_END).map(|row| {
            let (key, row) = row?;
            let key = HostKey::from_bytes(&key[1..]).ok_or_else(|| keys::bad("host"))?;
            Ok((key, HostRow::decode(&row)?))
        })
    }

    /// At most `limit` pages of a lane, at `from` (position, URL hash) or after it, and before
    /// position `until`.
    pub fn lane(
        &self,
        host: HostKey,
        lane: Lane,
        from: (u64, u64),
        until: u64,
        limit: usize,
    ) -> Result<Vec<Queued>, StateError> {
        let from = keys::queue_at(host, lane, from.0, from.1);
        let until = keys::queue_at(host, lane, until, 0);
        let rows = self.layers.scan(Space::Queues, &from, &until).take(limit);
        rows.map(|row| {
            let (position, url) =
                keys::parse_queue(&row?.0).ok_or_else(|| keys::bad("back queue"))?;
            Ok(Queued { position, page: PageKey { host, url } })
        })
        .collect()
    }

    /// At most `limit` hosts of a front queue that have something to fetch at `from` or later.
    pub fn front(
        &self,
        band: Band,
        from: (Time, HostKey),
        limit: usize,
    ) -> Result<Vec<(Time, HostKey)>, StateError> {
        let from = keys::front(band, from.0, from.1);
        let rows = self.layers.scan(Space::Hosts, &from, &keys::front_end(band)).take(limit);
        rows.map(|row| keys::parse_front(&row?.0).ok_or_else(|| keys::bad("front queue"))).collect()
    }

    /// The copy held of an origin's robots.txt.
    pub fn robots(&self, origin: &str) -> Result<Option<RobotsCopy>, StateError> {
        let row = self.layers.get(Space::Hosts, &keys::robots(origin))?;
        row.map(|row| rows::decode_robots(&row)).transpose()
    }

    /// A page's visits, latest first, with their numbers.
    pub fn history(
        &self,
        page: &PageRow,
    ) -> impl Iterator<Item = Result<(u64, Visit), StateError>> + '_ {
        self.visits_back_from(page.past.as_ref().map(|past| past.log))
    }

    /// The visits to a page before the visit `number`, latest first.
    pub fn visits_before(
        &self,
        number: u64,
    ) -> impl Iterator<Item = Result<(u64, Visit), StateError>> + '_ {
        self.visits_back_from(Some(number)).skip(1)
    }

    fn visits_back_from(
        &self,
        mut next: Option<u64>,
    ) -> impl Iterator<Item = Result<(u64, Visit), StateError>> + '_ {
        std::iter::from_fn(move || {
            let number = next.take()?;
            let row = match self.layers.get(Space::Visits, &number.to_be_bytes()) {
                Ok(row) => row?,
                Err(error) => return Some(Err(error)),
            };
            Some(Logged::decode(&row).map(|logged| {
                next = logged.before;
                (number, logged.visit)
            }))
        })
    }

    /// Every visit from number `from` on, in the order of their commits.
    pub fn visits(&self, from: u64) -> impl Iterator<Item = Result<(u64, Visit), StateError>> + '_ {
        self.log(from).filter_map(|entry| match entry {
            Ok((number, LogEntry::Visit(visit, _))) => Some(Ok((number, visit))),
            Ok((_, LogEntry::Notice(_))) => None,
            Err(error) => Some(Err(error)),
        })
    }

    /// Everything that the log says from number `from` on, in the order of the commits.
    pub fn log(&self, from: u64) -> impl Iterator<Item = Result<(u64, LogEntry), StateError>> + '_ {
        self.layers.scan(Space::Visits, &from.to_be_bytes(), &[0xff; 9]).map(|row| {
            let (key, row) = row?;
            let number = key.as_ref().try_into().map(u64::from_be_bytes);
            let entry = if rows::is_notice(&row) {
                LogEntry::Notice(rows::decode_notice(&row)?)
            } else {
                let logged = Logged::decode(&row)?;
                LogEntry::Visit(logged.visit, logged.turn)
            };
            Ok((number.map_err(|_| keys::bad("visit"))?, entry))
        })
    }

    /// When the last thing was that the log says.
    pub fn last_logged(&self) -> Result<Option<Time>, StateError> {
        let last = self.log(self.counters().logged.saturating_sub(1)).next();
        Ok(last.transpose()?.map(|(_, entry)| entry.at()))
    }

    /// Every set of tags, by number.
    pub fn tag_sets(&self) -> Result<HashMap<u32, String>, StateError> {
        let rows = self.layers.scan(Space::Meta, &[TAGS], &[TAGS + 1]);
        rows.map(|row| {
            let (key, tags) = row?;
            let id = number_of(&key)?;
            let id = u32::try_from(id).map_err(|_| keys::bad("tag set"))?;
            Ok((id, String::from_utf8_lossy(&tags).into_owned()))
        })
        .collect()
    }

    /// Every URL that the user gave; some perhaps twice.
    pub fn seeds(&self) -> impl Iterator<Item = Result<String, StateError>> + '_ {
        let hosts = self.seed_hosts().map(|host| host.map(|(key, _)| key));
        let pages = hosts.flat_map(|host| {
            let (pages, error) = match host {
                Ok(host) => (Some(self.pages_of(host)), None),
                Err(error) => (None, Some(Err(error))),
            };
            pages.into_iter().flatten().chain(error)
        });
        let given = pages.filter_map(|page| match page {
            Ok((_, row)) => row.seed.then_some(Ok(row.url)),
            Err(error) => Some(Err(error)),
        });
        self.listed_seeds().chain(given)
    }

    /// Every host that has a page which the user gave.
    pub fn seed_hosts(&self) -> impl Iterator<Item = Result<(HostKey, HostRow), StateError>> + '_ {
        self.hosts().filter(|host| host.as_ref().map_or(true, |(_, row)| row.seed))
    }

    /// The URLs that were given to versions that kept a list of them beside the pages.
    pub fn listed_seeds(&self) -> impl Iterator<Item = Result<String, StateError>> + '_ {
        self.layers.scan(Space::Meta, keys::SEED, keys::SEEDS_END).map(|row| {
            let url = row?.0[keys::SEED.len()..].to_vec();
            String::from_utf8(url).map_err(|_| keys::bad("seed"))
        })
    }

    /// The archive's files as last committed, but for those that are leaving.
    pub fn archive(&self) -> Result<Vec<ArchiveFile>, StateError> {
        let mut files = self.archive_files()?;
        files.retain(|file| !file.leaving);
        Ok(files)
    }

    /// Every file of the archive that may be on disk.
    pub fn archive_files(&self) -> Result<Vec<ArchiveFile>, StateError> {
        let rows = self.layers.scan(Space::Meta, &[FILES], &[FILES + 1]);
        rows.map(|row| meta::decode_file(&row?.1)).collect()
    }

    /// Bytes that the state takes on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.layers.store().disk_bytes()
    }
}

/// The part of a URL's second hash that tells it from others with the same key. With the key that
/// makes 96 bits within a host: no two URLs ever met are the same in all.
pub(crate) fn known_by(check: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = check.to_be_bytes();
    [a, b, c, d]
}

/// Where a URL is, or would go.
pub(crate) enum KeySlot {
    Known(PageKey),
    Free(PageKey),
}

pub(crate) fn number_of(key: &Slice) -> Result<u64, StateError> {
    let bytes = key.get(1..9).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u64::from_be_bytes).ok_or_else(|| keys::bad("numbered"))
}
