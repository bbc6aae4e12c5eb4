//! By which labels are samples of one metric distinguished? By finite lists: never a host, URL or tag.

use evercrawl_model::{Change, LifeState, Outcome, Refusal};

/// A label that a metric carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// What the crawler calls itself: one value in a process.
    Version,
    /// How a visit ended.
    Outcome,
    /// What a visit found out about the page's content.
    Change,
    /// Why a visit found nothing new.
    Unchanged,
    /// Why a URL is not fetched.
    Reason,
    /// Where a page is in its life.
    State,
    /// What a host waits for.
    WaitsFor,
    /// What a request was made for.
    Purpose,
    /// A part of a fetch.
    Phase,
    /// Which bytes are counted.
    Bytes,
    /// What came of a request for robots.txt.
    Robots,
    /// Why requests to a host are forbidden for a while.
    Cause,
}

impl Label {
    /// The label's name.
    pub const fn name(self) -> &'static str {
        match self {
            Label::Version => "version",
            Label::Outcome | Label::Robots => "outcome",
            Label::Change => "change",
            Label::Unchanged | Label::Reason => "reason",
            Label::State => "state",
            Label::WaitsFor => "waits_for",
            Label::Purpose => "purpose",
            Label::Phase => "phase",
            Label::Bytes => "kind",
            Label::Cause => "cause",
        }
    }

    /// Every value that the label can have; `None` for the version, which has one in a process.
    pub fn values(self) -> Option<Vec<&'static str>> {
        Some(match self {
            Label::Version => return None,
            Label::Outcome => Outcome::ALL.map(Outcome::code).to_vec(),
            Label::Change => Change::ALL.map(Change::code).to_vec(),
            Label::Unchanged => vec!["not_modified", "same_digest", "noise"],
            Label::Reason => Refusal::ALL.map(Refusal::code).to_vec(),
            Label::State => LifeState::ALL.map(LifeState::code).to_vec(),
            Label::WaitsFor => vec!["turn", "pace", "back_off", "robots", "paused", "not_due"],
            Label::Purpose => vec!["due", "ahead_of_time", "audit", "robots"],
            Label::Phase => Phase::ALL.map(Phase::code).to_vec(),
            Label::Bytes => vec!["wire"],
            Label::Robots => RobotsOutcome::ALL.map(RobotsOutcome::code).to_vec(),
            Label::Cause => BlockCause::ALL.map(BlockCause::code).to_vec(),
        })
    }
}

/// A part of a fetch that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Finding the host's address.
    Dns,
    /// Opening a connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// From the request to the first byte of the answer.
    FirstByte,
    /// All of it, to the last byte of the body.
    Total,
}

impl Phase {
    /// All phases.
    pub const ALL: [Phase; 5] =
        [Phase::Dns, Phase::Connect, Phase::Tls, Phase::FirstByte, Phase::Total];

    /// The phase's code.
    pub const fn code(self) -> &'static str {
        match self {
            Phase::Dns => "dns",
            Phase::Connect => "connect",
            Phase::Tls => "tls",
            Phase::FirstByte => "ttfb",
            Phase::Total => "total",
        }
    }
}

/// What came of a request for robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsOutcome {
    /// A robots.txt was received.
    Fetched,
    /// The server has none: everything is allowed.
    Absent,
    /// The server failed or did not answer: nothing is allowed for a while.
    Unreachable,
    /// The host's address is one that we do not connect to.
    PrivateAddress,
}

impl RobotsOutcome {
    /// All outcomes.
    pub const ALL: [RobotsOutcome; 4] = [
        RobotsOutcome::Fetched,
        RobotsOutcome::Absent,
        RobotsOutcome::Unreachable,
        RobotsOutcome::PrivateAddress,
    ];

    /// The outcome's code.
    pub const fn code(self) -> &'static str {
        match self {
            RobotsOutcome::Fetched => "fetched",
            RobotsOutcome::Absent => "absent",
            RobotsOutcome::Unreachable => "unreachable",
            RobotsOutcome::PrivateAddress => "private_address",
        }
    }
}

/// Why requests to a host are forbidden for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCause {
    /// The server asked for it with `Retry-After`.
    RetryAfter,
    /// Its robots.txt could not be fetched.
    Robots,
    /// It failed.
    Failure,
}

impl BlockCause {
    /// All causes.
    pub const ALL: [BlockCause; 3] =
        [BlockCause::RetryAfter, BlockCause::Robots, BlockCause::Failure];

    /// The cause's code.
    pub const fn code(self) -> &'static str {
        match self {
            BlockCause::RetryAfter => "retry_after",
            BlockCause::Robots => "robots_unreachable",
            BlockCause::Failure => "failure",
        }
    }
}
