//! Is a page worth what it ought to be?

use super::*;
use crate::allocate::{Demand, Objective, allocate};
use crate::page::Visit;
use crate::random::SplitMix64;
use crate::testing::{World, expected_freshness};

fn rule() -> IndexRule {
    IndexRule::for_goal(Goal::Freshness)
}

fn visit(policy: &mut IndexRule, page: &mut Page, at: Days, found: Finding) {
    let seen = page.record(&Visit::new(at, found));
    policy.record_visit(page, &seen);
}

#[test]
fn what_changes_is_fetched_more_often_and_nothing_is_forgotten() {
    for goal in [Goal::Freshness, Goal::Coverage, Goal::Age] {
        let often = (0..80).map(|i| (0, f64::from(i) * 3.0 + 0.7));
        let mut world = World::with_changes(20, often.chain([(1, 50.0)]));
        let fetched = world.run(Box::new(IndexRule::for_goal(goal)), 200, 4);
        assert!(fetched.iter().all(|&n| n >= 4), "{goal:?} {fetched:?}");
        let others = fetched[2..].iter().sum::<usize>() as f64 / 18.0;
        assert!(fetched[0] as f64 > 1.5 * others, "{goal:?} {fetched:?}");
        assert_eq!(fetched.iter().sum::<usize>(), 800, "the budget is spent");
    }
}

/// One page changes often; then the price is so high that nothing is due.
#[test]
fn what_the_budget_has_left_goes_round() {
    let often = (0..80).map(|i| (0, f64::from(i) * 5.0 + 0.7));
    let mut world = World::with_changes(20, often);
    world.fetch_all(0.0);
    let mut policy = IndexRule::for_goal(Goal::Coverage);
    policy.threshold.set(1e3);
    let mut agenda = crate::Agenda::new(Box::new(policy), world.pages.clone(), 0.0);
    let mut fetched = [0; 20];
    for day in 0..10 {
        agenda.begin_round(&Round { start: f64::from(day), length: 1.0, fetches: 6 });
        while let Some(id) = agenda.next_page(f64::from(day) + 0.5) {
            fetched[id as usize] += 1;
            let seen = world.visit(&agenda.pages()[id as usize], f64::from(day) + 0.5);
            agenda.record_visit(id, &seen);
        }
    }
    assert!(fetched.iter().all(|&n| (1..=12).contains(&n)), "{fetched:?}");
}

#[test]
fn a_page_ahead_of_its_time_has_its_next_turn_after_that() {
    let mut policy = rule();
    let mut page = Page { last: 0.0, ..Page::new(0) };
    policy.threshold.set(2.0);
    visit(&mut policy, &mut page, 30.0, Finding::Same);
    let wait = |policy: &IndexRule, page: &Page| policy.wait(page, page.last, policy.threshold());
    page.due = 35.0;
    visit(&mut policy, &mut page, 30.5, Finding::Same);
    assert!((page.due - 35.0 - wait(&policy, &page)).abs() < 1e-6, "{}", page.due);
    page.due = 1e6;
    visit(&mut policy, &mut page, 31.0, Finding::Same);
    let most = (1.0 + MOST_AHEAD) * wait(&policy, &page);
    assert!((page.due - 31.0 - most).abs() < 1e-6, "{}", page.due);
    page.due = NEVER;
    visit(&mut policy, &mut page, 31.5, Finding::Same);
    assert_eq!(page.due, 31.5 + wait(&policy, &page), "nobody knows when it was due");
}

#[test]
fn a_page_that_changes_too_fast_is_not_given_up_for_good() {
    let mut policy = rule();
    let mut page = Page { last: 0.0, ..Page::new(0) };
    (1..60).for_each(|day| visit(&mut policy, &mut page, f64::from(day), Finding::Changed));
    assert_eq!(policy.wait(&page, page.last, 10.0), 730.0, "worth nothing");
    let round = Round { start: 60.0, length: 1.0, fetches: 2 };
    policy.plan_round(&round, &mut [page; 10]);
    let wait = policy.wait(&page, page.last, 10.0);
    assert_eq!(wait, policy.patience.rounds() * 5.0);
    policy.threshold.set(10.0);
    let at = page.last + wait;
    visit(&mut policy, &mut page, at, Finding::Same);
    assert!(policy.patience.rounds() < 2.0, "one that calmed down was found: others may have, too");
}

