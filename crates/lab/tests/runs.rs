//! Do runs hold what the theory promises, whatever the policy, and come out the same every time?
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use evercrawl_lab::run::{RunPlan, RunProgress, RunTerms, run};
use evercrawl_lab::synthetic::WorldSpec;
use evercrawl_lab::{OutcomeCache, ResultRow, RowScores, Tallied, WorldSource};
use evercrawl_policy::registry::{ALL, Entry, find};

/// What differs from world to world here.
const POISSON: &str = "
pages = 150
directories = 5
links = 2
before = 10
weeks = 30
[[class]]
name = \"pages\"
rate = { lognormal = 1.2, mean = 0.5 }
";

const LIVELY: &str = "
pages = 120
hosts = 3
links = 2
before = 6
weeks = 20
[[class]]
name = \"pages\"
rate = { lognormal = 1.2, mean = 0.7 }
births = 0.02
deaths = 0.02
";

const SCORES: [&str; 6] =
    ["freshness", "freshness_weighted", "age", "age_weighted", "coverage", "update_rate"];

fn made(text: &str) -> WorldSource {
    WorldSource::Made {
        name: "made".to_owned(),
        spec: Box::new(WorldSpec::parse("made.toml", text).unwrap()),
    }
}

/// Pages come and go, and some are worth more than others.
fn weighted() -> String {
    LIVELY.replace("links = 2", "links = 2\nimportance = { pareto = 1.5 }")
}

fn plan(world: WorldSource, policies: Vec<&'static Entry>, budgets: &[&str]) -> RunPlan {
    RunPlan {
        worlds: vec![world],
        policies,
        budgets: budgets.iter().map(|budget| budget.parse().unwrap()).collect(),
        seeds: vec![0, 1],
        terms: RunTerms::default(),
        references: Some(true),
        threads: 1,
        cache: None,
    }
}

fn rows(plan: &RunPlan) -> Vec<ResultRow> {
    let mut rows = Vec::new();
    let listen = |news| {
        if let RunProgress::Row(row) = news {
            rows.push(*row);
        }
    };
    run(plan, &AtomicBool::new(false), listen).unwrap();
    rows
}

fn all() -> Vec<&'static Entry> {
    ALL.iter().collect()
}

#[test]
fn the_same_seed_gives_the_same_rows_on_any_number_of_threads() {
    let one = plan(made(LIVELY), all(), &["10%/week", "9/day"]);
    let two = RunPlan { threads: 2, ..one.clone() };
    let on_any_machine = |mut row: ResultRow| {
        (row.cpu_seconds, row.peak_rss_bytes) = (0.0, 0);
        serde_json::to_string(&row).unwrap()
    };
    let [first, second] = [one, two].map(|plan| rows(&plan).into_iter().map(on_any_machine));
    let (first, second): (Vec<String>, Vec<String>) = (first.collect(), second.collect());
    assert_eq!(first.len(), ALL.len() * 2 * 2);
    assert!(first == second, "rows differ");
}

/// Asserts that every score lies in its interval.
fn assert_within(scores: &RowScores, of: &str) {
    let scores = serde_json::to_value(scores).unwrap();
    for name in SCORES {
        let [low, mean, high] =
            ["_low", "", "_high"].map(|end| scores[format!("{name}{end}")].as_f64());
        let (low, mean, high) = (low.unwrap(), mean.unwrap(), high.unwrap());
        assert!(low < mean && mean < high, "{name} of {of}: {mean} in {low} to {high}");
    }
}

#[test]
fn every_score_lies_in_its_interval_and_parts_add_up() {
    for row in rows(&plan(made(&weighted()), vec![find("index").unwrap()], &["20%/week"])) {
        assert_within(&row.scores, "all");
        let weeks = row.weeks.iter().map(|week| &week.tallied);
        let parts = row.hosts.iter().chain(&row.classes).filter(|part| part.pages > 1);
        for tallied in weeks.chain(parts.map(|part| &part.tallied)) {
            assert_within(&tallied.scores, "a part");
        }
        let whole = (row.fetches, row.wasted, row.changes, row.detected);
        let sum = |parts: Vec<&Tallied>| {
            parts.iter().fold((0, 0, 0, 0), |s, p| {
                (s.0 + p.fetches, s.1 + p.wasted, s.2 + p.changes, s.3 + p.detected)
            })
        };
        assert_eq!(sum(row.weeks.iter().map(|week| &week.tallied).collect()), whole);
        for parts in [&row.hosts, &row.classes] {
            assert_eq!(sum(parts.iter().map(|part| &part.tallied).collect()), whole);
        }
    }
}

