//! What do a page's links say about the pages that they lead to, and where do those wait that nobody has visited?
//!
//! The evidence for a page is a small row beside its own. A visit changes that of the pages that it links to,
//! and moves such of them as wait to the front queue that they have a claim to by now; a page's own row is
//! read and written only then. So a visit costs a look-up for each link, where an order asks for it at all.
//!
//! Each change depends on what was known of the linked page and on the sums over all pages, so the evidence of other
//! hosts' pages is read here; only what it comes to is sent to them.

use std::collections::HashMap;

use evercrawl_model::{
    Band, Change, Event, HostKey, Importance, LinkEvidence, Measure, PageKey, PageKind,
};
use evercrawl_rank::topic;
use evercrawl_state::{LinkEvidenceTotal, StateError, Store, View};

use crate::importance::{band_of_importance, band_on_topic, cash};
use crate::planner::PlannerConfig;
use crate::process::Processed;
use crate::walk::consequences::{Consequence, Consequences, Note};

/// What a visit changes in the link evidence of pages, by one measure.
pub(in crate::walk) struct EvidenceChange {
    pub(in crate::walk) measure: Measure,
    pages: HashMap<PageKey, Option<LinkEvidence>>,
    total: LinkEvidenceTotal,
    /// Pages that have a claim to another front queue than they wait in.
    moved: Vec<(PageKey, Band)>,
    /// How much the visited page matters itself, where that is measured.
    importance: Option<Importance>,
}

impl EvidenceChange {
    fn new(measure: Measure, total: LinkEvidenceTotal) -> Self {
        let (pages, moved) = (HashMap::new(), Vec::new());
        EvidenceChange { measure, pages, total, moved, importance: None }
    }

    /// Keeps a page's evidence; one that waits elsewhere than it has a claim to is to be moved.
    fn set(&mut self, page: PageKey, before: Option<LinkEvidence>, numbers: [f64; 3], band: Band) {
        let waits = before.map_or(Some(band), |before| before.band.map(|_| band));
        if let (Some(was), Some(is)) = (before.and_then(|before| before.band), waits)
            && was != is
        {
            self.moved.push((page, is));
        }
        self.pages.insert(page, Some(LinkEvidence { band: waits, numbers }));
    }

    /// How much a page matters that was just found, by the cash that it has, where that is measured.
    pub(super) fn importance_at_once(&self, page: PageKey) -> Option<Importance> {
        let measured = self.importance.filter(|_| self.measure == Measure::Cash);
        let evidence = self.pages.get(&page)?.as_ref().filter(|_| measured.is_some())?;
        Some(cash::at_once(&cash::till(self.total), &cash::account(evidence)))
    }

    /// The front queue that a page has a claim to.
    pub(super) fn band(&self, page: PageKey) -> Option<Band> {
        self.pages.get(&page)?.as_ref()?.band
    }
}

/// What a visit says about the pages that its page links to, by each measure that is asked for. `tagged` says
/// whether the page has a tag that the user is interested in.
pub(in crate::walk) fn of_visit<S: Store>(
    view: &View<S>,
    processed: &Processed,
    plan: &PlannerConfig,
    tagged: bool,
) -> Result<Vec<EvidenceChange>, StateError> {
    let mut changes = Vec::new();
    // Lists are no evidence, and neither is a visit that failed.
    let is_page = processed.visited.kind == PageKind::Page;
    if !is_page || processed.visited.visit.change == Change::Failed {
        return Ok(changes);
    }
    for measure in Measure::ALL {
        let for_importance = measure == Measure::Cash && plan.importance && plan.by_cash;
        if plan.order.measure() == Some(measure) || for_importance {
            let mut change = EvidenceChange::new(measure, view.link_evidence_total(measure)?);
            match measure {
                Measure::Links => count_links(view, processed, &mut change)?,
                Measure::Cash => hand_on_cash(view, processed, plan, &mut change)?,
                Measure::Topic => expect_topic(view, processed, tagged, &mut change)?,
            }
            changes.push(change);
        }
    }
    Ok(changes)
}

