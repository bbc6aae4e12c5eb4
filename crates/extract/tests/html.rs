//! What does the extractor take from a page? Tables of markup and what it means.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use evercrawl_extract::LinkKind::{self, *};
use evercrawl_extract::{Extractor, HtmlOptions, HtmlPage, Rel};

fn read(html: &str) -> HtmlPage {
    Extractor::new().extract_html(html, &HtmlOptions::default()).clone()
}

fn links(html: &str) -> Vec<(LinkKind, String)> {
    read(html).links.iter().map(|link| (link.kind, link.href.to_owned())).collect()
}

#[test]
fn every_element_that_links_gives_its_kind() {
    for (html, want) in [
        ("<a href=/x>", &[(Anchor, "/x")][..]),
        ("<A HREF='/x' HREF='/y'>", &[(Anchor, "/x")]),
        ("<a name=x>", &[]),
        ("<a href>", &[(Anchor, "")]),
        ("<a href=x", &[]),
        ("</a href=x>", &[]),
        ("<area href=/x>", &[(Area, "/x")]),
        ("<iframe src=/x></iframe>", &[(Frame, "/x")]),
        ("<frameset><frame src=/x></frameset>", &[(Frame, "/x")]),
        ("<form action=/x>", &[(Form, "/x")]),
        ("<form method=GET action=/x>", &[(Form, "/x")]),
        ("<form method=' Post' action=/x>", &[]),
        ("<form>", &[]),
        ("<img src=a srcset='b 1x, c 2x'>", &[(Embed, "a"), (Embed, "b"), (Embed, "c")]),
        (
            "<picture><source srcset='a, b'><img src=c></picture>",
            &[(Embed, "a"), (Embed, "b"), (Embed, "c")],
        ),
        (
            "<video src=a poster=b><track src=c></video>",
            &[(Embed, "a"), (Embed, "b"), (Embed, "c")],
        ),
        (
            "<audio src=a></audio><embed src=b><object data=c></object>",
            &[(Embed, "a"), (Embed, "b"), (Embed, "c")],
        ),
        ("<input type=IMAGE src=a><input src=b>", &[(Embed, "a")]),
        ("<body background=a><td background=b>", &[(Embed, "a"), (Embed, "b")]),
        ("<script src=a></script>", &[(Embed, "a")]),
        ("<img src=''><img src='data:x'><a href='javascript:x'>", &[]),
        (
            "<blockquote cite=a><q cite=b><ins cite=c><del cite=d>",
            &[(Cite, "a"), (Cite, "b"), (Cite, "c"), (Cite, "d")],
        ),
        ("<meta http-equiv=Refresh content='3;url=/x'>", &[(Refresh, "/x")]),
        (
            "<svg><a xlink:href=/x></a><image href=a /><use href='#b' /><use href='c#d' /></svg>",
            &[(Anchor, "/x"), (Embed, "a"), (Embed, "c#d")],
        ),
        ("<noscript><a href=/x></a></noscript>", &[(Anchor, "/x")]),
        ("<template><a href=/x></a></template><a href=/y>", &[(Anchor, "/y")]),
        ("<div><template shadowrootmode=open><a href=/x>", &[(Anchor, "/x")]),
        ("<textarea><a href=/x></textarea><!-- <a href=/y> --><title><a href=/z></title>", &[]),
        ("<script>'<a href=/x>'</script><style><a href=/y></style>", &[]),
        ("<svg><script><a href=/x></script></svg>", &[(Anchor, "/x")]),
        ("<custom-link href=/x src=/y>", &[]),
    ] {
        let want: Vec<_> = want.iter().map(|(kind, href)| (*kind, (*href).to_owned())).collect();
        assert_eq!(links(html), want, "{html}");
    }
}

