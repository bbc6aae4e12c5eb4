//! Which row? Keys of pages and hosts: fixed length, big endian, ordered by shard, host, URL.

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// A host's key: its shard, then a keyed hash of its name (with the port where it is not the
/// scheme's own, so that `http` and `https` of one name share a queue and its pace).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostKey {
    /// Which part of the URL space; all hosts of a registered domain fall in one.
    pub shard: u16,
    /// Keyed hash of the host's name.
    pub host: u64,
}

/// A page's key: its host, then a keyed hash of its canonical URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageKey {
    /// The host that serves the page.
    pub host: HostKey,
    /// Keyed hash of the canonical URL; moved on by one where two URLs of a host collide.
    pub url: u64,
}

impl HostKey {
    /// Bytes of a host key.
    pub const LEN: usize = 10;

    /// The key as it stands in the store.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[..2].copy_from_slice(&self.shard.to_be_bytes());
        out[2..].copy_from_slice(&self.host.to_be_bytes());
        out
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; `None` when there are too few bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let shard = u16::from_be_bytes(bytes.get(..2)?.try_into().ok()?);
        let host = u64::from_be_bytes(bytes.get(2..Self::LEN)?.try_into().ok()?);
        Some(HostKey { shard, host })
    }
}

impl PageKey {
    /// Bytes of a page key.
    pub const LEN: usize = HostKey::LEN + 8;

    /// The key as it stands in the store.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[..HostKey::LEN].copy_from_slice(&self.host.to_bytes());
        out[HostKey::LEN..].copy_from_slice(&self.url.to_be_bytes());
        out
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; `None` when there are too few bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let host = HostKey::from_bytes(bytes)?;
        let url = u64::from_be_bytes(bytes.get(HostKey::LEN..Self::LEN)?.try_into().ok()?);
        Some(PageKey { host, url })
    }

    /// The key to try when another URL already sits on this one.
    pub fn next_probe(self) -> Self {
        PageKey { url: self.url.wrapping_add(1), ..self }
    }
}

/// Makes keys: the number of shards and the secret seed of one data directory, fixed at creation.
///
/// The seed is secret so that nobody can publish URLs that collide on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyer {
    seed: u64,
    shards: u16,
}

impl Keyer {
    /// Keys for `shards` shards (at least one) under `seed`.
    pub fn new(seed: u64, shards: u16) -> Self {
        Keyer { seed, shards: shards.max(1) }
    }

    /// The seed this was made with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many shards there are.
    pub fn shards(&self) -> u16 {
        self.shards
    }

    /// The key of host `authority` (`name` or `name:port`), whose registered domain is `domain`.
    pub fn host(&self, domain: &str, authority: &str) -> HostKey {
        // The shard's hash must not depend on the secret: machines of a cluster agree on it.
        let shard = xxh3_64_with_seed(domain.as_bytes(), 0) % u64::from(self.shards);
        let shard = u16::try_from(shard).unwrap_or_default();
        HostKey { shard, host: xxh3_64_with_seed(authority.as_bytes(), self.seed) }
    }

    /// The key of canonical URL `url` on `host`, before any collision is known, and 64 more bits
    /// of its hash to tell colliding URLs apart by.
    pub fn page(&self, host: HostKey, url: &str) -> (PageKey, u64) {
        let hash = xxh3_128_with_seed(url.as_bytes(), self.seed);
        // The two halves of the hash: each is meant to be cut off.
        #[allow(clippy::cast_possible_truncation)]
        let (low, high) = (hash as u64, (hash >> 64) as u64);
        (PageKey { host, url: low }, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip_and_order_by_shard_host_url() {
        let key = PageKey { host: HostKey { shard: 3, host: 9 }, url: 7 };
        assert_eq!(PageKey::from_bytes(&key.to_bytes()), Some(key));
        assert_eq!(HostKey::from_bytes(&key.to_bytes()), Some(key.host));
        assert_eq!(PageKey::from_bytes(&key.to_bytes()[..17]), None);
        let later = PageKey { host: HostKey { shard: 3, host: 10 }, url: 0 };
        assert!(key < later && key.to_bytes() < later.to_bytes());
    }

    #[test]
    fn a_domain_stays_in_one_shard_and_seeds_separate_directories() {
        let keyer = Keyer::new(1, 64);
        let (a, b) = (keyer.host("x.org", "a.x.org"), keyer.host("x.org", "b.x.org"));
        assert_eq!(a.shard, b.shard);
        assert_ne!(a.host, b.host);
        assert_ne!(a.host, Keyer::new(2, 64).host("x.org", "a.x.org").host);
        assert_eq!(a.shard, Keyer::new(2, 64).host("x.org", "a.x.org").shard);
    }
}
