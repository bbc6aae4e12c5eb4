//! Which pages does a table name? Columns `url`, `tag` and `every`, named in the first line or in this order.

use std::io::{self, BufRead};

use super::LONGEST_LINE;
use crate::found::{FoundSeed, Place, Taker, span, tag_of};
use crate::lines::{Line, Lines};

/// Where the columns are.
#[derive(Clone, Copy)]
struct Columns {
    url: usize,
    tag: Option<usize>,
    every: Option<usize>,
}

/// Reads a table with commas.
pub(crate) fn read_csv(input: impl BufRead, take: &mut dyn Taker) -> io::Result<()> {
    let mut lines = Lines::new(input, LONGEST_LINE);
    let mut columns = Columns { url: 0, tag: Some(1), every: Some(2) };
    let mut is_first = true;
    while let Some((number, line)) = lines.next()? {
        let place = Place::Line(number);
        let Line::Text(text) = line else {
            take.refuse(place, "the line is too long");
            continue;
        };
        let Some(cells) = cells(text.trim_start_matches('\u{feff}')) else {
            take.refuse(place, "a quotation mark is not closed in this line");
            continue;
        };
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let named = Some(()).filter(|()| is_first).and_then(|()| header(&cells));
        is_first = false;
        match named {
            Some(named) => {
                columns = named;
                let others = cells.len()
                    - 1
                    - usize::from(named.tag.is_some())
                    - usize::from(named.every.is_some());
                if others > 0 {
                    take.refuse(place, "columns other than url, tag and every");
                }
            }
            None => read_row(place, &cells, columns, take),
        }
    }
    Ok(())
}

fn header(cells: &[String]) -> Option<Columns> {
    let find = |names: &[&str]| {
        cells
            .iter()
            .position(|cell| names.iter().any(|name| cell.trim().eq_ignore_ascii_case(name)))
    };
    let url = find(&["url"])?;
    Some(Columns { url, tag: find(&["tag", "tags"]), every: find(&["every", "interval"]) })
}

fn read_row(place: Place, cells: &[String], columns: Columns, take: &mut dyn Taker) {
    let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).map_or("", |cell| cell.trim());
    let url = cell(Some(columns.url));
    if url.is_empty() {
        return take.refuse(place, "a row without a URL");
    }
    let tags = cell(columns.tag).split([';', ' ']).filter_map(tag_of).collect();
    let every = match cell(columns.every) {
        "" => None,
        text => {
            match span(text) {
                None => {
                    take.refuse(place.clone(), "`every` is no time span such as 30m, 6h or 1d; the URL is taken without it");
                    None
                }
                every => every,
            }
        }
    };
    take.seed(place, FoundSeed { url: url.to_owned(), tags, every });
}

/// The cells of a line; `None` where a quotation is not closed.
fn cells(line: &str) -> Option<Vec<String>> {
    let mut cells = vec![String::new()];
    let (mut quoted, mut characters) = (false, line.chars().peekable());
    while let Some(c) = characters.next() {
        let cell = cells.last_mut()?;
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' if quoted || cell.is_empty() => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    (!quoted).then_some(cells)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::lists::testing::Kept;

    #[test]
    fn columns_are_found_by_name_or_place() {
        let mut kept = Kept::default();
        let text = "name,URL,every,tags\n\"A, b\",http://a.test/,6h,News; legal\nB,http://b.test/,often,\nC,,,\n\"x\n";
        read_csv(text.as_bytes(), &mut kept).unwrap();
        assert_eq!(kept.urls(), ["http://a.test/", "http://b.test/"]);
        assert_eq!(kept.seeds[0].tags, ["news", "legal"]);
        assert_eq!(kept.seeds[0].every, Some(Duration::from_secs(6 * 3600)));
        assert_eq!(kept.refused.len(), 4, "{:?}", kept.refused);
        let mut kept = Kept::default();
        read_csv(&b"http://a.test/?q=1,news,1d\nhttp://b.test/\n"[..], &mut kept).unwrap();
        assert_eq!(kept.urls(), ["http://a.test/?q=1", "http://b.test/"]);
        assert_eq!((kept.seeds[0].every.is_some(), kept.refused.len()), (true, 0));
    }
}
