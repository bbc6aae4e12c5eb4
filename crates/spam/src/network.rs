//! Which sites stand out by their neighbours: by links, addresses, templates and trust?
//!
//! None of these tells spam from a good site by itself: shops share addresses, owners of many sites share
//! templates, directories link to everybody, and a good site may be known to others than those whom the user
//! trusts. So each sign alone stays well below certainty, and adds to what pages and links show.

use std::collections::HashMap;

use evercrawl_rank::{Graph, JumpWeights, RankSettings, pagerank, trust};

use crate::farm::{RARE, ln_choose};
use crate::sign::{Sign, SignKind};

/// The most that company says alone, and where sites share both an address and a template.
const MOST: f64 = 0.4;
const MOST_OF_BOTH: f64 = 0.9;
/// Fewer sites that share something are no network, and fewer links to them neither.
const LEAST: usize = 4;
/// The share of a site's links that stay among its like, from which on it is one.
const KEEPS_TO_ITSELF: f64 = 0.5;
/// With fewer sites of the same size, nothing can be said about what is usual.
const LEAST_PEERS: usize = 30;
/// Trust says nothing unless it starts from this many sites.
const LEAST_TRUSTED: usize = 20;
/// The share of all importance that is good, as far as known (Gyöngyi and others 2006).
const GOOD_SHARE: f64 = 0.85;
/// A site with less than this many times the average importance gains nothing by spam.
const LEAST_RANK: f64 = 5.0;

/// What is known about sites besides their pages; the index in each list is the site.
#[derive(Clone, Copy, Debug)]
pub struct SiteNetwork<'a> {
    /// The links between sites.
    pub links: &'a Graph,
    /// How many pages each has.
    pub pages: &'a [u32],
    /// The address that each is served from.
    pub addresses: &'a [Option<u64>],
    /// The template that its pages are made from.
    pub templates: &'a [Option<u64>],
    /// The trusted sites.
    pub trusted: &'a [u32],
}

impl SiteNetwork<'_> {
    /// The signs that each site shows.
    pub fn signs(&self) -> Vec<Vec<Sign>> {
        let mut signs = vec![Vec::new(); self.links.nodes() as usize];
        let reversed = self.links.reversed();
        self.rings(&reversed, &mut signs);
        self.outliers(&reversed, &mut signs);
        self.gaps(&mut signs);
        signs
    }

    /// Sites of one address or template whose links stay among them, if that is not by chance.
    fn rings(&self, reversed: &Graph, signs: &mut [Vec<Sign>]) {
        let (addresses, templates) = (Groups::new(self.addresses), Groups::new(self.templates));
        let both: Vec<Option<u64>> =
            self.addresses.iter().zip(self.templates).map(shared_key).collect();
        let both = Groups::new(&both);
        for site in 0..self.links.nodes() {
            let targets = reversed.sources(site);
            let found = [
                both.ring(site, targets, "at its address and made from its template", MOST_OF_BOTH),
                addresses.ring(site, targets, "at its own address", MOST),
                templates.ring(site, targets, "made from its own template", MOST),
            ];
            signs[site as usize].extend(found.into_iter().flatten());
        }
    }

    /// Sites that link to, or are linked from, far more others than sites of their size.
    fn outliers(&self, reversed: &Graph, signs: &mut [Vec<Sign>]) {
        for (graph, how) in [(reversed, "links to"), (self.links, "is linked from")] {
            let degree = |site: u32| graph.sources(site).iter().filter(|to| **to != site).count();
            let mut classes: HashMap<u32, Vec<(u32, usize)>> = HashMap::new();
            for (site, pages) in (0..graph.nodes()).zip(self.pages) {
                classes.entry(pages.max(&1).ilog2()).or_default().push((site, degree(site)));
            }
            for peers in classes.into_values().filter(|peers| peers.len() >= LEAST_PEERS) {
                let usual = DegreeStatistics::of(&peers);
                for (site, degree) in peers.iter().copied() {
                    signs[site as usize].extend(usual.sign(degree, how));
                }
            }
        }
    }

    /// Important sites with hardly any importance from trusted sites.
    fn gaps(&self, signs: &mut [Vec<Sign>]) {
        if self.trusted.len() < LEAST_TRUSTED {
            return;
        }
        let settings = RankSettings { tolerance: 1e-6, ..RankSettings::default() };
        let ranks = pagerank(self.links, JumpWeights::Anywhere, &settings).scores;
        let trusts = trust(self.links, self.trusted, &settings).scores;
        for ((rank, trust), signs) in ranks.iter().zip(trusts).zip(signs) {
            let times = rank * ranks.len() as f64;
            let mass = 1.0 - GOOD_SHARE * trust / rank;
            if times >= LEAST_RANK && mass > 0.0 {
                let evidence = format!(
                    "it matters {times:.0} times as much as the average site, {:.0} % of it by sites that \
                     those given as seeds do not lead to",
                    100.0 * mass
                );
                signs.push(at_most(
                    MOST,
                    Sign::measured(SignKind::Untrusted, mass, 0.9, 0.99, evidence),
                ));
            }
        }
    }
}

