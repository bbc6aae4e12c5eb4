//! On which pages does every difference count, noise too?
//!
//! The user names them, by pattern or by tag: where somebody must hear of each word, nothing is left out that
//! the crawl would take for a clock or an advertisement.

use std::collections::HashMap;

use evercrawl_state::{PageRow, Store, View};
use evercrawl_urls::{Patterns, RuleError};

use crate::EngineError;

/// What an item begins with that names a tag.
const TAG: &str = "tag:";

/// Pages on which nothing is masked.
#[derive(Debug)]
pub struct Unmasked {
    patterns: Patterns,
    tags: Vec<String>,
    /// Sets of tags that were asked about.
    known: HashMap<u32, bool>,
}

impl Unmasked {
    /// Reads the items of the setting: patterns of URLs, and `tag:NAME`.
    pub fn new(items: &[String]) -> Result<Self, RuleError> {
        let (tags, patterns): (Vec<String>, Vec<String>) =
            items.iter().cloned().partition(|item| item.starts_with(TAG));
        let tags = tags.into_iter().map(|tag| tag[TAG.len()..].to_owned()).collect();
        let patterns = Patterns::new("compare.noise_off", &patterns)?;
        Ok(Unmasked { patterns, tags, known: HashMap::new() })
    }

    /// Whether nothing is masked on a page.
    pub fn covers<S: Store>(&mut self, view: &View<S>, row: &PageRow) -> Result<bool, EngineError> {
        Ok(self.patterns.is_match(&row.url) || self.has_tag(view, row.tags)?)
    }

    fn has_tag<S: Store>(&mut self, view: &View<S>, set: u32) -> Result<bool, EngineError> {
        if set == 0 || self.tags.is_empty() {
            return Ok(false);
        }
        if let Some(known) = self.known.get(&set) {
            return Ok(*known);
        }
        let tags = &self.tags;
        let named = |set: &String| set.split_whitespace().any(|tag| tags.iter().any(|t| t == tag));
        self.known = view.tag_sets()?.iter().map(|(set, tags)| (*set, named(tags))).collect();
        Ok(self.known.get(&set).copied().unwrap_or(false))
    }
}
