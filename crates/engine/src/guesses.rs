//! Is it worth asking a host for addresses that only look like addresses? Strings in scripts, comments and text are
//! asked for as long as they lead somewhere, by host and by the kind of place that they stand in.
//!
//! Shared by all workers, kept in memory, and bounded: what a run has not seen it learns again, from few requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evercrawl_extract::LinkPlace;
use evercrawl_model::PageKey;

/// The most hosts that are kept in mind; when there are more, all is learned again.
const MOST_HOSTS: usize = 10_000;
/// How many guesses of a kind may wait for their answer on a host before any led somewhere.
const FIRST: u32 = 50;
/// How many more may wait for each that did.
const MORE: u32 = 20;
/// From this many answers on, a kind is judged by them.
const ENOUGH: u32 = 10;
/// One of so many must have led to something new.
const ONE_IN: u32 = 10;
/// The most guesses of a host whose place is remembered.
const MOST_WAITING: usize = 1000;

/// What came of guesses, host by host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guesses(Arc<Mutex<HashMap<u64, HostGuesses>>>);

#[derive(Debug, Default)]
struct HostGuesses {
    places: [Tally; LinkPlace::COUNT],
    /// The pages that were let in and not yet visited, with where their addresses stood.
    waiting: HashMap<u64, LinkPlace>,
}

/// Guesses of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    admitted: u32,
    answered: u32,
    /// Of those that were answered, how many led to content that was not known.
    useful: u32,
}

impl Tally {
    fn is_given_up(self) -> bool {
        self.answered >= ENOUGH && self.useful * ONE_IN < self.answered
    }

    fn has_room(self) -> bool {
        let allowed = FIRST.saturating_add(MORE.saturating_mul(self.useful));
        self.admitted.saturating_sub(self.answered) < allowed
    }
}

impl Guesses {
    /// Whether an address that stands in such a place may be asked for; counts it where it may.
    pub(crate) fn admit(&self, page: PageKey, place: LinkPlace) -> bool {
        let mut hosts = self.lock();
        if hosts.len() >= MOST_HOSTS && !hosts.contains_key(&page.host.host) {
            hosts.clear();
        }
        let host = hosts.entry(page.host.host).or_default();
        if host.waiting.contains_key(&page.url) {
            return true;
        }
        let tally = &mut host.places[place as usize];
        let may = !tally.is_given_up() && tally.has_room() && host.waiting.len() < MOST_WAITING;
        if may {
            tally.admitted += 1;
            host.waiting.insert(page.url, place);
        }
        may
    }

    /// Learns what came of a page that may have been a guess.
    pub(crate) fn answered(&self, page: PageKey, useful: bool) {
        let mut hosts = self.lock();
        let Some(host) = hosts.get_mut(&page.host.host) else { return };
        let Some(place) = host.waiting.remove(&page.url) else { return };
        let tally = &mut host.places[place as usize];
        tally.answered += 1;
        tally.useful += u32::from(useful);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, HostGuesses>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_model::Keyer;

    use super::*;

    fn page(host: &str, n: u32) -> PageKey {
        let keyer = Keyer::new(7, 64);
        keyer.page(keyer.host(host, host), &format!("http://{host}/{n}")).0
    }

    /// How many of a hundred guesses are let in, one after another, of which every `one_in`th leads somewhere.
    fn admitted(one_in: u32) -> u32 {
        let guesses = Guesses::default();
        let mut count = 0;
        for n in 0..100 {
            if guesses.admit(page("a.test", n), LinkPlace::Script) {
                count += 1;
                guesses.answered(page("a.test", n), n % one_in == 0);
            }
        }
        count
    }

    #[test]
    fn what_leads_nowhere_is_given_up_and_what_leads_somewhere_is_not() {
        assert_eq!(admitted(1), 100);
        assert_eq!(admitted(5), 100);
        assert_eq!(admitted(1000), 11, "the first led somewhere");
    }

    #[test]
    fn hosts_and_places_are_judged_each_by_their_own() {
        let guesses = Guesses::default();
        for n in 0..ENOUGH {
            assert!(guesses.admit(page("a.test", n), LinkPlace::Script));
            guesses.answered(page("a.test", n), false);
        }
        assert!(!guesses.admit(page("a.test", 99), LinkPlace::Script));
        assert!(guesses.admit(page("a.test", 99), LinkPlace::Comment));
        assert!(guesses.admit(page("b.test", 99), LinkPlace::Script));
    }

    #[test]
    fn before_any_answer_only_so_many_wait() {
        let guesses = Guesses::default();
        let count =
            (0..1000).filter(|&n| guesses.admit(page("a.test", n), LinkPlace::Json)).count();
        assert_eq!(count, FIRST as usize);
        assert!(guesses.admit(page("a.test", 3), LinkPlace::Json), "it waits already");
        guesses.answered(page("a.test", 3), true);
        guesses.answered(page("a.test", 3), true);
        let more =
            (0..1000).filter(|&n| guesses.admit(page("a.test", 1000 + n), LinkPlace::Json)).count();
        assert_eq!(more, 1 + MORE as usize, "one answer counts once");
    }
}
