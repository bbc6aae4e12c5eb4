//! When may a proxy be asked again that failed?

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use evercrawl_fetch::{Failure, ProxyFailure, Response};
use evercrawl_model::Time;

/// How long a proxy rests that failed once; each further failure doubles it.
const FIRST_REST: Duration = Duration::from_secs(5);
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(5 * 60);

/// The proxies that failed lately, by their names; no more than the user configured.
#[derive(Default)]
pub(super) struct ProxyRests(RefCell<HashMap<String, Rest>>);

#[derive(Clone, Copy)]
struct Rest {
    failures: u32,
    until: Time,
}

/// A proxy failed, so what was to be asked through it waits.
pub(super) struct ProxyRest {
    pub(super) until: Time,
    /// What to tell the user, when it is news.
    pub(super) message: Option<String>,
}

impl ProxyRests {
    /// Until when `proxy` rests, if it does.
    pub(super) fn resting(&self, proxy: Option<&str>, now: Time) -> Option<ProxyRest> {
        let until = self.0.borrow().get(proxy?)?.until;
        (until > now).then_some(ProxyRest { until, message: None })
    }

    /// What a result says of `proxy`: a rest where the proxy failed, for whatever host it was.
    pub(super) fn judge(
        &self,
        proxy: Option<&str>,
        result: &Result<Response, Failure>,
        now: Time,
    ) -> Option<ProxyRest> {
        let proxy = proxy?;
        match result {
            Err(Failure::Proxy(failure)) if failure.is_for_all_hosts() => {
                Some(self.rest(&failure.proxy, now, failure))
            }
            _ => {
                self.0.borrow_mut().remove(proxy);
                None
            }
        }
    }

    /// Lets a proxy rest. Requests that were out together fail together, and count once.
    fn rest(&self, proxy: &str, now: Time, failure: &ProxyFailure) -> ProxyRest {
        let mut rests = self.0.borrow_mut();
        let rest = rests.entry(proxy.to_owned()).or_insert(Rest { failures: 0, until: now });
        if rest.until > now {
            return ProxyRest { until: rest.until, message: None };
        }
        let pause = FIRST_REST.saturating_mul(1 << rest.failures.min(10)).min(LONGEST_REST);
        *rest = Rest { failures: rest.failures.saturating_add(1), until: now.after(pause) };
        let message = format!("{failure}; next attempt in {} s", pause.as_secs());
        ProxyRest { until: rest.until, message: Some(message) }
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_fetch::ProxyTrouble;

    use super::*;

    const NAME: &str = "http://127.0.0.1:1";

    fn failed() -> Result<Response, Failure> {
        let trouble = ProxyTrouble::Timeout;
        Err(ProxyFailure { proxy: NAME.to_owned(), trouble }.into())
    }

    #[test]
    fn a_proxy_rests_longer_with_each_failure_and_is_told_of_once_each_time() {
        let rests = ProxyRests::default();
        let mut now = Time::from_millis(1_000_000);
        let mut pauses = Vec::new();
        for _ in 0..9 {
            let rest = rests.judge(Some(NAME), &failed(), now).unwrap();
            assert!(rest.message.unwrap().contains("the proxy http://127.0.0.1:1 does not answer"));
            let again = rests.judge(Some(NAME), &failed(), now).unwrap();
            assert!(again.message.is_none() && again.until == rest.until);
            assert!(rests.resting(Some(NAME), now).is_some());
            pauses.push(rest.until.since(now).as_secs());
            now = rest.until;
            assert!(rests.resting(Some(NAME), now).is_none());
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert!(rests.judge(Some(NAME), &Err(Failure::Disconnected), now).is_none());
        let rest = rests.judge(Some(NAME), &failed(), now).unwrap();
        assert_eq!(rest.until.since(now), FIRST_REST, "it had worked meanwhile");
    }

    #[test]
    fn what_is_the_hosts_own_fault_lets_no_proxy_rest() {
        let rests = ProxyRests::default();
        let trouble = ProxyTrouble::Refused { target: "a:1".to_owned(), answer: "403".to_owned() };
        let refused = Err(ProxyFailure { proxy: NAME.to_owned(), trouble }.into());
        assert!(rests.judge(Some(NAME), &refused, Time::EPOCH).is_none());
        assert!(rests.judge(None, &failed(), Time::EPOCH).is_none());
    }
}
