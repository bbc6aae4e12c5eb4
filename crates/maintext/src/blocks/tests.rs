//! Do elements become the blocks that a reader sees?

use super::*;

fn kinds(html: &str) -> Vec<(String, String)> {
    let name = |block: &Block| match &block.kind {
        BlockKind::Heading(level) => format!("h{level}"),
        BlockKind::Paragraph => "p".to_owned(),
        BlockKind::Item { depth, number } => {
            format!("{depth}{}", number.map_or("-".to_owned(), |number| format!(".{number}")))
        }
        BlockKind::Quote => ">".to_owned(),
        BlockKind::Code(language) => format!("code {}", language.as_deref().unwrap_or("?")),
        BlockKind::Row { is_head: true, .. } => "head".to_owned(),
        BlockKind::Row { .. } => "row".to_owned(),
    };
    read(html).iter().map(|block| (name(block), block.markdown.clone())).collect()
}

#[test]
fn elements_become_blocks() {
    for (html, want) in [
        ("<h2> A <b>b</b></h2>text<p>more", &[("h2", "A **b**"), ("p", "text"), ("p", "more")][..]),
        ("<ul><li>a<ul><li><p>b</p></li></ul><li>c</ul>", &[("1-", "a"), ("2-", "b"), ("1-", "c")]),
        ("<ol start=3><li>a<li>b</ol>", &[("1.3", "a"), ("1.4", "b")]),
        ("<blockquote><p>a</p>b</blockquote>c", &[(">", "a"), (">", "b"), ("p", "c")]),
        (
            "<pre class='language-rust'><code>fn a() {\n  1_2\n}\n</code></pre>",
            &[("code rust", "fn a() {\n  1_2\n}")],
        ),
        (
            "<table><tr><th>a<th>b</tr><tr><td>1<td><p>2</p><p>3</p></tr></table>",
            &[("head", "a b"), ("row", "1 2 3")],
        ),
        ("<table><tr><td>only</td></tr></table>", &[("p", "only")]),
        (
            "go <a href='http://a.org/x (1)'> on <i>now</i> </a>, <a href=mailto:x>me</a>",
            &[("p", "go [on *now*](http://a.org/x%20%281%29) , me")],
        ),
        ("a<br>b<script>var x = '<p>'</script>", &[("p", "a"), ("p", "b")]),
        ("2 * 3 _x_ [y]", &[("p", "2 \\* 3 \\_x\\_ \\[y\\]")]),
        ("call <code>a_b()</code>.", &[("p", "call `a_b()`.")]),
        ("<p><img src=http://a/i.png alt='a tree'>", &[("p", "![a tree](http://a/i.png)")]),
        ("<div> <p> </div>", &[]),
    ] {
        let want: Vec<(String, String)> =
            want.iter().map(|(kind, text)| ((*kind).to_owned(), (*text).to_owned())).collect();
        assert_eq!(kinds(html), want, "{html}");
    }
}

#[test]
fn links_are_counted() {
    let blocks = read("<p>See <a href='https://a.org/'>the page</a> and <a href='#x'>below</a>");
    assert_eq!(blocks[0].linked, "the pagebelow".len());
    assert_eq!(blocks[0].links, [Link { url: "https://a.org/".into(), text: "the page".into() }]);
    assert_eq!(blocks[0].text, "See the page and below");
}

proptest::proptest! {
    #[test]
    fn any_tags_are_read(
        html in "(<(/?)(a|b|p|li|ul|ol|pre|code|td|tr|table|h1|script|br)( href=http://x)?>|[a é*]{0,3}){0,30}",
    ) {
        for block in read(&html) {
            proptest::prop_assert!(block.linked <= block.text.len() + 3, "{block:?}");
        }
    }
}
