//! How did pages rank before, and which are rising?
//!
//! A ranking is kept now and then in a small file of the data directory, at twelve bytes a page. A page that has
//! risen since is better than its rank shows ([`Attention`]).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use evercrawl_model::{HostKey, PageKey, Time};
use evercrawl_rank::Attention;
use xxhash_rust::xxh3::xxh3_64;

use super::LinkGraph;
use super::weight::DAMPING;

/// The magic bytes of a snapshot file.
const MAGIC: &[u8; 8] = b"EVERANK1";
/// How many snapshots are kept: the oldest is deleted first.
const MOST: usize = 4;
/// The rank of a page without links, next to the average page.
const UNKNOWN: f64 = 1.0 - DAMPING;
/// Weekly visits per person to a page as popular as the average one.
const VISITS: f64 = 0.5;
/// Rankings closer together than this cannot tell growth from chance.
const SHORTEST: f64 = 1.0 / 7.0;

const WEEK: f64 = 7.0 * 86_400.0;

/// The importance of all pages at some time, relative to the average page.
#[derive(Clone, Debug, PartialEq)]
pub struct RankSnapshot {
    at: Time,
    /// Every host, and the index of its first page.
    hosts: Vec<(HostKey, u32)>,
    pages: Vec<(u64, f32)>,
}

impl RankSnapshot {
    /// A snapshot of a ranked graph; the scores sum to 1.
    pub fn new(links: &LinkGraph, scores: &[f64], at: Time) -> Self {
        let (mut hosts, mut pages) =
            (Vec::<(HostKey, u32)>::new(), Vec::with_capacity(scores.len()));
        for (node, score) in (0..).zip(scores) {
            let Some(page) = links.page(node) else { break };
            if hosts.last().is_none_or(|(host, _)| *host != page.host) {
                hosts.push((page.host, node));
            }
            pages.push((page.url, (score * scores.len() as f64) as f32));
        }
        RankSnapshot { at, hosts, pages }
    }

    /// When it was made.
    pub fn at(&self) -> Time {
        self.at
    }

    /// The importance of a page relative to the average page, if it was known.
    pub fn ratio(&self, page: PageKey) -> Option<f64> {
        let host = self.hosts.binary_search_by_key(&page.host, |(host, _)| *host).ok()?;
        let end = self.hosts.get(host + 1).map_or(self.pages.len(), |(_, first)| *first as usize);
        let pages = self.pages.get(self.hosts[host].1 as usize..end)?;
        let place = pages.binary_search_by_key(&page.url, |(url, _)| *url).ok()?;
        Some(f64::from(pages[place].1))
    }

