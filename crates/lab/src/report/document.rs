//! What does a report consist of, and which files does it make?

use crate::page::{ReportPage, ReportTable};
use evercrawl_draw::Figure;

/// What we measured for one of the documents, next to what it claims.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportDocument {
    /// Its short name: `s0`.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it is about, in a sentence or two.
    pub about: String,
    blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq)]
enum Block {
    Section(String),
    Paragraph(String),
    Table(ReportTable),
    Figure(String, Figure),
    Beside(ReportSource),
}

/// A claim of the document next to our finding.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSource {
    /// What the document says.
    pub said: String,
    /// What we found.
    pub found: String,
    /// Why the two differ, or agree, in one sentence.
    pub why: String,
}

/// A file to write: its path below the directory of all reports, and its content.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportFile {
    /// With `/` between directories.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl ReportDocument {
    /// A document without content.
    pub fn new(name: &'static str, title: &'static str, about: impl Into<String>) -> Self {
        ReportDocument { name, title, about: about.into(), blocks: Vec::new() }
    }

    /// Begins a section.
    pub fn section(&mut self, heading: &str) {
        self.blocks.push(Block::Section(heading.to_owned()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, words: impl Into<String>) {
        self.blocks.push(Block::Paragraph(words.into()));
    }

    /// Adds a table.
    pub fn table(&mut self, table: ReportTable) {
        self.blocks.push(Block::Table(table));
    }

    /// Adds a figure with a name fit for a file.
    pub fn figure(&mut self, name: &str, figure: Figure) {
        self.blocks.push(Block::Figure(name.to_owned(), figure));
    }

    /// Sets a claim of the document next to our finding.
    pub fn beside(&mut self, said: &str, found: impl Into<String>, why: &str) {
        let beside =
            ReportSource { said: said.to_owned(), found: found.into(), why: why.to_owned() };
        self.blocks.push(Block::Beside(beside));
    }

    /// All tables, in order.
    pub fn tables(&self) -> impl Iterator<Item = &ReportTable> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    /// Every file of the document: the page, the same as Markdown, each table as CSV, each figure as SVG.
    pub fn files(&self) -> Vec<ReportFile> {
        let name = self.name;
        let mut files = vec![
            ReportFile { path: format!("{name}.html"), text: self.html() },
            ReportFile { path: format!("{name}.md"), text: self.markdown() },
        ];
        files.extend(self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => {
                Some(ReportFile { path: format!("{name}/{}.csv", table.name), text: table.csv() })
            }
            Block::Figure(figure, drawn) => {
                Some(ReportFile { path: format!("{name}/{figure}.svg"), text: drawn.svg() })
            }
            _ => None,
        }));
        files
    }

    /// Returns the document as one HTML file.
    pub fn html(&self) -> String {
        let mut page = ReportPage::new(self.title, &self.about);
        page.contents();
        for block in &self.blocks {
            match block {
                Block::Section(heading) => page.section(heading),
                Block::Paragraph(words) => page.paragraph(words),
                Block::Table(table) => page.table(table),
                Block::Figure(_, figure) => page.figure(figure),
                Block::Beside(beside) => page.beside(&beside.entries()),
            }
        }
        page.html()
    }

    /// Returns the document as Markdown, which refers to its figures as files.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n{}\n", self.title, self.about);
        for block in &self.blocks {
            out.push('\n');
            out += &match block {
                Block::Section(heading) => format!("## {heading}\n"),
                Block::Paragraph(words) => format!("{words}\n"),
                Block::Table(table) => table.markdown(),
                Block::Figure(name, figure) => {
                    format!("![{}]({}/{name}.svg)\n", figure.description, self.name)
                }
                Block::Beside(beside) => {
                    let entries = beside.entries();
                    entries.map(|(term, words)| format!("- {term}: {words}\n")).concat()
                }
            };
        }
        out
    }
}

impl ReportSource {
    fn entries(&self) -> [(&str, &str); 3] {
        [
            ("The document", &self.said),
            ("Found here", &self.found),
            ("Why they differ or agree", &self.why),
        ]
    }
}

/// The page that leads to all documents.
pub fn index(documents: &[ReportDocument]) -> ReportFile {
    let mut page = ReportPage::new(
        "The documents, measured again",
        "What the papers behind Evercrawl report, next to what its own code measures. Each table is there as \
         CSV too, each figure as SVG, each document as Markdown.",
    );
    let names: Vec<String> = documents.iter().map(|d| format!("{}.html", d.name)).collect();
    page.links(names.iter().zip(documents).map(|(to, d)| (to.as_str(), d.title, d.about.as_str())));
    ReportFile { path: "index.html".to_owned(), text: page.html() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::count;
    use evercrawl_draw::{Axis, FigureLine, Panel};

    fn document() -> ReportDocument {
        let mut document = ReportDocument::new("s9", "Nine", "About `nine`.");
        document.section("One");
        document.paragraph("Words.");
        let mut table = ReportTable::new("numbers", "Numbers, each one more.", &["n"]);
        table.row([count(1)]);
        document.table(table);
        let line = FigureLine::curve("x", vec![(0.0, 0.0), (1.0, 1.0)]);
        document.figure(
            "rise",
            Figure {
                title: "Rise".to_owned(),
                description: "It rises.".to_owned(),
                x: Axis::linear("x", &[0.0, 1.0]),
                y: Axis::linear("y", &[0.0, 1.0]),
                panels: vec![Panel { heading: String::new(), lines: vec![line] }],
                rule: None,
            },
        );
        document.beside("it rises", "it does", "Both count alike.");
        document
    }

    #[test]
    fn a_document_makes_a_page_a_text_and_a_file_for_every_table_and_figure() {
        let paths: Vec<String> = document().files().into_iter().map(|file| file.path).collect();
        assert_eq!(paths, ["s9.html", "s9.md", "s9/numbers.csv", "s9/rise.svg"]);
    }

    #[test]
    fn page_and_text_say_the_same_in_the_same_order() {
        let (html, markdown) = (document().html(), document().markdown());
        for text in [&html, &markdown] {
            let places: Vec<usize> = ["Nine", "Words.", "Numbers, each", "It rises.", "it does"]
                .iter()
                .map(|part| text.rfind(part).unwrap_or_else(|| panic!("no {part} in {text}")))
                .collect();
            assert!(places[1..].is_sorted(), "{places:?}");
        }
        assert!(markdown.contains("![It rises.](s9/rise.svg)"), "{markdown}");
    }

    #[test]
    fn the_index_leads_to_every_document() {
        let index = index(&[document()]);
        assert!(index.text.contains("<a href=\"s9.html\">Nine</a> About <code>nine</code>."));
    }
}
