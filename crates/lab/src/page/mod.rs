//! How is a report written that can be read on any screen, in the dark, on paper and without a network?
//!
//! One HTML file, with nothing outside of it and no script: `ReportPage` takes headings, paragraphs, tables
//! and figures in their order. All reports of the lab look alike because all are written here.

mod table;

use std::fmt::Write;

use evercrawl_draw::{self as draw, Figure, escaped};
pub use table::{Cell, CellValue, ReportTable, cell, count, number, percent};

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--paper:#fff;--line:#d5dae0;--wash:#f4f6f8;--link:#0969a8;--mark:#0f7b55}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b3;--paper:#0d1117;--line:#30373f;--wash:#161b22;--link:#5cb8f5;--mark:#4ccf9b}}
*{box-sizing:border-box}
body{margin:0 auto;padding:2.2rem 1.2rem 4rem;max-width:52rem;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .4rem}h2{font-size:1.25rem;margin:2.6rem 0 .6rem;padding-top:.9rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.8rem 0 .4rem}p{margin:.6rem 0}.lead{font-size:1.08rem;color:var(--soft);margin-bottom:1.2rem}
a{color:var(--link)}code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--wash);padding:.08em .3em;border-radius:.25em}
ul{padding-left:1.3rem}li{margin:.25rem 0}
figure{margin:1.4rem 0}figure svg{display:block;width:100%;height:auto;border:1px solid var(--line);border-radius:.4rem}
figcaption,caption{color:var(--soft);font-size:.92rem;text-align:left}figcaption{margin-top:.45rem}caption{padding-bottom:.45rem}
.wide{overflow-x:auto;margin:1.2rem 0}table{border-collapse:collapse;min-width:min(26rem,100%);font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.26rem .65rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
thead th{border-bottom:2px solid var(--soft);vertical-align:bottom;white-space:normal;line-height:1.25}
.dense{font-size:.82rem}.dense th,.dense td{padding:.26rem .38rem}
.denser{font-size:.75rem}.denser th,.denser td{padding:.26rem .28rem}
tbody th{font-weight:500}.words{text-align:left}td.words{white-space:normal;min-width:7rem}td b{color:var(--mark)}
dl.beside{margin:1.1rem 0;padding:.7rem 1rem;background:var(--wash);border-left:3px solid var(--link);border-radius:0 .4rem .4rem 0}
dl.beside dt{font-weight:600;font-size:.88rem;color:var(--soft)}dl.beside dd{margin:0 0 .5rem}dl.beside dd:last-child{margin-bottom:0}
nav ul{columns:2;list-style:none;padding:0;font-size:.95rem}nav li{margin:0;padding:.12rem 0;break-inside:avoid}footer{margin-top:3rem;color:var(--soft);font-size:.88rem}
@media(max-width:36rem){nav ul{columns:1}}
@media print{body{max-width:none;padding:0;font-size:10.5pt}h2,h3{break-after:avoid}figure,tr,dl.beside,.wide{break-inside:avoid}
.wide{overflow:visible}th,td{padding:.15rem .35rem}table{font-size:8.5pt}.dense{font-size:7.5pt}nav{display:none}dl.beside{background:none}}
";

/// An HTML page that grows from above to below.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReportPage {
    title: String,
    body: String,
    figures: usize,
    /// The sections: their ids and headings.
    sections: Vec<(String, String)>,
    /// Where in `body` the list of sections goes, if it is wanted.
    contents: Option<usize>,
}

impl ReportPage {
    /// A page with a title, and a sentence or two on what it is about.
    pub(crate) fn new(title: &str, lead: &str) -> Self {
        let body =
            format!("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escaped(title), marked_up(lead));
        ReportPage {
            title: title.to_owned(),
            body,
            figures: 0,
            sections: Vec::new(),
            contents: None,
        }
    }

    /// Puts a list of all sections here, those still to come included.
    pub(crate) fn contents(&mut self) {
        self.contents = Some(self.body.len());
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, heading: &str) {
        let id = format!("s{}", self.sections.len() + 1);
        let _ = writeln!(self.body, "<h2 id=\"{id}\">{}</h2>", escaped(heading));
        self.sections.push((id, heading.to_owned()));
    }

    /// Begins a part of a section.
    pub(crate) fn heading(&mut self, heading: &str) {
        let _ = writeln!(self.body, "<h3>{}</h3>", escaped(heading));
    }

    /// Adds a paragraph. What stands between backquotes is shown as code.
    pub(crate) fn paragraph(&mut self, words: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", marked_up(words));
    }

    /// Adds a list of links: target, title, and description.
    pub(crate) fn links<'a>(
        &mut self,
        links: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
    ) {
        self.body.push_str("<ul>\n");
        for (to, name, about) in links {
            let (to, name) = (escaped(to).replace('"', "&quot;"), escaped(name));
            let _ =
                writeln!(self.body, "<li><a href=\"{to}\">{name}</a> {}</li>", marked_up(about));
        }
        self.body.push_str("</ul>\n");
    }

