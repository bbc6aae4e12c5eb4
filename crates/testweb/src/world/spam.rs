//! What does spam look like here? Spam hosts, each of one kind, and copies of others.

use super::bytes::push;
use super::dice::{DicePurpose, WorldDice};
use super::html::push_escaped;
use super::links::{LinkStyle, LinkTarget, PageLink, follow};
use super::{Host, PageId, World};
use serde::{Deserialize, Serialize};

/// A way to pretend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spam {
    /// All pages link to the fronts of all hosts of the farm, or to some pages of each where these are few.
    Farm,
    /// Pages say a few phrases over and over, in sight, out of sight or in the title.
    Stuffed,
    /// Pages send the reader elsewhere at once, before they can be read or by their very answer.
    Doorway,
    /// Pages offer the host's name for sale.
    Parked,
    /// Pages are those of another host.
    Mirror,
}

/// The number of neighbouring host numbers that a farm is drawn from.
const FARM_BLOCK: u32 = 400;

impl World {
    /// What a host pretends, if it does.
    pub fn spam(&self, host: u32) -> Option<Spam> {
        match self.drawn_spam(host) {
            Some(Spam::Mirror) if self.mirrored(host).is_none() => None,
            spam => spam,
        }
    }

    pub(crate) fn drawn_spam(&self, host: u32) -> Option<Spam> {
        if let Some(ring) = self.ring(host) {
            return ring.is_farm().then_some(Spam::Farm);
        }
        let shares = &self.config.host_shares;
        let kinds = [
            (shares.farm, Some(Spam::Farm)),
            (shares.stuffed, Some(Spam::Stuffed)),
            (shares.doorway, Some(Spam::Doorway)),
            (shares.parked, Some(Spam::Parked)),
            (shares.mirror, Some(Spam::Mirror)),
        ];
        self.spam_dice(host, SpamTopic::Kind).pick(&kinds, None)
    }

    /// The host whose pages a mirror shows: one that does not pretend.
    pub fn mirrored(&self, host: u32) -> Option<u32> {
        if self.drawn_spam(host) != Some(Spam::Mirror) {
            return None;
        }
        let dice = &mut self.spam_dice(host, SpamTopic::Original);
        let drawn = (0..16).map(|_| dice.below(u64::from(self.config.hosts)) as u32);
        // One that has moved has no pages to copy.
        let has_pages = |other| self.drawn_spam(other).is_none() && self.moved_to(other).is_none();
        drawn.into_iter().find(|&other| has_pages(other))
    }

    /// Adds the links of a farm's page: to the front of every other host of the farm.
    pub(crate) fn add_farm_links(&self, host: &Host, out: &mut Vec<PageLink>) {
        let first = host.id - host.id % FARM_BLOCK;
        let block = first..first.saturating_add(FARM_BLOCK).min(self.config.hosts);
        let is_partner =
            |id: u32| self.drawn_spam(id) == Some(Spam::Farm) && self.ring(id).is_none();
        let partners = block.filter(|&id| id != host.id && is_partner(id));
        for front in partners.map(|id| follow(LinkTarget::Page(PageId::first(id, 0)))) {
            if !out.contains(&front) {
                out.push(front);
            }
        }
    }

    /// The title of a page whose author thinks of search engines.
    pub(crate) fn spam_title(&self, page: PageId) -> Option<String> {
        let stuffs =
            self.spam(page.host) == Some(Spam::Stuffed) && self.trick(page) == Trick::Title;
        stuffs.then(|| {
            self.phrases(page.host).join(" ").repeat(3) + " " + &self.phrases(page.host).join(" ")
        })
    }

    /// Appends what sends a doorway's reader elsewhere.
    pub(crate) fn push_spam_head(
        &self,
        out: &mut Vec<u8>,
        host: &Host,
        page: PageId,
        style: LinkStyle,
    ) {
        if host.spam != Some(Spam::Doorway) || self.leads_by_answer(host.id) {
            return;
        }
        let by_script = self.trick(page) == Trick::Hidden;
        push(
            out,
            if by_script {
                "<script>window.location.replace(\""
            } else {
                "<meta http-equiv=\"refresh\" content=\"0; url="
            },
        );
        let mut url = Vec::new();
        self.push_base(&mut url, self.beyond(host.id), style.port);
        url.push(b'/');
        push_escaped(out, &url);
        push(out, if by_script { "\");</script>\n" } else { "\">\n" });
    }

    /// Appends the text of a page that pretends; says whether the usual text is to follow.
    pub(crate) fn push_spam_text(&self, out: &mut Vec<u8>, host: &Host, page: PageId) -> bool {
        match host.spam {
            Some(Spam::Parked) => {
                self.push_offer(out, page.host);
                false
            }
            Some(Spam::Stuffed) => {
                let (before, after) = match self.trick(page) {
                    Trick::Hidden => HIDING[(page.slot % 4) as usize],
                    Trick::Sight | Trick::Title => ("<p>", "</p>\n"),
                };
                push(out, before);
                self.push_stuffing(out, page);
                push(out, after);
                true
            }
            _ => true,
        }
    }

    /// At least as much stuffing as there is text.
    fn push_stuffing(&self, out: &mut Vec<u8>, page: PageId) {
        let phrases = self.phrases(page.host);
        let dice = &mut WorldDice::new(
            self.config.seed,
            DicePurpose::Spam,
            page.key(),
            SpamTopic::Phrases as u64,
        );
        let enough = out.len() + (f64::from(self.config.page_bytes) * (1.6 + dice.unit())) as usize;
        while out.len() < enough {
            push(out, &phrases[dice.below(phrases.len() as u64) as usize]);
            // Some words of their own, so that no two runs are alike.
            let joint = self.prose.word(dice.next());
            push(out, [" ", ", ", ". ", " - "][dice.below(4) as usize]);
            if dice.chance(0.25) {
                push(out, joint);
                push(out, " ");
            }
        }
    }

