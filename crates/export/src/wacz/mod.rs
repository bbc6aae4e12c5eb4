//! How do visits become a web archive package (WACZ 1.1.1) that replays by itself?
//!
//! A ZIP file: the records in `archive/data.warc.gz`, a CDXJ index over them, the pages with titles and texts, and a
//! list of all that with its digests. Records are written first, as they come from the log; that part can continue
//! after a crash, like any growing file. Then the records are read back, which gives the index, the pages and the
//! digest, and the rest of the package is written behind them.

mod signer;
mod sorted_lines;
mod zip;

pub use signer::Signer;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use evercrawl_archive::{StoredRecord, read_member};
use evercrawl_model::Time;
use flate2::Crc;
use flate2::write::GzEncoder;
use ring::digest::{Context, SHA256};
use serde_json::{Value, json};

use crate::contents::Content;
use crate::error::ExportError;
use crate::growing_file::GrowingFile;
use crate::page_text::page_text;
use crate::warc::WarcCopier;
pub use sorted_lines::SortedLines;
use zip::ZipWriter;

/// The WARC file in the package.
const WARC: &str = "archive/data.warc.gz";
const WARC_NAME: &str = "data.warc.gz";
/// From which size on the index is packed.
const LONG_INDEX: u64 = 50_000_000;
/// Lines of a block of a packed index.
const BLOCK: usize = 3000;
/// The size that a record may unpack to.
const RECORD_CAP: usize = 1 << 28;
/// Bytes of text of a page.
const MOST_TEXT: usize = 1 << 20;

/// A package that is being written.
pub struct Wacz {
    /// The file with the records so far.
    pub file: GrowingFile,
    path: PathBuf,
    settings: WaczSettings,
    /// Further files: their paths in the package, and what is in them.
    attached: Vec<(String, Vec<u8>)>,
}

/// What a package says of itself.
#[derive(Debug)]
pub struct WaczSettings {
    /// Who made it: name and version.
    pub software: String,
    /// Its title.
    pub title: Option<String>,
    /// Whether the list of pages has their texts.
    pub with_text: bool,
    /// The present time.
    pub now: Time,
    /// Who signs it, if anybody does.
    pub signer: Option<Signer>,
}

/// What is in a package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaczContents {
    /// Lines of the index.
    pub captures: u64,
    /// Pages in the list.
    pub pages: u64,
    /// Bytes of the package.
    pub bytes: u64,
}

impl Wacz {
    /// Continues the package that will be at `path`, or begins it. `what` tells what is in it.
    pub fn open(
        path: &Path,
        what: &str,
        settings: WaczSettings,
        overwrite: bool,
    ) -> Result<Self, ExportError> {
        if path.exists() && !overwrite {
            let shown = path.display();
            return Err(ExportError::InTheWay(format!(
                "{shown} is there already; use another name or --overwrite"
            )));
        }
        let mut file = GrowingFile::open(&beside(path, "part"), what, overwrite)?;
        if file.is_empty() {
            file.write(&zip::header(WARC, 0, 0))?;
            file.write(&WarcCopier::warcinfo(WARC_NAME, &settings.software, settings.now)?)?;
        }
        Ok(Wacz { file, path: path.to_owned(), settings, attached: Vec::new() })
    }

    /// Puts a further file into the package.
    pub fn attach(&mut self, path: &str, content: Vec<u8>) {
        self.attached.push((path.to_owned(), content));
    }

    /// Writes what belongs behind the records, and gives the package its name.
    pub fn finish(mut self) -> Result<WaczContents, ExportError> {
        let size = self.file.len() - zip::header_length(WARC);
        self.file.save(None)?;
        let part = beside(&self.path, "part");
        let io = ExportError::io("write", &part);
        let written = self.write_rest(&part, size);
        match written {
            Ok(found) => {
                fs::rename(&part, &self.path).map_err(ExportError::io("write", &self.path))?;
                let _ = fs::remove_file(beside(&part, "export"));
                Ok(found)
            }
            Err(error) => Err(io(error)),
        }
    }

