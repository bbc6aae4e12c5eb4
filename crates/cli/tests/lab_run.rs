//! Does `evercrawl lab` run worlds, keep what it did, and write reports that can be used?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::fs;

use evercrawl_testweb::WorldConfig;
use serde_json::Value;

use crate::common::Place;
use crate::common::web::Web;

/// Small enough for any machine; two hosts, links, pages that come and go.
const WORLD: &str = "\
# A small world.
pages = 120
hosts = 2
directories = 4
links = 2
before = 4
weeks = 6

[[class]]
name = \"pages\"
rate = { lognormal = 1, mean = 0.5 }
births = 0.01
deaths = 0.01
";

const RUN: &str = "lab run small.toml --policy index,gamma,uniform,hist,A --budget 5%/week,20%/week --seeds 2 --quiet";

fn place() -> Place {
    let place = Place::new();
    place.write("small.toml", WORLD);
    place
}

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A table of CSV without quotes: its rows by the names of its columns.
fn csv(text: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let named = |row: Vec<String>| {
        assert_eq!(row.len(), head.len(), "{row:?}");
        head.iter().cloned().zip(row).collect()
    };
    lines.map(named).collect()
}

fn cell<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    &row.iter().find(|(column, _)| column == name).unwrap().1
}

#[test]
fn a_report_names_every_policy_and_budget_and_needs_nothing_else() {
    let place = place();
    place.run(&format!("{RUN} --html report.html")).expect(0);
    let html = read(&place, "report.html");
    for part in [
        "index\u{a0}\u{2605}",
        "gamma",
        "uniform",
        "hist",
        ">A<",
        "5%/week",
        "20%/week",
        "<figcaption>",
    ] {
        assert!(html.contains(part), "no {part} in the report");
    }
    assert!(html.contains("<code>evercrawl lab run small.toml --policy"), "the command is told");
    let inside = html.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "<script", "<link", "@import", "NaN"] {
        assert!(!inside.contains(outside), "{outside}");
    }
}

#[test]
fn tables_hold_what_the_rows_say() {
    let place = place();
    let rows = place.run(&format!("{RUN} --json --csv out")).expect(0).json_lines();
    assert_eq!(rows.len(), 20);
    let tables = ["summary", "weeks", "hosts", "classes"]
        .map(|name| csv(&read(&place, &format!("out/{name}.csv"))));
    let [summary, weeks, hosts, classes] = tables;
    assert_eq!((summary.len(), weeks.len(), hosts.len()), (10, 20 * 6, 20 * 2));
    assert!(classes.len() >= 20 * 3);
    let of = |policy: &str| {
        let wanted = |row: &&Value| row["policy"] == policy && row["budget"] == "5%/week";
        let values = rows.iter().filter(wanted).map(|row| row["freshness"].as_f64().unwrap());
        values.sum::<f64>() / 2.0
    };
    for policy in ["index", "uniform", "A"] {
        let wanted =
            |row: &&Vec<_>| cell(row, "policy") == policy && cell(row, "budget") == "5%/week";
        let found: f64 = cell(summary.iter().find(wanted).unwrap(), "freshness").parse().unwrap();
        assert!((found - of(policy)).abs() < 1e-5, "{policy}: {found}");
    }
}

#[test]
fn what_was_run_before_is_found_again_and_nothing_else_is() {
    let place = place();
    let run = |options: &str| place.run(&format!("{RUN} --json {options}")).expect(0).out;
    let kept = || fs::read_dir(place.path().join("kept")).unwrap().count();
    let first = run("--cache kept");
    // Those that were asked for, and the two that they are compared with.
    assert_eq!(kept(), 7 * 2 * 2);
    assert_eq!(run("--cache kept"), first, "with the times that were measured then");
    assert_eq!(run("--cache kept --threads 1"), first);
    assert_eq!(kept(), 28);
    let anew = run("--no-cache");
    assert_ne!(anew, first, "the processor time is another");
    let without_times = |text: &str| -> Vec<Value> {
        let value = |line: &str| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row.as_object_mut()
                .unwrap()
                .retain(|key, _| !["cpu_seconds", "peak_rss_bytes"].contains(&key.as_str()));
            row
        };
        text.lines().map(value).collect()
    };
    assert_eq!(without_times(&anew), without_times(&first));
    for (options, rows) in
        [("--rounds 2w", 56), ("--goal coverage", 84), ("--cost-unchanged 0.5", 112)]
    {
        run(&format!("--cache kept {options}"));
        assert_eq!(kept(), rows, "{options}");
    }
    place.write("small.toml", &WORLD.replace("mean = 0.5", "mean = 0.6"));
    assert_ne!(without_times(&run("--cache kept")), without_times(&first));
    assert_eq!(kept(), 140, "another world under the same name");
}

