//! How far is a page vouched for by pages known to be good, or bad?
//!
//! Good pages seldom link to spam, so a ranking whose surfer always begins anew at pages that somebody
//! vouches for gives spam little (Gyöngyi, Garcia-Molina and Pedersen 2004). Read backwards, it gives
//! much to those who link to known spam (Krishnan and Raj 2006). Spam shows as a wide gap between
//! rank and trust.

use crate::{Graph, JumpWeights, RankSettings, Ranking, pagerank};

/// Trust in every node: the ranking of a surfer who always jumps to one of `good`, all alike.
///
/// Trust that reaches a page without links goes back to them, never to strangers. Without any good
/// node, trust is [`pagerank`].
pub fn trust(graph: &Graph, good: &[u32], settings: &RankSettings) -> Ranking {
    let mut weights = vec![0.0; graph.nodes() as usize];
    for &node in good {
        if let Some(weight) = weights.get_mut(node as usize) {
            *weight = 1.0;
        }
    }
    pagerank(graph, JumpWeights::To(&weights), settings)
}

/// Distrust of every node: trust in `spam`, passed on from a page to those that link to it.
pub fn distrust(graph: &Graph, spam: &[u32], settings: &RankSettings) -> Ranking {
    trust(&graph.reversed(), spam, settings)
}

/// How much of the graph each node can reach: rank with all links reversed.
///
/// The nodes with most are to be judged first when choosing whom to trust.
pub fn reach(graph: &Graph, settings: &RankSettings) -> Ranking {
    pagerank(&graph.reversed(), JumpWeights::Anywhere, settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, small};

    /// Good pages 0..5 link in a ring and to 5; spam 6..20 links in full to itself and to good 0.
    fn web_with_a_farm() -> Graph {
        let ring = (0..5).flat_map(|page| [(page, (page + 1) % 5), (page, 5)]);
        let farm = (6..20).flat_map(|a| (6..20).filter(move |b| *b != a).map(move |b| (a, b)));
        let links: Vec<(u32, u32)> =
            ring.chain(farm).chain((6..20).map(|page| (page, 0))).collect();
        small(20, &links)
    }

    #[test]
    fn trust_does_not_reach_a_farm_that_nobody_good_links_to() {
        let (web, settings) = (web_with_a_farm(), RankSettings::default());
        let scores = trust(&web, &[0], &settings).scores;
        assert!(scores[..6].iter().all(|score| *score > 0.01), "{scores:?}");
        assert!(scores[6..].iter().all(|score| *score == 0.0), "{scores:?}");
        let ranks = pagerank(&web, JumpWeights::Anywhere, &settings).scores;
        assert!(ranks[6..].iter().all(|rank| *rank > 0.01), "rank alone is fooled: {ranks:?}");
    }

    #[test]
    fn distrust_finds_who_links_to_spam() {
        let scores = distrust(&web_with_a_farm(), &[6], &RankSettings::default()).scores;
        assert!(scores[..6].iter().all(|score| *score == 0.0), "{scores:?}");
        assert!(scores[7..].iter().all(|score| *score > 0.01), "{scores:?}");
    }

    #[test]
    fn who_reaches_most_is_worth_asking_first() {
        let tree = small(7, &[(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]);
        let reach = reach(&tree, &RankSettings::default()).scores;
        assert!(reach[0] > reach[1] && reach[1] > reach[3], "{reach:?}");
        close(&reach[1..3], &[reach[1]; 2], 1e-15);
    }

    #[test]
    fn unknown_nodes_vouch_for_nothing() {
        let (web, settings) = (web_with_a_farm(), RankSettings::default());
        assert_eq!(trust(&web, &[0, 99], &settings), trust(&web, &[0], &settings));
        assert_eq!(trust(&web, &[99], &settings), pagerank(&web, JumpWeights::Anywhere, &settings));
    }
}