/// What follows from evidence that changed, for the host of the visited page and for others. The pages that the
/// visit found are known by now.
pub(in crate::walk) fn hand_out<S: Store>(
    view: &View<S>,
    page: PageKey,
    changes: Vec<EvidenceChange>,
    plan: &PlannerConfig,
) -> Result<Consequences, StateError> {
    let mut consequences = Vec::new();
    for change in changes {
        let EvidenceChange { measure, pages, total, moved, importance } = change;
        let (own, others) = by_host(page.host, pages);
        let event = Event::LinkEvidenceChanged { measure, evidence: own, total };
        consequences.push(Consequence::Event(event));
        let note = |(to, evidence)| Note::EvidenceChanged { to, measure, evidence };
        consequences.extend(others.into_iter().map(note).map(Consequence::Note));
        if plan.order.measure() == Some(measure) {
            let note = |(page, band)| Consequence::Note(Note::BandChanged { page, band });
            consequences.extend(moved.into_iter().map(note));
        }
        consequences.extend(importance_changed(view, page, importance)?);
    }
    Ok(consequences)
}

/// Pages with their evidence.
type Evidence = Vec<(PageKey, Option<LinkEvidence>)>;

/// The pages of the visited host, and those of each other host. All in one order, so that the same visits leave
/// the same bytes.
fn by_host(
    host: HostKey,
    pages: HashMap<PageKey, Option<LinkEvidence>>,
) -> (Evidence, Vec<(HostKey, Evidence)>) {
    let mut pages: Evidence = pages.into_iter().collect();
    pages.sort_unstable_by_key(|(page, _)| *page);
    let of_host = |pages: &[(PageKey, _)]| (pages[0].0.host, pages.to_vec());
    let hosts = pages.chunk_by(|(one, _), (next, _)| one.host == next.host);
    let (own, others): (Vec<_>, Vec<_>) = hosts.map(of_host).partition(|(of, _)| *of == host);
    (own.into_iter().flat_map(|(_, pages)| pages).collect(), others)
}

/// Lets a page count by what passes through it.
fn importance_changed<S: Store>(
    view: &View<S>,
    page: PageKey,
    importance: Option<Importance>,
) -> Result<Option<Consequence>, StateError> {
    let Some(importance) = importance else { return Ok(None) };
    let known = view.page(page)?.map(|row| row.importance);
    let pages = vec![(page, importance)];
    let differs = known.is_some_and(|known| known != importance);
    Ok(differs.then_some(Consequence::Event(Event::ImportanceChanged { pages })))
}

