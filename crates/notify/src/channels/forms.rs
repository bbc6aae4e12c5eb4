//! What does each receiver want to be sent?

use evercrawl_model::Time;
use ring::hmac;
use serde_json::{Value, json};
use url::Url;

use crate::message::Message;

/// A receiver that is reached over HTTP.
pub(super) struct Form {
    kind: Kind,
    /// Where it takes messages.
    url: String,
    /// A header with a key.
    key: Option<(&'static str, String)>,
    /// What the receiver has to know beside the message: a room, a chat, a topic.
    place: String,
    /// What messages are signed with.
    signs: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Webhook,
    Slack,
    Discord,
    Teams,
    Matrix,
    Ntfy,
    Telegram,
    Gotify,
    Apprise,
}

/// A request to be sent.
pub(super) struct Outgoing {
    pub(super) url: String,
    pub(super) method: &'static str,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content_type: &'static str,
    pub(super) body: String,
    /// What an answer says, where only that means that it arrived.
    pub(super) must_say: Option<&'static str>,
}

const SCHEMES: [(&str, Kind); 19] = [
    ("http", Kind::Webhook),
    ("https", Kind::Webhook),
    ("json", Kind::Webhook),
    ("jsons", Kind::Webhook),
    ("slack", Kind::Slack),
    ("discord", Kind::Discord),
    ("msteams", Kind::Teams),
    ("matrix", Kind::Matrix),
    ("matrixs", Kind::Matrix),
    ("ntfy", Kind::Ntfy),
    ("ntfys", Kind::Ntfy),
    ("tgram", Kind::Telegram),
    ("telegram", Kind::Telegram),
    ("gotify", Kind::Gotify),
    ("gotifys", Kind::Gotify),
    ("apprise", Kind::Apprise),
    ("apprises", Kind::Apprise),
    ("teams", Kind::Teams),
    ("workflows", Kind::Teams),
];

/// Reads an address of `scheme`; `has_reference` says whether its secret was a reference.
pub(super) fn read(
    scheme: &str,
    rest: &str,
    has_reference: bool,
    signs: Vec<String>,
) -> Result<Form, String> {
    let found = SCHEMES.iter().find(|(name, _)| *name == scheme);
    let Some((_, kind)) = found else {
        return Err(format!("`{scheme}` is not a kind of channel; {}", super::UNKNOWN));
    };
    let is_secret = !matches!(kind, Kind::Webhook | Kind::Ntfy | Kind::Apprise);
    if is_secret && !has_reference {
        return Err(format!("a secret must not stand here; use e.g. {scheme}://@env:NAME"));
    }
    let web = if scheme.ends_with('s') && scheme != "msteams" && scheme != "workflows" {
        "https"
    } else {
        "http"
    };
    let mut form = Form { kind: *kind, url: String::new(), key: None, place: String::new(), signs };
    let missing = |what: &str| format!("the address of this channel needs {what}");
    match hook(*kind, web, rest) {
        Some(url) => form.url = url,
        None => form.find_place(web, rest.trim_matches('/')).map_err(missing)?,
    }
    if *kind == Kind::Ntfy && form.key.is_some() && !has_reference {
        return Err(format!(
            "a secret must not stand here; use e.g. {scheme}://@env:TOKEN@HOST/TOPIC"
        ));
    }
    Url::parse(&form.url).map_err(|_| "the address of this channel is not a URL".to_owned())?;
    Ok(form)
}

/// The address of a receiver that has nothing else: whole, or what is secret of it.
fn hook(kind: Kind, web: &str, rest: &str) -> Option<String> {
    let is_whole = rest.starts_with("http://") || rest.starts_with("https://");
    let bare = rest.trim_matches('/');
    let own = match kind {
        Kind::Webhook => format!("{web}://{rest}"),
        Kind::Slack => format!("https://hooks.slack.com/services/{bare}"),
        Kind::Discord => format!("https://discord.com/api/webhooks/{bare}"),
        Kind::Teams => format!("https://{bare}"),
        _ => return None,
    };
    Some(if is_whole { rest.to_owned() } else { own })
}

impl Form {
    /// Finds server, key and place in an address; `Err` says what is missing.
    fn find_place(&mut self, web: &str, bare: &str) -> Result<(), &'static str> {
        match self.kind {
            Kind::Telegram => {
                // [SERVER/]TOKEN/CHAT
                let (token, chat) = bare.rsplit_once('/').ok_or("TOKEN/CHAT")?;
                let (server, token) = match token.starts_with("http") {
                    true => token.rsplit_once('/').unwrap_or(("", token)),
                    false => ("https://api.telegram.org", token),
                };
                self.url = format!("{server}/bot{token}/sendMessage");
                self.place = chat.to_owned();
            }
            Kind::Gotify => {
                let (server, token) = bare.rsplit_once('/').ok_or("HOST/TOKEN")?;
                self.url = format!("{web}://{server}/message");
                self.key = Some(("X-Gotify-Key", token.to_owned()));
            }
            Kind::Ntfy => {
                let (token, rest) = bare.rsplit_once('@').unwrap_or(("", bare));
                let (server, topic) = rest.rsplit_once('/').ok_or("HOST/TOPIC")?;
                (self.url, self.place) = (format!("{web}://{server}/"), topic.to_owned());
                self.key = (!token.is_empty()).then(|| bearer(token));
            }
            Kind::Matrix => {
                let (token, rest) = bare.split_once('@').ok_or("TOKEN@HOST/ROOM")?;
                let (server, room) = rest.split_once('/').ok_or("TOKEN@HOST/ROOM")?;
                (self.url, self.place) = (format!("{web}://{server}"), room.to_owned());
                self.key = Some(bearer(token));
            }
            _ => {
                let (server, key) = bare.rsplit_once('/').ok_or("HOST/KEY")?;
                self.url = format!("{web}://{server}/notify/{key}");
            }
        }
        Ok(())
    }
}

