//! Every route there is, asked by those who must not.

use evercrawl_serve::{Access, Answers, Kind, ROUTES, Route};

use crate::common::{Got, Serving};

fn routes() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().flat_map(|some| some.iter())
}

/// An address of a route, with what must be in its query.
fn target(route: &Route) -> String {
    let path = route.path.replace("{name}", "a").replace("{id}", "999");
    let needed = route.parameters.iter().filter(|parameter| parameter.needed);
    let query: Vec<String> = needed.map(|one| format!("{}=http://a.test/", one.name)).collect();
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// Without the body of a stream, which does not end.
fn send(serving: &Serving, route: &Route, headers: &[&str]) -> Got {
    let is_stream = route.answers == Answers::Media("text/event-stream");
    let method = if is_stream { "HEAD" } else { route.method.code() };
    let mut got = serving.send(method, &target(route), headers, "");
    if is_stream && got.status >= 400 {
        got = serving.send("GET", &target(route), headers, "");
    }
    got
}

fn is_screen(route: &Route) -> bool {
    route.kind == Kind::Screen
}

#[test]
fn the_table_is_worth_a_walk() {
    assert!(routes().count() > 30, "{}", routes().count());
    for (at, route) in routes().enumerate() {
        let twin = routes()
            .skip(at + 1)
            .find(|other| (other.path, other.method.code()) == (route.path, route.method.code()));
        assert!(twin.is_none(), "{} {} stands twice", route.method.code(), route.path);
    }
    for route in routes().filter(|route| route.is_unsafe() && route.kind == Kind::Api) {
        assert_ne!(route.access, Access::Open, "{} changes things for anybody", route.path);
    }
}

/// Else the other tests of this file would prove nothing.
#[test]
fn whoever_may_is_let_in() {
    let serving = Serving::begin();
    // Without a token in the form, that for signing in comes again.
    for route in routes().filter(|route| route.path != "/login") {
        let got = send(&serving, route, &[&serving.bearer()]);
        assert!(![401, 403, 421, 0].contains(&got.status), "{} {got:?}", route.path);
        let got = send(&serving, route, &[&serving.bearer(), "Host: own.test"]);
        assert_ne!(got.status, 421, "{} {got:?}", route.path);
    }
}

#[test]
fn a_false_host_is_refused_everywhere() {
    let serving = Serving::begin();
    let bearer = serving.bearer();
    for route in routes() {
        for host in ["Host: evil.test", "Host: evil.test:80", "Host: localhost:1", "Host:"] {
            let got = send(&serving, route, &[&bearer, host]);
            assert_eq!(got.status, 421, "{} {host} {got:?}", route.path);
        }
        let twice = [bearer.as_str(), "Host: own.test", "Host: evil.test"];
        assert_eq!(send(&serving, route, &twice).status, 421, "{}", route.path);
        let absolute = format!("http://evil.test{}", target(route));
        let got = serving.send(route.method.code(), &absolute, &[&bearer], "");
        assert_eq!(got.status, 421, "{absolute} {got:?}");
    }
}

#[test]
fn pages_of_other_origins_get_nothing() {
    let serving = Serving::begin();
    let (cookie, form_token) = serving.sign_in();
    let form = format!("X-Form-Token: {form_token}");
    let own = serving.host();
    let port: u16 = own.rsplit(':').next().unwrap().parse().unwrap();
    // The replay of archived pages is on another port of the same site.
    let replay = format!("Origin: http://127.0.0.1:{}", port.wrapping_add(1));
    for route in routes().filter(|route| route.access != Access::OwnKey) {
        for origin in ["Origin: http://evil.test", "Origin: null", &replay, "Origin: http://"] {
            for who in [&serving.bearer(), &cookie] {
                let got = send(&serving, route, &[who, &form, origin]);
                assert_eq!(got.status, 403, "{} {origin} {got:?}", route.path);
            }
        }
        for site in ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"] {
            let got = send(&serving, route, &[&cookie, &form, site]);
            assert_eq!(got.status, 403, "{} {site} {got:?}", route.path);
            let frame = ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"];
            let got = send(&serving, route, &[&cookie, &form, site, frame[0], frame[1]]);
            assert_eq!(got.status, 403, "{} {site} {got:?}", route.path);
        }
    }
    assert!(serving.fake.asked.lock().unwrap().is_empty(), "something was done all the same");
}

