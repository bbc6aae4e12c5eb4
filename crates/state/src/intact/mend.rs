//! What of a store can be opened again? Everything that its tables and journals hold, but for what is damaged itself.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::contents::{self, Contents, Cursor};
use super::list::{self, List, Listed};
use super::{MAGIC, MARK, SPACES, TABLES, is_there, journal, list_dir, spaces, sum};

/// The space that holds the names of all others.
const NAMES: &str = "0";

/// Lets the store in `dir` be opened, as far as it was its lists, ends of tables and journals that stood against it; says
/// what was done. What is replaced is kept in `aside`. False when it must not be opened: the store removes every space
/// whose name it does not find.
pub fn mend_store(dir: &Path, aside: &Path, report: &mut dyn FnMut(String)) -> io::Result<bool> {
    let mut mend = Mend { dir, aside, report };
    if !is_there(dir)? {
        return Ok(true);
    }
    if !names_are_whole(&dir.join(SPACES).join(NAMES))? {
        return Ok(false);
    }
    let mark = dir.join(MARK);
    if fs::read(&mark).ok().is_none_or(|bytes| bytes != MAGIC) {
        mend.keep(&mark)?;
        fs::write(&mark, MAGIC)?;
        mend.say("wrote", &mark, "anew");
    }
    for space in spaces(dir)? {
        mend.space(&space)?;
    }
    for path in journal::files(dir)? {
        mend.journal(&path)?;
    }
    Ok(true)
}

/// Whether every table can be opened that the store knows the names of its spaces by.
fn names_are_whole(space: &Path) -> io::Result<bool> {
    let tables = match list::read(space)? {
        Ok(list) => list.tables().copied().collect(),
        Err(_) => all_tables(space)?,
    };
    for table in &tables {
        if !opens(&space.join(TABLES).join(table.id.to_string()))? {
            return Ok(false);
        }
    }
    Ok(!tables.is_empty())
}

struct Mend<'a> {
    dir: &'a Path,
    aside: &'a Path,
    report: &'a mut dyn FnMut(String),
}

impl Mend<'_> {
    fn say(&mut self, done: &str, path: &Path, why: &str) {
        let path = path.strip_prefix(self.dir).unwrap_or(path);
        (self.report)(format!("{done} {} of the store {why}", path.display()));
    }

    /// Where a file of the store is kept that is replaced.
    fn place_aside(&self, path: &Path) -> PathBuf {
        let name = path.strip_prefix(self.dir).unwrap_or(path).to_string_lossy().replace('/', "-");
        self.aside.join(format!("store-{name}"))
    }

    fn keep(&self, path: &Path) -> io::Result<()> {
        if path.exists() {
            fs::copy(path, self.place_aside(path))?;
        }
        Ok(())
    }

    /// Leaves tables out that cannot be opened, and makes the list anew where it cannot be read.
    fn space(&mut self, space: &Path) -> io::Result<()> {
        let listed = match list::read(space)? {
            Ok(list) => list,
            Err(None) => return Ok(()),
            Err(Some(damage)) => {
                self.keep(&damage.path)?;
                self.say("rebuilt the list of tables", &damage.path, "from the tables");
                List::of(last_number(space)? + 1, all_tables(space)?)
            }
        };
        let table = |listed: &Listed| space.join(TABLES).join(listed.id.to_string());
        let mut list = listed.clone();
        for lost in listed.tables().map(table) {
            if opens(&lost)? {
                continue;
            }
            if lost.exists() {
                // The store would delete it.
                fs::rename(&lost, self.place_aside(&lost))?;
            }
            self.say("lost:", &lost, "cannot be opened");
            list = list.without(|other| table(other) != lost);
        }
        if list != listed || list::read(space)?.is_err() {
            list.number = last_number(space)? + 1;
            list::write(space, &list)?;
        }
        Ok(())
    }

    /// Keeps the commits that are whole.
    fn journal(&mut self, path: &Path) -> io::Result<()> {
        let bytes = fs::read(path)?;
        let found = journal::commits(&bytes);
        if found.later.is_empty() && !found.refused {
            return Ok(());
        }
        self.keep(path)?;
        let later = found.later.iter().map(|place| &bytes[place.clone()]);
        let whole: Vec<u8> =
            [&bytes[..found.until]].into_iter().chain(later).flatten().copied().collect();
        fs::write(path, whole)?;
        self.say("lost: damaged commits in", path, "; the others are kept");
        Ok(())
    }
}

/// The highest number of a list that there is.
fn last_number(space: &Path) -> io::Result<u64> {
    let number = |path: PathBuf| path.file_name()?.to_str()?.strip_prefix('v')?.parse().ok();
    Ok(list_dir(space)?.into_iter().filter_map(number).max().unwrap_or(0))
}

/// Every table that lies there.
fn all_tables(space: &Path) -> io::Result<Vec<Listed>> {
    let mut found = Vec::new();
    for path in list_dir(&space.join(TABLES))? {
        let id = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let Some(id) = id {
            found.push(Listed { id, sum: sum(File::open(&path)?)?, added: 0 });
        }
    }
    Ok(found)
}

/// Whether the store would open this table: all that it reads then is as it was written.
fn opens(path: &Path) -> io::Result<bool> {
    let Ok(file) = File::open(path) else { return Ok(false) };
    let Some(contents) = contents::of_file(&file)? else { return Ok(false) };
    for part in [b"meta".as_slice(), b"tli", b"filter_tli", b"filter"] {
        if !blocks_are_sound(&file, &contents, part)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether every block of a part is as it was written.
fn blocks_are_sound(file: &File, contents: &Contents, part: &[u8]) -> io::Result<bool> {
    let Some(place) = contents.part(part) else { return Ok(true) };
    let mut bytes = vec![0; usize::try_from(place.end - place.start).unwrap_or_default()];
    file.read_exact_at(&mut bytes, place.start)?;
    let mut rest = Cursor(&bytes);
    while !rest.0.is_empty() {
        if block(&mut rest).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Passes over a block: a mark, what it is, the sum of its data, their length packed and not, a sum of all that.
fn block(rest: &mut Cursor<'_>) -> Option<()> {
    let head = rest.0.get(..4 + 1 + 16 + 4 + 4)?;
    rest.mark(b"LSM\x03")?;
    rest.u8()?;
    let (sum, length, _unpacked) = (rest.u128()?, rest.u32()?, rest.u32()?);
    let head_sum = rest.u32()?;
    let data = rest.take(usize::try_from(length).ok()?)?;
    // Of the sum of a head its first four bytes are kept.
    let is_sound = xxh3_128(head) as u32 == head_sum && xxh3_128(data) == sum;
    is_sound.then_some(())
}
