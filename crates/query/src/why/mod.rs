//! Where is a URL in the crawl, and why? Also for URLs that were never seen.
//!
//! The answer is a list of steps in the order in which the crawl takes them. Each has a code, what it looked
//! at, and a verdict.

mod past;
mod rules;
mod schedule;
mod spam;

use evercrawl_engine::config::WalkConfig;
use evercrawl_engine::overrides::Overrides;
use evercrawl_model::{Cause, HostKey, Outcome, PageKey, Refusal};
use evercrawl_state::{PageRow, Store};
use evercrawl_urls::Canonical;
use serde::{Deserialize, Serialize};

use crate::code::{At, Code};
use crate::hosts::{HostView, view_of_host};
use crate::learned::SignalView;
use crate::overrides::OverrideView;
use crate::page::{PageReader, PageState, PageView};
use crate::source::{QueryError, Source};
use spam::Suspected;
pub use spam::{SpamAction, SpamEffect};

/// Where a URL is in the crawl, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhyView {
    /// The canonical URL.
    pub url: String,
    /// When it was asked.
    pub at: At,
    /// Its state; `None` where it was never seen.
    pub state: Option<PageState>,
    /// What was looked at, in the order in which the crawl does.
    pub steps: Vec<Step>,
    /// What is known of the page, where it is known.
    pub page: Option<PageView>,
    /// The proxy that it would be fetched through. The state does not tell: who has the settings adds it.
    #[serde(default)]
    pub proxy: Option<String>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What was looked at, and what it showed.
    #[serde(flatten)]
    pub what: Inputs,
    /// What follows for a fetch.
    pub verdict: Verdict,
}

impl Step {
    fn new(what: Inputs, verdict: Verdict) -> Self {
        Step { what, verdict }
    }

    fn info(what: Inputs) -> Self {
        Step::new(what, Verdict::Info)
    }
}

/// What follows from a step for a fetch of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may be fetched, as far as this goes.
    Pass,
    /// It will not be fetched as long as this holds.
    Refuse,
    /// It has to wait.
    Wait,
    /// Nothing.
    Info,
}

/// What a step looked at, and what it showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Inputs {
    /// Is it known, and what stands of it?
    Known(KnownStep),
    /// Is it in scope, and does no filter or trap rule refuse it?
    Scope(ScopeStep),
    /// Does robots.txt allow it?
    Robots(RobotsStep),
    /// What did the user set for it?
    Override(OverrideView),
    /// Which pages moved here?
    Formerly(FormerlyStep),
    /// Where did it move?
    Moved(MovedStep),
    /// What is shown in its place?
    Substitute(SubstituteStep),
    /// What did visits find?
    Visits(VisitsStep),
    /// What of it is volatile, and not counted as change?
    Volatile(VolatileStep),
    /// When is it visited next?
    Next(NextStep),
    /// For which page of another host does it wait?
    Mirror(MirrorStep),
    /// How often does it change?
    ChangeRate(ChangeRateStep),
    /// How much does it matter by links?
    Importance(ImportanceStep),
    /// How many new pages does it lead to?
    NewLinks(NewLinksStep),
    /// Who reports changes on its host, and how far is that right?
    Signals(SignalsStep),
    /// What is a fetch worth now?
    Value(ValueStep),
    /// What decides the time of the next visit?
    Schedule(ScheduleStep),
    /// Is its host taken for spam?
    Spam(SpamStep),
    /// May its host be asked?
    Host(Box<HostView>),
}

/// Is it known, and what stands of it?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownStep {
    /// Whether it is.
    pub known: bool,
    /// Why it is refused, how its last visit failed, or why its host's pages wait: a code.
    pub reason: Option<String>,
    /// When it became known.
    pub found: Option<At>,
    /// The page on which it was first found; `None` for a seed, or what a list named.
    pub via: Option<String>,
    /// Links from a seed.
    pub depth: Option<u16>,
}

/// Is it in scope, and does no filter or trap rule refuse it?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScopeStep {
    /// Why it would be refused.
    pub reason: Option<Code<Refusal>>,
    /// The rule that refuses it.
    pub rule: Option<String>,
}

/// Does robots.txt allow it?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RobotsStep {
    /// When the stored copy was fetched; `None` where there is none.
    pub fetched: Option<At>,
    /// The status it came with; `None` where there was no answer.
    pub status: Option<u16>,
    /// Whether it allows the URL; `None` where that is not known.
    pub allowed: Option<bool>,
    /// The line that decides.
    pub line: Option<RobotsLine>,
    /// When it is requested again, where it could not be fetched.
    pub retry_at: Option<At>,
}

