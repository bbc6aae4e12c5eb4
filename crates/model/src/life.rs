//! Where is a page in its life, and what does the log say besides visits?

use crate::{HostKey, PageKey, Refusal, Time};

/// Where a page is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    /// Known, never visited.
    New,
    /// Visited, and there.
    Live,
    /// Its last visit failed; it is tried again, ever more rarely.
    Failing,
    /// Its server says that it is gone.
    Gone,
    /// Its server says that it moved for good.
    Moved,
    /// A page that says "not found" is shown in its place.
    SoftGone,
    /// A password is asked for in its place.
    LoginWall,
    /// Its domain is parked.
    Parked,
    /// Not to be fetched.
    Refused,
}

impl Life {
    /// Every state there is, in the order of their numbers.
    pub const ALL: [Life; 9] = [
        Life::New,
        Life::Live,
        Life::Failing,
        Life::Gone,
        Life::Moved,
        Life::SoftGone,
        Life::LoginWall,
        Life::Parked,
        Life::Refused,
    ];

    /// The state's code, as users see it.
    pub const fn code(self) -> &'static str {
        match self {
            Life::New => "new",
            Life::Live => "live",
            Life::Failing => "failing",
            Life::Gone => "gone",
            Life::Moved => "moved",
            Life::SoftGone => "soft_404",
            Life::LoginWall => "login_wall",
            Life::Parked => "parked",
            Life::Refused => "refused",
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

/// A page went from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeChange {
    /// Where it was.
    pub from: Life,
    /// Where it is.
    pub to: Life,
}

impl LifeChange {
    /// From one state to another; `None` where they are the same.
    pub fn between(from: Life, to: Life) -> Option<Self> {
        (from != to).then_some(LifeChange { from, to })
    }
}

/// What the log says besides visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A page came to another state without being asked for.
    Turned {
        /// The page.
        page: PageKey,
        /// When.
        at: Time,
        /// From which state to which.
        turn: LifeChange,
        /// Why it is refused, or was.
        reason: Refusal,
    },
    /// The same came to or went from the pages of a whole host: one event, however many pages.
    Site {
        /// The host.
        host: HostKey,
        /// When enough of its pages had shown it.
        at: Time,
        /// How many passages it was; 0 where they were too many to be told one by one.
        passages: u32,
    },
}

impl Notice {
    /// When it was.
    pub fn at(&self) -> Time {
        match self {
            Notice::Turned { at, .. } | Notice::Site { at, .. } => *at,
        }
    }
}
