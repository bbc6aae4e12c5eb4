//! Between which tags does a line of text stand? A hash of the blocks around it, by their names and classes.
//!
//! A page's places are compared between visits, and between pages of one template: so numbers in classes do not
//! count, nor what is inline. The markup is read as it is; an element that is never closed ends where its parent does,
//! or where another of its kind begins.

use super::names::{Attr, Name};
use super::start_tag::Attributes;

/// Deepest nesting that is followed.
const DEEPEST: usize = 64;
/// Elements around a line that count, and names of classes of each.
const LEVELS: usize = 6;
const CLASSES: usize = 2;

/// Where a line of the text begins, and between which tags it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// Its first byte in the text.
    pub start: u32,
    /// A hash of the blocks around it: 12 bits.
    pub path: u16,
    /// Whether it stands in a menu, footer, sidebar, advertisement or notice about cookies.
    pub aside: bool,
}

/// The open blocks.
#[derive(Default)]
pub(super) struct OpenBlocks(Vec<Block>);

#[derive(Clone, Copy)]
struct Block {
    /// A hash of its name.
    name: u64,
    /// A hash of its name and classes.
    marks: u64,
    aside: bool,
}

impl OpenBlocks {
    /// A block begins.
    pub(super) fn begin(&mut self, name: &Name, attributes: &Attributes<'_>) {
        name.with_bytes(|name| self.begin_named(name, attributes));
    }

    fn begin_named(&mut self, name: &[u8], attributes: &Attributes<'_>) {
        if matches!(name, b"br" | b"hr" | b"body" | b"html" | b"head") {
            return;
        }
        self.end_implied(name);
        if self.0.len() >= DEEPEST {
            return;
        }
        let hashed = hash(0, name);
        let mut block = Block {
            name: hashed,
            marks: hashed,
            aside: self.is_aside() || matches!(name, b"aside" | b"footer" | b"nav"),
        };
        let classes = attributes.get(Attr::Class).or_else(|| attributes.get(Attr::Id));
        for class in classes.unwrap_or_default().split_ascii_whitespace().take(CLASSES) {
            block.marks = hash(block.marks, class.as_bytes());
            block.aside |= is_name_of_aside(class);
        }
        self.0.push(block);
    }

    /// A block ends, and all that was opened in it.
    pub(super) fn end(&mut self, name: &Name) {
        let name = name.with_bytes(|name| hash(0, name));
        if let Some(at) = self.0.iter().rposition(|block| block.name == name) {
            self.0.truncate(at);
        }
    }

    /// Ends what cannot stay open where `name` begins: a paragraph, or an entry before another.
    fn end_implied(&mut self, name: &[u8]) {
        if self.0.last().is_some_and(|block| block.name == hash(0, b"p")) {
            self.0.pop();
        }
        let (ends, within): (&[&[u8]], &[&[u8]]) = match name {
            b"li" => (&[b"li"], &[b"ul", b"ol", b"menu"]),
            b"dt" | b"dd" => (&[b"dt", b"dd"], &[b"dl"]),
            b"td" | b"th" => (&[b"td", b"th"], &[b"tr", b"table"]),
            b"tr" => (&[b"tr"], &[b"table"]),
            b"tbody" | b"tfoot" => (&[b"thead", b"tbody"], &[b"table"]),
            b"option" => (&[b"option"], &[b"select"]),
            _ => return,
        };
        let among =
            |names: &[&[u8]], block: &Block| names.iter().any(|name| hash(0, name) == block.name);
        for (at, block) in self.0.iter().enumerate().rev() {
            if among(ends, block) {
                return self.0.truncate(at);
            }
            if among(within, block) {
                return;
            }
        }
    }

    fn is_aside(&self) -> bool {
        self.0.last().is_some_and(|block| block.aside)
    }

    /// The place of a line that begins here.
    pub(super) fn place(&self, start: usize) -> TextPlace {
        let levels = self.0.len().saturating_sub(LEVELS);
        let path = self.0[levels..].iter().fold(1_u64, |path, block| mix(path ^ block.marks));
        TextPlace {
            start: u32::try_from(start).unwrap_or(u32::MAX),
            path: (path >> 52) as u16,
            aside: self.is_aside(),
        }
    }
}

fn is_name_of_aside(class: &str) -> bool {
    let class = class.to_ascii_lowercase();
    let parts = || class.split(['-', '_']);
    class.contains("cookie")
        || class.contains("consent")
        || class.contains("advert")
        || parts().any(|part| matches!(part, "ad" | "ads" | "gdpr" | "footer" | "nav" | "navbar"))
}

/// A hash of a name without its digits, in either case.
fn hash(start: u64, name: &[u8]) -> u64 {
    let letters = name.iter().filter(|byte| !byte.is_ascii_digit());
    let folded = letters.fold(start ^ 0x9E37_79B9_7F4A_7C15, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01B3)
    });
    mix(folded)
}

fn mix(value: u64) -> u64 {
    let product = u128::from(value ^ 0x8EBC_6AF0_9C88_C6E3) * 0xD6E8_FEB8_6659_FD93;
    (product as u64) ^ (product >> 64) as u64
}
