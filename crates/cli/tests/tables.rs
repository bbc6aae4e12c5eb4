//! Do others read our tables, and is in them what the crawl knows, whatever is interrupted?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use evercrawl_testweb::WorldConfig;
use rustix::process::Signal;
use serde_json::Value;

use crate::common::tools::tool;
use crate::common::web::Web;
use crate::common::{Place, pause};
use crate::export::{crawl, is_capture, python, visits};

/// The columns of Common Crawl's index, in its order.
const COMMON_CRAWL: &str = "url_surtkey url url_host_name url_host_tld url_host_2nd_last_part \
    url_host_3rd_last_part url_host_4th_last_part url_host_5th_last_part url_host_registry_suffix \
    url_host_registered_domain url_host_private_suffix url_host_private_domain url_host_name_reversed \
    url_protocol url_port url_path url_query fetch_time fetch_status fetch_redirect content_digest \
    content_mime_type content_mime_detected content_charset content_languages content_truncated \
    warc_filename warc_record_offset warc_record_length warc_segment";

/// What every program in Python begins with: the tables in the folder of the first argument.
const OPEN: &str = "\
import duckdb, json, os, sys
os.chdir(sys.argv[1])
db = duckdb.connect()
db.execute(\"set timezone = 'UTC'\")
db.execute(\"create view captures as from read_parquet('tables/captures/**/*.parquet', hive_partitioning = true)\")
db.execute(\"create view visits as from 'tables/visits/*.parquet'\")
for name in ['pages', 'hosts', 'links']:
    db.execute(f\"create view {name} as from 'tables/{name}.parquet'\")
def q(sql): return db.execute(sql).fetchall()
";

/// What a program in Python says of the tables, as JSON; nothing where Python's packages are missing.
fn ask(program: &str, place: &Place) -> Option<Value> {
    let said = python(&format!("{OPEN}{program}"), place.path());
    (!said.is_empty()).then(|| serde_json::from_str(&said).expect(&said))
}

fn count(of: &Value) -> u64 {
    of.as_u64().expect("a number")
}

#[test]
fn tables_hold_what_the_crawl_knows() {
    let (_web, place) = crawl();
    let told =
        place.run("export parquet --content --name mine --out tables --json").expect(0).json();
    let visits = visits(&place);
    let captures = visits.iter().filter(|visit| is_capture(visit)).count() as u64;
    let of = |name: &str| count(&told[name]);
    assert_eq!((of("captures"), of("visits")), (captures, visits.len() as u64));
    assert!(captures > 40 && of("warc_files") > 1, "{told}");
    assert_eq!((of("pages"), of("hosts")), (place.urls().len() as u64, 4));
    others_read_types_and_counts(&place, &visits);
    questions_of_the_document_have_answers(&place);
    queries_for_common_crawl_run(&place);
    what_is_finished_is_written_once(&place);
}

fn others_read_types_and_counts(place: &Place, visits: &[Value]) {
    let Some(read) = ask(
        "types = {name: str(kind) for name, kind in q(\"select column_name, column_type from (describe captures)\")}\n\
         columns = [name for name, _ in q('select column_name, column_type from (describe captures)')]\n\
         print(json.dumps({\n\
         'columns': ' '.join(columns), 'types': types,\n\
         'counts': q('select (select count(*) from captures), (select count(*) from visits),\\\n\
           (select count(*) from pages), (select count(*) from hosts), (select count(*) from links)')[0],\n\
         'crawls': q('select distinct crawl from captures'),\n\
         'subsets': q(\"select count(*) from captures where (fetch_status = 200) != (subset = 'warc')\")[0][0],\n\
         'joined': q('select count(*) from captures c join visits v using (visit_id) where c.url = v.url \\\n\
           and c.warc_record_offset = v.warc_record_offset and c.fetch_time = v.fetch_time')[0][0],\n\
         'languages': q(\"select distinct content_languages from captures where content_languages is not null\"),\n\
         'times': [t for t, in q('select fetch_time::varchar from visits order by visit_id')],\n\
         'missing': q('select count(*) from captures where url_surtkey is null or content_mime_type is null \\\n\
           or fetch_status is null or warc_filename is null')[0][0],\n\
         'unknown': q('select count(*) from links where to_url not in (select url from pages)')[0][0],\n\
         'unsorted': q(\"select count(*) from (select url_surtkey, lag(url_surtkey) over (partition by filename \\\n\
           order by file_row_number) as before from read_parquet('tables/captures/**/*.parquet', filename = true, \\\n\
           file_row_number = true)) where before > url_surtkey\")[0][0],\n\
         }))",
        place,
    ) else {
        return;
    };
    let columns = read["columns"].as_str().unwrap();
    assert!(columns.starts_with(COMMON_CRAWL), "{columns}");
    assert!(columns.ends_with("crawl subset"), "{columns}");
    for (column, kind) in [
        ("fetch_time", "TIMESTAMP WITH TIME ZONE"),
        ("fetch_status", "SMALLINT"),
        ("url_port", "INTEGER"),
        ("warc_record_offset", "INTEGER"),
        ("url", "VARCHAR"),
        ("visit_id", "BIGINT"),
    ] {
        assert_eq!(read["types"][column], kind, "{column}");
    }
    let captures = visits.iter().filter(|visit| is_capture(visit)).count();
    assert_eq!(read["counts"][0], captures);
    assert_eq!(read["counts"][1], visits.len());
    assert_eq!(read["counts"][2], place.urls().len());
    assert_eq!((&read["counts"][3], &read["joined"]), (&4.into(), &captures.into()));
    assert!(count(&read["counts"][4]) > 20, "links: {read}");
    assert_eq!(read["crawls"], serde_json::json!([["mine"]]));
    for nothing in ["subsets", "missing", "unknown", "unsorted"] {
        assert_eq!(read[nothing], 0, "{nothing}");
    }
    let languages = read["languages"].as_array().unwrap();
    assert!(languages.iter().all(|one| one[0].as_str().unwrap().len() == 3), "{languages:?}");
    let first = read["times"][0].as_str().unwrap().replace(' ', "T");
    assert!(visits[0]["time"].as_str().unwrap().starts_with(&first[..19]), "{first}");
    let polars = python(
        "import sys, polars as pl\n\
         f = pl.read_parquet(sys.argv[1] + '/tables/captures/**/*.parquet', hive_partitioning=True)\n\
         assert f['url_surtkey'].dtype == pl.String and f['fetch_status'].dtype == pl.Int16\n\
         assert f['fetch_time'].dtype == pl.Datetime('ms', 'UTC'), f['fetch_time'].dtype\n\
         print(f.height)",
        place.path(),
    );
    assert_eq!(polars.trim(), captures.to_string());
}

/// The blocks of SQL in the document.
fn blocks_of_sql(document: &str) -> Vec<&str> {
    let blocks = document.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

fn questions_of_the_document_have_answers(place: &Place) {
    let document = include_str!("../../../docs/analytics.md");
    let blocks = blocks_of_sql(document);
    assert_eq!(blocks.len(), 11, "the views, and ten questions");
    place.write("questions.json", &serde_json::to_string(&blocks).unwrap());
    let program = "\
import duckdb, json, os, sys
os.chdir(sys.argv[1])
db = duckdb.connect()
views, *questions = json.load(open('questions.json'))
db.execute(views)
def rows(sql):
    db.execute('create or replace table answer as ' + sql)
    return db.execute('select count(*) from answer').fetchall()[0][0]
print(json.dumps([rows(sql) for sql in questions]))";
    let said = python(program, place.path());
    if said.is_empty() {
        return;
    }
    let rows: Vec<u64> = serde_json::from_str(&said).unwrap();
    assert!(rows.iter().all(|rows| *rows > 0), "every question has an answer: {rows:?}");
    // What the answers say is what the crawl says.
    let urls = place.urls();
    let broken = ask(
        "print(json.dumps(q('select distinct to_url from links where to_status in (404, 410)')))",
        place,
    );
    for url in broken.unwrap().as_array().unwrap() {
        let page = urls.iter().find(|page| page["url"] == url[0]).unwrap();
        assert!(matches!(page["status"].as_u64(), Some(404 | 410)), "{page}");
    }
}

/// Queries as users of Common Crawl write them, on the table where they expect it.
fn queries_for_common_crawl_run(place: &Place) {
    let counted = ask(
        "db.execute('create schema ccindex'); db.execute('create view ccindex.ccindex as from captures')\n\
         print(json.dumps([q(sql) for sql in [\n\
         '''SELECT COUNT(*) AS n_captures, crawl, subset FROM \"ccindex\".\"ccindex\" GROUP BY crawl, subset ORDER BY subset''',\n\
         '''SELECT COUNT(*) AS n_pages, url_host_tld AS tld, COUNT(DISTINCT url_host_name) AS n_hosts,\n\
            COUNT(DISTINCT url_host_registered_domain) AS n_domains FROM \"ccindex\".\"ccindex\"\n\
            WHERE crawl = 'mine' AND subset = 'warc' GROUP BY url_host_tld ORDER BY n_pages DESC''',\n\
         '''SELECT COUNT(*) AS count, fetch_status FROM \"ccindex\".\"ccindex\" WHERE crawl = 'mine'\n\
            AND subset = 'crawldiagnostics' GROUP BY fetch_status ORDER BY count DESC''',\n\
         '''SELECT url, warc_filename, warc_record_offset, warc_record_length FROM \"ccindex\".\"ccindex\"\n\
            WHERE crawl = 'mine' AND subset = 'warc' AND url_host_registered_domain = 'h1.test' LIMIT 1000''',\n\
         '''SELECT COUNT(*) AS n_pages, content_languages, url_host_tld FROM \"ccindex\".\"ccindex\"\n\
            WHERE crawl = 'mine' AND subset = 'warc' AND NOT content_languages LIKE '%,%'\n\
            GROUP BY content_languages, url_host_tld ORDER BY n_pages DESC''']]))",
        place,
    );
    let Some(counted) = counted else { return };
    let answers = counted.as_array().unwrap();
    assert!(answers.iter().all(|rows| !rows.as_array().unwrap().is_empty()), "{counted}");
    assert_eq!((&answers[1][0][1], &answers[1][0][2]), (&"test".into(), &4.into()), "{counted}");
}

/// The files below a folder with their contents.
fn files_below(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => files.extend(files_below(&entry.path())),
            false => {
                files.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap()))
            }
        }
    }
    files.sort();
    files
}

fn what_is_finished_is_written_once(place: &Place) {
    let before = files_below(&place.path().join("tables/captures"));
    assert!(before.iter().all(|(name, _)| !name.ends_with(".new")), "nothing half is left");
    let words = "export parquet --content --name mine --out tables --json";
    assert_eq!(place.run(words).expect(0).json()["visits"], 0, "all visits are there");
    assert_eq!(files_below(&place.path().join("tables/captures")), before);
    place.run("crawl --for 1s").expect(15);
    place.run(words).expect(0);
    let after = files_below(&place.path().join("tables/captures"));
    let kept = before.iter().filter(|file| after.contains(file)).count();
    assert!(kept + 3 > before.len() && after.len() >= before.len(), "{kept} of {}", before.len());
    tables_equal_new_ones(place);
    place
        .run("export parquet --host h1.test --out tables")
        .expect(2)
        .explains(&["another selection"]);
    place.run("export parquet --host h1.test --out tables --overwrite --tables captures").expect(0);
    let hosts = ask("print(json.dumps(q('select distinct url_host_name from captures')))", place);
    assert!(hosts.is_none_or(|hosts| hosts == serde_json::json!([["h1.test"]])));
}

/// Tables that were written in several goes hold what those hold that are written at once.
fn tables_equal_new_ones(place: &Place) {
    let _ = fs::remove_dir_all(place.path().join("once"));
    place.run("export parquet --name mine --out once").expect(0);
    let said = python(
        "import duckdb, os, sys\n\
         os.chdir(sys.argv[1])\n\
         def ids(dir): return duckdb.sql(f\"select visit_id, url, crawl, warc_record_offset from read_parquet('{dir}\
         /captures/**/*.parquet', hive_partitioning = true) order by 1\").fetchall()\n\
         def visits(dir): return duckdb.sql(f\"select * replace (epoch_ms(fetch_time) as fetch_time) from '{dir}/visits/*.parquet' order by 1\").fetchall()\n\
         assert len(ids('tables')) == len(set(ids('tables'))), 'no capture twice'\n\
         assert ids('tables') == ids('once'), (len(ids('tables')), len(ids('once')))\n\
         strip = lambda rows: [row[:10] for row in rows]\n\
         assert strip(visits('tables')) == strip(visits('once'))\n\
         print(len(ids('once')))",
        place.path(),
    );
    assert!(said.is_empty() || said.trim().parse::<u64>().unwrap() > 20, "{said}");
}

#[test]
fn tables_of_a_running_crawl_survive_kills() {
    if tool("python3").is_none() {
        return;
    }
    let world = WorldConfig { hosts: 3, pages: 10, ..WorldConfig::calm() };
    let (web, place) = (Web::serve(world), Place::new());
    let flags = format!("--delay 5ms --recrawl 500ms -s archive.roll=30kB {}", web.flags());
    let mut crawl = place.start(&format!("crawl {} {flags} --for 60s", web.seeds(3).join(" ")));
    crawl.wait_until("the crawl to answer", || place.data().join("control.sock").exists());
    let finished = || files_of(&place.path().join("tables/captures/crawl=mine/subset=warc"));
    for n in 1..=4 {
        let mut follow = place.start("export parquet --name mine --out tables --follow");
        let before = finished();
        follow.wait_until("more files", || finished() > before);
        pause(Duration::from_millis(37 * n));
        follow.child().kill().unwrap();
    }
    let mut follow = place.start("export parquet --name mine --out tables --follow");
    let before = finished();
    follow.wait_until("more files", || finished() > before);
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    follow.wait().expect(11).explains(&["run the same command again to continue"]);
    place.run("export parquet --name mine --out tables").expect(0);
    tables_equal_new_ones(&place);
}

fn files_of(dir: &Path) -> usize {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".parquet")).count()
}
