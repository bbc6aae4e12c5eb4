//! When does each page change? Drawn change by change from (seed, page), never stored.
//!
//! A page has a clock on which one change is expected a unit. The clock's pace is the page's rate,
//! times what age, turns and wandering make of it, times the season; gaps are drawn on that clock
//! and carried back to days by its inverse, which is exact for every kind of gap. Beside its own
//! changes a page takes part in those of its group, by the throw of a coin that depends on page and
//! event alone.

use evercrawl_policy::{Days, NEVER};

use super::batches::Batches;
use super::gaps::GapDistribution;
use super::lines::{CourseLine, CourseLines};
use super::season::Season;
use super::spec::{Fading, PageClass, StateTurn, Wandering};
use crate::dice::{Dice, Purpose};
use crate::world::ChangeCursor;

/// The change processes of all pages of a made world.
#[derive(Clone, Debug)]
pub struct Processes {
    changes: Dice,
    wander: Dice,
    courses: Vec<Course>,
    pages: CourseLines,
    batches: Batches,
    start: Days,
    end: Days,
}

/// How the pages of a class change.
#[derive(Clone, Debug)]
struct Course {
    gaps: GapDistribution,
    season: Option<Season>,
    fading: Option<Fading>,
    turn: Option<StateTurn>,
    wandering: Option<Wandering>,
}

impl Course {
    /// Poisson at a fixed rate.
    const PLAIN: Course = Course {
        gaps: GapDistribution::Poisson,
        season: None,
        fading: None,
        turn: None,
        wandering: None,
    };

    fn of(class: &PageClass) -> Self {
        Course {
            gaps: class.gaps,
            season: class.season.clone(),
            fading: class.fading,
            turn: class.turn,
            wandering: class.wandering,
        }
    }
}

impl Processes {
    /// Changes of `pages` from `start` to `end`.
    pub(super) fn new(
        seed: u64,
        classes: &[PageClass],
        pages: CourseLines,
        batches: Batches,
        (start, end): (Days, Days),
    ) -> Self {
        Processes {
            changes: Dice::new(seed, Purpose::Changes),
            wander: Dice::new(seed, Purpose::Wander),
            courses: classes.iter().map(Course::of).collect(),
            pages,
            batches,
            start,
            end,
        }
    }

