//! Which other hosts have the same page? A host is compared, page by page, with the one that it may mirror.
//!
//! Two hosts are compared from the day on that they show the same content at the same path. What a visit saw is then
//! compared with the page at that path on the other host, by that host where it is the one that may be the mirror.

use evercrawl_compare::Fingerprint;
use evercrawl_model::{HostKey, Outcome, PageKey, PageKind, Time};
use evercrawl_state::{PageRow, Past, StateError, Store, View};
use evercrawl_urls::Canonical;

use crate::mirrors::{Counterpart, Mirrors, find_counterpart};
use crate::process::Processed;
use crate::recent::Holder;
use crate::walk::consequences::Note;

/// Texts of so many words are not nearly alike by chance, nor by what pages made by one program have in common.
const ENOUGH_WORDS: u32 = 100;
/// The share of a text that differs from which on it is another text: as a visit's, compared with the one before.
const DIFFERS: f64 = 0.05;

/// What a visit saw of a page, as far as other hosts can have the same.
#[derive(Clone, Debug)]
pub(in crate::walk) struct ComparablePage {
    pub(in crate::walk) page: PageKey,
    /// Its URL.
    pub(in crate::walk) url: Canonical,
    /// When it was found.
    pub(in crate::walk) found: Time,
    /// Its content; `None` where no content came.
    digest: Option<[u8; 20]>,
    /// Who had that content before.
    holder: Option<Holder>,
    /// Who had nearly the same text.
    near: Option<PageKey>,
    /// The fingerprint of its text, where that is long enough to be told from others by it.
    fingerprint: Option<u64>,
    /// Whether this was its first visit.
    first: bool,
}

impl ComparablePage {
    /// What a visit saw; `None` where it says nothing about other hosts.
    pub(in crate::walk) fn of(processed: &Processed) -> Option<Self> {
        let (row, visited) = (&processed.job.lease.row, &processed.visited);
        let unchanged = visited.visit.outcome == Outcome::NotModified;
        if row.kind != PageKind::Page || unchanged {
            return None;
        }
        let long = processed.words >= ENOUGH_WORDS;
        Some(ComparablePage {
            page: visited.visit.page,
            url: Canonical::from_trusted(row.url.clone())?,
            found: row.found,
            digest: visited.identity.filter(|_| visited.visit.outcome == Outcome::Ok),
            holder: processed.held_by().cloned(),
            near: visited.visit.near.filter(|_| long),
            fingerprint: visited.simhash.filter(|_| long),
            first: row.past.is_none(),
        })
    }

    /// Whether content came.
    pub(in crate::walk) fn has_content(&self) -> bool {
        self.digest.is_some()
    }

    /// Whether a page at the same path of another host has, or had, this content or nearly this text; `None` where it
    /// has none that it could be compared with.
    pub(in crate::walk) fn is_like(&self, key: PageKey, row: &PageRow) -> Option<bool> {
        let past = row.past.as_ref().filter(|past| past.whole_digest().is_some())?;
        // What the other had before it changed is its content too.
        let had = self.holder.as_ref().is_some_and(|holder| holder.page == key);
        Some(had || self.is_near(past) || past.digest == self.digest)
    }

    fn is_near(&self, past: &Past) -> bool {
        let theirs = past.simhash.map(Fingerprint::from_bits);
        let ours = self.fingerprint.map(Fingerprint::from_bits);
        theirs.zip(ours).is_some_and(|(theirs, ours)| theirs.changed_share(ours) < DIFFERS)
    }
}

/// Tells the host that had the same content, or nearly the same text, before.
pub(in crate::walk) fn note_same_content(seen: &ComparablePage) -> Option<Note> {
    let page = match (&seen.holder, seen.near) {
        (Some(holder), _) => {
            let url = Canonical::from_trusted(holder.url.clone())?;
            (url.path_and_query() == seen.url.path_and_query()).then_some(holder.page)?
        }
        (None, near) => near?,
    };
    let elsewhere = page.host != seen.page.host;
    elsewhere.then(|| Note::SameContent { page, other: Box::new(seen.clone()) })
}

