//! Which pages does a page link to? One row a page, replaced when its links change.
//!
//! A page without a row has links that nobody has read yet; one that links nowhere has an empty row.
//! Most links stay on their host, so a host is written once, and not at all where it is the page's
//! own. What is left of a link is the eight bytes of its URL's hash: differences of sorted hashes are
//! no shorter.

use evercrawl_model::{Change, HostKey, PageKey, Visited};

use crate::StateError;
use crate::codec::{Reader, Writer};
use crate::keys;
use crate::rows::PageRow;
use crate::state::State;
use crate::store::{Space, Store};
use crate::view::View;

pub(crate) const LINKS: u8 = 1;
pub(crate) const ANCHORS: u8 = 1;

/// The last key that a page can have.
const LAST: PageKey = PageKey { host: HostKey { shard: u16::MAX, host: u64::MAX }, url: u64::MAX };

impl<S: Store> View<S> {
    /// The pages that a page links to, in the order of their keys; `None` where that is not known.
    pub fn links(&self, page: PageKey) -> Result<Option<Vec<PageKey>>, StateError> {
        let row = self.layers.get(Space::Links, &page.to_bytes())?;
        row.map(|row| decode(page.host, &row)).transpose()
    }

    /// The pages that moved for good to this one, as far as they still say so.
    pub fn formers(&self, page: PageKey) -> Result<Vec<(PageKey, PageRow)>, StateError> {
        let (from, to) = (keys::moved(page, PageKey::default()), keys::moved(page, LAST));
        let mut formers = Vec::new();
        for row in self.layers.scan(Space::Hosts, &from, &to) {
            let former = keys::parse_moved(&row?.0).ok_or_else(|| keys::bad("moved"))?;
            if let Some(row) = self.page(former)?.filter(PageRow::is_moved)
                && self.links(former)?.is_some_and(|links| links == [page])
            {
                formers.push((former, row));
            }
        }
        Ok(formers)
    }

    /// Every page whose links are known, with these, in the order of their keys.
    pub fn all_links(
        &self,
    ) -> impl Iterator<Item = Result<(PageKey, Vec<PageKey>), StateError>> + '_ {
        self.layers.scan(Space::Links, &[], keys::LINKS_END).map(|row| {
            let (key, row) = row?;
            let page = PageKey::from_bytes(&key).ok_or_else(|| keys::bad("link"))?;
            Ok((page, decode(page.host, &row)?))
        })
    }
}

impl<S: Store> View<S> {
    /// The words that a page's links are put in, in the order of its [`links`](Self::links); none where they
    /// are not kept.
    pub fn anchors(&self, page: PageKey) -> Result<Vec<String>, StateError> {
        let row = self.layers.get(Space::Links, &keys::anchors(page))?;
        row.map_or(Ok(Vec::new()), |row| decode_anchors(&row))
    }
}

impl<S: Store> State<S> {
    /// Takes over the links that a visit found; `first` where none can be known before it.
    pub(crate) fn remember_links(
        &mut self,
        visited: &Visited,
        first: bool,
    ) -> Result<(), StateError> {
        let page = visited.visit.page;
        let key = page.to_bytes();
        if visited.visit.change == Change::Gone {
            self.view.layers.remove(Space::Links, &key);
            self.remember_anchors(page, &[])?;
        } else if let Some(links) = &visited.links {
            let row = encode(page.host, links);
            // Pages change more often than their links do, and a read costs less than a write.
            let other = first || self.view.layers.get(Space::Links, &key)?.as_deref() != Some(&row);
            if other {
                self.view.layers.put(Space::Links, &key, &row);
                if let (true, [target]) = (visited.visit.is_move(), links.as_slice()) {
                    self.view.layers.put(Space::Hosts, &keys::moved(*target, page), b"");
                }
            }
            if !visited.anchors.is_empty() || other && !first {
                self.remember_anchors(page, &visited.anchors)?;
            }
        }
        Ok(())
    }

