//! What do the neighbours of a host's domain say: which domains it links to, and shares an address or template with?

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use evercrawl_model::HostKey;
use evercrawl_rank::Repeats;
use evercrawl_spam::{Sign, SiteNetwork, circles, farms};
use evercrawl_state::{StateError, Store, View};

use super::survey::HostSurvey;
use crate::importance::{LinkGraph, PageGroups, ReadWithin, domain_of};

/// Adds the signs of each host's registered domain. Returns whether the links fitted in `memory` bytes.
pub(super) fn neighbour_signs<S: Store>(
    state: &View<S>,
    hosts: &mut [HostSurvey],
    memory: u64,
) -> Result<bool, StateError> {
    let ReadWithin::Whole(links) = LinkGraph::read_within(state, memory)? else { return Ok(false) };
    let names: HashMap<HostKey, &str> =
        hosts.iter().map(|seen| (seen.host, seen.name.as_str())).collect();
    let authority = |host: HostKey| -> Result<String, StateError> {
        Ok(match names.get(&host) {
            Some(name) => (*name).to_owned(),
            None => state.host(host)?.map(|row| row.authority).unwrap_or_default(),
        })
    };
    let domains = PageGroups::read(&links, |host| Ok(domain_of(authority(host)?)))?;
    let number: HashMap<String, u32> =
        domains.names().zip(0..).map(|(name, number)| (name.to_owned(), number)).collect();
    let of_host: Vec<Option<u32>> =
        hosts.iter().map(|seen| number.get(&domain_of(seen.name.clone())).copied()).collect();
    let signs = domain_signs(state, &links, &domains, hosts, &of_host)?;
    for (seen, domain) in hosts.iter_mut().zip(of_host) {
        let found = domain.and_then(|domain| signs.get(domain as usize));
        seen.signs.extend(found.into_iter().flatten().cloned());
    }
    Ok(true)
}

fn domain_signs<S: Store>(
    state: &View<S>,
    links: &LinkGraph,
    domains: &PageGroups,
    hosts: &[HostSurvey],
    of_host: &[Option<u32>],
) -> Result<Vec<Vec<Sign>>, StateError> {
    let count = domains.names().count();
    let (mut pages, mut trusted) = (vec![0u32; count], Vec::new());
    let (mut addresses, mut templates) = (vec![None; count], vec![None; count]);
    for page in 0..links.graph().nodes() {
        if let Some(count) = pages.get_mut(domains.group(page) as usize) {
            *count += 1;
        }
    }
    for (seen, domain) in hosts.iter().zip(of_host) {
        let Some(domain) = *domain else { continue };
        let Some(row) = state.host(seen.host)? else { continue };
        // The first of its hosts represents a domain.
        let (address, template) =
            (&mut addresses[domain as usize], &mut templates[domain as usize]);
        *address = address.or(row.ip.map(hash));
        *template = template.or(seen.template);
        if row.seed {
            trusted.push(domain);
        }
    }
    trusted.sort_unstable();
    trusted.dedup();
    let graph = domains.graph(links, Repeats::Once);
    let network = SiteNetwork {
        links: &graph,
        pages: &pages,
        addresses: &addresses,
        templates: &templates,
        trusted: &trusted,
    };
    let (mut signs, farms) = (network.signs(), farms(&graph));
    let circles = circles(links.graph(), domains.page_groups(), &farms);
    for ((domain, signs), circle) in (0..).zip(&mut signs).zip(circles) {
        signs.extend(farms.sign(domain).cloned().into_iter().chain(circle));
    }
    Ok(signs)
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