/// Bounds the score of a sign.
fn at_most(most: f64, sign: Sign) -> Sign {
    Sign { score: sign.score.min(most), ..sign }
}

/// What two things are together, where both are known.
fn shared_key((a, b): (&Option<u64>, &Option<u64>)) -> Option<u64> {
    a.zip(*b).map(|(a, b)| a.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b)
}

/// Sites that have something in common.
struct Groups<'a> {
    of: &'a [Option<u64>],
    sizes: HashMap<u64, usize>,
}

impl<'a> Groups<'a> {
    fn new(of: &'a [Option<u64>]) -> Self {
        let mut sizes = HashMap::new();
        of.iter().flatten().for_each(|group| *sizes.entry(*group).or_default() += 1);
        Groups { of, sizes }
    }

    fn ring(&self, site: u32, targets: &[u32], what: &str, most: f64) -> Option<Sign> {
        let group = self.of.get(site as usize).copied().flatten()?;
        let (size, all) = (self.sizes.get(&group).copied().unwrap_or(0), self.of.len());
        let others = targets.iter().filter(|to| **to != site);
        let is_like = |to: &&u32| self.of.get(**to as usize).copied().flatten() == Some(group);
        let (linked, inside) = (others.clone().count(), others.filter(is_like).count());
        let share = inside as f64 / linked.max(1) as f64;
        // By chance a link leads to its like as often as there are such among all sites.
        let one = (all as f64 / size as f64).ln();
        let rarity = inside as f64 * one - ln_choose(linked, inside) - (all as f64).ln();
        let stands_out =
            size > LEAST && inside >= LEAST && share >= KEEPS_TO_ITSELF && rarity >= RARE;
        stands_out.then(|| {
            let evidence = format!(
                "{inside} of the {linked} sites that it links to are {what}, as {size} of {all} are"
            );
            at_most(most, Sign::measured(SignKind::Network, share, 0.3, 0.8, evidence))
        })
    }
}

/// The usual degrees among sites of the same size.
struct DegreeStatistics {
    median: usize,
    /// How far sites usually are from it, in logarithms.
    spread: f64,
    peers: usize,
}

impl DegreeStatistics {
    fn of(peers: &[(u32, usize)]) -> Self {
        let mut degrees: Vec<usize> = peers.iter().map(|(_, degree)| *degree).collect();
        degrees.sort_unstable();
        let median = degrees[degrees.len() / 2];
        let mut off: Vec<f64> =
            degrees.iter().map(|degree| (logarithm(*degree) - logarithm(median)).abs()).collect();
        off.sort_by(f64::total_cmp);
        // As a standard deviation, if distances were normal; where most are alike, a little at least.
        let spread = (1.4826 * off[off.len() / 2]).max(0.3);
        DegreeStatistics { median, spread, peers: peers.len() }
    }

    fn sign(&self, degree: usize, how: &str) -> Option<Sign> {
        let off = (logarithm(degree) - logarithm(self.median)) / self.spread;
        (off > 3.0).then(|| {
            let evidence = format!(
                "it {how} {degree} sites; of {} sites of its size half have at most {}",
                self.peers, self.median
            );
            at_most(MOST, Sign::measured(SignKind::Outlier, off, 5.0, 10.0, evidence))
        })
    }
}

fn logarithm(degree: usize) -> f64 {
    (degree as f64).ln_1p()
}

#[cfg(test)]
mod tests {
    use evercrawl_policy::SplitMix64;
    use evercrawl_rank::Repeats;

    use super::*;
    use crate::SpamVerdict;

    const SITES: u32 = 300;

    /// Sites that link to eight others at random; the last twenty link to each next six of them instead, in
    /// one direction, and all of them to site 0.
    fn web() -> Graph {
        let mut dice = SplitMix64::new(5);
        let mut links = Vec::new();
        for site in 0..SITES - 20 {
            links.extend((0..8).map(|_| (site, dice.below(SITES as usize - 20) as u32)));
        }
        for n in 0..20 {
            let site = |n: u32| SITES - 20 + n % 20;
            links.extend((1..7).map(|step| (site(n), site(n + step))));
            links.push((site(n), 0));
        }
        Graph::new(SITES, links.iter().copied(), Repeats::Once)
    }

