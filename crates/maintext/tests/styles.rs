//! Is the main text of pages found, in whatever style they are built?
//!
//! Each page lists what belongs to its main text and what does not.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

/// Checks a page; every failure is told, not only the first.
#[track_caller]
fn check(html: &str, with: &[&str], without: &[&str]) {
    let text = evercrawl_maintext::extract(html, "http://a.org/x", &|_| false).text();
    let missing: Vec<_> = with.iter().filter(|part| !text.contains(**part)).collect();
    let wrong: Vec<_> = without.iter().filter(|part| text.contains(**part)).collect();
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "missing {missing:?}, wrong {wrong:?} in\n{text}"
    );
}

const ONE: &str = "The council decided on Tuesday that the old bridge will be saved after all, at a cost of two million.";
const TWO: &str = "Engineers had warned for years that the pillars could no longer carry the traffic of a growing town.";
const THREE: &str = "Work begins in spring; until then, those who want to cross the river have to take the road by the mill.";

#[test]
fn a_newspaper_article_made_of_divs() {
    check(
        &format!(
            "<body><div id=header><div class=logo>The Daily</div><ul class=mainMenu><li><a href=/>Politics</a><li>\
             <a href=/>Sports</a></ul></div><div class='page-wrapper'><div class='col-main'><h1>Bridge saved</h1>\
             <div class='article-byline'>By Jane Doe</div><div class='social-share'>Share on Facebook Tweet Print</div>\
             <div class='story'><p>{ONE}</p><p><a href=/1>Read the whole history of the bridge here</a></p>\
             <div class=ad-slot>Advertisement: buy our best shoes today, they are cheap and nice to look at</div>\
             <p>{TWO}</p><p>{THREE}</p></div>\
             <div class=related-articles><h3>Related</h3><p>Mayor resigns after a long and bitter quarrel about parking.</p></div>\
             <div id=comments><h3>2 comments</h3><p>I never liked that bridge and I think that we need a new one, soon.</p></div>\
             </div><div class=col-right><h3>Most read</h3><p>Ten recipes for the autumn that your whole family will love at once.</p>\
             </div></div><div class=site-footer>Copyright The Daily. All rights reserved.</div>"
        ),
        &[ONE, TWO, THREE],
        &[
            "Politics",
            "By Jane Doe",
            "Share on",
            "whole history",
            "buy our",
            "Mayor resigns",
            "never liked",
            "Ten recipes",
            "Copyright",
        ],
    );
}

#[test]
fn a_blog_with_a_sidebar_and_comments() {
    check(
        &format!(
            "<body class='single no-sidebar'><div id=content class=site-content><div class=hfeed>\
             <article class='post-12 post tag-social category-ads hentry'><header class=entry-header><h1>On bridges</h1>\
             <div class=entry-meta>Posted on 3 May by Jane</div></header><div class=entry-content><p>{ONE}</p>\
             <blockquote><p>A bridge is a promise.</p></blockquote><p>{TWO}</p><ul><li>wood</li><li>stone, which lasts</li></ul>\
             <pre><code>cross(river)</code></pre><div class=sharedaddy>Share this: Twitter</div></div>\
             <footer class=entry-footer>Tags: bridge, town</footer></article>\
             <nav class=post-navigation><a href=/a>Older post</a></nav>\
             <div class='author-box'>Jane writes about rivers, towns and all that lies between them, since 1999.</div>\
             <section id=respond><h3>Leave a reply</h3><p>Your email address will not be published, of course, by us.</p></section>\
             </div></div><aside>About me: I live in a small town by a river with two cats and one old bridge.</aside>"
        ),
        &[ONE, TWO, "A bridge is a promise.", "stone, which lasts", "cross(river)"],
        &[
            "Posted on",
            "Share this",
            "Tags:",
            "Older post",
            "Jane writes",
            "email address",
            "About me",
        ],
    );
}

#[test]
fn a_thread_of_a_forum() {
    let post = |who: &str, text: &str| {
        format!(
            "<div class=post><div class=post-author>{who}<br>Posts: 12<br>Joined: 2011</div><div class=post-body>{text}\
             </div><div class=signature>--</div></div>"
        )
    };
    check(
        &format!(
            "<div class=topnav><a href=/>Forum</a> &gt; <a href=/b>Bridges</a></div><div class=thread>{}{}{}</div>\
             <div class=footer>Powered by a board</div>",
            post("anna", ONE),
            post("bert", TWO),
            post("carl", THREE)
        ),
        &[ONE, TWO, THREE],
        &["Forum", "Powered by", "Joined"],
    );
}

