//! Does `evercrawl lab` say what the reference says, and complain as it should?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use evercrawl_policy::SplitMix64;
use serde_json::Value;

use crate::common::{Place, Ran};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const GOLDEN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/golden/scheduling.json");

fn golden() -> Option<Value> {
    let Ok(text) = fs::read_to_string(GOLDEN) else {
        eprintln!("SKIPPED: no reference values at {GOLDEN}");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

#[track_caller]
fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_close(got: &Value, want: &Value, tolerance: f64) {
    let (got, want) = (got.as_f64().unwrap(), want.as_f64().unwrap());
    assert!((got - want).abs() <= tolerance * want.abs().max(1.0), "got {got}, want {want}");
}

#[track_caller]
fn assert_all_close(got: &Value, want: &Value, tolerance: f64) {
    let (got_list, want_list) = (got.as_array().unwrap(), want.as_array().unwrap());
    assert_eq!(got_list.len(), want_list.len());
    got_list.iter().zip(want_list).for_each(|(got, want)| assert_close(got, want, tolerance));
}

// Estimates

fn estimate(place: &Place, history: &str) -> Vec<Value> {
    place.write("h.csv", history);
    let answer = place.run("lab estimate --history h.csv --json").expect(0).json();
    answer["pages"].as_array().unwrap().clone()
}

#[test]
fn regular_checks_give_the_reference_estimates() {
    let Some(golden) = golden() else { return };
    let place = Place::new();
    let rows = golden["estimator_eq13_values"].as_array().unwrap();
    let mut history = "page,interval,changed\n".to_owned();
    for (page, row) in rows.iter().enumerate() {
        let (n, unchanged) = (row["n"].as_u64().unwrap(), row["unchanged"].as_u64().unwrap());
        (0..n).for_each(|i| history += &format!("{page},1,{}\n", u8::from(i >= unchanged)));
    }
    let pages = estimate(&place, &history);
    assert_eq!(pages.len(), rows.len());
    for (page, row) in pages.iter().zip(rows) {
        assert_close(&page["estimates"]["eq13"]["rate"], &row["r"], 1e-9);
        assert_eq!(page["checks"], row["n"]);
    }
}

#[test]
fn irregular_checks_give_the_reference_estimates() {
    let Some(golden) = golden() else { return };
    let place = Place::new();
    let rows = golden["mle_irregular"].as_array().unwrap();
    let mut history = "changed,interval,page\n".to_owned();
    for (page, row) in rows.iter().enumerate() {
        for (kind, flag) in [("changed", "true"), ("unchanged", "FALSE")] {
            for interval in numbers(&row[kind]) {
                history += &format!("{flag},{interval},{page}\n");
            }
        }
    }
    for (page, row) in estimate(&place, &history).iter().zip(rows) {
        let rates = &page["estimates"];
        assert_close(&rates["mle"]["rate"], &row["lam"], 1e-9);
        assert_close(&rates["map"]["rate"], &row["map_gamma_2_1"], 1e-6);
        let [low, rate, high] = ["low", "rate", "high"].map(|k| rates["mle"][k].as_f64().unwrap());
        assert!(low < rate && rate < high);
    }
}

#[test]
fn beliefs_and_dates_give_the_reference_estimates() {
    let Some(golden) = golden() else { return };
    let place = Place::new();
    let steps = golden["gamma_adf"]["steps"].as_array().unwrap();
    let mut history = "page,interval,changed\n".to_owned();
    for step in steps {
        history += &format!("p,{},{}\n", step["interval"], step["changed"]);
        let page = &estimate(&place, &history)[0];
        assert_close(&page["estimates"]["gamma"]["rate"], &step["mean"], 1e-9);
    }
    let mut history = "page,interval,changed,unmodified\n".to_owned();
    let rows = golden["estimator_eq27_values"].as_array().unwrap();
    for (page, row) in rows.iter().enumerate() {
        let (n, x) = (row["N"].as_u64().unwrap(), row["X"].as_u64().unwrap());
        let part = row["T_unmod"].as_f64().unwrap() / n as f64;
        // Changed checks were unmodified for a part of their interval, the others for all of it.
        (0..x).for_each(|_| history += &format!("{page},{},1,{part}\n", 2.0 * part));
        (x..n).for_each(|_| history += &format!("{page},{part},0,\n"));
    }
    for (page, row) in estimate(&place, &history).iter().zip(rows) {
        assert_close(&page["estimates"]["eq27"]["rate"], &row["lam"], 1e-9);
    }
}

#[test]
fn what_is_infinite_or_unknown_is_null() {
    let place = Place::new();
    let history = "page,interval,changed\nz,1,1\na,1,0\nz,2,1\n";
    let pages = estimate(&place, history);
    assert_eq!((&pages[0]["page"], &pages[1]["page"]), (&"z".into(), &"a".into()));
    let rates = &pages[0]["estimates"];
    assert!(rates["log"]["rate"].is_null() && rates["mle"]["high"].is_null());
    assert!(rates["eq27"]["rate"].is_null() && rates["eq27"]["missing"] == "unmodified");
    assert!(rates["gamma"]["high"].is_f64());
    assert_eq!(estimate(&place, "page,interval,changed\n"), Vec::<Value>::new());
    let prior = place.run("lab estimate --history h.csv --prior 2,4 --level 0.5").expect(0);
    assert!(prior.out.starts_with("page  checks  changes  naive"), "{}", prior.out);
}

// Budgets

fn allocate(place: &Place, pages: &str, budget: f64, more: &str) -> Value {
    place.write("p.csv", pages);
    place
        .run(&format!("lab allocate --pages p.csv --budget {budget} {more} --json"))
        .expect(0)
        .json()
}

fn page_file(rates: &[f64], weights: &[f64]) -> String {
    let rows = rates.iter().zip(weights).enumerate();
    let rows = rows.map(|(page, (rate, weight))| format!("{page},{rate},{weight}\n"));
    "page,rate,weight\n".to_owned() + &rows.collect::<String>()
}

#[test]
fn small_populations_are_divided_as_in_the_reference() {
    let Some(golden) = golden() else { return };
    let place = Place::new();
    for name in ["cho5", "cho5_weighted", "cho5_tight"] {
        let want = &golden[name];
        let pages = page_file(&numbers(&want["lam"]), &numbers(&want["w"]));
        for (objective, mu, value, frequency) in [
            ("freshness", "mu", "F_opt", "f_opt"),
            ("age", "mu_age", "age_opt", "f_age"),
            ("harmonic", "mu_harmonic", "harmonic_cost", "f_harmonic"),
        ] {
            let budget = want["B"].as_f64().unwrap();
            let got = allocate(&place, &pages, budget, &format!("--objective {objective}"));
            assert_close(&got["mu"], &want[mu], 1e-9);
            assert_close(&got["objective"], &want[value], 1e-9);
            assert_all_close(&got["frequency"], &want[frequency], 1e-9);
        }
    }
}

#[test]
fn drawn_populations_are_divided_as_in_the_reference() {
    let Some(golden) = golden() else { return };
    let place = Place::new();
    let mut random = SplitMix64::new(42);
    let rates: Vec<f64> = (0..500).map(|_| -random.uniform().ln()).collect();
    let heavy: Vec<f64> = (0..500).map(|_| random.uniform().powf(-0.5)).collect();
    for (name, weights) in [("exp500_B250", &vec![1.0; 500]), ("exp500_B1000_pareto", &heavy)] {
        let want = &golden[name];
        let budget = want["B"].as_f64().unwrap();
        let got = allocate(&place, &page_file(&rates, weights), budget, "--objective freshness");
        assert_close(&got["mu"], &want["mu"], 1e-9);
        assert_close(&got["objective"], &want["F_opt"], 1e-9);
        let zeros = numbers(&got["frequency"]).into_iter().filter(|f| *f == 0.0).count();
        assert_eq!(Some(zeros as u64), want["zero_pages"].as_u64(), "{name}");
    }
}

#[test]
fn costs_and_host_caps_are_heeded_as_in_the_reference() {
    let Some(golden) = golden() else { return };
    let place = Place::new();
    let want = &golden["cho5_sizes"];
    let rows = numbers(&want["c"]).into_iter().enumerate();
    let rows = rows.map(|(i, cost)| format!("{cost},1,{},p{i}\n", i + 1));
    let pages = "cost,weight,rate,page\n".to_owned() + &rows.collect::<String>();
    let got = allocate(&place, &pages, 5.0, "--objective freshness");
    assert_all_close(&got["frequency"], &want["f"], 1e-9);
    assert_close(&got["objective"], &want["F"], 1e-9);

    let want = &golden["polite8"];
    let hosts = want["host"].as_array().unwrap();
    let rows = numbers(&want["lam"]).into_iter().zip(numbers(&want["w"])).zip(hosts).enumerate();
    let rows = rows.map(|(i, ((rate, weight), host))| format!("{i},{rate},{weight},{host}\n"));
    let pages = "page,rate,weight,host\n".to_owned() + &rows.collect::<String>();
    let caps = want["cap"].as_object().unwrap().iter().map(|(host, cap)| format!("{host},{cap}\n"));
    place.write("caps.csv", &("host,cap\n".to_owned() + &caps.collect::<String>()));
    let got = allocate(&place, &pages, 6.0, "--objective freshness --host-caps caps.csv");
    assert_all_close(&got["frequency"], &want["f"], 1e-6);
    for (host, price) in want["nu"].as_object().unwrap() {
        assert_close(&got["host_price"][host], price, 1e-6);
    }
}

#[test]
fn the_ends_of_a_budget_are_told() {
    let place = Place::new();
    let pages = "page,rate,weight\nstill,0,1\nbusy,inf,1\nplain,1,1\nvain,1,0\n";
    let none = allocate(&place, pages, 0.0, "--objective age");
    assert!(none["mu"].is_null() && none["objective"].is_null(), "{none}");
    assert_eq!(numbers(&none["frequency"]), [0.0; 4]);
    let some = allocate(&place, pages, 2.0, "--objective freshness");
    assert_eq!(numbers(&some["frequency"])[..2], [0.0, 0.0]);
    assert_close(&some["frequency"][2], &2.0.into(), 1e-9);
    let more = allocate(&place, "page,rate,weight\nstill,0,1\n", 2.0, "--objective freshness");
    assert_eq!((more["mu"].as_f64(), more["objective"].as_f64()), (Some(0.0), Some(1.0)));
    let empty = allocate(&place, "page,rate,weight\n", 2.0, "--objective harmonic");
    assert_eq!(numbers(&empty["frequency"]), [0.0; 0]);
}

// Sites

/// The worked example of the paper: page names that are URLs' last parts.
fn write_example(place: &Place, golden: &Value) {
    let directories = golden["dirof"].as_object().unwrap().iter();
    let pages = directories.map(|(name, dir)| {
        let dir = dir.as_str().unwrap();
        if name == "R" { "R,http://h/\n".into() } else { format!("{name},http://h{dir}{name}\n") }
    });
    place.write("p.csv", &("page,url\n".to_owned() + &pages.collect::<String>()));
    let mut links = "dst,src\n".to_owned();
    for (from, to) in golden["links"].as_object().unwrap() {
        for to in to.as_array().unwrap() {
            links += &format!("{},{from}\n", to.as_str().unwrap());
        }
    }
    place.write("l.csv", &links);
}

fn sites(place: &Place, method: &str) -> Vec<Value> {
    let words = format!("lab sites --pages p.csv --links l.csv --method {method} --json");
    place.run(&words).expect(0).json()["sites"].as_array().unwrap().clone()
}

#[test]
fn the_worked_example_divides_as_printed() {
    let Some(golden) = golden() else { return };
    let golden = &golden["sites"];
    let place = Place::new();
    write_example(&place, golden);
    let proper = |method: &str| -> Vec<(Value, Value)> {
        let sites =
            sites(&place, method).into_iter().filter(|s| s["members"] != Value::Array(vec![]));
        let mut sites: Vec<_> =
            sites.map(|site| (site["tops"].clone(), site["members"].clone())).collect();
        sites.sort_by_key(|site| site.0.to_string());
        sites
    };
    let listed = |key: &str| golden[key].as_array().unwrap().iter();
    let by_directory: Vec<_> = listed("A").map(|s| (s[0].clone(), s[1].clone())).collect();
    assert_eq!(proper("A"), by_directory);
    let by_links: Vec<_> =
        listed("B").map(|s| (Value::Array(vec![s[0].clone()]), s[1].clone())).collect();
    for method in ["B", "C", "open", "b", "OPEN"] {
        assert_eq!(proper(method), by_links, "{method}");
    }
}

#[test]
fn upper_sites_are_places_in_the_list_and_directories_may_be_given() {
    let place = Place::new();
    place.write("p.csv", "size,page,url,dir\n1,r,/,top\n1,a,/x,sub\n1,b,/y,sub\n1,c,/z,\"s,ub\"\n");
    place.write("l.csv", "src,dst,implied\nr,a,0\na,b,0\nb,b,1\n");
    let found = sites(&place, "A");
    let names: Vec<_> = found.iter().map(|site| site["tops"][0].as_str().unwrap()).collect();
    assert_eq!(names, ["r", "a", "c"]);
    assert_eq!(found[1]["members"], serde_json::json!(["b"]));
    assert_eq!(found[1]["upper"], serde_json::json!([0]));
    let table = place.run("lab sites --pages p.csv --links l.csv --method A").expect(0).out;
    assert_eq!(table, "site  tops  members  upper\n0     r\n1     a     b        0\n2     c\n");
}

// Complaints

#[test]
fn bad_files_are_refused_with_file_line_and_column() {
    let place = Place::new();
    place.write("pages.csv", "page,url\na,/\nb,/b\n");
    place.write("caps.csv", "host,cap\nx,1\n");
    let estimate = "lab estimate --history bad.csv";
    let allocate = "lab allocate --budget 1 --objective freshness --pages bad.csv";
    let capped = "lab allocate --budget 1 --objective age --pages bad.csv --host-caps caps.csv";
    let links = "lab sites --method A --pages pages.csv --links bad.csv";
    let pages = "lab sites --method A --pages bad.csv --links bad.csv";
    let table: &[(&str, &str, &str)] = &[
        (estimate, "", "line 1, column 1: no header; expected page,interval,changed"),
        (estimate, "page,interval\n", "line 1: column changed is missing"),
        (estimate, "page,interval,changed,when\n", "line 1, column 4: no column is called `when`"),
        (estimate, "page,interval,changed\na,1,0\na,-1,0\n", "line 3, column interval: `-1`"),
        (estimate, "page,interval,changed\na,0,0\n", "line 2, column interval: `0`"),
        (estimate, "page,interval,changed\na,NaN,0\n", "line 2, column interval: `NaN`"),
        (estimate, "page,interval,changed\na,inf,0\n", "line 2, column interval: `inf`"),
        (estimate, "page,interval,changed\na,,0\n", "line 2, column interval: `` is empty"),
        (estimate, "page,interval,changed\na,1,yes\n", "line 2, column changed: `yes`"),
        (
            estimate,
            "page,interval,changed\na,1\n",
            "line 2, column 3: 2 cells where the header has 3",
        ),
        (estimate, "page,interval,changed\n,1,0\n", "line 2, column page: `` is empty"),
        (estimate, "page,interval,changed,unmodified\na,1,1,2\n", "column unmodified: `2` is more"),
        (estimate, "page,interval,changed,unmodified\na,1,1,-2\n", "column unmodified: `-2`"),
        (allocate, "page,rate,weight\na,-1,1\n", "line 2, column rate: `-1`"),
        (allocate, "page,rate,weight\na,1,inf\n", "line 2, column weight: `inf`"),
        (allocate, "page,rate,weight\na,1,nan\n", "line 2, column weight: `nan`"),
        (allocate, "page,rate,weight,cost\na,1,1,0\n", "line 2, column cost: `0`"),
        (
            allocate,
            "page,rate,weight\na,1,1\na,1,1\n",
            "line 3, column page: `a` is already on line 2",
        ),
        (capped, "page,rate,weight\na,1,1\n", "line 1: no column `host`"),
        (capped, "page,rate,weight,host\na,1,1,\n", "line 2, column host: `` is empty"),
        (
            capped,
            "page,rate,weight,host\na,1,1,y\n",
            "caps.csv, line 2, column host: `x` has no page",
        ),
        (links, "src,dst\na,b\nb,z\n", "line 3, column dst: `z` is not a page of pages.csv"),
        (links, "src,dst\n\"a\nb\n", "line 2, column 1: a quote that is never closed"),
        (pages, "page,url\na,\n", "bad.csv"),
    ];
    for (command, file, words) in table {
        place.write("bad.csv", file);
        let ran = place.run(command).expect(2).explains(&[words]);
        assert!(ran.out.is_empty(), "{command}: {}", ran.out);
        assert!(ran.err.contains(".csv, line "), "{command}: {}", ran.err);
    }
}

#[test]
fn bad_commands_are_refused() {
    let place = Place::new();
    place.write("p.csv", "page,rate,weight,host\na,1,1,x\n");
    for (command, words) in [
        ("lab estimate --history none.csv", "cannot read none.csv"),
        ("lab estimate --history p.csv --prior 0,1", "two numbers above 0"),
        ("lab estimate --history p.csv --level 1", "between 0 and 1"),
        ("lab allocate --pages p.csv --objective age --budget -1", "0 or more"),
        ("lab allocate --pages p.csv --objective age --budget nan", "0 or more"),
        ("lab allocate --pages p.csv --objective speed --budget 1", "possible values: freshness"),
        ("lab allocate --pages - --objective age --budget 1 --host-caps -", "only one file"),
        ("lab sites --pages - --links - --method A", "only one file"),
        ("lab sites --pages p.csv --links p.csv --method D", "possible values: A, B, C, open"),
    ] {
        place.run(command).expect(2).explains(&[words]);
    }
}

#[test]
fn standard_input_is_a_file_like_others() {
    let place = Place::new();
    place.write("p.csv", "\u{feff}page,rate,weight\r\na,1,1\r\n");
    let mut command =
        place.command("lab allocate --pages - --budget 3 --objective freshness --json");
    command.stdin(File::open(place.path().join("p.csv")).unwrap());
    let answer = place.start_command(command).wait().expect(0).json();
    assert_close(&answer["frequency"][0], &3.0.into(), 1e-9);
}

// Documentation

#[test]
fn the_figures_are_what_the_command_draws() {
    let place = Place::new();
    place.run("lab figures --out drawn").expect(0);
    let files = |dir: &Path| -> BTreeSet<_> {
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let (drawn, kept) = (place.path().join("drawn"), Path::new(ROOT).join("docs/figures"));
    assert_eq!(files(&drawn), files(&kept));
    for name in files(&drawn) {
        let [drawn, kept] = [&drawn, &kept].map(|dir| fs::read_to_string(dir.join(&name)).unwrap());
        assert!(drawn == kept, "{name:?} is old: run `evercrawl lab figures --out docs/figures`");
    }
}

/// Runs what the chapter shows: files are blocks ```csv NAME, commands follow `$ ` in console blocks.
#[test]
fn the_chapter_shows_what_the_commands_print() {
    let chapter =
        fs::read_to_string(Path::new(ROOT).join("docs/how-evercrawl-decides.md")).unwrap();
    let place = Place::new();
    let mut commands = 0;
    for block in chapter.split("\n```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').unwrap();
        if let Some(name) = kind.strip_prefix("csv ") {
            place.write(name, &format!("{text}\n"));
        } else if kind == "console" {
            for shown in format!("\n{text}\n").split("\n$ evercrawl ").skip(1) {
                let (words, printed) = shown.split_once('\n').unwrap();
                let Ran { out, .. } = place.run(words).expect(0);
                assert_eq!(out.trim_end(), printed.trim_end(), "`evercrawl {words}`");
                commands += 1;
            }
        }
    }
    assert!(commands > 5, "the chapter shows only {commands} commands");
}

#[test]
fn the_tests_that_the_chapter_names_exist() {
    let chapter =
        fs::read_to_string(Path::new(ROOT).join("docs/how-evercrawl-decides.md")).unwrap();
    let mut sources = String::new();
    for part in ["estimate/src", "policy/src/allocate", "policy/src/schedulers"] {
        for entry in fs::read_dir(Path::new(ROOT).join("crates").join(part)).unwrap() {
            sources += &fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
        }
    }
    let named: Vec<_> =
        chapter.split("test `").skip(1).filter_map(|rest| rest.split('`').next()).collect();
    assert!(named.len() > 5, "{named:?}");
    for name in named {
        assert!(sources.contains(&format!("fn {name}(")), "no test is called {name}");
    }
}
