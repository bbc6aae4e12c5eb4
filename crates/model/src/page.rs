//! What can be known about a page or its host, independent of a visit?

use std::fmt;

/// Why a URL is not fetched. Each refusal has one reason, counted and shown by its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// It cannot be read as a URL.
    BadUrl,
    /// Its scheme is neither `http` nor `https`.
    Scheme,
    /// It lies outside the crawl's scope.
    OutOfScope,
    /// No include pattern matches it.
    NotIncluded,
    /// An exclude pattern matches it.
    Excluded,
    /// Its host is on the deny list.
    DeniedHost,
    /// Its file extension is filtered.
    Extension,
    /// It is more links away from a seed than allowed.
    TooDeep,
    /// It is longer than allowed.
    TooLong,
    /// Its path has more segments than allowed.
    TooManySegments,
    /// Its path repeats itself, as endless paths do.
    RepeatedSegments,
    /// It has more parameters than allowed.
    TooManyParameters,
    /// It looks like a day of an endless calendar.
    Calendar,
    /// One path of its host already has as many parameter variants as allowed.
    ParameterExplosion,
    /// Its host already has as many known pages as allowed.
    HostFull,
    /// robots.txt disallows it.
    Robots,
    /// robots.txt could not be fetched, so everything is disallowed for a while.
    RobotsUnreachable,
    /// The page or the link says `nofollow`.
    NoFollow,
    /// Its host resolves to a private, loopback or otherwise special address.
    PrivateAddress,
    /// Too many redirects led here.
    RedirectLimit,
    /// Its content type is filtered.
    ContentType,
    /// Its host has not answered for a long time.
    HostDead,
    /// It failed too often.
    ErrorHistory,
    /// Its host mirrors another, which has this page too.
    Mirror,
    /// Its host is spam.
    Spam,
    /// Its address was only guessed, and guesses of that kind found nothing on its host.
    Unlikely,
}

impl Refusal {
    /// All reasons, ordered by number.
    pub const ALL: [Refusal; 26] = [
        Refusal::BadUrl,
        Refusal::Scheme,
        Refusal::OutOfScope,
        Refusal::NotIncluded,
        Refusal::Excluded,
        Refusal::DeniedHost,
        Refusal::Extension,
        Refusal::TooDeep,
        Refusal::TooLong,
        Refusal::TooManySegments,
        Refusal::RepeatedSegments,
        Refusal::TooManyParameters,
        Refusal::Calendar,
        Refusal::ParameterExplosion,
        Refusal::HostFull,
        Refusal::Robots,
        Refusal::RobotsUnreachable,
        Refusal::NoFollow,
        Refusal::PrivateAddress,
        Refusal::RedirectLimit,
        Refusal::ContentType,
        Refusal::HostDead,
        Refusal::ErrorHistory,
        Refusal::Mirror,
        Refusal::Spam,
        Refusal::Unlikely,
    ];

    /// The reason's code, as users see and filter it.
    pub const fn code(self) -> &'static str {
        match self {
            Refusal::BadUrl => "bad_url",
            Refusal::Scheme => "scheme",
            Refusal::OutOfScope => "out_of_scope",
            Refusal::NotIncluded => "not_included",
            Refusal::Excluded => "excluded",
            Refusal::DeniedHost => "denied_host",
            Refusal::Extension => "extension",
            Refusal::TooDeep => "too_deep",
            Refusal::TooLong => "too_long",
            Refusal::TooManySegments => "too_many_segments",
            Refusal::RepeatedSegments => "repeated_segments",
            Refusal::TooManyParameters => "too_many_parameters",
            Refusal::Calendar => "calendar",
            Refusal::ParameterExplosion => "parameter_explosion",
            Refusal::HostFull => "host_full",
            Refusal::Robots => "robots",
            Refusal::RobotsUnreachable => "robots_unreachable",
            Refusal::NoFollow => "nofollow",
            Refusal::PrivateAddress => "private_address",
            Refusal::RedirectLimit => "redirect_limit",
            Refusal::ContentType => "content_type",
            Refusal::HostDead => "host_dead",
            Refusal::ErrorHistory => "error_history",
            Refusal::Mirror => "mirror",
            Refusal::Spam => "spam",
            Refusal::Unlikely => "unlikely",
        }
    }

    /// True for reasons that only set a page aside: it returns to where it was once the reason no longer holds. For a
    /// private address only another try tells, when a crawl starts.
    pub const fn puts_aside(self) -> bool {
        matches!(
            self,
            Refusal::Excluded | Refusal::Mirror | Refusal::Spam | Refusal::PrivateAddress
        )
    }

    /// Its number in compact rows.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads what [`number`](Self::number) gave.
    pub fn from_number(n: u8) -> Option<Self> {
        Self::ALL.get(usize::from(n)).copied()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The kind of a URL: a page of the collection, or a list that leads to pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// An ordinary page.
    #[default]
    Page,
    /// A sitemap or an index of sitemaps.
    Sitemap,
    /// An RSS, Atom or JSON feed.
    Feed,
    /// An address that cannot exist, fetched to learn how its host answers then.
    Probe,
}

impl PageKind {
    /// The kind's name, as users see it.
    pub const fn code(self) -> &'static str {
        match self {
            PageKind::Page => "page",
            PageKind::Sitemap => "sitemap",
            PageKind::Feed => "feed",
            PageKind::Probe => "probe",
        }
    }

    /// Its number in compact rows.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads what [`number`](Self::number) gave.
    pub fn from_number(n: u8) -> Option<Self> {
        [PageKind::Page, PageKind::Sitemap, PageKind::Feed, PageKind::Probe]
            .get(usize::from(n))
            .copied()
    }
}

/// The front queue of a new page: the selector takes 0 most often and [`Band::LAST`] least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Band(u8);

impl Band {
    /// How many front queues there are.
    pub const COUNT: u8 = 8;
    /// The queue of the most urgent pages.
    pub const FIRST: Band = Band(0);
    /// The band of a host that has only known pages.
    pub const REVISITS: Band = Band(3);
    /// The queue of the least urgent pages.
    pub const LAST: Band = Band(Self::COUNT - 1);
    /// The band of a host that may not be requested now: after all others.
    pub const BLOCKED: Band = Band(Self::COUNT);

    /// Band `n`, or the last one if `n` is too large.
    pub fn new(n: u8) -> Self {
        Band(n.min(Self::LAST.0))
    }

    /// The front queue with number `n`, including the one of blocked hosts.
    pub fn of_front_queue(n: u8) -> Self {
        Band(n.min(Self::BLOCKED.0))
    }

    /// Its number, 0 for the most urgent.
    pub fn number(self) -> u8 {
        self.0
    }
}

/// The validators that a server sent, for conditional requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// The `ETag` header, as received.
    pub etag: Option<String>,
    /// The `Last-Modified` header, as received.
    pub last_modified: Option<String>,
}

impl Validators {
    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}
