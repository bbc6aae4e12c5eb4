//! Which bytes record an exchange?
//!
//! The response (or revisit) record first, then the request and the metadata, each one gzip member
//! of its own, so that any can be read without the others. This is the archive's whole CPU cost,
//! and it needs no writer: every thread has an [`Encoder`].

use data_encoding::BASE32;
use libdeflater::{CompressionLvl, Compressor};

use crate::cdx::Entry;
use crate::error::WriteError;
use crate::exchange::{Exchange, Kind, Original, Truncated};
use crate::head;
use crate::payload::Payload;
use crate::read::Record;
use crate::warc::{Fields, FileId, Uuid, printable_uri, warc_fields};

/// The gzip level that pays: on documentation pages of 30 kB, level 6 takes twice the CPU time
/// of level 1 for files smaller by 6 % (`examples/levels.rs`).
pub const DEFAULT_LEVEL: u8 = 1;

/// Records of fewer bytes are put into their gzip members as they are: to set up the packer costs more
/// than all else that is done with them, and requests and 304s would become smaller by two fifths only.
const SHORT: usize = 1024;

/// Memory for packed records beyond this is given back after use.
const KEEP: usize = 4 << 20;

const SAME_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// The records of one exchange, ready to be appended.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// All members, the response's first.
    pub(crate) bytes: Vec<u8>,
    /// Length of the response's member.
    pub(crate) response: u32,
    /// The index line up to where the place in the file belongs; a 304 has none.
    pub(crate) cdx: Option<String>,
    /// The file that the records name.
    pub(crate) file: FileId,
}

impl Encoded {
    /// The compressed size of all its records.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// Turns exchanges into WARC records; reuses its memory from one to the next.
pub struct Encoder {
    packer: Packer,
    /// The fields that all records of the exchange have.
    common: Vec<u8>,
    record: Vec<u8>,
    /// Payloads that came without room before them.
    payload: Payload,
}

/// Makes gzip members of records.
struct Packer {
    gzip: Compressor,
    /// For records that are too short to be worth packing.
    wrap: Compressor,
    member: Vec<u8>,
}

impl Encoder {
    /// An encoder at gzip `level`, 1 (fast) to 12 (small).
    pub fn new(level: u8) -> Self {
        let at = |level| Compressor::new(CompressionLvl::new(level).unwrap_or_default());
        let packer =
            Packer { gzip: at(level.clamp(1, 12).into()), wrap: at(0), member: Vec::new() };
        let [common, record] = [const { Vec::new() }; 2];
        Encoder { packer, common, record, payload: Payload::default() }
    }

    /// Encodes an exchange for `file`, the one that the writer names as current.
    ///
    /// `id` is new and random; the identities of all the records derive from it.
    pub fn encode(
        &mut self,
        exchange: &Exchange,
        kind: Kind,
        id: [u8; 16],
        file: FileId,
    ) -> Result<Encoded, WriteError> {
        let mut payload = std::mem::take(&mut self.payload);
        payload.gather([exchange.payload].into_iter());
        let encoded = self.encode_in_place(exchange, &mut payload, kind, id, file);
        payload.clear();
        self.payload = payload;
        encoded
    }

    /// The same where the payload lies in memory that has room before it, and need not be copied: that
    /// of `exchange` is not looked at.
    pub fn encode_in_place(
        &mut self,
        exchange: &Exchange,
        payload: &mut Payload,
        kind: Kind,
        id: [u8; 16],
        file: FileId,
    ) -> Result<Encoded, WriteError> {
        let id = Uuid::random(id);
        let uri = printable_uri(exchange.uri);
        let length = payload.as_bytes().len();
        let head =
            head::stored(exchange.head, (!matches!(kind, Kind::NotModified(_))).then_some(length));

        self.common.clear();
        common(Fields::on(&mut self.common), exchange, file);
        let mut bytes = Vec::with_capacity(length / 3 + 2048);
        self.response(exchange, length, kind, id, &head);
        let response = match kind {
            Kind::Response => {
                let packer = &mut self.packer;
                payload.with_heads(&self.record, |record| packer.pack_into(record, &mut bytes))?
            }
            _ => self.packer.pack_into(&self.record, &mut bytes)?,
        };
        if !exchange.request.is_empty() {
            self.request(exchange, id);
            self.packer.pack_into(&self.record, &mut bytes)?;
        }
        if !exchange.metadata.is_empty() {
            self.metadata(exchange, id);
            self.packer.pack_into(&self.record, &mut bytes)?;
        }
        self.packer.shrink();
        let digest = BASE32.encode(&exchange.payload_digest);
        let is_revisit = kind != Kind::Response;
        let date = exchange.date;
        let truncated = exchange.truncated.map(Truncated::word);
        let entry = Entry { uri: &uri, date, digest: &digest, head: &head, is_revisit, truncated };
        let cdx = entry.start();
        Ok(Encoded { bytes, response, cdx, file })
    }

