//! Does `evercrawl lab graph` rank any edge list, and complain as it should?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::Place;
use serde_json::Value;

fn graph(edges: &str, words: &str) -> Value {
    let place = Place::new();
    place.write("e.csv", edges);
    place.run(&format!("lab graph --edges e.csv --json {words}")).expect(0).json()
}

#[track_caller]
fn assert_close(got: &Value, want: f64) {
    let got = got.as_f64().unwrap();
    assert!((got - want).abs() < 1e-9, "got {got}, want {want}");
}

#[test]
fn scores_stand_by_name_and_nothing_else_does() {
    let answer = graph("src,dst\na,b\n", "--method pagerank");
    assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["scores"]);
    assert_close(&answer["scores"]["a"], 1.0 / 2.85);
    assert_close(&answer["scores"]["b"], 1.85 / 2.85);
    let more = graph("anchor,src,weight,dst\nx,a,7,b\n", "--method pagerank");
    assert_eq!(more, answer, "other columns say nothing");
    let half = graph("src,dst\na,b\n", "--method pagerank --damping .5");
    assert_close(&half["scores"]["a"], 0.4);
    let hits = graph("dst,src\nc,a\nc,b\n", "--method hits");
    assert_eq!(hits.as_object().unwrap().len(), 2);
    assert_close(&hits["hubs"]["a"], 0.5);
    assert_close(&hits["authorities"]["c"], 1.0);
    let counts = graph("src,dst\na,c\nb,c\nc,c\na,c\n", "--method indegree");
    assert_close(&counts["scores"]["c"], 3.0);
    let each = graph("src,dst\na,c\nb,c\nc,c\na,c\n", "--method indegree --repeats each");
    assert_close(&each["scores"]["c"], 4.0);
}

