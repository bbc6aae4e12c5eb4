//! Of which blocks is a part of a page made? Headings, paragraphs, items, quotes, code, rows of tables.
//!
//! One pass over the tags. A block ends where an element begins or ends that starts a new line.

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading of a level from 1 to 6.
    Heading(u8),
    /// Plain text.
    Paragraph,
    /// An item of a list, so many lists deep, with its number where the list has numbers.
    Item {
        /// 1 for an item of an outer list.
        depth: u8,
        /// Its number.
        number: Option<u32>,
    },
    /// A quotation.
    Quote,
    /// Code, in a language that is perhaps named.
    Code(Option<String>),
    /// A row of a table.
    Row {
        /// The cells, in Markdown.
        cells: Vec<String>,
        /// Whether it heads the table.
        is_head: bool,
    },
}

/// A link in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: String,
    /// Its words.
    pub text: String,
}

/// A part of a text that stands on lines of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its words, one space apart; code as it is.
    pub text: String,
    /// The same with links and emphasis in Markdown.
    pub markdown: String,
    /// Its links.
    pub links: Vec<Link>,
    /// Bytes of its text that are in links.
    pub linked: usize,
    /// The part of the page that it stands in.
    pub(crate) part: u32,
}

impl Block {
    /// What tells its words from others.
    pub fn id(&self) -> u64 {
        xxh3_64(self.text.as_bytes())
    }
}

/// The most blocks, and the most links of a block.
const MOST_BLOCKS: usize = 50_000;
const MOST_LINKS: usize = 1000;

/// Reads HTML as blocks.
#[cfg(test)]
pub(crate) fn read(html: &str) -> Vec<Block> {
    use html5gum::{Token, Tokenizer};
    let mut reader = BlockReader::default();
    for Ok(token) in Tokenizer::new(html) {
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let attribute = |name: &[u8]| {
                    let value = tag.attributes.get(name)?;
                    Some(String::from_utf8_lossy(value).into_owned())
                };
                reader.start(&name, &attribute);
            }
            Token::EndTag(tag) => reader.end(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text)),
            _ => {}
        }
    }
    reader.finish_block();
    reader.blocks
}

/// The paragraphs of a plain text: what stands between empty lines.
pub(crate) fn of_plain(text: &str) -> Vec<Block> {
    let text = text.replace("\r\n", "\n");
    let paragraphs = text.split("\n\n").map(|text| {
        let mut markdown = String::new();
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        push_escaped(&text, &mut markdown);
        Block { kind: BlockKind::Paragraph, text, markdown, links: Vec::new(), linked: 0, part: 0 }
    });
    paragraphs.filter(|block| !block.text.is_empty()).take(MOST_BLOCKS).collect()
}

/// A list that is open.
struct List {
    /// The number of the next item, where it has numbers.
    next: Option<u32>,
}

/// A link that is open.
struct OpenLink {
    url: String,
    text_at: usize,
    markdown_at: usize,
}

/// Reads tags and text as blocks.
#[derive(Default)]
pub(crate) struct BlockReader {
    pub(crate) blocks: Vec<Block>,
    /// The part of the page that what comes stands in.
    pub(crate) part: u32,
    /// What addresses are relative to.
    base: Option<Url>,
    text: String,
    markdown: String,
    links: Vec<Link>,
    linked: usize,
    kind: Option<BlockKind>,
    lists: Vec<List>,
    quotes: u32,
    /// Whether text is code, kept as it is.
    in_code: bool,
    /// How deep in elements without text for readers.
    hidden: u32,
    link: Option<OpenLink>,
    /// The row that is open: the cells so far, and whether all of them head the table.
    row: Option<(Vec<String>, Vec<String>, bool)>,
    /// Where emphasis began in the Markdown.
    marks: Vec<(&'static str, usize)>,
}

fn is_hidden(name: &str) -> bool {
    matches!(
        name,
        "script" | "style" | "template" | "noscript" | "svg" | "iframe" | "object" | "title"
    )
}

fn heading(name: &str) -> Option<u8> {
    let level = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}

fn starts_line(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "section"
            | "article"
            | "main"
            | "header"
            | "footer"
            | "figure"
            | "figcaption"
            | "aside"
            | "address"
            | "details"
            | "summary"
            | "dl"
            | "dt"
            | "dd"
            | "table"
            | "thead"
            | "tbody"
            | "tfoot"
            | "caption"
            | "hr"
            | "form"
            | "fieldset"
            | "nav"
            | "body"
            | "html"
            | "center"
    )
}