    /// The quality of each page by how it rose until `now`, relative to the average page: at least its popularity. A
    /// page that was unknown then is taken to have started without links.
    pub fn quality(&self, links: &LinkGraph, scores: &[f64], now: Time) -> Vec<f64> {
        let weeks = (now.since(self.at).as_secs_f64() / WEEK).max(SHORTEST);
        let attention = Attention::Links { rate: VISITS };
        let quality = |(node, score): (u32, &f64)| {
            let after = score * scores.len() as f64;
            let before = links.page(node).and_then(|page| self.ratio(page)).unwrap_or(UNKNOWN);
            attention.quality_by_slope(before, after, weeks).unwrap_or(after)
        };
        (0..).zip(scores).map(quality).collect()
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(self.at.millis().to_le_bytes());
        out.extend((self.hosts.len() as u64).to_le_bytes());
        for (host, first) in &self.hosts {
            out.extend(host.to_bytes());
            out.extend(first.to_le_bytes());
        }
        for (url, times) in &self.pages {
            out.extend(url.to_le_bytes());
            out.extend(times.to_le_bytes());
        }
        let sum = xxh3_64(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (bytes, sum) = bytes.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != xxh3_64(bytes) {
            return None;
        }
        let (at, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
        let (count, rest) = rest.split_first_chunk::<8>()?;
        let length =
            usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(HostKey::LEN + 4)?;
        let (hosts, pages) = rest.split_at_checked(length)?;
        let host = |bytes: &[u8]| {
            let first = u32::from_le_bytes(bytes.get(HostKey::LEN..)?.try_into().ok()?);
            Some((HostKey::from_bytes(bytes)?, first))
        };
        let page = |bytes: &[u8]| {
            let (url, times) = bytes.split_first_chunk::<8>()?;
            Some((u64::from_le_bytes(*url), f32::from_le_bytes(times.try_into().ok()?)))
        };
        Some(RankSnapshot {
            at: Time::from_millis(u64::from_le_bytes(*at)),
            hosts: hosts.chunks_exact(HostKey::LEN + 4).map(host).collect::<Option<_>>()?,
            pages: pages.chunks_exact(12).map(page).collect::<Option<_>>()?,
        })
    }
}

/// The snapshots kept for a crawl.
#[derive(Clone, Debug)]
pub struct RankSnapshots {
    dir: PathBuf,
}

impl RankSnapshots {
    /// The snapshots in a directory, which need not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        RankSnapshots { dir: dir.into() }
    }

    /// The oldest readable snapshot.
    pub fn oldest(&self) -> Option<RankSnapshot> {
        self.files().iter().find_map(|file| RankSnapshot::decode(&fs::read(file).ok()?))
    }

    /// When the newest was made.
    pub fn newest_at(&self) -> Option<Time> {
        let file = self.files().pop()?;
        file.file_stem()?.to_str()?.parse().ok().map(Time::from_millis)
    }

    /// Keeps a snapshot, and deletes the oldest if there are too many.
    pub fn keep(&self, snapshot: &RankSnapshot) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let name = self.dir.join(format!("{:015}.ranks", snapshot.at.millis()));
        let aside = name.with_extension("new");
        fs::write(&aside, snapshot.encode())?;
        fs::rename(&aside, &name)?;
        let files = self.files();
        for file in &files[..files.len().saturating_sub(MOST)] {
            fs::remove_file(file)?;
        }
        Ok(())
    }

    /// The snapshot files, oldest first.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let is_ranks = |path: &PathBuf| path.extension().is_some_and(|end| end == "ranks");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_ranks).collect();
        files.sort();
        files
    }

    /// The snapshots of a data directory.
    pub fn in_data_dir(data: &Path) -> Self {
        Self::new(Self::dir_in(data))
    }

    /// Where a data directory keeps its snapshots.
    pub fn dir_in(data: &Path) -> PathBuf {
        data.join("ranks")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn snapshot(at: u64) -> RankSnapshot {
        let host = |host| HostKey { shard: 0, host };
        let pages = vec![(3, 0.5), (9, 2.0), (1, 1.0)];
        RankSnapshot { at: Time::from_secs(at), hosts: vec![(host(1), 0), (host(7), 2)], pages }
    }

    #[test]
    fn snapshots_round_trip_and_damage_is_seen() {
        let snapshot = snapshot(5);
        let bytes = snapshot.encode();
        assert_eq!(RankSnapshot::decode(&bytes), Some(snapshot.clone()));
        for cut in 0..bytes.len() {
            assert_eq!(RankSnapshot::decode(&bytes[..cut]), None);
        }
        let page = |host, url| PageKey { host: HostKey { shard: 0, host }, url };
        assert_eq!(snapshot.ratio(page(1, 9)), Some(2.0));
        assert_eq!(snapshot.ratio(page(7, 1)), Some(1.0));
        assert_eq!((snapshot.ratio(page(7, 3)), snapshot.ratio(page(2, 1))), (None, None));
    }

    #[test]
    fn the_last_few_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let kept = RankSnapshots::in_data_dir(dir.path());
        assert_eq!((kept.oldest(), kept.newest_at()), (None, None));
        for at in 1..=6 {
            kept.keep(&snapshot(at)).unwrap();
        }
        assert_eq!(kept.oldest().unwrap().at(), Time::from_secs(3));
        assert_eq!(kept.newest_at(), Some(Time::EPOCH.after(Duration::from_secs(6))));
    }
}
