//! How is a message a mail?
//!
//! `mailtos://USER:PASSWORD@SERVER[:465]?to=ADDRESS[,ADDRESS][&from=ADDRESS]`, and `mailto://` for port 587 with
//! STARTTLS.

use data_encoding::BASE64;
use evercrawl_fetch::{AllowPrivate, MailServer, MailTls};
use evercrawl_model::Time;

use super::Mail;
use crate::answer::Verdict;
use crate::message::Message;

/// Reads the address of a mail channel.
pub(super) fn read(
    scheme: &str,
    rest: &str,
    has_reference: bool,
    allow: &AllowPrivate,
) -> Result<Mail, String> {
    let (server, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (login, server) = match server.rsplit_once('@') {
        Some((login, server)) => (Some(login), server),
        None => (None, server),
    };
    let login = match login.map(|login| login.split_once(':')) {
        Some(Some((user, password))) => Some((decoded(user), password.to_owned())),
        Some(None) => return Err("the login is USER:@env:PASSWORD".to_owned()),
        None => None,
    };
    if login.is_some() && !has_reference {
        return Err(format!(
            "a secret must not stand here; use e.g. {scheme}://USER:@env:PASSWORD@SERVER?to=ADDRESS"
        ));
    }
    let tls = if scheme == "mailtos" { MailTls::AtOnce } else { MailTls::IfOffered };
    let default = if tls == MailTls::AtOnce { 465 } else { 587 };
    let server = server.trim_end_matches('/');
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().map_err(|_| format!("`{port}` is not a port"))?),
        None => (server, default),
    };
    let mut to: Vec<String> = Vec::new();
    let mut from = login.as_ref().map(|(user, _)| user.clone()).filter(|user| user.contains('@'));
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "to" => to.extend(value.split(',').map(|one| one.trim().to_owned())),
            "from" => from = Some(value.into_owned()),
            _ => return Err(format!("`{name}` is not known; use to and from")),
        }
    }
    if to.is_empty() || host.is_empty() {
        return Err(format!("use e.g. {scheme}://USER:@env:PASSWORD@SERVER?to=ADDRESS"));
    }
    let from = from.unwrap_or_else(|| to[0].clone());
    let server = MailServer { host: host.to_owned(), port, tls, login, allow: allow.clone() };
    Ok(Mail { server, from, to })
}

fn decoded(text: &str) -> String {
    let pair = format!("x={}", text.replace('+', "%2B"));
    let decoded = url::form_urlencoded::parse(pair.as_bytes()).next();
    decoded.map_or_else(String::new, |(_, value)| value.into_owned())
}

/// Sends a message by mail.
pub(super) fn send(mail: &Mail, message: &Message, now: Time) -> Verdict {
    match mail.server.send(&mail.from, &mail.to, &text(mail, message, now)) {
        Ok(()) => Verdict::Delivered,
        Err(error) => Verdict::Again { why: error.to_string(), after: None },
    }
}

/// The mail with its head. The identity is that of the delivery, so that programs drop repetitions.
fn text(mail: &Mail, message: &Message, now: Time) -> String {
    let domain = mail.from.rsplit_once('@').map_or("evercrawl", |(_, domain)| domain);
    let head = [
        ("From", mail.from.clone()),
        ("To", mail.to.join(", ")),
        ("Subject", encoded(&message.title())),
        ("Date", now.http_date().replace("GMT", "+0000")),
        ("Message-ID", format!("<{}@{domain}>", message.id)),
        ("Evercrawl-Delivery", message.id.clone()),
        ("Auto-Submitted", "auto-generated".to_owned()),
        ("MIME-Version", "1.0".to_owned()),
        ("Content-Type", "text/plain; charset=utf-8".to_owned()),
        ("Content-Transfer-Encoding", "base64".to_owned()),
    ];
    let mut text: String =
        head.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    text.push_str("\r\n");
    let body = BASE64.encode(message.text().replace('\n', "\r\n").as_bytes());
    for line in body.as_bytes().chunks(76) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push_str("\r\n");
    }
    text
}

/// A line of a head: as it is where it is plain, else in words of base64.
fn encoded(line: &str) -> String {
    if line.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && line.len() < 200 {
        return line.to_owned();
    }
    let (mut words, mut word) = (Vec::new(), String::new());
    for c in line.chars().filter(|c| !c.is_control()) {
        if word.len() + c.len_utf8() > 42 {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let words = words.iter().map(|word| format!("=?utf-8?B?{}?=", BASE64.encode(word.as_bytes())));
    words.collect::<Vec<_>>().join("\r\n ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;

    fn mail(scheme: &str, rest: &str) -> Result<Mail, String> {
        read(scheme, rest, true, &AllowPrivate::none())
    }

    #[test]
    fn addresses_are_read() {
        let read =
            mail("mailtos", "me%40x.test:p:w@smtp.x.test?to=a@y.test,b@y.test&from=c@x.test")
                .unwrap();
        assert_eq!(
            (read.server.host.as_str(), read.server.port, read.server.tls),
            ("smtp.x.test", 465, MailTls::AtOnce)
        );
        assert_eq!(read.server.login, Some(("me@x.test".to_owned(), "p:w".to_owned())));
        assert_eq!((read.to.len(), read.from.as_str()), (2, "c@x.test"));
        let plain = mail("mailto", "localhost:25?to=a@y.test").unwrap();
        assert_eq!(
            (plain.server.port, plain.server.login, plain.from.as_str()),
            (25, None, "a@y.test")
        );
        for wrong in ["smtp.x.test", "smtp:x?to=a", "me@h?to=a", "h?to=a&cc=b", "?to=a"] {
            assert!(mail("mailto", wrong).is_err(), "{wrong}");
        }
        let error =
            super::read("mailto", "me:hunter2@h?to=a", false, &AllowPrivate::none()).err().unwrap();
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_mail_is_plain_to_the_wire() {
        let mail = mail("mailto", "h?to=a@y.test").unwrap();
        let message = Message::test("post", "2026-01-01T00:00:00Z");
        let text = text(&mail, &message, Time::from_secs(1_767_225_600));
        assert!(text.contains("Date: Thu, 01 Jan 2026 00:00:00 +0000\r\n"), "{text}");
        assert!(text.contains("Message-ID: <test.2026-01-01T00-00-00Z.post@y.test>\r\n"));
        assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 200));
        assert_eq!(encoded("plain"), "plain");
        let words = encoded(&"é".repeat(50));
        assert!(words.starts_with("=?utf-8?B?w6nDqcOp") && words.contains("?=\r\n ="), "{words}");
    }
}
