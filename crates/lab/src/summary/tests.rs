use super::*;
use crate::page::ReportTable;
use crate::row::{PartScores, RowScores, Tallied, Week};

/// Rows of 12 policies in two worlds at three budgets from `seeds` seeds, ours ahead but at the last.
fn rows(seeds: u64) -> Vec<ResultRow> {
    let mut rows = Vec::new();
    for world in ["one", "two"] {
        for (size, budget) in [(3, "20%/week"), (1, "2%/week"), (2, "5%/week")] {
            for entry in
                registry::ALL.iter().take(10).chain(&registry::ALL[registry::ALL.len() - 2..])
            {
                rows.extend((0..seeds).map(|seed| row(world, budget, entry.name, size, seed)));
            }
        }
    }
    rows
}

fn row(world: &str, budget: &str, policy: &str, size: u32, seed: u64) -> ResultRow {
    let place = registry::ALL.iter().position(|entry| entry.name == policy).unwrap() as f64;
    let ours = if policy == OURS && size == 3 { -0.035 } else { 0.0 };
    let freshness = 0.2 * f64::from(size) + 0.3 - 0.01 * place + ours + 0.001 * seed as f64;
    let ends = |far: f32| Some(freshness as f32 + far);
    let scores = || RowScores {
        freshness,
        freshness_low: ends(-0.02),
        freshness_high: ends(0.03),
        freshness_weighted: freshness,
        coverage: freshness / 2.0,
        age: 1.0 - freshness,
        ..RowScores::default()
    };
    let tallied = || Tallied { scores: scores(), ..Tallied::default() };
    let part = |name: &str| PartScores { name: name.to_owned(), pages: 9, tallied: tallied() };
    let week = |week| Week { week, tallied: tallied() };
    ResultRow {
        world: world.to_owned(),
        policy: policy.to_owned(),
        budget: budget.to_owned(),
        goal: "freshness".to_owned(),
        seed,
        pages: 100,
        scores: scores(),
        freshness_of_clairvoyant: Some(0.5),
        freshness_of_clairvoyant_low: Some(0.375),
        freshness_of_clairvoyant_high: Some(0.75),
        weeks: vec![week(0), week(1)],
        hosts: vec![part("a.test"), part("b \"q\", <c>.test")],
        classes: vec![part("never"), part("fast")],
        ..ResultRow::default()
    }
}

fn bold<'a>(table: &'a ReportTable, column: &str) -> Vec<&'a str> {
    let place = table.columns.iter().position(|name| name == column).unwrap();
    let words = |row: &'a Vec<crate::page::Cell>| match &row[0].value {
        crate::page::CellValue::Words(words) => words.as_str(),
        _ => "",
    };
    table.rows.iter().filter(|row| row[place].bold).map(words).collect()
}

#[test]
fn the_best_policy_is_bold_but_none_that_knows_the_truth() {
    let rows = rows(1);
    let summary = RunSummary::new(&rows);
    assert_eq!(summary.budgets, ["2%/week", "5%/week", "20%/week"]);
    let table = summary.matrix("one", ScoreMeasure::Freshness);
    assert_eq!(bold(&table, "2%/week"), ["index\u{a0}\u{2605}"]);
    assert_eq!(bold(&table, "20%/week"), [registry::ALL[1].name]);
    let last = table.rows.last().unwrap();
    assert!(last[0].value == crate::page::CellValue::Words("oracle\u{a0}\u{2020}".to_owned()));
    let age = summary.details("one", "2%/week");
    assert_eq!(bold(&age, "age, days"), ["index\u{a0}\u{2605}"], "less is better");
}

#[test]
fn the_sentence_says_where_ours_loses() {
    let rows = rows(1);
    let verdict = RunSummary::new(&rows).verdict("one", ScoreMeasure::Freshness);
    let rival = registry::ALL[1].name;
    assert!(verdict.contains("ahead of the best of the others at 2 of 3 budgets"), "{verdict}");
    assert!(
        verdict.contains(&format!(
            "behind at the rest, by up to 2.5 points at `20%/week` (`{rival}`)"
        )),
        "{verdict}"
    );
}

#[test]
fn at_one_budget_the_sentence_names_one_number() {
    let rows: Vec<ResultRow> =
        rows(1).into_iter().filter(|row| row.budget == "20%/week" && row.world == "one").collect();
    let verdict = RunSummary::new(&rows).verdict("one", ScoreMeasure::Freshness);
    let wanted =
        format!("behind the best of the others here, by 2.5 points (`{}`).", registry::ALL[1].name);
    assert!(verdict.ends_with(&wanted), "{verdict}");
}

/// The same rows, from runs that aimed at age.
fn aged(mut rows: Vec<ResultRow>) -> Vec<ResultRow> {
    rows.iter_mut().for_each(|row| row.goal = "age".to_owned());
    rows
}

#[test]
fn where_age_is_the_goal_it_is_drawn_and_the_freshest_still_come_first() {
    let rows = aged(rows(1));
    let summary = RunSummary::new(&rows);
    let figure = summary.weeks_chart("one");
    assert_eq!((figure.y.label.as_str(), figure.y.ticks[0]), ("days", 0.0));
    let first = |table: ReportTable| table.rows[0][0].value.clone();
    let ours = crate::page::CellValue::Words("index\u{a0}\u{2605}".to_owned());
    assert_eq!(first(summary.classes("one", "2%/week")), ours);
    let on_the_mean = crate::page::CellValue::Words(registry::ALL[1].name.to_owned());
    for measure in [ScoreMeasure::Freshness, ScoreMeasure::Age] {
        assert_eq!(first(summary.matrix("one", measure)), on_the_mean, "{}", measure.name());
    }
    assert!(summary.html("x").contains("Age in one, days, by budget."));
}

