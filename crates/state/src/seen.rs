//! Was this URL seen before? Two quick answers before the store is asked.
//!
//! A filter that never forgets says "surely new" for most new URLs. A small table of URLs lately
//! found to be known says "surely known" for the links that every page of a site repeats. Only
//! what neither can tell costs a look-up. A wrong "known" would lose a page, so the table compares
//! 128 bits of the URL's hash, and the filter is never believed when it says "known".

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use evercrawl_model::PageKey;
use fastbloom::BloomFilter;
use xxhash_rust::xxh3::Xxh3;

/// What the quick answers say of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quick {
    /// It was never seen.
    New,
    /// It is known.
    Known,
    /// Ask the store.
    Unsure,
}

/// The filter and the table.
pub(crate) struct Seen {
    filter: Filter,
    lately: LatelyKnown,
}

/// URLs lately found to be known. Whoever reads links may share it: what it has is in the store, or on
/// its way there.
#[derive(Clone, Default)]
pub struct LatelyKnown(Arc<[[AtomicU64; 2]]>);

impl LatelyKnown {
    const LEN: usize = 1 << 17;

    fn new() -> Self {
        LatelyKnown((0..Self::LEN).map(|_| Default::default()).collect())
    }

    /// Whether a URL is surely known.
    ///
    /// The halves of an entry may be read while another is put in its place. No harm is done: a URL's own
    /// hash is in both.
    pub fn has(&self, page: PageKey, check: u64) -> bool {
        let wanted = identity(page, check);
        let slot = self.0.get(Self::slot(page));
        slot.is_some_and(|slot| [0, 1].map(|half| slot[half].load(Ordering::Relaxed)) == wanted)
    }

    /// Whether another stands where this URL would: it may be known, and have made room.
    pub(crate) fn has_other(&self, page: PageKey) -> bool {
        let slot = self.0.get(Self::slot(page));
        slot.is_some_and(|slot| slot[1].load(Ordering::Relaxed) != 0)
    }

    /// The URL is in the store.
    pub(crate) fn note(&self, page: PageKey, check: u64) {
        self.put(page, identity(page, check));
    }

    fn put(&self, page: PageKey, identity: [u64; 2]) {
        if let Some(slot) = self.0.get(Self::slot(page)) {
            slot.iter().zip(identity).for_each(|(half, to)| half.store(to, Ordering::Relaxed));
        }
    }

    fn slot(page: PageKey) -> usize {
        usize::try_from((page.url ^ page.host.host) % Self::LEN as u64).unwrap_or_default()
    }
}

impl Seen {
    pub(crate) fn new(filter: Filter) -> Self {
        Seen { filter, lately: LatelyKnown::new() }
    }

    pub(crate) fn ask(&self, page: PageKey, check: u64) -> Quick {
        if self.lately.has(page, check) {
            Quick::Known
        } else if self.filter.contains(filter_hash(page)) {
            Quick::Unsure
        } else {
            Quick::New
        }
    }

    /// The URL is in the store.
    pub(crate) fn known(&mut self, page: PageKey, check: u64) {
        self.lately.note(page, check);
    }

    /// The page left the store; the filter keeps it, which only costs a look-up.
    pub(crate) fn forget(&mut self, page: PageKey) {
        self.lately.put(page, [0, 0]);
    }

    /// The URL came into the store.
    pub(crate) fn insert(&mut self, page: PageKey, check: u64) {
        self.known(page, check);
        self.filter.insert(filter_hash(page));
    }

    pub(crate) fn filter(&self) -> &Filter {
        &self.filter
    }

    pub(crate) fn lately(&self) -> &LatelyKnown {
        &self.lately
    }
}

fn identity(page: PageKey, check: u64) -> [u64; 2] {
    [page.url ^ page.host.host.rotate_left(32), check]
}

/// Whether the file at `path` is a seen filter as it was saved. None at all is as good: it is made
/// anew from the pages.
pub fn filter_is_sound(path: &Path) -> bool {
    !path.exists() || Filter::load(path).is_some()
}

/// What the filter knows a page by.
pub(crate) fn filter_hash(page: PageKey) -> u64 {
    page.url ^ page.host.host.rotate_left(17)
}

/// A Bloom filter that grows: parts of rising size, of which only the last takes more.
pub(crate) struct Filter {
    parts: Vec<Part>,
}

struct Part {
    bits: BloomFilter,
    items: u64,
    room: u64,
}

impl Filter {
    const FIRST_ROOM: u64 = 1 << 18;
    const BITS_EACH: u64 = 12;
    const HASHES: u32 = 6;
    const MAGIC: &[u8; 8] = b"evseen02";

