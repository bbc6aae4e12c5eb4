//! What does a fetch need to know about its page?

use std::net::IpAddr;
use std::time::Duration;

use evercrawl_compare::{SiteMemory, Soft404Profile, TemplateMemory};
use evercrawl_model::{PageKey, Time};
use evercrawl_planner::Conditions;
use evercrawl_state::{PageRow, Place, StateError, Store, View};

/// How soon a host's soft-404 profile is probed again when a page looks suspect.
pub const SOFT_404_RECHECK_AFTER: Duration = Duration::from_secs(86_400);

/// How long a host's soft-404 profile is trusted.
const SOFT_404_PROFILE_VALIDITY: Duration = Duration::from_secs(30 * 86_400);

/// A page handed out for fetching.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Its key.
    pub page: PageKey,
    /// Its row at the time of the lease.
    pub row: PageRow,
    /// Where it is queued on disk.
    pub place: Place,
    /// The host's address, if known.
    pub ip: Option<IpAddr>,
    /// Earlier failures of the host in a row.
    pub host_failures: u16,
    /// What the pages of the host have in common.
    pub site_memory: SiteMemory,
    /// What the pages of its template have shown of their places.
    pub template_memory: TemplateMemory,
    /// How the host answers for addresses that cannot exist, if known.
    pub soft_404_profile: Option<Soft404Profile>,
    /// When that was learned.
    pub soft_404_profiled_at: Time,
    /// Whether all that differs counts as a change, noise too.
    pub is_unmasked: bool,
    /// True when others made the visit: nothing can be looked at again.
    pub is_past: bool,
    /// Which validators the request sends.
    pub conditions: Conditions,
}

impl Lease {
    /// What the state knows of a page and of its host's pages, at `now`. Of the host itself nothing is said.
    pub fn read<S: Store>(
        state: &View<S>,
        (page, row): (PageKey, PageRow),
        place: Place,
        now: Time,
    ) -> Result<Self, StateError> {
        let seen = row.past.is_some();
        let (site_memory, template_memory) = if seen {
            (state.site(page.host)?, state.template(page.host, &row.url)?)
        } else {
            (SiteMemory::default(), TemplateMemory::default())
        };
        let profile = state
            .soft_404_profile(page.host)?
            .filter(|known| now.since(known.at) < SOFT_404_PROFILE_VALIDITY);
        let profiled_at = profile.as_ref().map_or(Time::EPOCH, |known| known.at);
        Ok(Lease {
            page,
            row,
            place,
            ip: None,
            host_failures: 0,
            site_memory,
            template_memory,
            soft_404_profile: profile.map(|known| Soft404Profile::from_bytes(&known.manner)),
            soft_404_profiled_at: profiled_at,
            is_unmasked: false,
            is_past: false,
            conditions: Conditions::ALL,
        })
    }

    /// The `ETag` and the `Last-Modified` to send.
    pub fn validators_to_send(&self) -> (Option<&str>, Option<&str>) {
        let held = self.row.past.as_ref().map(|past| &past.validators);
        let etag = held.and_then(|held| held.etag.as_deref());
        let last_modified = held.and_then(|held| held.last_modified.as_deref());
        (
            etag.filter(|_| self.conditions.etag),
            last_modified.filter(|_| self.conditions.last_modified),
        )
    }

    /// True when the host's soft-404 profile is unknown or older than a day.
    pub fn needs_soft_404_profile(&self, now: Time) -> bool {
        self.soft_404_profile.is_none()
            || now.since(self.soft_404_profiled_at) >= SOFT_404_RECHECK_AFTER
    }
}
