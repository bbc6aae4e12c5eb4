//! Which sites link to each other without use for readers?
//!
//! Sites of a farm link to each other and back, all to all. Wu and Davison (2005) begin with those that
//! have many partners in common and continue with hosts that link to several of them. Here partners must also
//! be partners of each other, or any popular site would be one; and more of them than chance would join,
//! or any few sites of a small web would be.

use evercrawl_rank::Graph;

use crate::sign::{Sign, SignKind};

/// Fewer partners make no farm.
const LEAST_PARTNERS: usize = 4;
/// The most partners of a site that are examined; in a farm, a few are enough.
const MOST_PARTNERS: usize = 60;
/// The share of a knot that each of its sites exchanges links with, at least.
const KNIT: f64 = 0.8;
/// How rare a knot must be: one in this many webs of the same size, as a logarithm (1 in 400).
pub(crate) const RARE: f64 = 6.0;
/// The share of a site's links that go to a farm, or come from one, from which on it belongs to it.
const BELONGS: f64 = 0.5;

/// What the links of all sites show.
#[derive(Clone, Debug)]
pub struct Farms {
    signs: Vec<Option<Sign>>,
    exchange: LinkExchange,
}

impl Farms {
    /// The sign that a site shows.
    pub fn sign(&self, site: u32) -> Option<&Sign> {
        self.signs.get(site as usize)?.as_ref()
    }

    pub(crate) fn exchange(&self) -> &LinkExchange {
        &self.exchange
    }
}

/// Finds farms among sites, best registered domains: hosts of one owner may well be partners.
pub fn farms(sites: &Graph) -> Farms {
    let reversed = sites.reversed();
    let exchange = LinkExchange::new(sites, &reversed);
    let mut signs: Vec<Option<Sign>> = (0..sites.nodes()).map(|site| exchange.sign(site)).collect();
    let members = Members::new(&signs);
    for site in 0..sites.nodes() {
        if !members.is[site as usize] {
            let to = members.sign(reversed.sources(site), "links lead to");
            let from = members.sign(sites.sources(site), "links to it come from");
            let found = signs[site as usize].take().into_iter().chain(to).chain(from);
            signs[site as usize] = found.max_by(|a, b| a.score.total_cmp(&b.score));
        }
    }
    Farms { signs, exchange }
}

/// The sites that link to each other in both directions.
#[derive(Clone, Debug)]
pub(crate) struct LinkExchange {
    partners: Vec<Vec<u32>>,
    /// How many partners all sites have together.
    total: usize,
}

impl LinkExchange {
    fn new(sites: &Graph, reversed: &Graph) -> Self {
        let partners: Vec<Vec<u32>> = (0..sites.nodes())
            .map(|site| common(sites.sources(site), reversed.sources(site), site))
            .collect();
        let total = partners.iter().map(Vec::len).sum();
        LinkExchange { partners, total }
    }

    /// How many sites there are.
    pub(crate) fn sites(&self) -> usize {
        self.partners.len()
    }

