//! Where do messages go? Each channel has an address whose scheme says what it is: `slack://`, `mailtos://`,
//! `https://`. Secrets in it are references, and no error or debug text shows them.

mod forms;
mod mail;
mod reference;

use std::fmt;

use evercrawl_fetch::{AllowPrivate, Endpoint, MailServer, Network};
use evercrawl_model::Time;
use evercrawl_rules::ChannelRule;

use crate::answer::{Verdict, judge};
use crate::error::NotifyError;
use crate::message::Message;
use crate::quiet;
use forms::{Form, Outgoing};

/// Reads the secret that a reference such as `@env:NAME` names.
pub type SecretReader<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// A place that messages go to.
pub struct Channel {
    name: String,
    target: Target,
    allow: AllowPrivate,
}

enum Target {
    Http(Form),
    Mail(Box<Mail>),
}

struct Mail {
    server: MailServer,
    from: String,
    to: Vec<String>,
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channel({})", self.name)
    }
}

impl Channel {
    /// Reads the address of a channel, with its secrets.
    pub fn open(rule: &ChannelRule, secrets: SecretReader<'_>) -> Result<Self, NotifyError> {
        let failed = |why: String| NotifyError::Channel(rule.name.clone(), why);
        if let Some(quiet) = &rule.quiet {
            quiet::ends_in(quiet, 0).map_err(failed)?;
        }
        let allow = if rule.private { everywhere() } else { AllowPrivate::none() };
        let has_reference = rule.url.contains("@env:") || rule.url.contains("@file:");
        let url = reference::resolved(&rule.url, secrets).map_err(failed)?;
        let signs: Result<Vec<String>, String> =
            rule.secrets.iter().map(|one| secrets(one)).collect();
        let signs = signs.map_err(failed)?;
        let (scheme, rest) = url.split_once("://").ok_or_else(|| failed(UNKNOWN.to_owned()))?;
        let target = match scheme {
            "mailto" | "mailtos" => {
                let mail = mail::read(scheme, rest, has_reference, &allow).map_err(failed)?;
                Target::Mail(Box::new(mail))
            }
            _ => Target::Http(forms::read(scheme, rest, has_reference, signs).map_err(failed)?),
        };
        Ok(Channel { name: rule.name.clone(), target, allow })
    }

    /// Sends a message, and says what became of it.
    pub fn send(&self, message: &Message, now: Time) -> Verdict {
        let again = |why: String| Verdict::Again { why, after: None };
        let outgoing = match &self.target {
            Target::Mail(mail) => return mail::send(mail, message, now),
            Target::Http(form) => form.outgoing(message, now),
        };
        let Outgoing { url, method, headers, content_type, body, must_say } = outgoing;
        let endpoint = match Endpoint::guarded(&url, headers, self.allow.clone()) {
            Ok(endpoint) => endpoint,
            Err(error) => return again(error.to_string()),
        };
        match endpoint.send(method, "", content_type, body.as_bytes()) {
            Ok(answer) => {
                let after = answer.retry_after.and_then(|text| seconds_until(&text, now));
                judge(answer.status, after, &answer.body, must_say)
            }
            Err(error) => again(error.to_string()),
        }
    }
}

const UNKNOWN: &str = "`url` has no scheme that is known; use https, slack, discord, msteams, matrixs, ntfys, tgram, \
    gotifys, mailtos or apprises";

fn everywhere() -> AllowPrivate {
    let all = ["0.0.0.0/0", "::/0"].iter().filter_map(|network| network.parse::<Network>().ok());
    AllowPrivate::networks(all.collect())
}

/// `Retry-After` in seconds: a number, or a date.
fn seconds_until(text: &str, now: Time) -> Option<f64> {
    let date = || Some(Time::parse_http(text).ok()?.since(now).as_secs_f64());
    text.trim()
        .parse()
        .ok()
        .filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
        .or_else(date)
}
