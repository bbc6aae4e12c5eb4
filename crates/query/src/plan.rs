//! What would be fetched when, if the crawl went on as it is?

use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use evercrawl_engine::{Planner, PlannerConfig};
use evercrawl_model::Time;
use evercrawl_planner::{CLASSES, freshness, rate_class};
use evercrawl_state::{PageRow, Place, Store};
use serde::{Deserialize, Serialize};

use crate::code::At;
use crate::freshness::FreshnessView;
use crate::source::{QueryError, Source};

/// Visits that are named one by one.
const NAMED: usize = 10;
/// Where new pages take all of the budget, known ones wait many times as long; the estimate goes no further.
const LONGEST_WAIT: f64 = 1000.0;

/// What would be fetched in a period that begins now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanView {
    /// When it begins.
    pub at: At,
    /// Its length in seconds.
    pub seconds: f64,
    /// The policy's name.
    pub policy: String,
    /// Requests a second; `None`: every page at its fixed interval.
    pub budget_a_second: Option<f64>,
    /// Visits to known pages that the budget has room for.
    pub visits: f64,
    /// Visits to known pages that come due.
    pub visits_due: f64,
    /// Pages that wait for their first visit.
    pub new_pages: u64,
    /// How fresh the stored pages are now.
    pub freshness: FreshnessView,
    /// The expected freshness from then on, from 0 to 1.
    pub freshness_expected: Option<f64>,
    /// The visits by how often pages change.
    pub classes: Vec<ClassShare>,
    /// The visits by host, those with most visits first.
    pub hosts: Vec<HostShare>,
    /// The visits that come first.
    pub next: Vec<NextVisit>,
}

/// Visits to pages of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassShare {
    /// How often such pages change.
    pub changes: String,
    /// Pages.
    pub pages: u64,
    /// Visits.
    pub visits: f64,
}

/// Visits to pages of one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostShare {
    /// The host.
    pub host: String,
    /// Pages.
    pub pages: u64,
    /// Visits.
    pub visits: f64,
}

/// A visit that comes soon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextVisit {
    /// When it is due.
    pub at: At,
    /// The page.
    pub url: String,
}

/// What would be fetched in the next `time`.
pub fn plan<S: Store>(
    source: &Source<'_, S>,
    plan: PlannerConfig,
    time: Duration,
) -> Result<PlanView, QueryError> {
    let (state, now) = (source.state, source.now);
    let planner = source.planner(plan)?;
    let mut ahead = Ahead::default();
    for page in state.pages() {
        let (key, row) = page?;
        match row.place {
            Some(Place::New(..)) => ahead.new += 1,
            Some(Place::Due(due)) if due < now.after(time) => {
                let interval = planner.revisit_interval(key, &row, now);
                let rate = planner.change_rate_of(key, &row, now);
                ahead.add(&row, (due, now), interval, rate, now.after(time));
            }
            _ => {}
        }
    }
    let stretch = ahead.fit(&planner, time);
    let fresh = freshness::collection_freshness(&planner, state, now)?;
    let expected = planner.expected_freshness(now, stretch);
    Ok(ahead.view(&planner, (now, time), fresh.into(), expected))
}

/// What is to come.
#[derive(Default)]
struct Ahead {
    hosts: BTreeMap<String, Share>,
    classes: [Share; CLASSES.len()],
    new: u64,
    /// Visits that come due, whether or not the budget has room for them.
    due: f64,
    /// The visits that come first, the last of them on top.
    next: BinaryHeap<(Time, String)>,
}

/// The part that a host or a class has in it.
#[derive(Clone, Copy, Default)]
struct Share {
    pages: u64,
    visits: f64,
}

impl Share {
    fn add(&mut self, visits: f64) {
        self.pages += 1;
        self.visits += visits;
    }
}

impl Ahead {
    fn add(
        &mut self,
        row: &PageRow,
        (due, now): (Time, Time),
        interval: Duration,
        rate: Option<f64>,
        end: Time,
    ) {
        let more = end.since(due.max(now)).as_secs_f64() / interval.as_secs_f64().max(1.0);
        let visits = 1.0 + more.floor();
        let host = row.url.split('/').nth(2).unwrap_or_default();
        self.hosts.entry(host.to_owned()).or_default().add(visits);
        self.classes[rate_class(rate.unwrap_or(0.0))].add(visits);
        self.next.push((due, row.url.clone()));
        if self.next.len() > NAMED {
            self.next.pop();
        }
    }

    /// Leaves as many visits as the budget has room for besides those to new pages: the same share of every
    /// page's. Returns how many times as long pages wait for it.
    fn fit(&mut self, planner: &Planner, time: Duration) -> f64 {
        self.due = self.visits();
        let Some(rate) = planner.plan().rate else { return 1.0 };
        let room = (rate * time.as_secs_f64() - self.new as f64).max(0.0);
        if self.due <= room {
            return 1.0;
        }
        let share = room / self.due;
        let shares = self.hosts.values_mut().chain(&mut self.classes);
        shares.for_each(|of| of.visits *= share);
        (1.0 / share).min(LONGEST_WAIT)
    }

    fn visits(&self) -> f64 {
        self.classes.iter().map(|share| share.visits).sum()
    }

    fn view(
        self,
        planner: &Planner,
        (now, time): (Time, Duration),
        freshness: FreshnessView,
        expected: Option<f64>,
    ) -> PlanView {
        let visits = self.visits();
        let classes = CLASSES.iter().zip(&self.classes);
        let classes = classes.map(|((_, name), share)| ClassShare {
            changes: (*name).to_owned(),
            pages: share.pages,
            visits: share.visits,
        });
        let classes = classes.collect();
        let next = self.next.into_sorted_vec().into_iter();
        PlanView {
            at: At(now),
            seconds: time.as_secs_f64(),
            policy: planner.plan().policy.to_owned(),
            budget_a_second: planner.plan().rate,
            visits,
            visits_due: self.due,
            new_pages: self.new,
            freshness,
            freshness_expected: expected,
            classes,
            hosts: by_visits(self.hosts),
            next: next.map(|(at, url)| NextVisit { at: At(at), url }).collect(),
        }
    }
}

/// Hosts, those with most visits first.
fn by_visits(hosts: BTreeMap<String, Share>) -> Vec<HostShare> {
    let hosts = hosts.into_iter().map(|(host, share)| HostShare {
        host,
        pages: share.pages,
        visits: share.visits,
    });
    let mut hosts: Vec<HostShare> = hosts.collect();
    hosts.sort_by(|a, b| b.visits.total_cmp(&a.visits).then_with(|| a.host.cmp(&b.host)));
    hosts
}
