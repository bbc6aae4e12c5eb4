//! Under which key does a row lie? Every key that the state writes is made here.

use evercrawl_model::{Band, HostKey, Measure, Override, PageKey, Time};

use crate::StateError;
use crate::rows::Place;

/// Queue class of pages to come back to: after all bands of new pages.
const DUE: u8 = 0x80;
/// Queue class of pages that there is little hope for.
const RECHECK: u8 = 0x81;

/// Which order of a host's back queue: new pages of a band, or known pages by due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Pages never visited, of one band, by turn.
    New(Band),
    /// Pages to come back to, by time.
    Due,
    /// Pages to come back to that there is little hope for, by time.
    Recheck,
}

impl Lane {
    fn byte(self) -> u8 {
        match self {
            Lane::New(band) => band.number(),
            Lane::Due => DUE,
            Lane::Recheck => RECHECK,
        }
    }
}

/// Bytes of a back-queue key: host, lane, position (six bytes), URL.
pub(crate) const QUEUE_LEN: usize = HostKey::LEN + 1 + 6 + 8;

/// The key of a page's place in its host's back queue.
pub(crate) fn queue(page: PageKey, place: Place) -> [u8; QUEUE_LEN] {
    let (lane, position) = match place {
        Place::New(band, turn) => (Lane::New(band), turn),
        Place::Due(at) => (Lane::Due, at.millis()),
        Place::Recheck(at) => (Lane::Recheck, at.millis()),
    };
    queue_at(page.host, lane, position, page.url)
}

/// The key of position `position` in a lane; `url` 0 is before all pages there.
pub(crate) fn queue_at(host: HostKey, lane: Lane, position: u64, url: u64) -> [u8; QUEUE_LEN] {
    let mut key = [0; QUEUE_LEN];
    key[..10].copy_from_slice(&host.to_bytes());
    key[10] = lane.byte();
    key[11..17].copy_from_slice(&six(position));
    key[17..].copy_from_slice(&url.to_be_bytes());
    key
}

/// Position and URL hash of a back-queue key.
pub(crate) fn parse_queue(key: &[u8]) -> Option<(u64, u64)> {
    let position = from_six(key.get(11..17)?)?;
    let url = u64::from_be_bytes(key.get(17..QUEUE_LEN)?.try_into().ok()?);
    Some((position, url))
}

/// Page and turn of a back-queue key, where it is that of a page never visited.
pub(crate) fn parse_new(key: &[u8]) -> Option<(PageKey, u64)> {
    let (turn, url) = parse_queue(key).filter(|_| key[HostKey::LEN] < DUE)?;
    Some((PageKey { host: HostKey::from_bytes(key)?, url }, turn))
}

/// Bytes of a front-queue key: a letter, the band, the time, the host.
const FRONT_LEN: usize = 1 + 1 + 6 + HostKey::LEN;

/// The key of a host's place among the front queues.
pub(crate) fn front(band: Band, wake: Time, host: HostKey) -> [u8; FRONT_LEN] {
    let mut key = [0; FRONT_LEN];
    key[0] = b'f';
    key[1] = band.number();
    key[2..8].copy_from_slice(&six(wake.millis()));
    key[8..].copy_from_slice(&host.to_bytes());
    key
}

/// The key after every host of a front queue.
pub(crate) fn front_end(band: Band) -> [u8; 2] {
    [b'f', band.number() + 1]
}

/// Time and host of a front-queue key.
pub(crate) fn parse_front(key: &[u8]) -> Option<(Time, HostKey)> {
    let wake = Time::from_millis(from_six(key.get(2..8)?)?);
    Some((wake, HostKey::from_bytes(key.get(8..)?)?))
}

/// The key of a host's own row.
pub(crate) fn host(host: HostKey) -> [u8; 1 + HostKey::LEN] {
    tagged(HOSTS[0], host.to_bytes())
}

/// The host in the key of its row; `None` for any other key.
pub(crate) fn parse_host(key: &[u8]) -> Option<HostKey> {
    let host = key.strip_prefix(HOSTS).filter(|host| host.len() == HostKey::LEN)?;
    HostKey::from_bytes(host)
}

/// The key of the count of a host's URLs of one shape.
pub(crate) fn shape(host: HostKey, shape: u64) -> [u8; 1 + PageKey::LEN] {
    tagged(b's', PageKey { host, url: shape }.to_bytes())
}

/// The key of what the pages of a host have in common.
pub(crate) fn site(host: HostKey) -> [u8; 1 + HostKey::LEN] {
    tagged(b't', host.to_bytes())
}

