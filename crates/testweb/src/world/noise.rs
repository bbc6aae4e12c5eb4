//! What differs on a page though nothing happened to it? Clocks, tokens, blocks that take turns, the site's footer.

use super::bytes::{push, push_hex, push_number};
use super::dice::{DicePurpose, WorldDice};
use super::html::PageAppearance;
use super::{Host, Noise, PageId, World};

impl World {
    /// Appends what differs at every look.
    pub(crate) fn push_noise(
        &self,
        out: &mut Vec<u8>,
        host: &Host,
        page: PageId,
        look: PageAppearance,
    ) {
        let Some(noise) = host.noise else { return };
        if noise.shows(Noise::Turns) {
            self.push_turns(out, host, page, look.nonce);
        }
        if noise.shows(Noise::Clock) {
            push(out, "<p>Served at ");
            push_number(out, look.now_ms);
            push(out, " as number ");
            push_number(out, look.nonce);
            push(out, ".</p>\n");
        }
        if noise.shows(Noise::Session) {
            push(out, "<p>Your session is ");
            push_hex(out, self.noise(look.nonce, 0).next());
            push(out, ".</p>\n");
        }
        if noise.shows(Noise::Token) {
            push(out, "<form><input type=\"hidden\" name=\"token\" value=\"");
            push_hex(out, look.nonce);
            push(out, "\"></form>\n");
        }
    }

    /// Appends a block that all pages of the host choose from, and one of the page's own.
    fn push_turns(&self, out: &mut Vec<u8>, host: &Host, page: PageId, nonce: u64) {
        let dice = &mut self.noise(nonce, 1);
        let pool = self.pool(host);
        for (heading, key, variants) in [
            ("Advertisement", u64::from(host.id), ADVERTISEMENTS),
            ("See also", page.key(), RELATED),
        ] {
            let variant = dice.below(variants);
            let sentence =
                WorldDice::new(self.config.seed, DicePurpose::Noise, key, variant).next();
            push(out, "<h2>");
            push(out, heading);
            push(out, "</h2>\n<p>");
            out.extend_from_slice(pool.get(sentence));
            push(out, "</p>\n");
        }
    }

    fn noise(&self, nonce: u64, kind: u64) -> WorldDice {
        WorldDice::new(self.config.seed, DicePurpose::Noise, nonce, kind)
    }

    /// Appends the host's footer as it is at a moment: the same on all its pages.
    pub(crate) fn push_footer(&self, out: &mut Vec<u8>, host: &Host, now_ms: u64) {
        if !host.footer {
            return;
        }
        let dice = &mut WorldDice::new(
            self.config.seed,
            DicePurpose::Footer,
            host.id.into(),
            self.footer(host, now_ms),
        );
        let pool = self.pool(host);
        push(out, "<footer>\n");
        for _ in 0..FOOTER {
            push(out, "<p>");
            out.extend_from_slice(pool.get(dice.next()));
            push(out, "</p>\n");
        }
        push(out, "</footer>\n");
    }

    /// How many footers a host has had until a moment.
    fn footer(&self, host: &Host, now_ms: u64) -> u64 {
        let period_ms = (self.days_ms(self.config.footer_days) as u64).max(1);
        let phase_ms =
            WorldDice::new(self.config.seed, DicePurpose::Footer, host.id.into(), u64::MAX)
                .below(period_ms);
        (now_ms.saturating_sub(self.config.origin_ms).saturating_add(phase_ms)) / period_ms
    }
}

/// Blocks that the pages of a host choose from.
const ADVERTISEMENTS: u64 = 6;
/// Blocks that one page chooses from.
const RELATED: u64 = 4;
/// Sentences of a footer.
const FOOTER: usize = 3;
