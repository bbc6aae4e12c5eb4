//! A hostile page costs no more than its caps, and the next page runs as if it had not been.

use std::time::{Duration, Instant};

use evercrawl_render::{Ended, RenderConfig};

use crate::support::{Files, Stage, small_caps};

/// Scripts, and how they may end.
const SMALL: [(&str, &str); 6] = [
    ("loop", "for (;;);"),
    ("timed loop", "setTimeout(() => { for (;;); }, 1000)"),
    ("reloads", "location.reload(); setInterval(() => location.reload(), 10)"),
    (
        "dialogs",
        "for (let i = 0; i < 1000; i++) { alert(i); confirm(i); prompt(i); } onbeforeunload = () => 'stay'",
    ),
    (
        "history and windows",
        "for (let i = 0; i < 5000; i++) { history.pushState({}, '', '/p' + i); window.open('/w' + i); }",
    ),
    (
        "requests",
        "const go = () => fetch('/x' + Math.random()).finally(go); for (let i = 0; i < 300; i++) go();",
    ),
];

const LARGE: [(&str, &str); 6] = [
    (
        "frames",
        "if (!location.search || location.search.length < 50) for (let i = 0; i < 5; i++) document.body.append(Object.assign(document.createElement('iframe'), { src: '/self?' + 'x'.repeat(i + location.search.length + 1) }))",
    ),
    (
        "memory",
        "const all = []; setInterval(() => { for (let i = 0; i < 50; i++) all.push(new Array(100000).fill(Math.random())); }, 1)",
    ),
    ("buffers", "const all = []; setInterval(() => all.push(new Uint8Array(16 << 20).fill(1)), 1)"),
    (
        "links",
        "let s = ''; for (let i = 0; i < 300000; i++) s += '<a href=/l' + i + '>l</a> '; document.body.innerHTML = s",
    ),
    (
        "worker loops",
        "for (let i = 0; i < 8; i++) new Worker(URL.createObjectURL(new Blob(['for(;;);'])))",
    ),
    ("promises", "const f = () => Promise.resolve().then(f); f()"),
];

fn check(scripts: &[(&str, &str)], longest: Duration) {
    let config = RenderConfig { caps: small_caps(), ..RenderConfig::default() };
    let Some(stage) = Stage::with(config, Files::new()) else { return };
    for (name, script) in scripts {
        let began = Instant::now();
        let html = format!("<body>hostile<script>{script}</script>");
        let ended = stage.try_render("http://bad.test/", &html).map(|rendered| rendered.ended);
        let took = began.elapsed();
        let next = stage.render(
            "http://bad.test/good",
            "<p>good</p><script>document.body.append('made')</script>",
        );
        eprintln!("{name}: {ended:?} in {took:?}, the next in {:?}", began.elapsed() - took);
        assert!(took < longest, "{name} took {took:?}");
        assert_eq!(
            (next.ended, next.text().contains("made")),
            (Ended::Settled, true),
            "after {name}"
        );
    }
}

#[test]
fn hostile_pages_end_by_their_caps() {
    check(&SMALL, Duration::from_secs(30));
}

#[test]
#[ignore = "large"]
fn many_hostile_pages_end_by_their_caps() {
    check(&LARGE, Duration::from_secs(60));
}