    /// The phrases of a host: two to four, of three to five words.
    fn phrases(&self, host: u32) -> Vec<String> {
        let dice = &mut self.spam_dice(host, SpamTopic::Phrases);
        let count = 2 + dice.below(3);
        let phrase = |_| {
            let length = 3 + dice.below(3);
            let words: Vec<&str> = (0..length).map(|_| self.prose.word(dice.next())).collect();
            words.join(" ")
        };
        (0..count).map(phrase).collect()
    }

    fn push_offer(&self, out: &mut Vec<u8>, host: u32) {
        let dice = &mut self.spam_dice(host, SpamTopic::Offer);
        push(out, "<p>");
        push(out, &self.host_name(host));
        let (first, second) = (dice.below(4), dice.below(4));
        push(out, OFFERS[first as usize]);
        push(out, "</p>\n<p>");
        push(out, REMARKS[second as usize]);
        push(out, "</p>\n<ul>\n");
        for _ in 0..4 + dice.below(8) {
            push(out, "<li>");
            push(out, self.prose.word(dice.next()));
            push(out, " ");
            push(out, self.prose.word(dice.next()));
            push(out, "</li>\n");
        }
        push(out, "</ul>\n");
    }

    fn trick(&self, page: PageId) -> Trick {
        let dice = &mut WorldDice::new(
            self.config.seed,
            DicePurpose::Spam,
            page.key(),
            SpamTopic::Trick as u64,
        );
        dice.pick(&[(0.3, Trick::Hidden), (0.2, Trick::Title)], Trick::Sight)
    }

    pub(crate) fn spam_dice(&self, host: u32, about: SpamTopic) -> WorldDice {
        // Beyond all slots, where no page's draws are.
        WorldDice::new(
            self.config.seed,
            DicePurpose::Spam,
            u64::MAX - u64::from(host),
            about as u64,
        )
    }
}

/// What a draw about a host or a page decides.
#[derive(Clone, Copy)]
pub(crate) enum SpamTopic {
    Kind,
    Original,
    Beyond,
    Phrases,
    Offer,
    Trick,
    Manner,
    Moved,
    Home,
    Ring,
    Template,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trick {
    Sight,
    Hidden,
    Title,
}

const HIDING: [(&str, &str); 4] = [
    ("<div style=\"display:none\">", "</div>\n"),
    ("<div style=\"position:absolute; left:-9999px\">", "</div>\n"),
    ("<p style=\"color:#ffffff; background-color:#ffffff\">", "</p>\n"),
    ("<div hidden>", "</div>\n"),
];

const OFFERS: [&str; 4] = [
    ": this domain is for sale.",
    " is a premium name. Buy this domain today.",
    " may be yours: the domain name is for sale by its owner.",
    " is parked free of charge by its registrar. This domain may be for sale.",
];

const REMARKS: [&str; 4] = [
    "Make an offer. Sponsored listings:",
    "Related searches, chosen for you:",
    "Inquire about this domain by mail. Popular topics:",
    "This page is shown by a domain parking service. Related links:",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{WorldAnswer, WorldConfig, WorldRequest};

    fn body(world: &World, page: PageId) -> String {
        let mut answer = WorldAnswer::new();
        let (authority, target) = (world.host_name(page.host), world.path(page));
        let request =
            WorldRequest { authority: &authority, target: &target, ..WorldRequest::default() };
        world.answer(&request, world.config().origin_ms + 1, 1, &mut answer);
        assert_eq!(answer.status, 200, "{authority}{target}");
        String::from_utf8_lossy(&answer.body).into_owned()
    }

    fn hosts(world: &World, spam: Option<Spam>) -> Vec<u32> {
        (0..world.config().hosts).filter(|&host| world.spam(host) == spam).collect()
    }

    #[test]
    fn the_spam_world_has_every_kind_among_good_hosts_and_others_have_none() {
        let world = World::new(WorldConfig::spam());
        for kind in [Spam::Farm, Spam::Stuffed, Spam::Doorway, Spam::Parked, Spam::Mirror] {
            assert!(hosts(&world, Some(kind)).len() >= 8, "{kind:?}");
        }
        assert!(hosts(&world, None).len() as u32 > world.config().hosts / 2);
        let wild = World::new(WorldConfig::wild());
        assert_eq!(hosts(&wild, None).len() as u32, wild.config().hosts);
    }

    #[test]
    fn mirrors_show_the_bytes_of_their_original() {
        let world = World::new(WorldConfig::spam());
        for host in hosts(&world, Some(Spam::Mirror)) {
            let original = world.mirrored(host).unwrap();
            for slot in [0, 7, 29] {
                let (copy, page) = (PageId::first(host, slot), PageId::first(original, slot));
                assert_eq!(world.path(copy), world.path(page));
                assert_eq!(body(&world, copy), body(&world, page));
            }
        }
    }

    #[test]
    fn hosts_of_a_farm_all_link_to_each_other() {
        let world = World::new(WorldConfig::spam());
        let mut farm = hosts(&world, Some(Spam::Farm));
        farm.retain(|&host| world.ring(host).is_none());
        let front = body(&world, PageId::first(farm[0], 9));
        for &other in &farm[1..] {
            let link = format!("href=\"http://{}/\"", world.host_name(other));
            assert!(front.contains(&link), "{link}");
        }
    }
}
