//! What are the nodes of the graph called?

use evercrawl_engine::importance::{LinkGraph, domain_of};
use evercrawl_model::HostKey;
use evercrawl_state::StateError;

use crate::verbs::Opened;
use evercrawl_query::RankMethod as Method;

/// The URL of a page.
pub(super) fn url_of(node: u32, links: &LinkGraph, opened: &Opened) -> anyhow::Result<String> {
    let url = links.page(node).map(|page| opened.state.url(page)).transpose()?;
    Ok(url.flatten().unwrap_or_default())
}

/// The URLs of all pages.
pub(super) fn page_urls(links: &LinkGraph, opened: &Opened) -> anyhow::Result<Vec<String>> {
    (0..links.graph().nodes()).map(|node| url_of(node, links, opened)).collect()
}

/// What the group of a host is called: the host, or its registered domain.
pub(super) fn name_of(
    method: Method,
    host: HostKey,
    opened: &Opened,
) -> Result<String, StateError> {
    let authority = opened.state.host(host)?.map(|row| row.authority).unwrap_or_default();
    Ok(if method == Method::Host { authority } else { domain_of(authority) })
}
