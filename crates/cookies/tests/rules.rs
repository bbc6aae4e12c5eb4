//! Which cookies are kept, and where do they go?

use evercrawl_cookies::{Jar, JarLimits, RejectedCookie};
use proptest::prelude::*;
use url::Url;

const NOW: i64 = 1_800_000_000;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// What is sent to `to` after `from` set these cookies.
fn sent(from: &str, set: &[&str], to: &str) -> String {
    let mut jar = Jar::default();
    for text in set {
        let _ = jar.store(&url(from), text.as_bytes(), NOW);
    }
    header(&mut jar, to)
}

fn header(jar: &mut Jar, to: &str) -> String {
    let header = jar.header(&url(to), NOW + 1);
    header.map_or(String::new(), |header| String::from_utf8(header.value).unwrap())
}

#[test]
fn a_cookie_goes_where_its_domain_and_path_say() {
    #[rustfmt::skip]
    let cases = [
        ("https://a.test/x/y", "n=v", "https://a.test/x/z", "n=v"),
        ("https://a.test/x/y", "n=v", "https://a.test/xy", ""),
        ("https://a.test/x/y", "n=v", "https://a.test/", ""),
        ("https://a.test/x/y", "n=v; Path=/", "https://a.test/", "n=v"),
        ("https://a.test/x/y", "n=v; path=x", "https://a.test/x/z", "n=v"),
        ("https://a.test/", "n=v", "https://b.a.test/", ""),
        ("https://a.test/", "n=v; Domain=a.test", "https://b.a.test/", "n=v"),
        ("https://a.test/", "n=v; Domain=.A.Test", "https://b.a.test/", "n=v"),
        ("https://a.test/", "n=v; Domain=", "https://b.a.test/", ""),
        ("https://b.a.test/", "n=v; Domain=a.test", "https://a.test/", "n=v"),
        ("https://b.a.test/", "n=v; Domain=a.test", "https://c.a.test/", "n=v"),
        ("https://a.test/", "n=v; Domain=b.a.test", "https://b.a.test/", ""),
        ("https://a.test/", "n=v; Domain=other.test", "https://other.test/", ""),
        ("https://a.co.uk/", "n=v; Domain=co.uk", "https://b.co.uk/", ""),
        ("https://a.github.io/", "n=v; Domain=github.io", "https://b.github.io/", ""),
        ("https://github.io/", "n=v; Domain=github.io", "https://github.io/", "n=v"),
        ("https://github.io/", "n=v; Domain=github.io", "https://b.github.io/", ""),
        ("https://a.test/", "n=v; Domain=test", "https://b.test/", ""),
        ("http://127.0.0.1/", "n=v; Domain=127.0.0.1", "http://127.0.0.1/", "n=v"),
        ("http://127.0.0.1/", "n=v; Domain=0.0.1", "http://127.0.0.1/", ""),
        ("http://[::1]/", "n=v", "http://[::1]/", "n=v"),
        ("http://a.test:8080/", "n=v", "http://a.test/", "n=v"),
        ("https://a.test/", "n=v; Secure", "http://a.test/", ""),
        ("https://a.test/", "n=v; Secure", "https://a.test/", "n=v"),
        ("http://a.test/", "n=v; Secure", "https://a.test/", ""),
        ("https://a.test/", "n=v; HttpOnly; SameSite=Strict", "https://a.test/", "n=v"),
        ("https://a.test/", " n = v w ; x", "https://a.test/", "n=v w"),
        ("https://a.test/", "v", "https://a.test/", "v"),
        ("https://a.test/", "=v", "https://a.test/", "v"),
        ("https://a.test/", "n=", "https://a.test/", "n="),
        ("https://a.test/", "=", "https://a.test/", ""),
        ("https://a.test/", "n=\"a=b\"", "https://a.test/", "n=\"a=b\""),
        ("https://a.test/", "n=v; Max-Age=1", "https://a.test/", ""),
        ("https://a.test/", "n=v; Max-Age=2", "https://a.test/", "n=v"),
        ("https://a.test/", "n=v; Max-Age=0", "https://a.test/", ""),
        ("https://a.test/", "n=v; Max-Age=-99999999999999999999", "https://a.test/", ""),
        ("https://a.test/", "n=v; Max-Age=99999999999999999999", "https://a.test/", "n=v"),
        ("https://a.test/", "n=v; Max-Age=soon", "https://a.test/", "n=v"),
        ("https://a.test/", "n=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://a.test/", ""),
        ("https://a.test/", "n=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60", "https://a.test/", "n=v"),
        ("https://a.test/", "n=v; Expires=nonsense", "https://a.test/", "n=v"),
    ];
    for (from, set, to, want) in cases {
        assert_eq!(sent(from, &[set], to), want, "{from} set {set:?}, then {to}");
    }
}