    /// A site's partners, in ascending order.
    pub(crate) fn partners_of(&self, site: u32) -> &[u32] {
        self.partners.get(site as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn are_partners(&self, a: u32, b: u32) -> bool {
        self.partners_of(a).binary_search(&b).is_ok()
    }

    /// How many of a site's partners are partners of each other, if that is not by chance.
    fn sign(&self, site: u32) -> Option<Sign> {
        let own = &self.partners[site as usize];
        let looked_at = &own[..own.len().min(MOST_PARTNERS)];
        if looked_at.len() < LEAST_PARTNERS {
            return None;
        }
        let mut knot = self.knot(looked_at);
        let share = knot.len() as f64 / looked_at.len() as f64;
        let evidence = format!(
            "it exchanges links with {} sites, and {:.0} % of these with each other",
            own.len(),
            100.0 * share
        );
        let large = knot.len() >= LEAST_PARTNERS;
        knot.push(site);
        (large && self.rarity(&knot) >= RARE)
            .then(|| Sign::measured(SignKind::Farm, share, 0.2, 0.5, evidence))
    }

    /// What is left of some sites after removing, one by one, those that exchange links with too few of the others.
    fn knot(&self, sites: &[u32]) -> Vec<u32> {
        let mut knot = sites.to_vec();
        let mut joint: Vec<usize> = knot.iter().map(|&site| self.joint(site, sites)).collect();
        while let Some((weakest, &fewest)) = joint.iter().enumerate().min_by_key(|(_, n)| **n) {
            if fewest as f64 >= KNIT * (knot.len() - 1) as f64 {
                break;
            }
            let gone = knot.swap_remove(weakest);
            joint.swap_remove(weakest);
            for (site, joint) in knot.iter().zip(&mut joint) {
                *joint -= usize::from(self.partners[gone as usize].binary_search(site).is_ok());
            }
        }
        knot
    }

    /// How many webs of this size one would see, as a logarithm, before some sites exchange links as much as
    /// these by chance: if each had its other partners at random.
    fn rarity(&self, knot: &[u32]) -> f64 {
        let size = knot.len();
        let inside: Vec<usize> = knot.iter().map(|&site| self.joint(site, knot)).collect();
        let joined = inside.iter().sum::<usize>() / 2;
        let (sites, strangers) = (self.partners.len() as f64, self.partners.len() - size);
        // One partner more for each, or a host without others could have none by chance.
        let usual = (self.total - 2 * joined) as f64 / sites + 1.0;
        let chance = |(&site, inside): (&u32, &usize)| {
            let others = (self.partners[site as usize].len() - inside) as f64 + 1.0;
            // A pair is joined with the product of its two sites' chances; a site stands in as many pairs.
            let odds = others / (usual / sites).sqrt() / (strangers as f64 + 1.0);
            odds.ln().min(0.0) * *inside as f64
        };
        let chance: f64 = knot.iter().zip(&inside).map(chance).sum();
        let choices = ln_choose(self.partners.len(), size);
        -(chance + choices + ln_choose(size * (size - 1) / 2, joined))
    }

    /// How many of some others a site exchanges links with.
    fn joint(&self, site: u32, others: &[u32]) -> usize {
        let own = &self.partners[site as usize];
        others.iter().filter(|other| own.binary_search(other).is_ok()).count()
    }
}

/// The logarithm of how many ways there are to choose `few` of `all`.
pub(crate) fn ln_choose(all: usize, few: usize) -> f64 {
    (0..few.min(all)).map(|n| ((all - n) as f64 / (n + 1) as f64).ln()).sum()
}

/// Who belongs to a farm by its partners.
struct Members {
    is: Vec<bool>,
    count: usize,
}

impl Members {
    fn new(signs: &[Option<Sign>]) -> Self {
        let is_member = |sign: &Option<Sign>| sign.as_ref().is_some_and(|sign| sign.score > 0.5);
        let is: Vec<bool> = signs.iter().map(is_member).collect();
        Members { count: is.iter().filter(|is| **is).count(), is }
    }

    /// Whether most of a site's links, in one direction, are with members, if that is not by chance.
    fn sign(&self, linked: &[u32], how: &str) -> Option<Sign> {
        let count = linked.iter().filter(|&&site| self.is[site as usize]).count();
        let share = count as f64 / linked.len().max(1) as f64;
        let all = self.is.len() as f64;
        let rare = || {
            let one = (all / self.count as f64).ln();
            count as f64 * one - ln_choose(linked.len(), count) - all.ln() >= RARE
        };
        (count >= LEAST_PARTNERS && share >= BELONGS && rare()).then(|| {
            let all = linked.len();
            let evidence = format!("{count} of the {all} sites that {how} belong to a link farm");
            Sign::measured(SignKind::Farm, share, 0.3, 0.9, evidence)
        })
    }
}

/// The numbers common to two ascending lists, except one.
fn common(a: &[u32], b: &[u32], but: u32) -> Vec<u32> {
    a.iter().copied().filter(|site| *site != but && b.binary_search(site).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use evercrawl_policy::SplitMix64;
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
            "20 of the 20 sites that links to it come from belong to a link farm"
        );
        assert!(farms.sign(121).is_none());
    }

    /// Sites that link to others at random, each to so many; the last ones are a farm and link to each other too.
    fn random(sites: u32, each: u32, farm: u32) -> Graph {
        let mut dice = SplitMix64::new(u64::from(sites + each + farm));
        let mut links = Vec::new();
        for site in 0..sites {
            links.extend((0..each).map(|_| (site, dice.below(sites as usize) as u32)));
        }
        let members = sites - farm..sites;
        links.extend(members.clone().flat_map(|a| members.clone().map(move |b| (a, b))));
        Graph::new(sites, links.iter().copied(), Repeats::Once)
    }

    #[test]
    fn small_farms_are_found_among_sites_that_also_exchange_links_by_chance() {
        for (sites, each, farm) in [(60, 12, 5), (60, 20, 12), (1000, 30, 5), (1000, 30, 100)] {
            let farms = farms(&random(sites, each, farm));
            let found: Vec<u32> = (0..sites).filter(|&site| score(&farms, site) > 0.9).collect();
            let right = found.iter().filter(|site| **site >= sites - farm).count();
            eprintln!("{right} of {farm} in {sites} by {each}, {} found", found.len());
            assert!(
                right as u32 == farm && found.len() == right,
                "{sites} {each} {farm}: {found:?}"
            );
        }
    }

    #[test]
    fn sites_that_all_link_to_each_other_by_chance_are_no_farm() {
        for (sites, each) in [(20, 20), (60, 60), (60, 30), (300, 100)] {
            let farms = farms(&random(sites, each, 0));
            let worst = (0..sites).map(|site| score(&farms, site)).fold(0.0, f64::max);
            assert!(worst < 0.5, "{sites} {each}: {worst}");
        }
    }

    #[test]
    fn a_site_that_all_exchange_links_with_is_popular_and_no_farm() {
        let links: Vec<(u32, u32)> = (1..50).flat_map(|site| [(0, site), (site, 0)]).collect();
        let farms = farms(&Graph::new(50, links.iter().copied(), Repeats::Once));
        assert!((0..50).all(|site| score(&farms, site) < 0.1));
    }
}
