//! What does a user say of a world that is to be made? A page of TOML, with a default for nearly
//! everything.

use evercrawl_policy::Days;

use super::gaps::GapDistribution;
use super::read::{AllowedRange, SHARE, SpecSection, SpecText};
use super::season::Season;
use super::spread::{SpreadShape, ValueSpread};
use crate::Malformed;

/// A world in words. Rates are changes a page and week.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldSpec {
    /// What it imitates: the first line of the file, if that is a comment.
    pub about: String,
    /// Pages at the start.
    pub pages: u32,
    /// Hosts they lie on.
    pub hosts: u32,
    /// How unequal hosts are: the n-th has pages in proportion to n to the power of minus this.
    pub host_skew: f64,
    /// Directories of a host.
    pub directories: u32,
    /// Links from each page to others of its host, besides those to and from hubs; with none, the
    /// world has no links at all.
    pub links: u32,
    /// Weeks of crawling before the score begins.
    pub before: u32,
    /// Weeks that are scored.
    pub weeks: u32,
    /// How much of the spread of rates lies between directories, and not within them.
    pub alike: f64,
    /// The value of a fresh copy of each page.
    pub importance: ValueSpread,
    /// How importance and rate go together: the correlation of their normal scores.
    pub correlation: f64,
    /// What a fetch costs.
    pub cost: ValueSpread,
    /// Kinds of pages.
    pub classes: Vec<PageClass>,
    /// What changes many pages at once.
    pub batches: Vec<Batch>,
    /// Kinds of hosts.
    pub kinds: Vec<HostKind>,
}

/// A kind of pages: how often and when they change, come and go.
#[derive(Clone, Debug, PartialEq)]
pub struct PageClass {
    /// What it is called.
    pub name: String,
    /// How many pages are of it, relative to the others.
    pub share: f64,
    /// Whether it is the kind of the first page of each directory, and of no other.
    pub hubs: bool,
    /// What its pages' importance is multiplied by.
    pub weight: f64,
    /// How often its pages change: a week, on the mean of the year, when new.
    pub rate: ValueSpread,
    /// The share of its pages that never change by themselves.
    pub never: f64,
    /// How regularly.
    pub gaps: GapDistribution,
    /// At which hours, days and months.
    pub season: Option<Season>,
    /// How the rate falls with the page's age.
    pub fading: Option<Fading>,
    /// A turn that some pages take at a certain time.
    pub turn: Option<StateTurn>,
    /// How the rate goes up and down.
    pub wandering: Option<Wandering>,
    /// New pages a week, as a share of those at the start.
    pub births: f64,
    /// The share of pages that goes in a week.
    pub deaths: f64,
}

/// A rate that halves when the page's age doubles, as interest in news does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// The time until it first halves.
    pub days: Days,
    /// The share of the rate that remains at last.
    pub to: f64,
}

/// At a certain time, some pages draw a new rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateTurn {
    /// When, since the start.
    pub at: Days,
    /// Which share of the pages.
    pub share: f64,
}

/// At this interval, a page's rate changes by a lognormal factor of mean 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wandering {
    /// How long one factor lasts.
    pub days: Days,
    /// The factor's sigma.
    pub sigma: f64,
}

/// Changes of many pages at one moment: a release, a new template, a batch of edits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch {
    /// Whose pages change together.
    pub of: BatchScope,
    /// How often, a week.
    pub rate: f64,
    /// The chance of a page to take part.
    pub share: f64,
    /// The chance of the first page of a directory to take part.
    pub hub: f64,
}

/// Pages that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchScope {
    /// Those of a directory.
    Directory,
    /// Those of a host.
    Host,
    /// All.
    World,
}

/// A kind of host: what a crawler sees, and what goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostKind {
    /// How many hosts are of it, relative to the others.
    pub share: f64,
    /// The share of signals that tell of a change.
    pub precision: f64,
    /// The share of changes that a signal tells of.
    pub recall: f64,
    /// How long after the change it comes.
    pub delay: Days,
    /// The chance that a fetch shows a difference that is noise.
    pub noise: f64,
    /// The chance that a fetch fails.
    pub failure: f64,
    /// Whether pages say when they last changed, and truly.
    pub lastmod: bool,
}

const ABOVE_ZERO: AllowedRange = AllowedRange::new(1e-9, 1e9, "a number above 0");
const NOT_NEGATIVE: AllowedRange = AllowedRange::new(0.0, 1e9, "a number of 0 or more");
const SIGMA: AllowedRange = AllowedRange::new(0.0, 5.0, "a sigma from 0 to 5");

