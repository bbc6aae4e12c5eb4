//! Which pages have another importance than their rows say?
//!
//! PageRank over the committed links, computed on the calling thread. The differences come in batches, so that a walk
//! can apply them between other work. When the links do not fit in memory, in-degrees are used instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use evercrawl_model::{Importance, PageKey, Time};
use evercrawl_rank::{JumpWeights, RankSettings, pagerank};
use evercrawl_state::{Reading, StateError, Store, View};

use super::weight::DAMPING;
use super::{LinkGraph, MeanHostImportance, RankSnapshot, ReadWithin};
use crate::suspicion::Suspects;

/// The size of a batch of differences.
const BATCH_PAGES: usize = 1000;
/// The most error of all ranks together: a step of [`Importance`] is a hundred times coarser.
const TOLERANCE: f64 = 1e-4;

/// The most by which a rising page is raised: one more link may be chance.
const MOST_RISE: f64 = 4.0;

/// What a ranking is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankBasis {
    /// All links: PageRank.
    Links,
    /// In-degrees, since the links would take too much memory.
    Counts,
    /// Nothing: even the pages would take too much memory.
    Nothing,
}

/// A ranking of all pages of a crawl, and how much of it was handed out.
pub struct Ranks<S> {
    state: View<S>,
    links: LinkGraph,
    scores: Vec<f64>,
    /// The quality of pages by how they rose, next to the average page; empty when unknown.
    risen: Vec<f64>,
    basis: RankBasis,
    last: Option<PageKey>,
    stop: Arc<AtomicBool>,
}

