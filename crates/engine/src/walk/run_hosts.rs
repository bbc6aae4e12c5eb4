//! What did this run ask of each host, and which hosts did not answer?
//!
//! Kept in memory for the run's report and its progress line. Hosts beyond a bound share one row.

use std::collections::{BTreeMap, HashMap};

use evercrawl_model::{Change, HostKey, Outcome, Visit};

/// Hosts that have rows of their own.
const MOST_HOSTS: usize = 2_000;
/// How many requests in a row get no answer until a host is given up for this run: one that never answered in it, and
/// one that did.
const GIVEN_UP_AFTER: u32 = 2;
const GIVEN_UP_AFTER_ANSWERS: u32 = 5;

/// What was asked of a host in this run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostRun {
    /// Pages visited.
    pub pages: u64,
    /// Pages whose content was met for the first time.
    pub first: u64,
    /// Changes found.
    pub changes: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Requests that failed, also those for robots.txt, by the code of their outcome.
    pub failures: BTreeMap<&'static str, u64>,
    /// Requests in a row that got no answer, and how the last of them ended.
    pub silence: Option<(u32, Outcome)>,
    /// Whether any request got an answer.
    pub answered: bool,
}

impl HostRun {
    fn end(&mut self, outcome: Outcome) {
        if outcome.has_answer() {
            (self.silence, self.answered) = (None, true);
        } else {
            let before = self.silence.map_or(0, |(requests, _)| requests);
            self.silence = Some((before.saturating_add(1), outcome));
        }
        if has_failed(outcome) {
            *self.failures.entry(outcome.code()).or_default() += 1;
        }
    }
}

/// What was asked of the hosts of this run.
#[derive(Clone, Debug, Default)]
pub struct RunHosts {
    hosts: HashMap<HostKey, HostRun>,
    /// All hosts beyond the bound together.
    others: HostRun,
    /// How many requests went to them, robots.txt included.
    beyond: u64,
}

impl RunHosts {
    /// Counts a visit.
    pub(super) fn visited(&mut self, visit: &Visit) {
        let row = self.row(visit.page.host);
        row.pages += 1;
        row.first += u64::from(visit.change == Change::New);
        row.changes += u64::from(matches!(visit.change, Change::Changed | Change::Near));
        row.bytes += visit.bytes;
        row.end(visit.outcome);
    }

    /// Counts a request for robots.txt, by how it ended.
    pub(super) fn robots(&mut self, host: HostKey, outcome: Outcome) {
        self.row(host).end(outcome);
    }

    fn row(&mut self, host: HostKey) -> &mut HostRun {
        if self.hosts.len() >= MOST_HOSTS && !self.hosts.contains_key(&host) {
            self.beyond += 1;
            return &mut self.others;
        }
        self.hosts.entry(host).or_default()
    }

    /// Whether so many requests to a host in a row got no answer that this run gives it up.
    pub fn is_given_up(&self, host: HostKey) -> bool {
        let Some(row) = self.hosts.get(&host) else { return false };
        let most = if row.answered { GIVEN_UP_AFTER_ANSWERS } else { GIVEN_UP_AFTER };
        row.silence.is_some_and(|(silent, _)| silent >= most)
    }

    /// The hosts that did not answer when last asked, in no order, and how that ended.
    pub fn silent(&self) -> impl Iterator<Item = (HostKey, Outcome)> {
        self.hosts.iter().filter_map(|(host, row)| Some((*host, row.silence?.1)))
    }

    /// The hosts that have rows, in no order.
    pub fn hosts(&self) -> impl Iterator<Item = (HostKey, &HostRun)> {
        self.hosts.iter().map(|(host, row)| (*host, row))
    }

    /// All other hosts together, where there are any.
    pub fn others(&self) -> Option<&HostRun> {
        Some(&self.others).filter(|_| self.beyond > 0)
    }

    /// Failed requests by the code of their outcome, over all hosts.
    pub fn failures(&self) -> BTreeMap<&'static str, u64> {
        let mut all = self.others.failures.clone();
        for (code, count) in self.hosts.values().flat_map(|row| &row.failures) {
            *all.entry(*code).or_default() += count;
        }
        all
    }
}

/// Whether a request ended otherwise than its page deserves.
fn has_failed(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::Ok | Outcome::NotModified | Outcome::Redirect)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(n: u64) -> HostKey {
        HostKey { shard: 1, host: n }
    }

    #[test]
    fn a_host_is_silent_until_it_answers() {
        let mut run = RunHosts::default();
        run.robots(host(1), Outcome::Dns);
        assert!(!run.is_given_up(host(1)));
        run.robots(host(1), Outcome::Timeout);
        assert!(run.is_given_up(host(1)));
        assert_eq!(run.silent().collect::<Vec<_>>(), [(host(1), Outcome::Timeout)]);
        run.robots(host(1), Outcome::ServerError);
        assert!(!run.is_given_up(host(1)) && run.silent().next().is_none());
        // It answered before: two pages that it cuts off are no reason to leave all others.
        for silent in 1..=GIVEN_UP_AFTER_ANSWERS {
            assert!(!run.is_given_up(host(1)), "{silent}");
            run.robots(host(1), Outcome::Disconnected);
        }
        assert!(run.is_given_up(host(1)));
        assert_eq!(
            run.failures().into_iter().collect::<Vec<_>>(),
            [("disconnected", 5), ("dns", 1), ("server_error", 1), ("timeout", 1)]
        );
        assert!(run.others().is_none());
    }

    #[test]
    fn a_server_cannot_make_the_table_grow_without_bound() {
        let mut run = RunHosts::default();
        for n in 0..MOST_HOSTS as u64 + 10 {
            run.robots(host(n), Outcome::Connect);
        }
        assert_eq!(run.hosts().count(), MOST_HOSTS);
        assert_eq!(run.others().unwrap().failures["connect"], 10);
        assert_eq!(run.failures()["connect"], MOST_HOSTS as u64 + 10);
    }
}
