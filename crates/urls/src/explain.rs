//! Why was a URL refused, in words?

use evercrawl_model::{Refusal, Time};

use crate::{Canonical, ScopeKind, UrlFilter, calendar, filter};

impl UrlFilter {
    /// Says in words which rule makes [`check_url`](UrlFilter::check_url) refuse `url`; `None` where it is let
    /// in.
    pub fn explain(&self, url: &Canonical, depth: u16, now: Time) -> Option<String> {
        let reason = self.check_url(url, depth, now).err()?;
        let rules = &self.rules;
        let length = url.as_str().len();
        Some(match reason {
            Refusal::TooLong => format!("{length} bytes long, {} allowed", rules.max_length),
            Refusal::TooDeep => {
                let most = rules.max_depth.unwrap_or(u16::MAX);
                format!("{depth} links away from a seed, {most} allowed")
            }
            Refusal::OutOfScope => self.explain_scope(),
            Refusal::DeniedHost => {
                format!("denied host `{}`", self.denied_host(url).unwrap_or_default())
            }
            Refusal::Extension => {
                format!("file extension `{}`", self.filtered_extension(url).unwrap_or_default())
            }
            Refusal::TooManySegments => {
                format!("{} path segments, {} allowed", filter::segments(url), rules.max_segments)
            }
            Refusal::RepeatedSegments => {
                format!("the path repeats `/{}`", filter::cycle(url).unwrap_or_default())
            }
            Refusal::TooManyParameters => {
                let count = filter::parameters(url);
                format!("{count} parameters, {} allowed", rules.max_parameters)
            }
            Refusal::Calendar => {
                format!("{} of an endless calendar", calendar::endless_calendar_month(url, now)?)
            }
            Refusal::Excluded => self.explain_exclude(url),
            Refusal::NotIncluded => {
                format!("none of the {} include patterns matches", rules.include.len())
            }
            other => other.code().to_owned(),
        })
    }

    fn explain_scope(&self) -> String {
        let scope = self.scope();
        let seeds = match (scope.kind(), scope.len()) {
            (_, 0) => return format!("scope {}: there are no seeds yet", scope.kind().name()),
            (ScopeKind::Page, n) => format!("not one of the {n} seed pages"),
            (ScopeKind::Prefix, n) => format!("in none of the {n} seed folders"),
            (ScopeKind::Host, n) => format!("not one of the {n} seed hosts"),
            (ScopeKind::Domain | ScopeKind::Any, n) => format!("not one of the {n} seed domains"),
        };
        format!("scope {}: {seeds}", scope.kind().name())
    }

    fn explain_exclude(&self, url: &Canonical) -> String {
        let first = self.exclude.matches(url.as_str().as_bytes()).into_iter().next();
        let pattern = first.and_then(|index| Some((index + 1, self.rules.exclude.get(index)?)));
        pattern.map_or_else(
            || "an exclude pattern".to_owned(),
            |(number, pattern)| format!("exclude pattern #{number} `{pattern}`"),
        )
    }
}
