//! Which pages only lead to another host, by their answer? Those of some doorways, and of hosts that have moved.

use super::bytes::{push, push_number};
use super::spam::SpamTopic;
use super::{Host, PageId, Spam, World, WorldAnswer};

/// Where a page leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RedirectManner {
    pub(crate) status: u16,
    pub(crate) to: PageId,
    /// Whether the address says which page was asked for.
    names_source: bool,
}

/// How a doorway leads on without showing anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Manner {
    status: u16,
    /// Whether pages that list others do so too; then a sitemap lists them.
    everywhere: bool,
    names_source: bool,
}

impl World {
    /// The host that a host has moved to as a whole: one that does not pretend.
    pub(crate) fn moved_to(&self, host: u32) -> Option<u32> {
        let moved = self.config.host_shares.moved;
        // Nothing is drawn where no host moves: hosts are asked about for every link.
        let drawn = moved > 0.0 && self.spam_dice(host, SpamTopic::Moved).chance(moved);
        let is_home = |host: u32| self.drawn_spam(host).is_none() && self.ring(host).is_none();
        if !drawn || !is_home(host) {
            return None;
        }
        let dice = &mut self.spam_dice(host, SpamTopic::Home);
        let others = (0..16).map(|_| dice.below(u64::from(self.config.hosts)) as u32);
        let stays = |other: u32| !self.spam_dice(other, SpamTopic::Moved).chance(moved);
        others.into_iter().find(|&other| other != host && is_home(other) && stays(other))
    }

    /// Where a page leads, where that is all it does.
    pub(crate) fn leading(&self, host: &Host, page: PageId) -> Option<RedirectManner> {
        if let Some(home) = self.moved_to(host.id) {
            let to = PageId { host: home, ..page };
            return Some(RedirectManner { status: 301, to, names_source: false });
        }
        let manner = self.manner(host.id)?;
        let leads = manner.everywhere || !self.is_section(page.slot);
        let Manner { status, names_source, .. } = manner;
        let to = PageId::first(self.beyond(host.id), 0);
        leads.then_some(RedirectManner { status, to, names_source })
    }

    /// Whether a doorway's pages answer with another address; then those that list them are as good as any.
    pub(crate) fn leads_by_answer(&self, host: u32) -> bool {
        self.manner(host).is_some()
    }

    /// Whether a sitemap lists what leads elsewhere: nothing else could.
    pub(crate) fn lists_doors(&self, host: u32) -> bool {
        self.manner(host).is_some_and(|manner| manner.everywhere)
    }

    /// The host that a doorway is a door to.
    pub(crate) fn beyond(&self, host: u32) -> u32 {
        let other =
            self.spam_dice(host, SpamTopic::Beyond).below(u64::from(self.config.hosts)) as u32;
        if other == host { (other + 1) % self.config.hosts } else { other }
    }

    fn manner(&self, host: u32) -> Option<Manner> {
        if self.drawn_spam(host) != Some(Spam::Doorway) {
            return None;
        }
        let dice = &mut self.spam_dice(host, SpamTopic::Manner);
        dice.chance(0.5).then(|| Manner {
            status: [301, 302, 307][dice.below(3) as usize],
            everywhere: dice.chance(0.5),
            names_source: dice.chance(0.5),
        })
    }

    /// Answers for a page that leads elsewhere.
    pub(crate) fn lead(
        &self,
        page: PageId,
        leading: RedirectManner,
        port: u16,
        answer: &mut WorldAnswer,
    ) {
        answer.set_status(leading.status, "Elsewhere.");
        push(&mut answer.headers, "Location: ");
        self.push_base(&mut answer.headers, leading.to.host, port);
        self.push_path(&mut answer.headers, &self.host(leading.to.host), leading.to);
        if leading.names_source {
            push(&mut answer.headers, "?from=");
            push_number(&mut answer.headers, u64::from(page.slot));
        }
        push(&mut answer.headers, "\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{WorldConfig, WorldRequest};

    fn answer(world: &World, page: PageId) -> WorldAnswer {
        let mut answer = WorldAnswer::new();
        let (authority, target) = (world.host_name(page.host), world.path(page));
        let request =
            WorldRequest { authority: &authority, target: &target, ..WorldRequest::default() };
        world.answer(&request, world.config().origin_ms + 1, 1, &mut answer);
        answer
    }

    fn location(world: &World, page: PageId) -> Option<(u16, String)> {
        let answer = answer(world, page);
        answer.header("location").map(|to| (answer.status, to.to_owned()))
    }

    /// The head of what a page shows.
    fn head(world: &World, page: PageId) -> String {
        let body = String::from_utf8_lossy(&answer(world, page).body).into_owned();
        body.split("</head>").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_host_that_moved_keeps_its_paths_and_a_doorway_leads_to_one_place() {
        let world = World::new(WorldConfig::spam());
        let (mut moved, mut doors, mut bare) = (0, 0, 0);
        for host in 0..world.config().hosts {
            let led: Vec<(PageId, (u16, String))> = (0..world.config().pages)
                .map(|slot| PageId::first(host, slot))
                .filter_map(|page| Some((page, location(&world, page)?)))
                .collect();
            if let Some(home) = world.moved_to(host) {
                moved += 1;
                assert_eq!((world.spam(host), led.len() as u32), (None, world.config().pages));
                for (page, (status, to)) in led {
                    let there = format!("http://{}{}", world.host_name(home), world.path(page));
                    assert_eq!((status, to), (301, there));
                }
            } else if !led.is_empty() {
                doors += 1;
                bare += u32::from(led.len() as u32 == world.config().pages);
                assert_eq!(world.spam(host), Some(Spam::Doorway));
                assert!(led.len() as u32 > world.config().pages * 2 / 3, "{led:?}");
                let front = format!("http://{}/", world.host_name(world.beyond(host)));
                assert!(
                    !head(&world, PageId::first(host, 0)).contains(&front),
                    "lists do not send on too"
                );
                assert!(led.iter().all(|(_, (_, to))| to.split('?').next() == Some(&front)));
            }
        }
        assert!(moved >= 5 && doors >= 5 && bare >= 2, "{moved} {doors} {bare}");
    }

    #[test]
    fn nothing_leads_elsewhere_where_nothing_pretends() {
        let world = World::new(WorldConfig::wild());
        let leads = |id: u32| world.leading(&world.host(id), PageId::first(id, 3)).is_some();
        assert!(!(0..world.config().hosts).any(leads));
    }
}
