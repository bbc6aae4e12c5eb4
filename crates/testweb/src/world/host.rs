//! What kind of host is this? Its layout, its honesty and its faults, drawn from its number.

use super::dice::{DicePurpose, WorldDice};
use super::{Spam, World};
use serde::{Deserialize, Serialize};

/// A host and its character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its number, as in its name.
    pub id: u32,
    /// How its paths look.
    pub layout: HostLayout,
    /// Whether links within the host are written as whole URLs.
    pub absolute_links: bool,
    /// What its ETag and Last-Modified are worth.
    pub validators: HostValidators,
    /// What its sitemap is worth.
    pub sitemap: Sitemap,
    /// Whether it has a feed of its latest changes.
    pub feed: bool,
    /// What its robots.txt says.
    pub robots: HostRobots,
    /// The Crawl-delay its robots.txt asks for.
    pub crawl_delay_s: Option<u32>,
    /// How much of a page a change alters.
    pub edit: Edit,
    /// What differs at every fetch.
    pub noise: Option<Noise>,
    /// How its text is encoded and declared.
    pub charset: Charset,
    /// How long it waits before it answers.
    pub delay_ms: u32,
    /// How it treats requests that come too fast.
    pub limit: Option<Limit>,
    /// Where its endless pages are.
    pub trap: Option<Trap>,
    /// How its answers break.
    pub fault: Option<HostFault>,
    /// Whether all its pages have a footer, which is rewritten from time to time.
    pub footer: bool,
    /// What it pretends.
    pub spam: Option<Spam>,
    /// Whether it shows a page with status 200 for what it does not have.
    pub soft_404: bool,
    /// What becomes of it.
    pub decline: Option<Decline>,
}

/// The end of a host as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decline {
    /// From when on, in Unix milliseconds.
    pub from_ms: u64,
    /// What it shows from then on.
    pub shows: InsteadOfNotFound,
}

/// What a host shows in place of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsteadOfNotFound {
    /// A page that says so, with status 200.
    #[serde(rename = "soft_404")]
    NotFound,
    /// A form that asks for a password.
    LoginForm,
    /// A redirect to such a form.
    LoginRedirect,
    /// An offer of the domain.
    Offer,
}

/// How the paths of a host look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostLayout {
    /// `/p27.html`
    Flat,
    /// `/harbour-3/p27.html`
    Folders,
    /// `/view?id=27`
    Query,
}

/// What a host's ETag and Last-Modified are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostValidators {
    /// Both are given and right.
    Right,
    /// Last-Modified is given and right.
    LastModifiedOnly,
    /// Neither is given.
    Absent,
    /// The ETag is new at every fetch.
    EtagAlwaysNew,
    /// The ETag never changes, and is answered with 304 whatever happened.
    EtagFrozen,
    /// Last-Modified is always the present moment.
    LastModifiedNow,
}

/// What a host's sitemap is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sitemap {
    /// None.
    Absent,
    /// Its lastmod is the time of the last change.
    Right,
    /// Its lastmod is made up.
    Wrong,
    /// It has no lastmod.
    Undated,
}

/// What a host's robots.txt says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostRobots {
    /// All is allowed.
    Open,
    /// `/private/` is forbidden except for `/private/open/`.
    Disallow,
    /// None (404), so all is allowed.
    Missing,
    /// It fails (503), so nothing is allowed.
    Failing,
}

/// How much of a page a change alters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// One sentence.
    Sentence,
    /// One paragraph.
    Paragraph,
    /// All the text.
    Everything,
}

/// What differs at every fetch of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// A line with the time of serving.
    Clock,
    /// A token in a hidden form field.
    Token,
    /// A session's number for the reader to see.
    Session,
    /// Two blocks that take turns with others: one that all pages of the host choose from, and one of the page's own.
    Turns,
    /// All of these at once.
    Every,
}

/// How text is encoded and declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8, declared in the header.
    Utf8,
    /// ISO-8859-1, declared in the header.
    Latin1,
    /// ISO-8859-1, declared in a meta element only.
    Latin1Meta,
    /// UTF-8, not declared.
    Undeclared,
}

/// How a host treats requests that come too fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Least time between the starts of two requests.
    pub gap_ms: u32,
    /// 429 or 503.
    pub status: u16,
    /// How it says when to come back.
    pub retry_after: RetryAfter,
}

/// How a Retry-After header is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// In seconds.
    Seconds,
    /// As a date.
    Date,
    /// Not at all.
    Absent,
}

/// A way of having endless pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// A calendar whose months have next months.
    Calendar,
    /// Relative links that make the path grow.
    Maze,
    /// Links within the host carry a session id, a new one for requests without.
    Session,
}

