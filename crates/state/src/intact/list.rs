//! Which tables does a space have? `current` names the list that holds, with its sum; the list names the tables, with theirs.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::contents::{self, Cursor};
use super::{DamagedFile, TABLES, list_dir};

const CURRENT: &str = "current";
/// What sums are: the only kind that there is.
const XXH3: u8 = 0;
const LEVELS: usize = 7;
/// Runs of a level are counted in a byte.
const MOST_RUNS: usize = 255;

/// A table, as a list has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) id: u64,
    pub(super) sum: u128,
    /// What is added to the numbers of its rows.
    pub(super) added: u64,
}

/// The tables of a space: levels of runs of tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    pub(super) number: u64,
    pub(super) levels: Vec<Vec<Vec<Listed>>>,
}

impl List {
    pub(super) fn tables(&self) -> impl Iterator<Item = &Listed> {
        self.levels.iter().flatten().flatten()
    }

    /// Each table by itself, the latest first: in whichever order they were, the rows' own numbers order rows.
    pub(super) fn of(number: u64, mut tables: Vec<Listed>) -> Self {
        tables.sort_by_key(|table| std::cmp::Reverse(table.id));
        let runs: Vec<Vec<Listed>> = tables.into_iter().map(|table| vec![table]).collect();
        let mut levels: Vec<_> = runs.chunks(MOST_RUNS).map(<[_]>::to_vec).collect();
        levels.resize(levels.len().max(LEVELS), Vec::new());
        List { number, levels }
    }

    /// The same without tables for which `keep` does not hold.
    pub(super) fn without(mut self, keep: impl Fn(&Listed) -> bool) -> Self {
        for level in &mut self.levels {
            level.iter_mut().for_each(|run| run.retain(|table| keep(table)));
            level.retain(|run| !run.is_empty());
        }
        self
    }
}

/// The list of the space in `dir`, or what is damaged of it; nothing is where a space was not made to its end.
pub(super) fn read(dir: &Path) -> io::Result<Result<List, Option<DamagedFile>>> {
    let current = dir.join(CURRENT);
    let damaged = |path: PathBuf, what| Ok(Err(Some(DamagedFile::new(path, what))));
    let bytes = match fs::read(&current) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // The store would take it for one that was being made, and remove it.
            let has_tables = !list_dir(&dir.join(TABLES))?.is_empty();
            return Ok(Err(has_tables
                .then(|| DamagedFile::new(current, "it is missing, so the tables are unknown"))));
        }
        bytes => bytes?,
    };
    let Some((number, sum)) = read_current(&bytes) else {
        return damaged(current, "it does not name the current list of tables");
    };
    let path = dir.join(format!("v{number}"));
    match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            damaged(current, "the list of tables that it names is missing")
        }
        bytes if xxh3_128(bytes.as_deref().unwrap_or_default()) != sum => bytes.and_then(|_| {
            damaged(
                path,
                "this list of tables, or `current` next to it, was altered after it was written",
            )
        }),
        bytes => match read_tables(&bytes?, &File::open(&path)?)? {
            Some(levels) => Ok(Ok(List { number, levels })),
            None => damaged(path, "this list of tables is unreadable"),
        },
    }
}

fn read_current(bytes: &[u8]) -> Option<(u64, u128)> {
    let mut bytes = Cursor(bytes);
    let (number, sum) = (bytes.u64()?, bytes.u128()?);
    (bytes.u8()? == XXH3 && bytes.0.is_empty()).then_some((number, sum))
}

fn read_tables(bytes: &[u8], file: &File) -> io::Result<Option<Vec<Vec<Vec<Listed>>>>> {
    let place = contents::of_file(file)?.and_then(|contents| contents.part(b"tables"));
    Ok(place.and_then(|place| levels(part(bytes, &place)?)))
}

fn part<'a>(bytes: &'a [u8], place: &Range<u64>) -> Option<&'a [u8]> {
    bytes.get(usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?)
}

fn levels(bytes: &[u8]) -> Option<Vec<Vec<Vec<Listed>>>> {
    let mut bytes = Cursor(bytes);
    let levels = (0..bytes.u8()?).map(|_| {
        let runs = (0..bytes.u8()?).map(|_| {
            let tables = (0..bytes.u32()?).map(|_| listed(&mut bytes));
            tables.collect()
        });
        runs.collect()
    });
    levels.collect()
}

fn listed(bytes: &mut Cursor<'_>) -> Option<Listed> {
    let id = bytes.u64()?;
    (bytes.u8()? == XXH3).then_some(())?;
    Some(Listed { id, sum: bytes.u128()?, added: bytes.u64()? })
}

/// Makes `list` the one that holds in `dir`.
pub(super) fn write(dir: &Path, list: &List) -> io::Result<()> {
    let mut tables = vec![list.levels.len() as u8];
    for level in &list.levels {
        tables.push(level.len() as u8);
        for run in level {
            tables.extend((run.len() as u32).to_le_bytes());
            for table in run {
                tables.extend(table.id.to_le_bytes());
                tables.push(XXH3);
                tables.extend(table.sum.to_le_bytes());
                tables.extend(table.added.to_le_bytes());
            }
        }
    }
    let no_blobs = 0u32.to_le_bytes().to_vec();
    let file = contents::file_of(&[
        ("format_version", vec![3]),
        ("crate_version", b"mended".to_vec()),
        ("tree_type", vec![0]),
        ("level_count", vec![LEVELS as u8]),
        ("filter_hash_type", vec![XXH3]),
        ("tables", tables),
        ("blob_files", no_blobs.clone()),
        ("blob_gc_stats", no_blobs),
    ]);
    fs::write(dir.join(format!("v{}", list.number)), &file)?;
    let mut current = list.number.to_le_bytes().to_vec();
    current.extend(xxh3_128(&file).to_le_bytes());
    current.push(XXH3);
    fs::write(dir.join(CURRENT), current)
}
