//! What are the archive's files called, and how does a growing file become a finished one?
//!
//! `NAME.warc.gz.open` and `NAME.cdxj.open` grow; `NAME.warc.gz` and `NAME.cdxj` never change.
//! Finishing is done in steps that may each be the last before a crash, and can be done again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use evercrawl_model::Time;

use crate::disk::{Disk, Placed};
use crate::error::WriteError;
use crate::sorting;

const WARC: &str = ".warc.gz";
const INDEX: &str = ".cdxj";
const OPEN: &str = ".open";
const SORTING: &str = ".cdxj.sorting.open";

/// How far a WARC file and its index have come; the state commits this with the visits in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    /// The serial number, which record coordinates refer to.
    pub serial: u32,
    /// The name that both files share, without extensions.
    pub name: String,
    /// Bytes in the WARC file; none as long as only its `warcinfo` is there.
    pub warc_len: u64,
    /// Bytes in the index.
    pub cdxj_len: u64,
    /// Whether it may still grow; if not, it can be finished once this is committed.
    pub open: bool,
}

impl FilePosition {
    /// The WARC file's name once it is finished, as indexes give it.
    pub fn warc_name(&self) -> String {
        warc_name(&self.name)
    }

    /// Makes the growing files final, as far as this position counts them, and says how many bytes
    /// it cut off. An empty file is removed.
    pub fn finish(&self, dir: &Path, disk: &dyn Disk) -> Result<u64, WriteError> {
        if self.warc_len == 0 {
            return self.discard(dir).map(|()| 0);
        }
        let cut_index = self.finish_index(dir, disk)?;
        let cut_warc = self.finish_warc(dir, disk)?;
        Ok(cut_index + cut_warc)
    }

    /// Removes the growing files.
    pub fn discard(&self, dir: &Path) -> Result<(), WriteError> {
        remove(&open_warc(dir, &self.name))?;
        remove(&open_index(dir, &self.name))
    }

    /// Removes the finished files.
    pub(crate) fn remove(&self, dir: &Path, disk: &dyn Disk) -> Result<(), WriteError> {
        remove(&dir.join(self.warc_name()))?;
        remove(&final_index(dir, &self.name))?;
        sync_dir(dir, disk)
    }

    /// Sorts the index into its final file.
    fn finish_index(&self, dir: &Path, disk: &dyn Disk) -> Result<u64, WriteError> {
        let (from, to) = (open_index(dir, &self.name), final_index(dir, &self.name));
        let Some((growing, cut)) = settle(&from, &to, self.cdxj_len)? else {
            return sync_dir(dir, disk).map(|()| 0);
        };
        let [aside, sorting] =
            ["-runs", ""].map(|of| dir.join(format!("{}{of}{SORTING}", self.name)));
        sorting::sort(growing, &aside, &sorting, disk).map_err(WriteError::io("sort", &from))?;
        rename(&sorting, &to)?;
        sync_dir(dir, disk)?;
        fs::remove_file(&from).map_err(WriteError::io("remove", &from))?;
        Ok(cut)
    }

    /// Gives the WARC file its final name.
    fn finish_warc(&self, dir: &Path, disk: &dyn Disk) -> Result<u64, WriteError> {
        let (from, to) = (open_warc(dir, &self.name), dir.join(self.warc_name()));
        // It has its last name, but whoever gave it that may have ended before the name was on disk.
        let Some((growing, cut)) = settle(&from, &to, self.warc_len)? else {
            return sync_dir(dir, disk).map(|()| 0);
        };
        disk.sync(&growing).map_err(WriteError::io("sync", &from))?;
        rename(&from, &to)?;
        sync_dir(dir, disk)?;
        Ok(cut)
    }
}

/// Cuts a growing file to what was committed. `None` when it is already finished.
fn settle(from: &Path, to: &Path, committed: u64) -> Result<Option<(File, u64)>, WriteError> {
    let lost = |path: &Path, found| WriteError::Lost { path: path.to_owned(), found, committed };
    let growing = match OpenOptions::new().read(true).write(true).open(from) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let found = fs::metadata(to).map_or(0, |meta| meta.len());
            return if found < committed { Err(lost(to, found)) } else { Ok(None) };
        }
        Err(error) => return Err(WriteError::io("open", from)(error)),
    };
    let found = growing.metadata().map_err(WriteError::io("examine", from))?.len();
    if found < committed {
        return Err(lost(from, found));
    }
    growing.set_len(committed).map_err(WriteError::io("cut", from))?;
    Ok(Some((growing, found - committed)))
}

