//! How is more sorted than fits in memory? In runs, each put aside on disk in order, which are then
//! read side by side.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use evercrawl_model::{HostKey, PageKey};

/// Something that can be put aside, and has its place in an order.
pub(crate) trait SortedRecord: Ord + Default {
    /// Writes it.
    fn write(&self, out: &mut impl Write) -> io::Result<()>;

    /// Takes the place of what was there by what [`write`](Self::write) wrote.
    fn read(&mut self, from: &mut impl Read) -> io::Result<()>;
}

/// A page on its way in, in the order of page keys; among equals the first that was given comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeedRecord {
    pub(crate) page: PageKey,
    pub(crate) check: u64,
    /// How many were given before it.
    pub(crate) number: u64,
    pub(crate) tags: u32,
    pub(crate) guess: bool,
    pub(crate) url: Box<str>,
}

impl SortedRecord for SeedRecord {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.page.to_bytes())?;
        out.write_all(&self.check.to_le_bytes())?;
        out.write_all(&self.number.to_le_bytes())?;
        out.write_all(&self.tags.to_le_bytes())?;
        out.write_all(&[u8::from(self.guess)])?;
        out.write_all(&(self.url.len() as u64).to_le_bytes())?;
        out.write_all(self.url.as_bytes())
    }

    fn read(&mut self, from: &mut impl Read) -> io::Result<()> {
        self.page = PageKey::from_bytes(&bytes::<{ PageKey::LEN }>(from)?).unwrap_or_default();
        self.check = u64::from_le_bytes(bytes(from)?);
        self.number = u64::from_le_bytes(bytes(from)?);
        self.tags = u32::from_le_bytes(bytes(from)?);
        self.guess = bytes(from)? != [0];
        let len = u64::from_le_bytes(bytes(from)?);
        let mut url = vec![0; usize::try_from(len).map_err(io::Error::other)?];
        from.read_exact(&mut url)?;
        self.url = String::from_utf8(url).map_err(io::Error::other)?.into_boxed_str();
        Ok(())
    }
}

/// The same page, in the order in which the pages of its host are to be fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueuedSeed {
    pub(crate) host: HostKey,
    pub(crate) number: u64,
    pub(crate) url: u64,
}

impl SortedRecord for QueuedSeed {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.host.to_bytes())?;
        out.write_all(&self.number.to_le_bytes())?;
        out.write_all(&self.url.to_le_bytes())
    }

    fn read(&mut self, from: &mut impl Read) -> io::Result<()> {
        self.host = HostKey::from_bytes(&bytes::<{ HostKey::LEN }>(from)?).unwrap_or_default();
        self.number = u64::from_le_bytes(bytes(from)?);
        self.url = u64::from_le_bytes(bytes(from)?);
        Ok(())
    }
}

fn bytes<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Sorts `records` and writes them to a new file at `path`.
pub(crate) fn put_aside<R: SortedRecord>(records: &mut [R], path: &Path) -> io::Result<()> {
    records.sort_unstable();
    let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
    records.iter().try_for_each(|record| record.write(&mut out))?;
    out.flush()
}

/// All records of several runs, in order.
pub(crate) struct Merged<R> {
    runs: Vec<BufReader<File>>,
    /// The next record of each run that has one, with the run's number.
    heads: BinaryHeap<Reverse<(R, usize)>>,
}

impl<R: SortedRecord> Merged<R> {
    /// Reads the runs at `paths`.
    pub(crate) fn open<P: AsRef<Path>>(paths: impl Iterator<Item = P>) -> io::Result<Self> {
        let open = |path: P| Ok(BufReader::with_capacity(1 << 17, File::open(path)?));
        let mut runs = paths.map(open).collect::<io::Result<Vec<_>>>()?;
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            let mut record = R::default();
            if read_next(&mut record, run)? {
                heads.push(Reverse((record, number)));
            }
        }
        Ok(Merged { runs, heads })
    }

    /// The next record; `None` after the last.
    pub(crate) fn next(&mut self) -> io::Result<Option<R>> {
        let Some(mut least) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((record, run)) = &mut *least;
        let taken = std::mem::take(record);
        if !read_next(record, &mut self.runs[*run])? {
            PeekMut::pop(least);
        }
        Ok(Some(taken))
    }
}

fn read_next<R: SortedRecord>(record: &mut R, run: &mut BufReader<File>) -> io::Result<bool> {
    if run.fill_buf()?.is_empty() {
        return Ok(false);
    }
    record.read(run)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However they were split: what comes out is what went in, in order.
        #[test]
        fn runs_come_together_in_order(runs in proptest::collection::vec(
            proptest::collection::vec((0u16..3, 0u64..9, any::<u64>(), "[a-c]{0,5}"), 0..30), 0..6,
        )) {
            let dir = tempfile::tempdir().unwrap();
            let mut all = Vec::new();
            for (run, records) in runs.iter().enumerate() {
                let mut records: Vec<SeedRecord> = records.iter().map(|(shard, url, number, text)| {
                    let host = HostKey { shard: *shard, host: 7 };
                    let page = PageKey { host, url: *url };
                    SeedRecord { page, number: *number, url: text.as_str().into(), ..SeedRecord::default() }
                }).collect();
                all.extend(records.iter().cloned());
                put_aside(&mut records, &dir.path().join(run.to_string())).unwrap();
            }
            let paths = (0..runs.len()).map(|run| dir.path().join(run.to_string()));
            let mut merged = Merged::<SeedRecord>::open(paths).unwrap();
            let found: Vec<SeedRecord> = std::iter::from_fn(|| merged.next().unwrap()).collect();
            all.sort();
            prop_assert_eq!(found, all);
        }
    }
}
