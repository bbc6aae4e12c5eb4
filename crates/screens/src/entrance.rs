//! What does somebody see who is not signed in, has nothing yet, or asked for what is not there?

use maud::{Markup, html};

use crate::codes::Tone;
use crate::frame::{document, logo};
use crate::parts::{badge, web_link};
use crate::words::{count, plural, visible};

/// The form that asks for a token, after a fault where there was one.
pub fn login(fault: Option<&str>) -> String {
    let inner = html! {
        h1 { "Sign in" }
        @if let Some(fault) = fault { p.fault role="alert" { (fault) } }
        form.stack method="post" action="/login" {
            label for="token" { "Token" }
            input #token name="token" type="password" autocomplete="current-password" autofocus required;
            button { "Sign in" }
        }
        p.soft { code { "evercrawl serve" } " prints an address with a token when it starts." }
    };
    alone("Sign in", &inner)
}

/// What went wrong, and what helps.
pub fn problem(title: &str, detail: &str, hint: Option<&str>) -> String {
    let inner = html! {
        h1 { (title) }
        p { (visible(detail)) }
        @if let Some(hint) = hint { p.soft { (visible(hint)) } }
        p { a.button href="/" { "All collections" } }
    };
    alone(title, &inner)
}

fn alone(title: &str, inner: &Markup) -> String {
    let body = html! { main.alone #main { p.brand { (logo()) span { "Evercrawl" } } (inner) } };
    document(title, None, &body)
}

/// What is to be crawled, as the user entered it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beginning {
    /// Where site operators can reach the user.
    pub contact: String,
    /// Addresses, one a line.
    pub seeds: String,
    /// The name of the collection; empty: by the first address.
    pub name: String,
    /// How far around each address.
    pub scope: String,
    /// Requests over all hosts.
    pub budget: String,
}

/// How an address looks from here, before anything is crawled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedLook {
    /// As it was given.
    pub seed: String,
    /// The URL that it stands for.
    pub url: Option<String>,
    /// `allowed`, `disallowed`, `unreachable` or `unusable`.
    pub verdict: String,
    /// The rule that decides, or why it cannot be used.
    pub reason: Option<String>,
    /// Sitemaps.
    pub sitemaps: Vec<String>,
    /// Pages that they list, and whether these are all.
    pub pages: Option<(u64, bool)>,
}

/// The first minute: contact and address, then how they look from here, then the crawl.
pub fn begin(
    form_token: &str,
    given: &Beginning,
    looks: Option<&[SeedLook]>,
    fault: Option<&str>,
) -> String {
    let scopes = [
        ("page", "these pages only"),
        ("prefix", "the section: all below the address"),
        ("host", "the whole host"),
        ("domain", "the whole domain with its subdomains"),
    ];
    let scope = if given.scope.is_empty() { "host" } else { &given.scope };
    let inner = html! {
        h1 { "What shall be watched?" }
        p.soft { "A page, a section or a whole site: give an address, or a list." }
        @if let Some(fault) = fault { p.fault role="alert" { (visible(fault)) } }
        form.stack method="post" action="/begin" {
            input type="hidden" name="form_token" value=(form_token);
            label for="seeds" { "Addresses, one a line" }
            textarea #seeds name="seeds" rows="3" required placeholder="https://example.org/" spellcheck="false" { (given.seeds) }
            label for="scope" { "How far" }
            select #scope name="scope" { @for (value, words) in scopes { option value=(value) selected[value == scope] { (words) } } }
            label for="contact" { "Your contact" }
            input #contact name="contact" required value=(given.contact) placeholder="you@example.org" autocomplete="email" aria-describedby="contact-why";
            p.soft #contact-why { "An email address or a URL. It goes with every request, so that site operators can reach you." }
            details {
                summary { "More" }
                div.stack {
                    label for="name" { "Name of the collection" }
                    input #name name="name" value=(given.name) pattern="[A-Za-z0-9._-]+" placeholder="by the first address" autocomplete="off";
                    label for="budget" { "Budget, requests over all hosts" }
                    input #budget name="budget" value=(given.budget) placeholder="1/s" autocomplete="off";
                }
            }
            @if let Some(looks) = looks { (looks_of(looks)) }
            div.row {
                button.quiet name="do" value="look" { "Look first" }
                button name="do" value="begin" { "Begin to crawl" }
            }
        }
    };
    alone("New collection", &inner)
}

fn looks_of(looks: &[SeedLook]) -> Markup {
    let tone = |verdict: &str| match verdict {
        "allowed" => Tone::Good,
        "disallowed" => Tone::Bad,
        _ => Tone::Warn,
    };
    html! {
        section.looks aria-label="How the addresses look from here" role="status" {
            @for look in looks {
                div.look {
                    p { (badge(&look.verdict, tone(&look.verdict))) " " @match &look.url { Some(url) => (web_link(url)), None => (visible(&look.seed)) } }
                    @if let Some(reason) = &look.reason { p.soft { (visible(reason)) } }
                    @match look.pages {
                        Some((pages, true)) => p { "Its sitemap lists " (plural(pages, "page")) "." },
                        Some((pages, false)) => p { "Its sitemaps list " (count(pages)) " pages or more." },
                        None if look.sitemaps.is_empty() => p.soft { "No sitemap: pages are found by their links." },
                        None => p { (plural(look.sitemaps.len() as u64, "sitemap")) "." },
                    }
                }
            }
        }
    }
}