    fn write_rest(&self, part: &Path, size: u64) -> io::Result<WaczContents> {
        let mut file = File::options().read(true).write(true).open(part)?;
        let pages_path = beside(&self.path, "pages");
        let mut reading = Reading {
            index: SortedLines::new(&beside(&self.path, "index")),
            pages: BufWriter::new(File::create(&pages_path)?),
            found: WaczContents::default(),
            with_text: self.settings.with_text,
        };
        let (digest, crc) = reading.read_records(part, size)?;
        let mut package =
            Package { zip: ZipWriter::default(), file: &mut file, resources: Vec::new() };
        package.zip.complete(package.file, 0, WARC, size, crc)?;
        package.list(WARC, &digest, size);
        reading.pages.flush()?;
        let Reading { index, mut found, .. } = reading;
        package.add_index(index, &beside(&self.path, "lines"))?;
        package.add("pages/pages.jsonl", &mut File::open(&pages_path)?)?;
        let _ = fs::remove_file(&pages_path);
        for (path, content) in &self.attached {
            package.add(path, &mut content.as_slice())?;
        }
        package.add_description(&self.settings)?;
        package.zip.finish(package.file)?;
        file.sync_data()?;
        found.bytes = file.metadata()?.len();
        Ok(found)
    }
}

/// `PATH.ending`.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    PathBuf::from(name)
}

/// What is gathered while records are read back.
struct Reading {
    index: SortedLines,
    pages: BufWriter<File>,
    found: WaczContents,
    with_text: bool,
}

impl Reading {
    /// Reads the `size` bytes of records in the package; returns their digest and sum.
    fn read_records(&mut self, part: &Path, size: u64) -> io::Result<(String, u32)> {
        let head = json!({
            "format": "json-pages-1.0", "id": "pages", "title": "All pages", "hasText": self.with_text,
        });
        writeln!(self.pages, "{head}")?;
        let mut file = File::open(part)?;
        file.seek(SeekFrom::Start(zip::header_length(WARC)))?;
        let mut input = Summing::new(BufReader::with_capacity(1 << 18, file.take(size)));
        while !input.fill_buf()?.is_empty() {
            let offset = input.read;
            let record = read_member(&mut input, RECORD_CAP).map_err(io::Error::other)?;
            let length = input.read - offset;
            if let Some(line) = StoredRecord::line(&record, offset, length, WARC_NAME) {
                self.index.push(line)?;
                self.found.captures += 1;
            }
            if let Some(page) = self.page(record) {
                writeln!(self.pages, "{page}")?;
                self.found.pages += 1;
            }
        }
        Ok((sha256(input.digest), input.crc.sum()))
    }

    /// The entry of a capture in the list of pages; `None` where it is no page.
    fn page(&self, record: evercrawl_archive::Record) -> Option<Value> {
        let is_answer = record.http_head().get(9..12) == Some(b"200");
        let (url, date) =
            (record.header("WARC-Target-URI")?.to_owned(), record.header("WARC-Date")?.to_owned());
        if record.header("WARC-Type") != Some("response") || !is_answer {
            return None;
        }
        let id = record.header("WARC-Record-ID").unwrap_or_default();
        let id = id.trim_matches(['<', '>']).trim_start_matches("urn:uuid:").to_owned();
        let content = Content::of_record(record);
        if !content.media_type().is_some_and(|kind| kind.contains("html")) {
            return None;
        }
        let page = page_text(&content, &url, &|_| false)?;
        let mut entry = json!({"id": id, "url": url, "ts": date, "title": page.main.title});
        if self.with_text {
            let mut text = page.main.text();
            let end = (0..=MOST_TEXT.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or(0));
            entry["text"] = text.into();
        }
        Some(entry)
    }
}

/// Counts, sums and digests what is read.
struct Summing<R> {
    input: R,
    read: u64,
    crc: Crc,
    digest: Context,
}

impl<R: BufRead> Summing<R> {
    fn new(input: R) -> Self {
        Summing { input, read: 0, crc: Crc::new(), digest: Context::new(&SHA256) }
    }
}

