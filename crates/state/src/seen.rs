//! Was this URL seen before? Answered from memory, for every URL that there is.
//!
//! Nearly all links of a large crawl lead to what is known. To ask the store for each costs a read of a block,
//! and there are ten to a page; so what is known is held here too, in seven bytes a URL: forty bits of its hash
//! besides the sixteen that tell in which part they are, and sixteen of a second hash. A URL that agrees in all
//! 72 is known: by chance alone, a crawl that finds a hundred million URLs takes one for another once in a million
//! such crawls. One that agrees in the first hash and not in the second is left to the store to tell.
//!
//! It is kept in a file between runs. The file is believed when the store says so, in the same commit as the last of
//! the pages that it has: a page taken for known that the store does not have would never be fetched.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use evercrawl_model::PageKey;
use xxhash_rust::xxh3::Xxh3;

use crate::view::known_by;

/// What is said of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeenAnswer {
    /// It was never seen.
    New,
    /// It is known.
    Known,
    /// Ask the store.
    Unsure,
}

/// All URLs that are known, in the store or on their way there. Threads that read links share it.
#[derive(Clone, Default)]
pub struct Seen(Arc<[RwLock<Part>]>);

/// What a URL is remembered by: enough to note it again when it is read from a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    hash: u64,
    check: u16,
}

impl Trace {
    /// Bytes of one in a log.
    pub(crate) const LEN: usize = 10;
    /// The second hash of what may have left the store.
    const IN_DOUBT: u16 = 0;

    pub(crate) fn new(page: PageKey, [first, second, ..]: [u8; 4]) -> Self {
        let check = u16::from_be_bytes([first, second]).max(Self::IN_DOUBT + 1);
        Trace { hash: Self::hash(page), check }
    }

    /// Of a page that is no longer in the store.
    pub(crate) fn in_doubt(page: PageKey) -> Self {
        Trace { hash: Self::hash(page), check: Self::IN_DOUBT }
    }

    /// Of the key alone: whatever stands there is found, even if it is another URL.
    fn hash(page: PageKey) -> u64 {
        page.url ^ page.host.host.rotate_left(17)
    }

    fn part(self) -> usize {
        (self.hash >> 48) as usize
    }

    fn entry(self) -> u64 {
        (self.hash >> 8 & KEYS) << 16 | u64::from(self.check)
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.hash.to_le_bytes());
        bytes[8..].copy_from_slice(&self.check.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes([a, b, c, d, e, f, g, h, i, j]: [u8; Self::LEN]) -> Self {
        let hash = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        Trace { hash, check: u16::from_le_bytes([i, j]) }
    }
}

impl Seen {
    const PARTS: usize = 1 << 16;
    const MAGIC: &[u8; 8] = b"evseen03";

    /// With nothing in it yet.
    pub(crate) fn empty() -> Self {
        Seen((0..Self::PARTS).map(|_| RwLock::default()).collect())
    }

    /// Whether a URL is known; where that is not sure, it is not.
    pub fn has(&self, page: PageKey, check: u64) -> bool {
        self.ask(page, check) == SeenAnswer::Known
    }

    pub(crate) fn ask(&self, page: PageKey, check: u64) -> SeenAnswer {
        let trace = Trace::new(page, known_by(check));
        self.part(trace).map_or(SeenAnswer::New, |part| part.ask(trace.entry()))
    }

    /// The URL came into the store, or, with a trace in doubt, left it.
    pub(crate) fn note(&self, trace: Trace) {
        let Some(mut part) = self.part_mut(trace) else { return };
        match trace.check {
            Trace::IN_DOUBT => part.doubt(trace.entry()),
            _ => part.insert(trace.entry()),
        }
    }