/// The key of what the pages of one template of a host have in common.
pub(crate) fn template(host: HostKey, template: u8) -> [u8; 2 + HostKey::LEN] {
    let mut key = [template; 2 + HostKey::LEN];
    key[0] = b'n';
    key[1..=HostKey::LEN].copy_from_slice(&host.to_bytes());
    key
}

/// The key of a page that moved for good to `target`.
pub(crate) fn moved(target: PageKey, page: PageKey) -> [u8; 1 + 2 * PageKey::LEN] {
    let mut key = [b'j'; 1 + 2 * PageKey::LEN];
    key[1..=PageKey::LEN].copy_from_slice(&target.to_bytes());
    key[1 + PageKey::LEN..].copy_from_slice(&page.to_bytes());
    key
}

/// The page of such a key that moved.
pub(crate) fn parse_moved(key: &[u8]) -> Option<PageKey> {
    PageKey::from_bytes(key.get(1 + PageKey::LEN..)?)
}

/// The key of how a host answers for what does not exist.
pub(crate) fn soft_404(host: HostKey) -> [u8; 1 + HostKey::LEN] {
    tagged(b'p', host.to_bytes())
}

/// The key of how much a host is like another.
pub(crate) fn likeness(host: HostKey) -> [u8; 1 + HostKey::LEN] {
    tagged(LIKENESSES[0], host.to_bytes())
}

/// What those keys begin with, and what comes after them all.
pub(crate) const LIKENESSES: &[u8] = b"m";
pub(crate) const LIKENESSES_END: &[u8] = b"n";

/// The key of what a host is taken for.
pub(crate) fn suspicion(host: HostKey) -> [u8; 1 + HostKey::LEN] {
    tagged(SUSPICIONS[0], host.to_bytes())
}

/// What those keys begin with, and what comes after them all.
pub(crate) const SUSPICIONS: &[u8] = b"v";
pub(crate) const SUSPICIONS_END: &[u8] = b"w";

/// The key of an origin's robots.txt.
pub(crate) fn robots(origin: &str) -> Vec<u8> {
    [b"r", origin.as_bytes()].concat()
}

/// The key of what is known about a digest.
pub(crate) fn digest(digest: &[u8; 20]) -> [u8; 21] {
    tagged(b'd', *digest)
}

/// The digest in its key.
pub(crate) fn parse_digest(key: &[u8]) -> Option<&[u8; 20]> {
    key.get(1..)?.try_into().ok()
}

/// What comes after all rows of links: a page's key begins with a byte of its shard, which is 0, and the
/// key of what else is said of a page with a letter.
pub(crate) const LINKS_END: &[u8] = &[1];

/// What the keys of anchors begin with.
pub(crate) const ANCHORS: u8 = b'a';

/// The key of the words that a page's links are put in.
pub(crate) fn anchors(page: PageKey) -> [u8; 1 + PageKey::LEN] {
    tagged(ANCHORS, page.to_bytes())
}

/// What the keys of claims begin with.
pub(crate) const LINK_EVIDENCE: u8 = b'c';

/// The key of the link evidence for a page.
pub(crate) fn link_evidence(measure: Measure, page: PageKey) -> [u8; 2 + PageKey::LEN] {
    let mut key = [LINK_EVIDENCE; 2 + PageKey::LEN];
    key[1..=PageKey::LEN].copy_from_slice(&page.to_bytes());
    key[1 + PageKey::LEN] = measure.number();
    key
}

/// The key of what all claims of a measure have in common.
pub(crate) fn link_evidence_total(measure: Measure) -> [u8; 2] {
    [LINK_EVIDENCE_TOTALS, measure.number()]
}

/// What those keys begin with.
pub(crate) const LINK_EVIDENCE_TOTALS: u8 = b'u';

/// The key of a fingerprint in table `table` of the near-duplicate index: turned so that the
/// table's own sixteen bits come first.
pub(crate) fn fingerprint(table: u8, simhash: u64) -> [u8; 10] {
    let turned = simhash.rotate_left(16 * u32::from(table));
    let mut key = [0; 10];
    key[0] = b's';
    key[1] = table;
    key[2..].copy_from_slice(&turned.to_be_bytes());
    key
}

/// The fingerprint in a key of the near-duplicate index.
pub(crate) fn parse_fingerprint(key: &[u8]) -> Option<u64> {
    let turned = u64::from_be_bytes(key.get(2..10)?.try_into().ok()?);
    Some(turned.rotate_right(16 * u32::from(*key.get(1)?)))
}