const WORLD: &[&str] = &[
    "pages",
    "hosts",
    "host_skew",
    "directories",
    "links",
    "before",
    "weeks",
    "alike",
    "correlation",
    "importance",
    "cost",
    "class",
    "batch",
    "host",
];
const CLASS: &[&str] = &[
    "name",
    "share",
    "hubs",
    "weight",
    "rate",
    "never",
    "gaps",
    "season",
    "fading",
    "turn",
    "wandering",
    "births",
    "deaths",
];
const BATCH: &[&str] = &["of", "rate", "share", "hub"];
const HOST: &[&str] =
    &["share", "precision", "recall", "delay_hours", "noise", "failure", "lastmod"];
const SPREAD: &[&str] =
    &["mean", "lognormal", "pareto", "most", "exponential", "uniform", "values"];
const SHAPES: &[&str] = &["lognormal", "pareto", "exponential", "uniform", "values"];
const GAPS: &[&str] = &["cv", "jitter", "burst", "hours"];

impl WorldSpec {
    /// Makes all pages matter alike.
    pub(crate) fn weigh_alike(&mut self) {
        self.importance = ValueSpread::same(1.0);
        self.classes.iter_mut().for_each(|class| class.weight = 1.0);
    }

    /// Reads the TOML `text` of `file`, a name for complaints.
    pub fn parse(file: &str, text: &str) -> Result<Self, Malformed> {
        let source = SpecText { file, text };
        let table = source.parse()?;
        let top = SpecSection::new(source, table.get_ref(), 0, WORLD)?;
        let pages = top.count("pages", PAGES, 1000)?;
        let hosts = top.count("hosts", HOSTS, 1)?;
        if hosts > pages {
            return Err(top.wrong("hosts", format!("{hosts} hosts cannot share {pages} pages")));
        }
        let classes: Result<_, _> = top.sections("class", CLASS)?.into_iter().map(class).collect();
        let batches: Result<_, _> = top.sections("batch", BATCH)?.into_iter().map(batch).collect();
        let kinds: Result<_, _> = top.sections("host", HOST)?.into_iter().map(host).collect();
        let spec = WorldSpec {
            about: first_comment(text),
            pages,
            hosts,
            host_skew: top.number(
                "host_skew",
                AllowedRange::new(0.0, 3.0, "a number from 0 to 3"),
                0.0,
            )?,
            directories: top.count("directories", DIRECTORIES, 1)?,
            links: top.count("links", LINKS, 0)?,
            before: top.count("before", WEEKS, 26)?,
            weeks: top.count("weeks", AllowedRange { least: 1.0, ..WEEKS }, 52)?,
            alike: top.number("alike", SHARE, 0.0)?,
            importance: spread(top, "importance", 1.0)?.unwrap_or(ValueSpread::same(1.0)),
            correlation: top.number("correlation", CORRELATION, 0.0)?,
            cost: spread(top, "cost", 1.0)?.unwrap_or(ValueSpread::same(1.0)),
            classes: classes?,
            batches: batches?,
            kinds: kinds?,
        };
        spec.checked(top)
    }

    /// How often a page changes a week on the mean at the start, batches with it.
    pub fn mean_rate(&self) -> f64 {
        let ordinary = self.classes.iter().filter(|class| !class.hubs);
        let shares: f64 = ordinary.clone().map(|class| class.share).sum();
        let own: f64 = ordinary.map(|c| c.share * c.rate.mean * (1.0 - c.never)).sum();
        own / shares + self.batches.iter().map(|batch| batch.rate * batch.share).sum::<f64>()
    }

    fn checked(mut self, top: SpecSection<'_>) -> Result<Self, Malformed> {
        if !self.classes.iter().any(|class| !class.hubs) {
            return Err(top.wrong("class", "write at least one [[class]] that is not for hubs"));
        }
        if self.classes.iter().filter(|class| class.hubs).count() > 1 {
            return Err(top.wrong("class", "only one [[class]] can be for hubs"));
        }
        if self.classes.len() > usize::from(u8::MAX) {
            return Err(top.wrong("class", "at most 255 classes"));
        }
        if self.kinds.is_empty() {
            self.kinds.push(HostKind::PLAIN);
        }
        Ok(self)
    }
}

