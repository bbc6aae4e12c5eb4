//! Where do records lie? In files, or in entries of packages; in either they are read again by their place.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::error::ImportError;
use crate::kind::{Kind, kind_of};

/// Bytes that are looked at to tell what a file is.
const HEAD: u64 = 16 << 10;

/// A file to import, and what it is.
#[derive(Clone, Debug)]
pub struct Input {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    pub(crate) is_packed: bool,
}

/// The files at these paths. Of a directory, all that are in it and can be imported.
pub fn find_inputs(paths: &[PathBuf]) -> Result<Vec<Input>, ImportError> {
    let mut inputs = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => find_in_directory(path, 0, &mut inputs)?,
            false => inputs.push(input(path)?),
        }
    }
    Ok(inputs)
}

/// Directories in directories that are looked at.
const DEEPEST: u32 = 8;

fn find_in_directory(dir: &Path, depth: u32, inputs: &mut Vec<Input>) -> Result<(), ImportError> {
    let fault = || ImportError::io("list", dir);
    let entries = fs::read_dir(dir).map_err(fault())?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(fault())?;
    paths.sort();
    for path in paths {
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if path.is_dir() && !is_link && depth < DEEPEST {
            find_in_directory(&path, depth + 1, inputs)?;
        } else if path.is_file() {
            match input(&path) {
                // An archive's directory has other files too.
                Err(ImportError::Unknown { .. }) => {}
                found => inputs.push(found?),
            }
        }
    }
    Ok(())
}

fn input(path: &Path) -> Result<Input, ImportError> {
    let fault = || ImportError::io("read", path);
    let mut file = File::open(path).map_err(fault())?;
    let bytes = file.metadata().map_err(fault())?.len();
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(HEAD).read_to_end(&mut head).map_err(fault())?;
    let is_packed = head.starts_with(&[0x1f, 0x8b]);
    if is_packed {
        let mut unpacked = Vec::new();
        // What is broken further on is found when it is read.
        let _ = MultiGzDecoder::new(&head[..]).take(HEAD).read_to_end(&mut unpacked);
        head = unpacked;
    }
    let unknown = || ImportError::Unknown { path: path.to_owned() };
    let kind = match kind_of(&head).ok_or_else(unknown)? {
        Kind::Zip => package_kind(&mut file).map_err(fault())?.ok_or_else(unknown)?,
        kind => kind,
    };
    Ok(Input { path: path.to_owned(), kind, bytes, is_packed })
}

/// What a zip package is, by the names in it.
fn package_kind(file: &mut File) -> io::Result<Option<Kind>> {
    let entries = crate::zip::entries(file)?;
    let has = |test: fn(&str) -> bool| entries.iter().any(|entry| test(&entry.name));
    Ok(if has(|name| name.ends_with(".warc.gz") || name.ends_with(".warc")) {
        Some(Kind::Wacz)
    } else if has(|name| name.ends_with("watch.json") || name == "url-watches.json") {
        Some(Kind::Changedetection)
    } else {
        None
    })
}

impl Input {
    /// Its bytes, without gzip around them.
    pub(crate) fn text(&self) -> io::Result<Box<dyn BufRead>> {
        let file = BufReader::with_capacity(1 << 17, File::open(&self.path)?);
        Ok(match self.is_packed {
            true => Box::new(BufReader::with_capacity(1 << 17, MultiGzDecoder::new(file))),
            false => Box::new(file),
        })
    }

    /// Its name for users.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// A part of a file in which records lie.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// What users call it.
    pub(crate) name: String,
}

impl Source {
    /// All from `offset` on.
    pub(crate) fn from(&self, offset: u64) -> io::Result<impl BufRead + use<>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.start.saturating_add(offset)))?;
        Ok(BufReader::with_capacity(1 << 16, file.take(self.length.saturating_sub(offset))))
    }
}
