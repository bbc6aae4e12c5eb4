//! What stands in the columns of a file, and where exactly is it wrong?
//!
//! The first row names the columns, in any order. Every complaint names file, line and column, and
//! nothing is guessed: a number that might be meant otherwise is refused.

mod csv;

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use csv::CsvRows;
use flate2::bufread::MultiGzDecoder;
use thiserror::Error;

/// The largest file that is read, unpacked: a year of a million pages fits many times.
const LARGEST: u64 = 4 << 30;

/// A file that cannot be used as it is: says which, where in it, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct TableError(String);

impl TableError {
    /// With all that there is to say.
    pub fn new(message: impl Into<String>) -> Self {
        TableError(message.into())
    }
}

/// The columns that a kind of file has.
pub struct Columns {
    /// Those without which there is no sense in it.
    pub required: &'static [&'static str],
    /// Those that may be left out.
    pub optional: &'static [&'static str],
    /// Those of recorded histories that are allowed, and not looked at; `*` is any.
    pub unused: &'static [&'static str],
}

/// A file's rows, their columns numbered as in [`Columns`]: required ones, then optional ones.
pub struct DataTable {
    file: String,
    columns: &'static Columns,
    places: Vec<Option<usize>>,
    rows: CsvRows,
}

impl DataTable {
    /// Reads a file, or standard input for `-`. One whose name ends in `.gz` is unpacked.
    pub fn open(path: &Path, columns: &'static Columns) -> Result<Self, TableError> {
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| TableError::new(format!("cannot read standard input: {error}")))?;
            return Self::read("standard input".to_owned(), &bytes, columns);
        }
        let bytes = unpacked(path)
            .map_err(|error| TableError::new(format!("cannot read {}: {error}", path.display())))?;
        Self::read(path.display().to_string(), &bytes, columns)
    }

    fn read(file: String, bytes: &[u8], columns: &'static Columns) -> Result<Self, TableError> {
        let rows = CsvRows::read(&file, text(&file, bytes)?)?;
        if rows.len() == 0 {
            let wanted = columns.required.join(",");
            return Err(TableError::new(format!(
                "{file}, line 1, column 1: no header; expected {wanted}"
            )));
        }
        let places = places(&file, &rows, columns)?;
        Ok(Self { file, columns, places, rows })
    }

    /// Whether the file has the column.
    pub fn has(&self, column: usize) -> bool {
        self.places.get(column).is_some_and(Option::is_some)
    }

    /// How many rows there are under the header.
    pub fn row_count(&self) -> usize {
        self.rows.len() - 1
    }

    /// The rows, in the file's order.
    pub fn rows(&self) -> impl Iterator<Item = TableRow<'_>> {
        (1..self.rows.len()).map(|number| TableRow { table: self, number })
    }

    /// The name of the file in words.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Numbers what a column names, by the rows' order; twice the same is an error.
    pub fn names(&self, column: usize) -> Result<NameColumn<'_>, TableError> {
        let mut names =
            NameColumn { list: Vec::with_capacity(self.row_count()), numbers: HashMap::new() };
        for (number, row) in (0u32..).zip(self.rows()) {
            let name = row.text(column)?;
            if let Some(first) = names.numbers.insert(name, number) {
                let line = self.rows.line(first as usize + 1);
                return Err(row.wrong(column, format_args!("is already on line {line}")));
            }
            names.list.push(name);
        }
        Ok(names)
    }

    fn column_name(&self, column: usize) -> &'static str {
        let optional = column.checked_sub(self.columns.required.len());
        optional.map_or_else(|| self.columns.required[column], |i| self.columns.optional[i])
    }
}

/// The names that a column lists, and the number of each.
pub struct NameColumn<'a> {
    /// By number.
    pub list: Vec<&'a str>,
    numbers: HashMap<&'a str, u32>,
}

impl NameColumn<'_> {
    /// The number of a name.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }
}