fn bearer(token: &str) -> (&'static str, String) {
    ("Authorization", format!("Bearer {}", token.trim_matches(':')))
}

impl Form {
    /// The request that carries a message.
    pub(super) fn outgoing(&self, message: &Message, now: Time) -> Outgoing {
        let body = self.body(message);
        let mut headers = vec![("Evercrawl-Delivery".to_owned(), message.id.clone())];
        headers.extend(self.key.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        if self.kind == Kind::Webhook && !self.signs.is_empty() {
            headers.push((
                "Evercrawl-Signature".to_owned(),
                signature(&self.signs, now.secs(), &body),
            ));
        }
        let (mut url, mut method) = (self.url.clone(), "POST");
        if self.kind == Kind::Matrix {
            // The same transaction is done once, however often it is sent.
            let escape = |text: &str| {
                url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
            };
            let (room, id) = (escape(&self.place), escape(&message.id));
            url = format!("{url}/_matrix/client/v3/rooms/{room}/send/m.room.message/{id}");
            method = "PUT";
        }
        let must_say = (self.kind == Kind::Slack).then_some("ok");
        Outgoing { url, method, headers, content_type: "application/json", body, must_say }
    }

    fn body(&self, message: &Message) -> String {
        let (title, text) = (message.title(), message.text());
        let both = format!("{title}\n\n{text}");
        let body = match self.kind {
            Kind::Webhook => return message.json(),
            Kind::Slack => json!({"text": format!("*{}*\n{}", slack(&title), slack(&text))}),
            Kind::Discord => json!({
                "content": cut(&format!("**{title}**\n{text}"), 1990),
                "allowed_mentions": {"parse": []},
            }),
            Kind::Teams => card(&title, &text),
            Kind::Matrix => json!({"msgtype": "m.text", "body": both}),
            Kind::Ntfy => json!({"topic": self.place, "title": title, "message": text}),
            Kind::Telegram => json!({
                "chat_id": self.place, "text": cut(&both, 4000), "disable_web_page_preview": true,
            }),
            Kind::Gotify => json!({"title": title, "message": text, "priority": 5}),
            Kind::Apprise => {
                json!({"title": title, "body": text, "type": "info", "format": "text"})
            }
        };
        body.to_string()
    }
}

/// Slack reads three characters as markup.
fn slack(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}

fn card(title: &str, text: &str) -> Value {
    let block = |text: &str, weight: &str| json!({"type": "TextBlock", "text": text, "weight": weight, "wrap": true});
    let blocks: Vec<Value> = std::iter::once(block(title, "Bolder"))
        .chain(text.split("\n\n").map(|part| block(&part.replace('\n', "\n\n"), "Default")))
        .collect();
    json!({"type": "message", "attachments": [{
        "contentType": "application/vnd.microsoft.card.adaptive",
        "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard", "version": "1.4", "body": blocks,
        },
    }]})
}

