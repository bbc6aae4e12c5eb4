//! Where does a page link to? The same answer serves those who write the page and those who compute reachability.

use super::bytes::{push, push_hex, push_number};
use super::dice::{DicePurpose, WorldDice};
use super::{Fate, Host, PageId, Spam, Trap, World};

/// A link as it stands on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageLink {
    pub(crate) target: LinkTarget,
    pub(crate) nofollow: bool,
}

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    Page(PageId),
    /// A former URL of a page, so many redirects away from it.
    Former(PageId, u8),
    /// A numbered place on the page's own host where there is no page: missing, gone, or an endless redirect.
    Nowhere(&'static str, u32),
    /// The entrance of the host's trap.
    Trap(&'static str),
}

/// How links are to be written: on which port, and within the host with which session id.
#[derive(Clone, Copy)]
pub(crate) struct LinkStyle {
    pub(crate) port: u16,
    pub(crate) session: Option<u64>,
}

impl World {
    /// Collects the distinct links of a page at a moment. Where bytes are copied, ask about the original.
    pub(crate) fn links(&self, host: &Host, page: PageId, at_ms: u64, out: &mut Vec<PageLink>) {
        out.clear();
        out.push(follow(LinkTarget::Page(PageId::first(host.id, 0))));
        if self.parent(page.slot) != 0 {
            out.push(follow(LinkTarget::Page(PageId::first(host.id, self.parent(page.slot)))));
        }
        let tenants = self.children(page.slot).filter_map(|slot| self.tenant(host.id, slot, at_ms));
        out.extend(tenants.filter_map(|child| self.link_to(host, child)));
        let mut dice = WorldDice::new(
            self.config.seed,
            DicePurpose::Links,
            page.key(),
            u64::from(page.generation),
        );
        self.add_extra_links(host, &mut dice, out);
        self.add_external_links(host, &mut dice, out);
        if host.spam == Some(Spam::Farm) && self.ring(host.id).is_none() {
            self.add_farm_links(host, out);
        }
        self.add_ring_links(host, page, out);
        if dice.chance(self.config.page_shares.broken_link) {
            out.push(follow(draw_nowhere(&mut dice)));
        }
        if let Some(entrance) =
            host.trap.and_then(Trap::entrance).filter(|_| self.is_section(page.slot))
        {
            out.push(follow(LinkTarget::Trap(entrance)));
        }
    }

    /// Appends the URL of a link, as a page of that host would write it.
    pub(crate) fn push_href(
        &self,
        out: &mut Vec<u8>,
        host: &Host,
        target: LinkTarget,
        style: LinkStyle,
    ) {
        let elsewhere = target_host(target).filter(|&id| id != host.id).map(|id| self.host(id));
        if elsewhere.is_some() || host.absolute_links {
            self.push_base(out, elsewhere.map_or(host.id, |host| host.id), style.port);
        }
        let path_at = out.len();
        self.push_target(out, elsewhere.as_ref().unwrap_or(host), target);
        if let (Some(id), None) = (style.session, elsewhere) {
            push(out, if out[path_at..].contains(&b'?') { "&sid=" } else { "?sid=" });
            push_hex(out, id);
        }
    }

    fn push_target(&self, out: &mut Vec<u8>, host: &Host, target: LinkTarget) {
        match target {
            LinkTarget::Page(page) => self.push_path(out, host, page),
            LinkTarget::Former(page, hops) => self.push_former_path(out, host, page, hops),
            LinkTarget::Nowhere(directory, number) => {
                push(out, directory);
                push_number(out, u64::from(number));
            }
            LinkTarget::Trap(entrance) => push(out, entrance),
        }
    }

    /// Appends the URL that a page had this many moves ago.
    pub(crate) fn push_former_path(&self, out: &mut Vec<u8>, host: &Host, page: PageId, hops: u8) {
        if hops > 0 {
            push(out, "/moved/");
            push_number(out, u64::from(hops));
        }
        self.push_path(out, host, page);
    }

    /// Links to a page in the way its fate demands; to orphans, not at all.
    pub(crate) fn link_to(&self, host: &Host, page: PageId) -> Option<PageLink> {
        match self.fate(host, page.slot) {
            Fate::Orphan => None,
            Fate::NoFollow => Some(PageLink { target: LinkTarget::Page(page), nofollow: true }),
            Fate::Moved(hops) => Some(follow(LinkTarget::Former(page, hops))),
            _ => Some(follow(LinkTarget::Page(page))),
        }
    }

    /// Adds links across the host's tree. Mortal pages are listed by their section only, so that no other page changes
    /// when
    /// they come and go.
    fn add_extra_links(&self, host: &Host, dice: &mut WorldDice, out: &mut Vec<PageLink>) {
        for _ in 0..self.config.extra_links {
            let slot = dice.below(u64::from(self.config.pages)) as u32;
            if self.cycle(host.id, slot).is_none() {
                let link = self.link_to(host, PageId::first(host.id, slot));
                out.extend(link.filter(|link| !out.contains(link)));
            }
        }
    }

    fn add_external_links(&self, host: &Host, dice: &mut WorldDice, out: &mut Vec<PageLink>) {
        let mean = self.config.external_links;
        let count = mean as u64 + u64::from(dice.chance(mean.fract()));
        for _ in 0..count {
            let id = dice.below(u64::from(self.config.hosts)) as u32;
            let deep = dice.chance(0.5);
            let slot = dice.below(u64::from(self.config.pages)) as u32;
            let slot = if deep && self.cycle(id, slot).is_none() { slot } else { 0 };
            if id != host.id {
                let link = self.link_to(&self.host(id), PageId::first(id, slot));
                out.extend(link.filter(|link| !out.contains(link)));
            }
        }
    }
}

pub(crate) fn follow(target: LinkTarget) -> PageLink {
    PageLink { target, nofollow: false }
}

fn target_host(target: LinkTarget) -> Option<u32> {
    match target {
        LinkTarget::Page(page) | LinkTarget::Former(page, _) => Some(page.host),
        LinkTarget::Nowhere(..) | LinkTarget::Trap(_) => None,
    }
}

fn draw_nowhere(dice: &mut WorldDice) -> LinkTarget {
    let number = dice.below(10_000) as u32;
    let kinds =
        [(0.3, LinkTarget::Nowhere("/gone/", number)), (0.2, LinkTarget::Nowhere("/loop/", 1))];
    dice.pick(&kinds, LinkTarget::Nowhere("/missing/", number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldConfig;

    fn links_of(world: &World, page: PageId) -> Vec<PageLink> {
        let mut links = Vec::new();
        world.links(&world.host(page.host), page, world.config().origin_ms, &mut links);
        links
    }

    #[test]
    fn links_are_distinct_and_never_lead_to_orphans() {
        let world = World::new(WorldConfig::wild());
        for page in (0..100).flat_map(|host| (0..50).map(move |slot| PageId::first(host, slot))) {
            let links = links_of(&world, page);
            for (index, link) in links.iter().enumerate() {
                assert!(!links[..index].contains(link), "{page:?} {link:?}");
                if let LinkTarget::Page(to) = link.target {
                    assert_ne!(world.fate(&world.host(to.host), to.slot), Fate::Orphan);
                }
            }
        }
    }

    #[test]
    fn the_bench_preset_has_the_measured_number_of_distinct_links() {
        let world = World::new(WorldConfig::bench());
        let on_host = |page: PageId| {
            links_of(&world, page)
                .iter()
                .filter(|link| target_host(link.target) == Some(page.host))
                .count()
        };
        let mean =
            (0..1_000).map(|slot| on_host(PageId::first(1, slot))).sum::<usize>() as f64 / 1_000.0;
        assert!((14.0..17.0).contains(&mean), "{mean}");
    }
}
