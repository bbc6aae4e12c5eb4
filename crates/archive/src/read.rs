//! How is a record read back?
//!
//! A record is one gzip member. It unpacks into memory, never beyond the caller's cap.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use crate::error::{Damaged, ReadError};
use crate::head;
use crate::segments::{SegmentId, SegmentReader, SegmentStore, is_of_the_store};

/// A record in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    headers: Vec<(String, String)>,
    block: Vec<u8>,
    /// Where the payload begins; zero where there is no HTTP head.
    payload_at: usize,
}

impl Record {
    /// The value of a WARC header field; the first where there are several.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All WARC header fields in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The whole content block.
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// The HTTP head, blank line included; empty where there is none.
    pub fn http_head(&self) -> &[u8] {
        &self.block[..self.payload_at]
    }

    /// The values of an HTTP header in their order. Bytes that are no UTF-8 are percent-encoded, as browsers read
    /// addresses.
    pub fn http_headers(&self, name: &str) -> impl Iterator<Item = String> {
        let lines = self.http_head().split(|&byte| byte == b'\n').skip(1);
        lines.filter_map(move |line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            let (field, value) = (&line[..colon], &line[colon + 1..]);
            let is_named = field.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            is_named.then(|| head::text_of_value(value.trim_ascii()))
        })
    }

    /// What follows the HTTP head: the stored body.
    pub fn payload(&self) -> &[u8] {
        &self.block[self.payload_at..]
    }

    /// Roughly the memory that it takes.
    pub(crate) fn size(&self) -> usize {
        let headers = self.headers().map(|(name, value)| name.len() + value.len() + 64);
        self.block.len() + headers.sum::<usize>() + 128
    }

    /// Reads the record that `bytes` begin with, packed, and says how many of them it takes; it may unpack to
    /// `cap` bytes.
    pub(crate) fn unpack(bytes: &[u8], cap: usize) -> Result<(Self, usize), ReadError> {
        let mut rest = bytes;
        let record = Record::parse(unpack(&mut rest, cap)?)?;
        Ok((record, bytes.len() - rest.len()))
    }

    /// Reads an unpacked record.
    pub(crate) fn parse(mut bytes: Vec<u8>) -> Result<Self, ReadError> {
        if !bytes.starts_with(b"WARC/1.") {
            return Err(ReadError::Broken("it does not begin with WARC/1"));
        }
        let (header, rest) = head::split(&bytes);
        let (headers, block_at) = (parse_headers(header), header.len());
        let mut record = Record { headers, block: Vec::new(), payload_at: 0 };
        let length = record.header("Content-Length").and_then(|value| value.parse().ok());
        let length: usize = length.ok_or(ReadError::Broken("it has no Content-Length"))?;
        if rest.get(length..) != Some(b"\r\n\r\n") {
            return Err(ReadError::Broken("its block does not end where its length says"));
        }
        bytes.truncate(block_at + length);
        bytes.drain(..block_at);
        let media_type = record.header("Content-Type");
        if media_type.is_some_and(|value| value.starts_with("application/http")) {
            record.payload_at = head::split(&bytes).0.len();
        }
        record.block = bytes;
        Ok(record)
    }
}

/// Reads the record that takes `length` bytes at `offset` of a WARC file; it may unpack to `cap` bytes.
pub fn read_record(
    segments: &dyn SegmentStore,
    warc: &SegmentId,
    offset: u64,
    length: u32,
    cap: usize,
) -> Result<Record, ReadError> {
    let mut member = SegmentReader::range(segments, warc.clone(), offset, length.into());
    let record = Record::parse(unpack(&mut member, cap)?)?;
    match member.limit() {
        0 => Ok(record),
        _ => Err(ReadError::Broken("it is shorter than its index entry says")),
    }
}

/// A record with its place in the file.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// Where its member begins.
    pub offset: u64,
    /// How long its member is.
    pub length: u64,
    /// The record.
    pub record: Record,
}

/// All records of a file, one in memory at a time. What cannot be read is an item, too; the scan
/// continues where the next record begins.
pub struct Scan<'a> {
    input: SegmentReader<'a>,
    cap: usize,
    is_over: bool,
}

impl<'a> Scan<'a> {
    /// Walks the WARC file `warc`; a record may unpack to `cap` bytes.
    pub fn open(
        segments: &'a dyn SegmentStore,
        warc: &SegmentId,
        cap: usize,
    ) -> Result<Self, ReadError> {
        let mut input = SegmentReader::new(segments, warc.clone());
        input.fill_buf()?;
        Ok(Scan { input, cap, is_over: false })
    }