    fn part(&self, trace: Trace) -> Option<RwLockReadGuard<'_, Part>> {
        Some(self.0.get(trace.part())?.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn part_mut(&self, trace: Trace) -> Option<RwLockWriteGuard<'_, Part>> {
        Some(self.0.get(trace.part())?.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes it, with the number of the batch that it reflects, in place of the old file, and returns the sum that
    /// the store is to know the file by. When it returns, no power cut brings the old one back.
    pub(crate) fn save(&self, path: &Path, batch: u64) -> io::Result<u64> {
        let aside = aside(path);
        let out = io::BufWriter::with_capacity(PIECE, File::create(&aside)?);
        let mut out = Summed::new(out);
        out.write_all(Self::MAGIC)?;
        out.write_all(&batch.to_le_bytes())?;
        for part in &*self.0 {
            let part = part.read().unwrap_or_else(PoisonError::into_inner);
            let len = u32::try_from(part.0.len()).map_err(io::Error::other)?;
            out.write_all(&len.to_le_bytes())?;
            out.write_all(part.0.as_flattened())?;
        }
        let sum = out.sum.digest();
        out.write_all(&sum.to_le_bytes())?;
        out.inner.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
        std::fs::rename(&aside, path)?;
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        File::open(dir.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(sum)
    }

    /// Reads what was saved; `None` when there is nothing that can be used, and the store must be scanned instead.
    pub(crate) fn load(path: &Path) -> Option<Saved> {
        let file = File::open(path).ok()?;
        let most = usize::try_from(file.metadata().ok()?.len()).ok()? / ENTRY;
        let mut file = Summed::new(io::BufReader::with_capacity(PIECE, file));
        if bytes(&mut file)? != *Self::MAGIC {
            return None;
        }
        let batch = u64::from_le_bytes(bytes(&mut file)?);
        let mut parts = Vec::with_capacity(Self::PARTS);
        for _ in 0..Self::PARTS {
            let len = u32::from_le_bytes(bytes(&mut file)?) as usize;
            if len > most {
                return None;
            }
            let mut entries = vec![[0; ENTRY]; len];
            file.read_exact(entries.as_flattened_mut()).ok()?;
            parts.push(RwLock::new(Part(entries)));
        }
        // A bit that was lost would make a known page new.
        let sum = file.sum.digest();
        (bytes(&mut file)? == sum.to_le_bytes()).then(|| Saved {
            seen: Seen(parts.into()),
            batch,
            sum,
        })
    }
}

/// URLs that are gathered from anywhere, each of which comes once: in order only when all are there, which takes a
/// fraction of the time.
pub(crate) struct Gathering(Seen);

impl Gathering {
    pub(crate) fn new() -> Self {
        Gathering(Seen::empty())
    }

    pub(crate) fn take(&self, trace: Trace) {
        if let Some(mut part) = self.0.part_mut(trace) {
            part.push(trace.entry());
        }
    }

    pub(crate) fn finish(self) -> Seen {
        for part in &*self.0.0 {
            part.write().unwrap_or_else(PoisonError::into_inner).0.sort_unstable();
        }
        self.0
    }
}

/// What a file has.
pub(crate) struct Saved {
    pub(crate) seen: Seen,
    /// The last batch that it reflects.
    pub(crate) batch: u64,
    /// What the store knows the file by.
    pub(crate) sum: u64,
}

/// Whether the file at `path` is one of URLs seen, as it was saved. None at all is as good, and so is that of an
/// earlier version: it is made anew from the store.
pub fn is_seen_file_sound(path: &Path) -> bool {
    let Ok(mut file) = File::open(path) else { return !path.exists() };
    let begins = bytes::<8>(&mut file).unwrap_or_default();
    EARLIER.contains(&&begins) || Seen::load(path).is_some()
}

/// How files of earlier versions begin.
const EARLIER: [&[u8; 8]; 1] = [b"evseen02"];

/// Bytes of an entry.
const ENTRY: usize = 7;
/// As many bits as an entry has of the first hash.
const KEYS: u64 = (1 << 40) - 1;

/// Entries in the order of their keys.
#[derive(Default)]
struct Part(Vec<[u8; ENTRY]>);

impl Part {
    fn get(&self, at: usize) -> Option<u64> {
        let [a, b, c, d, e, f, g] = *self.0.get(at)?;
        Some(u64::from_be_bytes([0, a, b, c, d, e, f, g]))
    }

    fn set(&mut self, at: usize, entry: u64) {
        if let Some(slot) = self.0.get_mut(at) {
            *slot = packed(entry);
        }
    }

    /// Where the first stands whose key is not less. Keys are hashes, so each is near where it would be if they were
    /// spread evenly.
    fn find(&self, key: u64) -> usize {
        let is_less = |at| self.get(at).is_some_and(|entry| entry >> 16 < key);
        let mut at = ((key * self.0.len() as u64) >> 40) as usize;
        while at > 0 && !is_less(at - 1) {
            at -= 1;
        }
        while is_less(at) {
            at += 1;
        }
        at
    }

    /// Where the entries stand that have the same key: nearly always one or none.
    fn same(&self, entry: u64) -> impl Iterator<Item = (usize, u64)> {
        let key = entry >> 16;
        let found = (self.find(key)..).map_while(|at| Some((at, self.get(at)?)));
        found.take_while(move |(_, found)| found >> 16 == key)
    }

    fn ask(&self, entry: u64) -> SeenAnswer {
        let mut quick = SeenAnswer::New;
        for (_, found) in self.same(entry) {
            if found == entry {
                return SeenAnswer::Known;
            }
            quick = SeenAnswer::Unsure;
        }
        quick
    }

    fn insert(&mut self, entry: u64) {
        let mut same = self.same(entry);
        let free = |found: u64| found == entry || in_doubt(found);
        if let Some((at, _)) = same.find(|(_, found)| free(*found)) {
            drop(same);
            return self.set(at, entry);
        }
        drop(same);
        self.make_room();
        self.0.insert(self.find(entry >> 16), packed(entry));
    }

    /// Takes an entry out of order.
    fn push(&mut self, entry: u64) {
        self.make_room();
        self.0.push(packed(entry));
    }

    /// By little at a time: there are many parts, and memory that none of them needs is much of all.
    fn make_room(&mut self) {
        if self.0.len() == self.0.capacity() {
            self.0.reserve_exact((self.0.len() / 16).max(8));
        }
    }

    fn doubt(&mut self, entry: u64) {
        let same: Vec<usize> = self.same(entry).map(|(at, _)| at).collect();
        same.into_iter().for_each(|at| self.set(at, entry));
    }
}

fn in_doubt(entry: u64) -> bool {
    entry & u64::from(u16::MAX) == u64::from(Trace::IN_DOUBT)
}

fn packed(entry: u64) -> [u8; ENTRY] {
    let [_, a, b, c, d, e, f, g] = entry.to_be_bytes();
    [a, b, c, d, e, f, g]
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

/// Bytes that are read or written at a time: the file of many pages has half a gigabyte.
const PIECE: usize = 1 << 18;

fn bytes<const N: usize>(file: &mut impl Read) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_model::HostKey;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn page(n: u64) -> PageKey {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        PageKey { host: HostKey { shard: 0, host: mixed.rotate_left(9) }, url: mixed }
    }

    /// A second hash that does not follow from the first.
    fn check(n: u64) -> u64 {
        n.wrapping_mul(0xd134_2543_de82_ef95)
    }

    fn insert(seen: &Seen, page: PageKey, check: u64) {
        seen.note(Trace::new(page, known_by(check)));
    }

    #[test]
    fn knows_all_that_came_and_nothing_else() {
        let seen = Seen::empty();
        let count = 300_000;
        (0..count).for_each(|n| insert(&seen, page(n), check(n)));
        assert!((0..count).all(|n| seen.has(page(n), check(n))));
        assert!((count..2 * count).all(|n| seen.ask(page(n), check(n)) == SeenAnswer::New));
        assert!((0..count).all(|n| seen.ask(page(n), check(n + 1)) == SeenAnswer::Unsure));
        let bytes: usize = seen.0.iter().map(|part| part.read().unwrap().0.capacity()).sum();
        assert!(bytes < 2 * count as usize, "room for {bytes} when there are {count}");
    }

    proptest! {
        /// In any order, and where many fall together: a part answers as a map would.
        #[test]
        fn a_part_is_a_map(ops in proptest::collection::vec((0u64..12, 0u16..4), 0..200), spread in 0u32..37) {
            let (mut part, mut model) = (Part::default(), HashMap::<u64, Vec<u16>>::new());
            for (key, check) in ops {
                let key = key << spread;
                let checks = model.entry(key).or_default();
                if check == Trace::IN_DOUBT {
                    part.doubt(key << 16);
                    checks.fill(Trace::IN_DOUBT);
                } else {
                    part.insert(key << 16 | u64::from(check));
                    match checks.iter_mut().find(|at| **at == check || **at == Trace::IN_DOUBT) {
                        Some(at) => *at = check,
                        None => checks.push(check),
                    }
                }
                for (key, checks) in &model {
                    for check in 1..4 {
                        let expected = match checks.contains(&check) {
                            true => SeenAnswer::Known,
                            false if checks.is_empty() => SeenAnswer::New,
                            false => SeenAnswer::Unsure,
                        };
                        prop_assert_eq!(part.ask(key << 16 | u64::from(check)), expected);
                    }
                }
            }
            prop_assert!(part.0.is_sorted_by_key(|entry| entry[..5].to_vec()));
        }
    }

    #[test]
    fn what_is_gathered_is_as_if_it_came_one_by_one() {
        let (seen, gathering) = (Seen::empty(), Gathering::new());
        for trace in (0..100_000).map(|n| Trace::new(page(n), known_by(check(n)))) {
            seen.note(trace);
            gathering.take(trace);
        }
        let gathered = gathering.finish();
        let entries =
            |seen: &Seen| seen.0.iter().map(|part| part.read().unwrap().0.clone()).collect();
        let (one_by_one, together): (Vec<_>, Vec<_>) = (entries(&seen), entries(&gathered));
        assert!(one_by_one == together);
    }

    #[test]
    fn what_left_the_store_is_asked_for_until_it_is_back() {
        let seen = Seen::empty();
        insert(&seen, page(1), check(1));
        let shared = seen.clone();
        seen.note(Trace::in_doubt(page(1)));
        assert_eq!(
            shared.ask(page(1), check(1)),
            SeenAnswer::Unsure,
            "a URL that shares it is in doubt too"
        );
        insert(&seen, page(1), check(1));
        assert!(shared.has(page(1), check(1)));
        seen.note(Trace::in_doubt(page(2)));
        assert_eq!(seen.ask(page(2), check(2)), SeenAnswer::New, "it was never there");
        assert!(!Seen::default().has(page(1), check(1)), "nothing is known");
    }

    #[test]
    fn traces_can_be_logged() {
        for trace in [Trace::new(page(7), known_by(check(7))), Trace::in_doubt(page(8))] {
            assert_eq!(Trace::from_bytes(trace.to_bytes()), trace);
        }
        assert_ne!(Trace::new(page(7), [0; 4]), Trace::in_doubt(page(7)));
    }

    #[test]
    fn survives_being_saved() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("seen");
        assert!(Seen::load(&path).is_none());
        let seen = Seen::empty();
        (0..1000).for_each(|n| insert(&seen, page(n), check(n)));
        let sum = seen.save(&path, 42).unwrap();
        let saved = Seen::load(&path).unwrap();
        assert_eq!((saved.batch, saved.sum), (42, sum));
        assert!((0..1000).all(|n| saved.seen.has(page(n), check(n))));
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        std::fs::write(&path, &bytes).unwrap();
        assert!(Seen::load(&path).is_none(), "a single bit may hide a page");
        std::fs::write(&path, b"evseen03short").unwrap();
        assert!(Seen::load(&path).is_none());
    }
}
