//! When is the page visited next, and why then?

use std::time::Duration;

use evercrawl_engine::walk::read_robots;
use evercrawl_engine::{Planner, PlannerConfig};
use evercrawl_frontier::AUDIT_DUE;
use evercrawl_insight::importance::weight_of_importance;
use evercrawl_model::{PageKey, Time};
use evercrawl_state::{Lane, PageRow, Place, Store};
use evercrawl_urls::Canonical;

use super::{
    ChangeRateStep, ImportanceBasis, ImportanceStep, Inputs, NewLinksStep, NextStep, Question,
    ScheduleStep, SignalsStep, SpamEffect, Step, ValueStep, Verdict, WaitsFor,
};
use crate::code::At;
use crate::learned::signals_of;
use crate::source::QueryError;

/// Pages of a host that are counted before one of them.
const COUNTED: usize = 10_000;
/// Fewer new links a day are not worth a step.
const FEW_LINKS: f64 = 0.01;
const DAY_SECONDS: f64 = 86_400.0;

/// What the planner says of a page, by name.
struct Reasons(Vec<(&'static str, f64)>);

impl Reasons {
    fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
    }
}

impl<S: Store> Question<'_, S> {
    /// When the page is visited next, where `spam` says what becomes of it otherwise.
    pub(super) fn next(&self, row: &PageRow, spam: Option<SpamEffect>) -> Step {
        let (mut band, mut sequence) = (None, None);
        let (waits, at) = match row.place {
            Some(Place::New(of, turn)) => {
                (band, sequence) = (Some(of.number()), Some(turn));
                let again = row.past.is_some();
                (if again { WaitsFor::NewVisit } else { WaitsFor::FirstVisit }, None)
            }
            Some(Place::Due(AUDIT_DUE)) => (WaitsFor::Audit, None),
            Some(Place::Due(at)) => (WaitsFor::Due, Some(at)),
            Some(Place::Recheck(at)) => (WaitsFor::Recheck, Some(at)),
            None => (WaitsFor::Nothing, None),
        };
        let verdict = match (spam, waits, at) {
            (Some(SpamEffect::Returns), ..) => Verdict::Wait,
            (Some(_), ..) | (_, WaitsFor::Nothing, _) => Verdict::Refuse,
            (.., Some(at)) if at > self.source.now => Verdict::Wait,
            _ => Verdict::Pass,
        };
        let at = at.map(At);
        Step::new(Inputs::Next(NextStep { waits, at, band, sequence, spam }), verdict)
    }

    /// What is believed of the page, and why it is visited when it is, where it is `visited`.
    pub(super) fn schedule(
        &self,
        key: PageKey,
        row: &PageRow,
        visited: bool,
    ) -> Result<Vec<Step>, QueryError> {
        let now = self.source.now;
        let planner = self.source.planner_for_one_page(self.config.plan)?;
        let reasons = Reasons(planner.explain_policy(key, row, now));
        let mut steps: Vec<Step> = change_rate(&reasons, row).into_iter().collect();
        steps.extend(importance(planner.plan(), row));
        let links = reasons.get("new links a day").filter(|links| *links >= FEW_LINKS);
        steps.extend(
            links.map(|new_links_a_day| {
                Step::info(Inputs::NewLinks(NewLinksStep { new_links_a_day }))
            }),
        );
        let sources = signals_of(&planner, key.host, &self.source.host_name(key.host)?);
        if !sources.is_empty() {
            steps.push(Step::info(Inputs::Signals(SignalsStep { sources })));
        }
        // Else its place among new pages, or that it is not visited, says all.
        if visited && matches!(row.place, Some(Place::Due(_))) {
            steps.extend(value(&planner, &reasons, key, row, now));
            let bound = self.bound_by(&planner, key, row)?;
            steps.push(Step::info(Inputs::Schedule(bound)));
        }
        Ok(steps)
    }

    /// What decides the time of the next visit.
    fn bound_by(
        &self,
        planner: &Planner,
        key: PageKey,
        row: &PageRow,
    ) -> Result<ScheduleStep, QueryError> {
        if planner.overrides().is_paused(key.host) {
            return Ok(ScheduleStep::Pause);
        }
        if let Some(every) = binding_pin(planner, key, row) {
            return Ok(ScheduleStep::Pin { every_seconds: every.as_secs_f64() });
        }
        let Some(rate) = planner.plan().rate else { return Ok(ScheduleStep::FixedInterval) };
        if let Some(pace) = self.host_pace(key, row)? {
            return Ok(pace);
        }
        let interval = planner.revisit_interval(key, row, self.source.now);
        Ok(bound_of_interval(planner.plan(), interval, rate))
    }

    /// The pace of the page's host, where that is what the page waits for: the pages of its host that are due
    /// before take longer at that pace than it has to wait, and not less than it has waited already.
    fn host_pace(&self, key: PageKey, row: &PageRow) -> Result<Option<ScheduleStep>, QueryError> {
        let (state, now) = (self.source.state, self.source.now);
        let (Some(Place::Due(due)), Some(host)) = (row.place, state.host(key.host)?) else {
            return Ok(None);
        };
        let before = state.lane(key.host, Lane::Due, (0, 0), due.millis(), COUNTED)?.len();
        let url = Canonical::from_trusted(row.url.clone());
        let copy = url.map(|url| state.robots(url.origin())).transpose()?.flatten();
        let asked =
            copy.and_then(|copy| read_robots(&copy, &self.config.reading.agent).crawl_delay());
        let pause = self.config.frontier.pace.host_pause(asked, host.answer_time);
        let takes = pause.saturating_mul(u32::try_from(before).unwrap_or(u32::MAX));
        let waits = now.after(takes) > due && now.since(due) <= takes.saturating_add(pause);
        Ok((waits && before > 0).then_some(ScheduleStep::HostPace {
            pages_before: before as u64,
            pause_seconds: pause.as_secs_f64(),
        }))
    }
}

