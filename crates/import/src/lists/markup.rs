//! Which pages do subscriptions (OPML) and bookmarks name? Folders become tags.

use html5gum::{StartTag, Token, Tokenizer};

use crate::found::{FoundSeed, Place, Taker, tag_of};

/// Folders in folders that are followed.
const DEEPEST: usize = 64;

/// Reads what a feed reader exports: the address of each feed, and of its site.
pub(crate) fn read_opml(text: &str, take: &mut dyn Taker) {
    // For each outline that is open: the tag of a folder.
    let mut open: Vec<Option<String>> = Vec::new();
    for Ok(token) in Tokenizer::new(text) {
        match token {
            Token::StartTag(tag) if **tag.name == b"outline"[..] => {
                let feed = attribute(&tag, "xmlurl").filter(|url| !url.trim().is_empty());
                let tags = || open.iter().flatten().cloned().collect::<Vec<String>>();
                let own_tags = attribute(&tag, "category").unwrap_or_default();
                let own_tags =
                    own_tags.split(',').filter_map(|name| tag_of(name.trim_matches('/')));
                match &feed {
                    Some(url) => {
                        let tags = tags().into_iter().chain(own_tags).collect();
                        take.seed(Place::File, FoundSeed { tags, ..FoundSeed::new(url.trim()) });
                    }
                    None if attribute(&tag, "htmlurl").is_some()
                        || attribute(&tag, "url").is_some() =>
                    {
                        let url = attribute(&tag, "htmlurl").or_else(|| attribute(&tag, "url"));
                        let tags = tags().into_iter().chain(own_tags).collect();
                        let url = url.unwrap_or_default().trim().to_owned();
                        take.seed(Place::File, FoundSeed { tags, ..FoundSeed::new(url) });
                    }
                    None => {}
                }
                if !tag.self_closing && open.len() < DEEPEST {
                    let name = attribute(&tag, "text").or_else(|| attribute(&tag, "title"));
                    open.push(name.filter(|_| feed.is_none()).as_deref().and_then(tag_of));
                }
            }
            Token::EndTag(tag) if **tag.name == b"outline"[..] => drop(open.pop()),
            _ => {}
        }
    }
}

/// Reads bookmarks in the form that all browsers export.
pub(crate) fn read_bookmarks(text: &str, take: &mut dyn Taker) {
    let mut folders: Vec<Option<String>> = Vec::new();
    // The name of the folder whose list comes next, while it is read and after.
    let (mut in_name, mut name) = (false, None::<String>);
    for Ok(token) in Tokenizer::new(text) {
        match token {
            Token::StartTag(tag) => match &**tag.name {
                b"h3" => (in_name, name) = (true, Some(String::new())),
                b"dl" if folders.len() < DEEPEST => {
                    folders.push(name.take().as_deref().and_then(tag_of));
                }
                b"a" => bookmark(&tag, &folders, take),
                _ => {}
            },
            Token::EndTag(tag) => match &**tag.name {
                b"h3" => in_name = false,
                b"dl" => drop(folders.pop()),
                _ => {}
            },
            Token::String(words) if in_name => {
                if let Some(name) = &mut name {
                    name.push_str(&String::from_utf8_lossy(&words.value));
                }
            }
            _ => {}
        }
    }
}

fn bookmark(tag: &StartTag<()>, folders: &[Option<String>], take: &mut dyn Taker) {
    let Some(url) = attribute(tag, "href") else { return };
    let url = url.trim();
    if !url.starts_with("http://") && !url.starts_with("https://") {
        let scheme = url.split(':').next().unwrap_or_default().chars().take(20).collect::<String>();
        return take.refuse(Place::File, &format!("a bookmark that is no web page (`{scheme}:`)"));
    }
    let own = attribute(tag, "tags").unwrap_or_default();
    let tags = folders.iter().flatten().cloned().chain(own.split(',').filter_map(tag_of)).collect();
    take.seed(Place::File, FoundSeed { tags, ..FoundSeed::new(url) });
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(&value.value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::testing::Kept;

    #[test]
    fn subscriptions_are_read_with_their_folders() {
        let mut kept = Kept::default();
        read_opml(
            "<?xml version='1.0'?><opml><body><outline text='Law &amp; Order'><outline text='A' type='rss' \
             xmlUrl='http://a.test/feed?x=1&amp;y=2' htmlUrl='http://a.test/'/></outline>\
             <outline text='B' htmlUrl='http://b.test/'/><outline text='empty'/></body></opml>",
            &mut kept,
        );
        assert_eq!(kept.urls(), ["http://a.test/feed?x=1&y=2", "http://b.test/"]);
        assert_eq!(kept.seeds[0].tags, ["law-&-order"]);
        assert!(kept.seeds[1].tags.is_empty());
    }

    #[test]
    fn bookmarks_are_read_with_folders_and_tags() {
        let mut kept = Kept::default();
        read_bookmarks(
            "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><H3>My News</H3><DL><p>\
             <DT><A HREF=\"http://a.test/?a=1&amp;b=2\" TAGS=\"x,Y z\">A</A>\
             <DT><A HREF='javascript:alert(1)'>J</A></DL><p><DT><A HREF='https://b.test/'>B</A></DL>",
            &mut kept,
        );
        assert_eq!(kept.urls(), ["http://a.test/?a=1&b=2", "https://b.test/"]);
        assert_eq!(kept.seeds[0].tags, ["my-news", "x", "y-z"]);
        assert!(kept.seeds[1].tags.is_empty());
        assert_eq!(kept.refused, [": a bookmark that is no web page (`javascript:`)"]);
    }
}
