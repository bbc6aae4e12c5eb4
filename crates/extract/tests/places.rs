//! Where are links found beyond the markup that everybody knows, and where are they not?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use evercrawl_extract::LinkKind::{self, *};
use evercrawl_extract::LinkPlace::{self, *};
use evercrawl_extract::{Content, Document, Extractor, HtmlOptions, LinkSources};

fn options(sources: LinkSources) -> HtmlOptions {
    HtmlOptions { sources, ..HtmlOptions::default() }
}

/// What is found beyond what the first pass finds.
fn beyond(html: &str, sources: LinkSources) -> Vec<(LinkKind, LinkPlace, String)> {
    let mut extractor = Extractor::new();
    let before = extractor.extract_html(html, &HtmlOptions::default()).links.len();
    let page = extractor.extract_html(html, &options(sources));
    let beyond = page.links.iter().skip(before);
    beyond.map(|link| (link.kind, link.place, link.href.to_owned())).collect()
}

fn check(html: &str, sources: LinkSources, want: &[(LinkKind, LinkPlace, &str)]) {
    let found = beyond(html, sources);
    let found: Vec<_> =
        found.iter().map(|(kind, place, href)| (*kind, *place, href.as_str())).collect();
    assert_eq!(found, want, "{html}");
}

#[test]
fn requisites_are_found_in_every_attribute_that_names_them() {
    for (html, want) in [
        (
            "<style>@import 'a.css';p{background:url(b.png)}</style>",
            &[(Embed, Style, "a.css"), (Embed, Style, "b.png")][..],
        ),
        ("<p style=\"background:url('a.png')\">", &[(Embed, Style, "a.png")]),
        (
            "<svg><rect fill='url(a.svg#x)'/><filter href=b.svg /><use href='#c'/></svg>",
            &[(Embed, Style, "a.svg#x"), (Embed, Markup, "b.svg")],
        ),
        ("<svg><script xlink:href=/a.js></script></svg>", &[(Embed, Markup, "/a.js")]),
        ("<a href=/x ping='/p /q'>", &[(Ping, Markup, "/p"), (Ping, Markup, "/q")]),
        ("<map><area href=/x ping=/p></map>", &[(Ping, Markup, "/p")]),
        (
            "<iframe srcdoc='<img src=/a><a href=/b>'></iframe>",
            &[(Embed, Inner, "/a"), (Anchor, Inner, "/b")],
        ),
        (
            "<img src=x lowsrc=a dynsrc=b longdesc=c usemap='#m'>",
            &[(Embed, Markup, "a"), (Embed, Markup, "b"), (Related, Markup, "c")],
        ),
        (
            "<img src=x data-src=/a data-srcset='/b 1x, /c 2x' data-lazy-src=d.jpg data-state=on>",
            &[
                (Embed, Attribute, "/a"),
                (Embed, Attribute, "/b"),
                (Embed, Attribute, "/c"),
                (Embed, Attribute, "d.jpg"),
            ],
        ),
        (
            "<html manifest=/a><head profile='/b'>",
            &[(Embed, Markup, "/a"), (Related, Markup, "/b")],
        ),
        ("<input src=/a><div background=/b>", &[(Embed, Markup, "/a"), (Embed, Markup, "/b")]),
        (
            "<object codebase=/a data=b classid='clsid:1'><param name=MOVIE value=/c><param name=x value=/d></object>",
            &[(Embed, Markup, "/a"), (Embed, Markup, "/a/b"), (Embed, Markup, "/c")],
        ),
        (
            "<applet code=Test codebase=/a archive='b.jar, c.jar'></applet>",
            &[(Embed, Markup, "/a"), (Embed, Markup, "/a/b.jar"), (Embed, Markup, "/a/c.jar")],
        ),
        (
            "<import implementation=/a /><bgsound src=/b>",
            &[(Embed, Markup, "/a"), (Embed, Markup, "/b")],
        ),
        (
            "<meta property=og:image content=/a><meta name=twitter:image:src content=b.png><meta itemprop=thumbnailUrl content=/c>",
            &[(Embed, Markup, "/a"), (Embed, Markup, "b.png"), (Embed, Markup, "/c")],
        ),
        (
            "<meta name=msapplication-TileImage content=/a><meta name=msapplication-config content=/b><meta name=msapplication-TileColor content='#fff'>",
            &[(Embed, Markup, "/a"), (Embed, Markup, "/b")],
        ),
        (
            "<meta name=msapplication-task content='name=News;action-uri=/a;icon-uri=/b.ico'>",
            &[(Embed, Markup, "/a"), (Embed, Markup, "/b.ico")],
        ),
        (
            "<meta property=og:url content=https://a.test/x><meta name=description content='/not/this one'>",
            &[(Related, Markup, "https://a.test/x")],
        ),
        ("<?xml-stylesheet href='a.xsl'?><p>", &[(Embed, Markup, "a.xsl")]),
        ("<frameset><noframes><a href=/x></noframes></frameset>", &[(Anchor, Markup, "/x")]),
        ("<template><img data-src=/a></template>", &[(Embed, Attribute, "/a")]),
        // Not without being asked for.
        (
            "<script>a('/b/c.html')</script><!-- <a href=/x> --><p onclick=\"location='/y'\">http://a.test/",
            &[],
        ),
        (
            "<form action=/x><input type=hidden name=a value=b></form><img src=x data-src='{{url}}' data-bg=true>",
            &[],
        ),
    ] {
        check(html, LinkSources::Requisites, want);
    }
}

