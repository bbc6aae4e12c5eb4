//! Which `<meta>` elements name addresses?

use super::super::links::{LinkKind, LinkPlace};
use super::PlaceReader;
use super::attributes::Attributes;
use crate::strings::{Context, is_address, looks_like_media};

impl PlaceReader<'_> {
    pub(super) fn take_meta(&mut self, tag: &Attributes) {
        let Some(content) = tag.get("content").map(str::trim_ascii) else { return };
        if content.contains('<') && self.reads_all() {
            self.inner(content, LinkPlace::Inner);
        }
        if tag.is("http-equiv", "content-security-policy") && self.reads_all() {
            self.take_policy(content);
        }
        let names = ["property", "name", "itemprop"].map(|name| tag.get(name).unwrap_or_default());
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            self.take_named(&name.trim_ascii().to_ascii_lowercase(), content);
        }
    }

    /// Where a policy has its violations reported to.
    fn take_policy(&mut self, policy: &str) {
        for directive in policy.split(';') {
            let mut words = directive.split_ascii_whitespace();
            if words.next().is_some_and(|name| name.eq_ignore_ascii_case("report-uri")) {
                words.for_each(|address| {
                    self.sink.add(address, LinkKind::Mention, LinkPlace::Markup)
                });
            }
        }
    }

    fn take_named(&mut self, name: &str, content: &str) {
        match purpose(name) {
            Purpose::Part if looks_like_media(content) => {
                self.sink.add(content, LinkKind::Embed, LinkPlace::Markup);
            }
            Purpose::Page if is_address(content, Context::Named) => {
                self.sink.add(content, LinkKind::Related, LinkPlace::Markup);
            }
            // `frequency=30;polling-uri=/tile.xml`
            Purpose::List => {
                let addresses = content.split(';').filter_map(|pair| pair.split_once('='));
                for (_, address) in addresses.filter(|(key, _)| key.contains("uri")) {
                    self.sink.add(address, LinkKind::Embed, LinkPlace::Markup);
                }
            }
            Purpose::Other => self.mention(content, LinkPlace::Attribute),
            _ => {}
        }
    }
}

enum Purpose {
    Part,
    Page,
    List,
    Other,
}

/// What the content of a `<meta>` of that name is.
fn purpose(name: &str) -> Purpose {
    const PARTS: [&str; 18] = [
        "image",
        "image:url",
        "image:secure_url",
        "image:src",
        "image_src",
        "video",
        "video:url",
        "video:secure_url",
        "audio",
        "audio:url",
        "audio:secure_url",
        "logo",
        "thumbnail",
        "thumbnailurl",
        "contenturl",
        "icon",
        "player:stream",
        "image0",
    ];
    const PAGES: [&str; 8] = [
        "og:url",
        "twitter:url",
        "al:web:url",
        "og:see_also",
        "twitter:player",
        "embedurl",
        "msapplication-starturl",
        "article:author",
    ];
    let last = name.rsplit_once(['-', '.']).map_or(name, |(_, last)| last);
    let is_part = |word: &str| name == word || name.ends_with(&format!(":{word}")) || last == word;
    match name {
        "msapplication-task" | "msapplication-notification" | "msapplication-badge" => {
            Purpose::List
        }
        "msapplication-config" => Purpose::Part,
        _ if name.starts_with("msapplication-")
            && (name.ends_with("logo") || name.ends_with("image")) =>
        {
            Purpose::Part
        }
        _ if PAGES.contains(&name) => Purpose::Page,
        _ if PARTS.iter().any(|word| is_part(word)) => Purpose::Part,
        _ => Purpose::Other,
    }
}
