//! Which pages of a list remain to be fetched this round?

use crate::page::Page;

/// Pages to hand out in order, as many at a time as there is room for.
#[derive(Debug, Default)]
pub(crate) struct Worklist {
    pages: Vec<u32>,
    given: usize,
}

impl Worklist {
    /// Replaces the list by `pages`.
    pub(crate) fn set(&mut self, pages: Vec<u32>) {
        *self = Worklist { pages, given: 0 };
    }

    /// Whether all pages were handed out.
    pub(crate) fn is_done(&self) -> bool {
        self.given >= self.pages.len()
    }

    /// Hands out up to `room` live pages.
    pub(crate) fn take_pages(&mut self, room: usize, known: &[Page], out: &mut Vec<u32>) {
        let rest = &self.pages[self.given..];
        let mut wanted = room;
        for &id in rest {
            if wanted == 0 {
                break;
            }
            self.given += 1;
            if known.get(id as usize).is_some_and(|page| page.alive) {
                out.push(id);
                wanted -= 1;
            }
        }
    }

    /// Keeps only the `wanted` pages, to hand them out again: for what the last round did not reach.
    pub(crate) fn reset_done(&mut self, wanted: impl Fn(u32) -> bool) {
        self.pages.retain(|&id| wanted(id));
        self.given = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_out_what_is_alive_in_order_and_within_room() {
        let mut known: Vec<Page> = (0..5).map(Page::new).collect();
        known[1].alive = false;
        let (mut list, mut out) = (Worklist::default(), Vec::new());
        list.set(vec![3, 1, 99, 0, 4]);
        list.take_pages(2, &known, &mut out);
        assert_eq!((&out[..], list.is_done()), (&[3, 0][..], false));
        list.take_pages(9, &known, &mut out);
        assert_eq!((&out[..], list.is_done()), (&[3, 0, 4][..], true));
        list.reset_done(|id| id == 4);
        list.take_pages(9, &known, &mut out);
        assert_eq!(out, [3, 0, 4, 4]);
    }
}