    /// Encodes a `warcinfo` record, the first of every file.
    pub(crate) fn warcinfo<'a>(
        &mut self,
        name: &str,
        date: &str,
        file: FileId,
        fields: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Vec<u8>, WriteError> {
        let mut header = Fields::start(&mut self.record, "warcinfo");
        header.id("WARC-Record-ID", file.warcinfo);
        header.plain("WARC-Date", date);
        header.text("WARC-Filename", name);
        header.plain("Content-Type", "application/warc-fields");
        header.digested_block(&warc_fields(fields));
        let mut bytes = Vec::new();
        self.packer.pack_into(&self.record, &mut bytes)?;
        Ok(bytes)
    }

    /// Encodes a `warcinfo` record again, for a file of another name. It keeps its identity, which
    /// the records of the file refer to.
    pub(crate) fn warcinfo_again(
        &mut self,
        info: &Record,
        name: &str,
    ) -> Result<Vec<u8>, WriteError> {
        let mut header = Fields::start(&mut self.record, "warcinfo");
        let ours = ["WARC-Type", "WARC-Filename", "WARC-Block-Digest", "Content-Length"];
        for (field, value) in info.headers() {
            if !ours.iter().any(|ours| field.eq_ignore_ascii_case(ours)) {
                header.text(field, value);
            }
        }
        header.text("WARC-Filename", name);
        header.digested_block(info.block());
        let mut bytes = Vec::new();
        self.packer.pack_into(&self.record, &mut bytes)?;
        Ok(bytes)
    }

    /// All of a revisit; of a response what comes before its payload of `length` bytes.
    fn response(&mut self, x: &Exchange, length: usize, kind: Kind, id: Uuid, head: &[u8]) {
        let word = if kind == Kind::Response { "response" } else { "revisit" };
        let mut fields = Fields::start(&mut self.record, word);
        fields.id("WARC-Record-ID", id);
        fields.lines(&self.common);
        fields.digest("WARC-Payload-Digest", &x.payload_digest);
        if let Some(truncated) = x.truncated {
            fields.plain("WARC-Truncated", truncated.word());
        }
        if let Some(media_type) = x.identified_type {
            fields.text("WARC-Identified-Payload-Type", media_type);
        }
        fields.text("Content-Type", "application/http; msgtype=response");
        match kind {
            // With the payload's own digest, and gzip's sum over all of the record, a second pass over
            // the payload would tell nothing new.
            Kind::Response => return fields.block_begun(head, length),
            Kind::SamePayload(original) => refer(&mut fields, SAME_PAYLOAD, original),
            Kind::NotModified(original) => refer(&mut fields, NOT_MODIFIED, original),
        }
        fields.digested_block(head);
    }

    fn request(&mut self, x: &Exchange, id: Uuid) {
        let mut fields = Fields::start(&mut self.record, "request");
        fields.id("WARC-Record-ID", id.sibling(1));
        fields.lines(&self.common);
        fields.id("WARC-Concurrent-To", id);
        fields.text("Content-Type", "application/http; msgtype=request");
        fields.digested_block(x.request);
    }

    fn metadata(&mut self, x: &Exchange, id: Uuid) {
        let mut fields = Fields::start(&mut self.record, "metadata");
        fields.id("WARC-Record-ID", id.sibling(2));
        fields.lines(&self.common);
        fields.id("WARC-Concurrent-To", id);
        fields.text("Content-Type", "application/warc-fields");
        fields.digested_block(&warc_fields(x.metadata.iter().copied()));
    }
}

impl Packer {
    /// Packs a record as one gzip member at the end of `out`.
    fn pack_into(&mut self, record: &[u8], out: &mut Vec<u8>) -> Result<u32, WriteError> {
        let gzip = if record.len() < SHORT { &mut self.wrap } else { &mut self.gzip };
        let most = gzip.gzip_compress_bound(record.len());
        if self.member.len() < most {
            // Anew: what was in it need not be copied.
            self.member = vec![0; most];
        }
        let too_large = |bytes| WriteError::TooLarge { bytes };
        let packed = gzip.gzip_compress(record, &mut self.member);
        let length = packed.map_err(|_| too_large(record.len()))?;
        out.extend_from_slice(&self.member[..length]);
        u32::try_from(length).map_err(|_| too_large(length))
    }

    /// One huge page must not keep its memory for the rest of the crawl.
    fn shrink(&mut self) {
        if self.member.capacity() > KEEP {
            self.member = Vec::new();
        }
    }
}

/// Writes the fields that are the same in every record of an exchange.
fn common(mut fields: Fields, x: &Exchange, file: FileId) {
    fields.id("WARC-Warcinfo-ID", file.warcinfo);
    fields.text("WARC-Date", &x.date.rfc3339());
    fields.uri("WARC-Target-URI", x.uri);
    if let Some(ip) = x.ip {
        fields.plain("WARC-IP-Address", ip);
    }
    fields.text("WARC-Protocol", x.protocol);
    if let Some(tls) = x.tls {
        fields.text("WARC-Protocol", tls.version);
        fields.text("WARC-Cipher-Suite", tls.cipher);
    }
}

/// Says where the payload of a revisit is; the record itself has none.
fn refer(fields: &mut Fields, profile: &str, original: Original) {
    fields.plain("WARC-Profile", profile);
    fields.uri("WARC-Refers-To-Target-URI", original.uri);
    fields.plain("WARC-Refers-To-Date", original.date.rfc3339());
}
