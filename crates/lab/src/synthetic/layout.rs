//! Which page lies where, and links to what?
//!
//! Pages of a host follow each other, and those of a directory. The first page of a directory is its
//! hub: it lists the others. The first hub of a host is its root: it lists the hubs. Pages that are
//! born later come last, by birth, and lie where there are pages already.

use evercrawl_policy::Days;

use super::spec::WorldSpec;
use crate::NO_KIN;
use crate::dice::{Dice, Purpose};

/// Directories that share the first part of their path.
const DIRECTORIES_A_SECTION: u32 = 8;

/// Where all pages lie.
pub(super) struct SiteLayout {
    /// The first page of each host, and the end of the last.
    hosts: Vec<u32>,
    directories: u32,
    linked: bool,
    newborns: Vec<Newborn>,
}

/// Where a page lies.
pub(super) struct PageSpot {
    pub(super) host: u32,
    pub(super) directory: u32,
    pub(super) hub: bool,
    pub(super) kin: [u32; 3],
    /// When it comes to be, if later than the start.
    pub(super) born: Option<f32>,
    /// Its class, if fixed.
    pub(super) class: Option<usize>,
}

struct Newborn {
    at: f32,
    class: usize,
    /// An initial page, next to which it is placed.
    beside: u32,
}

impl SiteLayout {
    pub(super) fn new(spec: &WorldSpec, seed: u64, start: Days, end: Days) -> Self {
        SiteLayout {
            hosts: host_bounds(spec.pages, spec.hosts, spec.host_skew),
            directories: spec.directories,
            linked: spec.links > 0,
            newborns: newborns(spec, seed, start, end),
        }
    }

    /// How many pages there are.
    pub(super) fn len(&self) -> usize {
        self.at_start() as usize + self.newborns.len()
    }

    /// All pages by number.
    pub(super) fn spots(&self) -> impl Iterator<Item = (u32, PageSpot)> + '_ {
        let first = (0..self.at_start()).map(|page| self.spot(page));
        let later = self.newborns.iter().map(|newborn| PageSpot {
            hub: false,
            born: Some(newborn.at),
            class: Some(newborn.class),
            kin: self.kin(newborn.beside, false),
            ..self.spot(newborn.beside)
        });
        (0..).zip(first.chain(later))
    }

    /// The root of each host.
    pub(super) fn roots(&self) -> Vec<u32> {
        self.hosts[..self.hosts.len() - 1].to_vec()
    }

    /// Hubs to members and back, the root to hubs and back, and `each` from every page to others of
    /// its host.
    pub(super) fn links(&self, each: u32, seed: u64) -> Vec<(u32, u32)> {
        let dice = Dice::new(seed, Purpose::Links);
        let mut links = Vec::new();
        for (page, spot) in self.spots().filter(|_| each > 0) {
            let hub = spot.kin[1];
            if hub != NO_KIN {
                links.extend([(hub, page), (page, hub)]);
            }
            let (first, end) = self.host(spot.host);
            let mut random = dice.roll(page.into());
            let mut target = || first + random.below((end - first) as usize) as u32;
            links.extend((0..each).map(|_| (page, target())));
        }
        links
    }

    fn at_start(&self) -> u32 {
        self.hosts.last().copied().unwrap_or_default()
    }

    fn host(&self, host: u32) -> (u32, u32) {
        (self.hosts[host as usize], self.hosts[host as usize + 1])
    }

    fn spot(&self, page: u32) -> PageSpot {
        let (host, directory, hub_page) = self.place(page);
        let hub = hub_page == page;
        PageSpot { host, directory, hub, kin: self.kin(page, hub), born: None, class: None }
    }

    /// Host, directory and hub of a page of the start.
    fn place(&self, page: u32) -> (u32, u32, u32) {
        let host = self.hosts.partition_point(|&first| first <= page) as u32 - 1;
        let (first, end) = self.host(host);
        let (size, offset) = (u64::from(end - first), u64::from(page - first));
        let count = u64::from(self.directories).min(size);
        let directory = offset * count / size;
        let hub = first + (directory * size).div_ceil(count) as u32;
        (host, host * self.directories + directory as u32, hub)
    }

    /// Section, hub and base. A hub is listed by the root; nothing is translated.
    fn kin(&self, page: u32, hub: bool) -> [u32; 3] {
        let (host, directory, hub_page) = self.place(page);
        let sections = self.directories.div_ceil(DIRECTORIES_A_SECTION);
        let section = host * sections + (directory % self.directories) / DIRECTORIES_A_SECTION;
        let root = self.host(host).0;
        let listed_by = if !hub { hub_page } else { root };
        let listed = self.linked && (!hub || page != root);
        [section, if listed { listed_by } else { NO_KIN }, NO_KIN]
    }
}

/// Where hosts begin: the n-th has pages in proportion to n^-skew, and at least one.
fn host_bounds(pages: u32, hosts: u32, skew: f64) -> Vec<u32> {
    let size = |host: u32| f64::from(host + 1).powf(-skew);
    let total: f64 = (0..hosts).map(size).sum();
    let spare = f64::from(pages - hosts.min(pages));
    let mut bounds = vec![0];
    let mut sum = 0.0;
    for host in 0..hosts {
        sum += size(host);
        bounds.push(host + 1 + (spare * sum / total).round() as u32);
    }
    bounds
}

/// The pages of each class that come to be between two moments, by birth.
fn newborns(spec: &WorldSpec, seed: u64, start: Days, end: Days) -> Vec<Newborn> {
    let mut random = Dice::new(seed, Purpose::Place).roll(0);
    let weeks = (end - start) / 7.0;
    let ordinary: f64 = spec.classes.iter().filter(|c| !c.hubs).map(|c| c.share).sum();
    let mut list = Vec::new();
    for (class, kind) in spec.classes.iter().enumerate() {
        let share = kind.share / ordinary;
        let count = (f64::from(spec.pages) * share * kind.births * weeks).round() as u64;
        list.extend((0..count).map(|_| Newborn {
            at: (start + (end - start) * random.uniform()) as f32,
            class,
            beside: random.below(spec.pages as usize) as u32,
        }));
    }
    list.sort_by(|a, b| a.at.total_cmp(&b.at));
    list
}
