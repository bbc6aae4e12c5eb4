//! How does what came from outside get onto a terminal? Without its control characters.

use std::io::{self, BufWriter, StdoutLock, Write};

use serde_json::Value;

/// Standard output, buffered; data goes here.
pub(crate) fn data() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// One JSON object on a line.
pub(crate) fn json_line(out: &mut (impl Write + ?Sized), value: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// Text from a page or a server, safe to show: control characters become visible.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
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