/// What the keys of listed seeds begin with, and what comes after them all.
pub(crate) const SEED: &[u8] = b"s";
pub(crate) const SEEDS_END: &[u8] = b"t";

/// The key of an override: its kind, then its subject.
pub(crate) fn user_override(user_override: &Override) -> Vec<u8> {
    [OVERRIDES, &[override_letter(user_override)], user_override.subject().as_bytes()].concat()
}

/// The letter of an override's kind; `h` is a host that is paused, `t` one that is trusted, `x` what is excluded.
pub(crate) fn override_letter(user_override: &Override) -> u8 {
    match user_override {
        Override::Pin { .. } => b'p',
        Override::Boost { .. } => b'b',
        Override::Pause { .. } => b'h',
        Override::Trust { .. } => b't',
        Override::Exclude { .. } => b'x',
    }
}

/// What the keys of overrides begin with, and what comes after them all.
pub(crate) const OVERRIDES: &[u8] = b"w";
pub(crate) const OVERRIDES_END: &[u8] = b"x";

/// The key under which is kept where an excluded page was.
pub(crate) fn aside(page: PageKey) -> [u8; 1 + PageKey::LEN] {
    tagged(b'e', page.to_bytes())
}

/// What those keys begin with, and what comes after them all.
pub(crate) const ASIDE: &[u8] = b"e";
pub(crate) const ASIDE_END: &[u8] = b"f";

/// The key of what was dropped at a time from a file or the log.
pub(crate) fn dropped(at: Time, from: &str) -> Vec<u8> {
    [DROPPED, &at.millis().to_be_bytes(), from.as_bytes()].concat()
}

/// What those keys begin with, and what comes after them all.
pub(crate) const DROPPED: &[u8] = b"d";
pub(crate) const DROPPED_END: &[u8] = b"e";

/// The first key that comes after `key`.
pub(crate) fn after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// What the keys of host rows begin with, and what comes after them all.
pub(crate) const HOSTS: &[u8] = b"h";
pub(crate) const HOSTS_END: [u8; 1] = [b'h' + 1];

/// A numbered row of the meta space.
pub(crate) fn numbered(letter: u8, number: u64) -> [u8; 9] {
    tagged(letter, number.to_be_bytes())
}

/// A key that no version of us writes.
pub(crate) fn bad(what: &str) -> StateError {
    StateError::Corrupt(format!("a {what} key cannot be read"))
}

fn tagged<const N: usize, const M: usize>(letter: u8, rest: [u8; N]) -> [u8; M] {
    let mut key = [letter; M];
    key[M - N..].copy_from_slice(&rest);
    key
}

/// Six bytes hold milliseconds until the year 10889 and turns beyond any crawl.
fn six(value: u64) -> [u8; 6] {
    let capped = value.min((1 << 48) - 1).to_be_bytes();
    [capped[2], capped[3], capped[4], capped[5], capped[6], capped[7]]
}

fn from_six(bytes: &[u8]) -> Option<u64> {
    let mut out = [0; 8];
    out[2..].copy_from_slice(bytes.get(..6)?);
    Some(u64::from_be_bytes(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostKey = HostKey { shard: 1, host: 0xabcd };

    #[test]
    fn queue_keys_order_by_lane_then_position() {
        let page = PageKey { host: HOST, url: 5 };
        let keys = [
            queue(page, Place::New(Band::new(0), 9)),
            queue(page, Place::New(Band::new(1), 2)),
            queue(page, Place::Due(Time::from_secs(1))),
            queue(page, Place::Due(Time::from_secs(2))),
            queue(page, Place::Recheck(Time::from_secs(1))),
        ];
        assert!(keys.is_sorted());
        assert_eq!(parse_queue(&keys[1]), Some((2, 5)));
        assert_eq!(parse_queue(&keys[1][..20]), None);
    }

    #[test]
    fn front_keys_round_trip_and_end_after_their_band() {
        let key = front(Band::new(3), Time::from_millis(77), HOST);
        assert_eq!(parse_front(&key), Some((Time::from_millis(77), HOST)));
        assert!(key.as_slice() < front_end(Band::new(3)).as_slice());
        assert!(
            front_end(Band::new(3)).as_slice() < front(Band::new(4), Time::EPOCH, HOST).as_slice()
        );
    }

    #[test]
    fn fingerprints_turn_back() {
        for table in 0..4 {
            let key = fingerprint(table, 0x0123_4567_89ab_cdef);
            assert_eq!(parse_fingerprint(&key), Some(0x0123_4567_89ab_cdef));
        }
    }
}
