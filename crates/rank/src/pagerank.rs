//! How important is each page, in general or from the point of view of some pages?
//!
//! A surfer follows a link of the page at hand, any of them alike, with probability `damping`, and
//! jumps otherwise; from a page without links the surfer always jumps. A page's rank is the share of
//! time spent there (Page, Brin, Motwani and Winograd 1998).

use crate::Graph;
use crate::blocks::sweep;

/// Where the surfer jumps to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JumpWeights<'a> {
    /// Any page, all alike.
    Anywhere,
    /// Pages in proportion to these weights, one a page: a personalised ranking. What is not a number
    /// above 0 counts as 0, what is missing too; if nothing is left the jump is anywhere.
    To(&'a [f64]),
}

/// How exactly, and with what, a ranking is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSettings {
    /// The probability that the surfer follows a link; from 0 to 1.
    pub damping: f64,
    /// How far the scores may be from the truth, all differences added up (the L1 norm).
    pub tolerance: f64,
    /// The most sweeps over the graph.
    pub most_rounds: u32,
    /// How many threads compute; the result is the same for any number.
    pub threads: usize,
}

impl Default for RankSettings {
    /// The usual damping of 0.85, and as exact as numbers allow.
    fn default() -> Self {
        RankSettings { damping: 0.85, tolerance: 1e-12, most_rounds: 10_000, threads: 1 }
    }
}

impl RankSettings {
    fn damping(&self) -> f64 {
        if self.damping.is_nan() { 0.0 } else { self.damping.clamp(0.0, 1.0) }
    }
}

/// Scores, and how they were come by.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// A score for every node; they add up to 1.
    pub scores: Vec<f64>,
    /// How many sweeps it took.
    pub rounds: u32,
    /// The most that the scores can be off, all differences added up.
    pub error: f64,
}

/// Ranks all nodes.
pub fn pagerank(graph: &Graph, jump: JumpWeights<'_>, settings: &RankSettings) -> Ranking {
    pagerank_from(graph, jump, settings, &[])
}

/// Ranks all nodes, beginning with `start`, one number a node: the ranking before, or a guess.
///
/// A good start saves sweeps and changes nothing else. Unusable numbers count as with [`JumpWeights::To`].
pub fn pagerank_from(
    graph: &Graph,
    jump: JumpWeights<'_>,
    settings: &RankSettings,
    start: &[f64],
) -> Ranking {
    let mut surfer = Surfer::new(graph, jump, settings, start);
    let (mut rounds, mut error) = (0, if graph.nodes() == 0 { 0.0 } else { f64::INFINITY });
    while rounds < settings.most_rounds && error > settings.tolerance {
        error = surfer.step();
        rounds += 1;
    }
    Ranking { scores: surfer.into_scores(), rounds, error }
}

/// A ranking under way.
struct Surfer<'a> {
    graph: &'a Graph,
    jump: Option<Vec<f64>>,
    damping: f64,
    threads: usize,
    /// What each node gives to each that it links to; its whole score where it links to none. So the
    /// one list that is read at random is also all that is kept.
    shares: Vec<f64>,
    next_shares: Vec<f64>,
    /// The score of all nodes without links.
    dangling: f64,
}

impl<'a> Surfer<'a> {
    fn new(
        graph: &'a Graph,
        jump: JumpWeights<'_>,
        settings: &RankSettings,
        start: &[f64],
    ) -> Self {
        let nodes = graph.nodes() as usize;
        let jump = match jump {
            JumpWeights::Anywhere => None,
            JumpWeights::To(weights) => normalised(weights, nodes),
        };
        // From where jumps lead, so that what no jump can reach has nothing from the first.
        let start = normalised(start, nodes).or_else(|| jump.clone());
        let mut shares = start.unwrap_or_else(|| vec![1.0 / nodes as f64; nodes]);
        let mut dangling = 0.0;
        for (node, share) in (0..).zip(&mut shares) {
            match graph.out_degree(node) {
                0 => dangling += *share,
                degree => *share /= f64::from(degree),
            }
        }
        let (damping, threads) = (settings.damping(), settings.threads);
        Surfer { graph, jump, damping, threads, shares, next_shares: vec![0.0; nodes], dangling }
    }

