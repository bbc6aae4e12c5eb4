//! How far back do curves go?

/// How far back curves go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// Thirty days.
    Month,
}

impl Period {
    /// All of them.
    pub const ALL: [Period; 3] = [Period::Hour, Period::Day, Period::Month];

    /// Its name in addresses.
    pub const fn code(self) -> &'static str {
        match self {
            Period::Hour => "1h",
            Period::Day => "24h",
            Period::Month => "30d",
        }
    }

    /// The period with this name.
    pub fn named(code: &str) -> Option<Period> {
        Period::ALL.into_iter().find(|period| period.code() == code)
    }

    /// Its length in seconds.
    pub const fn seconds(self) -> f64 {
        match self {
            Period::Hour => 3_600.0,
            Period::Day => 86_400.0,
            Period::Month => 30.0 * 86_400.0,
        }
    }

    /// Its name for people.
    pub const fn words(self) -> &'static str {
        match self {
            Period::Hour => "hour",
            Period::Day => "24 hours",
            Period::Month => "30 days",
        }
    }
}
