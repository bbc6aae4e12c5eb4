//! How does what came from outside get onto a terminal? Without its control characters.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde::Serialize;

/// Standard output, buffered; data goes here.
pub(crate) fn data() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// One JSON object on a line. Characters that do something to a terminal are written as escapes.
pub(crate) fn json_line(
    out: &mut (impl Write + ?Sized),
    value: &(impl Serialize + ?Sized),
) -> io::Result<()> {
    let text = serde_json::to_string(value)?;
    let mut rest = text.as_str();
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| acts(*c)) {
        let (before, after) = rest.split_at(at);
        write!(out, "{before}\\u{:04x}", u32::from(c))?;
        rest = &after[c.len_utf8()..];
    }
    writeln!(out, "{rest}")
}

/// Text from a page or a server, safe to show: what would do something to a terminal becomes visible.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if acts(c) { '\u{fffd}' } else { c }).collect()
}

/// What is said of something that went wrong: safe to show, line by line, and without the passwords of URLs,
/// which may well be right even where the URL is not.
pub(crate) fn complaint(text: &str) -> String {
    text.lines().map(|line| plain(&without_passwords(line))).collect::<Vec<_>>().join("\n")
}

/// The same text with `***` for user name and password wherever a URL has them.
fn without_passwords(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        let ends = |c: char| c.is_whitespace() || "/?#\\`'\"<>".contains(c);
        let (authority, left) = after.split_at(after.find(ends).unwrap_or(after.len()));
        out.push_str(before);
        match authority.rfind('@') {
            Some(at) => out.extend(["***", &authority[at..]]),
            None => out.push_str(authority),
        }
        rest = left;
    }
    out + rest
}

/// Whether a character does something to a terminal rather than being shown: control characters, and
/// those that turn the direction of what follows.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A label, and its text from `column` on. On a terminal a text that is too long continues below, where it
/// began; elsewhere it stays on one line, for programs that look for words in it.
pub(crate) fn labelled(
    out: &mut (impl Write + ?Sized),
    label: &str,
    column: usize,
    text: &str,
) -> io::Result<()> {
    let width = terminal_width().unwrap_or(usize::MAX);
    let lines = wrapped(text, width.saturating_sub(column).max(20));
    for (n, line) in lines.iter().enumerate() {
        let before = if n == 0 { label } else { "" };
        writeln!(out, "{}", format!("{before:<column$}{line}").trim_end())?;
    }
    Ok(())
}

/// How many characters fit on a line of the terminal that output goes to; `None` where it goes elsewhere.
fn terminal_width() -> Option<usize> {
    let out = io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out).ok())??;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// How many characters fit on a line of the terminal that errors go to.
pub(crate) fn error_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// A text in lines of at most `width` characters, broken at spaces; a longer word stays whole.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(last) if line == 0 => last.push_str(word),
            Some(last) if line + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Rows under a head, columns as wide as needed.
pub(crate) fn table(
    out: &mut (impl Write + ?Sized),
    head: &[&str],
    rows: &[Vec<String>],
) -> io::Result<()> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (cell, width) in cells.zip(&widths) {
            text.push_str(&format!("{cell:<width$}  "));
        }
        writeln!(out, "{}", text.trim_end())
    };
    line(&mut head.iter().copied())?;
    for row in rows {
        line(&mut row.iter().map(String::as_str))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cannot_speak_to_the_terminal() {
        assert_eq!(plain("a\x1b[2Jb\u{7}é"), "a\u{fffd}[2Jb\u{fffd}é");
        assert_eq!(plain("\u{9b}2J\u{202e}txt"), "\u{fffd}2J\u{fffd}txt");
    }

    #[test]
    fn complaints_are_discreet() {
        let said =
            "`http://me:pass@word@[bad/` and ftp://u@h/a@b, not https://h/?u:p@h;\n\x1b mailto:a@b";
        let want =
            "`http://***@[bad/` and ftp://***@h/a@b, not https://h/?u:p@h;\n\u{fffd} mailto:a@b";
        assert_eq!(complaint(said), want);
    }

    #[test]
    fn json_says_the_same_without_control_characters() {
        let value = serde_json::json!({"t": "a\x1b\u{9b}é\u{7f}\u{202e}\"\u{1f600}"});
        let mut out = Vec::new();
        json_line(&mut out, &value).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "{\"t\":\"a\\u001b\\u009bé\\u007f\\u202e\\\"\u{1f600}\"}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn long_texts_are_broken_at_spaces() {
        assert_eq!(wrapped("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrapped("a http://a.test/long b", 5), ["a", "http://a.test/long", "b"]);
        assert_eq!(wrapped("", 5), [""]);
        let mut out = Vec::new();
        labelled(&mut out, "  disk", 8, "1 kB, 2 kB").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "  disk  1 kB, 2 kB\n");
    }

    #[test]
    fn columns_line_up() {
        let mut out = Vec::new();
        let rows =
            [vec!["x".to_owned(), "1".to_owned()], vec!["longer".to_owned(), "22".to_owned()]];
        table(&mut out, &["name", "n"], &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "name    n\nx       1\nlonger  22\n");
    }
}
