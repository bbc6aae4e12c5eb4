//! What does a PDF say, and where does it lead? Its title, its text in reading order, and the addresses it links to.
//!
//! Written for files that nobody can trust: every object is looked up by scanning the file instead of believing its
//! tables, so that damaged files are read as far as they go, and all work is paid from one [`Budget`]. A file that
//! would cost more is read up to there.

mod ciphers;
mod cmap;
mod file;
mod filters;
mod fonts;
mod glyphs;
mod lexer;
mod lock;
mod pages;
mod text;

use self::file::File;
use crate::html::{HtmlOptions, HtmlPage, LinkKind, LinkPlace, LinkSink, LinkSources};
use crate::strings::read_text;

/// Why nothing was read from a PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is encrypted, and needs a password or AES-256.
    Encrypted,
    /// No page was found in it.
    Damaged,
    /// The reader failed on it: a mistake of ours.
    Failed,
}

impl Unreadable {
    /// What to tell of it.
    pub fn name(self) -> &'static str {
        match self {
            Unreadable::Encrypted => "encrypted",
            Unreadable::Damaged => "damaged",
            Unreadable::Failed => "the reader failed; please report this file",
        }
    }
}

/// What one file may cost.
pub(crate) struct Budget {
    /// Tokens and characters that may still be read.
    steps: u64,
    /// Bytes that streams may still be unpacked to.
    unpacked: usize,
}

/// Some seconds of work at the most: a book of a thousand pages takes a tenth of it.
const STEPS: u64 = 30_000_000;
/// The most memory that unpacked streams take.
const UNPACKED: usize = 48 << 20;

impl Budget {
    fn new() -> Self {
        Budget { steps: STEPS, unpacked: UNPACKED }
    }

    /// Pays for work; false once there is nothing left to pay with.
    pub(crate) fn pay(&mut self, steps: usize) -> bool {
        let steps = steps as u64;
        let enough = self.steps >= steps;
        self.steps = self.steps.saturating_sub(steps);
        enough
    }

    fn is_spent(&self) -> bool {
        self.steps == 0
    }
}

/// Reads a PDF into `page`.
pub(crate) fn read_pdf(
    bytes: &[u8],
    options: &HtmlOptions,
    page: &mut HtmlPage,
) -> Result<(), Unreadable> {
    page.clear();
    let mut file = File::open(bytes);
    if file.is_encrypted() {
        return Err(Unreadable::Encrypted);
    }
    let found = pages::list(&mut file);
    if found.is_empty() {
        return Err(Unreadable::Damaged);
    }
    page.title = file.title().map(|title| cut(&title, options.max_title));
    page.lang = file.language();
    for one in &found {
        page.text_cut |= text::read_page(&mut file, one, options.max_text, &mut page.text);
        let sink = &mut sink(&mut page.links, options, &mut page.links_cut);
        pages::links(&mut file, one, &mut |uri| sink.add(uri, LinkKind::Anchor, LinkPlace::Pdf));
        if page.text_cut || file.budget.is_spent() {
            page.text_cut = true;
            break;
        }
    }
    tidy(&mut page.text);
    if options.sources == LinkSources::All {
        let sink = &mut sink(&mut page.links, options, &mut page.links_cut);
        let mut found = |a: &str| sink.add(a, LinkKind::Mention, LinkPlace::Text);
        read_text(&page.text, true, &mut found);
    }
    Ok(())
}

fn sink<'a>(
    links: &'a mut crate::html::Links,
    options: &HtmlOptions,
    cut: &'a mut bool,
) -> LinkSink<'a> {
    LinkSink { links, max: options.max_links, cut }
}

fn cut(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

/// White space as pages have it: one space between words, one line end between lines.
fn tidy(text: &mut String) {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    *text = lines.join("\n");
}
