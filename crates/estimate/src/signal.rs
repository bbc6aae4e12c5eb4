//! What does a hint from outside (sitemap, feed, push) say about whether a page has changed?
//!
//! A signal may be false and a change may go unsignalled; how often is learned, never assumed.
//! The result is an equivalent elapsed time, so that everything else works as without signals.

mod clock;

pub use clock::SignalClock;

/// The rates behind a page's signals (theory: Busa-Fekete et al. 2025; this form is our own).
///
/// Changes come at rate `seen` + `hidden`; the seen ones raise a signal, and so do false alarms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignalRates {
    /// Rate of changes that raise a signal.
    pub seen: f64,
    /// Rate of changes that do not.
    pub hidden: f64,
    /// Rate of signals without a change.
    pub false_alarms: f64,
}

impl SignalRates {
    /// Returns P(unchanged | n signals, τ) = (ν/(ν+seen))ⁿ e^(-hidden τ).
    pub fn survival(self, tau: f64, signals: f64) -> f64 {
        (-self.expected(tau, signals)).exp()
    }

    /// Returns the time without signals after which the page would be as likely to be unchanged.
    ///
    /// (hidden τ + n ln((ν+seen)/ν))/(seen + hidden): quiet time counts only for hidden changes,
    /// each signal is a jump; infinite when a signal never lies.
    pub(crate) fn equivalent_time(self, tau: f64, signals: f64) -> f64 {
        let rate = positive(self.seen) + positive(self.hidden);
        if rate > 0.0 { self.expected(tau, signals) / rate } else { positive(tau) }
    }

    /// Returns the chance that a change found after `tau` is the one that a first signal after `first_signal` announced.
    fn chance_signalled(self, first_signal: f64, tau: f64) -> f64 {
        let chance = share(positive(self.seen), positive(self.false_alarms));
        let rate = positive(self.seen) + positive(self.hidden);
        let unannounced = positive(self.hidden) * first_signal + rate * (tau - first_signal);
        let changed = 1.0 - (1.0 - chance) * (-unannounced).exp();
        if changed > 0.0 { (chance / changed).min(1.0) } else { chance }
    }

    /// Returns the chance that a page that changed by `tau` had changed by `read_for`, when there was no signal until
    /// then and the source was not read later.
    fn hidden_before(self, read_for: f64, tau: f64) -> f64 {
        if read_for >= tau {
            return 1.0;
        }
        let rate = positive(self.seen) + positive(self.hidden);
        let before = -(-positive(self.hidden) * read_for).exp_m1();
        let ever = 1.0 - (1.0 - before) * (-rate * (tau - read_for)).exp();
        if ever > 0.0 { before / ever } else { 0.0 }
    }

    fn expected(self, tau: f64, signals: f64) -> f64 {
        let quiet = positive(self.hidden) * positive(tau);
        let seen = positive(self.seen);
        if signals > 0.0 && seen > 0.0 {
            quiet + signals * (seen / positive(self.false_alarms)).ln_1p()
        } else {
            quiet
        }
    }
}

/// A source of signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalSource {
    /// The date in a sitemap.
    Sitemap,
    /// The date in a feed.
    Feed,
    /// Pushed notifications.
    Push,
}

/// The number of signal sources.
pub const SIGNAL_SOURCES: usize = 3;

impl SignalSource {
    /// All of them.
    pub const ALL: [Self; SIGNAL_SOURCES] = [Self::Sitemap, Self::Feed, Self::Push];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::Feed => "feed",
            Self::Push => "push",
        }
    }
}

/// The time of each source's first signal after a page's last visit; 0 if there was none.
///
/// Later signals of the same source say nothing new until the page is visited.
pub type FirstSignals = [f64; SIGNAL_SOURCES];

/// The time since each source's list was last read; 0 for pushed signals.
pub type UnreadTimes = [f64; SIGNAL_SOURCES];

/// How far one source can be trusted on one host, learned from visits.
///
/// There is a signal or not, and a change is found or not. Each of the four cases is compared with what was to be
/// expected in the elapsed time: a change after a signal proves little where the page would have changed anyway, and
/// no change without one proves little where it hardly ever does.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SourceTrust {
    /// Signals received.
    pub signals: f64,
    /// Signals that announced a change, as far as visits can tell.
    pub true_signals: f64,
    /// Signals without a change.
    pub false_signals: f64,
    /// Changes found without a signal.
    pub unsignalled_changes: f64,
    /// Changes expected without a signal, from the change rates and the elapsed times.
    pub expected_changes: f64,
    /// The time, over all pages, without a signal.
    pub quiet: f64,
}

