//! Which pages does a JSON Feed list?

use serde::Deserialize;

use super::{Listing, ListingEntry, trimmed};
use crate::claimed_date;
use crate::sniff::ContentKind;

#[derive(Deserialize)]
struct Feed {
    feed_url: Option<String>,
    #[serde(default)]
    hubs: Vec<Hub>,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Hub {
    url: String,
}

#[derive(Deserialize)]
struct Item {
    url: Option<String>,
    date_published: Option<String>,
    date_modified: Option<String>,
}

/// Reads a JSON Feed; a broken one gives nothing.
pub(super) fn read(text: &str) -> Listing {
    let mut listing = Listing::new(ContentKind::JsonFeed);
    let Ok(feed) = serde_json::from_str::<Feed>(text.trim_start_matches('\u{feff}')) else {
        return Listing { damaged: true, ..listing };
    };
    listing.topic = feed.feed_url;
    listing.hubs = feed.hubs.into_iter().map(|hub| hub.url).collect();
    for item in feed.items {
        let Some(url) = item.url.as_deref().map(trimmed).filter(|url| !url.is_empty()) else {
            continue;
        };
        let entry = ListingEntry {
            url: url.to_owned(),
            modified: item.date_modified.as_deref().and_then(claimed_date::parse),
            published: item.date_published.as_deref().and_then(claimed_date::parse),
            ..ListingEntry::default()
        };
        if !listing.push(entry) {
            break;
        }
    }
    listing
}