/// Which numbers a cell may hold.
#[derive(Clone, Copy)]
pub enum NumberRange {
    /// Above 0, and finite.
    Positive,
    /// 0 or more, and finite.
    NotNegative,
    /// 0 or more, or `inf`.
    NotNegativeOrInfinite,
}

impl NumberRange {
    fn holds(self, value: f64) -> bool {
        match self {
            NumberRange::Positive => value > 0.0 && value.is_finite(),
            NumberRange::NotNegative => value >= 0.0 && value.is_finite(),
            NumberRange::NotNegativeOrInfinite => value >= 0.0,
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            NumberRange::Positive => "a number above 0",
            NumberRange::NotNegative => "a number of 0 or more",
            NumberRange::NotNegativeOrInfinite => "a number of 0 or more, nor `inf`",
        }
    }
}

/// One row of a table.
#[derive(Clone, Copy)]
pub struct TableRow<'a> {
    table: &'a DataTable,
    number: usize,
}

impl<'a> TableRow<'a> {
    /// The text of a cell, which must not be empty.
    pub fn text(self, column: usize) -> Result<&'a str, TableError> {
        self.cell(column).ok_or_else(|| self.wrong(column, "is empty"))
    }

    /// The number in a cell.
    pub fn number(self, column: usize, range: NumberRange) -> Result<f64, TableError> {
        let text = self.text(column)?;
        let number = text.parse().ok().filter(|value| range.holds(*value));
        number.ok_or_else(|| self.wrong(column, format_args!("is not {}", range.in_words())))
    }

    /// The number in a cell; `None` where it is empty or the file has no such column.
    pub fn optional_number(
        self,
        column: usize,
        range: NumberRange,
    ) -> Result<Option<f64>, TableError> {
        self.cell(column).map(|_| self.number(column, range)).transpose()
    }

    /// Yes or no.
    pub fn flag(self, column: usize) -> Result<bool, TableError> {
        match self.text(column)?.to_ascii_lowercase().as_str() {
            "1" | "true" => Ok(true),
            "0" | "false" => Ok(false),
            _ => Err(self.wrong(column, "is none of 0, 1, true and false")),
        }
    }

    /// An error that names the place and quotes what stands there.
    pub fn wrong(self, column: usize, what: impl Display) -> TableError {
        let (file, line) = (&self.table.file, self.table.rows.line(self.number));
        let (name, cell) = (self.table.column_name(column), self.cell(column).unwrap_or_default());
        let cell = shortened(cell);
        TableError::new(format!("{file}, line {line}, column {name}: `{cell}` {what}"))
    }

    fn cell(self, column: usize) -> Option<&'a str> {
        let place = self.table.places.get(column).copied().flatten()?;
        Some(self.table.rows.cell(self.number, place)).filter(|cell| !cell.is_empty())
    }
}

/// Checks the header and finds each column in it.
fn places(file: &str, rows: &CsvRows, columns: &Columns) -> Result<Vec<Option<usize>>, TableError> {
    let line = rows.line(0);
    let header: Vec<&str> = rows.cells(0).collect();
    let known = || columns.required.iter().chain(columns.optional);
    let any = columns.unused.contains(&"*") && columns.required.iter().all(|c| header.contains(c));
    for (place, name) in header.iter().enumerate() {
        let shown = shortened(name);
        if !any && !known().chain(columns.unused).any(|known| known == name) {
            let expected = known().copied().collect::<Vec<_>>().join(", ");
            return Err(TableError::new(format!(
                "{file}, line {line}, column {}: no column is called `{shown}`; expected {expected}",
                place + 1
            )));
        }
        if header[..place].contains(name) {
            return Err(TableError::new(format!(
                "{file}, line {line}: column {shown} stands twice"
            )));
        }
    }
    let place = |name: &&str| header.iter().position(|cell| cell == name);
    if let Some(name) = columns.required.iter().find(|name| place(name).is_none()) {
        return Err(TableError::new(format!("{file}, line {line}: column {name} is missing")));
    }
    Ok(known().map(place).collect())
}

