//! Which sites link to each other for no reader's sake?
//!
//! Sites of a farm link to each other and back, all to all. Wu and Davison (2005) begin with those that
//! have many partners in common and go on to whoever links to several of them. Here partners must also
//! be partners of each other, or any popular site would be one.

use evercrawl_rank::Graph;

use crate::sign::{Kind, Sign};

/// Fewer partners make no farm.
const LEAST_PARTNERS: usize = 4;
/// The most partners of a site that are looked at; in a farm any few tell.
const MOST_PARTNERS: usize = 60;
/// The share of a site's links that go to a farm, or come from one, from which on it belongs to it.
const BELONGS: f64 = 0.5;

/// What the links of all sites show.
#[derive(Clone, Debug)]
pub struct Farms {
    signs: Vec<Option<Sign>>,
}

impl Farms {
    /// The sign that a site shows.
    pub fn sign(&self, site: u32) -> Option<&Sign> {
        self.signs.get(site as usize)?.as_ref()
    }
}

/// Looks for farms among sites, best registered domains: hosts of one owner may well be partners.
pub fn farms(sites: &Graph) -> Farms {
    let reversed = sites.reversed();
    let partners: Vec<Vec<u32>> = (0..sites.nodes())
        .map(|site| common(sites.sources(site), reversed.sources(site), site))
        .collect();
    let mut signs: Vec<Option<Sign>> =
        (0..sites.nodes()).map(|site| clique(&partners, site)).collect();
    let is_member = |sign: &Option<Sign>| sign.as_ref().is_some_and(|sign| sign.score > 0.5);
    let members: Vec<bool> = signs.iter().map(is_member).collect();
    for site in 0..sites.nodes() {
        if !members[site as usize] {
            let to = linked(reversed.sources(site), &members, "links lead to");
            let from = linked(sites.sources(site), &members, "links to it come from");
            let found = signs[site as usize].take().into_iter().chain(to).chain(from);
            signs[site as usize] = found.max_by(|a, b| a.score.total_cmp(&b.score));
        }
    }
    Farms { signs }
}

/// How closely a site's partners are partners of each other.
fn clique(partners: &[Vec<u32>], site: u32) -> Option<Sign> {
    let own = &partners[site as usize];
    let looked_at = &own[..own.len().min(MOST_PARTNERS)];
    let pairs = looked_at.len() * looked_at.len().saturating_sub(1);
    let joined: usize = looked_at
        .iter()
        .map(|&partner| common(&partners[partner as usize], looked_at, partner).len())
        .sum();
    let density = joined as f64 / pairs.max(1) as f64;
    let evidence = format!(
        "it exchanges links with {} sites, and {:.0} % of these with each other",
        own.len(),
        100.0 * density
    );
    (own.len() >= LEAST_PARTNERS).then(|| Sign::measured(Kind::Farm, density, 0.4, 0.8, evidence))
}

/// Whether most of a site's links, one way, are with members of farms.
fn linked(sites: &[u32], members: &[bool], how: &str) -> Option<Sign> {
    let count = sites.iter().filter(|&&site| members[site as usize]).count();
    let share = count as f64 / sites.len().max(1) as f64;
    let evidence = format!("{count} of the {} sites that {how} are a link farm's", sites.len());
    (count >= LEAST_PARTNERS && share >= BELONGS)
        .then(|| Sign::measured(Kind::Farm, share, 0.3, 0.9, evidence))
}

/// What two ascending lists have in common, but for one number.
fn common(a: &[u32], b: &[u32], but: u32) -> Vec<u32> {
    a.iter().copied().filter(|site| *site != but && b.binary_search(site).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use evercrawl_rank::Repeats;

    use super::*;

    fn score(farms: &Farms, site: u32) -> f64 {
        farms.sign(site).map_or(0.0, |sign| sign.score)
    }

    /// 0..100 link to the next ten and the ten before, as a community does; 100..120 are a farm with
    /// all links among it; each of them links to 120, their client, who links to the first.
    fn web() -> Graph {
        let near = (0..100u32).flat_map(|a| (1..=10).map(move |step| (a, (a + 7 * step) % 100)));
        let farm = (100..120).flat_map(|a| (100..120).map(move |b| (a, b)));
        let client = (100..120).map(|a| (a, 120)).chain([(120, 0), (5, 100)]);
        let links: Vec<(u32, u32)> = near.chain(farm).chain(client).collect();
        Graph::new(121, links.iter().copied(), Repeats::Once)
    }

    #[test]
    fn farms_and_their_clients_are_found_and_nobody_else() {
        let farms = farms(&web());
        assert!((0..100).all(|site| score(&farms, site) < 0.5));
        assert!((100..=120).all(|site| score(&farms, site) > 0.9));
        let client = farms.sign(120).unwrap();
        assert_eq!(
            client.evidence,
            "20 of the 20 sites that links to it come from are a link farm's"
        );
        assert!(farms.sign(121).is_none());
    }

    #[test]
    fn a_site_that_all_exchange_links_with_is_popular_and_no_farm() {
        let links: Vec<(u32, u32)> = (1..50).flat_map(|site| [(0, site), (site, 0)]).collect();
        let farms = farms(&Graph::new(50, links.iter().copied(), Repeats::Once));
        assert!((0..50).all(|site| score(&farms, site) < 0.1));
    }
}
