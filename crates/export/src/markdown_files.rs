//! How does a crawl become a folder of Markdown files? One file a document, with what is known of it in front, in a
//! folder for each host, with a list of its files.
//!
//! The name of a file depends on its URL alone. A file is written when its document is put and removed when that is
//! deleted, so doing anything twice changes nothing; a note says up to which number of the log all is done.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::documents::{Document, Operation, document_id};
use crate::error::ExportError;
use crate::growing_file::write_whole;

/// The note of how far the folder has come.
const NOTE: &str = ".export";
/// The list of files in a folder.
const INDEX: &str = "index.md";
/// The longest part of a URL's path in the name of a file.
const LONGEST_SLUG: usize = 80;

/// What stands in the note.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// What is exported: the same words for the same documents.
    what: String,
    /// The number of the last row that is in the folder.
    after: Option<u64>,
}

/// A folder of Markdown files.
#[derive(Debug)]
pub struct MarkdownFiles {
    dir: PathBuf,
    note: Note,
    /// Folders of hosts whose lists are to be written again.
    touched: BTreeSet<String>,
    /// Files written.
    pub written: u64,
    /// Files removed.
    pub removed: u64,
}

impl MarkdownFiles {
    /// Resumes the folder at `dir`, or begins it. `what` tells what is exported.
    pub fn open(dir: &Path, what: &str, overwrite: bool) -> Result<Self, ExportError> {
        fs::create_dir_all(dir).map_err(ExportError::io("create", dir))?;
        let shown = dir.display();
        let in_the_way = |why: &str| {
            ExportError::InTheWay(format!("{shown} {why}; use another folder or --overwrite"))
        };
        let empty = || Note { what: what.to_owned(), after: None };
        let note = match fs::read(dir.join(NOTE)) {
            Ok(text) => {
                let note: Note =
                    serde_json::from_slice(&text).map_err(|_| in_the_way("has a damaged note"))?;
                match (note.what == what, overwrite) {
                    (true, false) => note,
                    (_, true) => empty(),
                    (false, false) => {
                        return Err(in_the_way(&format!("has another selection ({})", note.what)));
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_empty = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
                if !is_empty && !overwrite {
                    return Err(in_the_way("is not empty"));
                }
                empty()
            }
            Err(error) => return Err(ExportError::io("read", &dir.join(NOTE))(error)),
        };
        let mut files = MarkdownFiles {
            dir: dir.to_owned(),
            note,
            touched: BTreeSet::new(),
            written: 0,
            removed: 0,
        };
        if files.note.after.is_none() {
            files.remove_old()?;
            files.save(None)?;
        }
        Ok(files)
    }

    /// Starting over: removes what looks like a file of ours, and nothing else.
    fn remove_old(&mut self) -> Result<(), ExportError> {
        for host in folders(&self.dir)? {
            let dir = self.dir.join(&host);
            for path in markdown_in(&dir)? {
                if front_of(&path).is_some() {
                    fs::remove_file(&path).map_err(ExportError::io("remove", &path))?;
                }
            }
            self.touched.insert(host);
        }
        Ok(())
    }

    /// The number of the last row that is in the folder.
    pub fn after(&self) -> Option<u64> {
        self.note.after
    }

    /// Does what an operation says.
    pub fn apply(&mut self, operation: &Operation) -> Result<(), ExportError> {
        match operation {
            Operation::Put(document) => self.put(document),
            Operation::Delete { url, .. } => self.remove(url),
        }
    }

    fn put(&mut self, document: &Document) -> Result<(), ExportError> {
        let (host, name) = place_of(&document.url);
        let dir = self.dir.join(&host);
        let path = dir.join(name);
        let write = || -> io::Result<()> {
            fs::create_dir_all(&dir)?;
            // Nobody reads half a file; that it lasts is seen to before the note is written.
            let new = path.with_extension("md.new");
            fs::write(&new, text_of(document))?;
            fs::rename(&new, &path)
        };
        write().map_err(ExportError::io("write", &path))?;
        self.touched.insert(host);
        self.written += 1;
        Ok(())
    }

    /// Removes the file of a URL, if it is there.
    pub fn remove(&mut self, url: &str) -> Result<(), ExportError> {
        let (host, name) = place_of(url);
        let path = self.dir.join(&host).join(name);
        match fs::remove_file(&path) {
            Ok(()) => {
                self.touched.insert(host);
                self.removed += 1;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(ExportError::io("remove", &path)(error)),
        }
    }

    /// Brings the lists up to date, makes everything last, and notes how far the export has come.
    pub fn save(&mut self, after: Option<u64>) -> Result<(), ExportError> {
        for host in std::mem::take(&mut self.touched) {
            self.write_index(&host)?;
        }
        self.write_list_of_hosts()?;
        let io = ExportError::io("write", &self.dir);
        let folder = File::open(&self.dir).map_err(io)?;
        rustix::fs::syncfs(&folder)
            .map_err(|error| ExportError::io("write", &self.dir)(error.into()))?;
        self.note.after = after.or(self.note.after);
        write_whole(&self.dir.join(NOTE), &serde_json::to_vec(&self.note).unwrap_or_default())
    }

    fn write_index(&self, host: &str) -> Result<(), ExportError> {
        let dir = self.dir.join(host);
        let mut list = format!("# {host}\n\n");
        let mut count = 0_u64;
        for path in markdown_in(&dir)? {
            let Some((title, url)) = front_of(&path) else { continue };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let title = if title.is_empty() { url } else { title };
            // Writing to memory does not fail.
            let _ = writeln!(list, "- [{}]({name})", escaped(&title));
            count += 1;
        }
        let path = dir.join(INDEX);
        match count {
            0 => {
                let _ = fs::remove_file(&path);
                // Only an empty folder is removed.
                let _ = fs::remove_dir(&dir);
                Ok(())
            }
            _ => write_whole(&path, list.as_bytes()),
        }
    }

    fn write_list_of_hosts(&self) -> Result<(), ExportError> {
        let mut list = "# Hosts\n\n".to_owned();
        for host in folders(&self.dir)? {
            if self.dir.join(&host).join(INDEX).is_file() {
                let _ = writeln!(list, "- [{host}]({host}/{INDEX})");
            }
        }
        write_whole(&self.dir.join(INDEX), list.as_bytes())
    }
}

fn entries(dir: &Path) -> Result<Vec<fs::DirEntry>, ExportError> {
    let read = || -> io::Result<Vec<fs::DirEntry>> { fs::read_dir(dir)?.collect() };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(ExportError::io("read", dir)),
    }
}

/// The names of the folders in a folder.
fn folders(dir: &Path) -> Result<Vec<String>, ExportError> {
    let is_dir = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let all = entries(dir)?.into_iter().filter(is_dir);
    let mut names: Vec<String> =
        all.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// The Markdown files in a folder, without its list.
fn markdown_in(dir: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let paths = entries(dir)?.into_iter().map(|entry| entry.path());
    let is_page =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "md") && !path.ends_with(INDEX);
    let mut paths: Vec<PathBuf> = paths.filter(is_page).collect();
    paths.sort();
    Ok(paths)
}

/// The title and the URL that stand in front of a file; `None` where it is not one of ours.
fn front_of(path: &Path) -> Option<(String, String)> {
    let mut lines = BufReader::new(File::open(path).ok()?).lines().map_while(Result::ok);
    lines.next().filter(|line| line == "---")?;
    let mut value = |name: &str| -> Option<String> {
        let line = lines.next()?;
        serde_json::from_str(line.strip_prefix(name)?.strip_prefix(": ")?).ok()
    };
    Some((value("title")?, value("url")?))
}

/// A file: what is known of the document in YAML, of which JSON values are a part, and its text.
fn text_of(document: &Document) -> String {
    let mut out = "---\n".to_owned();
    let mut field = |name: &str, value: Value| {
        if !value.is_null() {
            let _ = writeln!(out, "{name}: {value}");
        }
    };
    field("title", json!(document.title.as_deref().unwrap_or_default()));
    field("url", json!(document.url));
    field("canonical", json!(document.canonical));
    field("lang", json!(document.lang));
    field("byline", json!(document.byline));
    field("published", json!(document.published));
    field("fetched", json!(document.fetched));
    field("tags", json!(document.tags));
    field("digest", json!(document.digest));
    field("id", json!(document.id));
    field("seq", json!(document.seq));
    out.push_str("---\n\n");
    out.push_str(document.markdown.as_deref().unwrap_or(&document.text));
    out
}

/// Words of a link that end nothing.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control()) {
        if matches!(c, '[' | ']' | '\\' | '<' | '>' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The folder and the name of the file for a URL: letters and digits of its path, and of its identifier.
fn place_of(url: &str) -> (String, String) {
    let (host, path) = url.split_once("://").map_or((url, ""), |(_, rest)| {
        rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at))
    });
    let host: String =
        host.chars().map(|c| if is_plain(c) || c == '.' { c } else { '_' }).collect();
    // A folder that is no other one.
    let host = host.trim_matches('.');
    let host = if host.is_empty() { "_" } else { host };
    let mut slug = String::new();
    for c in path.chars() {
        match is_plain(c) {
            true => slug.push(c.to_ascii_lowercase()),
            false if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            false => {}
        }
        if slug.len() >= LONGEST_SLUG {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "page" } else { slug };
    (host.to_owned(), format!("{slug}-{}.md", &document_id(url)[..12]))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;

    #[test]
    fn names_depend_on_the_url_and_stay_in_the_folder() {
        let (host, name) = place_of("http://a.org/News/Story_1.html?x=%2F..");
        assert_eq!(host, "a.org");
        assert!(name.starts_with("news-story_1-html-x-2f-") && name.ends_with(".md"), "{name}");
        assert_eq!(place_of("http://a.org:8080/").0, "a.org_8080");
        assert_ne!(place_of("http://a.org/x").1, place_of("http://a.org/X").1);
        for odd in ["http://../../etc", "http://[::1]/..", "..", "http://./", "http://a/\u{202e}"] {
            let (host, name) = place_of(odd);
            assert!(
                !host.contains('/') && !host.starts_with('.') && !name.contains('/'),
                "{host} {name}"
            );
        }
        assert!(place_of(&format!("http://a/{}", "x".repeat(500))).1.len() < 110);
    }

    #[test]
    fn files_come_and_go_and_their_lists_with_them() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let document = |url: &str, title: &str| {
            let value = json!({"title": title, "url": url});
            let path = out.join(place_of(url).0).join(place_of(url).1);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text =
                format!("---\ntitle: {}\nurl: {}\n---\n\ntext", value["title"], value["url"]);
            fs::write(&path, text).unwrap();
            path
        };
        let mut files = MarkdownFiles::open(&out, "all", false).unwrap();
        let path = document("http://a.org/x", "A [b] \"c\"");
        files.touched.insert("a.org".to_owned());
        files.save(Some(3)).unwrap();
        let list = fs::read_to_string(out.join("a.org/index.md")).unwrap();
        assert!(list.contains("- [A \\[b\\] \"c\"](x-"), "{list}");
        assert!(
            fs::read_to_string(out.join("index.md")).unwrap().contains("[a.org](a.org/index.md)")
        );
        let mut files = MarkdownFiles::open(&out, "all", false).unwrap();
        assert_eq!(files.after(), Some(3));
        files.remove("http://a.org/x").unwrap();
        files.remove("http://b.org/never").unwrap();
        files.save(None).unwrap();
        assert!(!path.exists() && !out.join("a.org").exists());
        assert_eq!((files.removed, files.after()), (1, Some(3)));
        let other = MarkdownFiles::open(&out, "host a", false).unwrap_err().to_string();
        assert!(other.contains("another selection"), "{other}");
        let kept = document("http://a.org/y", "y");
        fs::write(out.join("a.org/mine.md"), "mine").unwrap();
        MarkdownFiles::open(&out, "host a", true).unwrap();
        assert!(!kept.exists() && out.join("a.org/mine.md").exists(), "only ours are removed");
        fs::create_dir(dir.path().join("full")).unwrap();
        fs::write(dir.path().join("full/x"), "").unwrap();
        assert!(MarkdownFiles::open(&dir.path().join("full"), "all", false).is_err());
    }
}
