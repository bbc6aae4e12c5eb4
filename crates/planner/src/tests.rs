//! Does the policy see pages as heavy as they are, and who is asked about again while they wait?
use evercrawl_model::{Event, HostKey, Importance, Override, PageKind};
use evercrawl_state::{MemoryStore, Past, Place, Settings, State};

use super::*;

fn row(url: &str) -> PageRow {
    PageRow {
        url: url.to_owned(),
        kind: PageKind::Page,
        depth: 1,
        hops: 0,
        via: None,
        hub: None,
        tags: 0,
        seed: false,
        guess: false,
        found: Time::EPOCH,
        claimed_change: None,
        status: PageStatus::New,
        place: None,
        past: None,
        importance: Importance::UNKNOWN,
    }
}

#[test]
fn small_changes_are_worth_less_and_none_is_worth_nothing() {
    for (news, usual, want) in
        [(0.0, 0.3, 1.0), (0.3, 0.0, 1.0), (0.3, 0.3, 1.0), (1e-6, 0.3, 0.5), (1.0, 0.01, 2.0)]
    {
        assert_eq!(value_of_change(news, usual), want, "{news} {usual}");
    }
    assert!(value_of_change(0.1, 0.3) < 1.0);
    let first = averaged(0.0, Score::new(0.5), LAST_CHANGE_SHARE);
    assert!((first - 0.5).abs() < 1e-4 && averaged(first, Score::ALL, LAST_CHANGE_SHARE) > 0.59);
}

#[test]
fn the_policy_sees_pages_as_heavy_as_the_user_wishes() {
    let store = Arc::new(MemoryStore::default());
    let mut state = State::open(store, Settings { seed: 1, shards: 1 }, None).unwrap();
    let user_override = Override::Boost { pattern: "/news/".to_owned(), times: 20.0 };
    state.apply(&Event::OverrideSet { user_override, at: Time::EPOCH }).unwrap();
    let mut planner = Planner::new(PlannerConfig::default()).unwrap();
    let key = PageKey { host: HostKey { shard: 0, host: 1 }, url: 2 };
    let weight = |planner: &Planner, url| planner.policy_page(key, &row(url)).weight;
    assert_eq!(weight(&planner, "http://a.org/news/1"), 1.0);
    planner.set_overrides(Arc::new(Overrides::read(state.view()).unwrap()));
    assert_eq!(weight(&planner, "http://a.org/news/1"), 20.0);
    assert_eq!(weight(&planner, "http://a.org/other"), 1.0);
    let ranked = PageRow { importance: Importance::from_ratio(4.0), ..row("http://a.org/news/1") };
    assert_eq!(
        planner.policy_page(key, &ranked).weight,
        20.0,
        "rank counts only where it is asked for"
    );
    planner.plan.importance = true;
    assert_eq!(planner.policy_page(key, &ranked).weight, 40.0);
}

const DAY: u64 = 86_400;

/// A page that was visited on the first day, and is due on day `due`.
pub(crate) fn waiting(due: u64) -> PageRow {
    let past = Past {
        visits: 1,
        checks: 0,
        changes: 0,
        watched: 0.0,
        last_visit: Time::from_secs(DAY),
        last_look: Some(Time::from_secs(DAY)),
        last_change: None,
        outcome: Outcome::Ok,
        status: 200,
        failures: 0,
        digest: Some([1; 20]),
        simhash: None,
        memory: None,
        validators: Validators::default(),
        log: 0,
        noted: PolicyNotes::default(),
    };
    let place = Some(Place::Due(Time::from_secs(due * DAY)));
    PageRow { status: PageStatus::Live, place, past: Some(past), ..row("http://a.org/1") }
}

#[test]
fn pages_that_wait_for_long_have_their_turn_and_others_come_up_by_themselves() {
    let mut planner =
        Planner::new(PlannerConfig { rate: Some(1.0), ..PlannerConfig::default() }).unwrap();
    let key = PageKey { host: HostKey { shard: 0, host: 1 }, url: 2 };
    let now = Time::from_secs(100 * DAY);
    let sooner = |row: &PageRow| planner.earlier_due(key, row, now).is_some();
    let in_turn = |row: &PageRow| planner.earlier_due_in_rotation(key, row, now).is_some();
    // Before anything is known of what a fetch must be worth, every page is worth one now.
    assert!(sooner(&waiting(400)) && in_turn(&waiting(400)));
    assert!(sooner(&waiting(120)) && !in_turn(&waiting(120)));
    assert!(!in_turn(&PageRow { place: None, ..waiting(400) }));
    planner.pages_to_reconsider(56, now);
    let later = Time::from_secs(102 * DAY);
    assert_eq!(planner.pages_to_reconsider(56, later), 4, "each once in 28 days");
}
