//! What does a page of a shop or a portal look like? Marked up by classes, with one thing that changes, and much around
//! it that differs from request to request or from hour to hour though nothing happened.

use serde::{Deserialize, Serialize};

use super::bytes::{push, push_hex, push_number};
use super::dice::{DicePurpose, WorldDice};
use super::html::PageAppearance;
use super::{Host, PageId, World};
use crate::config::PageLayout;

/// What a change of a page alters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangingPart {
    /// The price.
    Price,
    /// Whether it is in stock.
    Stock,
    /// A sentence of the text.
    Text,
    /// The first entry of a list.
    List,
    /// The headline of a story.
    Headline,
}

const SHOP_PARTS: [ChangingPart; 4] =
    [ChangingPart::Price, ChangingPart::Stock, ChangingPart::Text, ChangingPart::List];
const PORTAL_PARTS: [ChangingPart; 3] =
    [ChangingPart::Headline, ChangingPart::Text, ChangingPart::List];

const STOCK: [&str; 3] = ["In stock", "Sold out", "Back in a week"];
const VARIANTS: [&str; 2] = ["Buy it now and save", "Add to the basket today"];

impl World {
    /// What a change of a page alters, where pages have parts.
    pub fn changing_part(&self, page: PageId) -> Option<ChangingPart> {
        let parts: &[ChangingPart] = match self.config.layout {
            PageLayout::Article => return None,
            PageLayout::Shop => &SHOP_PARTS,
            PageLayout::Portal => &PORTAL_PARTS,
        };
        let dice = &mut WorldDice::new(self.config.seed, DicePurpose::Text, page.key(), 77);
        parts.get(dice.below(parts.len() as u64) as usize).copied()
    }

    /// Appends the page's own parts, and what differs around them; false where pages are articles.
    pub(crate) fn push_storefront(
        &self,
        out: &mut Vec<u8>,
        host: &Host,
        page: PageId,
        look: PageAppearance,
    ) -> bool {
        let Some(part) = self.changing_part(page) else { return false };
        let writer = Storefront { world: self, host, page, look, part };
        writer.push_own(out);
        writer.push_noise(out);
        true
    }
}

/// Writes one page.
struct Storefront<'a> {
    world: &'a World,
    host: &'a Host,
    page: PageId,
    look: PageAppearance,
    part: ChangingPart,
}