    /// Poisson processes of the given rates, in changes a day, between two moments.
    pub fn poisson(seed: u64, rates: &[f64], times: (Days, Days)) -> Self {
        let line = |rate: &f64| CourseLine {
            rate: *rate as f32,
            later: *rate as f32,
            born: f32::NEG_INFINITY,
            dies: f32::INFINITY,
            group: 0,
            class: 0,
            hub: false,
        };
        let mut lines = CourseLines::new(&[], rates.len());
        rates.iter().map(line).for_each(|line| lines.push(line));
        let made = Processes::new(seed, &[], lines, Batches::none(), times);
        Processes { courses: vec![Course::PLAIN], ..made }
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The first change of `page`.
    pub fn first(&self, page: u32) -> ChangeCursor {
        let Some(line) = &self.pages.get(page) else { return Place::END.cursor(NEVER) };
        let start = self.start.max(line.born.into());
        let gap = self.course(line).gaps.first(self.key(page), line.rate.into());
        let own = self.carried(page, line, start, gap);
        self.settled(
            page,
            line,
            Place { own, drawn: 0, group: self.batches.first(line.group, start) },
        )
    }

    /// The change of `page` after the one at `cursor`.
    pub fn next(&self, page: u32, cursor: ChangeCursor) -> ChangeCursor {
        let Some(line) = &self.pages.get(page) else { return Place::END.cursor(NEVER) };
        let mut place = Place::of(cursor);
        if place.own <= cursor.at {
            let gaps = self.course(line).gaps;
            let gap = gaps.after(self.key(page), place.drawn, line.rate.into());
            place.own = self.carried(page, line, place.own, gap);
            place.drawn += 1;
        } else {
            place.group += 1;
        }
        self.settled(page, line, place)
    }

    /// Has the line of `page` brought from memory.
    pub(crate) fn touch(&self, page: u32) {
        std::hint::black_box(self.pages.get(page).map(|line| line.rate));
    }

    /// The mean number of changes a day of `page` between two moments, while it lives.
    ///
    /// An expectation, given all that is decided of the page: its rate, turns and wandering. Which of
    /// its group's events it takes part in is taken as undecided, and so is when they come.
    pub fn rate(&self, page: u32, from: Days, to: Days) -> f64 {
        let Some(line) = &self.pages.get(page) else { return 0.0 };
        let from = from.max(line.born.into()).max(self.start);
        let to = to.min(line.dies.into()).min(self.end);
        if from >= to {
            return 0.0;
        }
        self.expected(page, line, from, to) / (to - from) + self.batches.rate(line.hub)
    }

    /// Finds the next event of the group that the page takes part in, and which change is first.
    fn settled(&self, page: u32, line: &CourseLine, mut place: Place) -> ChangeCursor {
        let (group, event) = self.batches.next(page, line.group, line.hub, place.group);
        place.group = group;
        let at = place.own.min(event);
        place.cursor(if at < line.dies.into() { at } else { NEVER })
    }

    /// The moment at which `gap` has passed on the page's clock since `from`.
    fn carried(&self, page: u32, line: &CourseLine, mut from: Days, mut gap: f64) -> Days {
        if line.is_still() {
            return NEVER;
        }
        let season = self.course(line).season.as_ref();
        while from < self.end {
            let (rate, until) = self.piece(page, line, from);
            let moment = after(season, from, gap / rate);
            if moment <= until {
                return moment;
            }
            gap -= rate * passed(season, from, until);
            from = until;
        }
        NEVER
    }

    fn expected(&self, page: u32, line: &CourseLine, mut from: Days, to: Days) -> f64 {
        let season = self.course(line).season.as_ref();
        let mut sum = 0.0;
        while from < to && !line.is_still() {
            let (rate, until) = self.piece(page, line, from);
            let until = until.min(to);
            sum += rate * passed(season, from, until);
            from = until;
        }
        sum
    }

    /// The page's rate at a moment, the season aside, and until when it stays so.
    fn piece(&self, page: u32, line: &CourseLine, at: Days) -> (f64, Days) {
        let course = self.course(line);
        let (mut rate, mut until) = (f64::from(line.rate), NEVER);
        if let Some(turn) = course.turn {
            if at < turn.at {
                until = turn.at;
            } else {
                rate = line.later.into();
            }
        }
        if let Some(wandering) = course.wandering {
            let (factor, end) = wandering.piece(self.wander.key(page.into()), at);
            (rate, until) = (rate * factor, until.min(end));
        }
        if let Some(fading) = course.fading {
            let (factor, end) = fading.piece(line.born.into(), at);
            (rate, until) = (rate * factor, until.min(end));
        }
        (rate, until)
    }

    fn course(&self, line: &CourseLine) -> &Course {
        &self.courses[usize::from(line.class)]
    }

    fn key(&self, page: u32) -> u64 {
        self.changes.key(page.into())
    }
}

impl Wandering {
    /// The factor at a moment and its end. Each page's steps fall on days of its own.
    fn piece(self, key: u64, at: Days) -> (f64, Days) {
        let dice = Dice::of_key(key);
        let shift = self.days * dice.uniform(u64::MAX);
        let end = |step: f64| (step + 1.0) * self.days - shift;
        let step = ((at + shift) / self.days).floor();
        // Rounding must not leave a piece that ends where it begins.
        let step = if end(step) <= at { step + 1.0 } else { step };
        let score = dice.normal(step as i64 as u64);
        ((self.sigma * score - self.sigma * self.sigma / 2.0).exp(), end(step))
    }
}

impl Fading {
    /// The factor at a moment and its end: 1 for `days`, 1/2 for twice as long, and so on.
    fn piece(self, born: Days, at: Days) -> (f64, Days) {
        let end = |step: f64| born + self.days * ((step + 1.0).exp2() - 1.0);
        let step = ((at - born).max(0.0) / self.days + 1.0).log2().floor();
        let step = if end(step) <= at { step + 1.0 } else { step };
        let factor = (-step).exp2();
        if factor > self.to && factor > 1e-9 { (factor, end(step)) } else { (self.to, NEVER) }
    }
}

/// The moment at which `time` has passed on the season's clock since `from`.
fn after(season: Option<&Season>, from: Days, time: Days) -> Days {
    season.map_or(from + time, |season| season.moment(season.reading(from) + time))
}

/// What passes on the season's clock between two moments.
fn passed(season: Option<&Season>, from: Days, to: Days) -> Days {
    season.map_or(to - from, |season| season.reading(to) - season.reading(from))
}

/// A [`Cursor`] unpacked: the page's next change by itself, how many came before it, and its place
/// in the events of its group.
struct Place {
    own: Days,
    drawn: u32,
    group: u32,
}

impl Place {
    const END: Place = Place { own: NEVER, drawn: 0, group: u32::MAX };

    fn of(cursor: ChangeCursor) -> Self {
        let (drawn, group) = (cursor.state as u32, (cursor.state >> 32) as u32);
        Place { own: f64::from_bits(cursor.memory), drawn, group }
    }

    fn cursor(&self, at: Days) -> ChangeCursor {
        let state = u64::from(self.drawn) | u64::from(self.group) << 32;
        ChangeCursor { at, state, memory: self.own.to_bits() }
    }
}
