//! Which rows does a CSV text hold?
//!
//! RFC 4180: commas, quotes, doubled quotes within them, CRLF or LF. What is not well formed is
//! refused, with its line and column.

use super::TableError;

/// The rows of a text, all equally wide, packed: millions of small cells cost little more than
/// their letters.
pub(super) struct CsvRows {
    text: String,
    /// Where each cell ends in `text`, row by row.
    ends: Vec<usize>,
    /// The line on which each row begins.
    lines: Vec<usize>,
    width: usize,
}

impl CsvRows {
    /// Reads all rows of a text; lines without anything on them are none.
    pub(super) fn read(file: &str, text: &str) -> Result<Self, TableError> {
        let mut rows =
            CsvRows { text: String::new(), ends: Vec::new(), lines: Vec::new(), width: 0 };
        let mut reader = CsvReader { file, rest: text, line: 1 };
        while !reader.rest.is_empty() {
            if !reader.ends_line() {
                rows.add(&mut reader)?;
            }
        }
        Ok(rows)
    }

    /// How many there are, with the header.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line on which a row begins.
    pub(super) fn line(&self, row: usize) -> usize {
        self.lines[row]
    }

    /// One cell.
    pub(super) fn cell(&self, row: usize, place: usize) -> &str {
        let cell = row * self.width + place;
        let start = cell.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[cell]]
    }

    /// All cells of a row.
    pub(super) fn cells(&self, row: usize) -> impl Iterator<Item = &str> {
        (0..self.width).map(move |place| self.cell(row, place))
    }

    fn add(&mut self, reader: &mut CsvReader<'_>) -> Result<(), TableError> {
        let (file, line, before) = (reader.file, reader.line, self.ends.len());
        loop {
            let place = self.ends.len() - before + 1;
            reader.cell(place, &mut self.text)?;
            self.ends.push(self.text.len());
            if !reader.goes_on(place)? {
                break;
            }
        }
        let (count, width) = (self.ends.len() - before, self.width);
        if !self.lines.is_empty() && count != width {
            let cells = if count == 1 { "cell" } else { "cells" };
            return Err(TableError::new(format!(
                "{file}, line {line}, column {}: {count} {cells} where the header has {width}",
                count.min(width) + 1
            )));
        }
        self.width = count;
        self.lines.push(line);
        Ok(())
    }
}

/// What is still to be read of a text.
struct CsvReader<'a> {
    file: &'a str,
    rest: &'a str,
    line: usize,
}

