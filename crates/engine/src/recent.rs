//! Was this content seen a moment ago? What is on its way to disk, shared by all workers.
//!
//! Content is stored once. Of several workers that hold the same bytes at the same time, the first
//! to *claim* the digest stores them; the others wait until its record is on its way to the
//! archive, in order, and then refer to it. So a record never refers to one that a crash could
//! take away.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use evercrawl_compare::{Fingerprint, NEAR};
use evercrawl_model::{PageKey, Time};
use evercrawl_state::{Reading, StateError, Store};

/// A digest, as content is known by.
pub(crate) type Digest = [u8; 20];

/// The record that holds some content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The page.
    pub page: PageKey,
    /// Its URL.
    pub url: String,
    /// When it was fetched.
    pub at: Time,
}

/// Content that was seen since the last commits.
#[derive(Default)]
pub struct Recent {
    inner: Mutex<Inner>,
    settled: Condvar,
}

#[derive(Default)]
struct Inner {
    claims: HashMap<Digest, Claim>,
    prints: Vec<(Fingerprint, PageKey, u64)>,
    batch: u64,
    /// How many wait until a claim is settled: hardly ever any, and to wake nobody is a call to the system.
    waiting: usize,
}

struct Claim {
    holder: Holder,
    /// The commit that will make it last; `None` while the record is still being made.
    batch: Option<u64>,
}

impl Recent {
    /// Claims content for `holder`. `None`: it is the first, must store it, and must
    /// [`settle`](Self::settle) afterwards. Else the record that holds it.
    pub fn claim<S: Store>(
        &self,
        digest: Digest,
        holder: &Holder,
        reading: &Reading<S>,
    ) -> Result<Option<Holder>, StateError> {
        let mut inner = self.lock();
        loop {
            match inner.claims.get(&digest) {
                Some(Claim { holder, batch: Some(_) }) => return Ok(Some(holder.clone())),
                Some(_) => {
                    inner.waiting += 1;
                    inner = self.settled.wait(inner).unwrap_or_else(PoisonError::into_inner);
                    inner.waiting -= 1;
                }
                None => break,
            }
        }
        if let Some(stored) = stored(digest, (holder.page, &holder.url), reading)? {
            return Ok(Some(stored));
        }
        inner.claims.insert(digest, Claim { holder: holder.clone(), batch: None });
        Ok(None)
    }

    /// The record that holds content which was stored before, for the page `of` that has it.
    pub fn holder<S: Store>(
        &self,
        digest: Digest,
        of: (PageKey, &str),
        reading: &Reading<S>,
    ) -> Result<Option<Holder>, StateError> {
        match self.lock().claims.get(&digest) {
            Some(Claim { holder, batch: Some(_) }) => Ok(Some(holder.clone())),
            _ => stored(digest, of, reading),
        }
    }

    /// The claimed content is on its way to the archive, or (`stored` false) will not be stored.
    pub fn settle(&self, digest: Digest, stored: bool) {
        let mut inner = self.lock();
        let batch = inner.batch;
        if stored {
            if let Some(claim) = inner.claims.get_mut(&digest) {
                claim.batch = Some(batch);
            }
        } else {
            inner.claims.remove(&digest);
        }
        if inner.waiting > 0 {
            self.settled.notify_all();
        }
    }

    /// Somebody who claimed content will not settle that: nobody waits for it any more.
    pub fn abandon(&self) {
        self.lock().claims.retain(|_, claim| claim.batch.is_some());
        self.settled.notify_all();
    }

    /// Content is held by another record than before.
    pub fn hold(&self, digest: Digest, holder: Holder) {
        let mut inner = self.lock();
        let batch = Some(inner.batch);
        // A reader that is about to store it continues; then two records hold it.
        if inner.claims.get(&digest).is_none_or(|claim| claim.batch.is_some()) {
            inner.claims.insert(digest, Claim { holder, batch });
        }
    }

