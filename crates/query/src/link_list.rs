//! Which links are there between known pages? Page by page, in the order of the store.

use std::collections::HashMap;

use evercrawl_model::PageKey;
use evercrawl_state::Store;
use serde::{Deserialize, Serialize};

use crate::code::{from_hex, hex};
use crate::page::PageState;
use crate::source::{QueryError, Source};

/// Which links are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinksRequest {
    /// Only links from pages with this tag.
    #[serde(default)]
    pub tag: Option<String>,
    /// Only links from pages of this host.
    #[serde(default)]
    pub host: Option<String>,
    /// Only what comes after this cursor, which an earlier answer gave.
    #[serde(default)]
    pub after: Option<String>,
}

/// A link from one known page to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkView {
    /// The page that it stands on.
    pub from: String,
    /// The page that it leads to.
    pub to: String,
    /// Where that one is in its life.
    pub to_state: PageState,
    /// HTTP status of the last visit to it.
    pub to_status: Option<u16>,
    /// The words of the link, where they are kept.
    pub anchor: Option<String>,
}

/// Some of the links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinksView {
    /// The links, page by page.
    pub links: Vec<LinkView>,
    /// Where to go on; `None` where there are no more.
    pub next: Option<String>,
}

/// Pages that are read for one answer, and links after which it ends.
const MOST_READ: usize = 2_000;
const MOST_SHOWN: usize = 1_000;

/// What is known of a page that links lead to; `None` where nothing is.
type Target = Option<(String, PageState, Option<u16>)>;

/// Some of the links that are asked for, and where to go on. A call reads a bounded number of pages, so an answer may
/// be empty and yet have a `next`.
pub fn links<S: Store>(
    source: &Source<'_, S>,
    asked: &LinksRequest,
) -> Result<LinksView, QueryError> {
    let after = asked.after.as_deref().map(parse_cursor).transpose()?;
    let tags = source.state.tag_sets()?;
    let (mut view, mut last) = (LinksView::default(), after);
    let mut targets: HashMap<PageKey, Target> = HashMap::new();
    for (read, page) in source.state.pages_after(after).enumerate() {
        if read == MOST_READ || view.links.len() >= MOST_SHOWN {
            view.next = last.map(|key| hex(&key.to_bytes()));
            break;
        }
        let (key, row) = page?;
        last = Some(key);
        let of_tag = asked.tag.as_deref().is_none_or(|tag| {
            tags.get(&row.tags).is_some_and(|tags| tags.split(' ').any(|has| has == tag))
        });
        let of_host =
            asked.host.as_deref().is_none_or(|host| row.url.split('/').nth(2) == Some(host));
        let known = match of_tag && of_host {
            true => source.state.links(key)?,
            false => None,
        };
        let Some(to) = known.filter(|to| !to.is_empty()) else { continue };
        let mut words = source.state.anchors(key)?.into_iter();
        for to in to {
            let anchor = words.next().filter(|words| !words.is_empty());
            let target = match targets.get(&to) {
                Some(target) => target.clone(),
                None => targets.entry(to).or_insert(target(source, to)?).clone(),
            };
            let from = row.url.clone();
            view.links.extend(target.map(|(to, to_state, to_status)| LinkView {
                from,
                to,
                to_state,
                to_status,
                anchor,
            }));
        }
    }
    Ok(view)
}

fn target<S: Store>(source: &Source<'_, S>, key: PageKey) -> Result<Target, QueryError> {
    Ok(source.state.page(key)?.map(|row| {
        let status = row.past.as_ref().map(|past| past.status).filter(|status| *status > 0);
        (row.url.clone(), PageState::of(&row, source.now), status)
    }))
}

fn parse_cursor(text: &str) -> Result<PageKey, QueryError> {
    let page = from_hex(text).and_then(|bytes| PageKey::from_bytes(&bytes));
    page.ok_or_else(|| QueryError::bad_cursor(text))
}