    /// Adds terms with their explanations, set apart from the text.
    pub(crate) fn beside(&mut self, entries: &[(&str, &str)]) {
        self.body.push_str("<dl class=\"beside\">\n");
        for (term, words) in entries {
            let _ = writeln!(self.body, "<dt>{}</dt><dd>{}</dd>", escaped(term), marked_up(words));
        }
        self.body.push_str("</dl>\n");
    }

    /// Adds a table.
    pub(crate) fn table(&mut self, table: &ReportTable) {
        self.body.push_str(&table.html());
    }

    /// Adds a figure; its description becomes the caption.
    pub(crate) fn figure(&mut self, figure: &Figure) {
        self.figures += 1;
        let svg = figure.inline(&format!("f{}-", self.figures));
        let caption = marked_up(&figure.description);
        let _ = writeln!(self.body, "<figure>\n{svg}<figcaption>{caption}</figcaption></figure>");
    }

    /// Returns the whole file.
    pub(crate) fn html(&self) -> String {
        let place = self.contents.unwrap_or(0);
        let (before, after) = self.body.split_at(place);
        let list = if self.contents.is_some() { self.list_of_sections() } else { String::new() };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <title>{}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n{before}{list}{after}</body>\n</html>\n",
            escaped(&self.title),
            if self.figures > 0 { draw::STYLE } else { "" },
        )
    }

    fn list_of_sections(&self) -> String {
        let item = |(id, heading): &(String, String)| {
            format!("<li><a href=\"#{id}\">{}</a></li>\n", escaped(heading))
        };
        format!("<nav><ul>\n{}</ul></nav>\n", self.sections.iter().map(item).collect::<String>())
    }
}

/// Escapes words and shows as code what stands between backquotes.
fn marked_up(words: &str) -> String {
    let mut out = String::new();
    for (place, part) in escaped(words).split('`').enumerate() {
        let tag = if place == 0 {
            ""
        } else if place % 2 == 1 {
            "<code>"
        } else {
            "</code>"
        };
        out += tag;
        out += part;
    }
    if out.matches("<code>").count() > out.matches("</code>").count() {
        out += "</code>";
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_draw::{Axis, FigureLine, Panel};

    fn figure(description: &str) -> Figure {
        let line = FigureLine::curve("x", vec![(0.0, 0.0), (1.0, 1.0)]);
        Figure {
            title: "f".to_owned(),
            description: description.to_owned(),
            x: Axis::linear("x", &[0.0, 1.0]),
            y: Axis::linear("y", &[0.0, 1.0]),
            panels: vec![Panel { heading: String::new(), lines: vec![line] }],
            rule: None,
        }
    }

    #[test]
    fn a_page_holds_everything_and_needs_nothing() {
        let mut page = ReportPage::new("A & B", "run `x <y>`");
        page.contents();
        page.section("First");
        page.figure(&figure("One."));
        page.section("Second");
        page.figure(&figure("Two."));
        page.beside(&[("said", "`a`"), ("found", "b")]);
        let html = page.html();
        assert!(
            html.contains("<title>A &amp; B</title>") && html.contains("<code>x &lt;y&gt;</code>")
        );
        assert!(html.contains("<a href=\"#s2\">Second</a>") && html.contains("<h2 id=\"s2\">"));
        assert!(html.contains("id=\"f1-t\"") && html.contains("id=\"f2-t\""));
        assert_eq!(html.matches("<style>").count(), 1);
        assert_eq!(html.matches("prefers-color-scheme:dark").count(), 2);
        let outside = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("http") && !outside.contains("<script"), "{outside}");
    }

    #[test]
    fn what_is_opened_is_closed() {
        assert_eq!(marked_up("a `b` c `d"), "a <code>b</code> c <code>d</code>");
        assert_eq!(marked_up("`a`"), "<code>a</code>");
        let html = ReportPage::new("t", "").html();
        assert!(!html.contains("<nav>") && html.ends_with("</body>\n</html>\n"));
    }

    #[test]
    fn links_keep_within_their_quotes() {
        let mut page = ReportPage::new("t", "");
        page.links([("a\"b.html", "a", "of `a`")]);
        assert!(page.html().contains("<a href=\"a&quot;b.html\">a</a> of <code>a</code>"));
    }
}
