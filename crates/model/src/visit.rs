//! What was the result of a visit?

use crate::{Cause, PageKey, Time};

/// How an attempt to fetch a page ended. A failed fetch is not an error of ours: it is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A 2xx answer.
    Ok,
    /// A 304: the server says that nothing changed.
    NotModified,
    /// A 3xx answer that leads elsewhere.
    Redirect,
    /// A 4xx answer.
    ClientError,
    /// A 5xx answer.
    ServerError,
    /// The host's name could not be resolved.
    Dns,
    /// No connection could be made.
    Connect,
    /// TLS failed.
    Tls,
    /// A phase took longer than allowed.
    Timeout,
    /// The response was not HTTP, or broke its rules.
    Protocol,
    /// The address is one that we must not connect to.
    Forbidden,
    /// A page that says "not found" came with status 200, or a redirect to where all wrong addresses
    /// lead.
    SoftGone,
    /// The server asks for a password instead of the page.
    LoginWall,
    /// The domain is parked: it shows the same offer for every address.
    Parked,
    /// The body did not arrive whole.
    Cut,
    /// The connection ended before the head of an answer was complete.
    Disconnected,
}

impl Outcome {
    /// All outcomes, ordered by number.
    pub const ALL: [Outcome; 16] = [
        Outcome::Ok,
        Outcome::NotModified,
        Outcome::Redirect,
        Outcome::ClientError,
        Outcome::ServerError,
        Outcome::Dns,
        Outcome::Connect,
        Outcome::Tls,
        Outcome::Timeout,
        Outcome::Protocol,
        Outcome::Forbidden,
        Outcome::SoftGone,
        Outcome::LoginWall,
        Outcome::Parked,
        Outcome::Cut,
        Outcome::Disconnected,
    ];

    /// The outcome of an answer with `status` that arrived whole.
    pub fn from_status(status: u16) -> Self {
        match status {
            200..=299 => Outcome::Ok,
            304 => Outcome::NotModified,
            300..=399 => Outcome::Redirect,
            400..=499 => Outcome::ClientError,
            500..=599 => Outcome::ServerError,
            _ => Outcome::Protocol,
        }
    }

    /// The outcome's code, as users see it.
    pub const fn code(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::NotModified => "not_modified",
            Outcome::Redirect => "redirect",
            Outcome::ClientError => "client_error",
            Outcome::ServerError => "server_error",
            Outcome::Dns => "dns",
            Outcome::Connect => "connect",
            Outcome::Tls => "tls",
            Outcome::Timeout => "timeout",
            Outcome::Protocol => "protocol",
            Outcome::Forbidden => "private_address",
            Outcome::SoftGone => "soft_404",
            Outcome::LoginWall => "login_wall",
            Outcome::Parked => "parked",
            Outcome::Cut => "cut",
            Outcome::Disconnected => "disconnected",
        }
    }

    /// True when the server answered with a status.
    pub fn has_answer(self) -> bool {
        (self as u8) <= Outcome::ServerError as u8 || self.is_substitute() || self == Outcome::Cut
    }

    /// True when the server showed something else in place of the page.
    pub fn is_substitute(self) -> bool {
        matches!(self, Outcome::SoftGone | Outcome::LoginWall | Outcome::Parked)
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

/// What a visit found out about the page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The first content we have of this page.
    New,
    /// Other content than before.
    Changed,
    /// Other content, but most of the text is as it was.
    Near,
    /// The same content: a 304, an equal digest, or only noise differs.
    Same,
    /// The page does not exist any more.
    Gone,
    /// Nothing was learned.
    Failed,
}

impl Change {
    /// Every kind of change, in the order of their numbers.
    pub const ALL: [Change; 6] =
        [Change::New, Change::Changed, Change::Near, Change::Same, Change::Gone, Change::Failed];

    /// The change's code, as users see it.
    pub const fn code(self) -> &'static str {
        match self {
            Change::New => "new",
            Change::Changed => "changed",
            Change::Near => "near",
            Change::Same => "same",
            Change::Gone => "gone",
            Change::Failed => "failed",
        }
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

/// The share of a page's text that is news, from 0 to 1, in steps of 1/65,535. A positive share stays positive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u16);

impl Score {
    /// Nothing is news.
    pub const NONE: Score = Score(0);
    /// All is news.
    pub const ALL: Score = Score(u16::MAX);

    /// The score of a share.
    pub fn new(share: f64) -> Self {
        let number = (share.clamp(0.0, 1.0) * f64::from(u16::MAX)).round() as u16;
        Score(number.max(u16::from(share > 0.0)))
    }

    /// The share.
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(u16::MAX)
    }

    /// Its number in compact rows.
    pub fn number(self) -> u16 {
        self.0
    }

    /// Reads what [`number`](Self::number) gave.
    pub fn from_number(n: u16) -> Self {
        Score(n)
    }
}

/// Where a record lies in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordAt {
    /// The WARC file's serial number.
    pub file: u32,
    /// Where the record's gzip member begins.
    pub offset: u64,
    /// How long that member is.
    pub length: u32,
}

/// One visit to one page, as the visit log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The page.
    pub page: PageKey,
    /// When the request was sent.
    pub at: Time,
    /// How it ended.
    pub outcome: Outcome,
    /// The HTTP status; 0 where no answer came.
    pub status: u16,
    /// What it found out about the content.
    pub change: Change,
    /// How much of the text is news.
    pub score: Score,
    /// SHA-1 of the payload, where there was one.
    pub digest: Option<[u8; 20]>,
    /// Bytes of the payload as it came (content coding kept).
    pub bytes: u64,
    /// How long the whole exchange took, in milliseconds.
    pub ms: u32,
    /// The archive's record of it.
    pub record: Option<RecordAt>,
    /// The page whose text this one nearly repeats, if any.
    pub near: Option<PageKey>,
    /// What exactly went wrong, if anything did.
    pub cause: Option<Cause>,
    /// What of the text was noise, and whether the visit was in doubt.
    pub noise: VisitNoise,
}

/// What of a visit's text was not told as news.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitNoise {
    /// True when the differences were in doubt, and wait for a second look: nothing is told yet.
    pub in_doubt: bool,
    /// The passages whose differences are noise: 24 bits of a hash of the words, and the reason in the highest byte.
    pub masked: Vec<u32>,
}

impl VisitNoise {
    /// True when there is nothing to say.
    pub fn is_empty(&self) -> bool {
        !self.in_doubt && self.masked.is_empty()
    }
}

impl Visit {
    /// True when the server says that the page moved for good.
    pub fn is_move(&self) -> bool {
        self.outcome == Outcome::Redirect && matches!(self.status, 301 | 308)
    }
}
