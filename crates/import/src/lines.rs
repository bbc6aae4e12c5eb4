//! How are lines read of which a hostile file may have gigabytes in one? Only so much of a line is held.

use std::io::{self, BufRead};

/// The lines of a text, counted from 1.
pub(crate) struct Lines<R> {
    input: R,
    number: u64,
    line: Vec<u8>,
    longest: usize,
}

/// A line.
pub(crate) enum Line<'a> {
    /// Its text, without its end; bytes that are no UTF-8 are replaced.
    Text(std::borrow::Cow<'a, str>),
    /// It is longer than any line that means something.
    TooLong,
}

impl<R: BufRead> Lines<R> {
    /// Lines of at most so many bytes.
    pub(crate) fn new(input: R, longest: usize) -> Self {
        Lines { input, number: 0, line: Vec::new(), longest }
    }

    /// The next line with its number.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        self.line.clear();
        let (mut read, mut ended) = (0_u64, false);
        while !ended {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(bytes.len(), |end| end + 1);
            let room = (self.longest + 2).saturating_sub(self.line.len());
            self.line.extend_from_slice(&bytes[..taken.min(room)]);
            (read, ended) = (read + taken as u64, end.is_some());
            self.input.consume(taken);
        }
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if line.len() > self.longest || read > self.longest as u64 + 2 {
            Line::TooLong
        } else {
            Line::Text(String::from_utf8_lossy(line))
        };
        Ok(Some((self.number, line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_passed_over_and_counted() {
        let text = format!("a\r\n\n{}\nlast", "x".repeat(100));
        let mut lines = Lines::new(io::BufReader::with_capacity(7, text.as_bytes()), 10);
        let mut got = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            got.push((
                number,
                match line {
                    Line::Text(text) => text.into_owned(),
                    Line::TooLong => "too long".to_owned(),
                },
            ));
        }
        let want = [(1, "a"), (2, ""), (3, "too long"), (4, "last")];
        assert_eq!(got, want.map(|(number, text)| (number, text.to_owned())));
    }
}