    pub(crate) fn empty() -> Self {
        Filter { parts: Vec::new() }
    }

    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.parts.iter().rev().any(|part| part.bits.contains_hash(hash))
    }

    pub(crate) fn insert(&mut self, hash: u64) {
        if self.parts.last().is_none_or(|part| part.items >= part.room) {
            self.grow();
        }
        if let Some(part) = self.parts.last_mut() {
            part.bits.insert_hash(hash);
            part.items += 1;
        }
    }

    fn grow(&mut self) {
        let room = self.parts.last().map_or(Self::FIRST_ROOM, |part| part.room * 4);
        let words = usize::try_from(room * Self::BITS_EACH / 64).unwrap_or(usize::MAX);
        self.parts.push(Part::new(vec![0; words], 0, room));
    }

    /// Writes the filter, with the number of the batch it reflects, in place of the old file. When it
    /// returns, no power cut brings the old one back: what that one lacks may then be forgotten.
    pub(crate) fn save(&self, path: &Path, batch: u64) -> io::Result<()> {
        let aside = aside(path);
        let out = io::BufWriter::with_capacity(PIECE, File::create(&aside)?);
        let mut out = Summed::new(out);
        out.write_all(Self::MAGIC)?;
        out.write_all(&batch.to_le_bytes())?;
        out.write_all(&(self.parts.len() as u64).to_le_bytes())?;
        for part in &self.parts {
            out.write_all(&part.items.to_le_bytes())?;
            out.write_all(&part.room.to_le_bytes())?;
            for words in part.bits.as_slice().chunks(PIECE / 8) {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                out.write_all(&bytes)?;
            }
        }
        let sum = out.sum.digest();
        out.write_all(&sum.to_le_bytes())?;
        out.inner.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
        std::fs::rename(&aside, path)?;
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        File::open(dir.unwrap_or(Path::new(".")))?.sync_all()
    }

    /// Reads a saved filter and the number of the batch it reflects; `None` when there is none
    /// that can be used, and the pages must be scanned instead.
    pub(crate) fn load(path: &Path) -> Option<(Self, u64)> {
        let file = File::open(path).ok()?;
        let most = usize::try_from(file.metadata().ok()?.len() / 8).ok()?;
        let file = io::BufReader::with_capacity(PIECE, file);
        let mut file = Summed::new(file);
        let mut magic = [0; 8];
        file.read_exact(&mut magic).ok()?;
        if &magic != Self::MAGIC {
            return None;
        }
        let batch = word(&mut file)?;
        let count = word(&mut file)?;
        let mut parts = Vec::new();
        for _ in 0..count {
            let (items, room) = (word(&mut file)?, word(&mut file)?);
            let words = usize::try_from(room.checked_mul(Self::BITS_EACH)? / 64).ok()?;
            let bits = all_words(&mut file, Some(words).filter(|words| *words <= most)?)?;
            parts.push(Part::new(bits, items, room));
        }
        // A bit that was lost would make a known page new.
        let sum = file.sum.digest();
        (word(&mut file)? == sum).then_some((Filter { parts }, batch))
    }
}

impl Part {
    fn new(bits: Vec<u64>, items: u64, room: u64) -> Self {
        // The keys are hashes already; the seed only has to be the same each time.
        let bits = BloomFilter::from_vec(bits).seed(&0).hashes(Filter::HASHES);
        Part { bits, items, room }
    }
}

/// Whatever passes through is summed up.
struct Summed<T> {
    inner: T,
    sum: Xxh3,
}

impl<T> Summed<T> {
    fn new(inner: T) -> Self {
        Summed { inner, sum: Xxh3::new() }
    }
}

impl<T: Read> Read for Summed<T> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.sum.update(&into[..count]);
        Ok(count)
    }
}

impl<T: Write> Write for Summed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn aside(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// Bytes that are read or written at a time: filters of many pages have half a gigabyte.
const PIECE: usize = 1 << 18;

/// So many words.
fn all_words(file: &mut impl Read, count: usize) -> Option<Vec<u64>> {
    let (mut words, mut bytes) = (Vec::with_capacity(count), vec![0; PIECE]);
    while words.len() < count {
        let piece = bytes.get_mut(..8 * (count - words.len()).min(PIECE / 8))?;
        file.read_exact(piece).ok()?;
        words.extend(piece.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
    }
    Some(words)
}

fn word(file: &mut impl Read) -> Option<u64> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_model::HostKey;

    fn page(n: u64) -> PageKey {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        PageKey { host: HostKey { shard: 0, host: mixed.rotate_left(9) }, url: mixed }
    }

    #[test]
    fn never_forgets_and_seldom_errs_as_it_grows() {
        let mut filter = Filter::empty();
        let count = Filter::FIRST_ROOM * 3;
        (0..count).for_each(|n| filter.insert(filter_hash(page(n))));
        assert_eq!(filter.parts.len(), 2);
        assert!((0..count).all(|n| filter.contains(filter_hash(page(n)))));
        let wrong = (count..2 * count).filter(|&n| filter.contains(filter_hash(page(n)))).count();
        assert!((wrong as f64) < 0.01 * count as f64, "{wrong} of {count}");
    }

    #[test]
    fn survives_being_saved() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("seen");
        assert!(Filter::load(&path).is_none());
        let mut filter = Filter::empty();
        (0..1000).for_each(|n| filter.insert(filter_hash(page(n))));
        filter.save(&path, 42).unwrap();
        let (loaded, batch) = Filter::load(&path).unwrap();
        assert_eq!(batch, 42);
        assert!((0..1000).all(|n| loaded.contains(filter_hash(page(n)))));
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        std::fs::write(&path, &bytes).unwrap();
        assert!(Filter::load(&path).is_none(), "a single bit may hide a page");
        std::fs::write(&path, b"evseen02short").unwrap();
        assert!(Filter::load(&path).is_none());
    }

    #[test]
    fn the_table_answers_only_for_what_it_saw() {
        let mut seen = Seen::new(Filter::empty());
        assert_eq!(seen.ask(page(1), 7), Quick::New);
        seen.insert(page(1), 7);
        assert_eq!(seen.ask(page(1), 7), Quick::Known);
        assert_eq!(seen.ask(page(1), 8), Quick::Unsure, "same key, other URL");
        let lately = seen.lately().clone();
        assert!(lately.has(page(1), 7) && !lately.has(page(1), 8) && !lately.has(page(2), 7));
        seen.forget(page(1));
        assert!(!lately.has(page(1), 7), "whoever shares it forgets with it");
        assert!(!LatelyKnown::default().has(page(1), 7), "nothing is known");
    }
}