    fn read_next(&mut self) -> Result<Option<Scanned>, ReadError> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let offset = self.input.offset();
        let record = Record::parse(unpack(&mut self.input, self.cap)?)?;
        Ok(Some(Scanned { offset, length: self.input.offset() - offset, record }))
    }

    /// Goes to the next place from `offset` on at which a record can be read.
    fn resume(&mut self, mut offset: u64) -> io::Result<()> {
        while let Some(member) = self.find_member(offset)? {
            self.input.go_to(member);
            if matches!(self.read_next(), Ok(Some(_)) | Err(ReadError::TooLarge { .. })) {
                self.input.go_to(member);
                return Ok(());
            }
            offset = member + 1;
        }
        self.is_over = true;
        Ok(())
    }

    /// The first place from `offset` on that looks like the beginning of a gzip member.
    fn find_member(&mut self, offset: u64) -> io::Result<Option<u64>> {
        self.input.go_to(offset);
        let mut matched = 0;
        while let Some(&byte) = self.input.fill_buf()?.first() {
            self.input.consume(1);
            matched = match byte {
                byte if byte == MEMBER[matched] => matched + 1,
                byte => usize::from(byte == MEMBER[0]),
            };
            if matched == MEMBER.len() {
                return Ok(Some(self.input.offset() - MEMBER.len() as u64));
            }
        }
        Ok(None)
    }
}

/// What a gzip member with packed content begins with.
const MEMBER: [u8; 3] = [0x1f, 0x8b, 0x08];

impl Iterator for Scan<'_> {
    type Item = Result<Scanned, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let offset = self.input.offset();
        match self.read_next() {
            Ok(next) => next.map(Ok),
            Err(error) => {
                // A disk that cannot be read is not asked again and again.
                let disk = matches!(&error, ReadError::Io(io) if is_of_the_store(io));
                self.is_over = disk || self.resume(offset + 1).is_err() || self.is_over;
                Some(Err(Damaged { offset, error }))
            }
        }
    }
}

/// Reads the record that `input` stands at, packed; it then stands right behind it. The record may unpack to `cap`
/// bytes.
pub fn read_member(input: &mut impl BufRead, cap: usize) -> Result<Record, ReadError> {
    Record::parse(unpack(input, cap)?)
}

/// Unpacks one gzip member; `input` then stands right behind it.
fn unpack(input: &mut impl BufRead, cap: usize) -> Result<Vec<u8>, ReadError> {
    let limit = u64::try_from(cap).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    GzDecoder::new(input).take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > cap {
        return Err(ReadError::TooLarge { cap });
    }
    Ok(bytes)
}

/// The fields below the version line; a line that begins with white space continues the last.
fn parse_headers(header: &[u8]) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in String::from_utf8_lossy(header).lines().skip(1) {
        let continued = line.starts_with([' ', '\t']);
        if let (true, Some((_, value))) = (continued, fields.last_mut()) {
            value.push(' ');
            value.push_str(line.trim());
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Record, ReadError> {
        Record::parse(text.as_bytes().to_vec())
    }

    #[test]
    fn a_record_divides_into_header_head_and_payload() {
        let record = parse(
            "WARC/1.0\r\nWARC-Type: response\r\nX: a\r\n  b\r\nContent-Type: application/http\r\n\
             Content-Length: 26\r\n\r\nHTTP/1.1 200 OK\r\n\r\nab\r\n\r\nc\r\n\r\n",
        )
        .unwrap();
        assert_eq!(record.header("warc-type"), Some("response"));
        assert_eq!(record.header("X"), Some("a b"));
        assert_eq!(record.http_head(), b"HTTP/1.1 200 OK\r\n\r\n");
        let head =
            b"HTTP/1.1 302 A:B\r\nlocation : /caf\xe9 \r\nX: y\r\nLocation:/z\xc3\xa9\r\n\r\n";
        let (headers, payload_at) = (Vec::new(), head.len());
        let moved = Record { headers, block: head.to_vec(), payload_at };
        assert_eq!(moved.http_headers("Location").collect::<Vec<_>>(), ["/caf%E9", "/z\u{e9}"]);
        assert_eq!(moved.http_headers("HTTP/1.1 302 A").count(), 0);
        assert_eq!(record.payload(), b"ab\r\n\r\nc");
        assert_eq!(record.block().len(), 26);
    }

    #[test]
    fn broken_records_are_told_from_whole_ones() {
        for (text, why) in [
            ("", "it does not begin with WARC/1"),
            ("HTTP/1.1 200 OK\r\n\r\n", "it does not begin with WARC/1"),
            ("WARC/1.1\r\n\r\nab\r\n\r\n", "it has no Content-Length"),
            ("WARC/1.1\r\nContent-Length: -2\r\n\r\nab\r\n\r\n", "it has no Content-Length"),
            (
                "WARC/1.1\r\nContent-Length: 3\r\n\r\nab\r\n\r\n",
                "its block does not end where its length says",
            ),
            (
                "WARC/1.1\r\nContent-Length: 18446744073709551615\r\n\r\nab\r\n\r\n",
                "its block does not end where its length says",
            ),
        ] {
            match parse(text) {
                Err(ReadError::Broken(got)) => assert_eq!(got, why, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
