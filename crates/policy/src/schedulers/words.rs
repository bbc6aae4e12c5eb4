//! Where does a page's row note who said that it changed since its last visit?

use evercrawl_estimate::signal::{Deaf, SignalSource, TELLERS, Words};

use crate::kept::Kept;
use crate::page::{Days, Kind, Page};

/// Where it is noted after how long each teller's first word came; 0 where none did.
const PLACES: [usize; TELLERS] = [3, 5, 6];

/// The shortest time that is told from none: a tenth of a second.
const SHORTEST: Days = 1e-6;

/// All were listened to up to now.
pub(crate) const HEARD: Deaf = [0.0; TELLERS];

/// When the lists of a host were last read; without end before the first time, and for who calls by himself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read([Days; TELLERS]);

impl Default for Read {
    fn default() -> Self {
        Read([Days::INFINITY; TELLERS])
    }
}

impl Kept for Read {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(Read(Kept::read(from)?))
    }
}

impl Read {
    /// A list was read.
    pub(crate) fn note(&mut self, list: Kind, now: Days) {
        match list {
            Kind::Page => {}
            Kind::Sitemap => self.0[SignalSource::Sitemap as usize] = now,
            Kind::Feed => self.0[SignalSource::Feed as usize] = now,
        }
    }

    /// For how long nobody has listened at `now`.
    pub(crate) fn deaf(&self, now: Days) -> Deaf {
        self.0.map(|at| (now - at).max(0.0))
    }
}

/// Whether somebody would say so if `page` changed: of lists themselves nobody does.
pub(crate) fn are_due(page: &Page) -> bool {
    page.kind == Kind::Page
}

/// What was said of `page` since its last visit.
pub(crate) fn of(page: &Page) -> Words {
    PLACES.map(|place| f64::from(page.note[place]).max(0.0))
}

/// Whether anything was.
pub(crate) fn any(page: &Page) -> bool {
    PLACES.iter().any(|&place| page.note[place] > 0.0)
}

/// A word of `teller` came: the first since the last visit is noted, and true is returned.
pub(crate) fn note(page: &mut Page, signal_source: SignalSource, now: Days) -> bool {
    let place = &mut page.note[PLACES[signal_source as usize]];
    let after = now - page.last;
    let first = *place == 0.0 && after.is_finite();
    if first {
        *place = after.max(SHORTEST) as f32;
    }
    first
}

/// The page was visited: what was said is settled.
pub(crate) fn settle(page: &mut Page) {
    PLACES.iter().for_each(|&place| page.note[place] = 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_listens_to_a_list_after_it_was_read() {
        let mut read = Read::default();
        assert_eq!(read.deaf(50.0), HEARD, "nothing is known of it");
        read.note(Kind::Feed, 40.0);
        read.note(Kind::Page, 45.0);
        assert_eq!(read.deaf(50.0), [0.0, 10.0, 0.0]);
    }

    #[test]
    fn the_first_word_of_each_counts_until_the_next_visit() {
        let mut page = Page { last: 100.0, ..Page::new(0) };
        assert!(note(&mut page, SignalSource::Feed, 103.0));
        assert!(!note(&mut page, SignalSource::Feed, 105.0));
        assert!(note(&mut page, SignalSource::Push, 99.0));
        let [sitemap, feed, push] = of(&page);
        assert!(sitemap == 0.0 && feed == 3.0 && push > 0.0 && push < 1e-5);
        assert!(any(&page) && are_due(&page));
        assert!(!are_due(&Page { kind: Kind::Feed, ..page }));
        settle(&mut page);
        assert!(!any(&page));
        let mut never = Page::new(0);
        assert!(
            !note(&mut never, SignalSource::Sitemap, 5.0),
            "a page that was never visited is new anyway"
        );
    }
}
