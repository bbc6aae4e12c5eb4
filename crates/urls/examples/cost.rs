//! What does each call cost? `cargo run --release -p evercrawl-urls --example cost`
#![allow(clippy::print_stdout, reason = "an example's output is what it is for")]
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "it measures, and stops at a fault"
)]

use std::hint::black_box;
use std::time::Instant;

use evercrawl_model::Time;
use evercrawl_urls::{
    Base, Canonical, CanonicalSteps, FilterRules, Scope, ScopeKind, Url, UrlFilter, family_of,
};

/// Links as documentation and news sites have them: mostly relative, some absolute, few queries.
const LINKS: [&str; 20] = [
    "index.html",
    "../index.html",
    "sql-createtable.html",
    "functions-aggregate.html#FUNCTIONS-AGGREGATE-TABLE",
    "#top",
    "/news/",
    "/news/2026/11/some-longer-title-of-an-article.html",
    "/static/css/main.css?v=3",
    "https://www.example.org/about",
    "https://www.example.org/docs/17/sql-commands.html",
    "https://github.com/example/project/blob/main/README.md",
    "//cdn.example.net/lib/x.js",
    "?page=2&sort=name",
    "/wiki/%E6%97%A5%E6%9C%AC",
    "/search?q=a+b&lang=en",
    "/product/12345/some-product-name",
    "mailto:someone@example.org",
    "javascript:void(0)",
    "catalog/view?id=77&utm_source=mail&utm_medium=x",
    "/a/very/deep/path/with/many/segments/file.html",
];

const ROUNDS: u32 = 200;

fn main() {
    let page = "https://www.example.org/docs/17/tutorial-start.html";
    let url = Url::parse(page).expect("a URL");
    let base = Base::new(page, CanonicalSteps::default()).expect("a URL");
    let join = |link: &&str| url.join(link).is_ok();
    let canonicalize = |link: &&str| base.join(link).is_ok();
    // Taken in turns, so that other load on the machine falls on both alike.
    let (mut bare, mut ours) = (f64::MAX, f64::MAX);
    for _ in 0..100 {
        bare = bare.min(measure(&LINKS, join));
        ours = ours.min(measure(&LINKS, canonicalize));
    }
    println!("Url::join {bare:.0} ns, Base::join {ours:.0} ns, ratio {:.2}", ours / bare);
    let urls: Vec<Canonical> = LINKS.iter().filter_map(|link| base.join(link).ok()).collect();
    let mut scope = Scope::new(ScopeKind::Host);
    scope.add(&urls[0]);
    let gate = UrlFilter::new(scope, FilterRules::default()).expect("the default rules are sound");
    let now = Time::from_secs(1_794_780_950);
    println!("judge {:.0} ns", measure(&urls, |url| gate.check_url(url, 3, now).is_ok()));
    println!("shape {:.0} ns", measure(&urls, |url| family_of(url).is_some()));
    println!("domain {:.0} ns", measure(&urls, |url| url.domain().len()));
    let texts: Vec<String> = urls.iter().map(|url| url.as_str().to_owned()).collect();
    let trusted = measure(&texts, |text| Canonical::from_trusted(text.clone()).is_some());
    println!("from_trusted, with a copy of the text {trusted:.0} ns");
}

/// Nanoseconds a call, the best of twenty rounds: the one least disturbed.
fn measure<T, R>(inputs: &[T], mut call: impl FnMut(&T) -> R) -> f64 {
    let mut round = || {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            for input in inputs {
                black_box(call(black_box(input)));
            }
        }
        start.elapsed().as_nanos() as f64 / f64::from(ROUNDS) / inputs.len() as f64
    };
    (0..20).map(|_| round()).fold(f64::MAX, f64::min)
}