/// Whether an element stands in tables that only lay out a page.
fn is_no_cell(name: &str) -> bool {
    matches!(name, "ul" | "ol" | "blockquote" | "pre" | "table" | "article" | "section" | "main")
}

/// A cell that has so many bytes before a paragraph begins lays out a page.
const LONG_CELL: usize = 100;

fn emphasis(name: &str) -> Option<&'static str> {
    match name {
        "strong" | "b" => Some("**"),
        "em" | "i" => Some("*"),
        "code" | "kbd" | "samp" | "tt" => Some("`"),
        "del" | "s" => Some("~~"),
        _ => None,
    }
}

impl BlockReader {
    /// A reader for the page at `base`.
    pub(crate) fn at(base: Option<Url>) -> Self {
        BlockReader { base, ..BlockReader::default() }
    }

    /// Words before and after something that is left out are two words.
    pub(crate) fn separate(&mut self) {
        if !self.in_code {
            self.space();
        }
    }

    /// Whether no more blocks are wanted.
    pub(crate) fn is_full(&self) -> bool {
        self.blocks.len() >= MOST_BLOCKS
    }

    fn absolute(&self, url: Option<String>) -> Option<String> {
        let url = url?;
        match &self.base {
            Some(base) => base.join(url.trim()).ok().map(String::from),
            None => Some(url),
        }
    }

    pub(crate) fn start(&mut self, name: &str, attribute: &dyn Fn(&[u8]) -> Option<String>) {
        if is_hidden(name) {
            self.hidden += 1;
            return;
        }
        if heading(name).is_some()
            || is_no_cell(name)
            || name == "p" && self.text.len() >= LONG_CELL
        {
            self.break_row();
        }
        if let Some(level) = heading(name) {
            return self.begin(BlockKind::Heading(level));
        }
        match name {
            "ul" | "ol" => self.start_list(name, attribute),
            "li" => self.start_item(),
            "blockquote" => {
                self.finish_block();
                self.quotes += 1;
            }
            "pre" => {
                let language = attribute(b"class").and_then(|class| language_in(&class));
                self.begin(BlockKind::Code(language));
                self.in_code = true;
            }
            "code" if self.in_code => {
                let language = attribute(b"class").and_then(|class| language_in(&class));
                if let (Some(BlockKind::Code(named @ None)), true) =
                    (&mut self.kind, self.text.is_empty())
                {
                    *named = language;
                }
            }
            "tr" => {
                self.finish_block();
                self.row = Some((Vec::new(), Vec::new(), true));
            }
            "td" | "th" => self.start_cell(name == "th"),
            "br" => self.line_break(),
            "a" => self.start_link(attribute(b"href")),
            "img" => {
                if let Some(words) = attribute(b"alt").filter(|_| self.link.is_none()) {
                    self.image(words.trim(), attribute(b"src"));
                }
            }
            _ if starts_line(name) && self.row.is_none() => self.finish_block(),
            _ if starts_line(name) => self.space(),
            _ => self.start_mark(name),
        }
    }