    /// Goes once over the graph, and returns how far the scores may still be off.
    ///
    /// A step brings any two rankings nearer to each other by the factor `damping`, so what all steps
    /// to come can change is a geometric series that begins with what this one changed.
    fn step(&mut self) -> f64 {
        let (graph, shares, damping) = (self.graph, &self.shares, self.damping);
        let jumping = 1.0 - damping + damping * self.dangling;
        let everywhere = jumping / shares.len() as f64;
        let jump = self.jump.as_deref();
        let update = |start: usize, next_shares: &mut [f64]| {
            let (mut changed, mut dangling) = (0.0, 0.0);
            for (node, next_share) in (start..).zip(next_shares) {
                let sources = graph.sources(node as u32).iter();
                let received: f64 = sources.map(|&from| shares[from as usize]).sum();
                let base = jump.map_or(everywhere, |jump| jumping * jump[node]);
                let score = base + damping * received;
                let degree = f64::from(graph.out_degree(node as u32));
                if degree == 0.0 {
                    dangling += score;
                }
                *next_share = score / degree.max(1.0);
                changed += (score - shares[node] * degree.max(1.0)).abs();
            }
            [changed, dangling]
        };
        let [changed, dangling] = sweep(self.threads, &mut self.next_shares, update);
        self.dangling = dangling;
        std::mem::swap(&mut self.shares, &mut self.next_shares);
        changed * if damping < 1.0 { damping / (1.0 - damping) } else { 1.0 }
    }

    fn into_scores(self) -> Vec<f64> {
        let mut scores = self.shares;
        for (node, score) in (0..).zip(&mut scores) {
            *score *= f64::from(self.graph.out_degree(node).max(1));
        }
        scores
    }
}

/// The weights as shares of 1, one a node; `None` where there are none.
fn normalised(weights: &[f64], nodes: usize) -> Option<Vec<f64>> {
    let usable = |weight: f64| if weight > 0.0 && weight.is_finite() { weight } else { 0.0 };
    // By the largest first: the sum of large weights need not be finite.
    let most = weights.iter().take(nodes).copied().map(usable).fold(0.0, f64::max);
    let mut shares = vec![0.0; nodes];
    let mut sum = 0.0;
    for (share, weight) in shares.iter_mut().zip(weights) {
        *share = usable(*weight) / most;
        sum += *share;
    }
    shares.iter_mut().for_each(|share| *share /= sum);
    (most > 0.0).then_some(shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, random_graph, small};

    #[test]
    fn small_graphs_have_the_ranks_worked_out_by_hand() {
        let exact = RankSettings { tolerance: 1e-15, ..RankSettings::default() };
        let ranks = |graph: &Graph| pagerank(graph, JumpWeights::Anywhere, &exact).scores;
        close(&ranks(&small(3, &[(0, 1), (1, 2), (2, 0)])), &[1.0 / 3.0; 3], 1e-15);
        // Two nodes, 0 -> 1: x = (.15 + .85 y) / 2, x + y = 1.
        close(&ranks(&small(2, &[(0, 1)])), &[1.0 / 2.85, 1.85 / 2.85], 1e-14);
        close(&ranks(&small(4, &[])), &[0.25; 4], 1e-15);
        assert!(ranks(&small(0, &[])).is_empty());
        // A node that links to itself keeps what it gets.
        let kept = ranks(&small(2, &[(0, 0), (1, 0)]));
        close(&kept, &[0.925, 0.075], 1e-14);
    }

    #[test]
    fn scores_add_up_to_one_and_do_not_depend_on_threads_or_start() {
        let graph = random_graph(7, 30_000, 100_000);
        let settings = RankSettings::default();
        let ranking = pagerank(&graph, JumpWeights::Anywhere, &settings);
        assert!((ranking.scores.iter().sum::<f64>() - 1.0).abs() < 1e-12 && ranking.error <= 1e-12);
        for threads in [2, 3, 7] {
            let threaded = RankSettings { threads, ..settings };
            assert_eq!(pagerank(&graph, JumpWeights::Anywhere, &threaded), ranking);
        }
        let near: Vec<f64> = ranking.scores.iter().map(|score| score * 3.0 + 1e-9).collect();
        let again = pagerank_from(&graph, JumpWeights::Anywhere, &settings, &near);
        close(&again.scores, &ranking.scores, 1e-12);
        assert!(again.rounds < ranking.rounds, "{} of {}", again.rounds, ranking.rounds);
    }

    #[test]
    fn odd_weights_and_settings_do_no_harm() {
        let graph = small(3, &[(0, 1), (1, 2)]);
        let settings = RankSettings::default();
        let to = |weights: &[f64]| pagerank(&graph, JumpWeights::To(weights), &settings).scores;
        assert_eq!(to(&[]), pagerank(&graph, JumpWeights::Anywhere, &settings).scores);
        assert_eq!(to(&[f64::NAN, -1.0, 0.0]), to(&[f64::INFINITY]));
        close(&to(&[f64::MAX, f64::MAX, f64::MAX, 7.0]), &to(&[1.0; 3]), 1e-15);
        for damping in [f64::NAN, -1.0, 0.0, 1.0, 7.0] {
            let odd = RankSettings { damping, most_rounds: 50, ..settings };
            let sum: f64 = pagerank(&graph, JumpWeights::Anywhere, &odd).scores.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{damping}");
        }
    }
}
