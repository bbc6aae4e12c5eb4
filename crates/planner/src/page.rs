//! How does a policy see a page? Conversions from page rows, and back.

use evercrawl_model::{Change, PageKey, PageKind, PolicyNotes, Time};
use evercrawl_policy::{Days, Finding, Page};
use evercrawl_sites::GroupKeys;
use evercrawl_state::{PageRow, Place};

/// A page as policies see it, with weight 1.
pub(super) fn unweighted_policy_page(key: PageKey, row: &PageRow) -> Page {
    let kin = GroupKeys::of_page(&row.url, None);
    let hub = row.hub.unwrap_or(u32::MAX);
    let known = Page {
        host: fold_hash(key.host.host),
        group: kin.directory,
        kin: [kin.section, hub, kin.base],
        kind: match row.kind {
            PageKind::Page | PageKind::Probe => evercrawl_policy::PageKind::Page,
            PageKind::Sitemap => evercrawl_policy::PageKind::Sitemap,
            PageKind::Feed => evercrawl_policy::PageKind::Feed,
        },
        due: match row.place {
            Some(Place::Due(at) | Place::Recheck(at)) => to_days(at),
            _ => evercrawl_policy::NEVER,
        },
        ..Page::new(0)
    };
    let Some(past) = &row.past else { return known };
    Page {
        last: past.last_look.map_or(f64::NEG_INFINITY, to_days),
        checks: past.checks,
        changes: past.changes,
        watched: past.watched / 86_400.0,
        unmodified: past.noted.unmodified,
        note: past.noted.numbers,
        ..known
    }
}

/// The policy's notes on a page, for its row.
pub(super) fn policy_notes(page: &Page, news: f32) -> PolicyNotes {
    PolicyNotes { unmodified: page.unmodified, numbers: page.note, news }
}

pub(super) fn to_finding(change: Change) -> Finding {
    match change {
        Change::New | Change::Changed | Change::Near => Finding::Changed,
        Change::Same => Finding::Same,
        Change::Gone => Finding::Gone,
        Change::Failed => Finding::Failed,
    }
}

/// Days since the epoch, the policies' unit of time.
pub(super) fn to_days(time: Time) -> Days {
    time.millis() as f64 / 86_400_000.0
}

pub(super) fn from_days(days: Days) -> Time {
    Time::from_millis((days * 86_400_000.0).max(0.0) as u64).min(Time::NEVER)
}

/// The 32-bit host number that policies use.
pub(super) fn fold_hash(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}