#[test]
fn a_prefix_of_the_name_is_a_promise() {
    for (from, set, kept) in [
        ("https://a.test/", "__Host-n=v; Secure; Path=/", true),
        ("https://a.test/", "__HOST-n=v; Secure", false),
        ("https://a.test/", "__Host-n=v; Path=/", false),
        ("https://a.test/", "__Host-n=v; Secure; Path=/; Domain=a.test", false),
        ("https://a.test/", "__Secure-n=v; Secure", true),
        ("https://a.test/", "__secure-n=v", false),
        ("http://a.test/", "__Secure-n=v; Secure", false),
        ("https://a.test/", "=__Host-n=v; Secure; Path=/", false),
        ("https://a.test/", "__Secure-n", false),
    ] {
        let mut jar = Jar::default();
        assert_eq!(jar.store(&url(from), set.as_bytes(), NOW).is_ok(), kept, "{set}");
        assert_eq!(jar.len(), usize::from(kept));
    }
}

#[test]
fn longer_paths_come_first_and_then_older_cookies() {
    let set = ["a=1; Path=/", "b=2; Path=/x", "c=3; Path=/", "a=4; Path=/"];
    assert_eq!(sent("https://a.test/x/", &set, "https://a.test/x/y"), "b=2; a=4; c=3");
}

#[test]
fn a_server_without_tls_cannot_replace_what_tls_set() {
    let mut jar = Jar::default();
    jar.store(&url("https://a.test/"), b"n=good; Secure; Path=/", NOW).unwrap();
    for set in ["n=bad", "n=bad; Path=/x", "n=bad; Domain=a.test"] {
        let refused = jar.store(&url("http://a.test/"), set.as_bytes(), NOW);
        assert_eq!(refused, Err(RejectedCookie::Insecure), "{set}");
    }
    let below = jar.store(&url("http://b.a.test/"), b"n=bad; Domain=a.test", NOW);
    assert_eq!(below, Err(RejectedCookie::Insecure));
    jar.store(&url("http://a.test/"), b"m=fine", NOW).unwrap();
    assert_eq!(header(&mut jar, "https://a.test/"), "n=good; m=fine");
}

#[test]
fn an_expired_cookie_removes_the_one_that_it_names() {
    let set = ["n=v", "m=w", "n=; Max-Age=0"];
    assert_eq!(sent("https://a.test/", &set, "https://a.test/"), "m=w");
}

#[test]
fn no_server_can_make_a_jar_outgrow_its_limits() {
    let limits = JarLimits { per_site: 5, total: 20, bytes: 2000, header: 60 };
    let mut jar = Jar::new(limits);
    for n in 0..100 {
        jar.store(&url("https://a.test/"), format!("n{n}=v").as_bytes(), NOW + n).unwrap();
        assert!(jar.len() <= 5);
    }
    assert_eq!(header(&mut jar, "https://a.test/"), "n95=v; n96=v; n97=v; n98=v; n99=v");
    for n in 0..100 {
        let site = url(&format!("https://s{n}.test/"));
        jar.store(&site, format!("n={}", "v".repeat(40)).as_bytes(), NOW + 200 + n).unwrap();
        assert!(jar.len() <= 20);
    }
    assert_eq!(header(&mut jar, "https://a.test/"), "", "the longest unused went first");
    assert_ne!(header(&mut jar, "https://s99.test/"), "");
    let long = format!("n={}", "v".repeat(5000));
    assert_eq!(
        jar.store(&url("https://a.test/"), long.as_bytes(), NOW),
        Err(RejectedCookie::TooLong)
    );
}

proptest! {
    #[test]
    fn any_bytes_are_kept_or_refused_and_never_leave_their_site(
        set in prop::collection::vec(any::<u8>(), 0..80), attributes in "(; (domain|path|secure|max-age|expires)=[ a-z0-9./-]{0,12}){0,4}"
    ) {
        let mut jar = Jar::default();
        let text = [&set[..], attributes.as_bytes()].concat();
        let _ = jar.store(&url("https://a.test/x"), &text, NOW);
        prop_assert!(jar.header(&url("https://b.test/x"), NOW).is_none());
        if let Some(header) = jar.header(&url("https://a.test/x"), NOW) {
            prop_assert!(header.value.iter().all(|&byte| byte >= 0x20 && byte != 0x7f));
        }
    }
}
