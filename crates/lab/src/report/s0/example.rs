//! Figures 2 to 4: how does the paper's own example divide?
//!
//! Its pictures are lost in print; the pages, directories and links are those that its text names.

use evercrawl_sites::{Partition, PartitionMethod, Server};

use crate::page::{ReportTable, cell};
use crate::report::ReportDocument;

/// R is the server's top page, the others are the paper's.
const PAGES: [&str; 9] = ["R", "A", "B", "C", "D", "E", "F", "G", "H"];
const DIRECTORIES: [&str; 9] = ["/", "/x", "/x", "/x", "/x", "/x", "/y", "/y", "/y"];
const LINKS: [(u32, u32); 8] = [(0, 1), (0, 4), (1, 2), (1, 3), (4, 5), (5, 6), (3, 7), (7, 8)];

pub(super) fn write(document: &mut ReportDocument) {
    document.section("Figures 2 to 4: the worked example");
    let server = Server::new(&DIRECTORIES, &LINKS, &[0]);
    document.table(pages(&server));
    document.beside(
        "By links the example divides into (A,B,C), (D,E), (E,F) and (G,H), the first of each being its top; \
         by directories, all pages of least depth are tops.",
        format!(
            "By links {}; by directories {}.",
            sites(&server, PartitionMethod::B),
            sites(&server, PartitionMethod::A)
        ),
        "They agree; the links are those that the text tells of, with a page R in front that links to A and D.",
    );
}

fn pages(server: &Server) -> ReportTable {
    let caption =
        "The pages of the example, and how many links they are from the top page, which is at 1.";
    let mut table =
        ReportTable::new("example", caption, &["page", "directory", "depth", "links to"]);
    for (page, (name, directory)) in (0u32..).zip(PAGES.iter().zip(DIRECTORIES)) {
        let links = named(server.links(page)).join(", ");
        let depth = cell(f64::from(server.depth(page)), 0);
        table.row([(*name).into(), directory.into(), depth, links.as_str().into()]);
    }
    table
}

/// The sites of more than one page, as the paper writes them.
fn sites(server: &Server, method: PartitionMethod) -> String {
    let partition = Partition::new(server, method);
    let proper = partition.sites().filter(|&site| !partition.members(site).is_empty());
    let mut sites: Vec<String> = proper
        .map(|site| named(&[partition.tops(site), partition.members(site)].concat()).join(","))
        .collect();
    sites.sort();
    format!("({})", sites.join("), ("))
}

fn named(pages: &[u32]) -> Vec<&'static str> {
    pages.iter().map(|&page| PAGES[page as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_divides_as_the_paper_says() {
        let server = Server::new(&DIRECTORIES, &LINKS, &[0]);
        assert_eq!(sites(&server, PartitionMethod::B), "(A,B,C), (D,E), (E,F), (G,H)");
        assert_eq!(sites(&server, PartitionMethod::A), "(A,D,B,C,E), (F,G,H)");
    }
}
