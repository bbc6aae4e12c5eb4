//! Which rows of hosts are in memory, and which of them changed since the last commit?
//!
//! A host's row changes with every visit to the host and every link to it. So it is kept decoded, and encoded once
//! a commit. Readers see a changed row here before they look any further.

use std::collections::HashMap;

use evercrawl_model::HostKey;

use crate::keys;
use crate::rows::HostRow;

/// How many rows stay in memory after a commit.
const KEPT: usize = 20_000;

/// Decoded rows of hosts.
#[derive(Default)]
pub(crate) struct HostRows(HashMap<HostKey, Cached>);

struct Cached {
    row: HostRow,
    changed: bool,
}

impl HostRows {
    /// The row of a host, where it is in memory.
    pub(crate) fn get(&self, host: HostKey) -> Option<&HostRow> {
        self.0.get(&host).map(|cached| &cached.row)
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, host: HostKey) -> Option<&mut HostRow> {
        let cached = self.0.get_mut(&host)?;
        cached.changed = true;
        Some(&mut cached.row)
    }

    /// Keeps a row as it was read.
    pub(crate) fn keep(&mut self, host: HostKey, row: HostRow) {
        self.0.insert(host, Cached { row, changed: false });
    }

    /// Keeps a row that was written here first.
    pub(crate) fn insert(&mut self, host: HostKey, row: HostRow) {
        self.0.insert(host, Cached { row, changed: true });
    }

    /// Drops the row at `key`: it is about to be written without us.
    pub(crate) fn forget(&mut self, key: &[u8]) {
        if let Some(host) = keys::parse_host(key) {
            self.0.remove(&host);
        }
    }

    /// The row at `key`, where it changed.
    pub(crate) fn changed(&self, key: &[u8]) -> Option<&HostRow> {
        let cached = self.0.get(&keys::parse_host(key)?).filter(|cached| cached.changed)?;
        Some(&cached.row)
    }

    /// The rows that changed with `from <= key < to`, in the order of their keys.
    pub(crate) fn changed_between(&self, from: &[u8], to: &[u8]) -> Vec<(HostKey, &HostRow)> {
        if to <= keys::HOSTS || from >= &keys::HOSTS_END[..] {
            return Vec::new();
        }
        let asked = |host: HostKey| from <= &keys::host(host)[..] && &keys::host(host)[..] < to;
        let changed = self.0.iter().filter(|(host, cached)| cached.changed && asked(**host));
        let mut changed: Vec<_> = changed.map(|(host, cached)| (*host, &cached.row)).collect();
        changed.sort_unstable_by_key(|(host, _)| *host);
        changed
    }

    /// Hands out every row that changed, to be committed.
    pub(crate) fn write_changed(&mut self, mut write: impl FnMut(HostKey, &HostRow)) {
        for (host, cached) in self.0.iter_mut().filter(|(_, cached)| cached.changed) {
            write(*host, &cached.row);
            cached.changed = false;
        }
        if self.0.len() > KEPT {
            self.0.clear();
        }
    }
}