/// How often the page changes, and how much of it.
fn change_rate(reasons: &Reasons, row: &PageRow) -> Option<Step> {
    let seconds = |name| Some(DAY_SECONDS / reasons.get(name)?);
    let past = row.past.as_ref().filter(|_| row.held())?;
    Some(Step::info(Inputs::ChangeRate(ChangeRateStep {
        interval_seconds: seconds("rate")?,
        interval_low_seconds: seconds("rate high")?,
        interval_high_seconds: seconds("rate low")?,
        changed_probability: reasons.get("chance of a change").unwrap_or_default(),
        news_share: Some(f64::from(past.noted.news)).filter(|news| *news > 0.0),
    })))
}

/// How much the page matters by links, where that counts.
fn importance(plan: &PlannerConfig, row: &PageRow) -> Option<Step> {
    plan.importance.then(|| {
        Step::info(Inputs::Importance(ImportanceStep {
            times_average: row.importance.ratio(),
            weight: weight_of_importance(row.importance).into(),
            by: match (plan.by_cash, row.past.is_some()) {
                (true, true) => ImportanceBasis::OpicLinks,
                (true, false) => ImportanceBasis::OpicCash,
                (false, _) => ImportanceBasis::Links,
            },
        }))
    })
}

/// The value of a fetch now next to the threshold, where a budget is divided.
fn value(
    planner: &Planner,
    reasons: &Reasons,
    key: PageKey,
    row: &PageRow,
    now: Time,
) -> Option<Step> {
    planner.plan().rate.filter(|_| row.held())?;
    // As if it had just been visited: how long it waits from then on.
    let visited = row.past.as_ref().and_then(|past| past.last_look).unwrap_or(now);
    let interval = Reasons(planner.explain_policy(key, row, visited)).get("interval")?;
    let ratio = reasons.get("worth now")? / reasons.get("threshold")?;
    let step = ValueStep {
        value_over_threshold: Some(ratio).filter(|ratio| ratio.is_finite()),
        reached_after_seconds: interval * DAY_SECONDS,
    };
    let verdict = if ratio < 1.0 { Verdict::Wait } else { Verdict::Pass };
    Some(Step::new(Inputs::Value(step), verdict))
}

/// What decides how long a page waits from visit to visit, where that is `interval`.
fn bound_of_interval(plan: &PlannerConfig, interval: Duration, rate: f64) -> ScheduleStep {
    if interval <= plan.shortest {
        return ScheduleStep::MinInterval { seconds: plan.shortest.as_secs_f64() };
    }
    match plan.longest {
        Some(longest) if interval >= longest => {
            ScheduleStep::MaxInterval { seconds: longest.as_secs_f64() }
        }
        _ => ScheduleStep::Budget { a_second: rate, policy: plan.policy.to_owned() },
    }
}

/// The interval of a page's pin, where the page would wait longer without it.
fn binding_pin(planner: &Planner, key: PageKey, row: &PageRow) -> Option<Duration> {
    let (every, past) = (planner.overrides().pin_interval(key)?, row.past.as_ref()?);
    let Some(Place::Due(due)) = row.place else { return None };
    (due.since(past.last_visit) >= every).then_some(every)
}
