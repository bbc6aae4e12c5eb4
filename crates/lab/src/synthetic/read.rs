//! What does a TOML file say, and where exactly does it say nonsense?
//!
//! Every complaint names line and column, says in words what may stand there, and a key that does
//! not exist is answered with the one that was probably meant.

use std::ops::Range as Bytes;

use toml::de::{DeTable, DeValue};

use crate::Malformed;

/// A file and its name, for complaints.
#[derive(Clone, Copy)]
pub(super) struct SpecText<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl SpecText<'_> {
    /// The tables and values of the file.
    pub(super) fn parse(&self) -> Result<toml::Spanned<DeTable<'_>>, Malformed> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.wrong(at, error.message().lines().collect::<Vec<_>>().join("; "))
        })
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> Malformed {
        Malformed::at(self.file, self.text, at, message)
    }
}

/// Which numbers may stand somewhere.
#[derive(Clone, Copy)]
pub(super) struct AllowedRange {
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) words: &'static str,
}

impl AllowedRange {
    pub(super) const fn new(least: f64, most: f64, words: &'static str) -> Self {
        AllowedRange { least, most, words }
    }
}

/// A part of everything.
pub(super) const SHARE: AllowedRange = AllowedRange::new(0.0, 1.0, "a share from 0 to 1");

/// A table whose keys are all known.
#[derive(Clone, Copy)]
pub(super) struct SpecSection<'a> {
    source: SpecText<'a>,
    table: &'a DeTable<'a>,
    start: usize,
}

impl<'a> SpecSection<'a> {
    /// Takes a table none of whose keys is missing from `keys`.
    pub(super) fn new(
        source: SpecText<'a>,
        table: &'a DeTable<'a>,
        start: usize,
        keys: &[&str],
    ) -> Result<Self, Malformed> {
        match table.keys().find(|key| !keys.contains(&key.get_ref().as_ref())) {
            Some(key) => {
                let message = unknown(key.get_ref(), keys);
                Err(source.wrong(key.span().start, message))
            }
            None => Ok(SpecSection { source, table, start }),
        }
    }

    /// Whether the key is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The number at `key`, or `default`.
    pub(super) fn number(
        &self,
        key: &str,
        range: AllowedRange,
        default: f64,
    ) -> Result<f64, Malformed> {
        Ok(self.maybe_number(key, range)?.unwrap_or(default))
    }

    /// The number at `key`, if any.
    pub(super) fn maybe_number(
        &self,
        key: &str,
        range: AllowedRange,
    ) -> Result<Option<f64>, Malformed> {
        self.value(key).map(|value| self.as_number(key, value, range)).transpose()
    }

    /// The whole number at `key`, or `default`.
    pub(super) fn count(
        &self,
        key: &str,
        range: AllowedRange,
        default: u32,
    ) -> Result<u32, Malformed> {
        let number = self.number(key, range, default.into())?;
        if number.fract() != 0.0 {
            return Err(self.wrong(key, format!("`{key}` must be {}", range.words)));
        }
        Ok(number as u32)
    }

    /// True or false; false by default.
    pub(super) fn flag(&self, key: &str) -> Result<bool, Malformed> {
        let Some(value) = self.value(key) else { return Ok(false) };
        let wrong = || self.wrong(key, format!("`{key}` must be true or false"));
        value.get_ref().as_bool().ok_or_else(wrong)
    }

    /// The text at `key`, if any.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, Malformed> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let wrong = || self.wrong(key, format!("`{key}` must be a text in quotes"));
        value.get_ref().as_str().map(Some).ok_or_else(wrong)
    }

    /// The numbers at `key`, if any; exactly `count` of them, if given.
    pub(super) fn list(
        &self,
        key: &str,
        range: AllowedRange,
        count: Option<usize>,
    ) -> Result<Option<Vec<f64>>, Malformed> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let array = value.get_ref().as_array().filter(|array| !array.is_empty());
        let wrong = || self.wrong(key, format!("`{key}` must be a list, as in [1, 2, 3]"));
        let array = array.ok_or_else(wrong)?;
        if count.is_some_and(|count| count != array.len()) {
            let (count, is) = (count.unwrap_or_default(), array.len());
            return Err(self.wrong(key, format!("`{key}` must have {count} numbers, not {is}")));
        }
        array
            .iter()
            .map(|value| self.as_number(key, value, range))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// The table at `key`, if any.
    pub(super) fn section(&self, key: &str, keys: &[&str]) -> Result<Option<Self>, Malformed> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let wrong = || self.wrong(key, format!("`{key}` must be a table: {}", example(keys)));
        let table = value.get_ref().as_table().ok_or_else(wrong)?;
        SpecSection::new(self.source, table, value.span().start, keys).map(Some)
    }

    /// The tables at `key`: `[[key]]`, any number of times.
    pub(super) fn sections(&self, key: &str, keys: &[&str]) -> Result<Vec<Self>, Malformed> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let wrong = || self.wrong(key, format!("write [[{key}]] in double brackets"));
        let array = value.get_ref().as_array().ok_or_else(wrong)?;
        let section = |value: &'a toml::Spanned<DeValue<'a>>| {
            let table = value.get_ref().as_table().ok_or_else(wrong)?;
            SpecSection::new(self.source, table, value.span().start, keys)
        };
        array.iter().map(section).collect()
    }

    /// Something is wrong with what stands at `key`, or with the table that lacks it.
    pub(super) fn wrong(&self, key: &str, message: impl Into<String>) -> Malformed {
        let at = self.value(key).map_or(self.start, |value| value.span().start);
        self.source.wrong(at, message)
    }

    /// True where a plain number stands at `key`.
    pub(super) fn is_number(&self, key: &str) -> bool {
        self.value(key).is_some_and(|v| v.get_ref().is_integer() || v.get_ref().is_float())
    }

    fn value(&self, key: &str) -> Option<&'a toml::Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    fn as_number(
        &self,
        key: &str,
        value: &toml::Spanned<DeValue<'_>>,
        range: AllowedRange,
    ) -> Result<f64, Malformed> {
        let number: Option<f64> = match value.get_ref() {
            DeValue::Integer(n) => {
                i64::from_str_radix(n.as_str(), n.radix()).ok().map(|n| n as f64)
            }
            DeValue::Float(x) => x.as_str().parse().ok(),
            _ => None,
        };
        let fits = number.filter(|n| (range.least..=range.most).contains(n));
        let at: Bytes<usize> = value.span();
        let shown = self.source.text.get(at.clone()).unwrap_or_default();
        let message = || format!("`{key}` must be {}, not {shown}", range.words);
        fits.ok_or_else(|| self.source.wrong(at.start, message()))
    }
}

fn unknown(key: &str, keys: &[&str]) -> String {
    let near = |name: &&&str| strsim::jaro_winkler(key, name);
    let best = keys.iter().max_by(|a, b| near(a).total_cmp(&near(b)));
    match best.filter(|name| near(name) > 0.8) {
        Some(name) => format!("`{key}` is no key here; did you mean `{name}`?"),
        None => format!("`{key}` is no key here; there are {}", keys.join(", ")),
    }
}

fn example(keys: &[&str]) -> String {
    let some: Vec<String> = keys.iter().take(2).map(|key| format!("{key} = ..")).collect();
    format!("{{ {} }}", some.join(", "))
}
