//! `evercrawl images`: the pictures of a crawl as files, each once, with an index of where they are.
//!
//! The log is followed as by other exports, so that a later run adds what came since; a picture is there before the
//! index names it.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use evercrawl_export::{Contents, GrowingFile, Picture, PictureForm};
use evercrawl_model::Outcome;
use evercrawl_query::{LogRow, VisitView};
use serde::{Deserialize, Serialize};

use super::args::Selection;
use super::log_rows::LogRows;
use super::say;
use crate::args::ImagesArgs;
use crate::exit::Failure;
use crate::units::{show_counted, show_size};
use crate::{exit, print};

/// The index, in the folder of the pictures: a line for each picture at each URL.
const INDEX: &str = "index.jsonl";

/// A picture at a URL.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    url: String,
    /// The page that led to it.
    via: Option<String>,
    /// When it was first fetched there.
    time: String,
    digest: String,
    /// Below the folder.
    file: String,
    #[serde(rename = "type")]
    form: String,
    width: Option<u32>,
    height: Option<u32>,
    bytes: u64,
}

/// Which pictures are kept.
struct Wanted {
    least: Option<(u32, u32)>,
    forms: Vec<PictureForm>,
}

/// Keeps the pictures that `args` selects, and lists all that are kept.
pub(crate) fn run(args: &ImagesArgs) -> anyhow::Result<u8> {
    let wanted = Wanted::read(args)?;
    let dir = args.out.clone().unwrap_or_else(|| args.common.data.join("images"));
    if !args.common.data.exists() {
        // The crawl's own words for that.
        super::super::ask(&args.common, &evercrawl_query::Request::Status, &mut |_| Ok(()))?;
    }
    fs::create_dir_all(&dir).map_err(|error| cannot_write(&dir, &error))?;
    let index = dir.join(INDEX);
    let mut keeper = Keeper { dir, wanted, seen: HashSet::new(), files: HashSet::new() };
    let mut file = GrowingFile::open(&index, &keeper.wanted.words(), args.overwrite)?;
    keeper.read_index(file.len())?;
    let selection = Selection::all();
    let mut rows = LogRows::new(&args.common, &selection, None);
    rows.export(&mut file, false, &mut |row, contents, file| {
        if let Some(entry) = keeper.keep(row, contents)? {
            file.write(format!("{}\n", serde_json::to_string(&entry)?).as_bytes())?;
        }
        Ok(())
    })?;
    keeper.list(&index, args.json)
}

impl Wanted {
    fn read(args: &ImagesArgs) -> anyhow::Result<Self> {
        let form = |name: &String| {
            let name = if name == "jpg" { "jpeg" } else { name };
            PictureForm::ALL.into_iter().find(|form| form.name() == name).ok_or_else(|| {
                Failure::usage(format!(
                    "--type: `{name}` is not a type of picture; use png, jpeg, gif, webp or svg"
                ))
            })
        };
        let forms: Vec<_> = args.forms.iter().map(form).collect::<Result<_, _>>()?;
        let forms = if forms.is_empty() { PictureForm::ALL.to_vec() } else { forms };
        Ok(Wanted { least: args.min.as_deref().map(pixels).transpose()?, forms })
    }

    /// The same words for the same pictures.
    fn words(&self) -> String {
        let names: Vec<&str> = self.forms.iter().map(|form| form.name()).collect();
        let least = self.least.map(|(width, height)| format!(", min {width}x{height}"));
        format!("images, type {}{}", names.join(","), least.unwrap_or_default())
    }

    /// What has no size of its own is never too small.
    fn takes(&self, picture: &Picture) -> bool {
        let large = |least: (u32, u32)| {
            picture.size.is_none_or(|size| size.0 >= least.0 && size.1 >= least.1)
        };
        self.forms.contains(&picture.form) && self.least.is_none_or(large)
    }
}

/// Width and height as in `200x100`.
fn pixels(text: &str) -> anyhow::Result<(u32, u32)> {
    let read = || {
        let (width, height) = text.split_once(['x', 'X'])?;
        Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
    };
    read().ok_or_else(|| {
        Failure::usage(format!("--min: `{text}` is not a valid size; use e.g. `200x200`"))
    })
}

/// Keeps pictures in a folder.
struct Keeper {
    dir: PathBuf,
    wanted: Wanted,
    /// URLs with the digests that the index has of them.
    seen: HashSet<(String, String)>,
    /// Files that are there whole.
    files: HashSet<String>,
}