    pub(crate) fn end(&mut self, name: &str) {
        if is_hidden(name) {
            self.hidden = self.hidden.saturating_sub(1);
            return;
        }
        match name {
            "ul" | "ol" => {
                self.finish_block();
                self.lists.pop();
            }
            "blockquote" => {
                self.finish_block();
                self.quotes = self.quotes.saturating_sub(1);
            }
            "pre" => {
                self.finish_block();
                self.in_code = false;
            }
            "td" | "th" => self.finish_cell(),
            "tr" => self.finish_row(),
            "a" => self.finish_link(),
            "li" => self.finish_block(),
            _ if heading(name).is_some() => self.finish_block(),
            _ if starts_line(name) && self.row.is_none() => self.finish_block(),
            _ if starts_line(name) => self.space(),
            _ => self.end_mark(name),
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        if self.hidden > 0 {
            return;
        }
        if self.in_code {
            self.text.push_str(text);
            return;
        }
        for (n, word) in text.split(char::is_whitespace).enumerate() {
            if n > 0 {
                self.space();
            }
            self.text.push_str(word);
            push_escaped(word, &mut self.markdown);
        }
    }

    /// One space between words, unless there is one.
    fn space(&mut self) {
        for out in [&mut self.text, &mut self.markdown] {
            if !out.is_empty() && !out.ends_with([' ', '\n']) {
                out.push(' ');
            }
        }
    }

    fn line_break(&mut self) {
        match self.in_code {
            true => self.text.push('\n'),
            // Lines of an address or a poem are blocks to a reader.
            false if self.row.is_none() && self.link.is_none() => {
                let kind = self.kind.clone();
                self.finish_block();
                self.kind = kind.filter(|kind| !matches!(kind, BlockKind::Item { .. }));
            }
            false => self.space(),
        }
    }

    /// Ends what was open, and begins a block.
    fn begin(&mut self, kind: BlockKind) {
        if self.row.is_none() {
            self.finish_block();
            self.kind = Some(kind);
        }
    }

    fn start_list(&mut self, name: &str, attribute: &dyn Fn(&[u8]) -> Option<String>) {
        self.finish_block();
        let first = attribute(b"start").and_then(|start| start.parse().ok()).unwrap_or(1);
        self.lists.push(List { next: (name == "ol").then_some(first) });
    }

    fn start_item(&mut self) {
        self.finish_block();
        let depth = u8::try_from(self.lists.len().max(1)).unwrap_or(u8::MAX);
        let number = self.lists.last_mut().and_then(|list| {
            let number = list.next;
            list.next = number.map(|number| number.saturating_add(1));
            number
        });
        self.begin(BlockKind::Item { depth, number });
    }

    fn start_cell(&mut self, is_head: bool) {
        self.finish_cell();
        if let Some((_, _, all_head)) = &mut self.row {
            *all_head &= is_head;
        }
    }

    /// The table lays out a page: its cells so far are paragraphs, and so is what is to come.
    fn break_row(&mut self) {
        let Some((cells, texts, _)) = self.row.take() else { return };
        for (markdown, text) in cells.into_iter().zip(texts) {
            self.blocks.push(Block {
                kind: BlockKind::Paragraph,
                // Which of them holds the links is not known any more.
                linked: if self.linked >= text.len() { text.len() } else { 0 },
                text,
                markdown,
                links: Vec::new(),
                part: self.part,
            });
        }
        self.finish_block();
    }

    fn finish_cell(&mut self) {
        if self.row.is_none() {
            return self.finish_block();
        }
        self.finish_link();
        self.marks.clear();
        let text = std::mem::take(&mut self.text);
        let markdown = std::mem::take(&mut self.markdown);
        match &mut self.row {
            Some((cells, texts, _)) if !text.trim().is_empty() => {
                cells.push(markdown.trim().to_owned());
                texts.push(text.trim().to_owned());
            }
            _ => {}
        }
    }

    fn finish_row(&mut self) {
        self.finish_cell();
        let Some((cells, texts, is_head)) = self.row.take() else { return };
        let (links, linked) = (std::mem::take(&mut self.links), std::mem::take(&mut self.linked));
        if cells.is_empty() {
            return;
        }
        let markdown = cells.join(" ");
        let kind = match cells.len() {
            // A table of one column is a layout.
            1 => BlockKind::Paragraph,
            _ => BlockKind::Row { cells, is_head },
        };
        self.blocks.push(Block {
            kind,
            text: texts.join(" "),
            markdown,
            links,
            linked,
            part: self.part,
        });
    }

    fn start_link(&mut self, url: Option<String>) {
        self.finish_link();
        let url = self.absolute(url).unwrap_or_default();
        self.link =
            Some(OpenLink { url, text_at: self.text.len(), markdown_at: self.markdown.len() });
    }

    fn finish_link(&mut self) {
        let Some(link) = self.link.take() else { return };
        let words = self.text.get(link.text_at..).unwrap_or_default().trim().to_owned();
        self.linked += words.len();
        let leads = link.url.starts_with("http://") || link.url.starts_with("https://");
        if words.is_empty() || !leads || self.links.len() >= MOST_LINKS {
            return;
        }
        if !self.in_code && self.markdown.len() > link.markdown_at {
            let inner = self.markdown.split_off(link.markdown_at);
            let (before, after) = spaces_around(&inner);
            let url = link.url.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
            self.markdown.push_str(&format!("{before}[{}]({url}){after}", inner.trim()));
            // What began inside the link ended with it.
            self.marks.retain(|(_, at)| *at <= link.markdown_at);
        }
        self.links.push(Link { url: link.url, text: words });
    }

    fn image(&mut self, words: &str, url: Option<String>) {
        let url = self.absolute(url);
        let Some(url) = url.filter(|url| url.starts_with("http") && !words.is_empty()) else {
            return;
        };
        if !self.in_code && self.hidden == 0 {
            self.space();
            let url = url.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
            let mut escaped = String::new();
            push_escaped(words, &mut escaped);
            self.markdown.push_str(&format!("![{escaped}]({url}) "));
        }
    }

    fn start_mark(&mut self, name: &str) {
        if let Some(mark) = emphasis(name).filter(|_| !self.in_code) {
            self.marks.push((mark, self.markdown.len()));
        }
    }

    /// Puts marks around what was emphasised; spaces stay outside.
    fn end_mark(&mut self, name: &str) {
        let Some(mark) = emphasis(name).filter(|_| !self.in_code) else { return };
        let Some(place) = self.marks.iter().rposition(|(open, _)| *open == mark) else { return };
        let (_, at) = self.marks.remove(place);
        if at >= self.markdown.len() {
            return;
        }
        let inner = self.markdown.split_off(at);
        let (before, after) = spaces_around(&inner);
        let words =
            if mark == "`" { inner.trim().replace('\\', "") } else { inner.trim().to_owned() };
        match words.is_empty() || words.contains(mark) {
            true => self.markdown.push_str(&inner),
            false => self.markdown.push_str(&format!("{before}{mark}{words}{mark}{after}")),
        }
    }

    /// Ends the block that is open; empty ones are dropped.
    pub(crate) fn finish_block(&mut self) {
        if self.row.is_some() {
            return self.space();
        }
        self.finish_link();
        self.marks.clear();
        let kind = self.kind.take();
        let text = std::mem::take(&mut self.text);
        let markdown = std::mem::take(&mut self.markdown);
        let (links, linked) = (std::mem::take(&mut self.links), std::mem::take(&mut self.linked));
        let is_code = matches!(kind, Some(BlockKind::Code(_)));
        let text = if is_code { text.trim_matches('\n').trim_end() } else { text.trim() };
        if text.is_empty() && !markdown.contains("![") {
            // A list item may begin with a paragraph of its own.
            self.kind = kind.filter(|kind| matches!(kind, BlockKind::Item { .. }));
            return;
        }
        let kind =
            kind.unwrap_or(if self.quotes > 0 { BlockKind::Quote } else { BlockKind::Paragraph });
        let markdown = if is_code { text.to_owned() } else { markdown.trim().to_owned() };
        self.blocks.push(Block {
            kind,
            text: text.to_owned(),
            markdown,
            links,
            linked,
            part: self.part,
        });
    }
}

/// The white space before and after words.
fn spaces_around(text: &str) -> (&'static str, &'static str) {
    let space = |is_there: bool| if is_there { " " } else { "" };
    (space(text.starts_with(' ')), space(text.ends_with(' ')))
}

/// Adds a word; characters that mean something in Markdown are escaped.
fn push_escaped(word: &str, out: &mut String) {
    for c in word.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
}

/// `rust` of `highlight language-rust`.
fn language_in(class: &str) -> Option<String> {
    let word = class.split_whitespace().find_map(|word| {
        ["language-", "lang-", "highlight-source-", "brush:"]
            .iter()
            .find_map(|start| word.strip_prefix(start))
    })?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_');
    (!word.is_empty() && word.len() < 30 && word.chars().all(is_name)).then(|| word.to_owned())
}

#[cfg(test)]
mod tests;
