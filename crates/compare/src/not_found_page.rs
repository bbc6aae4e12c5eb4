//! Is this page only what its host shows for missing pages?
//!
//! Hosts that do not answer 404 show the same page for every wrong address, mostly with a word about the address in
//! it. A real page has enough words of its own.

use crate::outline::Outline;

/// Passages that are remembered; those with the lowest numbers, so that two texts choose alike.
const MAX_PASSAGES: usize = 96;
/// A real page has at least this many words of its own.
const MIN_OWN_WORDS: u32 = 15;

/// What a host shows in place of a page that it does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotFoundPage {
    /// The lowest numbers among its passages, in order.
    ids: Vec<u32>,
    words: u32,
}

impl NotFoundPage {
    /// Remembers a text.
    pub fn of_outline(outline: &Outline) -> Self {
        let ids = outline.ids().iter().copied().take(MAX_PASSAGES).collect();
        NotFoundPage { ids, words: outline.words() }
    }

    /// True when two texts differ by next to nothing.
    pub fn is_like(&self, outline: &Outline) -> bool {
        if self.words == 0 || outline.words() == 0 {
            return self.words == outline.words();
        }
        // Beyond the last number that is remembered, nothing is known.
        let last = self.ids.last().copied().filter(|_| self.ids.len() == MAX_PASSAGES);
        let knows = |id: u32| last.is_none_or(|last| id <= last);
        let own = |id: u32| knows(id) && self.ids.binary_search(&id).is_err();
        let passages = outline.passages().iter().filter(|passage| own(passage.id));
        let words: u32 = passages.map(|passage| passage.words).sum();
        let missing = self.ids.iter().filter(|&&id| !outline.contains(id)).count();
        words <= MIN_OWN_WORDS && missing * 2 <= self.ids.len()
    }

    /// As bytes, to be kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let ids = self.ids.iter().flat_map(|id| id.to_le_bytes());
        self.words.to_le_bytes().into_iter().chain(ids).collect()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave; whatever else it is given reads as something.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut numbers = bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four));
        let words = numbers.next().unwrap_or(0);
        let mut ids: Vec<u32> = numbers.take(MAX_PASSAGES).collect();
        ids.sort_unstable();
        NotFoundPage { ids, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: &str = "Home\nNews\nAbout us\nContact\nThe voice of the valley since 1954\n";

    fn not_found(path: &str) -> String {
        format!("{FRAME}Nothing here\nWe could not find {path} on this server.\nSearch again\n")
    }

    fn like(text: &str) -> bool {
        NotFoundPage::of_outline(&Outline::of_text(&not_found("/zq81")))
            .is_like(&Outline::of_text(text))
    }

    #[test]
    fn the_same_page_with_another_address_is_like_it() {
        assert!(like(&not_found("/zq81")));
        assert!(like(&not_found("/news/2026/the-mayor-resigns")));
        let curt = |path: &str| Outline::of_text(&format!("Home\nNo {path} here.\nSearch"));
        assert!(NotFoundPage::of_outline(&curt("/a")).is_like(&curt("/b/c")));
    }

    #[test]
    fn a_page_with_something_to_say_is_not() {
        let short = format!(
            "{FRAME}The mayor resigned today after twenty years in office, and \
                             her deputy takes over until the election in spring.\n"
        );
        assert!(!like(&short));
        assert!(!like("Something else altogether, and short"));
        assert!(!like(""));
    }

    #[test]
    fn long_pages_are_told_by_a_part_of_them() {
        let menu: String = (0..400).map(|n| format!("Entry number {n} of the menu\n")).collect();
        let stand_in =
            NotFoundPage::of_outline(&Outline::of_text(&format!("{menu}Not found: /a\n")));
        assert!(stand_in.is_like(&Outline::of_text(&format!("{menu}Not found: /b\n"))));
        let article: String =
            (0..60).map(|n| format!("Sentence {n} of a story that nobody has told.\n")).collect();
        assert!(!stand_in.is_like(&Outline::of_text(&format!("{menu}{article}"))));
    }

    #[test]
    fn it_round_trips() {
        let stand_in = NotFoundPage::of_outline(&Outline::of_text(&not_found("/a")));
        assert_eq!(NotFoundPage::from_bytes(&stand_in.to_bytes()), stand_in);
        assert_eq!(NotFoundPage::from_bytes(&[1, 2]), NotFoundPage::default());
    }
}
