//! How is a table of results written so that people can read it and programs can use it?
//!
//! One [`Table`] is written as HTML, as Markdown and as CSV. People get rounded numbers, programs get
//! six digits of the same numbers.

use std::fmt::Write;

use evercrawl_draw::escaped;

/// A table of more columns than this is set smaller; those with intervals count twice.
const MANY: usize = 8;
/// One of more than this is set smaller still.
const VERY_MANY: usize = 16;

/// Rows of cells under named columns.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportTable {
    /// A short name, fit for a file.
    pub name: String,
    /// What it shows, with the units of its numbers.
    pub caption: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// One entry of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// What it says.
    pub value: CellValue,
    /// Whether it stands out: the best of its kind.
    pub bold: bool,
}

/// What a cell says.
#[derive(Debug, Clone, PartialEq)]
pub enum CellValue {
    /// Words.
    Words(String),
    /// A number and its decimal places for people. NaN is shown as a dash.
    Number(f64, usize),
    /// The same with its error; the error is not shown if it is NaN.
    Within(f64, f64, usize),
}

impl ReportTable {
    /// A table without rows.
    pub fn new(name: &str, caption: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        ReportTable { name: name.to_owned(), caption: caption.into(), columns, rows: Vec::new() }
    }

    /// Adds a row; missing cells stay empty, surplus ones are dropped.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let filled = cells.into_iter().chain(std::iter::repeat_with(|| Cell::from("")));
        self.rows.push(filled.take(self.columns.len()).collect());
    }

    /// Returns the table as HTML.
    pub fn html(&self) -> String {
        let dense = match self.width() {
            width if width > VERY_MANY => " class=\"dense denser\"",
            width if width > MANY => " class=\"dense\"",
            _ => "",
        };
        let mut out = format!("<div class=\"wide\"><table{dense}>\n");
        let _ = writeln!(out, "<caption>{}</caption>", escaped(&self.caption));
        let heads = self.columns.iter().zip(self.are_words());
        let head = |(name, words): (&String, bool)| {
            format!("<th scope=\"col\"{}>{}</th>", class(words), escaped(name))
        };
        let _ = writeln!(
            out,
            "<thead><tr>{}</tr></thead>\n<tbody>",
            heads.map(head).collect::<String>()
        );
        for row in &self.rows {
            let cells: String =
                row.iter().enumerate().map(|(place, cell)| cell.html(place == 0)).collect();
            let _ = writeln!(out, "<tr>{cells}</tr>");
        }
        out.push_str("</tbody></table></div>\n");
        out
    }

    /// Returns the table as Markdown, its caption as a paragraph before it.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = self.are_words().map(|words| if words { "---" } else { "---:" }.to_owned());
        let mut out = format!("{}\n\n", self.caption);
        out += &line(self.columns.clone());
        out += &line(rule.collect());
        for row in &self.rows {
            out += &line(row.iter().map(Cell::markdown).collect());
        }
        out
    }

    /// Returns the table as CSV (RFC 4180); NaN is an empty cell.
    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\r\n";
        let mut out = line(self.columns.iter().map(|name| quoted(name)).collect());
        for row in &self.rows {
            out += &line(row.iter().map(|cell| quoted(&cell.plain())).collect());
        }
        out
    }

    /// How many columns there are, those with intervals counted twice, by the first row.
    fn width(&self) -> usize {
        let first = self.rows.iter().take(1).flatten();
        let twice = first.filter(|cell| matches!(cell.value, CellValue::Within(..))).count();
        self.columns.len() + twice
    }

    /// Whether each column holds words, by its first row.
    fn are_words(&self) -> impl Iterator<Item = bool> {
        let first = self.rows.first();
        (0..self.columns.len()).map(move |place| {
            first.is_none_or(|row| matches!(row[place].value, CellValue::Words(_)))
        })
    }
}

impl Cell {
    /// The same number, with how far it may be off.
    #[must_use]
    pub fn within(self, reach: f64) -> Self {
        match self.value {
            CellValue::Number(value, digits) => {
                Cell { value: CellValue::Within(value, reach, digits), ..self }
            }
            CellValue::Words(_) | CellValue::Within(..) => self,
        }
    }

    /// The same, standing out if `bold`.
    #[must_use]
    pub(crate) fn bold_if(self, bold: bool) -> Self {
        Cell { bold, ..self }
    }

    fn html(&self, is_head: bool) -> String {
        let words = matches!(self.value, CellValue::Words(_));
        let text = escaped(&self.shown());
        let text = if self.bold { format!("<b>{text}</b>") } else { text };
        let tag = if is_head { "th scope=\"row\"" } else { "td" };
        format!("<{tag}{}>{text}</{}>", class(words), &tag[..2])
    }

    fn markdown(&self) -> String {
        let text = self.shown().replace('|', "\\|");
        if self.bold { format!("**{text}**") } else { text }
    }

