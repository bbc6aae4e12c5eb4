//! What happened on real sites? Reads folders of recorded changes as one world.
//!
//! A folder holds `trace.json` (the site and its scored window), `pages.csv.gz`, `changes.csv.gz` and,
//! where links are known, `links.csv.gz`; each may also lie there unpacked. Several folders make one
//! world of several servers; the window of each is moved to that of the first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use evercrawl_policy::{Changes, Days, NEVER};
use evercrawl_sites::{Kin, Server, roots_of};
use serde::Deserialize;

use crate::table::{Columns, Names, Range, Row, Table, TableError};
use crate::world::{Fact, HostFacts, Span, Truth, World};

/// How long before the scored window a crawl begins.
pub const BURN_IN: Days = 26.0 * 7.0;

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

/// Reads `folders` as one world; changes that touched a whole site at once only if `sitewide`.
pub fn read(folders: &[PathBuf], sitewide: bool) -> Result<World, TableError> {
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
    facts: Vec<Fact>,
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
        let pages = Table::open(&file(folder, "pages.csv"), &PAGES)?;
        let names = pages.names(PAGE)?;
        let first = u32::try_from(self.facts.len()).unwrap_or(u32::MAX);
        let reader = Reader { names: &names, first, moved, pages: pages.file() };
        self.add_pages(&pages, &header.site, moved)?;
        self.add_changes(folder, &reader, sitewide)?;
        let links = file(folder, "links.csv");
        if links.exists() {
            let links = Table::open(&links, &LINKS)?;
            let ends = |row: Row<'_>| Ok((reader.page(row, 0)?, reader.page(row, 1)?));
            self.links.extend(links.rows().map(ends).collect::<Result<Vec<_>, TableError>>()?);
        }
        self.hosts.push(HostFacts::plain(header.site));
        Ok(())
    }

    fn add_pages(&mut self, pages: &Table, site: &str, moved: Days) -> Result<(), TableError> {
        let host = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        for row in pages.rows() {
            let url = format!("http://{site}{}", row.text(URL)?);
            let directory = if pages.has(DIR) { row.text(DIR)? } else { "" };
            let directory = match directory {
                "" => evercrawl_sites::directory_of(&url).to_owned(),
                named => format!("http://{site}{named}"),
            };
            let deleted = row.optional_number(DELETED, Range::NotNegative)?;
            let born = day(row.number(CREATED, Range::NotNegative)?) + moved;
            let dies = deleted.map_or(NEVER, |at| day(at) + moved);
            self.facts.push(Fact { born, dies, host, ..Fact::PLAIN });
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
        for row in Table::open(&file(folder, "changes.csv"), &CHANGES)?.rows() {
            let page = reader.page(row, PAGE)?;
            let at = day(row.number(TIME, Range::NotNegative)?) + reader.moved;
            let everywhere = row.optional_number(SITEWIDE, Range::NotNegative)?.unwrap_or(0.0);
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
    fn world(self) -> Result<World, TableError> {
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
        let kin = Kin::of_all(&urls, &links);
        let mut pages: Vec<Fact> = order.iter().map(|&page| self.facts[page]).collect();
        for ((number, page), kin) in (0u32..).zip(&mut pages).zip(kin) {
            page.group = server.directory(number);
            page.kin = [kin.section, kin.hub, kin.base];
        }
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        Ok(World {
            name: names.join("+"),
            past: changes.iter().copied().filter(|&(_, at)| at < span.begin).collect(),
            truth: Truth::Listed(Changes::new(pages.len(), &changes)),
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
    names: &'a Names<'a>,
    first: u32,
    moved: Days,
    pages: &'a str,
}

impl Reader<'_> {
    fn page(&self, row: Row<'_>, column: usize) -> Result<u32, TableError> {
        let number = self.names.number(row.text(column)?).map(|number| self.first + number);
        number.ok_or_else(|| row.wrong(column, format_args!("is not a page of {}", self.pages)))
    }
}

fn header(folder: &Path) -> Result<Header, TableError> {
    let path = folder.join("trace.json");
    let shown = path.display();
    let text = std::fs::read_to_string(&path)
        .map_err(|error| TableError::new(format!("cannot read {shown}: {error}")))?;
    let header: Header = serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        TableError::new(format!("{shown}, line {line}, column {column}: {error}"))
    })?;
    if header.window_start < header.window_end {
        Ok(header)
    } else {
        Err(TableError::new(format!("{shown}: the window ends before it starts")))
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