#[test]
fn learns_to_do_nearly_as_well_as_one_who_knows_the_rates() {
    let mut random = SplitMix64::new(3);
    let rates: Vec<f64> = (0..400).map(|_| (3.0 * random.uniform() - 1.5).exp() / 14.0).collect();
    let demands: Vec<Demand> = rates.iter().map(|&rate| Demand::new(rate, 1.0)).collect();
    let best = allocate(Objective::Freshness, &demands, 40.0, IntervalLimits::NONE);
    let optimum = Objective::Freshness.value(&demands, &best.frequency);
    for wrong in [0.1, 1.0, 10.0] {
        let prior = Gamma::with_mean(wrong / 14.0, 1.0);
        let policy =
            IndexRule::new(Goal::Freshness, prior, IntervalLimits { min: 0.0, max: 365.0 });
        let reached = expected_freshness(Box::new(policy), &rates, 40, 200, 100) / optimum;
        assert!((0.97..1.0).contains(&reached), "prior x{wrong}: {reached}");
    }
}

/// Two directories; in one, all pages change at once every 60 days, in the other never.
fn batches() -> World {
    let batch = (1..12).flat_map(|n| (0..50).map(move |page| (page, 60.0 * f64::from(n))));
    let mut world = World::with_changes(100, batch);
    world.pages.iter_mut().for_each(|page| page.group = page.id / 50);
    world.fetch_all(0.0);
    world
}

#[test]
fn a_batch_found_on_one_page_brings_its_kin_forward() {
    let fresh_share = |policy: Box<dyn Policy>| {
        let mut world = batches();
        let mut late = 0.0;
        let mut agenda = crate::Agenda::new(policy, world.pages.clone(), 0.0);
        for day in 0..700 {
            agenda.begin_round(&Round { start: f64::from(day), length: 1.0, fetches: 5 });
            while let Some(id) = agenda.next_page(f64::from(day) + 0.5) {
                let seen = world.visit(&agenda.pages()[id as usize], f64::from(day) + 0.5);
                agenda.record_visit(id, &seen);
            }
            world.pages = agenda.pages().to_vec();
            let at = f64::from(day) + 1.0;
            let stale = |page: &&Page| world.changes.changed_within(page.id, page.last, at);
            late += world.pages.iter().filter(stale).count() as f64;
        }
        1.0 - late / 70_000.0
    };
    let plain =
        fresh_share(crate::registry::find("gamma").unwrap().make(&Default::default()).unwrap());
    let kin = fresh_share(Box::new(rule()));
    assert!(kin > plain + 0.005, "{kin} {plain}");
}

#[test]
fn a_group_whose_word_was_worth_nothing_can_earn_trust_again() {
    let mut policy = rule();
    let mut world = batches();
    world.pages.iter_mut().for_each(|page| policy.record_discovery(page, 0.0));
    for week in 1..100 {
        let round = Round { start: f64::from(week) * 7.0, length: 7.0, fetches: 50 };
        policy.plan_round(&round, &mut world.pages);
        if week == 20 {
            *policy.weights.get_or_insert(0, HintWeights::new) = HintWeights::new();
        }
        for id in (week % 2..100).step_by(2) {
            let at = round.start + 0.07 * f64::from(id);
            let found = world.visit(&world.pages[id as usize], at).finding;
            visit(&mut policy, &mut world.pages[id as usize], at, found);
        }
    }
    let trust = policy.weights.get(0).unwrap().weight_of(0);
    assert!(trust > 0.3, "{trust}");
}

#[test]
fn a_find_stirs_the_groups_of_its_page() {
    let mut policy = rule();
    policy.elsewhere = HintWeights::trusting();
    let mut page = Page { last: 0.0, group: 7, kin: [3, u32::MAX, u32::MAX], ..Page::new(0) };
    visit(&mut policy, &mut page, 5.0, Finding::Changed);
    let mut changed_groups = Vec::new();
    policy.take_changed_groups(&mut changed_groups);
    assert!(
        changed_groups.iter().any(|group| (group.kind(), group.number) == (0, 7)),
        "{changed_groups:?}"
    );
    changed_groups.clear();
    policy.take_changed_groups(&mut changed_groups);
    assert!(changed_groups.is_empty());
}

#[test]
fn what_is_found_on_some_moves_the_others_of_the_group_alone() {
    let mut policy = rule();
    policy.elsewhere = HintWeights::trusting();
    (0..5).for_each(|_| policy.threshold.follow(1.0));
    let waiting = |group| Page { last: 0.0, group, ..Page::new(9) };
    for id in 0..4 {
        let mut page = Page { last: 0.0, group: 1, ..Page::new(id) };
        visit(&mut policy, &mut page, 20.0, Finding::Changed);
        let mut page = Page { last: 0.0, group: 2, ..Page::new(id + 10) };
        visit(&mut policy, &mut page, 20.0, Finding::Same);
    }
    let due = |group| policy.due(&waiting(group), 21.0);
    assert!(due(1) < due(3) && due(3) < due(2), "{} {} {}", due(1), due(3), due(2));
    let reasons = policy.explain(&waiting(1), 21.0);
    let pace = reasons.iter().find(|(name, _)| *name == "pace of directory");
    assert!(pace.is_some_and(|(_, pace)| *pace > 1.5), "{reasons:?}");
}