impl CsvReader<'_> {
    /// Reads a cell to the end of `text`.
    fn cell(&mut self, place: usize, text: &mut String) -> Result<(), TableError> {
        match self.rest.strip_prefix('"') {
            Some(rest) => {
                self.rest = rest;
                self.quoted(place, text)
            }
            None => self.bare(place, text),
        }
    }

    /// Steps over what follows a cell, and says whether another one of the row does.
    fn goes_on(&mut self, place: usize) -> Result<bool, TableError> {
        if let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest;
            Ok(true)
        } else if self.rest.is_empty() || self.ends_line() {
            Ok(false)
        } else {
            Err(self.wrong(place, "something follows the closing quote"))
        }
    }

    /// A cell up to the next comma or line end.
    fn bare(&mut self, place: usize, text: &mut String) -> Result<(), TableError> {
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let line_ends = !self.rest[end..].starts_with(',');
        let cell = &self.rest[..end];
        let cell = if line_ends { cell.strip_suffix('\r').unwrap_or(cell) } else { cell };
        if cell.contains('"') {
            return Err(self.wrong(place, "a quote inside an unquoted cell"));
        }
        text.push_str(cell);
        self.rest = &self.rest[cell.len()..];
        Ok(())
    }

    /// A cell up to its closing quote, which is behind the reader then.
    fn quoted(&mut self, place: usize, text: &mut String) -> Result<(), TableError> {
        loop {
            let Some(end) = self.rest.find('"') else {
                return Err(self.wrong(place, "a quote that is never closed"));
            };
            let part = &self.rest[..end];
            text.push_str(part);
            self.line += part.matches('\n').count();
            self.rest = &self.rest[end + 1..];
            match self.rest.strip_prefix('"') {
                Some(rest) => self.rest = rest,
                None => return Ok(()),
            }
            text.push('"');
        }
    }

    /// Steps over a line end, if one is next.
    fn ends_line(&mut self) -> bool {
        let rest = self.rest.strip_prefix("\r\n").or_else(|| self.rest.strip_prefix('\n'));
        // A file may end with a carriage return alone where its last line feed was lost.
        let rest = rest.or_else(|| (self.rest == "\r").then_some(""));
        if let Some(rest) = rest {
            self.rest = rest;
            self.line += 1;
        }
        rest.is_some()
    }

    fn wrong(&self, place: usize, what: &str) -> TableError {
        let (file, line) = (self.file, self.line);
        TableError::new(format!("{file}, line {line}, column {place}: {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<Vec<String>>, String> {
        let rows = CsvRows::read("p.csv", text).map_err(|error| error.to_string())?;
        let owned = |row| rows.cells(row).map(str::to_owned).collect();
        Ok((0..rows.len()).map(owned).collect())
    }

    #[test]
    fn every_dialect_of_the_standard_is_read() {
        for (text, want) in [
            ("", vec![]),
            ("\n\r\n\n", vec![]),
            ("a,b", vec![vec!["a", "b"]]),
            ("a,b\nc,d\n", vec![vec!["a", "b"], vec!["c", "d"]]),
            ("a,b\r\n\r\nc,d\r\n", vec![vec!["a", "b"], vec!["c", "d"]]),
            ("a,b\r\nc,d\r", vec![vec!["a", "b"], vec!["c", "d"]]),
            ("a,\n,b\n,", vec![vec!["a", ""], vec!["", "b"], vec!["", ""]]),
            ("\"a\",\"\"\n", vec![vec!["a", ""]]),
            ("\"a,\"\"b\"\"\r\nc\", d \n", vec![vec!["a,\"b\"\r\nc", " d "]]),
        ] {
            assert_eq!(rows(text).unwrap(), want, "{text:?}");
        }
    }

    #[test]
    fn lines_are_counted_through_quotes_and_gaps() {
        let rows = CsvRows::read("p.csv", "a\n\n\"b\nc\"\n\"d\"\n").unwrap();
        assert_eq!((0..3).map(|row| rows.line(row)).collect::<Vec<_>>(), [1, 3, 5]);
    }

    #[test]
    fn what_is_not_well_formed_is_refused_with_its_place() {
        for (text, words) in [
            ("a,b\nc\n", "p.csv, line 2, column 2: 1 cell where the header has 2"),
            ("a,b\nc,d,\n", "p.csv, line 2, column 3: 3 cells where the header has 2"),
            ("a,b\nc,\"d\ne\n", "p.csv, line 2, column 2: a quote that is never closed"),
            ("\"a\"b,c\n", "p.csv, line 1, column 1: something follows the closing quote"),
            ("a\"b,c\n", "p.csv, line 1, column 1: a quote inside an unquoted cell"),
        ] {
            let error = rows(text).unwrap_err();
            assert!(error.starts_with(words), "{text:?}: {error}");
        }
    }

    #[test]
    fn every_short_text_is_refused_or_read_as_it_would_be_written() {
        let letters = ['a', ',', '"', '\n', '\r'];
        for number in 0..letters.len().pow(6) {
            let letter = |place| letters[number / letters.len().pow(place) % letters.len()];
            let text: String = (0..6).map(letter).collect();
            let Ok(read) = rows(&text) else { continue };
            let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",");
            let written: Vec<String> = read.iter().map(line).collect();
            assert_eq!(rows(&written.join("\r\n")).unwrap(), read, "{text:?}");
        }
    }
}
