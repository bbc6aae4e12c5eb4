//! `hist`: the pages that changed most often so far.

use crate::page::{Days, NEVER, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::worklist::Worklist;

/// Fetches, every round, the pages whose visits found the most changes (S0, section 6.3.2).
///
/// Pages that were never fetched come first: without a first look there is no history.
#[derive(Debug, Default)]
pub struct History {
    list: Worklist,
}

impl Policy for History {
    fn record_discovery(&mut self, page: &mut Page, _now: Days) {
        page.due = NEVER;
    }

    fn record_visit(&mut self, _page: &mut Page, _seen: &VisitEvidence) {}

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        let mut order: Vec<&Page> = pages.iter().filter(|page| page.alive).collect();
        if round.fetches < order.len() {
            order.select_nth_unstable_by(round.fetches, |a, b| most_changes_first(a, b));
            order.truncate(round.fetches);
        }
        order.sort_unstable_by(|a, b| most_changes_first(a, b));
        self.list.set(order.into_iter().map(|page| page.id).collect());
        false
    }

    fn choose_pages(&mut self, _now: Days, room: usize, pages: &[Page], out: &mut Vec<u32>) {
        self.list.take_pages(room, pages, out);
    }
}

/// Unknown pages, then those with the most changes; among equals the one not seen for longest.
fn most_changes_first(a: &Page, b: &Page) -> std::cmp::Ordering {
    let unknown = a.is_known().cmp(&b.is_known());
    unknown.then(b.changes.cmp(&a.changes)).then(a.last.total_cmp(&b.last)).then(a.id.cmp(&b.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    #[test]
    fn goes_where_changes_were_found() {
        let mut world = World::with_changes(6, (1..40).map(|day| (4, f64::from(day))));
        let fetched = world.run(Box::new(History::default()), 12, 2);
        assert_eq!(fetched.iter().sum::<usize>(), 24);
        assert!(fetched.iter().all(|&n| n > 0) && fetched[4] >= 8, "{fetched:?}");
    }
}