fn unpacked(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = BufReader::new(File::open(path)?);
    if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file).take(LARGEST).read_to_end(&mut bytes)?;
    } else {
        file.take(LARGEST).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The file as text, without a byte order mark.
fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, TableError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        TableError::new(format!("{file}, line {line}: not UTF-8 text"))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Enough of a cell to know it by, safe to show.
fn shortened(cell: &str) -> String {
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let short: String = cell.chars().take(60).map(visible).collect();
    let dots = if cell.chars().nth(60).is_some() { "…" } else { "" };
    short + dots
}

#[cfg(test)]
mod tests {
    use super::*;

    static COLUMNS: Columns =
        Columns { required: &["page", "rate"], optional: &["cost"], unused: &["size"] };

    fn table(text: &str) -> Result<DataTable, String> {
        DataTable::read("p.csv".to_owned(), text.as_bytes(), &COLUMNS).map_err(|e| e.to_string())
    }

    #[test]
    fn columns_are_found_in_any_order() {
        for text in [
            "page,rate,cost\na,1,2\n",
            "cost,page,rate\r\n2,a,1\r\n",
            "\u{feff}page,rate,cost\na,1,2",
            "size,page,\"rate\",cost\n9,a,1,2",
        ] {
            let table = table(text).unwrap();
            let row = table.rows().next().unwrap();
            let cells = [0, 1, 2].map(|column| row.text(column).unwrap());
            assert_eq!((table.row_count(), cells), (1, ["a", "1", "2"]), "{text:?}");
        }
        let short = table("page,rate\na,\n").unwrap();
        assert!(short.has(1) && !short.has(2));
        assert!(short.rows().next().unwrap().text(1).is_err());
    }

    #[test]
    fn what_is_not_the_table_wanted_is_refused_with_its_place() {
        for (text, words) in [
            ("", "line 1, column 1: no header; expected page,rate"),
            ("\n\n", "line 1, column 1: no header"),
            ("page,rate,price\n", "line 1, column 3: no column is called `price`"),
            ("page, rate\n", "column 2: no column is called ` rate`"),
            ("page\n", "line 1: column rate is missing"),
            ("page,rate,page\n", "column page stands twice"),
        ] {
            let error = table(text).err().unwrap_or_else(|| panic!("{text:?} was taken"));
            assert!(
                error.contains(words) && error.starts_with("p.csv, line "),
                "{text:?}: {error}"
            );
        }
        let bytes = b"page,rate\n\xff,1\n";
        let error = DataTable::read("p.csv".to_owned(), bytes, &COLUMNS).err().unwrap().to_string();
        assert!(error.contains("p.csv, line 2: not UTF-8"), "{error}");
    }

    #[test]
    fn numbers_are_what_they_must_be() {
        let number = |cell: &str, range| {
            let table = table(&format!("page,rate\na,{cell}\n")).unwrap();
            table.rows().next().unwrap().number(1, range).ok()
        };
        for bad in ["-1", "nan", "NaN", "-inf", "", "x", " 1", "1 ", "0x1", "1_0", "1.2.3"] {
            for range in [
                NumberRange::Positive,
                NumberRange::NotNegative,
                NumberRange::NotNegativeOrInfinite,
            ] {
                assert_eq!(number(bad, range), None, "{bad:?}");
            }
        }
        assert_eq!(number("0", NumberRange::Positive), None);
        assert_eq!(number("inf", NumberRange::NotNegative), None);
        assert_eq!(number("1e400", NumberRange::NotNegative), None);
        assert_eq!(number("0", NumberRange::NotNegative), Some(0.0));
        assert_eq!(number("1e-3", NumberRange::Positive), Some(1e-3));
        assert_eq!(number("inf", NumberRange::NotNegativeOrInfinite), Some(f64::INFINITY));
    }

    #[test]
    fn a_name_may_be_listed_once() {
        let twice = table("page,rate\na,1\nb,1\na,2\n").unwrap();
        let error = twice.names(0).err().unwrap().to_string();
        assert_eq!(error, "p.csv, line 4, column page: `a` is already on line 2");
    }
}
