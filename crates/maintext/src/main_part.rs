//! Which part of a page holds what it says? Told by how text is spread over its elements.
//!
//! A part is an element that groups others. If an element is marked as the text of an article, or as the main one, and
//! says enough, the search begins there. Then it goes down as long as one part inside holds nearly all long texts, for
//! what is beside it are menus, teasers and boxes.

use crate::blocks::{Block, BlockKind};

/// The least bytes of a block that is more than a label.
const LONG: usize = 60;
/// The share of a text in links from which on it is a menu.
const MENU: f64 = 0.33;
/// The least bytes of a short paragraph that says something, and how many blocks behind the last long text it may be.
const LEAST_SENTENCE: usize = 30;
const LAST_WORDS: usize = 6;
/// The least bytes of long texts in a marked element that is believed.
const LEAST: usize = 250;
/// The share of long texts that a marked element must have to be believed, of what stands around it.
const MARKED: f64 = 0.25;
/// The share of long texts that a part must have to be gone down to.
const NEARLY_ALL: f64 = 0.75;

/// The parts of a page.
#[derive(Debug)]
pub(crate) struct MainParts {
    parts: Vec<Part>,
    /// Parts that are open.
    open: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    parent: u32,
    /// How sure it is that it is the main part, by its name and classes.
    level: u8,
    /// The same for parts with the same element and classes.
    look: u64,
    /// Bytes of long texts in it, and of those that stand in none of its parts.
    said: usize,
    own: usize,
}

impl Default for MainParts {
    fn default() -> Self {
        MainParts { parts: vec![Part::default()], open: Vec::new() }
    }
}

/// A block or link that is hardly more than a link.
fn share_in_links(block: &Block) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a share of a text")]
    let share = block.linked as f64 / block.text.len().max(1) as f64;
    share
}

fn is_long(block: &Block) -> bool {
    let is_text = block.text.len() >= LONG && !matches!(block.kind, BlockKind::Heading(_));
    (is_text || matches!(block.kind, BlockKind::Code(_))) && share_in_links(block) < MENU
}

/// A short paragraph that says something.
fn is_sentence(block: &Block) -> bool {
    let ends = block.text.trim_end().ends_with(['.', '!', '?', '。', '！', '？', '।', '؟']);
    let is_text = matches!(block.kind, BlockKind::Paragraph | BlockKind::Quote);
    is_text && ends && block.text.len() >= LEAST_SENTENCE && share_in_links(block) < 0.6
}

fn share(part: usize, of: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a share of a text")]
    let share = part as f64 / of.max(1) as f64;
    share
}

impl MainParts {
    /// A part begins.
    pub(crate) fn start(&mut self, level: u8, look: u64) {
        let parent = self.current();
        self.open.push(u32::try_from(self.parts.len()).unwrap_or(0));
        self.parts.push(Part { parent, level, look, ..Part::default() });
    }

    /// The part that is open ends.
    pub(crate) fn end(&mut self) {
        self.open.pop();
    }

    /// The part that is open.
    pub(crate) fn current(&self) -> u32 {
        self.open.last().copied().unwrap_or(0)
    }

    /// Whether a part is open that is marked as the main one.
    pub(crate) fn is_in_main(&self) -> bool {
        self.open.iter().any(|part| self.at(*part).level > 0)
    }

    fn at(&self, part: u32) -> Part {
        self.parts.get(part as usize).copied().unwrap_or_default()
    }

    /// The blocks of the main part.
    pub(crate) fn choose(mut self, blocks: Vec<Block>) -> Vec<Block> {
        self.weigh(&blocks);
        let marked = self.marked();
        let start = marked.unwrap_or(0);
        let chosen = self.descend(start);
        let inside = self.inside(chosen);
        let chosen: Vec<Block> =
            blocks.into_iter().filter(|block| inside[block.part as usize]).collect();
        match marked {
            Some(_) => chosen,
            None => between_long_texts(chosen),
        }
    }

    /// Adds up what is said in each part. A part comes after the one that it is in.
    fn weigh(&mut self, blocks: &[Block]) {
        for block in blocks.iter().filter(|block| is_long(block)) {
            if let Some(part) = self.parts.get_mut(block.part as usize) {
                part.own += block.text.len();
            }
        }
        for part in (0..self.parts.len()).rev() {
            let Part { parent, own, .. } = self.parts[part];
            self.parts[part].said += own;
            let said = self.parts[part].said;
            if part > 0 {
                self.parts[parent as usize].said += said;
            }
        }
    }