#[test]
fn what_counts_by_worth_is_shown_where_pages_differ_in_worth() {
    let place = place();
    let head = |options: &str| {
        let ran = place.run(&format!("lab run small.toml --no-cache --quiet {options}")).expect(0);
        ran.out.lines().next().unwrap().to_owned()
    };
    assert!(!head("--goal age").contains("worth"), "all are worth as much");
    place.write(
        "small.toml",
        &WORLD.replace("links = 2", "links = 2\nimportance = { pareto = 1.5 }"),
    );
    let (fresh, aged) = (head(""), head("--goal age"));
    assert!(fresh.contains("by worth") && !fresh.contains("age by worth"), "{fresh}");
    assert!(aged.contains("by worth  age") && aged.contains("age by worth"), "{aged}");
}

#[test]
fn a_broken_cache_is_as_good_as_none() {
    let place = place();
    let run = || {
        place
            .run("lab run small.toml --cache kept --policy uniform --csv out --quiet")
            .expect(0)
            .out
    };
    let first = run();
    for entry in fs::read_dir(place.path().join("kept")).unwrap() {
        fs::write(entry.unwrap().path(), "{\"key\":").unwrap();
    }
    assert_eq!(run(), first);
    place.write("file", "");
    place
        .run("lab run small.toml --cache file --policy uniform")
        .expect(1)
        .explains(&["cannot use the cache file"]);
}

#[test]
fn one_table_to_choose_by() {
    let place = place();
    let table = place.run(&format!("{RUN} --markdown")).expect(0).out;
    let lines: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(lines.len(), 2 + 2, "{table}");
    assert!(lines[0].starts_with("| world | budget | index\u{a0}\u{2605} |"), "{table}");
    for line in &lines[2..] {
        assert!(line.starts_with("| small | ") && line.contains("**"), "{line}");
    }
}

#[test]
fn more_buys_more() {
    let place = place();
    let ran = place
        .run("lab whatif small.toml --base 20%/week --seeds 2 --json --html whatif.html --quiet");
    let answer = ran.expect(0).json();
    let points = answer["points"].as_array().unwrap();
    assert_eq!((points.len(), &answer["base"]), (9, &Value::from("20%/week")));
    let number = |point: &Value, name: &str| point[name].as_f64().unwrap();
    for measure in ["freshness", "coverage", "fetches_a_week"] {
        let (first, last) = (number(&points[0], measure), number(&points[8], measure));
        assert!(first < last, "{measure}: {first} to {last}");
    }
    assert!(number(&points[0], "age") > number(&points[8], "age"));
    let html = read(&place, "whatif.html");
    assert!(html.contains("<figure>") && html.contains("times the budget of 20%/week"));
    let table = place.run("lab whatif small.toml --budget 0.5x,1x,2x --seeds 1").expect(0).out;
    assert!(table.contains("0.5x") && table.contains("At 10%/week, "), "{table}");
    place
        .run("lab whatif small.toml --budget 4x..1x")
        .expect(2)
        .explains(&["put the smaller number first"]);
    place.run("lab whatif").expect(2);
}

#[test]
fn a_shipped_world_has_a_curve() {
    let place = Place::new();
    // A folder of that name that holds no world does not hide the world.
    std::fs::create_dir(place.path().join("docs")).unwrap();
    let answer = place
        .run("lab whatif docs --policy uniform --budget 0.5x,1x,2x --seeds 1 --json -q")
        .expect(0)
        .json();
    let fresh: Vec<f64> = answer["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["freshness"].as_f64().unwrap())
        .collect();
    assert!(fresh.len() == 3 && fresh[0] < fresh[1] && fresh[1] < fresh[2], "{fresh:?}");
}

#[test]
fn a_crawl_is_told_what_more_would_buy_it() {
    let web = Web::serve(WorldConfig { hosts: 2, pages: 10, seed: 5, ..WorldConfig::calm() });
    let place = Place::new();
    let seeds = web.seeds(2).join(" ");
    place.run(&format!("crawl {seeds} --once --delay 1ms --quiet {}", web.flags())).expect(0);
    let ran = place.run("lab whatif --data data --budget 1x,2x --seeds 1 --json --html w.html");
    let ran = ran.expect(0).explains(&["pages"]);
    let answer = ran.json();
    assert!(answer["base"].as_str().unwrap().ends_with("/day"), "{answer}");
    assert_eq!(answer["points"].as_array().unwrap().len(), 2);
    place.run("lab whatif small --data data").expect(2);
}
