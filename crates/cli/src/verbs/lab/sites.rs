//! `evercrawl lab sites`: how does a server divide into sites with top pages?

use evercrawl_lab::table::{Columns, DataTable, NameColumn, TableRow};
use evercrawl_sites::{Partition, Server, directory_of, roots_of};
use serde::Serialize;

use super::args::Sites;
use super::{json_line, one_stdin};
use crate::{exit, print};

static PAGES: Columns = Columns {
    required: &["page", "url"],
    optional: &["dir"],
    unused: &["created", "deleted", "at_start", "size"],
};
const PAGE: usize = 0;
const URL: usize = 1;
const DIR: usize = 2;

static LINKS: Columns = Columns { required: &["src", "dst"], optional: &[], unused: &["implied"] };

#[derive(Serialize)]
struct Answer<'a> {
    sites: Vec<Site<'a>>,
}

/// Pages by name, upper sites by their place in the list, from 0.
#[derive(Serialize)]
struct Site<'a> {
    tops: Vec<&'a str>,
    members: Vec<&'a str>,
    upper: Vec<u32>,
}

pub(super) fn run(args: &Sites) -> anyhow::Result<u8> {
    one_stdin(&args.pages, &args.links)?;
    let pages = DataTable::open(&args.pages, &PAGES)?;
    let names = pages.names(PAGE)?;
    let links = links(&DataTable::open(&args.links, &LINKS)?, &names, pages.file())?;
    let partition = Partition::new(&server(&pages, &links)?, args.method.method());
    let named = |pages: &[u32]| pages.iter().map(|&page| names.list[page as usize]).collect();
    let site = |number: u32| Site {
        tops: named(partition.tops(number)),
        members: named(partition.members(number)),
        upper: partition.upper(number),
    };
    let answer = Answer { sites: partition.sites().map(site).collect() };
    let mut out = print::data();
    if args.json {
        json_line(&mut out, &answer)?;
    } else {
        let rows: Vec<_> =
            (0..).zip(&answer.sites).map(|(number, site)| site.row(number)).collect();
        print::table(&mut out, &["site", "tops", "members", "upper"], &rows)?;
    }
    Ok(exit::OK)
}

impl Site<'_> {
    fn row(&self, number: u32) -> Vec<String> {
        let words = |names: &[&str]| print::plain(&names.join(" "));
        let upper: Vec<String> = self.upper.iter().map(u32::to_string).collect();
        vec![number.to_string(), words(&self.tops), words(&self.members), upper.join(" ")]
    }
}

fn links(
    table: &DataTable,
    names: &NameColumn<'_>,
    pages: &str,
) -> anyhow::Result<Vec<(u32, u32)>> {
    let end = |row: TableRow<'_>, column: usize| {
        let number = names.number(row.text(column)?);
        number.ok_or_else(|| row.wrong(column, format_args!("is not a page of {pages}")))
    };
    table.rows().map(|row| Ok((end(row, 0)?, end(row, 1)?))).collect()
}

/// Depth counts from the page with the shortest URL of each host.
fn server(pages: &DataTable, links: &[(u32, u32)]) -> anyhow::Result<Server> {
    let urls: Vec<&str> = pages.rows().map(|row| row.text(URL)).collect::<Result<_, _>>()?;
    let directory = |(row, url): (TableRow<'_>, &&str)| -> anyhow::Result<String> {
        Ok(if pages.has(DIR) { row.text(DIR)? } else { directory_of(url) }.to_owned())
    };
    let directories: Vec<String> =
        pages.rows().zip(&urls).map(directory).collect::<anyhow::Result<_>>()?;
    Ok(Server::new(&directories, links, &roots_of(&urls)))
}
