//! Which signs do the pages of a site show together?

use std::collections::{BTreeMap, HashMap};

use xxhash_rust::xxh3::xxh3_64;

use crate::page_features::PageFeatures;
use crate::phrases::shingles;
use crate::sign::{Sign, SignKind};

/// The most things of a kind that are remembered of a site.
const MOST: usize = 20_000;
/// Fewer pages do not make a pattern.
const LEAST_PAGES: u32 = 4;
/// Fewer classes are no template.
const LEAST_CLASSES: usize = 5;
/// One in this many runs of words is counted: always the same ones.
const SAMPLED: u64 = 4;

/// What was seen of a site's pages so far.
#[derive(Clone, Debug, Default)]
pub struct SiteFeatures {
    pages: u32,
    /// On how many pages each run of words occurs.
    runs: HashMap<u64, u32>,
    /// On how many pages each class of elements occurs.
    classes: BTreeMap<u64, u32>,
    /// For each page: its runs of words, and how many there would be with those of menus and lists.
    texts: Vec<(Vec<u64>, usize)>,
}

impl SiteFeatures {
    /// Adds a page.
    pub fn add(&mut self, features: &PageFeatures) {
        self.pages += 1;
        for class in &features.classes {
            if self.classes.len() < MOST || self.classes.contains_key(class) {
                *self.classes.entry(*class).or_default() += 1;
            }
        }
        let runs = sampled(&features.text, true);
        if self.runs.len() + runs.len() <= MOST {
            runs.iter().for_each(|&run| *self.runs.entry(run).or_default() += 1);
            self.texts.push((runs, sampled(&features.text, false).len()));
        }
    }

    /// The template that its pages are made from, as a hash of what most of them have in common; `None` where
    /// that is too little to tell one from another.
    pub fn template(&self) -> Option<u64> {
        let usual = self.pages.div_ceil(2);
        let common = self.classes.iter().filter(|(_, count)| **count >= usual);
        let bytes: Vec<u8> = common.flat_map(|(class, _)| class.to_le_bytes()).collect();
        (bytes.len() >= 8 * LEAST_CLASSES).then(|| xxh3_64(&bytes))
    }

    /// All signs that its pages show together.
    pub fn signs(&self) -> Vec<Sign> {
        if self.pages < LEAST_PAGES {
            return Vec::new();
        }
        self.generated().into_iter().collect()
    }

    /// Nearly all words of nearly all pages also occur on the others.
    fn generated(&self) -> Option<Sign> {
        let usual = (self.texts.len() as u32).div_ceil(2);
        let is_shared = |run: &&u64| self.runs.get(run).is_some_and(|count| *count >= usual);
        let long = self.texts.iter().filter(|(runs, _)| runs.len() >= 8);
        let shared = |runs: &[u64]| runs.iter().filter(is_shared).count() as f64;
        let mut shares: Vec<f64> =
            long.map(|(runs, all)| shared(runs) / runs.len().max(*all) as f64).collect();
        shares.sort_by(f64::total_cmp);
        let median = *shares.get(shares.len() / 2)?;
        let evidence = format!(
            "on the median page {:.0} % of the text is that of most of the other {} pages",
            100.0 * median,
            self.pages - 1
        );
        (shares.len() as u32 >= LEAST_PAGES)
            .then(|| Sign::measured(SignKind::Generated, median, 0.70, 0.90, evidence))
    }
}

/// A fixed sample of the runs of words of a text, each once.
fn sampled(text: &str, only_running: bool) -> Vec<u64> {
    let mut runs = shingles(text, only_running);
    runs.retain(|run| run % SAMPLED == 0);
    runs.sort_unstable();
    runs.dedup();
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(page: impl Fn(u32) -> String) -> Vec<Sign> {
        let mut site = SiteFeatures::default();
        for number in 0..20 {
            site.add(&PageFeatures::of_html(&page(number)));
        }
        site.signs()
    }

    fn surest(signs: &[Sign], kind: SignKind) -> f64 {
        signs.iter().filter(|sign| sign.kind == kind).map(|sign| sign.score).fold(0.0, f64::max)
    }

    /// Other words for every page.
    fn prose(number: u32) -> String {
        (0..200).map(|word| format!("w{} ", (word * 7919 + number * 104_729) % 9973)).collect()
    }

    #[test]
    fn one_text_with_words_exchanged_is_no_site() {
        let template = prose(99);
        let signs = site(|number| format!("<p>{template} in town{number} today {template}"));
        assert!(surest(&signs, SignKind::Generated) > 0.9, "{signs:?}");
        let signs =
            site(|number| format!("<nav>home news contact about us</nav>{}", prose(number)));
        assert!(surest(&signs, SignKind::Generated) < 0.1, "{signs:?}");
    }

    #[test]
    fn a_template_is_what_most_pages_have_in_common() {
        let template = |words: &str, odd: u32| {
            let mut site = SiteFeatures::default();
            for number in 0..6 {
                let own = if number < odd { format!("<p class=x{number}>") } else { String::new() };
                site.add(&PageFeatures::of_html(&format!("<div class='{words}'>{own}")));
            }
            site.template()
        };
        let one = template("top nav main side foot", 0);
        assert!(one.is_some() && one == template("foot side main nav top", 2));
        assert!(one != template("top nav main side end", 0));
        assert_eq!(template("top nav", 0), None);
    }

    #[test]
    fn few_pages_show_nothing() {
        let mut site = SiteFeatures::default();
        site.add(&PageFeatures::default());
        assert!(site.signs().is_empty());
    }
}