/// A way for an answer to break below HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostFault {
    /// The request is taken and never answered.
    Silent,
    /// The connection is reset after the headers.
    ResetAfterHeaders,
    /// The connection closes in the middle of the body.
    ShortBody,
    /// Content-Length is smaller than the body.
    WrongContentLength,
    /// One byte of the body a second.
    Drip,
}

/// The most telling thing about a host, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostClass {
    /// Nothing special.
    Plain,
    /// Its pages differ at every fetch.
    Noisy,
    /// Its answers are slow.
    Slow,
    /// It has endless pages.
    Trap,
    /// It limits the rate of requests.
    Limited,
    /// Its answers break.
    Faulty,
    /// It never answers.
    Silent,
}

impl HostClass {
    /// All classes, in the order of their discriminants.
    pub const ALL: [HostClass; 7] = [
        HostClass::Plain,
        HostClass::Noisy,
        HostClass::Slow,
        HostClass::Trap,
        HostClass::Limited,
        HostClass::Faulty,
        HostClass::Silent,
    ];
}

impl Noise {
    const ALL: [Noise; 5] =
        [Noise::Clock, Noise::Token, Noise::Session, Noise::Turns, Noise::Every];

    /// Whether a page with this noise shows some kind of it.
    pub(crate) fn shows(self, kind: Noise) -> bool {
        self == kind || self == Noise::Every
    }
}

impl Host {
    /// The most telling thing about the host.
    pub fn class(&self) -> HostClass {
        match self {
            Host { fault: Some(HostFault::Silent), .. } => HostClass::Silent,
            Host { fault: Some(_), .. } => HostClass::Faulty,
            Host { limit: Some(_), .. } => HostClass::Limited,
            Host { trap: Some(_), .. } => HostClass::Trap,
            Host { delay_ms: 1.., .. } => HostClass::Slow,
            Host { noise: Some(_), .. } => HostClass::Noisy,
            _ => HostClass::Plain,
        }
    }

    /// Whether the host's robots.txt lets everybody fetch a path.
    pub fn allows(&self, path: &str) -> bool {
        match self.robots {
            HostRobots::Open | HostRobots::Missing => true,
            HostRobots::Disallow => {
                !path.starts_with("/private/") || path.starts_with("/private/open/")
            }
            HostRobots::Failing => path == "/robots.txt",
        }
    }

    /// Whether the host has a sitemap that can be found.
    pub fn has_sitemap(&self) -> bool {
        self.sitemap != Sitemap::Absent
    }
}

impl World {
    /// Draws the character of a host.
    pub fn host(&self, id: u32) -> Host {
        let shares = &self.config.host_shares;
        let dice = &mut WorldDice::new(self.config.seed, DicePurpose::Host, u64::from(id), 0);
        let robots = dice.pick(
            &[
                (shares.robots_disallow, HostRobots::Disallow),
                (shares.robots_missing, HostRobots::Missing),
                (shares.robots_failing, HostRobots::Failing),
            ],
            HostRobots::Open,
        );
        // The Sitemap line of robots.txt is what leads to a sitemap.
        let readable = matches!(robots, HostRobots::Open | HostRobots::Disallow);
        let layout =
            dice.pick(&[(0.5, HostLayout::Folders), (0.25, HostLayout::Query)], HostLayout::Flat);
        // A mirror's paths are those of its original, and a host that moved kept its own.
        let original = self.mirrored(id).or_else(|| self.moved_to(id));
        let original = original.map(|original| self.host(original).layout);
        Host {
            id,
            layout: original.unwrap_or(layout),
            absolute_links: dice.chance(0.3),
            robots,
            crawl_delay_s: (dice.chance(shares.crawl_delay) && readable)
                .then_some(self.config.crawl_delay_s),
            sitemap: match readable.then(|| self.draw_sitemap(dice)) {
                Some(Sitemap::Absent) if self.lists_doors(id) => Sitemap::Undated,
                Some(drawn) => drawn,
                None => Sitemap::Absent,
            },
            validators: self.draw_validators(dice),
            feed: dice.chance(shares.feed),
            edit: dice.pick(
                &[
                    (shares.edits_sentence, Edit::Sentence),
                    (shares.edits_everything, Edit::Everything),
                ],
                Edit::Paragraph,
            ),
            noise: draw_if(dice, shares.noise, &Noise::ALL),
            charset: dice.pick(
                &[
                    (shares.latin1 / 2.0, Charset::Latin1),
                    (shares.latin1 / 2.0, Charset::Latin1Meta),
                    (shares.no_charset, Charset::Undeclared),
                ],
                Charset::Utf8,
            ),
            delay_ms: self.draw_delay(dice),
            limit: self.draw_limit(dice),
            trap: draw_if(dice, shares.trap, &[Trap::Calendar, Trap::Maze, Trap::Session]),
            fault: self.draw_fault(dice),
            footer: dice.chance(shares.footer),
            spam: self.spam(id),
            soft_404: dice.chance(shares.soft_404),
            decline: self.draw_decline(dice),
        }
    }