/// `t=TIME,v1=HEX` of the time and the body, once for each secret.
fn signature(secrets: &[String], seconds: u64, body: &str) -> String {
    let mut text = format!("t={seconds}");
    for secret in secrets {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let tag = hmac::sign(&key, format!("{seconds}.{body}").as_bytes());
        text.push_str(",v1=");
        text.push_str(&data_encoding::HEXLOWER.encode(tag.as_ref()));
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;
    use crate::outbox::Hit;

    fn message() -> Message {
        let hit = Hit {
            id: "terms.7".to_owned(),
            rule: "terms".to_owned(),
            url: "http://a.test/<b>&".to_owned(),
            title: Some("A & <B>".to_owned()),
            change: "changed".to_owned(),
            ..Hit::default()
        };
        Message {
            id: "terms.7.team".to_owned(),
            channel: "team".to_owned(),
            hits: vec![hit],
            is_test: false,
        }
    }

    fn outgoing(scheme: &str, rest: &str) -> (Outgoing, Value) {
        let form = read(scheme, rest, true, vec!["one".to_owned(), "two".to_owned()]).unwrap();
        let outgoing = form.outgoing(&message(), Time::from_secs(1_700_000_000));
        let body = serde_json::from_str(&outgoing.body).unwrap();
        (outgoing, body)
    }

    #[test]
    fn every_receiver_gets_what_it_wants() {
        for (scheme, rest, url, pointer, want) in [
            (
                "slack",
                "T/B/X",
                "https://hooks.slack.com/services/T/B/X",
                "/text",
                "*[terms] changed: A &amp; &lt;B&gt;*\n",
            ),
            ("slack", "http://h/x", "http://h/x", "/text", "*[terms]"),
            (
                "discord",
                "1/tok",
                "https://discord.com/api/webhooks/1/tok",
                "/content",
                "**[terms] changed: A & <B>**\n",
            ),
            (
                "msteams",
                "https://h/w?sig=1",
                "https://h/w?sig=1",
                "/attachments/0/content/body/0/text",
                "[terms]",
            ),
            (
                "tgram",
                "12:tok/-99",
                "https://api.telegram.org/bot12:tok/sendMessage",
                "/chat_id",
                "-99",
            ),
            (
                "tgram",
                "http://h:1/12:tok/-99",
                "http://h:1/bot12:tok/sendMessage",
                "/text",
                "[terms]",
            ),
            ("gotify", "h:80/tok", "http://h:80/message", "/title", "[terms]"),
            ("ntfys", "h/topic", "https://h/", "/topic", "topic"),
            ("apprise", "h:8000/key", "http://h:8000/notify/key", "/body", "http://a.test"),
            (
                "matrixs",
                "tok@h/!r:h",
                "https://h/_matrix/client/v3/rooms/%21r%3Ah/send/m.room.message/terms.7.team",
                "/body",
                "[terms]",
            ),
            ("https", "h/hook?x=1", "https://h/hook?x=1", "/hits/0/delivery", "terms.7.team"),
            ("jsons", "h/hook", "https://h/hook", "/delivery", "terms.7.team"),
        ] {
            let (outgoing, body) = outgoing(scheme, rest);
            assert_eq!(outgoing.url, url);
            let found = body.pointer(pointer).and_then(Value::as_str).unwrap();
            assert!(found.starts_with(want), "{scheme}: {found}");
            assert!(
                outgoing
                    .headers
                    .contains(&("Evercrawl-Delivery".to_owned(), "terms.7.team".to_owned()))
            );
        }
    }

    #[test]
    fn keys_go_into_headers_and_webhooks_are_signed_by_both_secrets() {
        let header = |scheme: &str, rest: &str, name: &str| {
            let (outgoing, _) = outgoing(scheme, rest);
            outgoing.headers.iter().find(|(has, _)| has == name).map(|(_, value)| value.clone())
        };
        assert_eq!(header("gotify", "h/tok", "X-Gotify-Key").unwrap(), "tok");
        assert_eq!(header("ntfy", "tok@h/t", "Authorization").unwrap(), "Bearer tok");
        assert_eq!(header("matrix", "tok@h/r", "Authorization").unwrap(), "Bearer tok");
        let signed = header("http", "h/", "Evercrawl-Signature").unwrap();
        assert!(
            signed.starts_with("t=1700000000,v1=") && signed.matches(",v1=").count() == 2,
            "{signed}"
        );
        // As `printf 1.body | openssl dgst -sha256 -hmac key` has it.
        let known = "t=1,v1=91b5374b153842ad05b2c4eab9349b8321b14703165bd3fb8b034dfb8be98ae5";
        assert_eq!(signature(&["key".to_owned()], 1, "body"), known);
        assert!(header("slack", "x", "Evercrawl-Signature").is_none());
    }

    #[test]
    fn secrets_are_references_and_addresses_whole() {
        for (scheme, rest, why) in [
            ("slack", "T/B/X", "must not stand here"),
            ("tgram", "tok/1", "must not stand here"),
            ("ntfy", "tok@h/t", "must not stand here"),
            ("pigeon", "x", "not a kind of channel"),
        ] {
            let error = read(scheme, rest, false, Vec::new()).err().unwrap();
            assert!(error.contains(why) && !error.contains("tok"), "{error}");
        }
        for (scheme, rest) in
            [("tgram", "tok"), ("gotify", "h"), ("matrix", "h/r"), ("apprise", "h"), ("http", "")]
        {
            assert!(read(scheme, rest, true, Vec::new()).is_err(), "{scheme}");
        }
    }
}
