//! Where to connect instead? Curl's `--connect-to`: test and staging servers without touching DNS.

use std::str::FromStr;

use thiserror::Error;

/// A rule `HOST1:PORT1:HOST2:PORT2`: requests for HOST1:PORT1 go to HOST2:PORT2 instead.
///
/// An empty HOST1 or PORT1 matches any, an empty HOST2 or PORT2 keeps the one asked for, and IPv6
/// addresses stand in brackets. Only the connection is led elsewhere: the `Host` header and the name
/// in TLS stay those of the URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    from: Endpoint,
    to: Endpoint,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Endpoint {
    host: Option<String>,
    port: Option<u16>,
}

impl ConnectTo {
    /// Where `host:port` leads under the first of `rules` that matches; to itself if none does.
    pub(crate) fn route<'a>(rules: &'a [ConnectTo], host: &'a str, port: u16) -> (&'a str, u16) {
        match rules.iter().find(|rule| rule.matches(host, port)) {
            Some(ConnectTo { to, .. }) => {
                (to.host.as_deref().unwrap_or(host), to.port.unwrap_or(port))
            }
            None => (host, port),
        }
    }

    fn matches(&self, host: &str, port: u16) -> bool {
        self.from.host.as_deref().is_none_or(|from| from.eq_ignore_ascii_case(host))
            && self.from.port.is_none_or(|from| from == port)
    }
}

impl FromStr for ConnectTo {
    type Err = BadConnectTo;

    fn from_str(text: &str) -> Result<Self, BadConnectTo> {
        let (from, rest) = Endpoint::read(text, text)?;
        let rest = rest.strip_prefix(':').ok_or_else(|| BadConnectTo::parts(text))?;
        let (to, rest) = Endpoint::read(rest, text)?;
        if rest.is_empty() { Ok(ConnectTo { from, to }) } else { Err(BadConnectTo::parts(text)) }
    }
}

impl Endpoint {
    /// Reads `HOST:PORT` off the front of `text` and returns what follows it.
    fn read<'a>(text: &'a str, rule: &str) -> Result<(Endpoint, &'a str), BadConnectTo> {
        let (host, rest) = match text.strip_prefix('[') {
            Some(inner) => {
                let end = inner.find(']').ok_or_else(|| BadConnectTo::bracket(rule))?;
                // Hosts keep their brackets, as they do in URLs.
                (&text[..end + 2], &inner[end + 1..])
            }
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let rest = rest.strip_prefix(':').ok_or_else(|| BadConnectTo::parts(rule))?;
        let (port, rest) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
        let port = match port {
            "" => None,
            digits => Some(digits.parse().map_err(|_| BadConnectTo::port(rule, digits))?),
        };
        Ok((Endpoint { host: (!host.is_empty()).then(|| host.to_owned()), port }, rest))
    }
}

/// The text is not a valid connect-to rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{rule}`: {problem}")]
pub struct BadConnectTo {
    rule: String,
    problem: String,
}

impl BadConnectTo {
    fn parts(rule: &str) -> Self {
        let problem = "write four parts, HOST1:PORT1:HOST2:PORT2; each may be empty".to_owned();
        BadConnectTo { rule: rule.to_owned(), problem }
    }

    fn bracket(rule: &str) -> Self {
        let problem = "the bracket of an IPv6 address is not closed".to_owned();
        BadConnectTo { rule: rule.to_owned(), problem }
    }

    fn port(rule: &str, digits: &str) -> Self {
        let problem = format!("`{digits}` is no port; ports go from 0 to 65535");
        BadConnectTo { rule: rule.to_owned(), problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn route(rules: &[&str], host: &str, port: u16) -> String {
        let rules: Vec<ConnectTo> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let (host, port) = ConnectTo::route(&rules, host, port);
        format!("{host} {port}")
    }

    #[test]
    fn the_first_matching_rule_leads_the_way() {
        for (rules, host, port, want) in [
            (&["a.test:80:127.0.0.1:8080"][..], "a.test", 80, "127.0.0.1 8080"),
            (&["A.Test:80:127.0.0.1:8080"], "a.test", 80, "127.0.0.1 8080"),
            (&["a.test:80:127.0.0.1:8080"], "a.test", 81, "a.test 81"),
            (&["a.test:80:127.0.0.1:8080"], "b.test", 80, "b.test 80"),
            (&["::127.0.0.1:8080"], "b.test", 80, "127.0.0.1 8080"),
            (&["::127.0.0.1:"], "b.test", 443, "127.0.0.1 443"),
            (&["b.test::[::1]:"], "b.test", 443, "[::1] 443"),
            (&["[2001:db8::1]:80:c.test:81"], "[2001:db8::1]", 80, "c.test 81"),
            (&[":80::8080"], "b.test", 80, "b.test 8080"),
            (&[":::"], "b.test", 80, "b.test 80"),
            (&["a.test:::1", ":::2"], "a.test", 80, "a.test 1"),
            (&["a.test:::1", ":::2"], "b.test", 80, "b.test 2"),
            (&[], "b.test", 80, "b.test 80"),
        ] {
            assert_eq!(route(rules, host, port), want, "{rules:?} {host}:{port}");
        }
    }

    #[test]
    fn bad_rules_are_refused_with_the_reason() {
        for (rule, reason) in [
            ("", "four parts"),
            ("a.test", "four parts"),
            ("a.test:80", "four parts"),
            ("a.test:80:b.test", "four parts"),
            ("a:1:b:2:c", "four parts"),
            ("a:http:b:2", "`http` is no port"),
            ("a:1:b:65536", "`65536` is no port"),
            ("[::1:80:b:2", "not closed"),
            ("[::1]x:80:b:2", "four parts"),
        ] {
            let error = rule.parse::<ConnectTo>().unwrap_err().to_string();
            assert!(error.contains(reason), "{rule}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}", rule in "[a:\\[\\]0-9]{0,20}") {
            prop_assert_eq!(text.parse::<ConnectTo>().is_ok(), text.parse::<ConnectTo>().is_ok());
            if let Ok(rule) = rule.parse::<ConnectTo>() {
                prop_assert!(ConnectTo::route(&[rule], "h", 1).0.len() <= 20);
            }
        }
    }
}