#[test]
fn what_is_reached_of_those_who_know_the_truth_lies_in_its_interval() {
    let policies = ["uniform", "clairvoyant"].map(|name| find(name).unwrap()).to_vec();
    for row in rows(&plan(made(&weighted()), policies, &["20%/week"])) {
        let ends = |low: Option<f32>, high: Option<f32>| low.zip(high).unwrap();
        let beside = ends(row.freshness_of_clairvoyant_low, row.freshness_of_clairvoyant_high);
        let (low, high) = ends(row.freshness_of_oracle_low, row.freshness_of_oracle_high);
        let share = row.freshness_of_oracle.unwrap() as f32;
        assert!(low < share && share < high, "{share} in {low} to {high}");
        if row.policy == "clairvoyant" {
            assert_eq!((row.freshness_of_clairvoyant, beside), (Some(1.0), (1.0, 1.0)));
        } else {
            assert!(beside.0 < beside.1 && beside.1 < 1.0, "{beside:?}");
        }
    }
}

#[test]
fn what_was_compared_with_nothing_has_no_interval() {
    let alone = plan(made(LIVELY), vec![find("uniform").unwrap()], &["20%/week"]);
    for row in rows(&RunPlan { references: Some(false), ..alone }) {
        let row = serde_json::to_value(&row).unwrap();
        for name in ["freshness_of_clairvoyant", "freshness_of_oracle"] {
            for end in ["", "_low", "_high"] {
                assert_eq!(row.get(format!("{name}{end}")), Some(&serde_json::Value::Null));
            }
        }
    }
}

#[test]
fn what_was_made_before_is_compared_as_what_is_made_now() {
    let dir = tempfile::tempdir().unwrap();
    let cache = OutcomeCache::open(dir.path(), "").unwrap();
    let few = ["index", "clairvoyant"].map(|name| find(name).unwrap()).to_vec();
    let plan = RunPlan { cache: Some(cache), ..plan(made(LIVELY), few, &["20%/week"]) };
    let (first, again) = (rows(&plan), rows(&plan));
    assert!(first == again, "rows differ");
    assert!(again[0].freshness_of_oracle_low.is_some());
}

#[test]
fn nobody_is_fresher_than_the_oracle() {
    for text in [POISSON, LIVELY, &weighted()] {
        for row in rows(&plan(made(text), all(), &["5%/week", "40%/week", "200%/week"])) {
            let share = row.freshness_of_oracle.unwrap();
            assert!(share <= 1.0 + 1e-9, "{} at {}: {share}", row.policy, row.budget);
            assert!(
                (0.0..=1.0).contains(&row.scores.coverage),
                "{}: {}",
                row.policy,
                row.scores.coverage
            );
        }
    }
}

#[test]
fn nobody_is_fresher_than_the_oracle_when_fetches_that_find_nothing_cost_less() {
    let cheap = RunTerms { cost_unchanged: 0.1, ..RunTerms::default() };
    for text in [POISSON, LIVELY] {
        let plan = plan(made(text), all(), &["5%/week", "40%/week"]);
        for row in rows(&RunPlan { terms: cheap.clone(), ..plan }) {
            let share = row.freshness_of_oracle.unwrap();
            assert!(share <= 1.0 + 1e-9, "{} at {}: {share}", row.policy, row.budget);
        }
    }
}

/// By how much a policy is fresher than the clairvoyant, and how far chance may have moved that. Both crawl
/// the same worlds, so that only the difference counts: its mean over worlds, and its standard error.
fn lead(rows: &[ResultRow], policy: &str, budget: &str) -> (f64, f64) {
    let of = |name: &str| -> Vec<f64> {
        let wanted = |row: &&ResultRow| row.policy == name && row.budget == budget;
        rows.iter().filter(wanted).map(|row| row.scores.freshness).collect()
    };
    let leads: Vec<f64> = of(policy).iter().zip(of("clairvoyant")).map(|(a, b)| a - b).collect();
    let count = leads.len() as f64;
    let mean = leads.iter().sum::<f64>() / count;
    let squares: f64 = leads.iter().map(|lead| (lead - mean).powi(2)).sum();
    (mean, (squares / (count * (count - 1.0))).sqrt())
}

#[test]
fn in_a_poisson_world_no_learner_beats_the_true_rates_beyond_chance() {
    let knowing = ["oracle", "clairvoyant", "sampling-true"];
    let budgets = ["10%/week", "50%/week"];
    let rows = rows(&RunPlan { seeds: (0..4).collect(), ..plan(made(POISSON), all(), &budgets) });
    for (policy, budget) in all().iter().flat_map(|policy| budgets.map(|b| (policy.name, b))) {
        let (mean, error) = lead(&rows, policy, budget);
        let learns = !knowing.contains(&policy);
        assert!(!learns || mean < 3.0 * error, "{policy} at {budget}: ahead by {mean} ± {error}");
    }
}

/// Whoever has watched every page for a year knows the rates well enough to be ahead of one who is told wrong ones.
#[test]
fn nor_do_those_who_have_learned_for_a_year() {
    let learners = ["index", "gamma", "optimal"];
    let policies = learners.iter().chain(&["clairvoyant"]).map(|name| find(name).unwrap());
    let world = made(&POISSON.replace("pages = 150", "pages = 600"));
    let warm = RunTerms { warm: 364.0, ..RunTerms::default() };
    let plan = plan(world, policies.collect(), &["50%/week"]);
    let rows = rows(&RunPlan { seeds: (0..4).collect(), terms: warm, references: None, ..plan });
    for policy in learners {
        let (mean, error) = lead(&rows, policy, "50%/week");
        assert!(mean < 3.0 * error, "{policy}: ahead by {mean} ± {error}");
    }
}

