//! In which life state is a page, and what does the visit log contain besides visits?

use crate::{HostKey, PageKey, Refusal, Time};

/// The life state of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LifeState {
    /// Known, never visited.
    New,
    /// Visited, and served.
    Live,
    /// Its last visit failed; it is retried, ever more rarely.
    Failing,
    /// Its server says that it is gone (404 or 410).
    Gone,
    /// Its server says that it moved permanently.
    Moved,
    /// Its server shows a "not found" page with status 200.
    SoftGone,
    /// Its server asks for a password instead.
    LoginWall,
    /// Its domain is parked.
    Parked,
    /// Excluded from fetching.
    Refused,
}

impl LifeState {
    /// All states, ordered by number.
    pub const ALL: [LifeState; 9] = [
        LifeState::New,
        LifeState::Live,
        LifeState::Failing,
        LifeState::Gone,
        LifeState::Moved,
        LifeState::SoftGone,
        LifeState::LoginWall,
        LifeState::Parked,
        LifeState::Refused,
    ];

    /// The state's code, as users see it.
    pub const fn code(self) -> &'static str {
        match self {
            LifeState::New => "new",
            LifeState::Live => "live",
            LifeState::Failing => "failing",
            LifeState::Gone => "gone",
            LifeState::Moved => "moved",
            LifeState::SoftGone => "soft_404",
            LifeState::LoginWall => "login_wall",
            LifeState::Parked => "parked",
            LifeState::Refused => "refused",
        }
    }

    /// Its number in stored rows.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads what [`number`](Self::number) gave.
    pub fn from_number(n: u8) -> Option<Self> {
        Self::ALL.get(usize::from(n)).copied()
    }
}

/// A change of life state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeChange {
    /// The state before.
    pub from: LifeState,
    /// The state after.
    pub to: LifeState,
}

impl LifeChange {
    /// The change from one state to another; `None` when they are equal.
    pub fn between(from: LifeState, to: LifeState) -> Option<Self> {
        (from != to).then_some(LifeChange { from, to })
    }
}

/// An entry of the visit log that is no visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogNotice {
    /// A page's life state changed without a visit.
    LifeChanged {
        /// The page.
        page: PageKey,
        /// When.
        at: Time,
        /// The change.
        change: LifeChange,
        /// Why the page is, or was, refused.
        reason: Refusal,
    },
    /// The same passages appeared or disappeared on pages of a whole host: one entry for all of them.
    SiteChanged {
        /// The host.
        host: HostKey,
        /// When enough pages had shown it.
        at: Time,
        /// How many passages; 0 when they were too many to be identified.
        passages: u32,
    },
}

impl LogNotice {
    /// When it was.
    pub fn at(&self) -> Time {
        match self {
            LogNotice::LifeChanged { at, .. } | LogNotice::SiteChanged { at, .. } => *at,
        }
    }
}