const PAGES: AllowedRange = AllowedRange::new(1.0, 1e8, "a whole number from 1 to 100,000,000");
const HOSTS: AllowedRange = AllowedRange::new(1.0, 1e6, "a whole number from 1 to 1,000,000");
const DIRECTORIES: AllowedRange = AllowedRange::new(1.0, 1e4, "a whole number from 1 to 10,000");
const LINKS: AllowedRange = AllowedRange::new(0.0, 1e3, "a whole number from 0 to 1,000");
const WEEKS: AllowedRange = AllowedRange::new(0.0, 5200.0, "a whole number of weeks up to 5,200");
const CORRELATION: AllowedRange = AllowedRange::new(-1.0, 1.0, "a correlation from -1 to 1");

impl HostKind {
    /// Says nothing and never fails.
    pub const PLAIN: HostKind = HostKind {
        share: 1.0,
        precision: 1.0,
        recall: 0.0,
        delay: 0.0,
        noise: 0.0,
        failure: 0.0,
        lastmod: false,
    };
}

fn class(at: SpecSection<'_>) -> Result<PageClass, Malformed> {
    let rate = spread(at, "rate", f64::NAN)?;
    let rate =
        rate.ok_or_else(|| at.wrong("rate", "this class lacks a `rate`, as in rate = 1.5"))?;
    let hubs = at.flag("hubs")?;
    if let Some(key) = ["births", "deaths"].into_iter().find(|key| hubs && at.has(key)) {
        return Err(at.wrong(key, "hubs are there all the time; no births, no deaths"));
    }
    Ok(PageClass {
        name: at.text("name")?.unwrap_or("pages").to_owned(),
        share: at.number("share", ABOVE_ZERO, 1.0)?,
        hubs,
        weight: at.number("weight", ABOVE_ZERO, 1.0)?,
        rate,
        never: at.number("never", SHARE, 0.0)?,
        gaps: gaps(at)?,
        season: season(at)?,
        fading: fading(at)?,
        turn: turn(at)?,
        wandering: wandering(at)?,
        births: at.number("births", SHARE, 0.0)?,
        deaths: at.number("deaths", SHARE, 0.0)?,
    })
}

/// A number, or a table that names a distribution. Without a mean it is `mean`, or an error where
/// that is no number.
fn spread(at: SpecSection<'_>, key: &str, mean: f64) -> Result<Option<ValueSpread>, Malformed> {
    if at.is_number(key) {
        return Ok(at.maybe_number(key, NOT_NEGATIVE)?.map(ValueSpread::same));
    }
    let Some(table) = at.section(key, SPREAD)? else { return Ok(None) };
    let shape = shape(table)?;
    let mean = match &shape {
        SpreadShape::Values(values) => values.iter().sum::<f64>() / values.len() as f64,
        SpreadShape::Exponential => table.number("exponential", NOT_NEGATIVE, mean)?,
        _ => table.number("mean", NOT_NEGATIVE, mean)?,
    };
    if mean.is_nan() {
        return Err(table.wrong("mean", format!("`{key}` lacks its `mean`")));
    }
    Ok(Some(ValueSpread { mean, shape }))
}

fn shape(table: SpecSection<'_>) -> Result<SpreadShape, Malformed> {
    let mut named = SHAPES.iter().filter(|shape| table.has(shape));
    if let (Some(one), Some(other)) = (named.next(), named.next()) {
        return Err(table.wrong(other, format!("either `{one}` or `{other}`, not both")));
    }
    if table.has("most") && !table.has("pareto") {
        return Err(table.wrong("most", "`most` belongs to `pareto`"));
    }
    if let Some(sigma) = table.maybe_number("lognormal", SIGMA)? {
        Ok(SpreadShape::Lognormal(sigma))
    } else if let Some(exponent) =
        table.maybe_number("pareto", AllowedRange { least: 0.1, ..ABOVE_ZERO })?
    {
        let most =
            AllowedRange::new(1.0, 1e9, "how many times the least value is the most: 1 or more");
        Ok(SpreadShape::Pareto { exponent, most: table.number("most", most, 1000.0)? })
    } else if let Some(mut values) = table.list("values", NOT_NEGATIVE, None)? {
        values.sort_by(f64::total_cmp);
        Ok(SpreadShape::Values(values))
    } else if table.has("exponential") {
        Ok(SpreadShape::Exponential)
    } else if table.flag("uniform")? {
        Ok(SpreadShape::Uniform)
    } else {
        Ok(SpreadShape::Same)
    }
}

