//! How are blocks written in Markdown? As CommonMark, with tables as most readers of it know them.

use crate::blocks::{Block, BlockKind};

/// Writes blocks.
pub(crate) fn write(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut before: Option<&Block> = None;
    for block in blocks {
        if let Some(before) = before {
            out.push_str(if is_close(before, block) { "\n" } else { "\n\n" });
        }
        write_block(block, starts_table(before, block), &mut out);
        before = Some(block);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Items of a list, rows of a table and lines of a quotation follow without an empty line.
fn is_close(before: &Block, next: &Block) -> bool {
    match (&before.kind, &next.kind) {
        (BlockKind::Item { .. }, BlockKind::Item { .. }) => true,
        (BlockKind::Row { cells, .. }, BlockKind::Row { cells: next, .. }) => {
            cells.len() == next.len()
        }
        _ => false,
    }
}

fn starts_table(before: Option<&Block>, block: &Block) -> bool {
    matches!(block.kind, BlockKind::Row { .. })
        && before.is_none_or(|before| !is_close(before, block))
}

fn write_block(block: &Block, starts_table: bool, out: &mut String) {
    match &block.kind {
        BlockKind::Heading(level) => {
            out.push_str(&"#".repeat(usize::from(*level)));
            out.push(' ');
            out.push_str(&block.markdown);
        }
        BlockKind::Paragraph => out.push_str(&safe_start(&block.markdown)),
        BlockKind::Item { depth, number } => {
            out.push_str(&"   ".repeat(usize::from(depth.saturating_sub(1))));
            match number {
                Some(number) => out.push_str(&format!("{number}. ")),
                None => out.push_str("- "),
            }
            out.push_str(&block.markdown);
        }
        BlockKind::Quote => {
            out.push_str("> ");
            out.push_str(&block.markdown);
        }
        BlockKind::Code(language) => write_code(block, language.as_deref(), out),
        BlockKind::Row { cells, is_head } => write_row(cells, *is_head, starts_table, out),
    }
}

/// A paragraph that begins like a heading, item or quotation must not become one.
fn safe_start(text: &str) -> String {
    let marker = text.split(' ').next().unwrap_or_default();
    let digits = marker.trim_end_matches(['.', ')']);
    let is_number = digits.len() < marker.len() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_marker =
        matches!(marker, "-" | "+" | ">" | "---") || marker.bytes().all(|byte| byte == b'#');
    match (is_number && !digits.is_empty(), is_marker && !marker.is_empty()) {
        (true, _) => format!("{digits}\\{}", &text[digits.len()..]),
        (_, true) => format!("\\{text}"),
        _ => text.to_owned(),
    }
}

/// Between lines of more backticks than the code has anywhere.
fn write_code(block: &Block, language: Option<&str>, out: &mut String) {
    let longest = block.text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    out.push_str(&format!("{fence}{}\n{}\n{fence}", language.unwrap_or_default(), block.text));
}

fn write_row(cells: &[String], is_head: bool, starts_table: bool, out: &mut String) {
    let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let line = format!("|{}", " --- |".repeat(cells.len()));
    match (starts_table, is_head) {
        (true, true) => out.push_str(&format!("{}\n{line}", row(cells))),
        (true, false) => {
            let empty = vec![String::new(); cells.len()];
            out.push_str(&format!("{}\n{line}\n{}", row(&empty), row(cells)));
        }
        _ => out.push_str(&row(cells)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks;

    #[test]
    fn markdown_reads_as_the_page_does() {
        let html = "<h1>Title</h1><p>One <b>two</b>.</p><ul><li>a<ol><li>b</ol></ul><blockquote>q</blockquote>\
            <pre>x = `1`</pre><table><tr><th>k<th>v</tr><tr><td>a|b<td>2</tr></table><p># no heading</p>\
            <p>1. no item</p><p>- no item</p><p>#hash</p>";
        let want = "# Title\n\nOne **two**.\n\n- a\n   1. b\n\n> q\n\n```\nx = `1`\n```\n\n| k | v |\n| --- | --- |\n\
            | a\\|b | 2 |\n\n\\# no heading\n\n1\\. no item\n\n\\- no item\n\n#hash\n";
        assert_eq!(write(&blocks::read(html)), want);
        assert_eq!(write(&[]), "");
        assert_eq!(write(&blocks::read("<pre>a ``` b</pre>")), "````\na ``` b\n````\n");
        let headless = "<table><tr><td>a<td>b</tr></table>";
        assert_eq!(write(&blocks::read(headless)), "|  |  |\n| --- | --- |\n| a | b |\n");
    }
}
