//! What happened on real sites? Reads folders of recorded changes as one world.
//!
//! A folder holds `trace.json` (the site and its scored window), `pages.csv.gz`, `changes.csv.gz` and,
//! where links are known, `links.csv.gz`; each may also lie there unpacked. Several folders make one
//! world of several servers; the window of each is moved to that of the first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use evercrawl_policy::{ChangeTimes, Days, NEVER};
use evercrawl_sites::{GroupKeys, Server, roots_of};
use serde::Deserialize;

use crate::malformed::Malformed;
use crate::table::{Columns, DataTable, NameColumn, NumberRange, TableError, TableRow};
use crate::world::{ChangeTruth, HostFacts, LabWorld, PageFact, Span};

/// How long before the scored window a crawl begins.
pub(crate) const BURN_IN: Days = 26.0 * 7.0;

const SECONDS_A_DAY: f64 = 86_400.0;

static PAGES: Columns = Columns {
    required: &["page", "url", "created"],
    optional: &["dir", "deleted"],
    unused: &["at_start", "size"],
};
const PAGE: usize = 0;
const URL: usize = 1;
const CREATED: usize = 2;
const DIR: usize = 3;
const DELETED: usize = 4;

static CHANGES: Columns =
    Columns { required: &["page", "time", "kind"], optional: &["sitewide"], unused: &["batch"] };
const TIME: usize = 1;
const KIND: usize = 2;
const SITEWIDE: usize = 3;

static LINKS: Columns = Columns { required: &["src", "dst"], optional: &[], unused: &["implied"] };

/// What a trace says of itself.
#[derive(Debug, Deserialize)]
struct Header {
    site: String,
    window_start: f64,
    window_end: f64,
}

/// What lies in every folder of recorded changes.
const MARK: &str = "trace.json";

/// Whether a folder is one of recorded changes.
pub(crate) fn is_recorded(folder: &Path) -> bool {
    folder.join(MARK).is_file()
}

/// Reads `folders` as one world; changes that touched a whole site at once only if `sitewide`.
pub fn read(folders: &[PathBuf], sitewide: bool) -> Result<LabWorld, TableError> {
    let mut gathered = Gathered::default();
    for folder in folders {
        gathered.add(folder, sitewide)?;
    }
    gathered.world()
}

/// What was read so far, pages in the order of the files.
#[derive(Default)]
struct Gathered {
    hosts: Vec<HostFacts>,
    span: Option<Span>,
    facts: Vec<PageFact>,
    urls: Vec<String>,
    directories: Vec<String>,
    changes: Vec<(u32, Days)>,
    links: Vec<(u32, u32)>,
}

impl Gathered {
    fn add(&mut self, folder: &Path, sitewide: bool) -> Result<(), TableError> {
        let header = header(folder)?;
        let from = header.window_start / SECONDS_A_DAY;
        let to = header.window_end / SECONDS_A_DAY;
        let span = *self.span.get_or_insert(Span { since: from, begin: from - BURN_IN, from, to });
        let moved = span.from - from;
        let pages = DataTable::open(&file(folder, "pages.csv"), &PAGES)?;
        let names = pages.names(PAGE)?;
        let first = u32::try_from(self.facts.len()).unwrap_or(u32::MAX);
        let reader = Reader { names: &names, first, moved, pages: pages.file() };
        self.add_pages(&pages, &header.site, moved)?;
        self.add_changes(folder, &reader, sitewide)?;
        let links = file(folder, "links.csv");
        if links.exists() {
            let links = DataTable::open(&links, &LINKS)?;
            let ends = |row: TableRow<'_>| Ok((reader.page(row, 0)?, reader.page(row, 1)?));
            self.links.extend(links.rows().map(ends).collect::<Result<Vec<_>, TableError>>()?);
        }
        self.hosts.push(HostFacts::plain(header.site));
        Ok(())
    }

    fn add_pages(&mut self, pages: &DataTable, site: &str, moved: Days) -> Result<(), TableError> {
        let host = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        for row in pages.rows() {
            let url = format!("http://{site}{}", row.text(URL)?);
            let directory = if pages.has(DIR) { row.text(DIR)? } else { "" };
            let directory = match directory {
                "" => evercrawl_sites::directory_of(&url).to_owned(),
                named => format!("http://{site}{named}"),
            };
            let deleted = row.optional_number(DELETED, NumberRange::NotNegative)?;
            let born = day(row.number(CREATED, NumberRange::NotNegative)?) + moved;
            let dies = deleted.map_or(NEVER, |at| day(at) + moved);
            self.facts.push(PageFact { born, dies, host, ..PageFact::PLAIN });
            self.urls.push(url);
            self.directories.push(directory);
        }
        Ok(())
    }

