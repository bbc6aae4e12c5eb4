//! Which URLs does a page lead to, and how much do they matter? Each goes to the host that it is on.

use std::time::Duration;

use evercrawl_estimate::signal::SignalSource;
use evercrawl_model::{Discovery, Event, Importance, PageKind, Time};

use super::link_evidence::EvidenceChange;
use crate::importance::{CrawlOrder, MeanHostImportance, band_of_importance, importance_passed_on};
use crate::links::FoundLinks;
use crate::planner::PlannerConfig;
use crate::process::Processed;
use crate::walk::consequences::{Consequence, Consequences, Note};

/// Lists are made anew now and then: an entry can be so much older than the last reading of its
/// list, and have come into it only since. Older ones were read then, and are not looked up again.
const LISTED_WITHIN: Duration = Duration::from_secs(7 * 86_400);

/// Takes the links that were found on a page: those that are refused are counted, the others go to their
/// hosts, with the front queue that they have a claim to by what links say.
pub(in crate::walk) fn take(
    processed: &mut Processed,
    evidence: &[EvidenceChange],
    plan: &PlannerConfig,
    usual: &MeanHostImportance,
    now: Time,
) -> Consequences {
    let importance = importance_of_found(processed, plan, usual);
    let list = List::read_by(processed);
    let FoundLinks { found, refused, .. } = std::mem::take(&mut processed.links);
    let refused = refused.iter().map(|(reason, count)| Event::LinksRefused { reason, count });
    let mut consequences = Vec::with_capacity(found.len());
    consequences.extend(refused.map(Consequence::Event));
    consequences.extend(found.into_iter().map(|link| {
        let changed = list.says_changed(&link, now);
        let link = placed(link, importance, evidence, plan.order);
        Consequence::Note(Note::LinkFound { link, changed })
    }));
    consequences
}

/// A list of pages that was read, and may say when they changed.
struct List {
    source: SignalSource,
    /// When it was last read before.
    read: Option<Time>,
}

impl List {
    fn read_by(processed: &Processed) -> Self {
        let row = &processed.job.lease.row;
        let sitemap = row.kind == PageKind::Sitemap;
        let source = if sitemap { SignalSource::Sitemap } else { SignalSource::Feed };
        List { source, read: row.past.as_ref().and_then(|past| past.last_look) }
    }

    /// When a listed page changed, where that is news.
    fn says_changed(&self, link: &Discovery, now: Time) -> Option<(SignalSource, Time)> {
        let recent = |at: &Time| self.read.is_none_or(|read| at.after(LISTED_WITHIN) > read);
        let changed = link.claimed_change.filter(|at| *at <= now && recent(at))?;
        Some((self.source, changed))
    }
}

/// How much the pages matter that a visit has found, as far as is known at once.
fn importance_of_found(
    processed: &Processed,
    plan: &PlannerConfig,
    usual: &MeanHostImportance,
) -> Importance {
    let source = processed.job.lease.row.importance;
    // Before anything was ranked, pages that nobody is known to link to are all alike.
    let source = if source == Importance::UNKNOWN { Importance::from_ratio(1.0) } else { source };
    let by_a_list = processed.visited.kind != PageKind::Page;
    match (plan.importance, plan.order == CrawlOrder::Rank) {
        (false, false) => Importance::UNKNOWN,
        (true, false) if by_a_list => usual.importance_of(processed.job.lease.page.host),
        _ => importance_passed_on(source, processed.links.found.len() + processed.links.known),
    }
}

/// A page that was found, in the front queue that it has a claim to.
fn placed(
    found: Discovery,
    importance: Importance,
    evidence: &[EvidenceChange],
    order: CrawlOrder,
) -> Discovery {
    let by_order = evidence.iter().find(|change| Some(change.measure) == order.measure());
    let by_cash = evidence.iter().find_map(|change| change.importance_at_once(found.page));
    let importance = by_cash.unwrap_or(importance);
    let ranked = order == CrawlOrder::Rank && found.kind == PageKind::Page && !found.seed;
    let own = if ranked { band_of_importance(importance) } else { found.band };
    let claimed = by_order.and_then(|change| change.band(found.page)).filter(|_| !found.seed);
    Discovery { importance, band: claimed.unwrap_or(own), ..found }
}

#[cfg(test)]
mod tests {
    use evercrawl_model::{Band, Outcome, Refusal};

    use super::*;
    use crate::walk::steps::test_visit::{START, link_to, past, visit_to};

    fn ago(days: u64) -> Option<Time> {
        Some(Time::from_secs(START.millis() / 1000 - days * 86_400))
    }

    /// What follows from a visit that found `links`.
    fn taken(processed: &mut Processed, links: Vec<Discovery>) -> Consequences {
        processed.links.found = links;
        take(processed, &[], &PlannerConfig::default(), &MeanHostImportance::default(), START)
    }

    #[test]
    fn refused_links_are_counted_and_the_others_go_to_their_hosts() {
        let mut visit = visit_to("http://a.test/", Outcome::Ok);
        visit.links.refused.add(Refusal::OutOfScope);
        visit.links.refused.add(Refusal::OutOfScope);
        let links = vec![link_to("http://a.test/1"), link_to("http://b.test/2")];
        let (own, other) = (links[0].page.host, links[1].page.host);
        match &taken(&mut visit, links)[..] {
            [
                Consequence::Event(Event::LinksRefused { reason: Refusal::OutOfScope, count: 2 }),
                Consequence::Note(first),
                Consequence::Note(second),
            ] => assert_eq!((first.to(), second.to()), (own, other)),
            other => panic!("{other:?}"),
        }
        assert!(visit.links.found.is_empty());
    }

    #[test]
    fn a_list_says_that_a_page_changed_where_that_is_news() {
        for (read, claimed, want) in [
            (None, ago(400), true),
            (ago(1), ago(0), true),
            // It may have come into the list only since.
            (ago(1), ago(7), true),
            (ago(1), ago(9), false),
            (None, Some(START.after(Duration::from_secs(1))), false),
            (None, None, false),
        ] {
            let mut visit = visit_to("http://a.test/sitemap.xml", Outcome::Ok);
            let row = &mut visit.job.lease.row;
            (row.kind, row.past) = (PageKind::Sitemap, read.map(past));
            let link = Discovery { claimed_change: claimed, ..link_to("http://a.test/1") };
            let [Consequence::Note(Note::LinkFound { changed, .. })] =
                &taken(&mut visit, vec![link])[..]
            else {
                panic!("one note")
            };
            let want = claimed.filter(|_| want).map(|at| (SignalSource::Sitemap, at));
            assert_eq!(*changed, want, "read {read:?}, claimed {claimed:?}");
        }
    }

    #[test]
    fn by_rank_a_found_page_waits_by_what_its_source_passes_on() {
        let plan = PlannerConfig { order: CrawlOrder::Rank, ..PlannerConfig::default() };
        let mut bands = Vec::new();
        for times in [0.01, 1.0, 300.0] {
            let mut visit = visit_to("http://a.test/", Outcome::Ok);
            visit.job.lease.row.importance = Importance::from_ratio(times);
            visit.links.found = vec![link_to("http://a.test/1")];
            let taken = take(&mut visit, &[], &plan, &MeanHostImportance::default(), START);
            let [Consequence::Note(Note::LinkFound { link, .. })] = &taken[..] else {
                panic!("one note")
            };
            bands.push(link.band);
        }
        assert!(bands[0] > bands[1] && bands[1] > bands[2], "{bands:?}");
        assert!(bands.iter().all(|band| *band >= Band::FIRST));
    }
}