impl Storefront<'_> {
    /// Draws for a part of the page: by its edition, if that is what changes, else once and for all.
    fn draw(&self, part: ChangingPart, number: u64) -> WorldDice {
        let edition = self.world.edition(self.page, self.look.now_ms);
        let edition = if part == self.part { edition } else { 0 };
        let key = self.page.key() ^ (part as u64) << 50 ^ number << 54;
        WorldDice::new(self.world.config.seed, DicePurpose::Edition, key, edition)
    }

    /// Draws that are others at every request.
    fn request(&self, number: u64) -> WorldDice {
        WorldDice::new(self.world.config.seed, DicePurpose::Noise, self.look.nonce, number)
    }

    /// Draws that are others every hour of the world.
    fn hour(&self, number: u64) -> WorldDice {
        let hour_ms = (3_600_000.0 / self.world.config.time_scale).max(1.0) as u64;
        let hour = self.look.now_ms / hour_ms;
        WorldDice::new(self.world.config.seed, DicePurpose::Noise, hour ^ self.page.key(), number)
    }

    fn sentence(&self, out: &mut Vec<u8>, mut dice: WorldDice) {
        out.extend_from_slice(self.world.pool(self.host).get(dice.next()));
    }

    fn words(&self, out: &mut Vec<u8>, mut dice: WorldDice, count: usize) {
        for number in 0..count {
            push(out, if number > 0 { " " } else { "" });
            push(out, self.world.prose.word(dice.next()));
        }
    }

    fn push_own(&self, out: &mut Vec<u8>) {
        if self.world.config.layout == PageLayout::Shop {
            push(out, "<div class=\"product\">\n<p class=\"price\">Price ");
            push_number(out, 1 + self.draw(ChangingPart::Price, 0).below(900));
            push(out, ".");
            push_number(out, 10 + self.draw(ChangingPart::Price, 1).below(90));
            push(out, "</p>\n<p class=\"stock\">");
            // Another edition is another state: it steps on rather than being drawn anew.
            let mut stock = self.draw(ChangingPart::Stock, 0);
            push(out, STOCK[stock.below(3) as usize]);
            push(out, " since day ");
            push_number(out, stock.below(100_000));
            push(out, "</p>\n</div>\n");
        } else {
            push(out, "<h2 class=\"headline\">");
            self.words(out, self.draw(ChangingPart::Headline, 0), 6);
            push(out, "</h2>\n");
        }
        push(out, "<div class=\"story\">\n");
        for number in 0..8 {
            let part = if number == 3 { ChangingPart::Text } else { ChangingPart::Headline };
            push(out, "<p>");
            let dice = match part {
                ChangingPart::Text => self.draw(part, 0),
                _ => WorldDice::new(
                    self.world.config.seed,
                    DicePurpose::Text,
                    self.page.key(),
                    200 + number,
                ),
            };
            self.sentence(out, dice);
            push(out, "</p>\n");
        }
        push(out, "</div>\n<ul class=\"entries\">\n<li>");
        self.words(out, self.draw(ChangingPart::List, 0), 4);
        for number in 0..4 {
            push(out, "</li>\n<li>");
            let seed = self.world.config.seed;
            let dice = WorldDice::new(seed, DicePurpose::Text, self.page.key(), 300 + number);
            self.words(out, dice, 4);
        }
        push(out, "</li>\n</ul>\n");
    }

    /// A clock, a token, the visitor's number, a counter, a teaser, recommendations, an advertisement, a version of two,
    /// a notice about cookies, and in portals a quote that holds for an hour.
    fn push_noise(&self, out: &mut Vec<u8>) {
        push(out, "<p class=\"clock\">Made at ");
        push_number(out, self.look.now_ms);
        push(out, "</p>\n<p class=\"visitor\">You are visitor ");
        push_hex(out, self.request(1).next());
        push(out, "</p>\n<p class=\"watching\">");
        push_number(out, 2 + self.request(2).below(60));
        push(out, " people look at this</p>\n<p class=\"teaser\">");
        let pool = |mut dice: WorldDice, size: u64, key: u64| {
            WorldDice::new(self.world.config.seed, DicePurpose::Noise, key, dice.below(size))
        };
        self.words(out, pool(self.request(3), 50, 1), 2);
        push(out, "</p>\n<h2>See also</h2>\n<ul class=\"related\">\n");
        for number in 0..4 {
            push(out, "<li>");
            self.words(out, pool(self.request(10 + number), 40, self.page.key()), 4);
            push(out, "</li>\n");
        }
        push(out, "</ul>\n<div class=\"advert\"><p>Advertisement</p><p>");
        self.words(out, pool(self.request(4), 12, 2), 6);
        push(out, "</p></div>\n<p class=\"call\">");
        push(out, VARIANTS[self.request(5).below(2) as usize]);
        push(out, "</p>\n");
        if self.request(6).chance(0.5) {
            push(
                out,
                "<div class=\"cookie-notice\"><p>We use cookies, for your comfort</p></div>\n",
            );
        }
        if self.world.config.layout == PageLayout::Portal {
            push(out, "<blockquote class=\"quote\">");
            self.words(out, pool(self.hour(7), 5_000, 3), 7);
            push(out, "</blockquote>\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldConfig;
    use crate::world::html::PageScratch;
    use crate::world::links::LinkStyle;

    /// The text of a page without what is noise by its class.
    fn own(world: &World, page: PageId, now_ms: u64, nonce: u64) -> String {
        let look = PageAppearance { now_ms, nonce, style: LinkStyle { port: 80, session: None } };
        let mut out = Vec::new();
        let source = world.source(page);
        world.push_page(&mut out, source, look, &mut PageScratch::default());
        let html = String::from_utf8(out).unwrap();
        html.split("<p class=\"clock\">").next().unwrap().to_owned()
    }

    #[test]
    fn a_shop_differs_at_every_request_but_in_its_own_parts_only_when_it_changes() {
        for name in ["shop", "portal"] {
            let world = World::new(WorldConfig { hosts: 2, ..WorldConfig::preset(name).unwrap() });
            let (from, step) = (world.config().origin_ms, 60_000);
            let mut changes = 0;
            for slot in 0..10 {
                let page = PageId::first(1, slot);
                for n in 0..20 {
                    let (before, now) = (from + n * step, from + (n + 1) * step);
                    let changed = !world.changes_between(page, before, now).is_empty();
                    changes += usize::from(changed);
                    let same = own(&world, page, before, 1) == own(&world, page, now, 2);
                    assert_eq!(same, !changed, "page {slot} of {name} after step {n}");
                }
            }
            assert!(changes > 20, "{changes}");
        }
    }
}