impl Keeper {
    /// Reads the part of the index that an earlier run made to last.
    fn read_index(&mut self, length: u64) -> anyhow::Result<()> {
        if length == 0 {
            return Ok(());
        }
        let (seen, files) = (&mut self.seen, &mut self.files);
        each_entry(&self.dir.join(INDEX), &mut |entry| {
            files.insert(entry.file);
            seen.insert((entry.url, entry.digest));
            Ok(())
        })
    }

    /// Keeps what a visit brought, if it is a picture that is wanted and not in the index yet.
    fn keep(&mut self, row: &LogRow, contents: &mut Contents) -> anyhow::Result<Option<Entry>> {
        let Some(visit) = row.visit.as_ref().filter(|visit| visit.outcome.0 == Outcome::Ok) else {
            return Ok(None);
        };
        let Some(digest) = visit.digest.clone() else { return Ok(None) };
        let key = (row.page.url.clone(), digest);
        if self.seen.contains(&key) {
            return Ok(None);
        }
        let Some(content) = contents.read(visit)? else { return Ok(None) };
        let body = content.body();
        let Some(picture) = Picture::read(&body).filter(|it| self.wanted.takes(it)) else {
            return Ok(None);
        };
        let entry = entry(row, visit, &key.1, &picture, body.len() as u64);
        self.store(&entry.file, &body)?;
        self.seen.insert(key);
        Ok(Some(entry))
    }

    /// Writes a file, unless it is there: it is there whole or not at all.
    fn store(&mut self, name: &str, body: &[u8]) -> anyhow::Result<()> {
        if !self.files.insert(name.to_owned()) {
            return Ok(());
        }
        let path = self.dir.join(name);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
            let new = path.with_extension("new");
            let mut file = fs::File::create(&new)?;
            file.write_all(body)?;
            file.sync_data()?;
            fs::rename(&new, &path)
        };
        write().map_err(|error| cannot_write(&path, &error))
    }

    /// Lists the index: on standard output what is kept, on standard error how much.
    fn list(&self, index: &Path, as_json: bool) -> anyhow::Result<u8> {
        let mut out = print::data();
        let (mut files, mut bytes, mut lines) = (HashSet::new(), 0, 0_u64);
        each_entry(index, &mut |entry| {
            lines += 1;
            if files.insert(entry.file.clone()) {
                bytes += entry.bytes;
            }
            if as_json {
                return Ok(print::json_line(&mut out, &entry)?);
            }
            let size = match (entry.width, entry.height) {
                (Some(width), Some(height)) => format!("{width}x{height}"),
                _ => "-".to_owned(),
            };
            let url = print::plain(&entry.url);
            let (form, length) = (&entry.form, show_size(entry.bytes));
            Ok(writeln!(out, "{size:>11}  {form:<4}  {length:>9}  {}  {url}", entry.file)?)
        })?;
        out.flush()?;
        let (count, at) = (show_counted(files.len() as u64, "picture"), show_counted(lines, "URL"));
        say(format_args!("{count} at {at}, {} in {}", show_size(bytes), self.dir.display()));
        Ok(exit::OK)
    }
}

fn entry(row: &LogRow, visit: &VisitView, digest: &str, picture: &Picture, bytes: u64) -> Entry {
    let hash = digest.rsplit(':').next().unwrap_or(digest).to_ascii_lowercase();
    let folder = hash.get(..2).unwrap_or("00");
    let form = picture.form.name();
    Entry {
        url: row.page.url.clone(),
        via: row.page.via.clone(),
        time: visit.time.to_string(),
        digest: digest.to_owned(),
        file: format!("{folder}/{hash}.{form}"),
        form: form.to_owned(),
        width: picture.size.map(|size| size.0),
        height: picture.size.map(|size| size.1),
        bytes,
    }
}

fn each_entry(
    index: &Path,
    take: &mut dyn FnMut(Entry) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let file = fs::File::open(index).map_err(|error| cannot_read(index, &error.to_string()))?;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| cannot_read(index, &error.to_string()))?;
        let entry = serde_json::from_str(&line);
        take(entry.map_err(|error| cannot_read(index, &error.to_string()))?)?;
    }
    Ok(())
}

fn cannot_read(path: &Path, why: &str) -> anyhow::Error {
    anyhow::anyhow!("cannot read {}: {why}; --overwrite makes it again", path.display())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot write {}: {error}", path.display())
}