    fn remember_anchors(&mut self, page: PageKey, anchors: &[Box<str>]) -> Result<(), StateError> {
        let key = keys::anchors(page);
        let kept = self.view.layers.get(Space::Links, &key)?;
        if anchors.iter().all(|anchor| anchor.is_empty()) {
            if kept.is_some() {
                self.view.layers.remove(Space::Links, &key);
            }
            return Ok(());
        }
        let row = encode_anchors(anchors);
        if kept.as_deref() != Some(&row) {
            self.view.layers.put(Space::Links, &key, &row);
        }
        Ok(())
    }
}

fn encode_anchors(anchors: &[Box<str>]) -> Vec<u8> {
    let mut out = Writer::new(ANCHORS);
    anchors.iter().for_each(|anchor| out.text(anchor));
    out.finish()
}

pub(crate) fn decode_anchors(row: &[u8]) -> Result<Vec<String>, StateError> {
    let mut row = Reader::new(row, ANCHORS)?;
    let mut anchors = Vec::new();
    while !row.is_empty() {
        anchors.push(row.text()?.to_owned());
    }
    Ok(anchors)
}

/// Writes links that are sorted: for every host how many lead there, and their hashes.
fn encode(own: HostKey, links: &[PageKey]) -> Vec<u8> {
    let mut out = Writer::new(LINKS);
    for host in links.chunk_by(|a, b| a.host == b.host) {
        let foreign = host[0].host != own;
        out.number((host.len() as u64) << 1 | u64::from(foreign));
        if foreign {
            out.fixed(&host[0].host.to_bytes());
        }
        for link in host {
            out.fixed(&link.url.to_be_bytes());
        }
    }
    out.finish()
}

pub(crate) fn decode(own: HostKey, row: &[u8]) -> Result<Vec<PageKey>, StateError> {
    let mut links = Vec::with_capacity(row.len() / 8);
    let mut row = Reader::new(row, LINKS)?;
    while !row.is_empty() {
        let head = row.number()?;
        let host = if head & 1 == 0 {
            own
        } else {
            HostKey::from_bytes(row.fixed(HostKey::LEN)?).ok_or_else(|| keys::bad("link"))?
        };
        for _ in 0..head >> 1 {
            links.push(PageKey { host, url: u64::from_be_bytes(row.array()?) });
        }
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OWN: HostKey = HostKey { shard: 3, host: 77 };

    fn link() -> impl Strategy<Value = PageKey> {
        let host = prop_oneof![
            3 => Just(OWN),
            1 => (0u16..64, any::<u64>()).prop_map(|(shard, host)| HostKey { shard, host }),
        ];
        (host, any::<u64>()).prop_map(|(host, url)| PageKey { host, url })
    }

    proptest! {
        #[test]
        fn links_round_trip(links in proptest::collection::btree_set(link(), 0..60)) {
            let links: Vec<PageKey> = links.into_iter().collect();
            prop_assert_eq!(decode(OWN, &encode(OWN, &links)).unwrap(), links);
        }

        #[test]
        fn damage_is_an_error_at_most(row in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode(OWN, &row);
        }
    }

    #[test]
    fn anchors_round_trip() {
        let anchors = ["read more", "", "über"].map(Box::from);
        assert_eq!(decode_anchors(&encode_anchors(&anchors)).unwrap(), ["read more", "", "über"]);
        assert!(decode_anchors(&[ANCHORS, 5, b'a']).is_err());
    }

    #[test]
    fn a_link_takes_eight_bytes_and_a_foreign_host_eleven() {
        let own: Vec<PageKey> = (0..50).map(|url| PageKey { host: OWN, url }).collect();
        assert_eq!(encode(OWN, &own).len(), 2 + 50 * 8);
        let mut mixed = own.clone();
        mixed.push(PageKey { host: HostKey { shard: 60, host: 1 }, url: 5 });
        assert_eq!(encode(OWN, &mixed).len(), 2 + 51 * 8 + 11);
        assert_eq!(encode(OWN, &[]).len(), 1);
    }
}