#[test]
fn a_link_element_is_told_by_its_rel() {
    for (rest, want) in [
        ("rel=canonical", Some(Canonical)),
        ("rel='CANONICAL'", Some(Canonical)),
        ("rel=alternate hreflang=de", Some(Alternate)),
        ("rel=alternate type='application/rss+xml'", Some(Feed)),
        ("rel='alternate' type=' Application/Atom+XML; charset=utf-8'", Some(Feed)),
        ("rel='alternate stylesheet'", Some(Embed)),
        ("rel=amphtml", Some(Amp)),
        ("rel=next", Some(Next)),
        ("rel=prev", Some(Previous)),
        ("rel=hub", Some(Hub)),
        ("rel=self", Some(Topic)),
        ("rel='shortcut icon'", Some(Embed)),
        ("rel=apple-touch-icon", Some(Embed)),
        ("rel=stylesheet", Some(Embed)),
        ("rel=preload", Some(Embed)),
        ("rel=license", Some(Related)),
        ("rel='dns-prefetch'", None),
        ("rel=preconnect", None),
        ("rel=''", None),
        ("", None),
    ] {
        let found = links(&format!("<link href=/x {rest}>"));
        assert_eq!(found.first().map(|(kind, _)| *kind), want, "{rest}");
    }
    let page = read(
        "<link rel=alternate hreflang=de-CH href=/d><link rel=alternate type=application/rss+xml href=/f>\
         <link rel=canonical href=/c><link rel=canonical href=/c2>",
    );
    let labels: Vec<&str> = page.links.iter().map(|link| link.label).collect();
    assert_eq!(labels, ["de-CH", "application/rss+xml", "", ""]);
    assert_eq!(
        (page.canonical(), page.first_link(Feed), page.first_link(Hub)),
        (Some("/c"), Some("/f"), None)
    );
}

#[test]
fn addresses_are_decoded_and_cleaned_but_not_resolved() {
    for (html, want) in [
        ("<a href=' /x?a=1&amp;b=2 '>", "/x?a=1&b=2"),
        ("<a href='/x?a=1&copy=2'>", "/x?a=1&copy=2"),
        ("<a href='/x\n/y\t'>", "/x/y"),
        ("<a href='&#x2F;caf&eacute;'>", "/café"),
        ("<a href=é>", "é"),
        ("<a href='/a b'>", "/a b"),
        ("<a href='//h/p'>", "//h/p"),
        ("<a href='a\0b'>", "a\u{fffd}b"),
    ] {
        assert_eq!(links(html), [(Anchor, want.to_owned())], "{html}");
    }
}

#[test]
fn rel_flags_are_read() {
    let page = read("<a rel='noopener NoFollow' href=1><a rel='ugc,sponsored' href=2><a href=3>");
    let rels: Vec<Rel> = page.links.iter().map(|link| link.rel).collect();
    let none = Rel::default();
    assert_eq!(
        rels,
        [Rel { nofollow: true, ..none }, Rel { ugc: true, sponsored: true, ..none }, none]
    );
}

#[test]
fn the_text_is_what_a_reader_sees() {
    for (html, want) in [
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("a<b>b</b>c<br>d", "abc\nd"),
        (" <p> one \n two ", "one two"),
        ("<td>1</td><td>2</td>", "1\n2"),
        ("x<script>y</script><style>z</style>w", "xw"),
        ("<title>t</title>body", "body"),
        ("a<!-- b -->c", "ac"),
        ("<noscript>no</noscript>yes", "yes"),
        ("<template>no<template>no</template>no</template>yes", "yes"),
        ("<template shadowrootmode=open>yes</template>", "yes"),
        ("<svg><title>no</title><text>yes</text><style>no</style></svg>", "yes"),
        ("<svg><![CDATA[a<b]]></svg>", "a<b"),
        ("<svg/>a<title>no</title>", "a"),
        ("<svg><style>no</svg>yes<p>yes", "yes\nyes"),
        ("5 &lt; 6 &amp;&nbsp;7 &#8364;", "5 < 6 &\u{a0}7 €"),
        ("<textarea>typed</textarea><select><option>one<option>two</select>", "typed\none\ntwo"),
        ("<é>x<é", "<é>x<é"),
        ("a\0b", "ab"),
        ("<plaintext></p>", "</p>"),
    ] {
        assert_eq!(read(html).text, want, "{html}");
    }
}

