//! How does a feed reader follow a crawl? Entries as Atom or JSON Feed.

use serde::Serialize;

/// What readers of feeds understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedForm {
    /// Atom, RFC 4287.
    Atom,
    /// JSON Feed 1.1.
    Json,
}

/// A feed, the latest entry first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feed {
    /// What it is called.
    pub title: String,
    /// What it is known by: the same for ever.
    pub id: String,
    /// Its entries.
    pub entries: Vec<FeedEntry>,
}

/// One thing that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FeedEntry {
    /// What it is known by: the same for ever.
    pub id: String,
    /// The page.
    pub url: String,
    /// What happened, in a line.
    pub title: String,
    /// When, as RFC 3339 has it.
    #[serde(rename = "date_published")]
    pub time: String,
    /// What it says.
    #[serde(rename = "content_text")]
    pub text: String,
    /// The tags of the page.
    pub tags: Vec<String>,
}

#[derive(Serialize)]
struct JsonFeed<'a> {
    version: &'static str,
    title: &'a str,
    description: &'static str,
    items: &'a [FeedEntry],
}

impl Feed {
    /// The feed in a form.
    pub fn write(&self, form: FeedForm) -> String {
        match form {
            FeedForm::Atom => self.atom(),
            FeedForm::Json => {
                let version = "https://jsonfeed.org/version/1.1";
                let description = "written by evercrawl";
                let feed =
                    JsonFeed { version, title: &self.title, description, items: &self.entries };
                serde_json::to_string(&feed).unwrap_or_default()
            }
        }
    }

    fn atom(&self) -> String {
        let updated = self.entries.first().map_or("1970-01-01T00:00:00Z", |entry| &entry.time);
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
             <title>{}</title>\n<id>{}</id>\n<updated>{}</updated>\n<author><name>evercrawl</name></author>\n",
            escaped(&self.title),
            escaped(&self.id),
            escaped(updated)
        );
        for entry in &self.entries {
            text.push_str(&format!(
                "<entry>\n<title>{}</title>\n<id>{}</id>\n<updated>{}</updated>\n<link href=\"{}\"/>\n",
                escaped(&entry.title),
                escaped(&entry.id),
                escaped(&entry.time),
                escaped(&entry.url)
            ));
            for tag in &entry.tags {
                text.push_str(&format!("<category term=\"{}\"/>\n", escaped(tag)));
            }
            text.push_str(&format!(
                "<content type=\"text\">{}</content>\n</entry>\n",
                escaped(&entry.text)
            ));
        }
        text + "</feed>\n"
    }
}

/// A text as XML; characters that XML cannot have are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use evercrawl_extract::{ContentKind, Document, Listing};

    use super::*;

    fn feed() -> Feed {
        let entry = FeedEntry {
            id: "urn:evercrawl:terms.7".to_owned(),
            url: "http://a.test/?a=1&b=<2>".to_owned(),
            title: "[terms] changed: A & \u{7}<B>".to_owned(),
            time: "2026-01-02T03:04:05Z".to_owned(),
            text: "+ ]]> \"new\"".to_owned(),
            tags: vec!["legal".to_owned()],
        };
        Feed { title: "News".to_owned(), id: "urn:evercrawl:news".to_owned(), entries: vec![entry] }
    }

    #[test]
    fn feeds_are_read_by_the_reader_of_feeds() {
        for (form, kind) in
            [(FeedForm::Atom, ContentKind::Atom), (FeedForm::Json, ContentKind::JsonFeed)]
        {
            let text = feed().write(form);
            let document =
                Document { bytes: text.as_bytes(), content_type: None, url: "http://x.test/f" };
            let listing = Listing::read_listing(&document);
            assert_eq!(
                (listing.kind, listing.damaged, listing.entries.len()),
                (kind, false, 1),
                "{text}"
            );
            assert_eq!(listing.entries[0].url, "http://a.test/?a=1&b=<2>");
        }
        assert!(feed().write(FeedForm::Atom).contains("A &amp; &lt;B&gt;</title>"));
        assert!(Feed::default().write(FeedForm::Atom).contains("<updated>1970"));
    }
}
