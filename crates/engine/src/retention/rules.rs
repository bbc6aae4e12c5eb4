//! Which of a page's visits stay? Rules as the user gives them; what one of them keeps is kept.

use std::collections::BTreeSet;
use std::time::Duration;

use evercrawl_model::{Change, Time, Visit};

/// A day, in milliseconds.
const DAY: u64 = 86_400_000;
const YEAR: Duration = Duration::from_secs(365 * 86_400);

/// What stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The last so many versions of a page: of each, the visit that first saw it and the one that
    /// last did.
    Last(u32),
    /// Whatever is no older.
    Within(Duration),
    /// The last visit of each day, by UTC; no older than this, where it is given.
    Daily(Option<Duration>),
}

/// Rules, one of which must keep what is to stay. None of them: everything stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The rules.
    pub rules: Vec<Rule>,
    /// The rules as the user wrote them.
    pub text: String,
}

impl Keep {
    /// True when nothing is ever dropped.
    pub fn is_all(&self) -> bool {
        self.rules.is_empty()
    }

    /// What the log says besides visits leaves it when it is older than this: than the longest time
    /// that a rule speaks of, or a year where one speaks of none.
    pub(crate) fn notices_from(&self, now: Time) -> Time {
        let ages = self.rules.iter().map(|rule| match rule {
            Rule::Within(age) | Rule::Daily(Some(age)) => *age,
            Rule::Last(_) | Rule::Daily(None) => YEAR,
        });
        ages.max().map_or(Time::EPOCH, |age| now.before(age))
    }

    /// For each of a page's visits, the latest first, whether it stays. The latest always does.
    pub fn of(&self, visits: &[&Visit], now: Time) -> Vec<bool> {
        let mut kept = vec![self.is_all(); visits.len()];
        for rule in &self.rules {
            rule.keep(visits, now, &mut kept);
        }
        if let Some(latest) = kept.first_mut() {
            *latest = true;
        }
        kept
    }
}

impl Rule {
    fn keep(self, visits: &[&Visit], now: Time, kept: &mut [bool]) {
        let young = |visit: &Visit, age: Duration| visit.at >= now.before(age);
        match self {
            Rule::Last(versions) => keep_versions(visits, versions, kept),
            Rule::Within(age) => {
                for (kept, visit) in kept.iter_mut().zip(visits) {
                    *kept |= young(visit, age);
                }
            }
            Rule::Daily(age) => {
                let mut days = BTreeSet::new();
                for (kept, visit) in kept.iter_mut().zip(visits) {
                    let first = days.insert(visit.at.millis() / DAY);
                    *kept |= first && age.is_none_or(|age| young(visit, age));
                }
            }
        }
    }
}

/// The ends of each of the last versions. What lies between confirms them and says nothing else.
fn keep_versions(visits: &[&Visit], versions: u32, kept: &mut [bool]) {
    let (mut version, mut is_latest) = (0, true);
    for (kept, visit) in kept.iter_mut().zip(visits) {
        if version >= versions {
            return;
        }
        let begins = begins_version(visit.change);
        *kept |= is_latest || begins;
        is_latest = begins;
        version += u32::from(begins);
    }
}

fn begins_version(change: Change) -> bool {
    matches!(change, Change::New | Change::Changed | Change::Near | Change::Gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_model::{Outcome, PageKey, Score, VisitNoise};

    const NOW: Time = Time::from_secs(1_794_780_950);

    fn visit(hours_ago: u64, change: Change) -> Visit {
        Visit {
            page: PageKey::default(),
            at: NOW.before(Duration::from_secs(3600 * hours_ago)),
            outcome: Outcome::Ok,
            status: 200,
            change,
            score: Score::NONE,
            digest: None,
            bytes: 0,
            ms: 0,
            record: None,
            near: None,
            cause: None,
            noise: VisitNoise::default(),
        }
    }

    /// The visits that stay, by how many hours ago they were.
    fn kept(rules: &[Rule], visits: &[(u64, Change)]) -> Vec<u64> {
        let made: Vec<Visit> = visits.iter().map(|&(ago, change)| visit(ago, change)).collect();
        let keep = Keep { rules: rules.to_vec(), text: String::new() };
        let kept = keep.of(&made.iter().collect::<Vec<_>>(), NOW);
        visits.iter().zip(kept).filter(|(_, kept)| *kept).map(|((ago, _), _)| *ago).collect()
    }

    const SAME: Change = Change::Same;
    const CHANGED: Change = Change::Changed;

    /// Six hours apart: three versions, each confirmed twice.
    const VISITS: [(u64, Change); 9] = [
        (0, SAME),
        (6, SAME),
        (12, CHANGED),
        (18, SAME),
        (24, SAME),
        (30, CHANGED),
        (36, SAME),
        (42, SAME),
        (48, Change::New),
    ];

    #[test]
    fn without_a_rule_all_stays() {
        assert_eq!(kept(&[], &VISITS).len(), VISITS.len());
    }

    #[test]
    fn the_last_versions_stay_with_their_ends() {
        assert_eq!(kept(&[Rule::Last(1)], &VISITS), [0, 12]);
        assert_eq!(kept(&[Rule::Last(2)], &VISITS), [0, 12, 18, 30]);
        assert_eq!(kept(&[Rule::Last(9)], &VISITS), [0, 12, 18, 30, 36, 48]);
        assert_eq!(kept(&[Rule::Last(2)], &[(0, CHANGED), (1, CHANGED), (2, CHANGED)]), [0, 1]);
    }

    #[test]
    fn age_and_days_keep_the_latest_whatever_they_say() {
        let hours = |n: u64| Duration::from_secs(3600 * n);
        assert_eq!(kept(&[Rule::Within(hours(13))], &VISITS), [0, 6, 12]);
        assert_eq!(kept(&[Rule::Within(hours(1))], &VISITS[4..]), [24]);
        // It is 22:15 by UTC: the day before ends 23 hours ago.
        assert_eq!(kept(&[Rule::Daily(None)], &VISITS), [0, 24, 48]);
        assert_eq!(kept(&[Rule::Daily(Some(hours(30)))], &VISITS), [0, 24]);
    }

    #[test]
    fn what_one_rule_keeps_is_kept() {
        let hours = |n: u64| Duration::from_secs(3600 * n);
        assert_eq!(kept(&[Rule::Last(1), Rule::Within(hours(7))], &VISITS), [0, 6, 12]);
    }
}
