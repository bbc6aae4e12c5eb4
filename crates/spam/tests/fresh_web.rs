//! On a web with truth, from a seed that nothing was tuned to: is spam found, and nothing else?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use evercrawl_rank::{Graph, Repeats};
use evercrawl_spam::{Kind, Look, Sample, Site, Verdict, farms, mirrors, page_signs};
use evercrawl_testweb::{Answer, Config, Page, Request, Spam, World};

/// Measures were set with good pages and other seeds.
const FRESH: u64 = 15_485_863;
/// Pages looked at of every host.
const PAGES: u32 = 6;

/// What is known of a host after a few of its pages.
struct Seen {
    looks: Vec<(String, Look)>,
    site: Site,
    sample: Sample,
    links: Vec<(u32, u32)>,
}

fn see(world: &World, host: u32) -> Seen {
    let mut seen = Seen {
        looks: Vec::new(),
        site: Site::default(),
        sample: Sample::default(),
        links: Vec::new(),
    };
    for slot in 0..PAGES {
        let page = Page::first(host, slot);
        let (url, path, body) = (world.url(page), world.path(page), body(world, page));
        let look = Look::of_html(&body);
        seen.site.add(&url, &look);
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        seen.sample.add(&path, hasher.finish());
        let targets = body
            .split("href=\"")
            .skip(1)
            .filter_map(|rest| world.find(rest.split('"').next()?).map(|page| page.host));
        seen.links.extend(targets.map(|to| (host, to)));
        seen.looks.push((url, look));
    }
    seen
}

fn body(world: &World, page: Page) -> String {
    let mut answer = Answer::new();
    let (authority, target) = (world.host_name(page.host), world.path(page));
    let request = Request { authority: &authority, target: &target, ..Request::default() };
    world.answer(&request, world.config().origin_ms + 1, 1, &mut answer);
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// Right, missed and wrong, by kind.
#[derive(Debug, Default)]
struct Tally {
    right: f64,
    missed: f64,
    wrong: f64,
}

impl Tally {
    fn recall(&self) -> f64 {
        self.right / (self.right + self.missed)
    }

    fn precision(&self) -> f64 {
        self.right / (self.right + self.wrong)
    }

    fn count(&mut self, is: bool, found: bool) {
        match (is, found) {
            (true, true) => self.right += 1.0,
            (true, false) => self.missed += 1.0,
            (false, true) => self.wrong += 1.0,
            (false, false) => {}
        }
    }
}

/// Every kind of page spam, and the signs that tell it.
const SIGNS: [(Spam, &[Kind]); 4] = [
    (Spam::Farm, &[Kind::Farm]),
    (Spam::Stuffed, &[Kind::Stuffed, Kind::Hidden]),
    (Spam::Doorway, &[Kind::Doorway]),
    (Spam::Parked, &[Kind::Parked]),
];

fn count_pages(world: &World, seen: &[Seen], tallies: &mut BTreeMap<Spam, Tally>) {
    let links: Vec<(u32, u32)> = seen.iter().flat_map(|seen| seen.links.iter().copied()).collect();
    let farms = farms(&Graph::new(world.config().hosts, links.iter().copied(), Repeats::Once));
    for (host, seen) in (0..).zip(seen) {
        let mut shared = seen.site.signs();
        shared.extend(farms.sign(host).cloned());
        for (url, look) in &seen.looks {
            let mut signs = page_signs(url, look);
            signs.extend(shared.iter().cloned());
            for (spam, kinds) in SIGNS {
                let of_kind = signs.iter().filter(|sign| kinds.contains(&sign.kind)).cloned();
                let found = Verdict::new(of_kind.collect()).probability >= 0.5;
                tallies.entry(spam).or_default().count(world.spam(host) == Some(spam), found);
            }
        }
    }
}

/// A host is a mirror if an earlier one has the same pages; it must be named as one of the same.
fn count_mirrors(world: &World, seen: Vec<Seen>, tally: &mut Tally) {
    let samples: Vec<Sample> = seen.into_iter().map(|seen| seen.sample).collect();
    let found = mirrors(&samples, 0.8);
    let origin = |host: u32| world.mirrored(host).unwrap_or(host);
    for host in 0..world.config().hosts {
        let is = (0..host).any(|earlier| origin(earlier) == origin(host));
        let named = found.iter().find(|mirror| mirror.host == host as usize);
        let right = named.is_some_and(|mirror| origin(mirror.of as u32) == origin(host));
        tally.count(is, if is { right } else { named.is_some() });
    }
}

#[test]
fn every_kind_is_found_nine_times_of_ten_and_seldom_where_it_is_not() {
    let world = World::new(Config { seed: FRESH, hosts: 240, ..Config::spam() });
    let seen: Vec<Seen> = (0..world.config().hosts).map(|host| see(&world, host)).collect();
    let mut tallies: BTreeMap<Spam, Tally> = BTreeMap::new();
    count_pages(&world, &seen, &mut tallies);
    count_mirrors(&world, seen, tallies.entry(Spam::Mirror).or_default());
    for (spam, tally) in &tallies {
        let (recall, precision) = (tally.recall(), tally.precision());
        println!("{spam:?}: recall {recall:.3}, precision {precision:.3}, {tally:?}");
    }
    for (spam, tally) in &tallies {
        assert!(tally.recall() >= 0.9 && tally.precision() >= 0.95, "{spam:?}: {tally:?}");
    }
}
