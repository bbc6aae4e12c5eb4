//! Which records are in this WARC file, and where does each begin? The file may be broken or hostile.
//!
//! Records may be packed each as a gzip member, all as one, or not at all. Only where each is a member of its own, or
//! nothing is packed, can a record be read again by its place.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

/// Bytes of a record's header.
const LONGEST_HEADER: u64 = 64 << 10;

/// The header of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    fields: Vec<(String, String)>,
    /// Bytes of its block.
    pub(crate) length: u64,
}

impl Header {
    /// The value of a field, the first where there are several.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The address that it is about, without the brackets that some programs write.
    pub(crate) fn target(&self) -> Option<&str> {
        let target = self.field("WARC-Target-URI")?;
        Some(target.trim_start_matches('<').trim_end_matches('>'))
    }

    /// Its bytes, as they are written to another file, with a block of `length` bytes.
    fn bytes(&self, length: usize) -> Vec<u8> {
        let mut bytes = b"WARC/1.1\r\n".to_vec();
        let kept = |(name, _): &&(String, String)| !name.eq_ignore_ascii_case("Content-Length");
        for (name, value) in self.fields.iter().filter(kept) {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(format!("Content-Length: {length}\r\n\r\n").as_bytes());
        bytes
    }
}

/// Where a file is broken, and how.
#[derive(Debug)]
pub(crate) struct Broken {
    /// The byte at which the record begins that cannot be read, or its gzip member.
    pub(crate) offset: u64,
    /// What is wrong.
    pub(crate) why: String,
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The byte at which it begins, or its gzip member.
    pub(crate) offset: u64,
    /// Whether it is the first in its member, so that it can be read again by its place.
    pub(crate) is_first: bool,
}

/// Takes the records of a file in their order: where each is, its header, its block.
pub(crate) type Each<'a> = dyn FnMut(Spot, &Header, &mut dyn Read) -> io::Result<()> + 'a;

/// Hands every record to `each`, up to the first place that cannot be read. What `each` leaves of a block is passed
/// over.
pub(crate) fn read_records(input: impl BufRead, each: &mut Each<'_>) -> Result<(), Broken> {
    let mut input = Counted { input, count: 0 };
    match is_packed(&mut input).map_err(broken(0))? {
        true => read_members(&mut input, each),
        false => read_plain(&mut input, each),
    }
}

/// Whether records share a gzip member, by the first two.
pub(crate) fn shares_members(input: impl BufRead) -> bool {
    let (mut records, mut shares) = (0, false);
    // Where the file is broken is found when it is read.
    let _ = read_records(input, &mut |spot, _, _| {
        (records, shares) = (records + 1, shares || !spot.is_first);
        if records < 2 { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    });
    shares
}

fn broken(offset: u64) -> impl Fn(io::Error) -> Broken {
    move |error| {
        let why = match error.kind() {
            io::ErrorKind::UnexpectedEof => "the file ends within a record".to_owned(),
            _ => error.to_string(),
        };
        Broken { offset, why }
    }
}

fn is_packed(input: &mut impl BufRead) -> io::Result<bool> {
    Ok(input.fill_buf()?.starts_with(&[0x1f, 0x8b]))
}

fn read_members<R: BufRead>(input: &mut Counted<R>, each: &mut Each<'_>) -> Result<(), Broken> {
    loop {
        let offset = input.count;
        let fault = broken(offset);
        if input.fill_buf().map_err(&fault)?.is_empty() {
            return Ok(());
        }
        let mut member = BufReader::new(GzDecoder::new(&mut *input));
        let mut is_first = true;
        while let Some(header) = read_header(&mut member).map_err(&fault)? {
            read_block(&mut member, Spot { offset, is_first }, &header, each).map_err(&fault)?;
            is_first = false;
        }
    }
}

fn read_plain<R: BufRead>(input: &mut Counted<R>, each: &mut Each<'_>) -> Result<(), Broken> {
    loop {
        skip_blank_lines(input).map_err(broken(input.count))?;
        let offset = input.count;
        let Some(header) = read_header(input).map_err(broken(offset))? else { return Ok(()) };
        let spot = Spot { offset, is_first: true };
        read_block(input, spot, &header, each).map_err(broken(offset))?;
    }
}

fn read_block(
    input: &mut impl BufRead,
    spot: Spot,
    header: &Header,
    each: &mut Each<'_>,
) -> io::Result<()> {
    let mut block = input.take(header.length);
    each(spot, header, &mut block)?;
    io::copy(&mut block, &mut io::sink())?;
    match block.limit() {
        0 => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn skip_blank_lines(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = input.fill_buf()?;
        let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        if blank == 0 {
            return Ok(());
        }
        input.consume(blank);
    }
}

/// The header of the next record; `None` at the end.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<Header>> {
    skip_blank_lines(input)?;
    let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let mut input = input.take(LONGEST_HEADER);
    let mut line = Vec::new();
    if input.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if !line.starts_with(b"WARC/") {
        return Err(invalid("no record begins here: `WARC/` is missing"));
    }
    let mut fields: Vec<(String, String)> = Vec::new();
    loop {
        line.clear();
        input.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            let too_long = input.limit() == 0;
            return Err(if too_long {
                invalid("its header is too long")
            } else {
                io::ErrorKind::UnexpectedEof.into()
            });
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            break;
        }
        match (text.starts_with([' ', '\t']), fields.last_mut(), text.split_once(':')) {
            (true, Some((_, value)), _) => value.push_str(&format!(" {}", text.trim())),
            (_, _, Some((name, value))) => {
                fields.push((name.trim().to_owned(), value.trim().to_owned()))
            }
            _ => {}
        }
    }
    let header = Header { fields, length: 0 };
    let length = header.field("Content-Length").and_then(|value| value.parse().ok());
    let length = length.ok_or_else(|| invalid("it has no Content-Length that can be read"))?;
    Ok(Some(Header { length, ..header }))
}

/// Reads the record that `input` begins with, and up to `most` bytes of its block.
pub(crate) fn read_one(input: impl BufRead, most: u64) -> io::Result<(Header, Vec<u8>)> {
    let mut input = input;
    if is_packed(&mut input)? {
        return read_unpacked(BufReader::new(GzDecoder::new(input)), most);
    }
    read_unpacked(input, most)
}

fn read_unpacked(mut input: impl BufRead, most: u64) -> io::Result<(Header, Vec<u8>)> {
    let header = read_header(&mut input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut block = Vec::new();
    input.take(header.length.min(most)).read_to_end(&mut block)?;
    Ok((header, block))
}

/// Writes a record as a gzip member of its own.
pub(crate) fn write_member(
    header: &Header,
    block: &[u8],
    out: &mut impl io::Write,
) -> io::Result<()> {
    let mut member = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
    io::Write::write_all(&mut member, &header.bytes(block.len()))?;
    io::Write::write_all(&mut member, block)?;
    io::Write::write_all(&mut member, b"\r\n\r\n")?;
    member.finish().map(drop)
}

/// Counts the bytes that are taken.
struct Counted<R> {
    input: R,
    count: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.count += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.count += amount as u64;
        self.input.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn record(n: u32) -> Vec<u8> {
        let block = format!("block {n}");
        format!("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <http://a.test/{n}>\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
            .into_bytes()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        member.write_all(bytes).unwrap();
        member.finish().unwrap()
    }

    /// Places and blocks of all records, how they can be read, and where the file is broken.
    fn read(bytes: &[u8]) -> (Vec<(u64, String)>, bool, Option<Broken>) {
        let mut all = Vec::new();
        let mut each = |spot: Spot, header: &Header, block: &mut dyn Read| {
            assert!(header.target().is_some_and(|url| url.starts_with("http://a.test/")));
            let mut text = String::new();
            block.read_to_string(&mut text)?;
            all.push((spot.offset, text));
            Ok(())
        };
        let read = read_records(BufReader::with_capacity(50, bytes), &mut each);
        (all, shares_members(bytes), read.err())
    }

    #[test]
    fn records_are_found_in_all_three_packings_and_read_again_by_place() {
        let records: Vec<Vec<u8>> = (0..3).map(record).collect();
        let members: Vec<Vec<u8>> = records.iter().map(|record| gzip(record)).collect();
        for (file, shares) in
            [(records.concat(), false), (members.concat(), false), (gzip(&records.concat()), true)]
        {
            let (all, found, broken) = read(&file);
            assert!(broken.is_none(), "{broken:?}");
            assert_eq!(found, shares);
            let blocks: Vec<&str> = all.iter().map(|(_, block)| block.as_str()).collect();
            assert_eq!(blocks, ["block 0", "block 1", "block 2"]);
            if !shares {
                for (offset, want) in all {
                    let (_, block) = read_one(&file[offset as usize..], 1000).unwrap();
                    assert_eq!(block, want.as_bytes());
                }
            }
        }
        let (header, block) = read_one(&records[1][..], 4).unwrap();
        let mut member = Vec::new();
        write_member(&header, &block, &mut member).unwrap();
        assert!(read_one(&member[..], 100).is_ok());
    }

    #[test]
    fn what_is_broken_is_named_by_its_place_and_what_comes_before_is_read() {
        let (one, two) = (record(1), record(2));
        let cut = [&one[..], &two[..two.len() - 10]].concat();
        let packed = [gzip(&one), gzip(&two)].concat();
        let lies =
            String::from_utf8(two.clone()).unwrap().replace("Length: 7", "Length: 99999999999");
        let endless = [&b"WARC/1.0\r\nX: "[..], &[b'x'; 70_000]].concat();
        for (file, at) in [
            (cut, one.len()),
            (packed[..packed.len() - 12].to_vec(), gzip(&one).len()),
            ([&one[..], lies.as_bytes()].concat(), one.len()),
            ([&one[..], b"HTTP/1.1 200 OK\r\n\r\n"].concat(), one.len()),
            ([&one[..], &endless].concat(), one.len()),
            ([&one[..], b"WARC/1.0\r\nContent-Length: -3\r\n\r\n"].concat(), one.len()),
            ([&gzip(&one)[..], b"\x1f\x8b\x08nonsense"].concat(), gzip(&one).len()),
        ] {
            let (all, _, broken) = read(&file);
            let broken = broken.unwrap();
            assert_eq!(broken.offset, at as u64, "{broken:?}");
            assert!(!all.is_empty() && all[0].1 == "block 1");
        }
    }
}
