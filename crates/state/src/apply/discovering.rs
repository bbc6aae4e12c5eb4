//! What does it take for a URL to come in? Not to be known, and room on its host.

use evercrawl_model::{Band, Discovery, HostKey, PageKey, PageKind, Refusal, Time, UrlShape};

use super::Applied;
use crate::StateError;
use crate::keys;
use crate::rows::{PageRow, Place};
use crate::seen::Trace;
use crate::state::State;
use crate::store::{Space, Store};
use crate::view::{KeySlot, known_by};

impl<S: Store> State<S> {
    pub(super) fn discovered(&mut self, found: &Discovery) -> Result<Applied, StateError> {
        let page = match self.look_up(found.page, found.check)? {
            KeySlot::Free(page) => page,
            KeySlot::Known(page) => {
                if found.seed {
                    self.becomes_seed(page)?;
                }
                if found.hops > 0 {
                    self.becomes_target(page, found)?;
                }
                return Ok(Applied::default());
            }
        };
        if let Some(reason) = self.overflow(found)? {
            self.count_refused(reason, 1, Some(&found.url));
            return Ok(Applied { refused: Some(reason), ..Applied::default() });
        }
        self.enter(page, found)
    }

    /// The user gives a page that is known already.
    pub(crate) fn becomes_seed(&mut self, page: PageKey) -> Result<(), StateError> {
        let row = self.view.page(page)?.filter(|row| !row.seed);
        if let Some(row) = row {
            self.host_mut(page.host)?.seed = true;
            let row = PageRow { seed: true, ..row };
            self.view.layers.put(Space::Pages, &page.to_bytes(), &row.encode());
        }
        Ok(())
    }

    /// A redirect leads to a page that is known and that nobody has asked for yet: what the page was before
    /// it moved says more about it than the link that it was found by.
    fn becomes_target(&mut self, page: PageKey, found: &Discovery) -> Result<(), StateError> {
        let row = self.view.page(page)?.filter(|row| row.past.is_none() && row.hops == 0);
        if let Some(row) = row {
            let row = PageRow { via: found.via, hops: found.hops, ..row };
            self.view.layers.put(Space::Pages, &page.to_bytes(), &row.encode());
        }
        Ok(())
    }

    /// The reason for which a host takes no more URLs like this one.
    fn overflow(&mut self, found: &Discovery) -> Result<Option<Refusal>, StateError> {
        if found.seed {
            return Ok(None);
        }
        if let Some(cap) = found.host_cap
            && self.view.host(found.page.host)?.is_some_and(|host| host.known >= cap)
        {
            return Ok(Some(Refusal::HostFull));
        }
        let Some(UrlShape { hash, cap, refusal }) = found.shape else { return Ok(None) };
        let key = keys::shape(found.page.host, hash);
        let count = self.view.layers.get(Space::Hosts, &key)?;
        let count =
            count.and_then(|row| row.as_ref().try_into().ok()).map_or(0, u32::from_le_bytes);
        if count >= cap {
            return Ok(Some(refusal));
        }
        self.view.layers.put(Space::Hosts, &key, &(count + 1).to_le_bytes());
        Ok(None)
    }

    fn enter(&mut self, page: PageKey, found: &Discovery) -> Result<Applied, StateError> {
        self.view.counters.turns += 1;
        let place = match found.kind {
            PageKind::Probe => Place::QUESTION,
            _ => Place::New(found.band, self.view.counters.turns),
        };
        let row = PageRow::found(found, place);
        self.view.layers.put(Space::Pages, &page.to_bytes(), &row.encode());
        self.view.layers.put(Space::Known, &page.to_bytes(), &known_by(found.check));
        self.view.layers.put(Space::Queues, &keys::queue(page, place), b"");
        self.note_seen(Trace::new(page, known_by(found.check)));
        self.view.counters.new_pages(1);
        self.ensure_host(page.host, &found.url)?;
        let front = (found.front.unwrap_or(found.band), found.at);
        let front = self.pages_await(page.host, 1, front, found.seed)?;
        Ok(Applied { queued: Some((page, place)), front, refused: None })
    }

    /// A new page waits on `host`: the host must be found among the front queues in time.
    pub(crate) fn pages_await(
        &mut self,
        key: HostKey,
        pages: u32,
        (band, at): (Band, Time),
        seed: bool,
    ) -> Result<Option<(HostKey, Band, Time)>, StateError> {
        let host = self.host_mut(key)?;
        let idle = host.waiting == 0;
        host.known += pages;
        host.waiting += pages;
        host.seed |= seed;
        let sooner = host.front.is_none_or(|(other, wake)| idle || band < other || wake > at);
        if !sooner {
            return Ok(None);
        }
        let band = host.front.map_or(band, |(other, _)| other.min(band));
        self.move_front(key, Some((band, at)))?;
        Ok(Some((key, band, at)))
    }
}