impl<R: BufRead> BufRead for Summing<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if let Ok(bytes) = self.input.fill_buf() {
            let taken = &bytes[..amount.min(bytes.len())];
            self.crc.update(taken);
            self.digest.update(taken);
        }
        self.read += amount as u64;
        self.input.consume(amount);
    }
}

impl<R: BufRead> Read for Summing<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

fn sha256(digest: Context) -> String {
    let digest = digest.finish();
    let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// The part of a package behind its records.
struct Package<'a> {
    zip: ZipWriter,
    file: &'a mut File,
    resources: Vec<Value>,
}

impl Package<'_> {
    fn list(&mut self, path: &str, digest: &str, bytes: u64) {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.resources.push(json!({"name": name, "path": path, "hash": digest, "bytes": bytes}));
    }

    /// Adds a file; returns its digest.
    fn add(&mut self, path: &str, content: &mut dyn Read) -> io::Result<String> {
        let mut digest = Context::new(&SHA256);
        let size = self.zip.add(self.file, path, content, &mut |bytes| digest.update(bytes))?;
        let digest = sha256(digest);
        self.list(path, &digest, size);
        Ok(digest)
    }

    /// Adds the index: as it is, or in packed blocks with a list of these where it is long.
    fn add_index(&mut self, index: SortedLines, aside: &Path) -> io::Result<()> {
        let mut lines = BufWriter::new(File::create(aside)?);
        let mut length = 0;
        index.read(&mut |line| {
            length += line.len() as u64;
            lines.write_all(line)
        })?;
        lines.flush()?;
        drop(lines);
        if length < LONG_INDEX {
            self.add("indexes/index.cdx", &mut File::open(aside)?)?;
        } else {
            let packed = beside(aside, "gz");
            let list = pack_index(aside, &packed)?;
            self.add("indexes/index.cdx.gz", &mut File::open(&packed)?)?;
            self.add("indexes/index.idx", &mut list.as_bytes())?;
            let _ = fs::remove_file(&packed);
        }
        let _ = fs::remove_file(aside);
        Ok(())
    }

    /// Adds the list of all files, and its digest.
    fn add_description(&mut self, settings: &WaczSettings) -> io::Result<()> {
        let mut description = json!({
            "profile": "data-package", "wacz_version": "1.1.1", "software": settings.software,
            "created": settings.now.rfc3339(), "resources": self.resources,
        });
        if let Some(title) = &settings.title {
            description["title"] = title.clone().into();
        }
        let text = serde_json::to_string_pretty(&description)?;
        let digest = self.add("datapackage.json", &mut text.as_bytes())?;
        let mut listed = json!({"path": "datapackage.json", "hash": digest});
        if let Some(signer) = &settings.signer {
            listed["signedData"] = signer.signed_data(&digest, &settings.software, settings.now)?;
        }
        self.add("datapackage-digest.json", &mut listed.to_string().as_bytes()).map(drop)
    }
}

/// Packs an index in blocks; returns the list of these.
fn pack_index(lines: &Path, packed: &Path) -> io::Result<String> {
    let meta = json!({"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"});
    let (mut list, mut out) = (format!("!meta 0 {meta}\n"), File::create(packed)?);
    let mut lines = BufReader::new(File::open(lines)?);
    let (mut offset, mut block) = (0, Vec::new());
    loop {
        block.clear();
        for _ in 0..BLOCK {
            lines.read_until(b'\n', &mut block)?;
        }
        if block.is_empty() {
            return Ok(list);
        }
        let mut member = GzEncoder::new(Vec::new(), flate2::Compression::default());
        member.write_all(&block)?;
        let member = member.finish()?;
        let mut digest = Context::new(&SHA256);
        digest.update(&member);
        let place = json!({
            "offset": offset, "length": member.len(), "digest": sha256(digest), "filename": "index.cdx.gz",
        });
        let key: Vec<&[u8]> = block.splitn(3, |byte| *byte == b' ').take(2).collect();
        list.push_str(&format!("{} {place}\n", String::from_utf8_lossy(&key.join(&b' '))));
        out.write_all(&member)?;
        offset += member.len() as u64;
    }
}
