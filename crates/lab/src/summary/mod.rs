//! What do many rows say together? Means over seeds, by world, budget and policy, for people to look at.
//!
//! | module | question |
//! |---|---|
//! | `line` | what is the score of a policy, over all its seeds? |
//! | `words` | who leads, and by how much? |
//! | `tables` | how do policies compare? |
//! | `files` | where can a program read it all? |
//! | `charts` | what does it look like? |
//! | `report` | how do all results fit on one page? |

mod charts;
mod files;
mod line;
mod report;
mod tables;
#[cfg(test)]
mod tests;
mod words;

use evercrawl_policy::registry;

pub(crate) use charts::{axis, log_axis};
pub use line::SummaryLine;

use crate::measure::{MeanWithError, ScoreMeasure};
use crate::row::ResultRow;

/// The policy that is run unless another is asked for.
const OURS: &str = "index";

/// The plainest policy of all, which every other has to beat.
const PLAINEST: &str = "uniform";

/// So many policies are told apart by colour; the others are shown in grey.
const PICKED: usize = 7;

/// All rows of a run, by world, budget and policy.
#[derive(Clone, Debug)]
pub struct RunSummary<'a> {
    rows: &'a [ResultRow],
    lines: Vec<SummaryLine<'a>>,
    worlds: Vec<&'a str>,
    budgets: Vec<&'a str>,
    policies: Vec<&'a str>,
}

impl<'a> RunSummary<'a> {
    /// Takes rows of one goal; worlds and policies stay in the order of the rows, budgets go by size.
    pub fn new(rows: &'a [ResultRow]) -> Self {
        let mut lines: Vec<SummaryLine<'a>> = Vec::new();
        for row in rows {
            match lines.iter_mut().find(|line| line.holds(row)) {
                Some(line) => line.rows.push(row),
                None => lines.push(SummaryLine { rows: vec![row] }),
            }
        }
        let mut sized: Vec<(&str, f64)> =
            lines.iter().map(|line| (line.budget(), line.size())).collect();
        sized.sort_by(|a, b| a.1.total_cmp(&b.1));
        RunSummary {
            rows,
            worlds: distinct(lines.iter().map(SummaryLine::world)),
            budgets: distinct(sized.into_iter().map(|(budget, _)| budget)),
            policies: distinct(lines.iter().map(SummaryLine::policy)),
            lines,
        }
    }

