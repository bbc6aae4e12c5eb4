//! What do the codes of views mean, in words?

use evercrawl_query::{HostWaits, PageState};

/// How serious something is: its colour and its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// All is well.
    Good,
    /// Neither good nor bad.
    Plain,
    /// New, or changed.
    News,
    /// Somebody should look.
    Warn,
    /// Something is wrong.
    Bad,
}

impl Tone {
    /// Its class in the style sheet.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Plain => "plain",
            Tone::News => "news",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
        }
    }
}

/// The word for a page's state, and how serious it is.
pub(crate) fn page_state(state: PageState) -> (&'static str, Tone) {
    match state {
        PageState::New => ("new", Tone::News),
        PageState::Due => ("due", Tone::News),
        PageState::Resting => ("up to date", Tone::Good),
        PageState::Failing => ("failing", Tone::Bad),
        PageState::Gone => ("gone", Tone::Warn),
        PageState::Moved => ("moved", Tone::Plain),
        PageState::SoftGone => ("soft 404", Tone::Warn),
        PageState::LoginWall => ("login wall", Tone::Warn),
        PageState::Parked => ("parked", Tone::Warn),
        PageState::Refused => ("refused", Tone::Plain),
    }
}

/// The word for what a visit or a notice found, and how serious it is.
pub(crate) fn change(code: &str) -> (&'static str, Tone) {
    match code {
        "new" => ("new", Tone::Good),
        "changed" => ("changed", Tone::News),
        "near" => ("nearly same", Tone::Plain),
        "same" => ("unchanged", Tone::Plain),
        "gone" => ("gone", Tone::Warn),
        "failed" => ("failed", Tone::Bad),
        "site" => ("whole site", Tone::News),
        "refused" => ("refused", Tone::Plain),
        "restored" => ("restored", Tone::Good),
        _ => ("other", Tone::Plain),
    }
}

/// Whether an outcome is a failure.
pub(crate) fn is_failure(outcome: &str) -> bool {
    !matches!(outcome, "ok" | "not_modified" | "redirect")
}

/// What an outcome of a visit means.
pub(crate) fn outcome(code: &str) -> &str {
    match code {
        "ok" => "content received",
        "not_modified" => "not modified (304)",
        "redirect" => "redirect",
        "client_error" => "client error (4xx)",
        "server_error" => "server error (5xx)",
        "dns" => "name not resolved",
        "connect" => "no connection",
        "tls" => "TLS failed",
        "timeout" => "took too long",
        "protocol" => "not valid HTTP",
        "private_address" => "private address",
        "soft_404" => "soft 404",
        "login_wall" => "login wall",
        "parked" => "parked domain",
        "cut" => "cut answer",
        "disconnected" => "disconnected",
        other => other,
    }
}

/// What each reason of refusal means, and what would change it.
const REFUSALS: [(&str, &str, &str); 26] = [
    ("bad_url", "The address cannot be used.", "Nothing: it is not a valid URL."),
    ("scheme", "The address is not http or https.", "Nothing: other schemes are not crawled."),
    (
        "out_of_scope",
        "It lies outside of the scope of the seeds.",
        "Widen `crawl.scope`, or add a seed there.",
    ),
    ("not_included", "No include pattern matches.", "Add a pattern to `crawl.include`."),
    ("excluded", "An exclude pattern matches.", "Remove the pattern, or the exclusion."),
    ("denied_host", "The host is on the list of denied hosts.", "Remove it from the list."),
    ("extension", "Files with this ending are left out.", "Change `crawl.skip_extensions`."),
    ("too_deep", "Too many links lie between a seed and it.", "Raise `crawl.depth`."),
    (
        "too_long",
        "The URL is too long; such URLs are mostly traps.",
        "Raise `crawl.max_url_length`.",
    ),
    (
        "too_many_segments",
        "The path has too many segments; mostly a trap.",
        "Give it as a seed if it matters.",
    ),
    (
        "repeated_segments",
        "The same segments repeat in the path; mostly a trap.",
        "Give it as a seed if it matters.",
    ),
    (
        "too_many_parameters",
        "It has too many query parameters; mostly a trap.",
        "Give it as a seed if it matters.",
    ),
    (
        "calendar",
        "It looks like an endless calendar.",
        "Raise `crawl.max_similar_urls`, or give it as a seed.",
    ),
    (
        "parameter_explosion",
        "One path has too many combinations of parameters.",
        "Raise `crawl.max_similar_urls`.",
    ),
    ("host_full", "The host has reached its limit of pages.", "Raise `crawl.max_pages_per_host`."),
    ("robots", "robots.txt forbids it.", "Ask the site's operator. The line is in `why`."),
    (
        "robots_unreachable",
        "robots.txt could not be fetched, so the host waits.",
        "It is asked again by itself.",
    ),
    ("nofollow", "The page that links to it asks not to follow.", "Give it as a seed."),
    (
        "private_address",
        "The address is not public.",
        "Use `--allow-private` for your own network.",
    ),
    (
        "redirect_limit",
        "Too many redirects.",
        "Raise `crawl.max_redirects` if the server means it.",
    ),
    ("content_type", "Its media type is left out.", "Change `crawl.skip_types`."),
    ("host_dead", "The host did not answer for long.", "It is asked again, ever more rarely."),
    ("error_history", "It failed too often.", "It is tried again, ever more rarely."),
    ("mirror", "Its host is a copy of another.", "Set `crawl.mirrors=fetch` to crawl it, too."),
    ("spam", "Its host is taken for spam.", "Trust the host."),
    ("unlikely", "It is only a guess, and guesses on this host led nowhere.", "Give it as a seed."),
];

/// What a reason of refusal means, and what would change it.
pub(crate) fn refusal(code: &str) -> (&'static str, &'static str) {
    let known = REFUSALS.iter().find(|known| known.0 == code);
    known.map_or(("Another reason.", "Ask `why`."), |known| (known.1, known.2))
}

/// What a host waits for.
pub(crate) fn waits(reason: HostWaits) -> (&'static str, &'static str) {
    match reason {
        HostWaits::Turn => ("turn", "the budget, or other hosts first"),
        HostWaits::Pace => ("pace", "the pause between two requests"),
        HostWaits::BackOff => ("backoff", "the end of its backoff after failures"),
        HostWaits::Robots => ("robots.txt", "its robots.txt, which could not be fetched"),
        HostWaits::Paused => ("paused", "the end of your pause"),
        HostWaits::NotDue => ("not due", "the time at which something is due"),
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_model::Refusal;

    use super::*;

    #[test]
    fn every_reason_of_refusal_is_explained() {
        for reason in Refusal::ALL {
            assert_ne!(refusal(reason.code()).0, "Another reason.", "{}", reason.code());
        }
    }
}