#[test]
fn a_node_may_be_called_anything() {
    let edges =
        "src,dst\n\"a, \"\"b\"\"\",\u{e9}\u{4e2d}\n\u{e9}\u{4e2d},\"two\nlines\"\n#,constructor\n";
    let answer = graph(edges, "--method pagerank");
    let scores = answer["scores"].as_object().unwrap();
    let names: Vec<&String> = scores.keys().collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(scores.contains_key("a, \"b\"") && scores.contains_key("two\nlines"), "{names:?}");
    let sum: f64 = scores.values().map(|score| score.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn trust_begins_where_it_is_told_to() {
    let place = Place::new();
    place.write("e.csv", "src,dst\n\"g,1\",h\nh,\"g,1\"\nspam,more\nmore,spam\nspam,h\n");
    place.write("good.txt", "\"g,1\"\r\n\r\n");
    place.write("raw.txt", "g,1");
    place.write("bad.txt", "more\n");
    let scores = |words: &str| {
        let answer = place.run(&format!("lab graph --edges e.csv --json {words}")).expect(0).json();
        answer["scores"].clone()
    };
    let trust = scores("--method trustrank --trust good.txt");
    assert_eq!(trust, scores("--method trustrank --trust raw.txt"));
    assert_close(&trust["g,1"], 1.0 / 1.85);
    assert_close(&trust["spam"], 0.0);
    let distrust = scores("--method antitrust --trust bad.txt");
    assert_close(&distrust["h"], 0.0);
    assert!(distrust["spam"].as_f64() > Some(0.3), "{distrust}");
    // Most is reached from the two that reach the others, too.
    let chosen = scores("--method trustrank --trust-top 1");
    assert!(chosen["spam"].as_f64() > Some(0.1), "{chosen}");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let place = Place::new();
    place.write("e.csv", "src,dst\na,b\n");
    place.write("gap.csv", "src,dst\na,b\nb,\n");
    place.write("quote.csv", "src,dst\na,\"b\n");
    place.write("head.csv", "from,to\na,b\n");
    place.write("unknown.txt", "a\n\nx\n");
    place.write("empty.txt", "\n");
    for (words, message) in [
        ("--edges gap.csv --method hits", "gap.csv, line 3, column dst: `` is empty"),
        ("--edges quote.csv --method hits", "quote.csv, line 2, column 2"),
        (
            "--edges head.csv --method hits",
            "head.csv, line 1, column 1: no column is called `from`",
        ),
        ("--edges none.csv --method hits", "cannot read none.csv"),
        (
            "--edges e.csv --method trustrank --trust unknown.txt",
            "unknown.txt, line 3, column 1: `x` is not a node of e.csv",
        ),
        (
            "--edges e.csv --method trustrank --trust empty.txt",
            "empty.txt, line 1: the list is empty",
        ),
        ("--edges e.csv --method trustrank", "--trust"),
        ("--edges e.csv --method antitrust --trust-top 3", "known spam"),
        ("--edges e.csv --method pagerank --damping 1.5", "use a number from 0 to 1"),
    ] {
        let ran = place.run(&format!("lab graph {words}")).expect(2);
        assert!(ran.err.contains(message), "{words}: {}", ran.err);
    }
}

#[test]
fn trust_that_a_method_ignores_is_reported() {
    let place = Place::new();
    place.write("e.csv", "src,dst\na,b\n");
    place.write("seeds.txt", "a\n");
    let ran = place.run("lab graph --edges e.csv --method pagerank --trust seeds.txt").expect(0);
    assert!(ran.err.contains("are ignored"), "{}", ran.err);
    let ran = place.run("lab graph --edges e.csv --method trustrank --trust seeds.txt").expect(0);
    assert!(ran.err.is_empty(), "{}", ran.err);
}

#[test]
fn people_get_a_table_with_the_highest_first() {
    let place = Place::new();
    place.write("e.csv", "src,dst\na,b\n");
    let ran = place.run("lab graph --edges e.csv --method pagerank").expect(0);
    assert_eq!(ran.out, "node  score\nb     0.649123\na     0.350877\n");
}

#[test]
fn orders_of_discovery_are_compared_on_a_world_with_links() {
    let place = Place::new();
    let world =
        "pages = 400\nhosts = 3\ndirectories = 4\nlinks = 2\n[[class]]\nshare = 1\nrate = 1\n";
    place.write("w.toml", world);
    let ran = place.run("lab discover w.toml --json").expect(0);
    let curves: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = curves.iter().map(|curve| curve["ordering"].as_str().unwrap()).collect();
    assert_eq!(names, ["bfs", "indegree", "pagerank", "opic", "larger-sites"]);
    assert!(curves.iter().all(|curve| curve["curve"].as_array().unwrap().len() == 9));
    let one = place.run("lab discover w.toml --ordering opic").expect(0);
    assert_eq!(one.out.lines().count(), 2, "{}", one.out);
    place.write("bare.toml", &world.replace("links = 2", "links = 0"));
    let none = place.run("lab discover bare.toml --ordering bfs").expect(2);
    assert!(none.err.contains("no links"), "{}", none.err);
}

/// A site whose front leads to ten sections of ten pages, each to the next; one section is about solar power.
fn sections(place: &Place) {
    std::fs::create_dir(place.path().join("site")).unwrap();
    let day = 86_400;
    let window = format!("\"window_start\": {}, \"window_end\": {}", 300 * day, 400 * day);
    place.write("site/trace.json", &format!("{{\"site\": \"a.test\", {window}}}"));
    let mut pages = "page,url,created\nfront,/,0\n".to_owned();
    let mut links = "src,dst\n".to_owned();
    for section in 0..10 {
        let name = if section == 7 { "solar" } else { "cooking" };
        let mut before = "front".to_owned();
        for page in 0..10 {
            let id = format!("p{section}-{page}");
            pages += &format!("{id},/{section}/{name}/{page},0\n");
            links += &format!("{before},{id}\n");
            before = id;
        }
    }
    place.write("site/pages.csv", &pages);
    place.write("site/links.csv", &links);
    place.write("site/changes.csv", &format!("page,time,kind\nfront,{},M\n", 310 * day));
}

#[test]
fn a_topic_is_found_first_and_the_user_says_what_is_good() {
    let place = Place::new();
    sections(&place);
    let curves = |words: &str| place.run(&format!("lab discover site --json {words}")).expect(0);
    let good = |ran: &Value| ran["mean_good"].as_f64().unwrap();
    let by_topic = curves("--topic solar,wind --ordering topic,bfs").json_lines();
    assert_eq!((&by_topic[0]["ordering"], &by_topic[0]["pages"]), (&"topic".into(), &101.into()));
    let [topic, bfs] = [good(&by_topic[0]), good(&by_topic[1])];
    assert!(topic > 0.9 && bfs < 0.6, "{topic} {bfs}");
    // Without a topic there is no such order; with one it is the sixth.
    assert_eq!(curves("").json_lines().len(), 5);
    assert_eq!(curves("--topic solar").json_lines().len(), 6);
    let named = curves("--good /solar/ --ordering bfs").json();
    assert_eq!(good(&named), bfs, "the same pages, by their addresses");
    let other = curves("--good /0/ --topic solar --ordering topic").json();
    assert!(good(&other) < topic, "what is good is what --good says: {other}");
    for (words, why) in [
        ("--good /lunar/", "no URL in this world matches --good"),
        ("--good [", "--good"),
        ("--topic lunar", "no URL in this world contains a word of --topic"),
        ("--ordering topic", "--topic"),
    ] {
        let ran = place.run(&format!("lab discover site {words}")).expect(2);
        assert!(ran.err.contains(why), "{words}: {}", ran.err);
    }
}