/// `cv`, `jitter` or `burst` and `hours`; Poisson by default.
fn gaps(at: SpecSection<'_>) -> Result<GapDistribution, Malformed> {
    let Some(table) = at.section("gaps", GAPS)? else { return Ok(GapDistribution::Poisson) };
    let kinds = ["cv", "jitter", "burst"].iter().filter(|key| table.has(key)).count();
    if kinds != 1 {
        return Err(table.wrong("gaps", "say one of `cv`, `jitter` and `burst`"));
    }
    let cv = AllowedRange::new(0.1, 10.0, "a coefficient of variation from 0.1 to 10");
    let jitter = AllowedRange::new(0.0, 0.99, "a share of the period from 0 to 0.99");
    let burst = AllowedRange::new(1.0, 1e6, "a mean number of changes of 1 or more");
    if let Some(cv) = table.maybe_number("cv", cv)? {
        Ok(GapDistribution::Gamma(1.0 / (cv * cv)))
    } else if let Some(jitter) = table.maybe_number("jitter", jitter)? {
        Ok(GapDistribution::Periodic(jitter))
    } else {
        let size = table.number("burst", burst, 1.0)?;
        Ok(GapDistribution::Bursts { size, within: table.number("hours", ABOVE_ZERO, 1.0)? / 24.0 })
    }
}

fn season(at: SpecSection<'_>) -> Result<Option<Season>, Malformed> {
    let Some(table) = at.section("season", &["week", "day", "year"])? else { return Ok(None) };
    let days = profile::<7>(table, "week")?;
    let hours = profile::<24>(table, "day")?;
    let months = profile::<12>(table, "year")?;
    Ok(Some(Season::new(&days, &hours, &months)))
}

/// Relative rates of the parts of a period; even by default.
fn profile<const N: usize>(table: SpecSection<'_>, key: &str) -> Result<[f64; N], Malformed> {
    let Some(list) = table.list(key, NOT_NEGATIVE, Some(N))? else { return Ok([1.0; N]) };
    if list.iter().all(|rate| *rate == 0.0) {
        return Err(table.wrong(key, format!("`{key}` must not be 0 throughout")));
    }
    Ok(std::array::from_fn(|part| list[part]))
}

fn fading(at: SpecSection<'_>) -> Result<Option<Fading>, Malformed> {
    let Some(table) = at.section("fading", &["days", "to"])? else { return Ok(None) };
    let days = table.number("days", ABOVE_ZERO, 1.0)?;
    Ok(Some(Fading { days, to: table.number("to", SHARE, 0.01)? }))
}

fn turn(at: SpecSection<'_>) -> Result<Option<StateTurn>, Malformed> {
    let Some(table) = at.section("turn", &["week", "share"])? else { return Ok(None) };
    let week = table.number("week", NOT_NEGATIVE, 26.0)?;
    Ok(Some(StateTurn { at: 7.0 * week, share: table.number("share", SHARE, 1.0)? }))
}

fn wandering(at: SpecSection<'_>) -> Result<Option<Wandering>, Malformed> {
    let Some(table) = at.section("wandering", &["weeks", "sigma"])? else { return Ok(None) };
    let weeks = table.number("weeks", AllowedRange { least: 0.1, ..ABOVE_ZERO }, 8.0)?;
    Ok(Some(Wandering { days: 7.0 * weeks, sigma: table.number("sigma", SIGMA, 0.5)? }))
}

fn batch(at: SpecSection<'_>) -> Result<Batch, Malformed> {
    let share = at.number("share", SHARE, 1.0)?;
    let of = match at.text("of")?.unwrap_or("directory") {
        "directory" => BatchScope::Directory,
        "host" => BatchScope::Host,
        "world" => BatchScope::World,
        other => {
            let message =
                format!("`of` must be \"directory\", \"host\" or \"world\", not {other:?}");
            return Err(at.wrong("of", message));
        }
    };
    let rate = at.number("rate", AllowedRange::new(0.0, 1e4, "a number from 0 to 10,000"), 0.1)?;
    Ok(Batch { of, rate, share, hub: at.number("hub", SHARE, share)? })
}

fn host(at: SpecSection<'_>) -> Result<HostKind, Malformed> {
    let precision = AllowedRange::new(0.01, 1.0, "a share from 0.01 to 1");
    Ok(HostKind {
        share: at.number("share", ABOVE_ZERO, 1.0)?,
        precision: at.number("precision", precision, 1.0)?,
        recall: at.number("recall", SHARE, 0.0)?,
        delay: at.number("delay_hours", NOT_NEGATIVE, 0.0)? / 24.0,
        noise: at.number("noise", SHARE, 0.0)?,
        failure: at.number(
            "failure",
            AllowedRange::new(0.0, 0.99, "a share from 0 to 0.99"),
            0.0,
        )?,
        lastmod: at.flag("lastmod")?,
    })
}

fn first_comment(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix('#').unwrap_or_default().trim().to_owned()
}