/// Compares a page with the one at the same path of the host that its own may mirror. That host's row is read
/// here: it knows nothing of those who may mirror it.
pub(in crate::walk) fn compare_with_original<S: Store>(
    view: &View<S>,
    mirrors: &Mirrors,
    seen: &ComparablePage,
) -> Result<Option<Note>, StateError> {
    let to = seen.page.host;
    let Some(likeness) = mirrors.likeness_of(to).filter(|now| now.is_mirror || seen.first) else {
        return Ok(None);
    };
    let original = page_at(view, likeness.compared_with, &seen.url)?;
    let alike = original.and_then(|(key, row)| seen.is_like(key, &row));
    Ok(alike.map(|alike| Note::PageCompared { to, alike }))
}

/// Tells the hosts that may mirror this one what a first visit saw. Those that do are compared as their own pages
/// are visited.
pub(in crate::walk) fn note_original_seen(mirrors: &Mirrors, seen: &ComparablePage) -> Vec<Note> {
    if !seen.first {
        return Vec::new();
    }
    let undecided =
        |host: &HostKey| mirrors.likeness_of(*host).is_some_and(|likeness| !likeness.is_mirror);
    let hosts = mirrors.mirrors_of(seen.page.host).iter().copied().filter(undecided);
    hosts.map(|to| Note::OriginalSeen { to, page: Box::new(seen.clone()) }).collect()
}

/// Tells all whose pages may wait for one that it is not to be had: the other mirrors of the same original, and the
/// mirrors of its own host.
pub(in crate::walk) fn note_missing(mirrors: &Mirrors, seen: &ComparablePage) -> Vec<Note> {
    let from = seen.page.host;
    let siblings =
        mirrors.original_of(from).map_or(&[][..], |original| mirrors.mirrors_of(original));
    let hosts = siblings.iter().chain(mirrors.mirrors_of(from)).copied();
    hosts.map(|to| Note::PageMissing { to, from, url: seen.url.as_str().into() }).collect()
}

