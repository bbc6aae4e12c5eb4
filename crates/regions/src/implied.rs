//! Which tags may a page leave out? The rules of the HTML standard for elements that end without a tag.

/// How far up an open element is looked for.
pub(crate) struct Boundary(&'static [&'static str]);

impl Boundary {
    pub(crate) const fn none() -> Self {
        Boundary(&[])
    }

    pub(crate) fn stops_at(&self, name: &str) -> bool {
        self.0.contains(&name)
    }
}

const CELLS: &[&str] = &["td", "th", "caption", "table", "template", "html", "object", "button"];
const LISTS: &[&str] = &["ul", "ol", "menu", "td", "th", "caption", "table", "template", "html"];
const DEFINITIONS: &[&str] = &["dl", "td", "th", "caption", "table", "template", "html"];
const TABLE: &[&str] = &["table", "template", "html"];
const SELECT: &[&str] = &["select", "datalist", "table", "template", "html"];
const ONLY_AROUND: &[&str] = &BLOCKS_AND_MORE;

/// Elements that stand apart from the text around them.
pub(crate) const BLOCKS: [&str; 33] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
];
const BLOCKS_AND_MORE: [&str; 18] = [
    "article",
    "aside",
    "blockquote",
    "body",
    "div",
    "dl",
    "footer",
    "form",
    "header",
    "html",
    "main",
    "nav",
    "ol",
    "section",
    "table",
    "td",
    "th",
    "ul",
];
const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];
const VOID: [&str; 16] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr", "keygen", "frame",
];

pub(crate) fn is_void(name: &str) -> bool {
    VOID.contains(&name)
}

/// Which open elements a start tag ends, each as far up as its boundary.
pub(crate) fn ends(name: &str) -> Vec<(&'static [&'static str], Boundary)> {
    let mut ended: Vec<(&'static [&'static str], Boundary)> = Vec::new();
    if BLOCKS.contains(&name) || matches!(name, "li" | "dd" | "dt" | "summary") {
        ended.push((&["p"], Boundary(CELLS)));
    }
    if HEADINGS.contains(&name) {
        ended.push((&HEADINGS, Boundary(ONLY_AROUND)));
    }
    match name {
        "li" => ended.push((&["li"], Boundary(LISTS))),
        "dd" | "dt" => ended.push((&["dd", "dt"], Boundary(DEFINITIONS))),
        "option" => ended.push((&["option"], Boundary(SELECT))),
        "optgroup" => ended.push((&["option", "optgroup"], Boundary(SELECT))),
        "td" | "th" => ended.push((&["td", "th", "caption", "colgroup"], Boundary(TABLE))),
        "tr" => ended.push((&["td", "th", "tr", "caption", "colgroup"], Boundary(TABLE))),
        "tbody" | "thead" | "tfoot" => ended.push((
            &["td", "th", "tr", "tbody", "thead", "tfoot", "caption", "colgroup"],
            Boundary(TABLE),
        )),
        "a" => ended.push((&["a"], Boundary(ONLY_AROUND))),
        "button" => ended.push((&["button"], Boundary(ONLY_AROUND))),
        _ => {}
    }
    ended
}

/// How far up the end tag of an element reaches.
pub(crate) fn boundary_of_end(name: &str) -> Boundary {
    match name {
        "table" | "template" => Boundary(&["template"]),
        "tr" | "td" | "th" | "tbody" | "thead" | "tfoot" | "caption" => Boundary(TABLE),
        "li" => Boundary(LISTS),
        _ if BLOCKS_AND_MORE.contains(&name) || BLOCKS.contains(&name) => Boundary(CELLS),
        _ if matches!(name, "dd" | "dt" | "ul" | "ol" | "button" | "object" | "head") => {
            Boundary(TABLE)
        }
        // What formats text does not end what holds blocks.
        _ => Boundary(ONLY_AROUND),
    }
}