    /// When pages come and go is left to their own dates; whether their end counts stands here. One that
    /// went and came back has changed.
    fn add_changes(
        &mut self,
        folder: &Path,
        reader: &Reader<'_>,
        sitewide: bool,
    ) -> Result<(), TableError> {
        for row in DataTable::open(&file(folder, "changes.csv"), &CHANGES)?.rows() {
            let page = reader.page(row, PAGE)?;
            let at = day(row.number(TIME, NumberRange::NotNegative)?) + reader.moved;
            let everywhere =
                row.optional_number(SITEWIDE, NumberRange::NotNegative)?.unwrap_or(0.0);
            let counts = everywhere == 0.0 || sitewide;
            let fact = &mut self.facts[page as usize];
            match row.text(KIND)? {
                "A" => {}
                "D" if at >= fact.dies => fact.quiet = !counts,
                "M" | "D" if counts => self.changes.push((page, at)),
                "M" | "D" => {}
                _ => return Err(row.wrong(KIND, "is none of A, M and D")),
            }
        }
        Ok(())
    }

    /// Numbers pages by birth, those of one moment as they were read, and leaves out what was gone
    /// before anything is known.
    fn world(self) -> Result<LabWorld, TableError> {
        let Some(mut span) = self.span else {
            return Err(TableError::new("no folder of recorded changes was named"));
        };
        let known = self.changes.iter().map(|&(_, at)| at).fold(span.begin, f64::min);
        span.since = known;
        let mut order: Vec<usize> =
            (0..self.facts.len()).filter(|&page| self.facts[page].dies > known).collect();
        order.sort_by(|&a, &b| self.facts[a].born.total_cmp(&self.facts[b].born));
        let numbers: HashMap<u32, u32> =
            (0u32..).zip(&order).map(|(n, &p)| (p as u32, n)).collect();
        let renumbered = |page: u32| numbers.get(&page).copied();
        let changes: Vec<(u32, Days)> =
            self.changes.iter().filter_map(|&(p, at)| Some((renumbered(p)?, at))).collect();
        let links: Vec<(u32, u32)> = self
            .links
            .iter()
            .filter_map(|&(a, b)| Some((renumbered(a)?, renumbered(b)?)))
            .collect();
        let urls: Vec<String> = order.iter().map(|&page| self.urls[page].clone()).collect();
        let directories: Vec<&str> = order.iter().map(|&p| self.directories[p].as_str()).collect();
        let server = Server::new(&directories, &links, &roots_of(&urls));
        let kin = GroupKeys::of_pages(&urls, &links);
        let mut pages: Vec<PageFact> = order.iter().map(|&page| self.facts[page]).collect();
        for ((number, page), kin) in (0u32..).zip(&mut pages).zip(kin) {
            page.group = server.directory(number);
            page.kin = [kin.section, kin.hub, kin.base];
        }
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        Ok(LabWorld {
            name: names.join("+"),
            past: changes.iter().copied().filter(|&(_, at)| at < span.begin).collect(),
            truth: ChangeTruth::Listed(ChangeTimes::new(pages.len(), &changes)),
            server: Some(server),
            hosts: self.hosts,
            pages,
            span,
            urls,
        })
    }
}

/// Reads the numbers of one folder's pages into those of all.
struct Reader<'a> {
    names: &'a NameColumn<'a>,
    first: u32,
    moved: Days,
    pages: &'a str,
}

impl Reader<'_> {
    fn page(&self, row: TableRow<'_>, column: usize) -> Result<u32, TableError> {
        let number = self.names.number(row.text(column)?).map(|number| self.first + number);
        number.ok_or_else(|| row.wrong(column, format_args!("is not a page of {}", self.pages)))
    }
}

fn header(folder: &Path) -> Result<Header, TableError> {
    let path = folder.join(MARK);
    let shown = path.display();
    let text = std::fs::read_to_string(&path)
        .map_err(|error| TableError::new(format!("cannot read {shown}: {error}")))?;
    let header: Header = serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column().max(1));
        let words = error.to_string();
        let words = words.split(" at line ").next().unwrap_or_default(); // Said before, and once is enough.
        TableError::new(format!("{shown}, line {line}, column {column}: {words}"))
    })?;
    if header.window_start < header.window_end {
        Ok(header)
    } else {
        let at = text.find("\"window_end\"").unwrap_or(0);
        let message = "the window ends before it starts";
        let wrong = Malformed::at(&shown.to_string(), &text, at, message);
        Err(TableError::new(wrong.to_string()))
    }
}