/// In-degree: every page that came to link to another counts once, and no more when it does not.
fn count_links<S: Store>(
    view: &View<S>,
    processed: &Processed,
    change: &mut EvidenceChange,
) -> Result<(), StateError> {
    let lease = &processed.job.lease;
    let gone = processed.visited.visit.change == Change::Gone;
    let links = match &processed.visited.links {
        Some(links) => links.as_slice(),
        None if gone => &[],
        None => return Ok(()),
    };
    let before = match lease.row.past {
        Some(_) => view.links(lease.page)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let lost = before.iter().filter(|to| links.binary_search(to).is_err()).map(|to| (*to, -1.0));
    let won = links.iter().filter(|to| before.binary_search(to).is_err()).map(|to| (*to, 1.0));
    for (to, step) in lost.chain(won) {
        let evidence = view.link_evidence(Measure::Links, to)?;
        let count = (evidence.map_or(0.0, |evidence| evidence.numbers[0]) + step).max(0.0);
        change.total[0] += f64::from(evidence.is_none());
        change.total[1] = (change.total[1] + step).max(0.0);
        let [pages, links, ..] = change.total;
        let band = band_of_importance(Importance::from_ratio(count * pages / links));
        change.set(to, evidence, [count, 0.0, 0.0], band);
    }
    leave_front_queue(view, processed, change)
}

/// OPIC: a visit hands the page's cash on to the pages that it links to, and the rest to all.
fn hand_on_cash<S: Store>(
    view: &View<S>,
    processed: &Processed,
    plan: &PlannerConfig,
    change: &mut EvidenceChange,
) -> Result<(), StateError> {
    let lease = &processed.job.lease;
    let mut till = cash::till(change.total);
    let own = match view.link_evidence(Measure::Cash, lease.page)? {
        Some(evidence) => cash::account(&evidence),
        // Seeds bring cash, and so do pages that were visited before anybody counted any.
        None => till.open(f64::from(lease.row.seed || lease.row.past.is_some())),
    };
    if processed.visited.visit.change == Change::Gone {
        till.close(own);
        change.pages.insert(lease.page, None);
        change.total = cash::total(&till);
        return Ok(());
    }
    let links = match &processed.visited.links {
        Some(links) => links.clone(),
        None => view.links(lease.page)?.unwrap_or_default(),
    };
    let mut accounts = Vec::with_capacity(links.len());
    for to in links {
        let evidence = view.link_evidence(Measure::Cash, to)?;
        let account = evidence.as_ref().map_or_else(|| till.open(0.0), cash::account);
        accounts.push((to, evidence, account));
    }
    let mut own = own;
    let share = till.spend(&mut own, accounts.len());
    let waiting = waiting_pages(view);
    for (to, evidence, mut account) in accounts {
        account.claim += share;
        let times = till.cash_of(&account) * waiting / till.cash;
        change.set(
            to,
            evidence,
            cash::numbers(&account),
            band_of_importance(Importance::from_ratio(times)),
        );
    }
    let evidence = LinkEvidence { band: None, numbers: cash::numbers(&own) };
    change.pages.insert(lease.page, Some(evidence));
    let measured = plan.importance && plan.by_cash;
    change.importance = measured.then(|| cash::importance(&till, &own));
    change.total = cash::total(&till);
    Ok(())
}

/// How many pages wait for their first visit; at least 1.
fn waiting_pages<S: Store>(view: &View<S>) -> f64 {
    let [new, ..] = view.counters().by_status;
    new.max(1) as f64
}

/// Topic: a page is expected to be about what those are about that link to it, and what links say.
fn expect_topic<S: Store>(
    view: &View<S>,
    processed: &Processed,
    tagged: bool,
    change: &mut EvidenceChange,
) -> Result<(), StateError> {
    let own = view.link_evidence(Measure::Topic, processed.job.lease.page)?;
    let about = processed.topic_likeness.max(if tagged { topic::aboutness(1.0) } else { 0.0 });
    let inherited =
        topic::inherit_expectation(about, own.map_or(0.0, |evidence| evidence.numbers[0]));
    for found in &processed.links.found {
        let expected = topic::combine_expectations(inherited, f64::from(found.on_topic) / 255.0);
        let evidence = view.link_evidence(Measure::Topic, found.page)?;
        let before = evidence.map_or(-1.0, |evidence| evidence.numbers[0]);
        if expected > before {
            change.set(found.page, evidence, [expected, 0.0, 0.0], band_on_topic(expected));
        }
    }
    leave_front_queue(view, processed, change)
}

/// A page that was visited waits in no front queue of new pages.
fn leave_front_queue<S: Store>(
    view: &View<S>,
    processed: &Processed,
    change: &mut EvidenceChange,
) -> Result<(), StateError> {
    let lease = &processed.job.lease;
    if lease.row.past.is_none()
        && let Some(evidence) = view.link_evidence(change.measure, lease.page)?
    {
        change.pages.insert(lease.page, Some(LinkEvidence { band: None, ..evidence }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use evercrawl_model::Outcome;

    use super::*;
    use crate::importance::CrawlOrder;
    use crate::walk::steps::test_visit::{apply, key_of, link_to, state, visit_to};

    fn plan(order: CrawlOrder) -> PlannerConfig {
        PlannerConfig { order, ..PlannerConfig::default() }
    }

    fn links(urls: &[&str]) -> Option<Vec<PageKey>> {
        let mut links: Vec<PageKey> = urls.iter().map(|url| key_of(url)).collect();
        links.sort_unstable();
        Some(links)
    }

    /// The evidence of pages after visits to `http://a.test/`, `http://b.test/`, ..., each with its links.
    fn after_visits(
        order: CrawlOrder,
        visits: &[&[&str]],
        of: &[&str],
    ) -> Vec<Option<LinkEvidence>> {
        let mut state = state();
        for (name, urls) in ["a", "b", "c"].iter().zip(visits) {
            let mut visit = visit_to(&format!("http://{name}.test/"), Outcome::Ok);
            visit.visited.links = links(urls);
            visit.links.found = urls.iter().map(|url| link_to(url)).collect();
            let changes = of_visit(state.view(), &visit, &plan(order), false).unwrap();
            let page = visit.job.lease.page;
            let handed_out = hand_out(state.view(), page, changes, &plan(order)).unwrap();
            apply(&mut state, handed_out);
        }
        let measure = order.measure().unwrap();
        of.iter().map(|url| state.view().link_evidence(measure, key_of(url)).unwrap()).collect()
    }

    #[test]
    fn a_page_counts_by_how_many_others_link_to_it() {
        let (x, y) = ("http://x.test/", "http://y.test/");
        let found =
            after_visits(CrawlOrder::Links, &[&[x, y], &[y], &[y]], &[x, y, "http://z.test/"]);
        let counts: Vec<_> = found.iter().map(|e| e.map(|e| e.numbers[0])).collect();
        assert_eq!(counts, [Some(1.0), Some(3.0), None]);
        assert!(found[1].unwrap().band < found[0].unwrap().band, "{found:?}");
    }

    #[test]
    fn cash_goes_to_the_pages_that_are_linked_to() {
        let (x, y) = ("http://x.test/", "http://y.test/");
        let found = after_visits(CrawlOrder::Cash, &[&[x, y], &[y]], &[x, y]);
        let [x, y] = [0, 1].map(|n| cash::account(&found[n].unwrap()).claim);
        assert!(y >= x && x >= 0.0, "{x} {y}");
    }

    #[test]
    fn what_a_list_names_or_a_failed_visit_held_is_no_evidence() {
        let state = state();
        let mut list = visit_to("http://a.test/", Outcome::Ok);
        list.visited.kind = PageKind::Sitemap;
        let mut failed = visit_to("http://a.test/", Outcome::Timeout);
        failed.visited.visit.change = Change::Failed;
        for mut visit in [list, failed] {
            visit.visited.links = links(&["http://x.test/"]);
            let found = of_visit(state.view(), &visit, &plan(CrawlOrder::Links), false).unwrap();
            assert!(found.is_empty());
        }
    }

    #[test]
    fn evidence_for_other_hosts_goes_to_them_and_in_one_order() {
        let state = state();
        let mut visit = visit_to("http://a.test/", Outcome::Ok);
        let urls = ["http://c.test/1", "http://a.test/2", "http://b.test/3", "http://c.test/4"];
        visit.visited.links = links(&urls);
        let page = visit.job.lease.page;
        let changes = of_visit(state.view(), &visit, &plan(CrawlOrder::Links), false).unwrap();
        let all = hand_out(state.view(), page, changes, &plan(CrawlOrder::Links)).unwrap();
        let Consequence::Event(Event::LinkEvidenceChanged { evidence: claims, .. }) = &all[0]
        else {
            panic!("{all:?}")
        };
        assert_eq!(claims.iter().map(|(page, _)| *page).collect::<Vec<_>>(), [key_of(urls[1])]);
        let notes: Vec<(HostKey, usize)> = all[1..]
            .iter()
            .map(|consequence| match consequence {
                Consequence::Note(Note::EvidenceChanged { to, evidence, .. }) => {
                    assert!(evidence.iter().all(|(page, _)| page.host == *to));
                    (*to, evidence.len())
                }
                other => panic!("{other:?}"),
            })
            .collect();
        let mut want = [(key_of(urls[2]).host, 1), (key_of(urls[0]).host, 2)];
        want.sort_unstable();
        assert_eq!(notes, want);
    }
}