#[test]
fn strings_that_are_addresses_are_found_where_all_links_are_asked_for() {
    for (html, want) in [
        (
            "<script>a('/b/c.html'); var t = 'text/html'</script>",
            &[(Mention, Script, "/b/c.html")][..],
        ),
        (
            "<script type=application/ld+json>{\"@context\":\"https://schema.org\",\"url\":\"/a\"}</script>",
            &[(Mention, Json, "/a")],
        ),
        ("<script type=text/template><a href=/a></script>", &[(Mention, Script, "/a")]),
        (
            "<!--[if IE]><link rel=stylesheet href=/a><a href=/b><![endif]-->",
            &[(Embed, Comment, "/a"), (Mention, Comment, "/b")],
        ),
        ("<!-- old: https://a.test/x -->", &[(Mention, Comment, "https://a.test/x")]),
        (
            "<p>see http://a.test/x, ../b/c.found or /d.pdf. and/or 1/2",
            &[
                (Mention, Text, "http://a.test/x"),
                (Mention, Text, "../b/c.found"),
                (Mention, Text, "/d.pdf"),
            ],
        ),
        (
            "<button onclick=\"location.href='/a'\" data-href=/b data-open=false>",
            &[(Mention, Script, "/a"), (Mention, Attribute, "/b")],
        ),
        ("<a href=\"javascript:window.open('/a%2Fb')\">", &[(Mention, Script, "/a/b")]),
        (
            "<div data-config='{\"url\":\"/a\",\"type\":\"text/html\"}' hx-get=/b hx-post=/c/d.html>",
            &[(Mention, Json, "/a"), (Mention, Attribute, "/b")],
        ),
        ("<!DOCTYPE html SYSTEM '/a/b.dtd'>", &[(Mention, Markup, "/a/b.dtd")]),
        ("<!DOCTYPE html PUBLIC '-//W3C//DTD' 'http://www.w3.org/TR/html4/strict.dtd'>", &[]),
        (
            "<meta http-equiv=Content-Security-Policy content=\"script-src 'self'; report-uri /a\">",
            &[(Mention, Markup, "/a")],
        ),
        ("<meta name=copyright content=\"<img src='/a'>\">", &[(Embed, Inner, "/a")]),
        (
            "<img src=\"data:image/svg+xml,%3Csvg%3E<image%20xlink:href='/a'/></svg>\">",
            &[(Embed, Inner, "/a")],
        ),
        ("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'></svg>", &[]),
        (
            "<textarea>http://a.test/</textarea><p class='a/b.html' id=/a/b>",
            &[(Mention, Attribute, "a/b.html"), (Mention, Attribute, "/a/b")],
        ),
    ] {
        check(html, LinkSources::All, want);
    }
}

#[test]
fn templates_are_read_where_all_links_are_asked_for() {
    let mut extractor = Extractor::new();
    let page =
        extractor.extract_html("<template><a href=/x></template>", &options(LinkSources::All));
    assert_eq!(page.links.iter().next().unwrap().href, "/x");
}