#[test]
fn what_a_page_says_about_itself_is_kept() {
    let html = "<!doctype html><html lang=en-GB><head><title> A \n page &amp; more </title>\
        <base href=/dir/><base href=/other/><meta name=ROBOTS content=noindex>\
        <meta name=otherbot content=none><meta name=ourbot content=nofollow>\
        <meta http-equiv=content-language content=de><meta http-equiv=refresh content='7; /next'>\
        <title>second</title>";
    let options = HtmlOptions { robots_names: vec!["ourbot".to_owned()], ..HtmlOptions::default() };
    let mut extractor = Extractor::new();
    let page = extractor.extract_html(html, &options);
    assert_eq!(page.title.as_deref(), Some("A page & more"));
    assert_eq!(page.base.as_deref(), Some("/dir/"));
    assert_eq!(page.lang.as_deref(), Some("en-GB"));
    assert_eq!(page.refresh_after, Some(7));
    let robots: Vec<_> = page.robots.iter().map(|(name, content)| (&**name, &**content)).collect();
    assert_eq!(robots, [("robots", "noindex"), ("ourbot", "nofollow")]);

    let next = extractor.extract_html("<p>nothing", &options);
    assert_eq!(next, &HtmlPage { text: "nothing".to_owned(), ..HtmlPage::default() });
    assert_eq!(read("<meta http-equiv=Content-Language content=de>").lang.as_deref(), Some("de"));
    assert_eq!(
        read("<svg><title>icon</title></svg><title>page</title>").title.as_deref(),
        Some("page")
    );
}

#[test]
fn empty_elements_end_where_the_syntax_says() {
    let markup = "<title/><script src='a'/><p>b<![CDATA[ < ]]>c</p><a href='d'/>";
    let mut extractor = Extractor::new();
    let page = extractor.extract_xhtml(markup, &HtmlOptions::default());
    assert_eq!((page.text.as_str(), page.links.len()), ("b < c", 2));
    let page = extractor.extract_html(markup, &HtmlOptions::default());
    assert_eq!((page.text.as_str(), page.links.len()), ("", 0));
}

#[test]
fn anchor_text_comes_when_asked_for() {
    let html = "<a href=1> one <b>two</b></a><a href=2>three<a href=3><img></a><a href=4>é";
    let options = HtmlOptions { anchor_text: true, ..HtmlOptions::default() };
    let mut extractor = Extractor::new();
    let page = extractor.extract_html(html, &options);
    let labels: Vec<&str> = page.links.iter().map(|link| link.label).collect();
    assert_eq!(labels, ["one two", "three", "", "é"]);
    let long = format!("<a href=1>{}</a>", "é".repeat(1000));
    assert_eq!(
        extractor.extract_html(&long, &options).links.iter().next().unwrap().label.len(),
        256
    );
    assert!(read(html).links.iter().all(|link| link.label.is_empty()));
}

#[test]
fn caps_hold_and_are_told() {
    let options =
        HtmlOptions { max_links: 3, max_text: 10, max_title: 4, ..HtmlOptions::default() };
    let html = format!("<title>a title</title>{}", "<a href=x>word</a> ".repeat(10));
    let mut extractor = Extractor::new();
    let page = extractor.extract_html(&html, &options);
    assert_eq!((page.links.len(), page.links_cut), (3, true));
    assert_eq!((page.text.as_str(), page.text_cut), ("word word", true));
    assert_eq!(page.title.as_deref(), Some("a ti"));
    let long = format!("<a href='{}'><a href=b>", "x".repeat(1 << 20));
    assert_eq!(links(&long), [(Anchor, "b".to_owned())]);
}