/// All pages of a group changed in the same week; later that is found on one more of them. Beside it, what a find
/// makes of a page whose group was quiet, and of one that says when it changed.
#[test]
fn a_change_that_kin_told_of_says_little_of_the_page_itself() {
    let mut policy = rule();
    policy.elsewhere = HintWeights::trusting();
    for id in 0..6 {
        let mut page = Page { last: 7.0, group: 1, ..Page::new(id) };
        visit(&mut policy, &mut page, 14.0, Finding::Changed);
    }
    let mut learned = |group, modified| {
        let mut page = Page { last: 7.0, group, ..Page::new(9) };
        let before = policy.beliefs.posterior_of(&page).mean();
        let seen = page.record(&Visit { modified, ..Visit::new(14.0, Finding::Changed) });
        policy.record_visit(&mut page, &seen);
        policy.beliefs.posterior_of(&page).mean() / before
    };
    let (foreseen, dated, alone) = (learned(1, None), learned(1, Some(13.0)), learned(2, None));
    assert!(foreseen > 1.0 && foreseen - 1.0 < 0.7 * (alone - 1.0), "{foreseen} {alone}");
    assert!(dated > 1.2 * foreseen, "{dated} {foreseen}");
}

#[test]
fn a_new_page_comes_first_unless_changes_are_counted() {
    for goal in [Goal::Freshness, Goal::Coverage, Goal::Age] {
        let mut policy = IndexRule::for_goal(goal);
        (0..5).for_each(|_| policy.threshold.follow(0.1));
        let mut page = Page::new(0);
        policy.record_discovery(&mut page, 100.0);
        let due = [page.due, policy.due(&page, 100.0)];
        let waits = goal == Goal::Coverage;
        assert!(due.iter().all(|due| (*due > 101.0) == waits && *due < 830.1), "{goal:?} {due:?}");
    }
}

#[test]
fn where_changes_are_counted_a_new_page_waits_half_as_long_as_one_fetched_when_it_was_found() {
    let mut policy = IndexRule::for_goal(Goal::Coverage);
    (0..5).for_each(|_| policy.threshold.follow(0.1));
    let mut page = Page::new(0);
    policy.record_discovery(&mut page, 100.0);
    let fetched = Page { last: 100.0, ..page };
    let [first, again] = [page.due, policy.due(&fetched, 100.0)].map(|due| due - 100.0);
    assert!(first > 0.0 && (first / again - 0.5).abs() < 1e-9, "{first} {again}");
}

#[test]
fn a_page_that_leads_to_new_ones_is_due_sooner_unless_changes_are_counted() {
    for goal in [Goal::Freshness, Goal::Coverage, Goal::Age] {
        let mut policy = IndexRule::for_goal(goal);
        (0..5).for_each(|_| policy.threshold.follow(1.0));
        let mut pages = [0, 6].map(|links| (Page { last: 0.0, ..Page::new(links) }, links));
        for (page, new_links) in &mut pages {
            for day in 1..10 {
                let visit = Visit::new(f64::from(day), Finding::Same);
                let seen = page.record(&Visit { new_links: *new_links, ..visit });
                policy.record_visit(page, &seen);
            }
        }
        let [plain, hub] = pages.map(|(page, _)| policy.wait(&page, page.last, 1.0));
        let sooner = hub < 0.7 * plain;
        assert_eq!(sooner, goal != Goal::Coverage, "{goal:?} {hub} {plain}");
    }
}

#[test]
fn heavier_and_cheaper_pages_are_due_sooner() {
    let policy = rule();
    let wait =
        |weight, cost| policy.wait(&Page { last: 0.0, weight, cost, ..Page::new(0) }, 0.0, 1.0);
    assert!(wait(2.0, 1.0) < wait(1.0, 1.0));
    assert!(wait(1.0, 2.0) > wait(1.0, 1.0));
    assert_eq!(wait(0.0, 1.0), 730.0, "worth nothing: as late as allowed");
    assert!(wait(1.0, 0.0).is_finite());
}

#[test]
fn signals_that_told_the_truth_are_believed() {
    let mut policy = rule();
    let mut page = Page { last: 0.0, ..Page::new(0) };
    for round in 1..20 {
        let now = f64::from(round) * 10.0;
        policy.record_signal(&mut page, SignalSource::Push, now);
        visit(&mut policy, &mut page, now, Finding::Changed);
    }
    let chance = |policy: &IndexRule, page: &Page| {
        let reasons = policy.explain(page, 190.5);
        reasons.iter().find(|(name, _)| *name == "chance of a change").unwrap().1
    };
    let before = chance(&policy, &page);
    policy.record_signal(&mut page, SignalSource::Push, 190.5);
    let after = chance(&policy, &page);
    assert!(after > 0.75 && before < 0.2, "{after} {before}");
}