#[test]
fn forms_lead_where_their_buttons_lead_if_nothing_is_to_be_filled_in() {
    for (form, want) in [
        ("<form action=/a></form>", &["/a"][..]),
        (
            "<form action='/a?old#x' method=get><input type=hidden name=b value='c d&'><input type=submit></form>",
            &["/a?b=c+d%26"],
        ),
        ("<form action=/a><input name=q></form>", &[]),
        ("<form action=/a><input name=q value=x></form>", &["/a?q=x"]),
        (
            "<form action=/a><input type=checkbox name=b><input type=checkbox name=c checked><input type=radio name=d value=1 checked></form>",
            &["/a?c=on&d=1"],
        ),
        (
            "<form action=/a><select name=s><option value=1><option value=2 selected></select><button name=go value=x>",
            &[],
        ),
        (
            "<form action=/a><select name=s><option value=1><option value=2 selected></select><button name=go value=x></form>",
            &["/a?s=2&go=x"],
        ),
        (
            "<form action=/a><button formaction=/b></button><input type=submit name=c value=d></form>",
            &["/b", "/a?c=d"],
        ),
        ("<form action=/a method=post><input type=hidden name=b></form>", &[]),
        ("<form action=/a><button formmethod=post formaction=/b></button></form>", &["/a"]),
        (
            "<form action=/a><textarea name=t></textarea></form><form action=/b><input type=password name=p></form>",
            &[],
        ),
        ("<form action=/a><input name=q disabled></form>", &["/a"]),
        ("<isindex action=/a><button form=f formaction=/b></button>", &["/a", "/b"]),
    ] {
        let found = beyond(form, LinkSources::All);
        let found: Vec<_> =
            found.iter().filter(|(kind, ..)| *kind == Submission).map(|(.., href)| href).collect();
        assert_eq!(found, want, "{form}");
    }
}

#[test]
fn documents_that_are_no_pages_lead_where_their_format_says() {
    let all = [LinkSources::Pages, LinkSources::Requisites, LinkSources::All];
    for (url, content_type, body, want) in [
        ("http://a.test/a", "text/css", "@import 'b.css';", [&[][..], &["b.css"], &["b.css"]]),
        ("http://a.test/a.css", "text/plain", "p{a:url(b)}", [&[], &["b"], &["b"]]),
        (
            "http://a.test/a.js",
            "application/javascript",
            "b('/c/d'); location = 'e'",
            [&[], &[], &["/c/d"]],
        ),
        ("http://a.test/a", "application/json", "{\"url\":\"b.html\"}", [&[], &[], &["b.html"]]),
        (
            "http://a.test/manifest.json",
            "application/json",
            "{\"icons\":[{\"src\":\"b\"}],\"start_url\":\"c\"}",
            [&[], &["b", "c"], &["b", "c"]],
        ),
        (
            "http://a.test/a.txt",
            "text/plain",
            "see http://b.test/",
            [&[], &[], &["http://b.test/"]],
        ),
        (
            "http://a.test/robots.txt",
            "text/plain",
            "Disallow: /b.html http://b.test/",
            [&[], &[], &[]],
        ),
        (
            "http://a.test/a.svg",
            "image/svg+xml",
            "<svg><style>a{b:url(c)}</style><image href='d'/></svg>",
            [&[], &["d", "c"], &["d", "c"]],
        ),
    ] {
        let document = Document { bytes: body.as_bytes(), content_type: Some(content_type), url };
        for (sources, want) in all.into_iter().zip(want) {
            let mut extractor = Extractor::new();
            let extracted = extractor.extract(&document, &options(sources));
            assert!(!matches!(extracted.content, Content::Page(_)));
            let found: Vec<_> = extracted.links.iter().map(|link| link.href).collect();
            assert_eq!(found, want, "{url} {sources:?}");
        }
    }
}

#[test]
fn links_keep_to_their_number_wherever_they_stand() {
    let html = "<style>a{b:url(c)}</style><!-- <a href=/x><a href=/y> -->".repeat(100);
    let options = HtmlOptions { max_links: 5, ..options(LinkSources::All) };
    let mut extractor = Extractor::new();
    let page = extractor.extract_html(&html, &options);
    assert!(page.links.len() == 5 && page.links_cut);
    let deep = "<iframe srcdoc=\"".repeat(50);
    extractor.extract_html(&deep, &options);
}