    /// For people.
    fn shown(&self) -> String {
        match &self.value {
            CellValue::Words(words) => words.clone(),
            CellValue::Number(value, digits) => number(*value, *digits),
            CellValue::Within(value, reach, digits) if reach.is_nan() => number(*value, *digits),
            CellValue::Within(value, reach, digits) => {
                let [value, reach] = [value, reach].map(|value| number(*value, *digits));
                format!("{value}\u{a0}\u{b1}{reach}")
            }
        }
    }

    /// For programs.
    fn plain(&self) -> String {
        match &self.value {
            CellValue::Words(words) => words.clone(),
            CellValue::Number(value, _) | CellValue::Within(value, ..) if value.is_nan() => {
                String::new()
            }
            CellValue::Number(value, _) | CellValue::Within(value, ..) => six_digits(*value),
        }
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Self {
        Cell::from(words.to_owned())
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Self {
        Cell { value: CellValue::Words(words), bold: false }
    }
}

/// A number cell with `digits` decimal places.
pub fn cell(value: f64, digits: usize) -> Cell {
    Cell { value: CellValue::Number(value, digits), bold: false }
}

/// A cell with a whole number.
pub fn count(value: usize) -> Cell {
    cell(value as f64, 0)
}

/// A share as per cent, with `digits` decimal places.
pub fn percent(share: f64, digits: usize) -> Cell {
    cell(100.0 * share, digits)
}

/// A number for people: a true minus sign, thin spaces between thousands, a dash for NaN.
pub fn number(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "\u{2013}".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "\u{221e}" } else { "\u{2212}\u{221e}" }.to_owned();
    }
    let text = format!("{:.digits$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
    let sign = if value < 0.0 && !is_zero { "\u{2212}" } else { "" };
    format!("{sign}{}{rest}", in_thousands(whole))
}

fn in_thousands(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.to_owned();
    }
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

fn six_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}

fn class(words: bool) -> &'static str {
    if words { " class=\"words\"" } else { "" }
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ReportTable {
        let mut table = ReportTable::new("t", "A < B, %", &["site", "rate", "note"]);
        table.row(["a|b".into(), cell(-1234567.0 / 100.0, 1).bold_if(true), "x, \"y\"".into()]);
        table.row(["c".into(), cell(f64::NAN, 1)]);
        table
    }

    #[test]
    fn people_get_rounded_numbers_and_programs_six_digits() {
        let table = table();
        let (html, markdown) = (table.html(), table.markdown());
        assert!(html.contains("<caption>A &lt; B, %</caption>"), "{html}");
        assert!(html.contains("<td><b>\u{2212}12\u{202f}345.7</b></td>"), "{html}");
        assert!(
            html.contains("<th scope=\"row\" class=\"words\">c</th><td>\u{2013}</td>"),
            "{html}"
        );
        assert!(
            markdown.contains("| --- | ---: | --- |\n| a\\|b | **\u{2212}12\u{202f}345.7** |"),
            "{markdown}"
        );
        assert_eq!(table.csv(), "site,rate,note\r\na|b,-12345.7,\"x, \"\"y\"\"\"\r\nc,,\r\n");
    }

    #[test]
    fn a_number_may_say_how_far_it_may_be_off() {
        let mut table = ReportTable::new("t", "", &["a", "b"]);
        table.row([cell(96.64, 1).within(0.31).bold_if(true), cell(5.0, 1).within(f64::NAN)]);
        let html = table.html();
        assert!(html.contains("<b>96.6\u{a0}\u{b1}0.3</b></th><td>5.0</td>"), "{html}");
        assert_eq!(table.csv(), "a,b\r\n96.64,5\r\n");
    }

    #[test]
    fn the_more_columns_the_smaller_they_are_set() {
        let html = |columns: usize| {
            let mut table = ReportTable::new("t", "", &vec!["a"; columns]);
            table.row((0..columns).map(|_| cell(1.0, 1).within(0.1)));
            table.html()
        };
        assert!(html(4).contains("<table>"));
        assert!(html(8).contains("<table class=\"dense\">"));
        assert!(html(9).contains("<table class=\"dense denser\">"));
    }

    #[test]
    fn every_number_can_be_shown() {
        for (value, digits, text) in [
            (0.0, 0, "0"),
            (-0.04, 1, "0.0"),
            (9999.0, 0, "9999"),
            (1e6, 0, "1\u{202f}000\u{202f}000"),
            (f64::INFINITY, 2, "\u{221e}"),
            (f64::NEG_INFINITY, 2, "\u{2212}\u{221e}"),
            (0.125, 2, "0.12"),
        ] {
            assert_eq!(number(value, digits), text);
        }
    }

    #[test]
    fn rows_are_as_wide_as_the_head() {
        let mut table = ReportTable::new("t", "", &["a", "b"]);
        table.row([count(1)]);
        table.row([count(1), count(2), count(3)]);
        assert!(table.rows.iter().all(|row| row.len() == 2));
        assert_eq!(table.csv(), "a,b\r\n1,\r\n1,2\r\n");
    }
}
