//! `evercrawl plan`: what would be fetched when, if the crawl went on as it is; nothing is done.

use std::collections::{BTreeMap, BinaryHeap};
use std::io::Write;
use std::time::Duration;

use evercrawl_engine::Planner;
use evercrawl_engine::freshness;
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::planner::{CLASSES, rate_class};
use evercrawl_model::Time;
use evercrawl_state::{PageRow, Place};
use serde_json::{Value, json};

use super::Opened;
use crate::args::Plan;
use crate::units::{show_count, show_duration};
use crate::{exit, print, report};

/// Hosts and visits that are shown one by one.
const SHOWN: usize = 10;

/// Where new pages take all of the budget, known ones wait many times as long; no more is said of it.
const LONGEST_WAIT: f64 = 1000.0;

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

/// Shows what is to come in the time that was asked for.
pub(crate) fn show(args: &Plan, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    let now = SystemClock.now();
    let planner = super::planner(opened)?;
    let mut ahead = Ahead::default();
    for page in opened.state.pages() {
        let (key, row) = page?;
        match row.place {
            Some(Place::New(..)) => ahead.new += 1,
            Some(Place::Due(due)) if due < now.after(args.time) => {
                let interval = planner.revisit_interval(key, &row, now);
                let rate = planner.change_rate_of(key, &row, now);
                ahead.add(&row, (due, now), interval, rate, now.after(args.time));
            }
            _ => {}
        }
    }
    let stretch = ahead.fit(&planner, args.time);
    let fresh = freshness::collection_freshness(&planner, &opened.state, now)?;
    let expected = planner.expected_freshness(now, stretch);
    if args.json {
        let line = ahead.json(args, &planner, &fresh, expected, now);
        print::json_line(out, &line)?;
    } else {
        ahead.write(args, &planner, now, out)?;
        let expected = expected.map_or("?".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        writeln!(
            out,
            "freshness    {expected} expected from then on; {:.1} % now",
            100.0 * fresh.fresh
        )?;
    }
    Ok(exit::OK)
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
        if self.next.len() > SHOWN {
            self.next.pop();
        }
    }

    /// Leaves as many visits as the budget has room for, besides those to new pages: of every page its
    /// share. Returns how many times as long pages wait for it.
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

    /// Hosts, those with most visits first.
    fn by_host(&self) -> Vec<(&str, Share)> {
        let mut hosts: Vec<_> = self.hosts.iter().map(|(host, s)| (host.as_str(), *s)).collect();
        hosts.sort_by(|a, b| b.1.visits.total_cmp(&a.1.visits).then(a.0.cmp(b.0)));
        hosts
    }

    fn write(
        &self,
        args: &Plan,
        planner: &Planner,
        now: Time,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let count = |number: f64| show_count(number.round() as u64);
        let budget = match planner.plan().rate {
            None => "no budget: every page at its fixed interval".to_owned(),
            Some(rate) => {
                let requests = count(rate * args.time.as_secs_f64());
                format!("{requests} requests at {rate}/s, by policy {}", planner.plan().policy)
            }
        };
        writeln!(out, "the next {}: {budget}", show_duration(args.time))?;
        let (visits, due) = (count(self.visits()), count(self.due));
        let late = if visits == due { "" } else { "; what the budget has no room for comes later" };
        writeln!(out, "known pages  {visits} of {due} visits that come due{late}")?;
        writeln!(out, "new pages    {} wait for their first visit", show_count(self.new))?;
        writeln!(out, "\n{:>10} {:>10}  pages that change", "visits", "pages")?;
        for ((_, words), share) in CLASSES.iter().zip(&self.classes) {
            writeln!(out, "{:>10} {:>10}  {words}", count(share.visits), show_count(share.pages))?;
        }
        writeln!(out, "\n{:>10} {:>10}  host", "visits", "pages")?;
        let hosts = self.by_host();
        for (host, share) in hosts.iter().take(SHOWN) {
            let (visits, pages) = (count(share.visits), show_count(share.pages));
            writeln!(out, "{visits:>10} {pages:>10}  {}", print::plain(host))?;
        }
        if hosts.len() > SHOWN {
            writeln!(out, "{:>21}  and {} more hosts", "", hosts.len() - SHOWN)?;
        }
        writeln!(out, "\nnext")?;
        for (at, url) in self.next.clone().into_sorted_vec() {
            let when = if at > now { at.to_string() } else { format!("{:<24}", "now") };
            writeln!(out, "{when}  {}", print::plain(&url))?;
        }
        Ok(writeln!(out)?)
    }

    fn json(
        &self,
        args: &Plan,
        planner: &Planner,
        fresh: &freshness::Freshness,
        expected: Option<f64>,
        now: Time,
    ) -> Value {
        let share = |share: &Share| json!({"pages": share.pages, "visits": share.visits});
        let with = |name: &str, value: &str, of: &Share| {
            let mut object = share(of);
            object[name] = json!(value);
            object
        };
        let classes = CLASSES.iter().zip(&self.classes);
        let next = self.next.clone().into_sorted_vec();
        json!({
            "at": now.rfc3339(),
            "seconds": args.time.as_secs_f64(),
            "policy": planner.plan().policy,
            "budget_a_second": planner.plan().rate,
            "visits": self.visits(),
            "visits_due": self.due,
            "new_pages": self.new,
            "freshness": report::freshness_json(fresh),
            "fresh_expected": expected,
            "classes": classes.map(|((_, w), s)| with("changes", w, s)).collect::<Vec<_>>(),
            "hosts": self.by_host().iter().map(|(h, s)| with("host", h, s)).collect::<Vec<_>>(),
            "next": next.iter().map(|(at, url)| json!({"at": at.rfc3339(), "url": url}))
                .collect::<Vec<_>>(),
        })
    }
}