/// After this many cases older ones fade: hosts change their ways.
const MEMORY: f64 = 300.0;

/// From this many tested signals on, the others are no surprise.
const FEW: f64 = 10.0;

impl SourceTrust {
    /// Learns from a visit `tau` after the one before to a page that changes at `rate`: when did the first signal
    /// come (0: never), for how long at the end was the source not read (a list is read now and then), and had the
    /// page changed?
    ///
    /// Expectation maximisation, one visit at a time: each is divided between its possible causes as what
    /// was learned so far makes them likely.
    #[must_use]
    pub fn observe(
        self,
        first_signal: f64,
        tau: f64,
        unread: f64,
        rate: f64,
        changed: bool,
    ) -> Self {
        let (first_signal, tau) = (positive(first_signal).min(positive(tau)), positive(tau));
        let read_for = tau - positive(unread).min(tau);
        let rates = self.rates(rate);
        let cases = self.true_signals + self.false_signals + self.expected_changes;
        let mut after = if cases > MEMORY { self.forget(1.0 - 1.0 / MEMORY) } else { self };
        after.quiet += if first_signal > 0.0 { first_signal } else { read_for };
        match (first_signal > 0.0, changed) {
            (true, true) => {
                let announced = rates.chance_signalled(first_signal, tau);
                after.true_signals += announced;
                after.false_signals += 1.0 - announced;
            }
            (true, false) => after.false_signals += 1.0,
            (false, true) => {
                let before = rates.hidden_before(read_for, tau);
                after.unsignalled_changes += before * at_least_one(rates.hidden * read_for);
            }
            (false, false) => {}
        }
        if first_signal == 0.0 {
            after.expected_changes += positive(rate) * read_for;
        }
        after
    }

    /// Fades what was learned, keeping the share `keep`.
    #[must_use]
    pub fn forget(self, keep: f64) -> Self {
        let keep = if keep >= 0.0 { keep.min(1.0) } else { 0.0 };
        Self {
            signals: self.signals,
            true_signals: keep * self.true_signals,
            false_signals: keep * self.false_signals,
            unsignalled_changes: keep * self.unsignalled_changes,
            expected_changes: keep * self.expected_changes,
            quiet: keep * self.quiet,
        }
    }

    /// Returns the chance that a signal announces a change. A pseudo-case each way keeps it from ever
    /// being certain.
    pub fn precision(self) -> f64 {
        share(1.0 + positive(self.true_signals), 1.0 + positive(self.false_signals))
    }

    /// Returns the chance that a change is announced: the share of the changes expected without a signal that were
    /// not found. One of two pseudo-changes was found, so that it is never certain either.
    pub fn recall(self) -> f64 {
        let hidden =
            (1.0 + positive(self.unsignalled_changes)) / (2.0 + positive(self.expected_changes));
        (1.0 - hidden).clamp(0.0, 1.0)
    }

    /// How far it is known what the source's signals are worth, from 0 to 1.
    fn proven_signals(self) -> f64 {
        share(positive(self.true_signals) + positive(self.false_signals), FEW)
    }

    /// Returns the signal rates of a page that changes at `rate`.
    ///
    /// seen = recall λ, hidden = (1 - recall)λ. False signals come as often as they came to the host's pages,
    /// whatever these do: a list that always gives today's date does so for all pages. Without evidence one false
    /// signal is assumed in the time of two changes, so that a first signal is half believed.
    pub fn rates(self, rate: f64) -> SignalRates {
        let rate = positive(rate);
        let seen = self.recall() * rate;
        let quiet = positive(self.quiet) + 2.0 / rate.max(1e-12);
        let false_alarms = (1.0 + positive(self.false_signals)) / quiet;
        SignalRates { seen, hidden: rate - seen, false_alarms }
    }
}

/// What is known about the signal sources of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SignalSources(pub [SourceTrust; SIGNAL_SOURCES]);