    /// Every score there is.
    pub fn lines(&self) -> impl Iterator<Item = &SummaryLine<'a>> {
        self.lines.iter()
    }

    /// The score of a policy, if it ran there.
    fn line(&self, world: &str, budget: &str, policy: &str) -> Option<&SummaryLine<'a>> {
        let wanted = (world, budget, policy);
        self.lines.iter().find(|l| (l.world(), l.budget(), l.policy()) == wanted)
    }

    /// Those policies that know no more than a crawler.
    fn honest(&self) -> impl Iterator<Item = &'a str> {
        self.policies.iter().copied().filter(|policy| !knows_the_truth(policy))
    }

    /// What the runs aimed at.
    fn goal(&self) -> ScoreMeasure {
        let goal = self
            .rows
            .first()
            .map_or(ScoreMeasure::Weighted, |row| ScoreMeasure::of_goal(&row.goal));
        if self.has_weights() { goal } else { goal.plain() }
    }

    /// Freshness as it matters here: of pages, or of their worth where that differs.
    fn freshness(&self) -> ScoreMeasure {
        if self.has_weights() { ScoreMeasure::Weighted } else { ScoreMeasure::Freshness }
    }

    /// Whether some pages are worth more than others, so that it matters which are fresh.
    fn has_weights(&self) -> bool {
        self.rows.iter().any(|row| row.scores.go_by_worth())
    }

    /// What is shown of every world: shares, and the goal where that is none.
    fn measures(&self) -> Vec<ScoreMeasure> {
        let mut measures = self.shares();
        if self.goal().is_a_time() {
            measures.insert(0, self.goal());
        }
        measures
    }

    /// The shares that are shown of every world.
    fn shares(&self) -> Vec<ScoreMeasure> {
        let mut shares = vec![ScoreMeasure::Freshness, ScoreMeasure::Coverage];
        if self.has_weights() {
            shares.insert(1, ScoreMeasure::Weighted);
        }
        shares
    }

    /// What is drawn week by week: freshness as it matters here, or age where that is the goal.
    fn over_time(&self) -> ScoreMeasure {
        if self.goal().is_a_time() { self.goal() } else { self.freshness() }
    }

    /// The mean of a policy over all worlds at a budget; `None` unless it ran in all of them.
    fn over_worlds(&self, budget: &str, policy: &str, measure: ScoreMeasure) -> Option<f64> {
        let of = self.measured_over_worlds(budget, policy, measure)?;
        Some(of.shown(measure).value)
    }

    /// The same with its interval: that of the mean of these very worlds, each of which varies by itself.
    fn measured_over_worlds(
        &self,
        budget: &str,
        policy: &str,
        measure: ScoreMeasure,
    ) -> Option<MeanWithError> {
        let one = |world: &&str| Some(self.line(world, budget, policy)?.of(measure));
        let all: Vec<MeanWithError> = self.worlds.iter().map(one).collect::<Option<_>>()?;
        let count = (!all.is_empty()).then_some(all.len() as f64)?;
        let value = all.iter().map(|of| of.value).sum::<f64>() / count;
        let reach = all.iter().map(|of| of.reach().powi(2)).sum::<f64>().sqrt() / count;
        Some(MeanWithError::around(value, reach.is_finite().then_some(reach), measure.most()))
    }

    /// The mean of a policy over all worlds and budgets, as [`Summary::over_worlds`].
    fn over_all(&self, policy: &str, measure: ScoreMeasure) -> Option<f64> {
        let one = |budget: &&str| self.over_worlds(budget, policy, measure);
        let all: Option<Vec<f64>> = self.budgets.iter().map(one).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// The policies that stand out, ours first: the best of the others, the plainest, and those that
    /// know the truth. All of them where they are few.
    fn picked(&self) -> Vec<&'a str> {
        let mut order: Vec<&str> = self.policies.clone();
        let measure = self.goal();
        let rank = |policy: &str| self.over_all(policy, measure).unwrap_or(measure.worst());
        order.sort_by(|a, b| measure.best_first(rank(a), rank(b)));
        let fixed = |policy: &str| [OURS, PLAINEST].contains(&policy) || is_reference(policy);
        let room = PICKED.saturating_sub(order.iter().filter(|policy| fixed(policy)).count());
        let others = order.iter().filter(|p| !fixed(p) && !knows_the_truth(p)).take(room);
        let kept: Vec<&str> = others.chain(order.iter().filter(|p| fixed(p))).copied().collect();
        let few = self.policies.len() <= PICKED;
        order.retain(|policy| few || kept.contains(policy));
        // Stable: ours, then the others by merit, then those that know the truth.
        order.sort_by_key(|policy| (*policy != OURS, knows_the_truth(policy)));
        order
    }
}

/// What stands for a policy in tables: marked where it is ours, or knows too much.
fn marked(policy: &str) -> String {
    let mark = match policy {
        OURS => "\u{a0}\u{2605}",
        policy if knows_the_truth(policy) => "\u{a0}\u{2020}",
        _ => "",
    };
    format!("{policy}{mark}")
}

/// What the marks mean.
const MARKS: &str = "\u{2605} is Evercrawl's default; \u{2020} knows what no crawler can, and is not \
                     compared. The best of the others is bold.";

fn knows_the_truth(policy: &str) -> bool {
    registry::find(policy).is_ok_and(|entry| entry.needs_truth())
}

/// Whether others are measured by it.
fn is_reference(policy: &str) -> bool {
    ["clairvoyant", "oracle"].contains(&policy)
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut list: Vec<&str> = Vec::new();
    for name in names {
        if !list.contains(&name) {
            list.push(name);
        }
    }
    list
}