/// A line of a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsLine {
    /// Its number, from 1.
    pub number: u32,
    /// Its text.
    pub text: String,
}

/// Which pages moved here?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormerlyStep {
    /// Their URLs, the latest first.
    pub urls: Vec<String>,
}

/// Where did it move?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedStep {
    /// The target, as far as the archive says.
    pub to: Option<String>,
    /// The status of the redirect.
    pub status: u16,
}

/// What is shown in its place?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubstituteStep {
    /// What it is: `soft_404`, `login_wall` or `parked`.
    pub outcome: Code<Outcome>,
    /// Whether that was confirmed.
    pub confirmed: bool,
    /// Whether the last good copy is kept.
    pub copy_kept: bool,
}

/// What did visits find?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitsStep {
    /// How many there were.
    pub visits: u32,
    /// When the last one was.
    pub last_visit: At,
    /// How it ended.
    pub outcome: Code<Outcome>,
    /// What exactly went wrong at it, if anything did.
    #[serde(default)]
    pub cause: Option<Code<Cause>>,
    /// Whether what is held of the page did not arrive whole.
    #[serde(default)]
    pub cut: bool,
    /// Its status.
    pub status: Option<u16>,
    /// Visits that could have seen a change.
    pub checks: u32,
    /// Those that saw one.
    pub changes: u32,
}

/// What of it is volatile, and not counted as change?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolatileStep {
    /// Places of the page that are known to be noise.
    pub places: u64,
    /// Whether the last visit is in doubt, and waits for a second look.
    pub in_doubt: bool,
}

/// When is it visited next?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextStep {
    /// For what it waits.
    pub waits: WaitsFor,
    /// When it is due, or is tried again.
    pub at: Option<At>,
    /// The front queue that it waits in.
    pub band: Option<u8>,
    /// Its place in the order in which pages of that band were discovered.
    pub sequence: Option<u64>,
    /// What becomes of it as its host is taken for spam.
    pub spam: Option<SpamEffect>,
}

/// For what a page waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsFor {
    /// Its first visit.
    FirstVisit,
    /// A new first visit: it was visited before.
    NewVisit,
    /// An audit: it was sampled, and comes before all other pages of its host.
    Audit,
    /// Its next visit.
    Due,
    /// Another try: there is little hope for it.
    Recheck,
    /// Nothing: it is not visited by itself.
    Nothing,
}

/// For which page of another host does it wait?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MirrorStep {
    /// Its host.
    pub host: String,
    /// The host that it mirrors.
    pub original: String,
    /// Pages compared that were alike.
    pub alike: u32,
    /// Pages compared.
    pub compared: u32,
    /// The page that is fetched instead; `None` where it comes back with the next crawl.
    pub instead: Option<String>,
}

/// How often does it change?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeRateStep {
    /// The estimated time from change to change, in seconds.
    pub interval_seconds: f64,
    /// The lower end of its 90 % range.
    pub interval_low_seconds: f64,
    /// The upper end of its 90 % range.
    pub interval_high_seconds: f64,
    /// The probability that it has changed since the last visit.
    pub changed_probability: f64,
    /// The share of its text that is new when it changes; `None` before a change.
    pub news_share: Option<f64>,
}

/// How much does it matter by links?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportanceStep {
    /// Its importance next to the average page's; `None` where it is not ranked yet.
    pub times_average: Option<f64>,
    /// What its freshness counts.
    pub weight: f64,
    /// By what it was ranked.
    pub by: ImportanceBasis,
}

/// By what a page is ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportanceBasis {
    /// The links that are kept.
    Links,
    /// OPIC cash that it has passed on.
    OpicLinks,
    /// OPIC cash that it has received so far.
    OpicCash,
}

/// How many new pages does it lead to?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewLinksStep {
    /// New links a day.
    pub new_links_a_day: f64,
}

/// Who reports changes on its host, and how far is that right?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalsStep {
    /// The sources.
    pub sources: Vec<SignalView>,
}

/// What is a fetch worth now?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueStep {
    /// The value of a fetch now, over the threshold price; `None` before there is a threshold.
    pub value_over_threshold: Option<f64>,
    /// How long after a visit the threshold is reached, in seconds.
    pub reached_after_seconds: f64,
}

