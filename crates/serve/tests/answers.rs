//! What callers get who may ask.

use crate::common::Serving;

#[test]
fn wrong_requests_are_explained() {
    let serving = Serving::begin();
    let base = "/api/v1/collections/a";
    for (target, status, code, words) in [
        ("/api/v1/nothing", 404, "not_found", "no such address"),
        ("/api/v1/collections/b/status", 404, "not_found", "no collection `b`"),
        ("/api/v1/collections/%ff/status", 404, "not_found", "no such address"),
        (&format!("{base}/urls?stat=new"), 400, "bad_request", "no parameter `stat`"),
        (&format!("{base}/urls?state=nwe"), 400, "bad_request", "use one of new, due"),
        (&format!("{base}/urls?limit=1001"), 400, "bad_request", "at most 1000"),
        (&format!("{base}/urls?limit=-1"), 400, "bad_request", "not a whole number"),
        (&format!("{base}/plan?seconds=NaN"), 400, "bad_request", "seconds above 0"),
        (&format!("{base}/changes?since=soon"), 400, "bad_request", "RFC 3339"),
        (&format!("{base}/changes?since=5%C3%A9"), 400, "bad_request", "RFC 3339"),
        (&format!("{base}/page"), 400, "bad_request", "`url` is missing"),
        (&format!("{base}/page?url=http://a.test/"), 404, "not_found", "nothing is known"),
    ] {
        let got = serving.get(target);
        assert_eq!((got.status, got.code().as_str()), (status, code), "{target} {got:?}");
        assert_eq!(got.header("content-type"), Some("application/problem+json"), "{target}");
        assert!(got.json()["detail"].as_str().unwrap().contains(words), "{target} {got:?}");
    }
    let got = serving.send("PATCH", base, &[&serving.bearer()], "");
    assert_eq!((got.status, got.code().as_str()), (405, "wrong_method"), "{got:?}");
    let got = serving.send("PUT", &format!("{base}/budget"), &[&serving.bearer()], "{}");
    assert_eq!((got.status, got.code().as_str()), (415, "wrong_media_type"), "{got:?}");
    let got = serving.json("PUT", &format!("{base}/budget"), "{\"rat\": 1}");
    assert_eq!((got.status, got.code().as_str()), (400, "bad_request"), "{got:?}");
    let large = "x".repeat(70_000);
    let got = serving.json("PUT", &format!("{base}/budget"), &large);
    assert_eq!((got.status, got.code().as_str()), (413, "too_large"), "{got:?}");
}

#[test]
fn a_long_search_comes_in_bounded_parts() {
    let serving = Serving::begin();
    let got = serving.get("/api/v1/collections/a/urls?state=failing");
    assert_eq!(got.status, 200, "{got:?}");
    // Four parts were read, and the caller is told where to go on.
    assert_eq!(got.json(), serde_json::json!({"items": [], "next": "03"}));
}

