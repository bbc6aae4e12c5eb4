//! Sections 2.1 to 2.3: how do the three systems of the survey do in one and the same world?

use std::sync::atomic::AtomicBool;

use evercrawl_policy::registry::find;

use crate::WorldSource;
use crate::page::{Cell, ReportTable, cell, percent};
use crate::report::{Effort, ReportDocument};
use crate::row::ResultRow;
use crate::run::{RunPlan, RunProgress, RunTerms, run};
use crate::synthetic::WorldSpec;

/// Pages as the survey models them: Poisson, of very different rates and importance, coming and going,
/// with honest dates.
const WORLD: &str = "\
pages = 2000
hosts = 20
directories = 10
links = 2
before = 12
weeks = 40
importance = { pareto = 1.5 }

[[class]]
name = \"pages\"
rate = { lognormal = 1.5, mean = 0.3 }
births = 0.01
deaths = 0.005

[[host]]
lastmod = true
";
const POLICIES: [(&str, &str); 7] = [
    ("webfountain", "WebFountain: epochs ahead"),
    ("chile", "Chile: most gain first"),
    ("chile-literal", "Chile, value as printed"),
    ("tianwang", "Tianwang: five tables"),
    ("uniform", "every page alike"),
    ("optimal", "eq. 13, then eq. 28"),
    ("index", "Evercrawl's default"),
];
const BUDGETS: [&str; 2] = ["10%/week", "40%/week"];

pub(super) fn write(document: &mut ReportDocument, effort: Effort) {
    document.section("Sections 2.1 to 2.3: WebFountain, Chile and Tianwang in one world");
    document.paragraph(
        "2000 pages on 20 hosts, rates lognormal with a mean of 0.3 changes a week, importance heavy-tailed, \
         1 % of new pages a week; nothing known at the start, 40 weeks scored after 12. The survey describes \
         the three systems and compares none.",
    );
    let rows = rows(effort);
    document.table(table(&rows));
    let fresh = |policy: &str, budget: usize| {
        100.0 * mean(&rows, policy, BUDGETS[budget], |row| row.scores.freshness)
    };
    let by_importance = |policy: &str| {
        let [few, many] = BUDGETS
            .map(|budget| 100.0 * mean(&rows, policy, budget, |row| row.scores.freshness_weighted));
        format!("{few:.1} and {many:.1} %")
    };
    document.beside(
        "Chile takes pages by value q^a s^b p^c, p being the chance that the copy is still fresh (eq. 25, 26).",
        format!(
            "Taken so, it is {:.1} and {:.1} % fresh at the two budgets; taken by what a fetch gains, with 1 − p^c \
             for p^c, {:.1} and {:.1} %.",
            fresh("chile-literal", 0),
            fresh("chile-literal", 1),
            fresh("chile", 0),
            fresh("chile", 1),
        ),
        "As printed, the value is highest for pages that need no fetch, so the formula must be that of what \
         is in the store, not of what to fetch next.",
    );
    document.beside(
        "WebFountain minimises stale and waiting pages over coming epochs; Tianwang fetches what is due by \
         eq. 13 and keeps a share for new pages.",
        format!(
            "By importance, WebFountain is {} fresh at the two budgets, Tianwang {}, every page alike {}, \
             Evercrawl's default {}.",
            by_importance("webfountain"),
            by_importance("tianwang"),
            by_importance("uniform"),
            by_importance("index"),
        ),
        "A page fetched each time it is expected to have changed is fetched in proportion to its rate, which \
         is what section 3.1 of the survey warns of; classes are coarser than pages; and neither of the two \
         asks which pages matter.",
    );
}

fn table(rows: &[ResultRow]) -> ReportTable {
    let mut table = ReportTable::new(
        "systems",
        "Freshness plain and by importance, update rate and coverage in %, age in days; mean of all seeds.",
        &["system", "budget", "freshness", "by importance", "age", "update rate", "coverage"],
    );
    for budget in BUDGETS {
        for (policy, name) in POLICIES {
            let mean = |value: fn(&ResultRow) -> f64| mean(rows, policy, budget, value);
            table.row([
                Cell::from(name),
                Cell::from(budget),
                percent(mean(|row| row.scores.freshness), 1),
                percent(mean(|row| row.scores.freshness_weighted), 1),
                cell(mean(|row| row.scores.age), 1),
                percent(mean(|row| row.scores.update_rate), 1),
                percent(mean(|row| row.scores.coverage), 1),
            ]);
        }
    }
    table
}

/// Every policy at every budget from every seed.
fn rows(effort: Effort) -> Vec<ResultRow> {
    let mut rows = Vec::new();
    // Both are constants: a test holds that they can be read.
    let Ok(spec) = WorldSpec::parse("the report's world", WORLD) else { return rows };
    let plan = RunPlan {
        worlds: vec![WorldSource::Made { name: "survey".to_owned(), spec: Box::new(spec) }],
        policies: POLICIES.iter().filter_map(|(name, _)| find(name).ok()).collect(),
        budgets: BUDGETS.iter().filter_map(|budget| budget.parse().ok()).collect(),
        seeds: if effort == Effort::Full { vec![0, 1, 2] } else { vec![0] },
        terms: RunTerms::default(),
        references: Some(false),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        cache: None,
    };
    let done = run(&plan, &AtomicBool::new(false), |news| {
        if let RunProgress::Row(row) = news {
            rows.push(*row);
        }
    });
    debug_assert!(done.is_ok(), "a made world has no files to be wrong");
    rows
}

fn mean(rows: &[ResultRow], policy: &str, budget: &str, value: fn(&ResultRow) -> f64) -> f64 {
    let (sum, count) = rows
        .iter()
        .filter(|row| row.policy == policy && row.budget == budget)
        .fold((0.0, 0.0), |(sum, count), row| (sum + value(row), count + 1.0));
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_can_be_read_and_every_policy_runs_in_it() {
        let rows = rows(Effort::Quick);
        assert_eq!(rows.len(), POLICIES.len() * BUDGETS.len());
        let fresh = |policy| mean(&rows, policy, BUDGETS[0], |row| row.scores.freshness);
        assert!(fresh("chile") > fresh("chile-literal"));
    }
}