/// What decides the time of the next visit?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "bound_by", rename_all = "snake_case")]
pub enum ScheduleStep {
    /// The user paused its host.
    Pause,
    /// Its pin.
    Pin {
        /// The longest time from visit to visit, in seconds.
        every_seconds: f64,
    },
    /// The fixed interval of all pages.
    FixedInterval,
    /// The pace of its host.
    HostPace {
        /// Pages of its host that are due before.
        pages_before: u64,
        /// The pause between two requests, in seconds.
        pause_seconds: f64,
    },
    /// `schedule.min_interval`.
    MinInterval {
        /// The interval, in seconds.
        seconds: f64,
    },
    /// `schedule.max_interval`.
    MaxInterval {
        /// The interval, in seconds.
        seconds: f64,
    },
    /// The budget, divided by the policy.
    Budget {
        /// Requests a second.
        a_second: f64,
        /// The policy's name.
        policy: String,
    },
}

/// Is its host taken for spam?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpamStep {
    /// The host.
    pub host: String,
    /// The probability that it is spam.
    pub probability: f64,
    /// When it was last seen so.
    pub seen: At,
    /// What was seen.
    pub evidence: String,
    /// What is done about it.
    pub action: SpamAction,
}

/// Where `url` is in the crawl, and why.
pub fn why<S: Store>(
    source: &Source<'_, S>,
    config: &WalkConfig,
    url: &Canonical,
) -> Result<WhyView, QueryError> {
    let host = source.host_of(url);
    let (key, row) = source.find(url)?.unzip();
    let page = key.zip(row.as_ref());
    let question =
        Question { source, config, url, host, overrides: Overrides::read(source.state)? };
    let suspected = Suspected::read(source, config, host)?;
    let mut reader = PageReader::new(source.state, source.now)?;
    let mut steps = vec![
        question.known(page, &mut reader)?,
        question.scope(page.map(|(_, row)| row))?,
        question.robots()?,
    ];
    steps.extend(question.user_overrides(key)?);
    let mut described = None;
    if let Some((key, row)) = page {
        let effect = suspected.as_ref().and_then(|host| host.effect(key, row, &question.overrides));
        steps.extend(question.past(key, row)?);
        steps.push(question.next(row, effect));
        steps.extend(question.mirror(key, row)?);
        steps.extend(question.schedule(key, row, effect.is_none())?);
        let mut view = reader.view(key, row)?;
        if effect.is_some() {
            view.next_due = None;
        }
        described = Some(view);
    }
    steps.extend(suspected.map(|host| host.step()));
    steps.extend(question.host_step()?);
    let state = row.as_ref().map(|row| PageState::of(row, source.now));
    let (url, at) = (url.as_str().to_owned(), At(source.now));
    Ok(WhyView { url, at, state, steps, page: described, proxy: None })
}

/// What is asked, and what all steps need.
struct Question<'a, S> {
    source: &'a Source<'a, S>,
    config: &'a WalkConfig,
    url: &'a Canonical,
    host: HostKey,
    overrides: Overrides,
}

impl<S: Store> Question<'_, S> {
    fn known(
        &self,
        page: Option<(PageKey, &PageRow)>,
        reader: &mut PageReader<'_, S>,
    ) -> Result<Step, QueryError> {
        let Some((key, row)) = page else {
            let step =
                KnownStep { known: false, reason: None, found: None, via: None, depth: None };
            return Ok(Step::info(Inputs::Known(step)));
        };
        let via = row.via.map_or(Ok(None), |via| self.source.url(via))?;
        let reason = reader.reason(key, row)?;
        let verdict = match PageState::of(row, self.source.now) {
            PageState::Refused => Verdict::Refuse,
            PageState::New if reason.is_some() => Verdict::Wait,
            _ => Verdict::Pass,
        };
        let step = KnownStep {
            known: true,
            reason: reason.map(str::to_owned),
            found: Some(At(row.found)),
            via,
            depth: Some(row.depth),
        };
        Ok(Step::new(Inputs::Known(step), verdict))
    }

    fn host_step(&self) -> Result<Option<Step>, QueryError> {
        let Some(row) = self.source.state.host(self.host)? else { return Ok(None) };
        let view = view_of_host(self.source, &self.overrides, self.host, &row)?;
        let waits = view.blocked_until.is_some() || view.next_allowed.is_some();
        let verdict = if waits { Verdict::Wait } else { Verdict::Pass };
        Ok(Some(Step::new(Inputs::Host(Box::new(view)), verdict)))
    }
}
