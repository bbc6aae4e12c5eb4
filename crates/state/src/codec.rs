//! How are rows written? Variable-length numbers and length-prefixed bytes after a format byte.

use evercrawl_model::{HostKey, PageKey, Time};

use crate::StateError;

/// Writes the fields of a row, one after another.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Begins a row of format `format`.
    pub(crate) fn new(format: u8) -> Self {
        let mut out = Vec::with_capacity(96);
        out.push(format);
        Writer(out)
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    pub(crate) fn fixed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.fixed(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn time(&mut self, time: Time) {
        self.number(time.millis());
    }

    pub(crate) fn page(&mut self, page: PageKey) {
        self.fixed(&page.to_bytes());
    }

    pub(crate) fn float(&mut self, value: f32) {
        self.fixed(&value.to_le_bytes());
    }

    /// A flag byte, then the value where there is one.
    pub(crate) fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// Reads the fields of a row, in the order they were written.
pub(crate) struct Reader<'a>(&'a [u8]);

type Read<T> = Result<T, StateError>;

impl<'a> Reader<'a> {
    /// Begins to read fields that no format byte comes before.
    pub(crate) fn of(fields: &'a [u8]) -> Self {
        Reader(fields)
    }

    /// Begins to read a row that must be of format `format`.
    pub(crate) fn new(row: &'a [u8], format: u8) -> Read<Self> {
        let mut reader = Reader(row);
        let found = reader.byte()?;
        if found != format {
            return Err(StateError::Corrupt(format!("row of format {found}, not {format}")));
        }
        Ok(reader)
    }

    /// Begins to read a row of any format up to `latest`, and says which.
    pub(crate) fn up_to(row: &'a [u8], latest: u8) -> Read<(Self, u8)> {
        let mut reader = Reader(row);
        match reader.byte()? {
            format if (1..=latest).contains(&format) => Ok((reader, format)),
            found => Err(StateError::Corrupt(format!("row of format {found}, not {latest}"))),
        }
    }

    /// True when nothing is left to read.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn fixed(&mut self, len: usize) -> Read<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len).ok_or_else(short)?;
        self.0 = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.fixed(N)?.try_into().map_err(|_| short())
    }

    pub(crate) fn byte(&mut self) -> Read<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn number(&mut self) -> Read<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(StateError::Corrupt("number without end".into()))
    }

    /// A number that must fit `T`.
    pub(crate) fn small<T: TryFrom<u64>>(&mut self) -> Read<T> {
        let value = self.number()?;
        T::try_from(value).map_err(|_| StateError::Corrupt(format!("{value} is out of range")))
    }

    pub(crate) fn bytes(&mut self) -> Read<&'a [u8]> {
        let len = self.small()?;
        self.fixed(len)
    }

    pub(crate) fn text(&mut self) -> Read<&'a str> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| StateError::Corrupt("text is not UTF-8".into()))
    }

    pub(crate) fn time(&mut self) -> Read<Time> {
        Ok(Time::from_millis(self.number()?))
    }

    pub(crate) fn page(&mut self) -> Read<PageKey> {
        PageKey::from_bytes(self.fixed(PageKey::LEN)?).ok_or_else(short)
    }

    pub(crate) fn host(&mut self) -> Read<HostKey> {
        HostKey::from_bytes(self.fixed(HostKey::LEN)?).ok_or_else(short)
    }

    pub(crate) fn float(&mut self) -> Read<f32> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    pub(crate) fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.byte()? == 0 { Ok(None) } else { read(self).map(Some) }
    }

    /// Turns a stored number into a value, or says that the row is corrupt.
    pub(crate) fn code<T>(&mut self, from: impl FnOnce(u8) -> Option<T>) -> Read<T> {
        let n = self.byte()?;
        from(n).ok_or_else(|| StateError::Corrupt(format!("unknown code {n}")))
    }
}

fn short() -> StateError {
    StateError::Corrupt("row ends too early".into())
}
