//! Every request of a page, by whichever means, comes to us; a server on loopback that they all name sees none.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evercrawl_render::{Assets, ExchangeResult, RenderConfig, Rendered};

use crate::support::{Stage, files, small_caps};

/// `ORIGIN` is the page's own origin, `OTHER` another site; the same server is behind both.
const PAGE: &str = r##"<!doctype html><html manifest="/n/manifest-attribute"><head>
<link rel=stylesheet href=/n/style.css><link rel=preload as=script href=/n/preload.js>
<link rel=modulepreload href=/n/modulepreload.js><link rel=prefetch href=/n/prefetch><link rel=prerender href=/n/prerender>
<link rel=dns-prefetch href="OTHER"><link rel=preconnect href="OTHER"><link rel=icon href=/n/icon.png>
<link rel=manifest href=/n/app.webmanifest><link rel=import href=/n/import><link rel=stylesheet href="OTHER/n/cross.css">
<script src=/n/classic.js></script><script type=module src=/n/module.js></script>
<script src="OTHER/n/cross.js" crossorigin></script>
<script type=speculationrules>{"prefetch":[{"urls":["/n/speculated"]}],"prerender":[{"urls":["/n/prerendered"]}]}</script>
<meta http-equiv=refresh content="20;url=/n/refresh"></head>
<body background=/n/background.png><img src=/n/image.png srcset="/n/image2.png 2x"><img loading=lazy src=/n/lazy.png>
<picture><source srcset=/n/source.webp><img src=/n/picture.png></picture><input type=image src=/n/input.png>
<video src=/n/video.mp4 poster=/n/poster.png preload=auto><track src=/n/track.vtt default></video>
<audio src=/n/audio.mp3 preload=auto></audio><object data=/n/object></object><embed src=/n/embed>
<iframe src=/n/frame></iframe><iframe src="OTHER/n/cross-frame"></iframe><iframe srcdoc="<img src=ORIGIN/n/srcdoc.png>"></iframe>
<svg><image href=/n/svg.png /><use href="/n/sprite.svg#a" /></svg><a id=ping href=/n/ping-target ping=/n/ping>p</a>
<a id=down href=/n/download download>d</a><form id=form action=/n/form method=post><input name=a value=b></form>
<form id=get action=/n/get-form><input name=a></form><p style="font-family:F">font</p>
<iframe name=target></iframe><form id=inframe action=/n/form-in-frame target=target></form>
<iframe src="file:///etc/passwd"></iframe><img src="file:///etc/hostname"><iframe src="ftp://127.0.0.1/x"></iframe>
<iframe src="http://169.254.169.254/latest/meta-data/"></iframe><img src="chrome://version"><img src="view-source:ORIGIN/n/vs">
<script>
const t = (f) => { try { const r = f(); if (r && r.catch) r.catch(() => {}); } catch (e) {} };
t(() => fetch('/n/fetch')); t(() => fetch('/n/fetch-keepalive', { keepalive: true }));
t(() => fetch('/n/fetch-post', { method: 'POST', body: new Uint8Array([0, 1, 255]) }));
t(() => fetch('/n/put', { method: 'PUT', body: 'x' })); t(() => fetch('/n/delete', { method: 'DELETE' }));
t(() => fetch('OTHER/n/preflighted', { headers: { 'X-Own': '1' } })); t(() => fetch('OTHER/n/no-cors', { mode: 'no-cors' }));
t(() => fetch('/n/redirect')); t(() => { const x = new XMLHttpRequest(); x.open('GET', '/n/xhr'); x.send(); });
t(() => { const x = new XMLHttpRequest(); x.open('GET', '/n/sync-xhr', false); x.send(); });
t(() => navigator.sendBeacon('/n/beacon', 'x')); t(() => new EventSource('/n/events'));
t(() => new WebSocket('ws://HOST/n/socket')); t(() => new WebTransport('https://HOST/n/transport'));
t(() => { const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:HOST' }] }); p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)); });
t(() => new Worker('/n/worker.js')); t(() => new Worker('/n/module-worker.js', { type: 'module' }));
t(() => new SharedWorker('/n/shared-worker.js')); t(() => navigator.serviceWorker.register('/n/sw.js'));
t(() => new Worker(URL.createObjectURL(new Blob(["fetch('ORIGIN/n/blob-worker')"]))));
t(() => import('/n/dynamic.js')); t(() => new Audio('/n/new-audio.mp3').play()); t(() => { new Image().src = '/n/new-image.png'; });
t(() => new FontFace('G', 'url(/n/font-face.woff2)').load()); t(() => window.open('/n/popup'));
t(() => { const s = document.createElement('script'); s.src = '/n/inserted.js'; document.head.append(s); });
t(() => caches.open('c').then(c => c.add('/n/cache-add'))); t(() => CSS.paintWorklet && CSS.paintWorklet.addModule('/n/paint.js'));
t(() => new AudioContext().audioWorklet.addModule('/n/audio-worklet.js'));
t(() => { const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = '/n/late.css'; document.head.append(l); });
t(() => document.body.insertAdjacentHTML('beforeend', '<div style="background:url(/n/inline-style.png)">x</div>'));
t(() => ping.click()); t(() => down.click()); t(() => inframe.submit()); t(() => get.submit());
setTimeout(() => t(() => form.submit()), 50); setTimeout(() => t(() => { location = '/n/navigation'; }), 100);
setTimeout(() => t(() => { location = 'http://127.0.0.1:1/n/other-port'; }), 150);
addEventListener('pagehide', () => navigator.sendBeacon('/n/at-the-end'));
</script></body></html>"##;

/// A server that counts who connects.
fn listen() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (host, count)
}

fn urls(rendered: &Rendered) -> Vec<&str> {
    let exchanges = rendered.exchanges.iter().map(|one| one.url.as_str());
    exchanges.chain(rendered.leads.iter().map(|lead| lead.url.as_str())).collect()
}

#[test]
fn every_request_comes_to_us_and_none_to_the_network() {
    let config =
        RenderConfig { assets: Assets::Request, caps: small_caps(), ..RenderConfig::default() };
    let files = files(&[
        (
            "/n/style.css",
            "text/css",
            "@import '/n/imported.css'; @font-face { font-family: F; src: url(/n/font.woff2) } body { background: url(/n/css.png) }",
        ),
        (
            "/n/module.js",
            "text/javascript",
            "import '/n/static-import.js'; fetch('/n/from-module')",
        ),
        (
            "/n/worker.js",
            "text/javascript",
            "importScripts('/n/import-scripts.js'); fetch('/n/worker-fetch'); const x = new XMLHttpRequest(); x.open('GET', '/n/worker-xhr'); x.send(); new WebSocket('ws://' + location.host + '/n/worker-socket')",
        ),
        ("/n/module-worker.js", "text/javascript", "import('/n/worker-import.js')"),
        ("/n/shared-worker.js", "text/javascript", "fetch('/n/shared-fetch')"),
        (
            "/n/sw.js",
            "text/javascript",
            "importScripts('/n/sw-import.js'); self.addEventListener('install', e => e.waitUntil(Promise.all([fetch('/n/sw-fetch'), caches.open('v').then(c => c.addAll(['/n/precache']))])))",
        ),
        (
            "/n/frame",
            "text/html",
            "<script>fetch('/n/frame-fetch')</script><img src=/n/frame-image.png>",
        ),
        ("/n/cross-frame", "text/html", "<script>fetch('/n/cross-frame-fetch')</script>"),
        ("/n/redirect", "redirect", "/n/redirected"),
        // What has to be there for its importer to go on.
        ("/n/static-import.js", "text/javascript", ""),
        ("/n/import-scripts.js", "text/javascript", ""),
        ("/n/sw-import.js", "text/javascript", ""),
    ]);
    let Some(stage) = Stage::with(config, files) else { return };
    let (host, escaped) = listen();
    let port = host.split(':').nth(1).unwrap();
    let (origin, other) = (format!("http://{host}"), format!("http://localhost:{port}"));
    let html = PAGE.replace("ORIGIN", &origin).replace("OTHER", &other).replace("HOST", &host);
    let rendered = stage.render(&format!("{origin}/"), &html);
    let asked = stage.asked();
    // What an own connection would have done a little later.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(escaped.load(Ordering::SeqCst), 0, "connections that we did not make");
    let seen = urls(&rendered);
    let is_seen = |path: &str| seen.iter().any(|url| url.trim_end_matches('?').ends_with(path));
    for path in [
        "style.css",
        "imported.css",
        "font.woff2",
        "css.png",
        "classic.js",
        "module.js",
        "cross.js",
        "static-import.js",
        "image.png",
        "video.mp4",
        "audio.mp3",
        "object",
        "embed",
        "frame",
        "cross-frame",
        "cross-frame-fetch",
        "frame-fetch",
        "fetch",
        "fetch-post",
        "put",
        "delete",
        "preflighted",
        "no-cors",
        "redirect",
        "redirected",
        "xhr",
        "sync-xhr",
        "beacon",
        "events",
        "socket",
        "worker.js",
        "import-scripts.js",
        "worker-fetch",
        "worker-xhr",
        "worker-import.js",
        "blob-worker",
        "sw.js",
        "sw-import.js",
        "sw-fetch",
        "precache",
        "dynamic.js",
        "font-face.woff2",
        "popup",
        "inserted.js",
        "cache-add",
        "late.css",
        "form",
        "navigation",
        "ping",
        "form-in-frame",
    ] {
        assert!(is_seen(&format!("/n/{path}")), "{path} was not seen in {seen:#?}");
    }
    let is_refused = |wanted: &str| {
        let mut refused = rendered.exchanges.iter().filter(|one| one.url.contains(wanted));
        refused.all(|one| matches!(one.result, ExchangeResult::Refused(_)))
    };
    for wanted in ["file:", "ftp:", "chrome:", "fetch-post", "/n/put", "/n/delete", "beacon"] {
        assert!(is_refused(wanted), "{wanted}");
    }
    assert!(asked.iter().all(|(url, _)| url.starts_with("http")), "{asked:#?}");
    let text = rendered.text();
    assert!(!text.contains("root:"), "a file of this machine was shown: {text}");
}
