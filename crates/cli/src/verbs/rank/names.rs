//! What are the nodes of the graph called, and which belong together?

use std::collections::HashMap;

use evercrawl_engine::importance::LinkGraph;
use evercrawl_model::HostKey;
use evercrawl_rank::{Graph, Repeats};
use evercrawl_urls::Canonical;

use super::Method;
use crate::verbs::Opened;

/// The URL of a page.
pub(super) fn url_of(node: u32, links: &LinkGraph, opened: &Opened) -> anyhow::Result<String> {
    let url = links.page(node).map(|page| opened.state.reading().url(page)).transpose()?;
    Ok(url.flatten().unwrap_or_default())
}

/// The URLs of all pages, as they stand in CSV.
pub(super) fn page_urls(links: &LinkGraph, opened: &Opened) -> anyhow::Result<Vec<String>> {
    let nodes = 0..links.graph().nodes();
    nodes.map(|node| Ok(quoted(url_of(node, links, opened)?))).collect()
}

fn quoted(url: String) -> String {
    if url.contains([',', '"']) { format!("\"{}\"", url.replace('"', "\"\"")) } else { url }
}

/// Hosts, or registered domains, with the pages that each has.
pub(in crate::verbs) struct Groups {
    names: Vec<String>,
    of_page: Vec<u32>,
}

impl Groups {
    pub(in crate::verbs) fn read(
        method: Method,
        links: &LinkGraph,
        opened: &Opened,
    ) -> anyhow::Result<Self> {
        let (mut names, mut numbers) = (Vec::new(), HashMap::new());
        let mut of_host = Vec::new();
        for host in links.hosts() {
            let name = name_of(method, host, opened)?;
            let number = *numbers.entry(name.clone()).or_insert(names.len() as u32);
            if number as usize == names.len() {
                names.push(name);
            }
            of_host.push(number);
        }
        let pages = 0..links.graph().nodes();
        let of_page = pages.map(|page| of_host[links.host_of(page) as usize]).collect();
        Ok(Groups { names, of_page })
    }

    /// The links from group to group.
    pub(in crate::verbs) fn graph(&self, links: &LinkGraph, repeats: Repeats) -> Graph {
        links.graph().grouped(&self.of_page, self.names.len() as u32, repeats)
    }

    /// What the groups are called, by their numbers.
    pub(in crate::verbs) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(super) fn name(&self, group: u32) -> &str {
        self.names.get(group as usize).map_or("", String::as_str)
    }
}

fn name_of(method: Method, host: HostKey, opened: &Opened) -> anyhow::Result<String> {
    let authority = opened.state.host(host)?.map(|row| row.authority).unwrap_or_default();
    Ok(if method == Method::Host { authority } else { domain_of(authority) })
}

/// The registered domain that a host belongs to.
pub(in crate::verbs) fn domain_of(authority: String) -> String {
    let url = Canonical::from_trusted(format!("http://{authority}/"));
    url.map_or(authority, |url| url.domain().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_with_commas_stand_in_quotes() {
        for (url, want) in [("http://a/b", "http://a/b"), ("http://a/b,c", "\"http://a/b,c\"")] {
            assert_eq!(quoted(url.to_owned()), want);
        }
    }
}
