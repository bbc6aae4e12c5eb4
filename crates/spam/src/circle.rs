//! Which small groups of sites link to each other page by page, without use for readers?
//!
//! Three or four sites that exchange links are no farm by that: companies, friends and languages do so. Such
//! families link from every page to the same few pages of each other, in footers and menus, and from each page to its
//! counterpart. A farm of few sites makes up for their number: each page links to several pages of each other
//! site, and to other ones than the page before, so that all of them are lifted, and more than to its own site.

use std::collections::HashMap;

use evercrawl_rank::Graph;

use crate::farm::{Farms, LinkExchange};
use crate::sign::{Sign, SignKind};

/// The links that a page has to each partner, on average, beside what all pages link to: a counterpart is one.
const LEAST_LINKS: f64 = 2.0;
/// The share of a partner's pages that are linked to.
const LEAST_REACHED: f64 = 0.5;
/// The share of a site's pages from which on what they link to is a menu's.
const COMMON: f64 = 0.75;
/// More pages than a menu names.
const MORE_THAN_A_MENU: u32 = 30;
/// Fewer pages show no pattern.
const LEAST_PAGES: u32 = 4;

/// Finds farms of few sites; the `n`th site has the pages whose `site_of` is `n`. The result for large `farms` says
/// which of them exchange links at all.
pub fn circles(pages: &Graph, site_of: &[u32], farms: &Farms) -> Vec<Option<Sign>> {
    let exchange = farms.exchange();
    let across = CrossLinks::new(pages, site_of, exchange);
    (0..exchange.sites() as u32).map(|site| across.sign(site, exchange)).collect()
}

/// The pages of a site, in numbers.
#[derive(Clone, Copy, Default)]
struct Size {
    pages: u32,
    /// Pages whose links are known.
    read: u32,
    links: u64,
}

/// Links from one site's pages to another's.
#[derive(Clone, Copy, Default)]
struct Bundle {
    links: u64,
    /// How many different pages they lead to.
    reached: u32,
}

impl Bundle {
    fn add(&mut self, links: u64, reached: u32) {
        self.links += links;
        self.reached += reached;
    }
}

/// The links between sites that exchange links.
struct CrossLinks {
    sizes: Vec<Size>,
    /// By the two sites.
    bundles: HashMap<(u32, u32), Bundle>,
}

impl CrossLinks {
    fn new(pages: &Graph, site_of: &[u32], exchange: &LinkExchange) -> Self {
        let mut across =
            CrossLinks { sizes: sizes(pages, site_of, exchange.sites()), bundles: HashMap::new() };
        let mut menus: HashMap<(u32, u32), Bundle> = HashMap::new();
        for (to, &there) in (0..pages.nodes()).zip(site_of) {
            for (here, count) in partners_linking(pages.sources(to), site_of, there, exchange) {
                let is_common = count as f64 > COMMON * f64::from(across.size(here).read);
                let bundles = if is_common { &mut menus } else { &mut across.bundles };
                bundles.entry((here, there)).or_default().add(count, 1);
            }
        }
        for (pair, menu) in menus.into_iter().filter(|(_, menu)| menu.reached >= MORE_THAN_A_MENU) {
            across.bundles.entry(pair).or_default().add(menu.links, menu.reached);
        }
        across
    }

    fn size(&self, site: u32) -> Size {
        self.sizes.get(site as usize).copied().unwrap_or_default()
    }

    /// Whether the pages of one site have several links each to those of another, and to most of them.
    fn is_dense(&self, here: u32, there: u32) -> bool {
        let Some(bundle) = self.bundles.get(&(here, there)) else { return false };
        let (read, pages) = (self.size(here).read, self.size(there).pages);
        let each = bundle.links as f64 / f64::from(read);
        let reached = f64::from(bundle.reached) / f64::from(pages);
        read >= LEAST_PAGES && each >= LEAST_LINKS && reached >= LEAST_REACHED
    }

    fn are_bound(&self, a: u32, b: u32) -> bool {
        self.is_dense(a, b) && self.is_dense(b, a)
    }

    /// Partners that a site is bound to, and that are bound to each other: two at least.
    fn circle(&self, site: u32, exchange: &LinkExchange) -> Vec<u32> {
        let mut bound = exchange.partners_of(site).to_vec();
        bound.retain(|&other| self.are_bound(site, other));
        let knows_another = |&&a: &&u32| bound.iter().any(|&b| a != b && self.are_bound(a, b));
        bound.iter().filter(knows_another).copied().collect()
    }

    fn sign(&self, site: u32, exchange: &LinkExchange) -> Option<Sign> {
        let circle = self.circle(site, exchange);
        let links =
            |&other: &u32| self.bundles.get(&(site, other)).map_or(0, |bundle| bundle.links);
        let (inside, size) = (circle.iter().map(links).sum::<u64>(), self.size(site));
        let share = inside as f64 / size.links.max(1) as f64;
        let evidence = format!(
            "{inside} of the {} links on its {} pages lead to {} sites whose pages link back to it and to each other \
             as densely",
            size.links,
            size.read,
            circle.len()
        );
        (!circle.is_empty()).then(|| Sign::measured(SignKind::Farm, share, 0.15, 0.4, evidence))
    }
}

/// Which partners of a site some pages belong to, and how many of them to each.
fn partners_linking(
    pages: &[u32],
    site_of: &[u32],
    site: u32,
    exchange: &LinkExchange,
) -> Vec<(u32, u64)> {
    let sites = pages.iter().filter_map(|&page| site_of.get(page as usize).copied());
    let mut sites: Vec<u32> = sites.filter(|&from| exchange.are_partners(site, from)).collect();
    sites.sort_unstable();
    sites.chunk_by(|a, b| a == b).map(|alike| (alike[0], alike.len() as u64)).collect()
}