impl<S: Store> Ranks<S> {
    /// Ranks all committed pages on this thread, in `memory` bytes. Links of suspect hosts do not count.
    pub fn compute(
        reading: &Reading<S>,
        suspects: &Suspects,
        memory: u64,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, StateError> {
        let state = reading.view()?;
        let (basis, links, scores) = match LinkGraph::read_within(&state, memory)? {
            ReadWithin::Whole(links) => {
                let links = links.without_links_from(suspects);
                let scores = rank_by_links(&links);
                (RankBasis::Links, links, scores)
            }
            ReadWithin::Pages(pages) => {
                let scores = rank_by_counts(&pages.count(&state, suspects)?);
                (RankBasis::Counts, pages, scores)
            }
            ReadWithin::Nothing => (RankBasis::Nothing, LinkGraph::default(), Vec::new()),
        };
        let risen = Vec::new();
        Ok(Ranks { state, links, scores, risen, basis, last: None, stop })
    }

    /// What the ranking is based on.
    pub fn basis(&self) -> RankBasis {
        self.basis
    }

    /// Raises pages that rose since an earlier ranking to where they are heading.
    pub fn set_previous_snapshot(&mut self, before: &RankSnapshot, now: Time) {
        self.risen = before.quality(&self.links, &self.scores, now);
    }

    /// The mean importance of each host's pages.
    pub fn mean_host_importance(&self) -> MeanHostImportance {
        MeanHostImportance::new(&self.links, &self.scores)
    }

    /// The ranking as a snapshot to keep.
    pub fn snapshot(&self, at: Time) -> RankSnapshot {
        RankSnapshot::new(&self.links, &self.scores, at)
    }

    /// The next pages whose importance differs from their rows; `None` at the end, or when cancelled.
    pub fn next_batch(&mut self) -> Result<Option<Vec<(PageKey, Importance)>>, StateError> {
        let mut piece = Vec::new();
        for page in self.state.pages_after(self.last) {
            let (key, row) = page?;
            self.last = Some(key);
            if self.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let importance = self.importance(key);
            if importance != row.importance && importance != Importance::UNKNOWN {
                piece.push((key, importance));
            }
            if piece.len() == BATCH_PAGES {
                break;
            }
        }
        Ok((!piece.is_empty()).then_some(piece))
    }

    fn importance(&self, page: PageKey) -> Importance {
        let node = self.links.node(page).map(|node| node as usize);
        let Some((node, score)) = node.and_then(|node| Some((node, self.scores.get(node)?))) else {
            return Importance::UNKNOWN;
        };
        let times = score * self.scores.len() as f64;
        let risen = self.risen.get(node).copied().unwrap_or(times);
        Importance::from_ratio(risen.clamp(times, MOST_RISE * times))
    }
}

fn rank_by_links(links: &LinkGraph) -> Vec<f64> {
    let settings =
        RankSettings { damping: DAMPING, tolerance: TOLERANCE, ..RankSettings::default() };
    pagerank(links.graph(), JumpWeights::Anywhere, &settings).scores
}

/// The scores of a surfer who jumps anywhere or follows any single link; they sum to 1.
fn rank_by_counts(counts: &[u32]) -> Vec<f64> {
    let pages = counts.len().max(1) as f64;
    let links = counts.iter().map(|count| f64::from(*count)).sum::<f64>().max(1.0);
    let score = |count: &u32| (1.0 - DAMPING) / pages + DAMPING * f64::from(*count) / links;
    counts.iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use evercrawl_model::{
        Change, Discovery, Event, HostUpdate, NextVisit, Outcome, PageKind, PolicyNotes, Score,
        Visit, VisitNoise, Visited,
    };
    use evercrawl_state::{MemoryStore, Settings, State};

    use super::*;

    fn visit(page: PageKey, change: Change, links: Vec<PageKey>) -> Event {
        let visit = Visit {
            page,
            at: Time::from_secs(1),
            outcome: Outcome::Ok,
            status: 200,
            change,
            score: Score::ALL,
            digest: None,
            bytes: 1,
            ms: 1,
            record: None,
            near: None,
            cause: None,
            noise: VisitNoise::default(),
        };
        Event::Visited(Box::new(Visited {
            visit,
            identity: None,
            next: NextVisit::Never,
            policy_notes: PolicyNotes::default(),
            validators: None,
            simhash: None,
            memory: None,
            differing: Vec::new(),
            untold: None,
            observed: None,
            links: Some(links),
            anchors: Vec::new(),
            first_of_digest: false,
            kind: PageKind::Page,
            host: HostUpdate::default(),
        }))
    }

    /// Pages 1 to `count - 1` of a host link to page 0, which links to page 1.
    fn star(count: usize) -> (State<MemoryStore>, Vec<PageKey>) {
        let store = Arc::new(MemoryStore::default());
        let mut state = State::open(store, Settings { seed: 1, shards: 1 }, None).unwrap();
        let mut pages = Vec::new();
        for n in 0..count {
            let url = format!("http://a.test/{n}");
            let key =
                state.view().keyer().page(state.view().keyer().host("a.test", "a.test"), &url);
            pages.push(key.0);
            state.apply(&Event::Discovered(Discovery::new(key, url, 0, Time::EPOCH))).unwrap();
        }
        for (n, page) in pages.iter().enumerate() {
            let to = if n == 0 { pages[1] } else { pages[0] };
            state.apply(&visit(*page, Change::New, vec![to])).unwrap();
        }
        state.flush_now().unwrap();
        (state, pages)
    }

    fn within(state: &State<MemoryStore>, memory: u64) -> Ranks<MemoryStore> {
        let reading = state.reading();
        Ranks::compute(&reading, &Suspects::default(), memory, Arc::default()).unwrap()
    }

    fn ranked(state: &mut State<MemoryStore>) -> Vec<usize> {
        let mut ranks = within(state, u64::MAX);
        let mut pieces = Vec::new();
        while let Some(pages) = ranks.next_batch().unwrap() {
            pieces.push(pages.len());
            state.apply(&Event::ImportanceChanged { pages }).unwrap();
        }
        state.flush_now().unwrap();
        pieces
    }

    #[test]
    fn ranks_come_in_pieces_once_and_again_only_where_links_changed() {
        let (mut state, pages) = star(2500);
        assert_eq!(ranked(&mut state), [1000, 1000, 500]);
        assert!(ranked(&mut state).is_empty(), "nothing changed since");
        let times = |state: &State<MemoryStore>, n: usize| {
            state.view().page(pages[n]).unwrap().unwrap().importance.ratio().unwrap()
        };
        assert!(times(&state, 0) > 900.0 && times(&state, 1) > 800.0 && times(&state, 2) < 0.17);
        state.apply(&visit(pages[2], Change::Changed, vec![pages[3]])).unwrap();
        state.flush_now().unwrap();
        assert_eq!(
            ranked(&mut state),
            [1],
            "page 3 is linked to by now, and others lost next to nothing"
        );
        state.apply(&visit(pages[0], Change::Gone, vec![])).unwrap();
        state.flush_now().unwrap();
        assert!(!ranked(&mut state).is_empty());
        assert!(times(&state, 1) < 2.0, "who linked to it is gone");
    }

    #[test]
    fn a_page_that_rises_counts_as_what_it_is_on_its_way_to() {
        let (mut state, pages) = star(2500);
        let ranks = |state: &State<MemoryStore>| within(state, u64::MAX);
        let before = ranks(&state).snapshot(Time::EPOCH);
        for n in 3..9 {
            state.apply(&visit(pages[n], Change::Changed, vec![pages[0], pages[2]])).unwrap();
        }
        state.flush_now().unwrap();
        let mut now = ranks(&state);
        let plain = now.importance(pages[2]).ratio().unwrap();
        now.set_previous_snapshot(&before, Time::from_secs(7 * 86_400));
        let risen = now.importance(pages[2]).ratio().unwrap();
        assert!(plain < 1.0 && risen > 1.2 && risen <= 4.5 * plain, "{plain} {risen}");
        assert_eq!(now.importance(pages[40]), ranks(&state).importance(pages[40]), "as before");
    }

    #[test]
    fn links_that_do_not_fit_are_counted_and_pages_that_do_not_are_left_alone() {
        let (mut state, pages) = star(2500);
        assert_eq!(within(&state, u64::MAX).basis(), RankBasis::Links);
        let counted = within(&state, 2500 * 64 + 100);
        assert_eq!(counted.basis(), RankBasis::Counts);
        assert!((counted.scores.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let times = |n: usize| counted.importance(pages[n]).ratio().unwrap();
        assert!(times(0) > 1900.0 && (0.9..1.1).contains(&times(1)) && times(2) < 0.17);
        let mut nothing = within(&state, 1000);
        assert_eq!((nothing.basis(), nothing.next_batch().unwrap()), (RankBasis::Nothing, None));
        assert_eq!(ranked(&mut state).len(), 3, "and it was not the graph that was empty");
    }

    #[test]
    fn a_stopped_ranking_hands_out_nothing_more() {
        let (state, _) = star(10);
        let stop = Arc::new(AtomicBool::new(true));
        let reading = state.reading();
        let mut ranks = Ranks::compute(&reading, &Suspects::default(), u64::MAX, stop).unwrap();
        assert_eq!(ranks.next_batch().unwrap(), None);
    }
}