    /// The part that is marked as the main one and says enough: what holds all of them, where there are several.
    fn marked(&self) -> Option<u32> {
        let all = self.at(0).said;
        for level in [2, 1] {
            let tops = self.outermost(level);
            let said = |part: &u32| self.at(*part).said;
            let sum: usize = tops.iter().map(said).sum();
            let Some(largest) = tops.iter().copied().max_by_key(said) else { continue };
            let part = share(sum, all);
            if part < MARKED || sum < LEAST && part < 0.6 {
                continue;
            }
            // One article among teasers of others, or a thread whose parts are alike.
            let most = if level == 1 { 0.6 } else { 0.5 };
            return Some(match share(said(&largest), sum) >= most {
                true => largest,
                false => self.common_part(&tops),
            });
        }
        None
    }

    /// The parts of a level that say something, without those in others of that level.
    fn outermost(&self, level: u8) -> Vec<u32> {
        let mut tops = Vec::new();
        // Whether a part, or one that it is in, is of the level; a part comes after the one that it is in.
        let mut within = vec![false; self.parts.len()];
        for (number, part) in (0_u32..).zip(&self.parts) {
            let is_inner = number > 0 && within[part.parent as usize];
            within[number as usize] = is_inner || part.level == level;
            if part.level == level && !is_inner && part.said > 0 {
                tops.push(number);
            }
        }
        tops
    }

    /// The smallest part that holds all of some.
    fn common_part(&self, some: &[u32]) -> u32 {
        let path = |mut part: u32| {
            let mut path = vec![part];
            while part > 0 {
                part = self.at(part).parent;
                path.push(part);
            }
            path.reverse();
            path
        };
        let mut common = some.first().map_or_else(Vec::new, |part| path(*part));
        for part in some {
            let other = path(*part);
            let same = common.iter().zip(&other).take_while(|(one, next)| one == next).count();
            common.truncate(same);
        }
        common.last().copied().unwrap_or(0)
    }

    /// Goes down while one part inside holds nearly all.
    fn descend(&self, start: u32) -> u32 {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.parts.len()];
        for (number, part) in (0_u32..).zip(&self.parts).skip(1) {
            if part.said > 0 {
                children[part.parent as usize].push(number);
            }
        }
        let mut part = start;
        loop {
            let here = self.at(part);
            let said = |child: &u32| self.at(*child).said;
            let Some(next) = children[part as usize].iter().copied().max_by_key(said) else {
                return part;
            };
            // Text of its own beside the part inside belongs to it, and so do parts that look like that one.
            let is_all = share(said(&next), here.said) >= NEARLY_ALL && here.own == 0;
            let is_one_of_many = children[part as usize]
                .iter()
                .any(|other| *other != next && self.at(*other).look == self.at(next).look);
            if !is_all || is_one_of_many || self.at(next).said < LEAST {
                return part;
            }
            part = next;
        }
    }

    /// Which parts are in a part, itself included.
    fn inside(&self, chosen: u32) -> Vec<bool> {
        let mut inside = vec![false; self.parts.len()];
        for part in 0..self.parts.len() {
            let parent = self.parts[part].parent as usize;
            inside[part] = part == chosen as usize || part > 0 && inside[parent];
        }
        inside
    }
}

/// All from the first long text to the last, with the headings that lead to the first.
fn between_long_texts(blocks: Vec<Block>) -> Vec<Block> {
    let Some(first) = blocks.iter().position(is_long) else { return blocks };
    let mut last = blocks.iter().rposition(is_long).unwrap_or(first);
    // A table or list may end a text.
    let is_rest = |block: &Block| {
        matches!(block.kind, BlockKind::Row { .. } | BlockKind::Item { .. })
            && share_in_links(block) < MENU
    };
    last += blocks[last + 1..].iter().take_while(|block| is_rest(block)).count();
    // So may short paragraphs, as long as they are sentences.
    let behind = &blocks[last + 1..blocks.len().min(last + 1 + LAST_WORDS)];
    last += behind.iter().rposition(is_sentence).map_or(0, |at| at + 1);
    // What leads to the first text: its headings, and labels between them.
    let before = blocks[..first].iter().rposition(|block| share_in_links(block) >= MENU);
    let heading =
        blocks[..first].iter().position(|block| matches!(block.kind, BlockKind::Heading(_)));
    let start = heading.unwrap_or(first).max(before.map_or(0, |at| at + 1)).min(first);
    blocks.into_iter().take(last + 1).skip(start).collect()
}
