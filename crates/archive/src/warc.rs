//! How does one WARC record look, byte for byte?
//!
//! Everything that comes from outside passes [`Fields`], which lets no value end its line: framing
//! holds whatever a server or a link says.

use std::fmt::{self, Write as _};
use std::io::Write as _;

use data_encoding::{BASE32, HEXLOWER};
use sha1::{Digest, Sha1};

use crate::payload::END;

/// A record's or a file's identity, written as `urn:uuid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// The identity made of 16 random bytes, which the caller draws.
    pub fn random(bytes: [u8; 16]) -> Self {
        Self::with_version(bytes, 4)
    }

    /// The identity that belongs to a unique name; the same name gives the same one.
    pub fn named(name: &str) -> Self {
        let digest = Sha1::new().chain_update("evercrawl:warc:").chain_update(name).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self::with_version(bytes, 5)
    }

    /// The identity number `n` of those that belong together.
    pub(crate) fn sibling(self, n: u8) -> Self {
        let mut bytes = self.0;
        bytes[15] ^= n;
        Uuid(bytes)
    }

    fn with_version(mut bytes: [u8; 16], version: u8) -> Self {
        bytes[6] = bytes[6] & 0x0f | version << 4;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Uuid(bytes)
    }
}

impl Uuid {
    fn write(self, out: &mut Vec<u8>) {
        let mut hex = [0; 32];
        HEXLOWER.encode_mut(&self.0, &mut hex);
        out.extend_from_slice(b"urn:uuid:");
        for part in [0..8, 8..12, 12..16, 16..20] {
            out.extend_from_slice(&hex[part]);
            out.push(b'-');
        }
        out.extend_from_slice(&hex[20..]);
    }
}

/// The WARC file that records are encoded for: each of them names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    /// Its serial number.
    pub serial: u32,
    /// The identity of its first record, the `warcinfo`.
    pub warcinfo: Uuid,
}

/// The header fields of a record under construction, then its block.
pub(crate) struct Fields<'a>(&'a mut Vec<u8>);

impl<'a> Fields<'a> {
    /// Adds fields to what is in `out`.
    pub(crate) fn on(out: &'a mut Vec<u8>) -> Self {
        Fields(out)
    }

    /// Starts a record of type `kind` in `out`, over what was there.
    pub(crate) fn start(out: &'a mut Vec<u8>, kind: &str) -> Self {
        out.clear();
        out.extend_from_slice(b"WARC/1.1\r\n");
        let mut fields = Fields(out);
        fields.text("WARC-Type", kind);
        fields
    }

    /// Adds fields that were written elsewhere.
    pub(crate) fn lines(&mut self, lines: &[u8]) {
        self.0.extend_from_slice(lines);
    }

    /// Adds a field; a control character in its value becomes a space.
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        let value = value.trim();
        if value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            self.0.extend_from_slice(value.as_bytes());
        } else {
            let clean = |c: char| if c.is_control() { ' ' } else { c };
            self.0.extend_from_slice(value.chars().map(clean).collect::<String>().as_bytes());
        }
        self.end();
    }

    /// Adds a field whose value formats to plain ASCII.
    pub(crate) fn plain(&mut self, name: &str, value: impl fmt::Display) {
        self.name(name);
        // Writing to memory does not fail.
        let _ = write!(self.0, "{value}");
        self.end();
    }

    /// Adds a field that holds a URI.
    pub(crate) fn uri(&mut self, name: &str, uri: &str) {
        self.name(name);
        self.0.extend_from_slice(printable_uri(uri).as_bytes());
        self.end();
    }

    /// Adds a field that holds an identity.
    pub(crate) fn id(&mut self, name: &str, id: Uuid) {
        self.name(name);
        self.0.push(b'<');
        id.write(self.0);
        self.0.push(b'>');
        self.end();
    }

    /// Adds a field that holds a SHA-1 digest.
    pub(crate) fn digest(&mut self, name: &str, digest: &[u8; 20]) {
        let mut text = [0; 32];
        BASE32.encode_mut(digest, &mut text);
        self.name(name);
        self.0.extend_from_slice(b"sha1:");
        self.0.extend_from_slice(&text);
        self.end();
    }

    /// Ends the record with its block, and the block's digest and length.
    pub(crate) fn digested_block(mut self, block: &[u8]) {
        let digest = Sha1::digest(block);
        self.digest("WARC-Block-Digest", &digest.into());
        let record = self.begin_block(block, block.len());
        record.extend_from_slice(END);
    }

    /// Begins the block of a record, whose other `more` bytes stand elsewhere, with `head`.
    pub(crate) fn block_begun(self, head: &[u8], more: usize) {
        self.begin_block(head, head.len() + more);
    }

    fn begin_block(mut self, begin: &[u8], length: usize) -> &'a mut Vec<u8> {
        self.plain("Content-Length", length);
        self.end();
        self.0.extend_from_slice(begin);
        self.0
    }

    fn name(&mut self, name: &str) {
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b": ");
    }

    fn end(&mut self) {
        self.0.extend_from_slice(b"\r\n");
    }
}

/// A block of media type `application/warc-fields`.
pub(crate) fn warc_fields<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        Fields(&mut block)
            .text(&name.replace(|c: char| !c.is_ascii_graphic() || c == ':', "-"), value);
    }
    block
}

/// The URI with every byte that is not printable ASCII percent-encoded, so that it stays one word.
pub(crate) fn printable_uri(uri: &str) -> std::borrow::Cow<'_, str> {
    if uri.bytes().all(|b| b.is_ascii_graphic()) {
        return uri.into();
    }
    let mut out = String::with_capacity(uri.len() + 16);
    for byte in uri.bytes() {
        if byte.is_ascii_graphic() {
            out.push(char::from(byte));
        } else {
            // Writing to memory does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(id: Uuid) -> String {
        let mut text = Vec::new();
        id.write(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn identities_are_uuids_of_their_kind() {
        let id = Uuid::random([0xff; 16]);
        assert_eq!(text(id), "urn:uuid:ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(text(id.sibling(1)), "urn:uuid:ffffffff-ffff-4fff-bfff-fffffffffffe");
        let named = text(Uuid::named("a"));
        assert_eq!(&named[23..24], "5");
        assert_ne!(named, text(Uuid::named("b")));
    }

    #[test]
    fn a_record_has_its_fields_its_length_and_its_end() {
        let mut out = b"rest of an earlier record".to_vec();
        let mut fields = Fields::start(&mut out, "metadata");
        fields.uri("WARC-Target-URI", "http://a/ü b\r\nWARC-Type: evil");
        fields.text("Software", "évil\r\nWARC-Type: x");
        fields.digested_block(b"abc");
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "WARC/1.1\r\nWARC-Type: metadata\r\n\
             WARC-Target-URI: http://a/%C3%BC%20b%0D%0AWARC-Type:%20evil\r\n\
             Software: évil  WARC-Type: x\r\n\
             WARC-Block-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n\
             Content-Length: 3\r\n\r\nabc\r\n\r\n"
        );
    }

    #[test]
    fn field_blocks_hold_one_line_a_field() {
        let block = warc_fields([("via", "http://a/"), ("odd name:", "x\ny")]);
        assert_eq!(block, b"via: http://a/\r\nodd-name-: x y\r\n");
    }
}
