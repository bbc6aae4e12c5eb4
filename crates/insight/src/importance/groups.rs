//! Which pages belong together, by host or by domain?

use std::collections::HashMap;

use evercrawl_model::HostKey;
use evercrawl_rank::{Graph, Repeats};
use evercrawl_state::StateError;
use evercrawl_urls::Canonical;

use super::LinkGraph;

/// Hosts, or registered domains, with the pages that each has.
pub struct PageGroups {
    names: Vec<String>,
    of_page: Vec<u32>,
}

impl PageGroups {
    /// Groups the pages of hosts with the same `name`.
    pub fn read(
        links: &LinkGraph,
        name: impl Fn(HostKey) -> Result<String, StateError>,
    ) -> Result<Self, StateError> {
        let (mut names, mut numbers) = (Vec::new(), HashMap::new());
        let mut of_host = Vec::new();
        for host in links.hosts() {
            let name = name(host)?;
            let number = *numbers.entry(name.clone()).or_insert(names.len() as u32);
            if number as usize == names.len() {
                names.push(name);
            }
            of_host.push(number);
        }
        let pages = 0..links.graph().nodes();
        let of_page = pages.map(|page| of_host[links.host_of(page) as usize]).collect();
        Ok(PageGroups { names, of_page })
    }

    /// The links from group to group.
    pub fn graph(&self, links: &LinkGraph, repeats: Repeats) -> Graph {
        links.graph().grouped(&self.of_page, self.names.len() as u32, repeats)
    }

    /// The names of the groups, by number.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The group of a page.
    pub fn group(&self, page: u32) -> u32 {
        self.of_page.get(page as usize).copied().unwrap_or(u32::MAX)
    }

    /// The group of every page, by the page's number.
    pub(crate) fn page_groups(&self) -> &[u32] {
        &self.of_page
    }

    /// The name of a group.
    pub fn name(&self, group: u32) -> &str {
        self.names.get(group as usize).map_or("", String::as_str)
    }
}

/// The registered domain that a host belongs to.
pub fn domain_of(authority: String) -> String {
    let url = Canonical::from_trusted(format!("http://{authority}/"));
    url.map_or(authority, |url| url.domain().to_owned())
}
