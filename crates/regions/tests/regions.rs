use evercrawl_extract::{Extractor, HtmlOptions};
use evercrawl_regions::{PageTree, Region, Selector};

const NONE: &[&str] = &[];

fn text(css: &str, html: &str) -> Option<String> {
    Some(Region::new(css, NONE).unwrap().read(html)?.text)
}

#[track_caller]
fn check(html: &str, cases: &[(&str, Option<&str>)]) {
    for (css, want) in cases {
        assert_eq!(text(css, html).as_deref(), *want, "{css} of {html}");
    }
}

#[test]
fn selectors_choose_what_browsers_choose() {
    let html = "<html lang=en-GB><body><div id=main class='a b'><p>one<p class=x>two<p>three</div>\
        <ul data-Kind='Nice list'><li>1<li>2<li>3<li>4</ul><p lang=de>four</body>";
    check(
        html,
        &[
            ("#main", Some("one\ntwo\nthree")),
            ("p.x", Some("two")),
            ("DIV.a.b > p:nth-child(3)", Some("three")),
            (".x + p", Some("three")),
            ("p:first-child ~ p", Some("two\nthree")),
            ("div p:not(.x)", Some("one\nthree")),
            ("li:nth-child(odd)", Some("1\n3")),
            ("li:nth-last-child(-n+2)", Some("3\n4")),
            ("li:first-child, li:last-of-type", Some("1\n4")),
            ("[data-kind*=list] > li:nth-of-type(2)", Some("2")),
            ("[data-kind='nice LIST' i] li:first-child", Some("1")),
            ("[data-kind='nice LIST'] li", None),
            ("[data-kind~=Nice] > :last-child", Some("4")),
            ("[data-kind^=Nice][data-kind$=list] li:only-child", None),
            ("div:has(> .x)", Some("one\ntwo\nthree")),
            ("ul:has(.x)", None),
            ("p:has(+ .x)", Some("one")),
            (":is(.x, li:last-child)", Some("two\n4")),
            ("[lang|=en] > body > p", Some("four")),
            (":root > body > p:only-of-type", Some("four")),
            ("body p p", None),
            ("#MAIN", None),
            ("*", Some("one\ntwo\nthree\n1\n2\n3\n4\nfour")),
        ],
    );
    check("<p class='md:w-1/2 1st'>x", &[(r".md\:w-1\/2", Some("x")), (r".\31 st", Some("x"))]);
}

#[test]
fn tags_that_are_left_out_are_implied() {
    check(
        "<table><tr><td>a<td>b<tr><th>c<td>d<table><td>e</table></table><p>f<div>g</div>h",
        &[
            ("table > tbody > tr:nth-child(2) > td", Some("d\ne")),
            ("td td", Some("e")),
            ("body > p", Some("f")),
            ("body > div", Some("g")),
        ],
    );
    check(
        "<title>T</title><meta name=x><p>a<h2>b<h3>c</h3><dl><dt>d<dd>e<dt>f</dl><select><option>g<option>h</select>",
        &[
            ("html > head > title", Some("T")),
            ("body > h3", Some("c")),
            ("dl > dt:last-child", Some("f")),
            ("head p", None),
        ],
    );
    check(
        "<ul><li>a<ul><li>b</ul><li>c</ul><a href=1>d<a href=2>e</a><b><div>f</b>g</div>",
        &[("body > ul > li:nth-child(2)", Some("c")), ("a a", None), ("div", Some("fg"))],
    );
    check(
        "<script>'<p class=x>'</script><style>p</style><svg><title>s</title><path/></svg><p class=x>a",
        &[(".x", Some("a")), ("svg > path", Some("")), ("body > p", Some("a"))],
    );
    check("<template><p class=x>a</template><p class=y>b", &[(".x", None), (".y", Some("b"))]);
}

#[test]
fn what_is_left_out_is_cut() {
    let read = |css, without: &[&str], html| {
        let content = Region::new(css, without).unwrap().read(html).unwrap();
        (content.text, content.html, content.elements)
    };
    let html = "<div class=p>a<i class=t>12:04</i>b<div class=ad>ad<p>more</div>c</div><div class=p>d</div>";
    assert_eq!(
        read(".p", &[".t", "div.ad"], html),
        ("ab\nc\nd".into(), "<div class=p>ab<br>c</div>\n<div class=p>d</div>".into(), 2)
    );
    assert_eq!(read(".p", &[".p"], "<p class=p>a"), (String::new(), "<br>".into(), 1));
    assert_eq!(read("div", &[".x"], "<div>a<div>b").2, 1, "what is inside is not taken twice");
}

#[test]
fn the_text_is_that_of_the_page() {
    let html = "<body><h1>A &amp; B</h1><p>One  two\n<b>three</b><br>four<table><tr><td>5<td>6</table>\
        <script>no</script><p hidden>seven<ul><li>8<li>9</ul>";
    let whole = Extractor::new().extract_html(html, &HtmlOptions::default()).text.clone();
    assert_eq!(text("body", html).unwrap(), whole);
    assert_eq!(text("html", html).unwrap(), whole);
}

#[test]
fn what_is_no_selector_is_told_why() {
    for (css, why) in [
        ("", "missing at the end"),
        ("div >", "missing at the end"),
        ("div,,p", "missing at `,p`"),
        ("p.", "a class has no name at the end"),
        ("p:hover", "`:hover` is not understood; known are"),
        ("p::before", "`::` chooses no element"),
        ("p[x", "`]` is missing"),
        ("p[x='a]", "the closing ' is missing"),
        ("p:nth-child(x)", "needs a place in brackets"),
        ("p:nth-child", "needs a place in brackets"),
        ("p:not(a", "`)` is missing"),
        ("p:not", "`:not` needs `(`"),
        ("div:has(a b)", "one simple selector"),
        ("//div[@id='x']", "looks like XPath"),
        ("p)", "`)` is not expected"),
        ("p { color: red }", "missing at `{ color"),
        (":not(:not(:not(:not(:not(a)))))", "nest deeper"),
    ] {
        let error = css.parse::<Selector>().unwrap_err().to_string();
        assert!(error.contains(why) && error.starts_with(&format!("`{css}`")), "{css}: {error}");
    }
    assert!("a,".repeat(300).parse::<Selector>().unwrap_err().to_string().contains("200 parts"));
    assert!("a".repeat(5000).parse::<Selector>().unwrap_err().to_string().contains("4096"));
}

#[test]
fn a_page_is_read_once_for_several_regions() {
    let tree = PageTree::read("<p id=a>1<p id=b>2");
    for (css, want) in [("#a", "1"), ("#b", "2")] {
        assert_eq!(Region::new(css, NONE).unwrap().read_in(&tree).unwrap().text, want);
    }
}
