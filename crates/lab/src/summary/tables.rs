//! How do policies compare? Tables for people.

use super::{MARKS, OURS, RunSummary, SummaryLine, distinct, knows_the_truth, marked};
use crate::measure::{MeanWithError, ScoreMeasure};
use crate::page::{Cell, ReportTable, cell, count, percent};
use crate::row::{PartScores, ResultRow};

/// The most hosts shown, the largest ones; the rest is in the CSV.
const MOST_HOSTS: usize = 24;

const HALF: &str = "\u{b1} is half of the 95 % interval";

/// Freshness relative to the references.
const REFERENCES: [fn(&ResultRow) -> Option<MeanWithError>; 2] =
    [ResultRow::of_clairvoyant, ResultRow::of_oracle];

impl<'a> RunSummary<'a> {
    /// Policies by budgets, on the mean over all worlds.
    pub(super) fn overview(&self, measure: ScoreMeasure) -> ReportTable {
        let caption = format!(
            "Mean {} over {} worlds, {}, by budget. A dash: it cannot run in all of them.",
            measure.name(),
            self.worlds.len(),
            measure.unit()
        );
        let value = |budget: &str, policy: &str| self.over_worlds(budget, policy, measure);
        self.by_budget(&format!("overview-{}", measure.name()), caption, measure, value)
    }

    /// Policies by budgets in one world.
    pub(super) fn matrix(&self, world: &str, measure: ScoreMeasure) -> ReportTable {
        let caption = format!("{} in {world}, {}, by budget.", capital(measure), measure.unit());
        let value = |budget: &str, policy: &str| {
            self.line(world, budget, policy).map(|line| line.mean_of(measure))
        };
        self.by_budget(&format!("{world}-{}", measure.name()), caption, measure, value)
    }

    fn by_budget(
        &self,
        name: &str,
        caption: String,
        measure: ScoreMeasure,
        value: impl Fn(&str, &str) -> Option<f64>,
    ) -> ReportTable {
        let heads = std::iter::once("policy").chain(self.budgets.iter().copied());
        let mut table = ReportTable::new(name, caption, &heads.collect::<Vec<_>>());
        let policies: Vec<&str> = self.policies_by_merit(measure, |policy| {
            let values: Vec<f64> = self.budgets.iter().filter_map(|b| value(b, policy)).collect();
            let missing = self.budgets.len() - values.len();
            (missing == 0).then(|| values.iter().sum::<f64>())
        });
        for policy in policies {
            let cells = self.budgets.iter().map(|budget| {
                let best = self.best(measure, |policy| value(budget, policy));
                self.scored(policy, value(budget, policy), best, measure)
            });
            table.row(std::iter::once(Cell::from(marked(policy))).chain(cells));
        }
        table
    }

    /// All results of the policies in a world at a budget, best first.
    pub(super) fn details(&self, world: &str, budget: &str) -> ReportTable {
        let shown = self.detailed();
        let heads: Vec<String> = shown.iter().map(|measure| head(*measure)).collect();
        let heads = std::iter::once("policy").chain(heads.iter().map(String::as_str));
        let heads: Vec<&str> = heads.chain(["% of clairvoyant", "% of oracle"]).collect();
        let caption = format!("{world} at {budget}, best first; {HALF}.");
        let mut table = ReportTable::new(&format!("{world}-{budget}"), caption, &heads);
        let value =
            |policy: &str, m: ScoreMeasure| Some(self.line(world, budget, policy)?.mean_of(m));
        for line in self.lines_by_merit(world, budget) {
            let scored = |measure: ScoreMeasure| {
                let best = self.best(measure, |policy| value(policy, measure));
                let mean = self.scored(line.policy(), Some(line.mean_of(measure)), best, measure);
                mean.within(line.of(measure).shown(measure).reach())
            };
            let references = REFERENCES.into_iter().map(|of| {
                let share = line.beside(of);
                percent(share.value, 1).within(100.0 * share.reach())
            });
            let name = Cell::from(marked(line.policy()));
            let scores = shown.iter().map(|measure| scored(*measure));
            table.row([name].into_iter().chain(scores).chain(references));
        }
        table
    }

    /// What is shown of every policy; the age of worth only where policies aim at it.
    fn detailed(&self) -> Vec<ScoreMeasure> {
        let by_worth = self.goal() == ScoreMeasure::AgeWeighted;
        let shown = |measure: &ScoreMeasure| *measure != ScoreMeasure::AgeWeighted || by_worth;
        ScoreMeasure::ALL.into_iter().filter(shown).collect()
    }