#[test]
fn where_pages_differ_in_worth_age_is_compared_by_worth() {
    let mut rows = aged(rows(1));
    for row in &mut rows {
        row.scores.freshness_weighted -= 0.1;
        row.scores.age_weighted = if row.policy == OURS { 1.0 } else { 1.5 };
        row.scores.age = 3.0 - row.scores.age_weighted;
    }
    let summary = RunSummary::new(&rows);
    assert!(summary.lead().contains("In weighted age, `index` is ahead"), "{}", summary.lead());
    assert!(summary.lead().contains("by up to 0.50 days"), "{}", summary.lead());
    let details = summary.details("one", "2%/week");
    assert_eq!(bold(&details, "weighted age, days"), ["index\u{a0}\u{2605}"]);
}

#[test]
fn few_stand_out_and_ours_leads_them() {
    let rows = rows(1);
    let picked = RunSummary::new(&rows).picked();
    assert_eq!(picked.len(), PICKED);
    assert_eq!((picked[0], &picked[5..]), (OURS, &["clairvoyant", "oracle"][..]));
    assert!(picked.contains(&PLAINEST));
}

#[test]
fn intervals_over_seeds_are_students() {
    let rows = rows(3);
    let line = SummaryLine { rows: rows[..3].iter().collect() };
    let (low, high) = line.of(ScoreMeasure::Freshness).bounds.unwrap();
    let (mean, reach) = (line.mean(|row| row.scores.freshness), 4.303 * 0.001 / 3_f64.sqrt());
    assert!((low - (mean - reach)).abs() < 1e-9 && (high - (mean + reach)).abs() < 1e-9);
    assert_eq!(
        line.beside(ResultRow::of_clairvoyant).bounds,
        Some((0.5, 0.5)),
        "they do not differ"
    );
    let line = SummaryLine { rows: rows[..2].iter().collect() };
    assert_eq!(line.beside(ResultRow::of_clairvoyant).bounds, Some((0.375, 0.75)), "over pages");
    assert!(line.beside(ResultRow::of_oracle).value.is_nan());
}

#[test]
fn a_report_names_every_policy_and_needs_nothing_outside() {
    let rows = rows(2);
    let html = RunSummary::new(&rows).html("evercrawl lab run <one>");
    for entry in registry::ALL.iter().take(10) {
        assert!(html.contains(&format!(">{}", entry.name)), "{}", entry.name);
    }
    let inside = html.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "<script", "<link", "@import", "NaN"] {
        assert!(!inside.contains(outside), "{outside}");
    }
    assert!(
        html.contains("b \"q\", &lt;c&gt;.test")
            && html.contains("<code>evercrawl lab run &lt;one&gt;")
    );
    assert_balanced(&html);
    // One chart over all worlds, and two a world.
    assert_eq!(html.matches("<figure>").count(), 5);
}

#[test]
fn no_rows_make_an_empty_report() {
    assert!(RunSummary::new(&[]).html("x").contains("No run was finished"));
    assert!(RunSummary::new(&[]).choosing().rows.is_empty());
}

/// Every element that is opened is closed, in the right order.
fn assert_balanced(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in html.split('<').skip(1) {
        let tag = &tag[..tag.find('>').unwrap()];
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap();
        let alone = tag.ends_with('/') || ["!doctype", "meta"].contains(&name);
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !alone {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_table_to_choose_by_leaves_nobody_out() {
    let mut rows = rows(1);
    let shown = |rows: &[ResultRow]| RunSummary::new(rows).choosing().markdown();
    let table = shown(&rows);
    assert!(table.contains("index\u{a0}\u{2605}") && table.contains("best of 5 others"), "{table}");
    assert_eq!(table.lines().filter(|line| line.starts_with("| one ")).count(), 3);
    assert_eq!(table.lines().filter(|line| line.starts_with("| mean of all ")).count(), 3);
    // One that is good once, and bad on the mean, is named where it is good.
    for row in rows.iter_mut().filter(|row| row.policy == registry::ALL[9].name) {
        row.scores.freshness_weighted =
            if row.world == "one" && row.budget == "2%/week" { 0.99 } else { 0.0 };
    }
    let table = shown(&rows);
    assert!(table.contains(&format!("**99.0 {}**", registry::ALL[9].name)), "{table}");
}

#[test]
fn files_hold_every_number_in_plain_form() {
    let rows = rows(2);
    let [summary, weeks, hosts, classes] = RunSummary::new(&rows).files();
    assert_eq!(summary.rows.len(), rows.len() / 2);
    for table in [&weeks, &hosts, &classes] {
        assert_eq!(table.rows.len(), rows.len() * 2, "{}", table.name);
    }
    let csv = summary.csv();
    let second: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    let mut heads = csv.lines().next().unwrap().split(',');
    let place = heads.clone().position(|name| name == "freshness");
    assert_eq!(second[place.unwrap()], "0.8655");
    let place = heads.position(|name| name == "freshness_of_clairvoyant").unwrap();
    assert_eq!(second[place..place + 6], ["0.5", "0.375", "0.75", "", "", ""]);
    assert!(hosts.csv().contains("\"b \"\"q\"\", <c>.test\""));
}
