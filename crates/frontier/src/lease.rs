//! What does whoever fetches a page have to know of it?

use std::net::IpAddr;
use std::time::Duration;

use evercrawl_compare::{SiteMemory, Soft404Profile};
use evercrawl_model::{PageKey, Time};
use evercrawl_planner::Conditions;
use evercrawl_state::{PageRow, Place};

/// How long it is not asked again how a host answers for what does not exist, whatever a page makes suspect.
pub const DOUBTED_AFTER: Duration = Duration::from_secs(86_400);

/// A page handed out to be fetched.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Its key.
    pub page: PageKey,
    /// Its row as it was when it was handed out.
    pub row: PageRow,
    /// Where it waits on disk.
    pub place: Place,
    /// The host's address, where it is known.
    pub ip: Option<IpAddr>,
    /// Failures of the host in a row, before this.
    pub host_failures: u16,
    /// What the pages of the host have in common.
    pub site: SiteMemory,
    /// How the host answers for what does not exist, where that is known.
    pub manner: Option<Soft404Profile>,
    /// When that was found out.
    pub manner_at: Time,
    /// By what it is asked whether it changed.
    pub conditions: Conditions,
}

impl Lease {
    /// What "changed since?" is asked with: the `ETag` and the `Last-Modified`.
    pub fn condition(&self) -> (Option<&str>, Option<&str>) {
        let held = self.row.past.as_ref().map(|past| &past.validators);
        let etag = held.and_then(|held| held.etag.as_deref());
        let last_modified = held.and_then(|held| held.last_modified.as_deref());
        (
            etag.filter(|_| self.conditions.etag),
            last_modified.filter(|_| self.conditions.last_modified),
        )
    }

    /// True when it is not known how the host answers for what does not exist, or that was found
    /// out before yesterday.
    pub fn doubts_manner(&self, now: Time) -> bool {
        self.manner.is_none() || now.since(self.manner_at) >= DOUBTED_AFTER
    }
}