#[test]
fn what_did_not_change_is_not_sent_again() {
    let serving = Serving::begin();
    let first = serving.get("/api/v1/collections");
    let tag = first.header("etag").unwrap().to_owned();
    let known = format!("If-None-Match: {tag}");
    let again = serving.send("GET", "/api/v1/collections", &[&serving.bearer(), &known], "");
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let other = ["If-None-Match: \"0\"", &serving.bearer()];
    assert_eq!(serving.send("GET", "/api/v1/collections", &other, "").status, 200);
    let head = serving.send("HEAD", "/api/v1/collections", &[&serving.bearer()], "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn tokens_are_made_listed_and_removed() {
    let serving = Serving::begin();
    let made =
        serving.json("POST", "/api/v1/tokens", r#"{"name": "mine", "scope": "read"}"#).json();
    let (id, token) = (made["id"].as_u64().unwrap(), made["token"].as_str().unwrap());
    let listed = serving.get("/api/v1/tokens");
    assert_eq!(listed.json()["items"][0]["name"], "mine");
    assert!(!listed.body.contains(token), "a token is shown once");
    let bearer = format!("Authorization: Bearer {token}");
    let ask = || serving.send("GET", "/api/v1/collections", &[&bearer], "").status;
    assert_eq!(ask(), 200);
    assert_eq!(
        serving.send("DELETE", &format!("/api/v1/tokens/{id}"), &[&serving.bearer()], "").status,
        204
    );
    assert_eq!(ask(), 401);
    let got = serving.json("POST", "/api/v1/tokens", r#"{"name": "x", "scope": "all"}"#);
    assert_eq!(got.status, 400, "{got:?}");
}

#[test]
fn whoever_signs_out_is_out() {
    let serving = Serving::begin();
    let (cookie, form_token) = serving.sign_in();
    let own = format!("Origin: http://{}", serving.host());
    let form = ["Content-Type: application/x-www-form-urlencoded", &cookie, &own];
    let got = serving.send("POST", "/logout", &form, &format!("form_token={form_token}"));
    assert_eq!(got.header("location"), Some("/login"), "{got:?}");
    assert_eq!(serving.send("GET", "/", &[&cookie], "").header("location"), Some("/login"));
    let got = serving.send("POST", "/login", &form, "token=wrong");
    assert_eq!(got.status, 401, "{got:?}");
    assert!(got.body.contains("does not hold"));
}

#[test]
fn whoever_tries_many_tokens_has_to_wait_and_others_have_not() {
    let serving = Serving::begin();
    let tried: Vec<u16> = (0..30)
        .map(|n| {
            let wrong = format!("Authorization: Bearer guess{n}");
            serving.send("GET", "/api/v1/collections", &[&wrong], "").status
        })
        .collect();
    assert_eq!((tried[0], tried[29]), (401, 429), "{tried:?}");
    assert_eq!(serving.get("/api/v1/collections").status, 200);
}

#[test]
fn the_document_lists_every_request_and_every_code() {
    use evercrawl_serve::{Access, Kind, ProblemCode, ROUTES};
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |route: &evercrawl_serve::Route| {
        let scope = match route.access {
            Access::Open => "-",
            Access::OwnKey => "own key",
            Access::Scope(scope) => scope.code(),
        };
        format!("| {} | `{}` | {scope} | {} |", route.method.code(), route.path, route.about)
    };
    let routes = ROUTES.iter().flat_map(|some| some.iter());
    let rows: Vec<String> = routes.filter(|route| route.kind == Kind::Api).map(row).collect();
    let listed: Vec<&str> = text
        .lines()
        .filter(|line| {
            ["| GET", "| POST", "| PUT", "| PATCH", "| DELETE"]
                .iter()
                .any(|start| line.starts_with(&format!("{start} |")))
        })
        .collect();
    assert_eq!(listed, rows, "docs/api.md should have these rows:\n{}", rows.join("\n"));
    for code in ProblemCode::ALL {
        let start = format!("| `{}` | {} |", code.code(), code.status());
        assert!(text.contains(&start), "docs/api.md lacks {start}");
    }
}

#[test]
fn events_come_to_so_many_and_others_are_told_to_come_again() {
    use std::io::{Read, Write};
    let serving = Serving::begin();
    let target = "/api/v1/collections/a/changes/stream";
    let listen = || {
        let mut stream = std::net::TcpStream::connect(serving.host()).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        let (host, bearer) = (serving.host(), serving.bearer());
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\nLast-Event-ID: 3\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut streams: Vec<_> = (0..32).map(|_| listen()).collect();
    let mut read = String::new();
    let mut buffer = [0; 4096];
    // The made-up collection has one entry, which comes once.
    while !read.contains("event: change") {
        let count = streams[0].read(&mut buffer).unwrap();
        assert!(count > 0, "{read}");
        read += &String::from_utf8_lossy(&buffer[..count]);
    }
    assert!(
        read.contains("text/event-stream") && read.contains("id: 4\nevent: change\ndata: {"),
        "{read}"
    );
    let got = serving.get(target);
    assert_eq!((got.status, got.code().as_str()), (503, "unavailable"), "{got:?}");
    assert!(got.header("retry-after").is_some());
    let missing = serving.get("/api/v1/collections/b/changes/stream");
    assert_eq!(missing.status, 404);
    let asked = serving.fake.asked.lock().unwrap();
    let looks = asked.iter().filter(|request| request.contains("\"after\":3")).count();
    assert!(looks <= 2, "one look is enough for all: {asked:?}");
    drop(asked);
    // Those who leave make room.
    streams.clear();
    let again = (0..200).any(|_| {
        let mut stream = listen();
        let count = stream.read(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..count]).starts_with("HTTP/1.1 200")
    });
    assert!(again);
}

/// All names that a description refers to.
fn references(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            let name = fields.get("$ref").and_then(serde_json::Value::as_str);
            found.extend(name.map(str::to_owned));
            fields.values().for_each(|value| references(value, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn the_description_is_whole() {
    let serving = Serving::begin();
    let whole = serving.send("GET", "/api/v1/openapi.json", &[], "").json();
    let mut named = Vec::new();
    references(&whole, &mut named);
    let schemas = whole["components"]["schemas"].as_object().unwrap();
    for name in &named {
        let name = name.strip_prefix("#/components/schemas/").unwrap();
        assert!(schemas.contains_key(name), "there is no schema {name}");
    }
    for name in schemas.keys() {
        assert!(named.iter().any(|used| used.ends_with(&format!("/{name}"))), "{name} is not used");
    }
    let paths = whole["paths"].as_object().unwrap();
    let operations = paths.values().flat_map(|path| path.as_object().unwrap().values());
    let mut ids: Vec<&str> =
        operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(count > 35, "{count}");
}