    fn draw_decline(&self, dice: &mut WorldDice) -> Option<Decline> {
        let shares = &self.config.host_shares;
        let half = shares.login_wall / 2.0;
        let kinds = [
            (half, Some(InsteadOfNotFound::LoginForm)),
            (half, Some(InsteadOfNotFound::LoginRedirect)),
            (shares.expired, Some(InsteadOfNotFound::Offer)),
        ];
        let shows = dice.pick(&kinds, None);
        let days = self.config.decline_days * (0.5 + dice.unit());
        let ms = days * 86_400_000.0 / self.config.time_scale;
        let from_ms = self.config.origin_ms + ms as u64;
        shows.map(|shows| Decline { from_ms, shows })
    }

    fn draw_validators(&self, dice: &mut WorldDice) -> HostValidators {
        let shares = &self.config.host_shares;
        dice.pick(
            &[
                (shares.no_validators, HostValidators::Absent),
                (shares.last_modified_only, HostValidators::LastModifiedOnly),
                (shares.etag_always_new, HostValidators::EtagAlwaysNew),
                (shares.etag_frozen, HostValidators::EtagFrozen),
                (shares.last_modified_now, HostValidators::LastModifiedNow),
            ],
            HostValidators::Right,
        )
    }

    fn draw_sitemap(&self, dice: &mut WorldDice) -> Sitemap {
        let shares = &self.config.host_shares;
        dice.pick(
            &[
                (shares.sitemap_right, Sitemap::Right),
                (shares.sitemap_wrong, Sitemap::Wrong),
                (shares.sitemap_undated, Sitemap::Undated),
            ],
            Sitemap::Absent,
        )
    }

    fn draw_delay(&self, dice: &mut WorldDice) -> u32 {
        if !dice.chance(self.config.host_shares.slow) {
            return 0;
        }
        (f64::from(self.config.slow_ms) * (0.5 + dice.unit() / 2.0)) as u32
    }

    fn draw_limit(&self, dice: &mut WorldDice) -> Option<Limit> {
        let limited = dice.chance(self.config.host_shares.limited);
        limited.then(|| Limit {
            gap_ms: self.config.limit_gap_ms,
            status: if dice.chance(0.5) { 429 } else { 503 },
            retry_after: dice
                .pick(&[(0.4, RetryAfter::Seconds), (0.2, RetryAfter::Date)], RetryAfter::Absent),
        })
    }

    fn draw_fault(&self, dice: &mut WorldDice) -> Option<HostFault> {
        if dice.chance(self.config.host_shares.silent) {
            return Some(HostFault::Silent);
        }
        let kinds = [
            HostFault::ResetAfterHeaders,
            HostFault::ShortBody,
            HostFault::WrongContentLength,
            HostFault::Drip,
        ];
        draw_if(dice, self.config.host_shares.faulty, &kinds)
    }
}

fn draw_if<T: Copy>(dice: &mut WorldDice, share: f64, kinds: &[T]) -> Option<T> {
    let drawn = dice.chance(share);
    let kind = dice.below(kinds.len() as u64) as usize;
    kinds.get(kind).copied().filter(|_| drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldConfig;

    #[test]
    fn the_calm_world_has_no_vices_and_the_wild_one_has_all() {
        let calm = World::new(WorldConfig::calm());
        assert!((0..200).all(|id| calm.host(id).class() == HostClass::Plain));
        let wild = World::new(WorldConfig::wild());
        for class in HostClass::ALL {
            assert!((0..400).any(|id| wild.host(id).class() == class), "{class:?}");
        }
    }

    #[test]
    fn shares_are_met() {
        let world = World::new(WorldConfig::wild());
        let share = |is: fn(&Host) -> bool| {
            (0..5_000).filter(|&id| is(&world.host(id))).count() as f64 / 5_000.0
        };
        assert!((share(|host| host.robots == HostRobots::Disallow) - 0.4).abs() < 0.03);
        assert!((share(|host| host.validators == HostValidators::EtagFrozen) - 0.05).abs() < 0.012);
        assert!((share(|host| host.noise.is_some()) - 0.2).abs() < 0.025);
    }

    #[test]
    fn robots_forbid_the_private_directory_but_for_its_open_part() {
        let host = Host { robots: HostRobots::Disallow, ..World::new(WorldConfig::calm()).host(0) };
        for (path, allowed) in [
            ("/", true),
            ("/private/p3.html", false),
            ("/private/open/p3.html", true),
            ("/privateer", true),
        ] {
            assert_eq!(host.allows(path), allowed, "{path}");
        }
    }
}