/// Rates and prior are unknown. A warm start fetches every page once a week, so that weeks are fetches a page.
#[test]
fn what_a_few_fetches_a_page_have_taught_is_nearly_as_good_as_the_truth() {
    let world = "
        pages = 2000
        importance = { pareto = 1.2 }
        before = 20
        weeks = 30
        [[class]]
        name = \"pages\"
        rate = { lognormal = 1.5, mean = 1 }
    ";
    for (budget, weeks, least) in [("10%/week", 5.0, 0.96), ("50%/week", 20.0, 0.985)] {
        let policies = ["index", "clairvoyant"].map(|name| find(name).unwrap()).to_vec();
        let terms = RunTerms { warm: 7.0 * weeks, ..RunTerms::default() };
        let plan =
            RunPlan { terms, references: Some(false), ..plan(made(world), policies, &[budget]) };
        let rows = rows(&plan);
        let sum = |name: &str| {
            let of = rows.iter().filter(|row| row.policy == name);
            of.map(|row| row.scores.freshness_weighted).sum::<f64>()
        };
        let reached = sum("index") / sum("clairvoyant");
        assert!((least..=1.005).contains(&reached), "{budget} after {weeks} fetches: {reached}");
    }
}

#[test]
fn where_there_are_no_links_the_link_methods_say_so_and_the_others_run() {
    let (unfit, ran) = fitness(made(&POISSON.replace("links = 2", "links = 0")));
    let linked = ALL.iter().filter(|policy| policy.needs_links()).count();
    assert_eq!(unfit.len(), linked * 2, "each seed draws a world");
    assert!(unfit[0].contains("follows links and this world has none"), "{}", unfit[0]);
    assert_eq!(ran.len(), (ALL.len() - linked) * 2);
}

#[test]
fn a_plan_that_is_stopped_yields_nothing_more() {
    let plan = plan(made(POISSON), vec![find("uniform").unwrap()], &["10%/week"]);
    let mut heard = 0;
    run(&plan, &AtomicBool::new(true), |_| heard += 1).unwrap();
    assert_eq!(heard, 0);
}

/// Recorded pages of which nobody knows how they are linked.
#[test]
fn a_recorded_site_without_links_runs_without_the_link_methods() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let day = 86_400;
    write(
        "trace.json",
        &format!(
            "{{\"site\": \"s\", \"window_start\": {}, \"window_end\": {}}}",
            300 * day,
            400 * day
        ),
    );
    write("pages.csv", "page,url,created\na,/a,0\nb,/b,0\n");
    write("changes.csv", &format!("page,time,kind\na,{},M\nb,{},M\n", 320 * day, 350 * day));
    let (unfit, ran) = fitness(WorldSource::open(folder.path(), false).unwrap());
    assert!(unfit.iter().any(|why| why.contains("follows links")), "{unfit:?}");
    assert!(ran.iter().any(|policy| policy == "index"), "{ran:?}");
    let linked = ALL.iter().filter(|policy| policy.needs_links()).count();
    assert_eq!((unfit.len(), ran.len()), (linked, (ALL.len() - linked) * 2));
}

/// What cannot run in a world, and what did, by all policies from two seeds.
fn fitness(world: WorldSource) -> (Vec<String>, Vec<String>) {
    let (mut unfit, mut ran) = (Vec::new(), Vec::new());
    run(&plan(world, all(), &["10%/week"]), &AtomicBool::new(false), |news| match news {
        RunProgress::Unfit { why, .. } => unfit.push(why.to_string()),
        RunProgress::Row(row) => ran.push(row.policy),
        RunProgress::Progress { .. } => {}
    })
    .unwrap();
    (unfit, ran)
}

#[test]
fn on_a_real_site_nobody_is_fresher_than_the_oracle_or_finds_more_than_there_is() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/traces/httpd-manual");
    if !PathBuf::from(folder).is_dir() {
        eprintln!("SKIPPED: no recorded site at {folder}");
        return;
    }
    let site = WorldSource::open(folder.as_ref(), false).unwrap();
    let budgets = ["5%/week", "200%/week"];
    for row in rows(&RunPlan { seeds: vec![0], ..plan(site, all(), &budgets) }) {
        let share = row.freshness_of_oracle.unwrap();
        let run = format!("{} at {}", row.policy, row.budget);
        assert!(share <= 1.0 + 1e-9, "{run}: {share}");
        assert!(row.detected <= row.changes, "{run}: {} of {}", row.detected, row.changes);
        let mut parts = row.hosts.iter().chain(&row.classes);
        assert!(parts.all(|part| part.tallied.scores.coverage <= 1.0), "{run}");
    }
}
