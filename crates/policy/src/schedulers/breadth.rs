//! `bfs`: from the server's top page outwards, every round anew.

use evercrawl_sites::Server;

use crate::page::{Days, NEVER, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::worklist::Worklist;

/// Fetches the shallowest pages first, as far as each round's budget reaches (S0, section 6.3.1).
///
/// What lies deeper than that is never fetched: that is what the method is measured for.
#[derive(Debug)]
pub struct BreadthFirst {
    order: Vec<u32>,
    list: Worklist,
}

impl BreadthFirst {
    /// Orders the pages of `server` by depth; pages found later come last.
    pub fn new(server: &Server) -> Self {
        BreadthFirst { order: server.by_depth(), list: Worklist::default() }
    }
}

impl Policy for BreadthFirst {
    fn record_discovery(&mut self, page: &mut Page, _now: Days) {
        page.due = NEVER;
        if page.id as usize >= self.order.len() {
            self.order.push(page.id);
        }
    }

    fn record_visit(&mut self, _page: &mut Page, _seen: &VisitEvidence) {}

    fn plan_round(&mut self, _round: &Round, _pages: &mut [Page]) -> bool {
        self.list.set(self.order.clone());
        false
    }

    fn choose_pages(&mut self, _now: Days, room: usize, pages: &[Page], out: &mut Vec<u32>) {
        self.list.take_pages(room, pages, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    #[test]
    fn takes_the_shallowest_every_round() {
        // A chain 3 -> 2 -> 1 -> 0 from the root 3.
        let server = Server::new(&[0; 4], &[(3, 2), (2, 1), (1, 0)], &[3]);
        let fetched = World::still(4).run(Box::new(BreadthFirst::new(&server)), 3, 2);
        assert_eq!(fetched, [0, 0, 3, 3]);
    }
}
