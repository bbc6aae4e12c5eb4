//! How do all results fit on one page?

use super::{MARKS, RunSummary};
use crate::page::ReportPage;

impl RunSummary<'_> {
    /// Returns the report as one HTML file that needs nothing else; `command` is what made it.
    pub fn html(&self, command: &str) -> String {
        let mut page = ReportPage::new(&self.title(), &self.lead());
        page.paragraph(MARKS);
        if self.worlds.len() > 1 {
            page.contents();
            self.add_overview(&mut page);
        }
        for world in &self.worlds {
            self.add_world(&mut page, world);
        }
        page.section("How this was measured");
        page.paragraph(DEFINITIONS);
        page.paragraph(&format!("Made by `{command}`, Evercrawl {}.", env!("CARGO_PKG_VERSION")));
        page.html()
    }

    fn title(&self) -> String {
        match self.worlds.as_slice() {
            [] => "No run was finished".to_owned(),
            [world] => format!("{}: {} policies compared", world, self.policies.len()),
            worlds => format!("{} policies in {} worlds", self.policies.len(), worlds.len()),
        }
    }

    pub(super) fn lead(&self) -> String {
        let Some(row) = self.rows.first() else { return String::new() };
        let verdict = match self.worlds.as_slice() {
            [world] => self.verdict(world, self.goal()),
            _ => self.verdict_over_worlds(self.goal()),
        };
        format!("Policies that can choose aim at {}. {verdict}", row.goal)
    }

    fn add_overview(&self, page: &mut ReportPage) {
        page.section("All worlds");
        if let Some(figure) = self.by_budget_chart(None) {
            page.figure(&figure);
        }
        for measure in self.measures() {
            page.table(&self.overview(measure));
        }
    }

    fn add_world(&self, page: &mut ReportPage, world: &str) {
        page.section(world);
        if let Some(figure) = self.by_budget_chart(Some(world)) {
            page.figure(&figure);
        }
        let budgets: Vec<&str> = self.budgets_of(world);
        if budgets.len() > 1 {
            for measure in self.measures() {
                page.table(&self.matrix(world, measure));
            }
        }
        page.figure(&self.weeks_chart(world));
        for budget in &budgets {
            page.heading(&format!("{world} at {budget}"));
            page.table(&self.details(world, budget));
            page.table(&self.spending(world, budget));
        }
        if let Some(middle) = budgets.get(budgets.len() / 2) {
            page.heading(&format!("{world} by kind of page"));
            page.table(&self.classes(world, middle));
            if let Some(hosts) = self.hosts(world, middle) {
                page.table(&hosts);
            }
        }
    }

    fn budgets_of(&self, world: &str) -> Vec<&str> {
        let ran = |budget: &&&str| {
            self.lines.iter().any(|line| line.world() == world && line.budget() == **budget)
        };
        self.budgets.iter().filter(ran).copied().collect()
    }
}

const DEFINITIONS: &str = "Freshness is the share of live pages whose copy is current, and age the time since the first change \
     that a copy lacks (0 while it is current); both are exact means over all pages and all moments of the \
     scored time. Weighted freshness and weighted age count pages by their worth, which is what policies aim at. Coverage is the share of changes that a fetch found, a change counting once a page and \
     week; the update rate is the share of fetches that found one. Intervals of 95 % are over seeds from \
     three seeds on, else over pages: by bootstrap for whole runs, by the spread of 61 groups of pages for \
     weeks, hosts and kinds of page. The clairvoyant knows every page's true mean change \
     rate, the oracle every change to come; what others reach of theirs is measured in weighted freshness, on the same pages.";