    /// One address for the last twenty sites; others have one each, or one for all.
    fn shared(alone: bool) -> Vec<Option<u64>> {
        let of = |site: u32| if site >= SITES - 20 || !alone { 1 } else { u64::from(site) + 2 };
        (0..SITES).map(|site| Some(of(site))).collect()
    }

    fn surest(signs: &[Sign], kind: SignKind) -> f64 {
        signs.iter().filter(|sign| sign.kind == kind).map(|sign| sign.score).fold(0.0, f64::max)
    }

    fn signs(
        addresses: &[Option<u64>],
        templates: &[Option<u64>],
        trusted: &[u32],
    ) -> Vec<Vec<Sign>> {
        let (links, pages) = (web(), vec![50; SITES as usize]);
        SiteNetwork { links: &links, pages: &pages, addresses, templates, trusted }.signs()
    }

    #[test]
    fn a_ring_at_one_address_and_of_one_template_is_told_from_chance() {
        let none = vec![None; SITES as usize];
        for (addresses, templates, least, most) in [
            (shared(true), none.clone(), 0.35, MOST),
            (none.clone(), shared(true), 0.35, MOST),
            (shared(true), shared(true), 0.85, MOST_OF_BOTH),
            (shared(false), shared(false), 0.0, 0.0),
        ] {
            let signs = signs(&addresses, &templates, &[]);
            for site in 0..SITES {
                let score = surest(&signs[site as usize], SignKind::Network);
                let (least, most) = if site < SITES - 20 { (0.0, 0.0) } else { (least, most) };
                assert!((least..=most).contains(&score), "{site}: {score}");
            }
        }
        let signs = signs(&shared(true), &none, &[]);
        let words = &signs[SITES as usize - 1][0].evidence;
        assert_eq!(
            words,
            "6 of the 7 sites that it links to are at its own address, as 20 of 300 are"
        );
    }

    #[test]
    fn a_site_with_far_more_links_than_its_like_stands_out_and_no_other() {
        let mut links: Vec<(u32, u32)> = web().links().collect();
        links.extend((1..250).map(|to| (7, to)));
        let graph = Graph::new(SITES, links.iter().copied(), Repeats::Once);
        let (pages, none) = (vec![50; SITES as usize], vec![None; SITES as usize]);
        let web = SiteNetwork {
            links: &graph,
            pages: &pages,
            addresses: &none,
            templates: &none,
            trusted: &[],
        };
        let signs = web.signs();
        let found: Vec<usize> = (0..signs.len())
            .filter(|site| surest(&signs[*site], SignKind::Outlier) > 0.1)
            .collect();
        assert_eq!(found, [7], "{:?}", signs[7]);
        assert!(
            signs[7][0].evidence.starts_with("it links to 249 sites; of 300 sites"),
            "{signs:?}"
        );
    }

    #[test]
    fn what_matters_by_the_word_of_strangers_alone_is_named() {
        // Two hundred strangers who know nobody else speak for site 299.
        let strangers = (50..250).map(|site| (site, 299));
        let good = (0..50).flat_map(|site| (1..6).map(move |step| (site, (site + step) % 50)));
        let links: Vec<(u32, u32)> = good.chain(strangers).collect();
        let graph = Graph::new(300, links.iter().copied(), Repeats::Once);
        let (pages, none, trusted) = (vec![1; 300], vec![None; 300], (0..30).collect::<Vec<u32>>());
        let web = |trusted| SiteNetwork {
            links: &graph,
            pages: &pages,
            addresses: &none,
            templates: &none,
            trusted,
        };
        let signs = web(&trusted).signs();
        assert!(surest(&signs[299], SignKind::Untrusted) > 0.35, "{:?}", signs[299]);
        assert!((0..50).all(|site| surest(&signs[site], SignKind::Untrusted) < 0.1));
        assert!(
            web(&trusted[..5]).signs()[299].iter().all(|sign| sign.kind != SignKind::Untrusted)
        );
    }

    #[test]
    fn company_alone_is_never_sure() {
        let kinds = [SignKind::Network, SignKind::Outlier, SignKind::Untrusted];
        let sign = |kind| Sign { kind, score: MOST, evidence: String::new() };
        assert!(SpamVerdict::new(kinds.map(sign).to_vec()).probability < 0.9);
    }
}
