//! What does a host show in place of a page? An excuse, a form, or an offer.

use super::bytes::push;
use super::{Host, InsteadOfNotFound, PageId, World, WorldAnswer};

impl World {
    /// What a host shows in place of a page at a moment, if anything.
    pub fn instead(&self, page: PageId, at_ms: u64) -> Option<InsteadOfNotFound> {
        let host = self.host(page.host);
        if let Some(decline) = host.decline.filter(|decline| decline.from_ms <= at_ms)
            && (decline.shows == InsteadOfNotFound::Offer || self.path(page) != "/")
        {
            return Some(decline.shows);
        }
        (host.soft_404 && !self.life(page).covers(at_ms)).then_some(InsteadOfNotFound::NotFound)
    }

    /// Answers for a host that has declined; false where it is as it was.
    pub(crate) fn answer_instead(
        &self,
        host: &Host,
        shows: InsteadOfNotFound,
        path: &str,
        answer: &mut WorldAnswer,
    ) -> bool {
        if shows != InsteadOfNotFound::Offer && matches!(path, "/" | "/robots.txt") {
            return false;
        }
        match path {
            "/robots.txt" => answer.set_status(404, "Not found."),
            path => self.show_instead(host, shows, path, answer),
        }
        true
    }

    pub(crate) fn show_instead(
        &self,
        host: &Host,
        shows: InsteadOfNotFound,
        path: &str,
        answer: &mut WorldAnswer,
    ) {
        let name = self.host_name(host.id);
        let login = path.starts_with("/login");
        if shows == InsteadOfNotFound::LoginRedirect && !login {
            answer.set_status(302, "Please log in.");
            push(&mut answer.headers, "Location: /login?next=");
            push(&mut answer.headers, path);
            return push(&mut answer.headers, "\r\n");
        }
        answer.begin(200, "text/html; charset=utf-8");
        push(
            &mut answer.body,
            &match shows {
                InsteadOfNotFound::NotFound => not_found(&name, path),
                InsteadOfNotFound::LoginForm | InsteadOfNotFound::LoginRedirect => {
                    login_form(&name)
                }
                InsteadOfNotFound::Offer => offer(&name),
            },
        );
    }
}

fn not_found(name: &str, path: &str) -> String {
    let path: String = path.chars().filter(|c| !matches!(c, '<' | '>' | '&')).collect();
    format!(
        "<!DOCTYPE html><title>Page not found - {name}</title><h1>{name}</h1><p><a href=/>Home</a>\
         <p>Sorry, the page {path} could not be found on this server.<p>Try the home page instead.\n"
    )
}

fn login_form(name: &str) -> String {
    format!(
        "<!DOCTYPE html><title>{name}: members only</title><h1>Members only</h1><form method=post>\
         <label>Name <input name=user></label><label>Password <input type=password name=word></label>\
         <button>Enter</button></form><p>Ask the office for an account.\n"
    )
}

fn offer(name: &str) -> String {
    format!(
        "<!DOCTYPE html><title>{name}</title><h1>{name}</h1><p>This domain is for sale.\
         <p>Related searches<ul><li>Cheap flights<li>Insurance<li>Used cars</ul>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostShares, WorldConfig, WorldRequest};

    #[test]
    fn what_is_shown_is_what_the_truth_says() {
        let host_shares =
            HostShares { login_wall: 0.5, expired: 0.3, soft_404: 0.5, ..HostShares::default() };
        let world =
            World::new(WorldConfig { hosts: 30, pages: 8, host_shares, ..WorldConfig::default() });
        let (mut answer, mut seen) = (WorldAnswer::new(), 0);
        let moments = [0, 4].map(|days| world.config().origin_ms + days * 86_400_000);
        let looks = moments.iter().flat_map(|&at| world.all_pages(at).map(move |page| (at, page)));
        for (at_ms, page) in looks {
            let (authority, target) = (world.host_name(page.host), world.path(page));
            let request =
                WorldRequest { authority: &authority, target: &target, ..WorldRequest::default() };
            world.answer(&request, at_ms, 1, &mut answer);
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            let shown = match world.instead(page, at_ms) {
                None => !body.contains("Members only") && !body.contains("for sale"),
                Some(InsteadOfNotFound::NotFound) => body.contains("could not be found"),
                Some(InsteadOfNotFound::LoginForm) => body.contains("type=password"),
                Some(InsteadOfNotFound::LoginRedirect) => {
                    answer.status == 302
                        && answer.header("location").is_some_and(|to| to.starts_with("/login"))
                }
                Some(InsteadOfNotFound::Offer) => body.contains("for sale"),
            };
            assert!(shown, "{authority}{target} at {at_ms}: {body}");
            seen += u32::from(world.instead(page, at_ms).is_some());
        }
        assert!(seen > 60, "{seen}");
    }

    #[test]
    fn a_host_that_shows_an_excuse_does_so_for_any_address() {
        let host_shares = HostShares { soft_404: 1.0, ..HostShares::default() };
        let world = World::new(WorldConfig { host_shares, ..WorldConfig::default() });
        let mut answer = WorldAnswer::new();
        let request =
            WorldRequest { authority: "h0.test", target: "/no/such", ..WorldRequest::default() };
        world.answer(&request, world.config().origin_ms, 1, &mut answer);
        let body = String::from_utf8_lossy(&answer.body);
        assert!(answer.status == 200 && body.contains("/no/such"), "{body}");
    }
}
