//! How does a policy see a page? Made from its row, and back.

use evercrawl_model::{Change, Kind, PageKey, PolicyNotes, Time};
use evercrawl_policy::{Days, Found, Page};
use evercrawl_sites::Kin;
use evercrawl_state::{PageRow, Place};

/// A page as policies see it, of weight 1.
pub(super) fn page_of(key: PageKey, row: &PageRow) -> Page {
    let kin = Kin::of(&row.url, None);
    let hub = row.hub.unwrap_or(u32::MAX);
    let known = Page {
        host: folded(key.host.host),
        group: kin.directory,
        kin: [kin.section, hub, kin.base],
        kind: match row.kind {
            Kind::Page | Kind::Probe => evercrawl_policy::Kind::Page,
            Kind::Sitemap => evercrawl_policy::Kind::Sitemap,
            Kind::Feed => evercrawl_policy::Kind::Feed,
        },
        due: match row.place {
            Some(Place::Due(at) | Place::Recheck(at)) => days(at),
            _ => evercrawl_policy::NEVER,
        },
        ..Page::new(0)
    };
    let Some(past) = &row.past else { return known };
    Page {
        last: past.last_look.map_or(f64::NEG_INFINITY, days),
        checks: past.checks,
        changes: past.changes,
        watched: past.watched / 86_400.0,
        unmodified: past.noted.unmodified,
        note: past.noted.numbers,
        ..known
    }
}

/// What is kept of a page, as its row has it.
pub(super) fn noted(page: &Page, news: f32) -> PolicyNotes {
    PolicyNotes { unmodified: page.unmodified, numbers: page.note, news }
}

pub(super) fn found(change: Change) -> Found {
    match change {
        Change::New | Change::Changed | Change::Near => Found::Changed,
        Change::Same => Found::Same,
        Change::Gone => Found::Gone,
        Change::Failed => Found::Failed,
    }
}

/// Days since the epoch: what policies count in.
pub(super) fn days(time: Time) -> Days {
    time.millis() as f64 / 86_400_000.0
}

pub(super) fn time(days: Days) -> Time {
    Time::from_millis((days * 86_400_000.0).max(0.0) as u64).min(Time::NEVER)
}

/// What policies know a host by.
pub(super) fn folded(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}