#[test]
fn a_page_laid_out_by_tables() {
    check(
        &format!(
            "<body><table width=100%><tr><td colspan=2><img src=logo.gif> <a href=/>Home</a> <a href=/n>News</a> \
             <a href=/c>Contact</a></td></tr><tr><td width=150 valign=top><a href=/1>One</a><br><a href=/2>Two</a><br>\
             <a href=/3>Three</a><br><a href=/4>Four</a></td><td><font size=5>Bridge saved</font><p>{ONE}<p>{TWO}<p>{THREE}\
             <table border=1><tr><th>Year<th>Cars</tr><tr><td>1999<td>12</tr></table></td></tr>\
             <tr><td colspan=2>Webmaster: me</td></tr></table>"
        ),
        &[ONE, TWO, THREE, "1999 12"],
        &["Contact", "Four", "Webmaster"],
    );
}

#[test]
fn text_between_line_breaks() {
    check(
        &format!(
            "<body><a href=/>Home</a> | <a href=/n>News</a> | <a href=/c>Contact</a><br><br><b>Bridge saved</b><br><br>\
             {ONE}<br><br>{TWO}<br><br>{THREE}<br><br><a href=/>back</a> | <a href=/n>next</a> | <a href=/p>print</a>"
        ),
        &[ONE, TWO, THREE],
        &["Contact", "back", "print"],
    );
}

#[test]
fn a_form_around_the_whole_page_hides_nothing() {
    check(
        &format!(
            "<body><form id=aspnetForm><div class=menu><a href=/>Home</a></div><div><p>{ONE}</p><p>{TWO}</p><p>{THREE}</p></div>\
             </form>"
        ),
        &[ONE, TWO, THREE],
        &["Home"],
    );
}

#[test]
fn classes_that_only_look_like_surroundings_hide_no_page() {
    check(
        &format!(
            "<body><div class='content-with-sidebar sharing-page'><p>{ONE}</p><p>{TWO}</p><p>{THREE}</p></div>"
        ),
        &[ONE, TWO, THREE],
        &[],
    );
    check(
        &format!(
            "<body><div id=related><p>{ONE}</p><p>{TWO}</p><p>{THREE}</p></div><div><p>Something else.</p></div>"
        ),
        &[ONE, TWO, THREE],
        &[],
    );
    // A box that was never closed ends with what it stands in.
    check(
        &format!(
            "<body><div><div class=share>Share this now</div><div><nav><a href=/>Home</a></div><p>{ONE}</p><p>{TWO}</p></div>"
        ),
        &[ONE, TWO],
        &["Home"],
    );
    check(
        &format!("<body><div><p class=byline>By Jane<p>{ONE}<p>{TWO}<p>{THREE}</div>"),
        &[ONE, TWO, THREE],
        &["By Jane"],
    );
}

#[test]
fn one_article_among_teasers() {
    let teaser = "<article class=teaser><h3>Other news</h3><p>Elsewhere, a tree fell over and nobody was hurt, luckily.</p></article>";
    check(
        &format!(
            "<main><article><h1>Bridge</h1><p>{ONE}</p><p>{TWO}</p><p>{THREE}</p></article>{teaser}{teaser}</main>"
        ),
        &[ONE, TWO, THREE],
        &["a tree fell"],
    );
    let parts = format!(
        "<main><article><p>{ONE}</p></article><article><p>{TWO}</p></article><article><p>{THREE}</p></article></main>"
    );
    check(&parts, &[ONE, TWO, THREE], &[]);
}

#[test]
fn a_notice_about_cookies_in_other_languages() {
    let (eins, zwei) = (
        "Der Stadtrat hat am Dienstag beschlossen, dass die alte Brücke nun doch gerettet werden soll, für zwei Millionen.",
        "Seit Jahren hatten Ingenieure gewarnt, dass die Pfeiler den Verkehr der wachsenden Stadt nicht mehr tragen können.",
    );
    check(
        &format!(
            "<body><div class='cookie-consent-layer'>Wir verwenden Cookies, um Inhalte zu personalisieren und Zugriffe zu zählen.</div>\
             <div class=inhalt><h1>Brücke gerettet</h1><p>{eins}</p><p>Lesen Sie auch: <a href=/x>Der lange Streit</a></p><p>{zwei}</p>\
             </div><p>© 2026 Der Bote</p>"
        ),
        &[eins, zwei],
        &["Cookies", "Lesen Sie auch", "Der Bote"],
    );
    let (un, deux) = (
        "市議会は火曜日に、古い橋を救うことができるかどうかを決定し、二百万円の費用を認めることにした。",
        "技術者たちは何年も前から、橋脚がもう町の交通を支えることができないと警告していた。",
    );
    check(
        &format!(
            "<body><ul class=nav><li>ホーム</ul><div><h1>橋</h1><p>{un}</p><p>{deux}</p></div><div class=footer>著作権</div>"
        ),
        &[un, deux],
        &["ホーム", "著作権"],
    );
}