/// The page of a host at the path of another's.
pub(in crate::walk) fn page_at<S: Store>(
    view: &View<S>,
    host: HostKey,
    url: &Canonical,
) -> Result<Option<(PageKey, PageRow)>, StateError> {
    match view.host(host)? {
        Some(row) => find_counterpart(view, &Counterpart { host, authority: row.authority }, url),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_model::{Event, HostLikeness};

    use super::*;
    use crate::walk::consequences::Consequence;
    use crate::walk::steps::test_visit::{START, apply, discover, key_of, past, state, visit_to};

    fn likeness(of: &str, mirror: bool) -> HostLikeness {
        let of = key_of(of).host;
        HostLikeness {
            compared_with: of,
            alike_pages: 12,
            compared_pages: 12,
            is_mirror: mirror,
            since: START,
        }
    }

    /// What a visit to `url` saw that found content `digest`.
    fn seen(url: &str, digest: Option<u8>) -> ComparablePage {
        let mut visit = visit_to(url, Outcome::Ok);
        visit.visited.identity = digest.map(|byte| [byte; 20]);
        ComparablePage::of(&visit).unwrap()
    }

    fn holder(url: &str) -> Option<Holder> {
        Some(Holder { page: key_of(url), url: url.to_owned(), at: START })
    }

    #[test]
    fn the_host_that_has_the_same_at_the_same_path_is_told() {
        for (held_by, near, told) in [
            (holder("http://b.test/1"), None, Some("http://b.test/1")),
            (holder("http://b.test/2"), None, None),
            (holder("http://a.test/1"), None, None),
            // Its path is known by its own host alone.
            (None, Some("http://b.test/7"), Some("http://b.test/7")),
            (None, Some("http://a.test/7"), None),
            (None, None, None),
        ] {
            let near = near.map(key_of);
            let page = ComparablePage { holder: held_by, near, ..seen("http://a.test/1", Some(1)) };
            let to = note_same_content(&page).map(|note| note.to());
            assert_eq!(to, told.map(|url| key_of(url).host), "{page:?}");
        }
    }

    #[test]
    fn a_page_is_like_another_by_content_by_text_or_by_what_that_had_before() {
        let ours = seen("http://a.test/1", Some(1));
        let (key, mut row) = (key_of("http://b.test/1"), visit_to("http://b.test/1", Outcome::Ok));
        let row = &mut row.job.lease.row;
        assert_eq!(ours.is_like(key, row), None, "nothing is known of it");
        row.past = Some(past(START));
        assert_eq!(ours.is_like(key, row), None, "it has no content");
        let mut with = |digest: u8, simhash| {
            let past = row.past.as_mut().unwrap();
            (past.digest, past.simhash) = (Some([digest; 20]), simhash);
            row.clone()
        };
        assert_eq!(ours.is_like(key, &with(1, None)), Some(true));
        assert_eq!(ours.is_like(key, &with(2, None)), Some(false));
        assert_eq!(ours.is_like(key, &with(2, Some(5))), Some(false), "our text is short");
        let long = ComparablePage { fingerprint: Some(5), ..ours.clone() };
        assert_eq!(long.is_like(key, &with(2, Some(5))), Some(true));
        assert_eq!(long.is_like(key, &with(2, Some(!5))), Some(false));
        let before = ComparablePage { holder: holder("http://b.test/1"), ..ours };
        assert_eq!(before.is_like(key, &with(2, None)), Some(true));
    }

    #[test]
    fn hosts_that_may_be_mirrors_hear_of_first_visits_and_mirrors_of_what_is_missing() {
        let mut mirrors = Mirrors::default();
        for (host, mirror) in [("b", true), ("c", false)] {
            let host = key_of(&format!("http://{host}.test/")).host;
            mirrors.set(host, likeness("http://a.test/", mirror));
        }
        let to = |notes: Vec<Note>| notes.iter().map(Note::to).collect::<Vec<_>>();
        let host = |name: &str| key_of(&format!("http://{name}.test/")).host;
        let page = seen("http://a.test/1", Some(1));
        assert_eq!(to(note_original_seen(&mirrors, &page)), [host("c")]);
        let again = ComparablePage { first: false, ..page };
        assert!(note_original_seen(&mirrors, &again).is_empty());
        let missing = seen("http://a.test/1", None);
        assert!(!missing.has_content());
        assert_eq!(to(note_missing(&mirrors, &missing)), [host("b"), host("c")]);
        // A sibling may wait for it too.
        let of_mirror = seen("http://b.test/1", None);
        assert_eq!(to(note_missing(&mirrors, &of_mirror)), [host("b"), host("c")]);
    }

    #[test]
    fn a_mirror_is_compared_with_its_original_at_every_visit_and_others_at_the_first() {
        let mut state = state();
        let mut visit = visit_to("http://a.test/1", Outcome::Ok);
        visit.visited.identity = Some([1; 20]);
        discover(&mut state, "http://a.test/1");
        apply(&mut state, vec![Consequence::Event(Event::Visited(visit.visited))]);
        let first = seen("http://b.test/1", Some(1));
        let again = ComparablePage { first: false, ..first.clone() };
        for (mirror, page, digest, want) in [
            (true, &again, 1, Some(true)),
            (true, &again, 2, Some(false)),
            (false, &first, 1, Some(true)),
            (false, &again, 1, None),
        ] {
            let mut mirrors = Mirrors::default();
            mirrors.set(page.page.host, likeness("http://a.test/", mirror));
            let page = ComparablePage { digest: Some([digest; 20]), ..page.clone() };
            let note = compare_with_original(state.view(), &mirrors, &page).unwrap();
            let alike = note.map(|note| match note {
                Note::PageCompared { to, alike } if to == page.page.host => alike,
                other => panic!("{other:?}"),
            });
            assert_eq!(alike, want, "mirror {mirror}, digest {digest}");
        }
    }
}
