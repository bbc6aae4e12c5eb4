//! What does a host show in place of a page? An excuse, a form, or an offer.

use super::bytes::push;
use super::{Answer, Host, Instead, Page, World};

impl World {
    /// What is shown in place of a page at a moment, where something is.
    pub fn instead(&self, page: Page, at_ms: u64) -> Option<Instead> {
        let host = self.host(page.host);
        if let Some(decline) = host.decline.filter(|decline| decline.from_ms <= at_ms)
            && (decline.shows == Instead::Offer || self.path(page) != "/")
        {
            return Some(decline.shows);
        }
        (host.soft_404 && !self.life(page).covers(at_ms)).then_some(Instead::NotFound)
    }

    /// Answers for a host that has declined; false where it is as it was.
    pub(crate) fn answer_instead(
        &self,
        host: &Host,
        shows: Instead,
        path: &str,
        answer: &mut Answer,
    ) -> bool {
        if shows != Instead::Offer && matches!(path, "/" | "/robots.txt") {
            return false;
        }
        match path {
            "/robots.txt" => answer.say(404, "Not found."),
            path => self.show_instead(host, shows, path, answer),
        }
        true
    }

    pub(crate) fn show_instead(
        &self,
        host: &Host,
        shows: Instead,
        path: &str,
        answer: &mut Answer,
    ) {
        let name = self.host_name(host.id);
        let login = path.starts_with("/login");
        if shows == Instead::LoginRedirect && !login {
            answer.say(302, "Please log in.");
            push(&mut answer.headers, "Location: /login?next=");
            push(&mut answer.headers, path);
            return push(&mut answer.headers, "\r\n");
        }
        answer.begin(200, "text/html; charset=utf-8");
        push(
            &mut answer.body,
            &match shows {
                Instead::NotFound => not_found(&name, path),
                Instead::LoginForm | Instead::LoginRedirect => login_form(&name),
                Instead::Offer => offer(&name),
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
    use crate::{Config, HostShares, Request};

    #[test]
    fn what_is_shown_is_what_the_truth_says() {
        let host_shares =
            HostShares { login_wall: 0.5, expired: 0.3, soft_404: 0.5, ..HostShares::default() };
        let world = World::new(Config { hosts: 30, pages: 8, host_shares, ..Config::default() });
        let (mut answer, mut seen) = (Answer::new(), 0);
        let moments = [0, 4].map(|days| world.config().origin_ms + days * 86_400_000);
        let looks = moments.iter().flat_map(|&at| world.all_pages(at).map(move |page| (at, page)));
        for (at_ms, page) in looks {
            let (authority, target) = (world.host_name(page.host), world.path(page));
            let request = Request { authority: &authority, target: &target, ..Request::default() };
            world.answer(&request, at_ms, 1, &mut answer);
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            let shown = match world.instead(page, at_ms) {
                None => !body.contains("Members only") && !body.contains("for sale"),
                Some(Instead::NotFound) => body.contains("could not be found"),
                Some(Instead::LoginForm) => body.contains("type=password"),
                Some(Instead::LoginRedirect) => {
                    answer.status == 302
                        && answer.header("location").is_some_and(|to| to.starts_with("/login"))
                }
                Some(Instead::Offer) => body.contains("for sale"),
            };
            assert!(shown, "{authority}{target} at {at_ms}: {body}");
            seen += u32::from(world.instead(page, at_ms).is_some());
        }
        assert!(seen > 60, "{seen}");
    }

    #[test]
    fn a_host_that_shows_an_excuse_does_so_for_any_address() {
        let host_shares = HostShares { soft_404: 1.0, ..HostShares::default() };
        let world = World::new(Config { host_shares, ..Config::default() });
        let mut answer = Answer::new();
        let request = Request { authority: "h0.test", target: "/no/such", ..Request::default() };
        world.answer(&request, world.config().origin_ms, 1, &mut answer);
        let body = String::from_utf8_lossy(&answer.body);
        assert!(answer.status == 200 && body.contains("/no/such"), "{body}");
    }
}
