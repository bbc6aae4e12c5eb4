//! What does a message say?

use serde::Serialize;

use crate::outbox::Hit;

/// Characters of a message's text; chats take little more.
const LONGEST: usize = 3500;

/// What is sent to a channel at once.
#[derive(Clone, Debug)]
pub struct Message {
    /// What receivers know it by: the same for every repetition.
    pub id: String,
    /// The channel.
    pub channel: String,
    /// What is told.
    pub hits: Vec<Hit>,
    /// Whether it only tries the channel.
    pub is_test: bool,
}

#[derive(Serialize)]
struct Body<'a> {
    delivery: &'a str,
    test: bool,
    text: String,
    hits: Vec<HitBody<'a>>,
}

#[derive(Serialize)]
struct HitBody<'a> {
    delivery: String,
    #[serde(flatten)]
    hit: &'a Hit,
}

impl Message {
    /// A message that tries a channel.
    pub fn test(channel: &str, now: &str) -> Self {
        let id = format!("test.{}.{channel}", now.replace([':', '.'], "-"));
        Message { id, channel: channel.to_owned(), hits: Vec::new(), is_test: true }
    }

    /// One line.
    pub fn title(&self) -> String {
        match self.hits.as_slice() {
            [] => "evercrawl: this channel works".to_owned(),
            [hit] => headline(hit),
            [first, ..] => {
                let rules: std::collections::BTreeSet<&str> =
                    self.hits.iter().map(|hit| &*hit.rule).collect();
                let rules = rules.into_iter().collect::<Vec<_>>().join(", ");
                let host = match self.hits.iter().all(|hit| hit.host == first.host) {
                    true => format!(" on {}", first.host),
                    false => String::new(),
                };
                format!("[{rules}] {} hits{host}", self.hits.len())
            }
        }
    }

    /// All hits, as plain text.
    pub fn text(&self) -> String {
        if self.is_test {
            return format!(
                "This is a test of the channel `{}`. No rule has found anything.",
                self.channel
            );
        }
        let (mut text, mut shown) = (String::new(), 0);
        for hit in &self.hits {
            let one = paragraph(hit, self.hits.len() > 1);
            if shown > 0 && text.chars().count() + one.chars().count() > LONGEST {
                break;
            }
            text.push_str(if shown > 0 { "\n\n" } else { "" });
            text.push_str(&one);
            shown += 1;
        }
        match self.hits.len() - shown {
            0 => text,
            more => format!("{text}\n\nand {more} more; `evercrawl hits` lists them"),
        }
    }

    /// As JSON, for programs.
    pub fn json(&self) -> String {
        let hits = self.hits.iter();
        let body = Body {
            delivery: &self.id,
            test: self.is_test,
            text: format!("{}\n{}", self.title(), self.text()),
            hits: hits
                .map(|hit| HitBody { delivery: format!("{}.{}", hit.id, self.channel), hit })
                .collect(),
        };
        serde_json::to_string(&body).unwrap_or_default()
    }
}

fn headline(hit: &Hit) -> String {
    let what = hit.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&hit.url);
    let what: String = what.chars().filter(|c| !c.is_control()).take(150).collect();
    format!("[{}] {}: {what}", hit.rule, if hit.fault { "fault" } else { &hit.change })
}

fn paragraph(hit: &Hit, with_headline: bool) -> String {
    let mut lines = Vec::new();
    if with_headline {
        lines.push(headline(hit));
    }
    let fields = hit.fields.iter().filter(|(name, _)| *name != "change" && *name != "phrase");
    lines.extend(fields.map(|(name, value)| format!("{}: {value}", name.replace('_', " "))));
    if !hit.quote.is_empty() {
        lines.push(hit.quote.clone());
    }
    lines.push(hit.url.clone());
    lines.push(format!("{} · {}", hit.time, hit.id));
    let text = lines.join("\n");
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(n: u64) -> Hit {
        Hit {
            id: format!("price.{n}"),
            rule: "price".to_owned(),
            url: "http://a.test/".to_owned(),
            host: "a.test".to_owned(),
            title: Some("Soup\u{7}".to_owned()),
            change: "changed".to_owned(),
            quote: "− 5 €\n+ 4 €".to_owned(),
            fields: [("price".to_owned(), "5 EUR → 4 EUR".to_owned())].into(),
            time: "2026-01-01T00:00:00Z".to_owned(),
            ..Hit::default()
        }
    }

    fn message(count: u64) -> Message {
        let hits = (0..count).map(hit).collect();
        Message { id: "price.0.team".to_owned(), channel: "team".to_owned(), hits, is_test: false }
    }

    #[test]
    fn messages_say_what_was_found_where() {
        let one = message(1);
        assert_eq!(one.title(), "[price] changed: Soup");
        assert_eq!(
            one.text(),
            "price: 5 EUR → 4 EUR\n− 5 €\n+ 4 €\nhttp://a.test/\n2026-01-01T00:00:00Z · price.0"
        );
        assert_eq!(message(2).title(), "[price] 2 hits on a.test");
        let many = message(500);
        assert!(
            many.text().chars().count() < 4000 && many.text().contains("more; `evercrawl hits`")
        );
        assert!(many.json().contains("\"delivery\":\"price.499.team\""));
        assert!(Message::test("team", "2026-01-01T00:00:00Z").text().contains("`team`"));
    }
}