#[test]
fn without_a_token_that_holds_there_is_nothing() {
    let serving = Serving::begin();
    let wrong =
        ["Authorization: Bearer wrong", "Authorization: Basic eDp5", "Cookie: evercrawl_1=x"];
    for route in routes() {
        let Access::Scope(_) = route.access else { continue };
        let got = send(&serving, route, &[]);
        match is_screen(route) && !route.is_unsafe() {
            true => assert_eq!(got.header("location"), Some("/login"), "{}", route.path),
            false => {
                assert_eq!((got.status, got.code()), (401, "no_token".to_owned()), "{}", route.path)
            }
        }
        for header in wrong {
            let got = send(&serving, route, &[header]);
            // Whoever tries too many has to wait.
            assert!([401, 429, 303].contains(&got.status), "{} {header} {got:?}", route.path);
            assert!(got.status != 303 || got.header("location") == Some("/login"));
        }
    }
    assert!(serving.fake.asked.lock().unwrap().is_empty(), "something was done all the same");
}

#[test]
fn a_token_allows_what_its_scope_says() {
    let serving = Serving::begin();
    let make = |scope: &str| {
        let body = format!(r#"{{"name": "x", "scope": "{scope}"}}"#);
        let made = serving.json("POST", "/api/v1/tokens", &body);
        assert_eq!(made.status, 201, "{made:?}");
        format!("Authorization: Bearer {}", made.json()["token"].as_str().unwrap())
    };
    let tokens = ["read", "write", "admin"].map(make);
    let (mut refused, mut let_in) = (0, 0);
    for route in routes() {
        let Access::Scope(needed) = route.access else { continue };
        for (scope, token) in evercrawl_serve::Scope::ALL.into_iter().zip(&tokens) {
            let got = send(&serving, route, &[token]);
            if scope < needed {
                assert_eq!(got.status, 403, "{} {got:?}", route.path);
                refused += 1;
            } else {
                assert!(![401, 403].contains(&got.status), "{} {got:?}", route.path);
                let_in += 1;
            }
        }
    }
    assert!(refused > 10 && let_in > 30, "{refused} {let_in}");
}

#[test]
fn a_session_changes_nothing_without_its_form_token() {
    let serving = Serving::begin();
    let (cookie, form_token) = serving.sign_in();
    let good = format!("X-Form-Token: {form_token}");
    let own = format!("Origin: http://{}", serving.host());
    let unsafe_ones = || {
        routes().filter(|route| {
            route.is_unsafe() && matches!(route.access, Access::Scope(_)) && route.path != "/logout"
        })
    };
    for route in unsafe_ones() {
        for headers in [
            &[cookie.as_str(), &own][..],
            &[&cookie, &own, "X-Form-Token: 00"],
            &[&cookie, &own, "X-Form-Token: "],
            &[&cookie, &good],
        ] {
            let got = send(&serving, route, headers);
            assert_eq!(got.status, 403, "{} {headers:?} {got:?}", route.path);
        }
    }
    assert!(serving.fake.asked.lock().unwrap().is_empty(), "something was done all the same");
    for route in unsafe_ones() {
        let got = send(&serving, route, &[&cookie, &own, &good]);
        assert_ne!(got.status, 403, "{} {got:?}", route.path);
        let got = send(&serving, route, &[&cookie, "Sec-Fetch-Site: same-origin", &good]);
        assert_ne!(got.status, 403, "{} {got:?}", route.path);
    }
}

#[test]
fn every_answer_is_guarded() {
    let serving = Serving::begin();
    let bearer = serving.bearer();
    for route in routes() {
        for headers in [&[bearer.as_str()][..], &[], &["Host: evil.test"]] {
            let got = send(&serving, route, headers);
            let policy = got.header("content-security-policy").unwrap_or_default();
            assert!(policy.starts_with("default-src 'none'"), "{} {got:?}", route.path);
            assert!(!policy.contains("unsafe"), "{policy}");
            for (name, value) in [
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cross-origin-opener-policy", "same-origin"),
                ("cross-origin-resource-policy", "same-origin"),
            ] {
                assert_eq!(got.header(name), Some(value), "{} {name}", route.path);
            }
            assert_eq!(got.header("access-control-allow-origin"), None, "{}", route.path);
        }
    }
}