fn sizes(pages: &Graph, site_of: &[u32], sites: usize) -> Vec<Size> {
    let mut sizes = vec![Size::default(); sites];
    for (page, site) in (0..pages.nodes()).zip(site_of) {
        let Some(size) = sizes.get_mut(*site as usize) else { continue };
        size.pages += 1;
        size.read += u32::from(pages.out_degree(page) > 0);
        size.links += u64::from(pages.out_degree(page));
    }
    sizes
}

#[cfg(test)]
mod tests {
    use evercrawl_policy::SplitMix64;
    use evercrawl_rank::Repeats;

    use super::*;
    use crate::farm::farms;

    const SITES: u32 = 60;
    const PAGES: u32 = 20;

    /// Sixty sites whose pages link to six of their own and to one anywhere; those of the first `ring` sites also to
    /// the pages `across` of each other site of the ring.
    fn surest(ring: u32, across: impl Fn(u32, &mut SplitMix64) -> Vec<u32>) -> Scores {
        let mut dice = SplitMix64::new(u64::from(ring));
        let mut links = Vec::new();
        for page in 0..SITES * PAGES {
            let (site, number) = (page / PAGES, page % PAGES);
            links.extend((1..=6).map(|step| (page, site * PAGES + (number + step) % PAGES)));
            links.push((page, dice.below((SITES * PAGES) as usize) as u32));
            for other in (0..ring).filter(|&other| site < ring && other != site) {
                let there = across(number, &mut dice);
                links.extend(there.into_iter().map(|to| (page, other * PAGES + to)));
            }
        }
        let pages = Graph::new(SITES * PAGES, links.iter().copied(), Repeats::Once);
        let site_of: Vec<u32> = (0..SITES * PAGES).map(|page| page / PAGES).collect();
        let sites = pages.grouped(&site_of, SITES, Repeats::Once);
        let signs = circles(&pages, &site_of, &farms(&sites));
        let score = |sign: &Option<Sign>| sign.as_ref().map_or(0.0, |sign| sign.score);
        let (ring, others) = signs.split_at(ring as usize);
        Scores {
            least: ring.iter().map(score).fold(1.0, f64::min),
            most: ring.iter().map(score).fold(0.0, f64::max),
            others: others.iter().map(score).fold(0.0, f64::max),
        }
    }

    /// How sure it is that the sites of the ring are a farm, at least and at most, and the surest other.
    #[derive(Debug)]
    struct Scores {
        least: f64,
        most: f64,
        others: f64,
    }

    fn some(count: usize, dice: &mut SplitMix64) -> Vec<u32> {
        (0..count).map(|_| dice.below(PAGES as usize) as u32).collect()
    }

    #[test]
    fn three_or_four_sites_that_link_page_by_page_are_a_farm() {
        for (sites, each) in [(3, 5), (4, 4), (3, 12), (4, 10)] {
            let found = surest(sites, |_, dice| some(each, dice));
            assert!(found.least > 0.9 && found.others == 0.0, "{sites} by {each}: {found:?}");
        }
    }

    #[test]
    fn families_are_no_farm() {
        type Across<'a> = &'a dyn Fn(u32, &mut SplitMix64) -> Vec<u32>;
        let cases: [(&str, u32, Across<'_>); 9] = [
            ("footers", 3, &|_, _| vec![0]),
            ("footers of four", 4, &|_, _| vec![0, 1]),
            ("a common menu", 3, &|_, _| (0..5).collect()),
            ("a common menu of half a site", 4, &|_, _| (0..10).collect()),
            ("languages", 4, &|page, _| vec![page]),
            ("languages and fronts", 3, &|page, _| vec![0, page]),
            ("a common menu on some pages", 3, &|page, _| {
                if page % 5 == 0 { vec![0] } else { (0..15).collect() }
            }),
            ("languages with a common menu", 4, &|page, _| vec![0, 1, 2, 3, 4, page]),
            ("two friends", 2, &|_, dice| some(8, dice)),
        ];
        for (what, sites, across) in cases {
            let found = surest(sites, across);
            assert!(found.most.max(found.others) < 0.1, "{what}: {found:?}");
        }
    }

    #[test]
    fn a_network_that_shows_some_of_its_other_pages_beside_its_own_is_no_farm() {
        // One of each other site's pages, beside a common menu.
        let found = surest(3, |_, dice| [some(1, dice), vec![0, 1, 2]].concat());
        assert!(found.most < 0.5, "{found:?}");
    }

    #[test]
    fn evidence_is_in_words() {
        // Every page links to the next of its own site and to the next three of the two others.
        let next = |page: u32, step: u32| (page % 8 + step) % 8;
        let own = (0..24).map(|page| (page, page / 8 * 8 + next(page, 1)));
        let across = (0..24).flat_map(|page| {
            let others = (0..3).filter(move |site| *site != page / 8);
            others.flat_map(move |site| (1..4).map(move |step| (page, site * 8 + next(page, step))))
        });
        let links: Vec<(u32, u32)> = own.chain(across).collect();
        let pages = Graph::new(24, links.iter().copied(), Repeats::Once);
        let site_of: Vec<u32> = (0..24).map(|page| page / 8).collect();
        let signs = circles(&pages, &site_of, &farms(&pages.grouped(&site_of, 3, Repeats::Once)));
        let words = signs[0].as_ref().map_or("", |sign| sign.evidence.as_str());
        let want = "48 of the 56 links on its 8 pages lead to 2 sites whose pages link back to it";
        assert!(words.starts_with(want), "{words}");
    }
}
