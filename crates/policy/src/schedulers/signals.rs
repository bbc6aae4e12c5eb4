//! How does a page's row record the signals since its last visit?

use evercrawl_estimate::signal::{FirstSignals, SIGNAL_SOURCES, SignalSource, UnreadTimes};

use crate::page::{Days, Page, PageKind};
use crate::persist::Persist;

/// Where the time of each source's first signal is noted; 0 if there was none.
const PLACES: [usize; SIGNAL_SOURCES] = [3, 5, 6];

/// The shortest time distinguished from 0: a tenth of a second.
const SHORTEST: Days = 1e-6;

/// All lists were read just now.
pub(crate) const HEARD: UnreadTimes = [0.0; SIGNAL_SOURCES];

/// When the lists of a host were last read; infinite before the first time, and for pushed signals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListReads([Days; SIGNAL_SOURCES]);

impl Default for ListReads {
    fn default() -> Self {
        ListReads([Days::INFINITY; SIGNAL_SOURCES])
    }
}

impl Persist for ListReads {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(ListReads(Persist::read(from)?))
    }
}

impl ListReads {
    /// Records that a list was read.
    pub(crate) fn record_read(&mut self, list: PageKind, now: Days) {
        match list {
            PageKind::Page => {}
            PageKind::Sitemap => self.0[SignalSource::Sitemap as usize] = now,
            PageKind::Feed => self.0[SignalSource::Feed as usize] = now,
        }
    }

    /// For how long each source was not read, at `now`.
    pub(crate) fn read_times(&self, now: Days) -> UnreadTimes {
        self.0.map(|at| (now - at).max(0.0))
    }
}

/// Whether a change of `page` should raise a signal: not for sitemaps and feeds themselves.
pub(crate) fn has_due_signal(page: &Page) -> bool {
    page.kind == PageKind::Page
}

/// The signals about `page` since its last visit.
pub(crate) fn signals_of(page: &Page) -> FirstSignals {
    PLACES.map(|place| f64::from(page.note[place]).max(0.0))
}

/// Whether there was any signal since the last visit.
pub(crate) fn has_signal(page: &Page) -> bool {
    PLACES.iter().any(|&place| page.note[place] > 0.0)
}

/// Records a signal. Returns true for the first one of its source since the last visit.
pub(crate) fn note(page: &mut Page, signal_source: SignalSource, now: Days) -> bool {
    let place = &mut page.note[PLACES[signal_source as usize]];
    let after = now - page.last;
    let first = *place == 0.0 && after.is_finite();
    if first {
        *place = after.max(SHORTEST) as f32;
    }
    first
}

/// Clears the signals after a visit.
pub(crate) fn clear_signals(page: &mut Page) {
    PLACES.iter().for_each(|&place| page.note[place] = 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_listens_to_a_list_after_it_was_read() {
        let mut read = ListReads::default();
        assert_eq!(read.read_times(50.0), HEARD, "nothing is known of it");
        read.record_read(PageKind::Feed, 40.0);
        read.record_read(PageKind::Page, 45.0);
        assert_eq!(read.read_times(50.0), [0.0, 10.0, 0.0]);
    }

    #[test]
    fn the_first_word_of_each_counts_until_the_next_visit() {
        let mut page = Page { last: 100.0, ..Page::new(0) };
        assert!(note(&mut page, SignalSource::Feed, 103.0));
        assert!(!note(&mut page, SignalSource::Feed, 105.0));
        assert!(note(&mut page, SignalSource::Push, 99.0));
        let [sitemap, feed, push] = signals_of(&page);
        assert!(sitemap == 0.0 && feed == 3.0 && push > 0.0 && push < 1e-5);
        assert!(has_signal(&page) && has_due_signal(&page));
        assert!(!has_due_signal(&Page { kind: PageKind::Feed, ..page }));
        clear_signals(&mut page);
        assert!(!has_signal(&page));
        let mut never = Page::new(0);
        assert!(
            !note(&mut never, SignalSource::Sitemap, 5.0),
            "a page that was never visited is new anyway"
        );
    }
}
