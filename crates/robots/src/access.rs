//! What does the response to a request for `/robots.txt` allow, before its body is read?

/// Redirects that a client follows at least before it calls `/robots.txt` unavailable
/// (RFC 9309, 2.3.1.2). The rules found at the end bind the host that was asked first.
pub const MIN_REDIRECTS: usize = 5;

/// What the outcome of fetching `/robots.txt` allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The body holds the rules: parse it.
    Parse,
    /// There are no rules: everything is allowed.
    AllowAll,
    /// The rules cannot be known now: nothing is allowed until a later attempt succeeds.
    DisallowAll,
}

/// Tells what a final status allows; `None` stands for no answer (DNS, TLS, timeout, reset).
///
/// - 2xx: the body is read.
/// - 3xx: the caller follows [`MIN_REDIRECTS`] hops or more; one that is still a redirect then
///   counts as unavailable. A 304 never gets here: it confirms the copy that the caller holds.
/// - 4xx: unavailable, so all is allowed. This includes 401 and 403, as RFC 9309 2.3.1.3 has it;
///   callers that treat them as a refusal decide so before calling this.
/// - 429: the server asks for less, not for more, so it counts as unreachable like 5xx.
/// - 5xx, anything outside HTTP's range, and silence: unreachable, so all is disallowed. Failures
///   pass, so the caller asks again soon (an hour, not a day).
pub fn availability(status: Option<u16>) -> Access {
    match status {
        Some(200..=299) => Access::Parse,
        Some(429) => Access::DisallowAll,
        Some(300..=499) => Access::AllowAll,
        _ => Access::DisallowAll,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_class_has_its_access() {
        let table = [
            (Access::Parse, vec![200, 203, 204, 206, 299]),
            (
                Access::AllowAll,
                vec![300, 301, 302, 307, 308, 400, 401, 403, 404, 410, 418, 451, 499],
            ),
            (Access::DisallowAll, vec![429, 500, 502, 503, 504, 599, 600, 999, 0, 100, 199]),
        ];
        for (access, statuses) in table {
            for status in statuses {
                assert_eq!(availability(Some(status)), access, "{status}");
            }
        }
        assert_eq!(availability(None), Access::DisallowAll);
    }
}
