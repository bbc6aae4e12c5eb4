//! How are blocks written in HTML? With as few elements as they need, and nothing that a browser would run or load.

use crate::blocks::{Block, BlockKind, Link};

/// Writes blocks.
pub(crate) fn write(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut open: Option<&'static str> = None;
    for block in blocks {
        let around = around(&block.kind);
        if open != around {
            out.push_str(&open.map_or(String::new(), |name| format!("</{name}>\n")));
            out.push_str(&around.map_or(String::new(), |name| format!("<{name}>\n")));
            open = around;
        }
        write_block(block, &mut out);
    }
    out.push_str(&open.map_or(String::new(), |name| format!("</{name}>\n")));
    out
}

/// The element that holds blocks of a kind.
fn around(kind: &BlockKind) -> Option<&'static str> {
    match kind {
        BlockKind::Item { number: Some(_), .. } => Some("ol"),
        BlockKind::Item { number: None, .. } => Some("ul"),
        BlockKind::Row { .. } => Some("table"),
        BlockKind::Quote => Some("blockquote"),
        _ => None,
    }
}

fn write_block(block: &Block, out: &mut String) {
    let text = linked(&block.text, &block.links);
    let element = match &block.kind {
        BlockKind::Heading(level) => format!("<h{level}>{text}</h{level}>"),
        BlockKind::Paragraph | BlockKind::Quote => format!("<p>{text}</p>"),
        BlockKind::Item { .. } => format!("<li>{text}</li>"),
        BlockKind::Code(_) => format!("<pre><code>{}</code></pre>", escaped(&block.text)),
        BlockKind::Row { cells, is_head } => {
            let name = if *is_head { "th" } else { "td" };
            let cells =
                cells.iter().map(|cell| format!("<{name}>{}</{name}>", escaped(&plain(cell))));
            format!("<tr>{}</tr>", cells.collect::<String>())
        }
    };
    out.push_str(&element);
    out.push('\n');
}

/// A cell without the marks of Markdown.
fn plain(cell: &str) -> String {
    let mut out = String::with_capacity(cell.len());
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

/// The text with its links; each where its words stand next.
fn linked(text: &str, links: &[Link]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    for link in links {
        let Some(at) = rest.find(&link.text) else { continue };
        let after = at + link.text.len();
        out.push_str(&escaped(&rest[..at]));
        out.push_str(&format!("<a href=\"{}\">{}</a>", escaped(&link.url), escaped(&link.text)));
        rest = &rest[after..];
    }
    out + &escaped(rest)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks;

    #[test]
    fn nothing_is_left_that_runs_or_loads() {
        let html = "<h1 onclick=x()>A &lt;b&gt;</h1><p>go <a href='http://a.org/?x=\"1' style=x>on</a> & on\
            <script>x</script><img src=http://a/i.png alt=i></p><ul><li>1<li>2</ul><a href='javascript:x()'>y</a>";
        let want = "<h1>A &lt;b&gt;</h1>\n<p>go <a href=\"http://a.org/?x=&quot;1\">on</a> &amp; on</p>\n\
            <ul>\n<li>1</li>\n<li>2</li>\n</ul>\n<p>y</p>\n";
        assert_eq!(write(&blocks::read(html)), want);
    }
}
