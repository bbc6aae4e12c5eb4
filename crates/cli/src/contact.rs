//! Could a site operator reach somebody by this contact?
//!
//! Nobody is asked: it is only made sure that it is a URL or a mail address that can exist on the public
//! internet, so that a slip of the keyboard is noticed before it is sent to thousands of servers.

use std::net::IpAddr;

/// The contact as it is sent, or what is wrong with it.
pub(crate) fn contact(text: &str) -> Result<String, String> {
    let text = text.trim();
    let address = text.strip_prefix("mailto:").unwrap_or(text);
    let good = match text.split_once("://") {
        Some((scheme, rest)) => is_web_address(scheme, rest),
        None => is_mail_address(address),
    };
    let sendable = text.chars().all(|c| c.is_ascii_graphic()) && text.len() <= MOST;
    match good && sendable {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "`{text}` is neither a URL nor a mail address on the internet; use e.g. \
             `https://example.org/bot` or `you@example.org`"
        )),
    }
}

/// The longest contact: it goes into every request.
const MOST: usize = 200;

fn is_web_address(scheme: &str, rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") && port && is_domain(host)
}

fn is_mail_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let fits = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
    let dots = local.starts_with('.') || local.ends_with('.') || local.contains("..");
    !local.is_empty() && local.len() <= 64 && local.chars().all(fits) && !dots && is_domain(domain)
}

/// A name of at least two labels whose last is not a number; never an address or a name of this machine.
fn is_domain(host: &str) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    let label = |label: &&str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
        (1..=63).contains(&label.len())
            && label.chars().all(fits)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = labels.last().copied().unwrap_or_default();
    let named = last.len() >= 2 && last.starts_with(|c: char| c.is_ascii_alphabetic());
    let inside = ["local", "localhost", "internal", "invalid"].contains(&last);
    let address = host.parse::<IpAddr>().is_ok();
    labels.len() >= 2 && labels.iter().all(label) && named && !inside && !address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_a_url_or_a_mail_address_that_can_exist() {
        for good in [
            "you@example.org",
            "mailto:first.last+bot@mail.example.co.uk",
            "https://example.org/bot.html",
            "http://example.org:8080/?about#us",
            "https://xn--bcher-kva.example/",
        ] {
            assert_eq!(contact(good).as_deref(), Ok(good));
        }
        assert_eq!(contact(" you@example.org ").as_deref(), Ok("you@example.org"));
        for bad in [
            "",
            "me",
            "example.org",
            "@example.org",
            "you@",
            "you@localhost",
            "you@example",
            "you@example..org",
            "you @example.org",
            ".you@example.org",
            "you@@example.org",
            "you@192.0.2.1",
            "https://",
            "https://localhost/bot",
            "http://127.0.0.1/",
            "ftp://example.org/",
            "https://example.org:port/",
            "you@-example.org",
            "you@example.123",
            "j\u{f6}rg@example.org",
        ] {
            let said = contact(bad).unwrap_err();
            assert!(said.contains(bad.trim()) && said.contains("; use"), "{bad}: {said}");
        }
        assert!(contact(&format!("{}@example.org", "a".repeat(300))).is_err());
    }
}
