//! Which commits of a journal are whole?
//!
//! A commit is on disk before the next begins. So a power cut leaves at most the last one torn, and the store rightly
//! passes over it. But it passes over everything from the first torn place on: where whole commits follow, that is damage.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::contents::Cursor;
use super::{DamagedFile, MAGIC, list_dir};

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;

/// The store's journals, in the order in which they were written.
pub(crate) fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let files = list_dir(dir)?.into_iter();
    let mut numbered: Vec<(u64, PathBuf)> = files.filter_map(numbered).collect();
    numbered.sort();
    Ok(numbered.into_iter().map(|(_, path)| path).collect())
}

fn numbered(path: PathBuf) -> Option<(u64, PathBuf)> {
    let number = path.file_name()?.to_str()?.strip_suffix(".jnl")?.parse().ok()?;
    Some((number, path))
}

/// Whether no commit was ever written.
pub(super) fn is_empty(dir: &Path) -> io::Result<bool> {
    for file in files(dir)? {
        if fs::read(file)?.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Journals with a torn place that no power cut leaves behind.
pub(super) fn damaged(dir: &Path) -> io::Result<Vec<DamagedFile>> {
    let (files, mut found) = (files(dir)?, Vec::new());
    for (nth, path) in files.iter().enumerate() {
        let bytes = fs::read(path)?;
        let torn = commits(&bytes);
        let is_last = nth + 1 == files.len();
        // The store begins another journal only once this one is wholly on disk.
        let sealed_damage = !is_last && bytes[torn.until..].iter().any(|byte| *byte != 0);
        let what = match torn.later.is_empty() && !sealed_damage {
            true if !torn.refused => continue,
            true => "the last commit in this journal is damaged",
            false => "this journal is damaged before its last commit",
        };
        found.push(DamagedFile { path: path.clone(), offset: Some(torn.until as u64), what });
    }
    Ok(found)
}

/// The whole commits of a journal.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Commits {
    /// Where the unbroken ones from the beginning end.
    pub(super) until: usize,
    /// Others that come behind a torn place.
    pub(super) later: Vec<Range<usize>>,
    /// What comes next is written to its end, but with another sum: with that the store does not open.
    pub(super) refused: bool,
}

pub(super) fn commits(bytes: &[u8]) -> Commits {
    let (mut found, mut last) = (Commits::default(), None);
    while let Some((length, number)) = commit(&bytes[found.until..])
        && last.is_none_or(|last| number > last)
    {
        last = Some(number);
        found.until += length;
    }
    found.refused = written(&bytes[found.until..]).is_some();
    let mut at = found.until;
    while let Some(ahead) = bytes.get(at..).and_then(|rest| rest.iter().position(|b| *b == START)) {
        at += ahead;
        match commit(&bytes[at..]) {
            Some((length, _)) => {
                found.later.push(at..at + length);
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// The commit at the beginning of `bytes`: its length and its number. `None` when it is not whole.
fn commit(bytes: &[u8]) -> Option<(usize, u64)> {
    written(bytes).and_then(|(length, number, sound)| sound.then_some((length, number)))
}

/// The same where it is written to its end, and whether it is as its sum says.
fn written(bytes: &[u8]) -> Option<(usize, u64, bool)> {
    let mut rest = Cursor(bytes);
    rest.mark(&[START])?;
    let (items, number) = (rest.u32()?, rest.u64()?);
    let from = rest.0;
    (0..items).try_for_each(|_| item(&mut rest))?;
    let body = &from[..from.len() - rest.0.len()];
    rest.mark(&[END])?;
    let sum = rest.u64()?;
    rest.mark(MAGIC)?;
    Some((bytes.len() - rest.0.len(), number, xxh3_64(body) == sum))
}

fn item(rest: &mut Cursor<'_>) -> Option<()> {
    match rest.u8()? {
        ITEM => {
            // What kind of row, how it is packed, of which space.
            rest.take(1 + 1 + 8)?;
            let (key, _unpacked, value) = (rest.u16()?, rest.u32()?, rest.u32()?);
            rest.take(usize::from(key))?;
            rest.take(usize::try_from(value).ok()?).map(drop)
        }
        CLEAR => rest.take(8).map(drop),
        _ => None,
    }
}