#[test]
fn what_was_learned_is_taken_up_again() {
    let (mut policy, mut pages) = (rule(), Vec::new());
    for id in 0..40 {
        let mut page =
            Page { last: 0.0, group: id % 3, kin: [id % 2, 7, u32::MAX], ..Page::new(id) };
        for week in 1..6 {
            let found = if (id + week) % 3 == 0 { Finding::Changed } else { Finding::Same };
            visit(&mut policy, &mut page, f64::from(week * 7), found);
        }
        policy.record_signal(&mut page, SignalSource::Feed, 36.0);
        pages.push(page);
    }
    let mut feed = Page { last: 0.0, kind: crate::page::PageKind::Feed, ..Page::new(99) };
    visit(&mut policy, &mut feed, 36.0, Finding::Changed);
    policy.plan_round(&Round { start: 36.0, length: 7.0, fetches: 9 }, &mut pages);
    let learned = policy.encode_learned();
    let mut other = rule();
    assert!(!other.restore_learned(&learned[..learned.len() / 2]), "half of it cannot be read");
    assert!(other.restore_learned(&learned));
    for page in &pages {
        assert_eq!(other.due(page, 40.0), policy.due(page, 40.0));
        assert_eq!(other.outlook(page, 40.0), policy.outlook(page, 40.0));
    }
    // That nobody has read the feed since is known too: its silence says nothing of these days.
    assert_eq!((other.lists_read_delay(0, 40.0), policy.lists_read_delay(0, 40.0)), (4.0, 4.0));
}

/// To ask when pages are due, whenever that is, moves nothing.
#[test]
fn a_visit_teaches_the_same_whether_or_not_the_page_was_looked_at_before() {
    let learned = |asks: &dyn Fn(u32) -> Option<Days>| {
        let mut policy = rule();
        let page = |id| Page { last: 0.1, group: id % 3, kin: [0, 7, u32::MAX], ..Page::new(id) };
        let mut pages: Vec<Page> = (0..20).map(page).collect();
        for n in 0..400 {
            let (page, at) = (&mut pages[(n * 7 % 20) as usize], 1.0 + f64::from(n) * 0.3);
            if let Some(before) = asks(n) {
                policy.due(page, at - before);
            }
            if n % 9 == 0 {
                policy.record_signal(page, SignalSource::Push, at);
            }
            let found = if n * n % 5 == 1 { Finding::Changed } else { Finding::Same };
            visit(&mut policy, page, at, found);
            policy.plan_round(&Round { start: at, length: 7.0, fetches: 9 }, &mut pages);
        }
        // The order of the tables that are hashed is drawn; that of pages and what they are worth is not.
        (policy.threshold(), pages.iter().map(|page| page.due).collect::<Vec<_>>())
    };
    let unasked = learned(&|_| None);
    assert_eq!(learned(&|_| Some(0.0)), unasked);
    assert_eq!(learned(&|n| Some(f64::from(n % 3))), unasked);
}

#[test]
fn a_page_that_failed_is_not_due_at_once() {
    let mut policy = rule();
    (0..5).for_each(|_| policy.threshold.follow(1.0));
    let mut page = Page { last: 0.0, ..Page::new(0) };
    visit(&mut policy, &mut page, 300.0, Finding::Failed);
    assert!(page.due > 300.5, "{}", page.due);
}

#[test]
fn a_page_that_was_found_lately_is_due_sooner_than_one_of_any_age() {
    let mut policy = rule();
    policy.threshold.set(1.0);
    let mut wait = |found: Days| {
        let mut page = Page::new(0);
        policy.record_discovery(&mut page, found);
        visit(&mut policy, &mut page, found + 1.0, Finding::Changed);
        page.due - page.last
    };
    let (at_first, later) = (wait(5.0), wait(400.0));
    assert!(later < 0.8 * at_first, "{later} {at_first}");
    // Nobody told of this one before it was fetched.
    let mut page = Page::new(1);
    visit(&mut policy, &mut page, 401.0, Finding::Changed);
    assert_eq!(page.due - page.last, later);
    visit(&mut policy, &mut page, 500.0, Finding::Same);
    assert!(page.due - page.last > later, "it has grown old");
}

#[test]
fn however_much_it_is_worth_no_page_comes_before_it_may() {
    let limits = IntervalLimits { min: 20.0, max: 365.0 };
    let mut policy = IndexRule::new(Goal::Freshness, Gamma::with_mean(1.0 / 7.0, 1.0), limits);
    policy.threshold.set(1e-6);
    let page = Page { last: 0.0, ..Page::new(0) };
    assert_eq!(policy.due(&page, 5.0), 20.0);
    assert!(policy.due(&page, 21.0) < 21.0);
}