    /// What the budget went into.
    pub(super) fn spending(&self, world: &str, budget: &str) -> ReportTable {
        let heads =
            ["policy", "fetches", "cost", "found a change", "wasted", "changes", "detected"];
        let caption = format!(
            "What fetches went into in {world} at {budget}. Changes and detected count once a page and week; \
             fetches that found none are wasted."
        );
        let mut table = ReportTable::new(&format!("{world}-{budget}-fetches"), caption, &heads);
        for line in self.lines_by_merit(world, budget) {
            let mean = |of: fn(&ResultRow) -> f64| cell(line.mean(of), 0);
            table.row([
                marked(line.policy()).into(),
                mean(|row| row.fetches as f64),
                mean(|row| row.cost),
                mean(|row| row.finds as f64),
                mean(|row| row.wasted as f64),
                mean(|row| row.changes as f64),
                mean(|row| row.detected as f64),
            ]);
        }
        table
    }

    /// The policies that ran in a world at a budget, best first.
    fn lines_by_merit(&self, world: &str, budget: &str) -> Vec<&SummaryLine<'a>> {
        self.lines_by(world, budget, self.goal())
    }

    /// The same, the freshest first.
    fn lines_by_freshness(&self, world: &str, budget: &str) -> Vec<&SummaryLine<'a>> {
        self.lines_by(world, budget, self.freshness())
    }

    fn lines_by(&self, world: &str, budget: &str, measure: ScoreMeasure) -> Vec<&SummaryLine<'a>> {
        let merit = |policy: &str| Some(self.line(world, budget, policy)?.mean_of(measure));
        let policies = self.policies_by_merit(measure, merit);
        policies.into_iter().filter_map(|policy| self.line(world, budget, policy)).collect()
    }

    /// Freshness by how often pages change.
    pub(super) fn classes(&self, world: &str, budget: &str) -> ReportTable {
        let measure = self.freshness();
        let caption = format!(
            "{} in {world} at {budget}, %, by how often pages change: never, or in the slow, \
             medium or fast third of the others; {HALF}.",
            capital(measure)
        );
        let parts: fn(&ResultRow) -> &[PartScores] = |row| &row.classes;
        let names = self.parts(world, budget, parts);
        let heads = std::iter::once("policy").chain(names.iter().copied());
        let name = format!("{world}-classes");
        let mut table = ReportTable::new(&name, caption, &heads.collect::<Vec<_>>());
        let value =
            |policy: &str, name: &str| self.line(world, budget, policy)?.part(measure, parts, name);
        for line in self.lines_by_freshness(world, budget) {
            let policy = line.policy();
            let cells = names
                .iter()
                .map(|name| self.within_reach(policy, measure, |policy| value(policy, name)));
            table.row(std::iter::once(Cell::from(marked(policy))).chain(cells));
        }
        table
    }

    /// Freshness by host, for the policies that stand out; `None` where there is one host only.
    pub(super) fn hosts(&self, world: &str, budget: &str) -> Option<ReportTable> {
        let parts: fn(&ResultRow) -> &[PartScores] = |row| &row.hosts;
        let line = self.lines.iter().find(|l| l.world() == world && l.budget() == budget)?;
        let mut hosts: Vec<&PartScores> = line.rows[0].hosts.iter().collect();
        hosts.sort_by_key(|host| std::cmp::Reverse(host.pages));
        let (picked, measure) = (self.picked(), self.freshness());
        let mut table = self.host_table(world, budget, hosts.len());
        for host in hosts.iter().take(MOST_HOSTS) {
            let value = |policy: &str| {
                let line = self.line(world, budget, policy)?;
                line.part(measure, parts, &host.name).filter(|_| picked.contains(&policy))
            };
            let cells = picked.iter().map(|p| self.within_reach(p, measure, value));
            let head = [Cell::from(host.name.as_str()), count(host.pages as usize)];
            table.row(head.into_iter().chain(cells));
        }
        (hosts.len() > 1).then_some(table)
    }

    /// The header of the table of hosts.
    fn host_table(&self, world: &str, budget: &str, hosts: usize) -> ReportTable {
        let shown = hosts.min(MOST_HOSTS);
        let which = if shown < hosts { format!("the {shown} largest of ") } else { String::new() };
        let caption = format!(
            "{} in {world} at {budget}, %, by host: {which}{hosts} hosts; {HALF}.",
            capital(self.freshness())
        );
        let names: Vec<String> = self.picked().iter().map(|policy| marked(policy)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let heads = ["host", "pages"].into_iter().chain(names.iter().copied());
        ReportTable::new(&format!("{world}-hosts"), caption, &heads.collect::<Vec<_>>())
    }

    /// What a policy reached in a part of the world, bold if it is the best there, with its interval.
    fn within_reach(
        &self,
        policy: &str,
        measure: ScoreMeasure,
        value: impl Fn(&str) -> Option<MeanWithError>,
    ) -> Cell {
        let shown = |policy: &str| value(policy).map(|of| of.shown(measure));
        let best = self.best(measure, |policy| shown(policy).map(|of| of.value));
        let own = shown(policy);
        let mean = self.scored(policy, own.map(|of| of.value), best, measure);
        mean.within(own.map_or(f64::NAN, MeanWithError::reach))
    }

    /// The one table to choose a policy by: a row a world and budget, a column a policy that stands
    /// out, and the best of all others with its name, so that nobody is left out.
    pub fn choosing(&self) -> ReportTable {
        let measure = self.goal();
        let picked = self.picked();
        let names: Vec<String> = picked.iter().map(|policy| marked(policy)).collect();
        let rest = self.honest().filter(|policy| !picked.contains(policy)).count();
        let others = format!("best of {rest} others");
        let mut heads: Vec<&str> = vec!["world", "budget"];
        heads.extend(names.iter().map(String::as_str));
        heads.extend((rest > 0).then_some(others.as_str()));
        let caption = format!("{}, {}. {MARKS}", capital(measure), measure.unit());
        let mut table = ReportTable::new("choosing", caption, &heads);
        for world in &self.worlds {
            for budget in &self.budgets {
                let value = |p: &str| self.line(world, budget, p).map(|line| line.mean_of(measure));
                table.row(self.choice([world, budget], &picked, measure, value));
            }
        }
        if self.worlds.len() > 1 {
            for budget in &self.budgets {
                let value = |policy: &str| self.over_worlds(budget, policy, measure);
                table.row(self.choice(["mean of all", budget], &picked, measure, value));
            }
        }
        table
    }

    fn choice(
        &self,
        heads: [&str; 2],
        picked: &[&str],
        measure: ScoreMeasure,
        value: impl Fn(&str) -> Option<f64>,
    ) -> Vec<Cell> {
        let best = self.best(measure, &value);
        let mut cells: Vec<Cell> = heads.map(Cell::from).into();
        cells.extend(picked.iter().map(|policy| self.scored(policy, value(policy), best, measure)));
        let unpicked = |policy: &str| (!picked.contains(&policy)).then(|| value(policy))?;
        if let Some((name, other)) = self.best_other(OURS, measure, unpicked) {
            let digits = measure.digits();
            let bold = best.is_some_and(|best| measure.same(other, best));
            cells.push(Cell::from(format!("{other:.digits$} {name}")).bold_if(bold));
        }
        cells
    }

    /// A number of a policy, bold if no honest one is better.
    fn scored(&self, policy: &str, value: Option<f64>, best: Option<f64>, m: ScoreMeasure) -> Cell {
        let is_best = value.zip(best).is_some_and(|(value, best)| m.same(value, best));
        let number = cell(value.unwrap_or(f64::NAN), m.digits());
        number.bold_if(is_best && !knows_the_truth(policy))
    }

    /// The best value of an honest policy.
    fn best(&self, measure: ScoreMeasure, value: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        self.honest().filter_map(value).min_by(|a, b| measure.best_first(*a, *b))
    }

    /// Policies with the best first, those without a value last, those that know the truth after all.
    fn policies_by_merit(
        &self,
        measure: ScoreMeasure,
        merit: impl Fn(&str) -> Option<f64>,
    ) -> Vec<&'a str> {
        let key = |policy: &str| merit(policy).unwrap_or(measure.worst());
        let mut policies = self.policies.clone();
        policies.sort_by(|a, b| measure.best_first(key(a), key(b)));
        policies.sort_by_key(|policy| knows_the_truth(policy));
        policies
    }

    /// The names of the parts that the world has.
    fn parts(
        &self,
        world: &str,
        budget: &str,
        parts: fn(&ResultRow) -> &[PartScores],
    ) -> Vec<&'a str> {
        let lines = self.lines.iter().filter(|l| l.world() == world && l.budget() == budget);
        let rows = lines.flat_map(|line| line.rows.iter().copied());
        distinct(rows.flat_map(parts).filter(|part| part.pages > 0).map(|p| p.name.as_str()))
    }
}

/// What stands above a measure, with its unit.
fn head(measure: ScoreMeasure) -> String {
    let name = if measure == ScoreMeasure::Weighted { "weighted" } else { measure.name() };
    format!("{name}, {}", measure.unit())
}

pub(super) fn capital(measure: ScoreMeasure) -> String {
    let name = measure.name();
    name[..1].to_uppercase() + &name[1..]
}