impl SignalSources {
    /// Records that `signal_source` sent a signal for a page of the host.
    pub fn record_signal(&mut self, signal_source: SignalSource) {
        self.0[signal_source as usize].signals += 1.0;
    }

    /// Learns from a visit, as [`SourceTrust::observe`] does, about each source that ever sent a signal. `unread` is
    /// the time for which each was not read.
    pub fn learn(
        &mut self,
        first_signals: &FirstSignals,
        unread: &UnreadTimes,
        tau: f64,
        rate: f64,
        changed: bool,
    ) {
        for ((trust, first_signal), unread) in self.0.iter_mut().zip(first_signals).zip(unread) {
            if trust.signals > 0.0 {
                *trust = trust.observe(*first_signal, tau, *unread, rate, changed);
            }
        }
    }

    /// Returns how time counts for a page that changes at `rate`, given its signals.
    pub fn clock(&self, first_signals: &FirstSignals, rate: f64) -> SignalClock {
        let mut clock = SignalClock::PLAIN;
        for (trust, first_signal) in self.0.iter().zip(first_signals) {
            if trust.signals > 0.0 || *first_signal > 0.0 {
                clock = clock.with_signal(trust.rates(rate), *first_signal);
                clock.proven = clock.proven.max(if *first_signal > 0.0 {
                    trust.proven_signals()
                } else {
                    0.0
                });
            }
        }
        clock
    }
}

/// The expected number of events, given their mean `expected` and that at least one happened.
fn at_least_one(expected: f64) -> f64 {
    if expected > 1e-9 { expected / -(-expected).exp_m1() } else { 1.0 }
}

fn share(hits: f64, misses: f64) -> f64 {
    let (hits, misses) = (positive(hits), positive(misses));
    if hits + misses > 0.0 { hits / (hits + misses) } else { 0.5 }
}

