//! Which few hosts link to each other: for their readers, or as a farm?

use super::dice::{DicePurpose, WorldDice};
use super::links::PageLink;
use super::spam::SpamTopic;
use super::{Host, PageId, World};

/// Neighbouring host numbers that one ring is drawn from.
const CELL: u32 = 4;
/// Pages of each sibling that stand in a common menu.
const MENU: u32 = 4;

/// Three or four hosts that link to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
    first: u32,
    size: u32,
    form: Form,
}

/// What the hosts of a ring link to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Every page to some pages of all others, each to other ones: a link farm.
    Farm,
    /// Every page to the fronts of the others, as a company's footers do.
    Footer,
    /// Every page to the same few pages of the others, as a common menu does.
    Menu,
    /// Every page to the same page of the others, as in other languages.
    Languages,
}

impl Ring {
    pub(crate) fn is_farm(self) -> bool {
        self.form == Form::Farm
    }
}

impl World {
    /// The ring that a host belongs to.
    pub(crate) fn ring(&self, host: u32) -> Option<Ring> {
        let (farm, family) =
            (self.config.host_shares.small_farm, self.config.host_shares.family / 3.0);
        if farm + family <= 0.0 {
            return None;
        }
        let first = host - host % CELL;
        let dice = &mut self.spam_dice(first, SpamTopic::Ring);
        let size = 3 + dice.below(2) as u32;
        // Of a cell's hosts as many as of all hosts would be are in a ring.
        let fits = f64::from(CELL) / 3.5;
        let kinds = [
            (farm * fits, Some(Form::Farm)),
            (family * fits, Some(Form::Footer)),
            (family * fits, Some(Form::Menu)),
            (family * fits, Some(Form::Languages)),
        ];
        let form = dice.pick(&kinds, None)?;
        let within = host < first + size && first + size <= self.config.hosts;
        within.then_some(Ring { first, size, form })
    }

    /// Adds the links of a page to the other hosts of its ring.
    pub(crate) fn add_ring_links(&self, host: &Host, page: PageId, out: &mut Vec<PageLink>) {
        let Some(ring) = self.ring(host.id) else { return };
        let dice = &mut WorldDice::new(
            self.config.seed,
            DicePurpose::Spam,
            page.key(),
            SpamTopic::Ring as u64,
        );
        for other in (ring.first..ring.first + ring.size).filter(|&other| other != host.id) {
            for slot in self.ring_slots(ring.form, page, dice) {
                let link = self.link_to(&self.host(other), PageId::first(other, slot));
                out.extend(link.filter(|link| !out.contains(link)));
            }
        }
    }

    fn ring_slots(&self, form: Form, page: PageId, dice: &mut WorldDice) -> Vec<u32> {
        let pages = self.config.pages;
        match form {
            Form::Farm => {
                (0..4 + dice.below(3)).map(|_| dice.below(u64::from(pages)) as u32).collect()
            }
            Form::Footer => vec![0],
            Form::Menu => (0..MENU.min(pages)).collect(),
            Form::Languages => vec![page.slot],
        }
    }

    /// The classes of a ring's template, which all its pages are made from.
    pub(crate) fn ring_template(&self, host: u32) -> Option<String> {
        let ring = self.ring(host)?;
        let dice = &mut self.spam_dice(ring.first, SpamTopic::Template);
        let words: Vec<&str> = (0..8).map(|_| self.prose.word(dice.next())).collect();
        Some(words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::links::LinkTarget;
    use super::*;
    use crate::{Spam, WorldConfig};

    /// How many pages of each other host of its ring a page links to.
    fn across(world: &World, page: PageId, ring: Ring) -> BTreeMap<u32, usize> {
        let mut links = Vec::new();
        world.links(&world.host(page.host), page, world.config().origin_ms, &mut links);
        let mut across = BTreeMap::new();
        for link in links {
            if let LinkTarget::Page(to) = link.target
                && to.host != page.host
                && world.ring(to.host) == Some(ring)
            {
                *across.entry(to.host).or_default() += 1;
            }
        }
        across
    }

    #[test]
    fn every_form_of_ring_is_there_and_links_to_all_its_hosts() {
        let world = World::new(WorldConfig::spam());
        let mut forms: BTreeMap<String, u32> = BTreeMap::new();
        for host in 0..world.config().hosts {
            let Some(ring) = world.ring(host) else { continue };
            *forms.entry(format!("{:?}", ring.form)).or_default() += 1;
            assert_eq!(world.spam(host), ring.is_farm().then_some(Spam::Farm));
            let across = across(&world, PageId::first(host, 9), ring);
            assert_eq!(across.len() as u32, ring.size - 1, "{across:?}");
            let least = match ring.form {
                Form::Farm => 2,
                Form::Menu => MENU as usize,
                Form::Footer | Form::Languages => 1,
            };
            assert!(across.values().all(|links| *links >= least), "{ring:?} {across:?}");
        }
        assert!(forms.len() == 4 && forms.values().all(|hosts| *hosts >= 3), "{forms:?}");
        assert!(forms["Farm"] >= 9, "{forms:?}");
    }

    #[test]
    fn hosts_stand_alone_where_no_share_says_otherwise() {
        let world = World::new(WorldConfig::wild());
        assert!((0..200).all(|host| world.ring(host).is_none()));
    }
}
