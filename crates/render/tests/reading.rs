//! What scripts made is read: text, links, frames, shadow roots, and where they would have gone.

use std::time::Duration;

use evercrawl_render::{Ended, ExchangeResult, LeadKind, RenderConfig, Rendered};

use crate::support::{Files, Stage, files, small_caps};

const PAGE: &str = r#"<!doctype html><title>plain</title><div id=root></div>
<script type=module src=/app.js></script><iframe src="http://other.test/frame"></iframe>"#;

fn app() -> Files {
    let script = r##"
        import { nothing } from "/part.js";
        class Card extends HTMLElement { connectedCallback() {
            this.attachShadow({ mode: 'closed' }).innerHTML = '<p>in shadow</p><a href="/shadow">s</a>'; } }
        customElements.define('x-card', Card);
        fetch('/data.json').then(r => r.json()).then(items => {
            document.title = 'rendered';
            root.innerHTML = items.map(i => `<a href="/item/${i}">${i}</a>`).join(' ') + '<x-card></x-card>';
        });
        setTimeout(() => { root.insertAdjacentHTML('beforeend', '<a href="/late">late</a>'); }, 3000);
        setTimeout(() => { history.pushState({}, '', '/pushed?a=1'); window.open('/opened'); }, 4000);
        setTimeout(() => { location.href = '/elsewhere'; }, 5000);
        let clicks = 0;
        root.addEventListener('click', () => { if (clicks++ === 1) fetch('/after-second-click'); fetch('/after-click'); root.append('clicked'); });
    "##;
    files(&[
        ("/app.js", "text/javascript", script),
        ("/part.js", "text/javascript", "export const nothing = 0;"),
        ("/data.json", "application/json", "[1, 2, 3]"),
        ("/frame", "text/html", "<p>framed text</p><script>fetch('/refused')</script>"),
    ])
}

fn leads(rendered: &Rendered) -> Vec<(&str, LeadKind)> {
    rendered.leads.iter().map(|lead| (lead.url.as_str(), lead.kind)).collect()
}

#[test]
fn what_scripts_make_is_read_however_slowly_they_are_answered() {
    let Some(mut stage) = Stage::new(app()) else { return };
    let mut texts = Vec::new();
    for delay in [0, 0, 250] {
        stage.delay = Duration::from_millis(delay);
        let rendered = stage.render("http://a.test/", PAGE);
        assert_eq!(rendered.ended, Ended::Settled);
        assert_eq!((rendered.title.as_str(), rendered.frames.len()), ("rendered", 2));
        let dom = rendered.dom().unwrap();
        for link in ["/item/1", "/item/3", "/shadow", "/late"] {
            assert!(dom.contains(&format!("href=\"{link}\"")), "{link} in {dom}");
        }
        assert_eq!(
            leads(&rendered),
            [
                ("http://a.test/pushed?a=1", LeadKind::History),
                ("http://a.test/opened", LeadKind::Window),
                ("http://a.test/elsewhere", LeadKind::Navigation),
            ]
        );
        assert_eq!(rendered.url, "http://a.test/pushed?a=1");
        let refused = rendered.exchanges.iter().find(|one| one.url.ends_with("/refused")).unwrap();
        assert_eq!(refused.result, ExchangeResult::Refused("robots.txt".to_owned()));
        assert!(rendered.usage.waited >= Duration::from_millis(delay), "{:?}", rendered.usage);
        texts.push(rendered.text());
    }
    assert!(
        ["1 2 3", "in shadow", "late", "framed text"].iter().all(|part| texts[0].contains(part)),
        "{texts:?}"
    );
    assert!(!texts[0].contains("clicked"));
    assert_eq!((&texts[0], &texts[0]), (&texts[1], &texts[2]));
}

#[test]
fn clicks_find_what_readers_find_and_change_no_text() {
    let config = RenderConfig { clicks: 40, caps: small_caps(), ..RenderConfig::default() };
    let Some(stage) = Stage::with(config, app()) else { return };
    let rendered = stage.render("http://a.test/", PAGE);
    let asked = stage.asked();
    for path in ["/after-click", "/after-second-click"] {
        assert!(asked.iter().any(|(url, _)| url.ends_with(path)), "{path} in {asked:?}");
    }
    assert!(!rendered.text().contains("clicked"));
    assert!(rendered.after_clicks[0].text.contains("clicked"));
}

#[test]
fn a_picture_is_taken() {
    let Some(stage) = Stage::new(app()) else { return };
    let page = evercrawl_render::PageToRender {
        url: "http://a.test/".parse().unwrap(),
        status: 200,
        headers: Vec::new(),
        body: b"<h1>Hello</h1>".to_vec(),
        screenshot: true,
    };
    let rendered = stage.render_page(&page).unwrap();
    assert!(rendered.screenshot.unwrap().starts_with(b"\x89PNG"));
}