/// The file packed, if it is there; else unpacked.
fn file(folder: &Path, name: &str) -> PathBuf {
    let packed = folder.join(format!("{name}.gz"));
    if packed.exists() { packed } else { folder.join(name) }
}

fn day(seconds: f64) -> Days {
    seconds / SECONDS_A_DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str =
        r#"{"site": "a.example", "window_start": 17280000, "window_end": 17884800}"#;
    const PAGES: &str =
        "page,url,dir,created,deleted\n7,/b,/,17000000,\n3,/,/,1,17500000\n4,/c,/,1,2\n";
    const CHANGES: &str = "page,time,kind,sitewide\n7,17280086,M,0\n3,17300000,M,1\n\
                           3,16000000,D,0\n3,17500000,D,1\n";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let usual = [("trace.json", TRACE), ("pages.csv", PAGES), ("changes.csv", CHANGES)];
        for (name, text) in usual.iter().chain(files) {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    fn read_one(dir: &tempfile::TempDir, sitewide: bool) -> Result<LabWorld, String> {
        read(&[dir.path().to_owned()], sitewide).map_err(|error| error.to_string())
    }

    #[test]
    fn pages_are_numbered_by_birth_and_what_was_gone_is_left_out() {
        let world = read_one(&folder(&[]), false).unwrap();
        assert_eq!(world.urls, ["http://a.example/", "http://a.example/b"]);
        assert_eq!((world.span.from, world.span.to), (200.0, 207.0));
        assert!(world.pages[0].quiet && world.pages[0].dies == 17_500_000.0 / SECONDS_A_DAY);
        let all = world.truth.all(2, NEVER);
        assert_eq!(
            all.changes_of(0).collect::<Vec<_>>(),
            [16_000_000.0 / SECONDS_A_DAY],
            "it came back"
        );
        assert_eq!(all.changes_of(1).collect::<Vec<_>>(), [17_280_086.0 / SECONDS_A_DAY]);
        assert_eq!(world.server.as_ref().map(Server::total_links), Some(0));
    }

    #[test]
    fn changes_of_a_whole_site_count_when_asked_for() {
        let world = read_one(&folder(&[]), true).unwrap();
        assert!(!world.pages[0].quiet);
        assert_eq!(world.truth.all(2, NEVER).changes_of(0).count(), 2);
    }

    #[test]
    fn several_folders_are_one_world_at_one_time() {
        let later =
            TRACE.replace("a.example", "b.example").replace("172", "272").replace("178", "278");
        let one = folder(&[("links.csv", "src,dst\n3,7\n")]);
        let two = folder(&[("trace.json", &later), ("links.csv", "src,dst\n7,3\n")]);
        let world = read(&[one.path().to_owned(), two.path().to_owned()], false).unwrap();
        assert_eq!(world.name, "a.example+b.example");
        assert_eq!((world.pages.len(), world.hosts.len()), (4, 2));
        assert_eq!(world.span.from, 200.0);
        assert_eq!(world.server.unwrap().total_links(), 2);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (name, text, words) in [
            ("trace.json", "{\n \"site\": 1}", "trace.json, line 2, column 10: invalid type"),
            (
                "trace.json",
                &TRACE.replace("1788", "1088"),
                "line 1, column 49: the window ends before",
            ),
            ("trace.json", "{\"site\":", "trace.json, line 1, column 8: EOF while parsing a value"),
            ("pages.csv", "page,url\n1,/\n", "pages.csv, line 1: column created is missing"),
            ("pages.csv", "page,url,created\n1,/,x\n", "line 2, column created: `x` is not"),
            ("changes.csv", "page,time,kind\n9,1,M\n", "line 2, column page: `9` is not a page of"),
            ("changes.csv", "page,time,kind\n3,1,Q\n", "line 2, column kind: `Q` is none of A, M"),
            ("links.csv", "src,dst\n3,8\n", "links.csv, line 2, column dst: `8` is not a page of"),
        ] {
            let error = read_one(&folder(&[(name, text)]), false).err().unwrap_or_default();
            assert!(error.contains(words), "{words}: {error}");
        }
        let missing = read(&[PathBuf::from("/nowhere")], false).err().unwrap().to_string();
        assert!(missing.starts_with("cannot read /nowhere/trace.json"), "{missing}");
        assert!(read(&[], false).is_err());
    }
}