fn positive(value: f64) -> f64 {
    if value > 0.0 { value.min(1e300) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gamma;
    use crate::testing::{Uniforms, assert_close, golden, number, rows};

    #[test]
    fn survival_matches_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "ncis") {
            let rates = SignalRates {
                seen: number(row, "lam_seen"),
                hidden: number(row, "lam_hidden"),
                false_alarms: number(row, "nu_false"),
            };
            let (tau, n) = (number(row, "tau"), number(row, "n"));
            assert_close(rates.survival(tau, n), number(row, "p_fresh"), 1e-9);
            let rate = rates.seen + rates.hidden;
            let again = (-rate * rates.equivalent_time(tau, n)).exp();
            assert_close(again, number(row, "p_fresh"), 1e-9);
        }
    }

    #[test]
    fn survival_is_what_chance_shows() {
        let rates = SignalRates { seen: 0.8, hidden: 0.2, false_alarms: 0.3 };
        let (mut random, tau) = (Uniforms::new(5), 2.0);
        let count = |random: &mut Uniforms, rate: f64| {
            let (mut time, mut n) = (random.gap(rate), 0);
            while time < tau {
                time += random.gap(rate);
                n += 1;
            }
            n
        };
        let (mut fresh, mut total) = ([0.0; 4], [0.0; 4]);
        for _ in 0..200_000 {
            let (seen, hidden) = (count(&mut random, 0.8), count(&mut random, 0.2));
            let signals = seen + count(&mut random, 0.3);
            if signals < 4 {
                total[signals] += 1.0;
                fresh[signals] += f64::from(seen + hidden == 0);
            }
        }
        for n in 0..4 {
            let want = rates.survival(tau, n as f64);
            assert!((fresh[n] / total[n] - want).abs() < 0.01, "{n}");
        }
    }

    /// Pages that change at 0.25, are visited every `gap` or at a word, and of which words come: of a share
    /// of changes, and without any at a rate. Returns what is learned, and the mean of the beliefs.
    fn learned(recall: f64, lies: f64, gap: f64) -> (SourceTrust, f64) {
        let (mut random, mut signal_sources) = (Uniforms::new(3), SignalSources::default());
        signal_sources.record_signal(SignalSource::Sitemap);
        let mut belief = Gamma::with_mean(0.25, 1.0);
        for _ in 0..3000 {
            let (seen, hidden) = (random.gap(0.25 * recall), random.gap(0.25 * (1.0 - recall)));
            let first_signal = seen.min(random.gap(lies));
            // A liar is visited by the clock, since its words come all the time.
            let tau = if first_signal < gap && lies < 1.0 { first_signal + 0.05 } else { gap };
            let first_signals = [if first_signal < tau { first_signal } else { 0.0 }, 0.0, 0.0];
            let changed = seen.min(hidden) < tau;
            belief = signal_sources
                .clock(&first_signals, belief.mean())
                .learn(belief, tau, changed, None);
            signal_sources.learn(&first_signals, &[0.0; SIGNAL_SOURCES], tau, 0.25, changed);
        }
        (signal_sources.0[0], belief.mean())
    }

    #[test]
    fn trust_is_what_the_teller_deserves() {
        for (recall, lies, gap) in [(0.95, 0.01, 4.0), (0.5, 0.1, 4.0), (0.2, 0.02, 2.0)] {
            let (trust, rate) = learned(recall, lies, gap);
            let precision = 0.25 * recall / (0.25 * recall + lies);
            assert!((trust.precision() - precision).abs() < 0.1, "{recall} {lies}: {trust:?}");
            assert!((trust.recall() - recall).abs() < 0.12, "{recall} {lies}: {trust:?}");
            assert!((0.2..0.31).contains(&rate), "{recall} {lies}: {rate}");
        }
        assert!((SourceTrust::default().precision() - 0.5).abs() < 1e-12);
    }

    /// A list that tells of every change is read every `every`, pages are visited every 2.
    fn recall_of_a_list(every: f64, knows: bool) -> f64 {
        let (mut random, mut trust) =
            (Uniforms::new(8), SourceTrust { signals: 1.0, ..SourceTrust::default() });
        for visit in 0..4000 {
            let (end, seen) = (2.0 * f64::from(visit) + 2.0, random.gap(0.25));
            let read_for = ((end / every).floor() * every - (end - 2.0)).clamp(0.0, 2.0);
            let first_signal = if seen < read_for { (seen / every).ceil() * every } else { 0.0 };
            let unread = if knows { 2.0 - read_for } else { 0.0 };
            trust = trust.observe(first_signal, 2.0, unread, 0.25, seen < 2.0);
        }
        trust.recall()
    }

    #[test]
    fn a_list_is_not_blamed_for_what_came_after_it_was_read() {
        assert!(recall_of_a_list(0.75, true) > 0.95, "{}", recall_of_a_list(0.75, true));
        assert!(recall_of_a_list(0.75, false) < 0.9, "{}", recall_of_a_list(0.75, false));
    }

    #[test]
    fn who_always_cries_is_not_heard_and_time_runs_as_it_does() {
        let (trust, rate) = learned(1.0, 16.0, 2.0);
        assert!(trust.precision() < 0.1, "{trust:?}");
        assert!((0.2..0.31).contains(&rate), "{rate}");
        let signal_sources = SignalSources([trust, SourceTrust::default(), SourceTrust::default()]);
        let clock = signal_sources.clock(&[0.06, 0.0, 0.0], 0.25);
        let equivalent = clock.elapsed_without_signals(3.0) + clock.signal_jump();
        assert!((equivalent - 3.0).abs() < 0.15, "{equivalent}");
    }

    #[test]
    fn nonsense_is_answered() {
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1.0];
        for a in odd {
            for b in odd {
                let rates = SignalRates { seen: a, hidden: b, false_alarms: a };
                assert!((0.0..=1.0).contains(&rates.survival(b, a)), "{a} {b}");
                assert!(rates.equivalent_time(b, a) >= 0.0, "{a} {b}");
                let (false_words, quiet) = (b, a);
                let trust = SourceTrust {
                    signals: 1.0,
                    true_signals: a,
                    false_signals: false_words,
                    quiet,
                    ..SourceTrust::default()
                };
                let trust = trust.observe(a, b, a, b, true).observe(b, a, b, a, false);
                assert!(trust.rates(b).seen >= 0.0, "{a} {b}");
                let clock = SignalSources([trust; SIGNAL_SOURCES]).clock(&[a, b, 0.0], a);
                assert!(
                    !clock.elapsed_without_signals(b).is_nan() && !clock.signal_jump().is_nan(),
                    "{a} {b}"
                );
            }
        }
    }
}