    /// A page whose text is nearly this one, and not the page itself.
    pub fn near<S: Store>(
        &self,
        print: Fingerprint,
        page: PageKey,
        reading: &Reading<S>,
    ) -> Result<Option<PageKey>, StateError> {
        let fresh = self.lock().prints.iter().find(|(other, _, _)| other.is_near(print)).copied();
        let found = match fresh {
            Some((_, other, _)) => Some(other),
            None => reading.near(print.to_bits(), NEAR)?,
        };
        Ok(found.filter(|&other| other != page))
    }

    /// A text was seen on `page`.
    pub fn remember(&self, print: Fingerprint, page: PageKey) {
        let mut inner = self.lock();
        let batch = inner.batch;
        inner.prints.push((print, page, batch));
    }

    /// A commit begins: what comes from now on belongs to a later one. Returns its number.
    pub(crate) fn begin_batch(&self) -> u64 {
        let mut inner = self.lock();
        inner.batch += 1;
        inner.batch - 1
    }

    /// Everything that was settled before commit `batch` began is in the store.
    ///
    /// One commit is kept beyond that: a result settled just before the commit began may have
    /// reached the state only after it.
    pub fn committed(&self, batch: u64) {
        let mut inner = self.lock();
        inner.claims.retain(|_, claim| claim.batch.is_none_or(|of| of >= batch));
        inner.prints.retain(|(_, _, of)| *of >= batch);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Most content that was seen before was seen on the very page: its URL is at hand.
fn stored<S: Store>(
    digest: Digest,
    (page, url): (PageKey, &str),
    reading: &Reading<S>,
) -> Result<Option<Holder>, StateError> {
    let Some(first) = reading.first_seen(&digest)? else { return Ok(None) };
    let url = match first.page == page {
        true => url.to_owned(),
        false => reading.url(first.page)?.unwrap_or_default(),
    };
    Ok(Some(Holder { page: first.page, url, at: first.at }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_state::{MemoryStore, Settings, State};
    use std::sync::Arc;

    fn reading() -> Reading<MemoryStore> {
        let store = Arc::new(MemoryStore::default());
        State::open(store, Settings { seed: 1, shards: 1 }, None).unwrap().reading()
    }

    fn holder(n: u64) -> Holder {
        let page = PageKey { url: n, ..PageKey::default() };
        Holder { page, url: format!("http://a.test/{n}"), at: Time::from_secs(n) }
    }

    #[test]
    fn the_first_stores_and_the_others_refer_to_it() {
        let (recent, reading) = (Recent::default(), reading());
        assert_eq!(recent.claim([1; 20], &holder(1), &reading).unwrap(), None);
        recent.settle([1; 20], true);
        assert_eq!(recent.claim([1; 20], &holder(2), &reading).unwrap(), Some(holder(1)));
        assert_eq!(recent.claim([2; 20], &holder(3), &reading).unwrap(), None);
        recent.settle([2; 20], false);
        assert_eq!(recent.claim([2; 20], &holder(4), &reading).unwrap(), None, "was given up");
    }

    #[test]
    fn a_claim_in_the_making_is_waited_for() {
        let (recent, reading) = (Arc::new(Recent::default()), reading());
        assert_eq!(recent.claim([1; 20], &holder(1), &reading).unwrap(), None);
        let other = {
            let (recent, reading) = (recent.clone(), reading.clone());
            std::thread::spawn(move || recent.claim([1; 20], &holder(2), &reading).unwrap())
        };
        recent.settle([1; 20], true);
        assert_eq!(other.join().unwrap(), Some(holder(1)));
    }

    #[test]
    fn what_is_committed_is_forgotten_one_commit_later() {
        let (recent, reading) = (Recent::default(), reading());
        recent.claim([1; 20], &holder(1), &reading).unwrap();
        recent.settle([1; 20], true);
        recent.remember(Fingerprint::from_bits(7), holder(1).page);
        let first = recent.begin_batch();
        recent.committed(first);
        assert!(recent.claim([1; 20], &holder(2), &reading).unwrap().is_some());
        let near = recent.near(Fingerprint::from_bits(6), holder(2).page, &reading).unwrap();
        assert_eq!(near, Some(holder(1).page));
        let second = recent.begin_batch();
        recent.committed(second);
        assert!(recent.lock().claims.is_empty());
        assert!(recent.lock().prints.is_empty());
    }
}