/// The name that follows the WARC guidelines: prefix, time, serial number, crawl host.
pub(crate) fn name(prefix: &str, now: Time, serial: u32, host: &str) -> String {
    let clean = |text: &str| {
        let odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_');
        text.replace(odd, "_").trim_start_matches('.').to_owned()
    };
    format!("{}-{}-{serial:05}-{}", clean(prefix), now.digits17(), clean(host))
}

/// The serial number in the name of one of the archive's files.
pub(crate) fn serial_of(file_name: &str) -> Option<u32> {
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mut parts = file_name.split('-').skip(1).peekable();
    while let Some(part) = parts.next() {
        if part.len() == 17 && digits(part) {
            return parts.peek().filter(|s| s.len() >= 5 && digits(s))?.parse().ok();
        }
    }
    None
}

/// Whether a file name is that of a growing file.
pub(crate) fn is_growing(file_name: &str) -> bool {
    [WARC, INDEX, ".cdxj.sorting"].iter().any(|kind| file_name.ends_with(&format!("{kind}{OPEN}")))
}

/// Whether a file name is that of a finished file.
pub(crate) fn is_finished(file_name: &str) -> bool {
    file_name.ends_with(WARC) || file_name.ends_with(INDEX)
}

/// Finds the WARC file with a serial number, growing or finished.
pub fn find_warc(dir: &Path, serial: u32) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_warc = name.strip_suffix(OPEN).unwrap_or(&name).ends_with(WARC);
        if is_warc && serial_of(&name) == Some(serial) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

pub(crate) fn warc_name(name: &str) -> String {
    format!("{name}{WARC}")
}

pub(crate) fn open_warc(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}{WARC}{OPEN}"))
}

pub(crate) fn open_index(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}{INDEX}{OPEN}"))
}

pub(crate) fn final_index(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}{INDEX}"))
}

/// The name with another serial number in it.
pub(crate) fn renumbered(name: &str, serial: u32) -> String {
    let mut parts: Vec<&str> = name.split('-').collect();
    let number = format!("{serial:05}");
    let time = |part: &&str| part.len() == 17 && part.bytes().all(|b| b.is_ascii_digit());
    let place = parts.iter().skip(1).position(time).map(|at| at + 2);
    if let Some(part) = place.and_then(|at| parts.get_mut(at)) {
        *part = &number;
    }
    parts.join("-")
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), WriteError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(WriteError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Makes what happened to names in `dir` survive a power cut.
pub(crate) fn sync_dir(dir: &Path, disk: &dyn Disk) -> Result<(), WriteError> {
    File::open(dir).and_then(|dir| disk.sync(&dir)).map_err(WriteError::io("sync", dir))
}

pub(crate) fn write_durably(
    path: &Path,
    lines: &[&[u8]],
    disk: &dyn Disk,
) -> Result<(), WriteError> {
    let write = || {
        let file = File::create(path)?;
        let mut out = Placed::buffered(&file, disk);
        lines.iter().try_for_each(|line| out.write_all(line))?;
        out.flush()?;
        disk.sync(&file)
    };
    write().map_err(WriteError::io("write", path))
}

pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), WriteError> {
    fs::rename(from, to).map_err(WriteError::io("rename", from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_guidelines_and_give_their_serial_back() {
        let name = name("my crawl", Time::from_millis(1_794_780_950_007), 42, "host-1.example.org");
        assert_eq!(name, "my_crawl-20261115221550007-00042-host-1.example.org");
        for (file, want) in [
            (format!("{name}.warc.gz"), Some(42)),
            (format!("{name}.cdxj.sorting.open"), Some(42)),
            ("a-b-20261115221550007-123456-x.warc.gz".to_owned(), Some(123_456)),
            ("a-20261115221550007-42-x.warc.gz".to_owned(), None),
            ("a-20261115221550007.warc.gz".to_owned(), None),
            ("other.warc.gz".to_owned(), None),
        ] {
            assert_eq!(serial_of(&file), want, "{file}");
        }
        let again = renumbered(&name, 7);
        assert_eq!(again, "my_crawl-20261115221550007-00007-host-1.example.org");
        assert!(is_growing("a.cdxj.sorting.open") && is_growing("a.warc.gz.open"));
        assert!(!is_growing("a.warc.gz") && !is_growing("notes.open"));
    }

    #[test]
    fn a_name_stays_in_its_directory() {
        let name = name("../../etc/x", Time::EPOCH, 1, "a/b\0c");
        assert_eq!(name, "_.._etc_x-19700101000000000-00001-a_b_c");
    }
}
