//! Where does a page link to? Asked alike by whoever writes the page and by whoever computes what can be reached.

use super::bytes::{push, push_hex, push_number};
use super::dice::{Dice, Topic};
use super::{Fate, Host, Page, Spam, Trap, World};

/// A link as it stands on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) target: Target,
    pub(crate) nofollow: bool,
}

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Page(Page),
    /// A former URL of a page, so many redirects away from it.
    Former(Page, u8),
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
    pub(crate) fn links(&self, host: &Host, page: Page, at_ms: u64, out: &mut Vec<Link>) {
        out.clear();
        out.push(follow(Target::Page(Page::first(host.id, 0))));
        if self.parent(page.slot) != 0 {
            out.push(follow(Target::Page(Page::first(host.id, self.parent(page.slot)))));
        }
        let tenants = self.children(page.slot).filter_map(|slot| self.tenant(host.id, slot, at_ms));
        out.extend(tenants.filter_map(|child| self.link_to(host, child)));
        let mut dice =
            Dice::new(self.config.seed, Topic::Links, page.key(), u64::from(page.generation));
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
            out.push(follow(Target::Trap(entrance)));
        }
    }

    /// Appends the URL of a link, as a page of that host would write it.
    pub(crate) fn push_href(
        &self,
        out: &mut Vec<u8>,
        host: &Host,
        target: Target,
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

    fn push_target(&self, out: &mut Vec<u8>, host: &Host, target: Target) {
        match target {
            Target::Page(page) => self.push_path(out, host, page),
            Target::Former(page, hops) => self.push_former_path(out, host, page, hops),
            Target::Nowhere(directory, number) => {
                push(out, directory);
                push_number(out, u64::from(number));
            }
            Target::Trap(entrance) => push(out, entrance),
        }
    }

    /// Appends the URL that a page had so many moves ago.
    pub(crate) fn push_former_path(&self, out: &mut Vec<u8>, host: &Host, page: Page, hops: u8) {
        if hops > 0 {
            push(out, "/moved/");
            push_number(out, u64::from(hops));
        }
        self.push_path(out, host, page);
    }

    /// Links to a page in the way its fate demands; to orphans, not at all.
    pub(crate) fn link_to(&self, host: &Host, page: Page) -> Option<Link> {
        match self.fate(host, page.slot) {
            Fate::Orphan => None,
            Fate::NoFollow => Some(Link { target: Target::Page(page), nofollow: true }),
            Fate::Moved(hops) => Some(follow(Target::Former(page, hops))),
            _ => Some(follow(Target::Page(page))),
        }
    }

    /// Adds links across the host's tree. Mortal pages are listed by their section only, so that no other page changes when
    /// they come and go.
    fn add_extra_links(&self, host: &Host, dice: &mut Dice, out: &mut Vec<Link>) {
        for _ in 0..self.config.extra_links {
            let slot = dice.below(u64::from(self.config.pages)) as u32;
            if self.cycle(host.id, slot).is_none() {
                let link = self.link_to(host, Page::first(host.id, slot));
                out.extend(link.filter(|link| !out.contains(link)));
            }
        }
    }

    fn add_external_links(&self, host: &Host, dice: &mut Dice, out: &mut Vec<Link>) {
        let mean = self.config.external_links;
        let count = mean as u64 + u64::from(dice.chance(mean.fract()));
        for _ in 0..count {
            let id = dice.below(u64::from(self.config.hosts)) as u32;
            let deep = dice.chance(0.5);
            let slot = dice.below(u64::from(self.config.pages)) as u32;
            let slot = if deep && self.cycle(id, slot).is_none() { slot } else { 0 };
            if id != host.id {
                let link = self.link_to(&self.host(id), Page::first(id, slot));
                out.extend(link.filter(|link| !out.contains(link)));
            }
        }
    }
}

pub(crate) fn follow(target: Target) -> Link {
    Link { target, nofollow: false }
}

fn target_host(target: Target) -> Option<u32> {
    match target {
        Target::Page(page) | Target::Former(page, _) => Some(page.host),
        Target::Nowhere(..) | Target::Trap(_) => None,
    }
}

fn draw_nowhere(dice: &mut Dice) -> Target {
    let number = dice.below(10_000) as u32;
    let kinds = [(0.3, Target::Nowhere("/gone/", number)), (0.2, Target::Nowhere("/loop/", 1))];
    dice.pick(&kinds, Target::Nowhere("/missing/", number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn links_of(world: &World, page: Page) -> Vec<Link> {
        let mut links = Vec::new();
        world.links(&world.host(page.host), page, world.config().origin_ms, &mut links);
        links
    }

    #[test]
    fn links_are_distinct_and_never_lead_to_orphans() {
        let world = World::new(Config::wild());
        for page in (0..100).flat_map(|host| (0..50).map(move |slot| Page::first(host, slot))) {
            let links = links_of(&world, page);
            for (index, link) in links.iter().enumerate() {
                assert!(!links[..index].contains(link), "{page:?} {link:?}");
                if let Target::Page(to) = link.target {
                    assert_ne!(world.fate(&world.host(to.host), to.slot), Fate::Orphan);
                }
            }
        }
    }

    #[test]
    fn the_bench_preset_has_the_measured_number_of_distinct_links() {
        let world = World::new(Config::bench());
        let on_host = |page: Page| {
            links_of(&world, page)
                .iter()
                .filter(|link| target_host(link.target) == Some(page.host))
                .count()
        };
        let mean =
            (0..1_000).map(|slot| on_host(Page::first(1, slot))).sum::<usize>() as f64 / 1_000.0;
        assert!((14.0..17.0).contains(&mean), "{mean}");
    }
}
