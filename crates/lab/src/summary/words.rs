//! Who leads, and by how much? One honest sentence.

use super::{OURS, RunSummary};
use crate::measure::ScoreMeasure;

/// How the policy that is talked about does against the best of the others, budget by budget.
struct Race<'a> {
    budget: &'a str,
    rival: &'a str,
    lead: f64,
}

impl<'a> RunSummary<'a> {
    /// Who leads in a world, as a sentence.
    pub(super) fn verdict(&self, world: &str, measure: ScoreMeasure) -> String {
        let value = |budget: &str, policy: &str| {
            self.line(world, budget, policy).map(|line| line.mean_of(measure))
        };
        self.sentence(measure, value)
    }

    /// Who leads on the mean over all worlds, as a sentence.
    pub(super) fn verdict_over_worlds(&self, measure: ScoreMeasure) -> String {
        self.sentence(measure, |budget, policy| self.over_worlds(budget, policy, measure))
    }

    fn sentence(&self, measure: ScoreMeasure, value: impl Fn(&str, &str) -> Option<f64>) -> String {
        let ours = self.policies.contains(&OURS).then_some(OURS);
        let Some(hero) = ours.or_else(|| self.honest().next()) else { return String::new() };
        let races: Vec<Race<'a>> = self
            .budgets
            .iter()
            .filter_map(|budget| {
                let own = value(budget, hero)?;
                let (rival, best) =
                    self.best_other(hero, measure, |policy| value(budget, policy))?;
                Some(Race { budget, rival, lead: measure.lead(own, best) })
            })
            .collect();
        told(hero, measure, &races)
    }

    /// The best of the honest policies besides `hero`, with its value.
    pub(super) fn best_other(
        &self,
        hero: &str,
        measure: ScoreMeasure,
        value: impl Fn(&str) -> Option<f64>,
    ) -> Option<(&'a str, f64)> {
        let others = self.honest().filter(|policy| *policy != hero);
        let valued = others.filter_map(|policy| Some((policy, value(policy)?)));
        valued.min_by(|a, b| measure.best_first(a.1, b.1))
    }
}

fn told(hero: &str, measure: ScoreMeasure, races: &[Race<'_>]) -> String {
    let (ahead, behind): (Vec<_>, Vec<_>) = races.iter().partition(|race| race.lead >= 0.0);
    let by = |race: &Race<'_>| {
        let (lead, digits) = (race.lead.abs(), measure.digits());
        let unit = if measure.is_a_time() { "days" } else { "points" };
        format!("{lead:.digits$} {unit}")
    };
    let most = |list: &[&Race<'_>]| {
        let most = list.iter().max_by(|a, b| a.lead.abs().total_cmp(&b.lead.abs())).copied();
        let at = |race: &Race<'_>| match races {
            [_] => format!("{} (`{}`)", by(race), race.rival),
            _ => format!("up to {} at `{}` (`{}`)", by(race), race.budget, race.rival),
        };
        most.map(at).unwrap_or_default()
    };
    let everywhere = match races {
        [_] => "here".to_owned(),
        _ => format!("at all {} budgets", races.len()),
    };
    let (name, count, all) = (measure.name(), ahead.len(), races.len());
    match (ahead.is_empty(), behind.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!(
            "In {name}, `{hero}` is ahead of the best of the others {everywhere}, by {}.",
            most(&ahead)
        ),
        (true, false) => format!(
            "In {name}, `{hero}` is behind the best of the others {everywhere}, by {}.",
            most(&behind)
        ),
        (false, false) => format!(
            "In {name}, `{hero}` is ahead of the best of the others at {count} of {all} budgets, by {}, \
             and behind at the rest, by {}.",
            most(&ahead),
            most(&behind)
        ),
    }
}
