//! What was a page made of at a time, and how can others check that? Its record and those of its requisites, with what
//! the crawler noted of each.

use std::collections::{HashSet, VecDeque};

use evercrawl_archive::Record;
use evercrawl_extract::charset::{decode_text, header_charset};
use evercrawl_extract::sniff::sniff;
use evercrawl_extract::{ContentKind, Extractor, HtmlOptions, LinkKind, LinkSources, read_css};
use evercrawl_model::{RecordAt, Time};
use evercrawl_query::VisitView;
use serde::Serialize;
use url::Url;

use crate::contents::{Content, Contents, place_of, place_of_capture};
use crate::error::ExportError;
use crate::wacz::Wacz;
use crate::warc::WarcCopier;

/// Requisites of a page that are looked for.
const MOST: usize = 2000;

/// What was gathered about a page.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// The page.
    pub url: String,
    /// When it was visited.
    pub time: String,
    /// Its record, then those of its requisites.
    pub records: Vec<EvidenceRecord>,
    /// Requisites that are not in the archive.
    pub missing: Vec<String>,
    #[serde(skip)]
    places: Vec<(RecordAt, String)>,
}

/// What the crawler noted of a response.
#[derive(Clone, Debug, Serialize)]
pub struct EvidenceRecord {
    /// Its URL.
    pub url: String,
    /// `page`, or `requisite`.
    pub role: &'static str,
    /// When the request was sent.
    pub time: Option<String>,
    /// The status line.
    pub status: String,
    /// The address of the server.
    pub address: Option<String>,
    /// HTTP and TLS versions.
    pub protocols: Vec<String>,
    /// The cipher suite of the connection.
    pub cipher_suite: Option<String>,
    /// The identifier of the record.
    pub record_id: Option<String>,
    /// `response`, or `revisit` for one that refers to an earlier record with the same content.
    pub record_type: String,
    /// The digest of the content.
    pub payload_digest: Option<String>,
    /// The digest of the whole record.
    pub block_digest: Option<String>,
    /// The WARC file of the crawl that the record was copied from.
    pub warc: String,
    /// Where in it.
    pub offset: u64,
    /// How long the record is there.
    pub length: u32,
}

impl Evidence {
    /// Gathers the page that `visit` saw, and what it was made of at that time.
    pub fn gather(
        url: &str,
        visit: &VisitView,
        contents: &mut Contents,
    ) -> Result<Option<Self>, ExportError> {
        let (Some(at), Some(warc)) = (place_of(visit), visit.warc.clone()) else { return Ok(None) };
        let Some(content) = contents.read_at(at, &warc)? else { return Ok(None) };
        let mut evidence = Evidence {
            url: url.to_owned(),
            time: visit.time.to_string(),
            records: Vec::new(),
            missing: Vec::new(),
            places: Vec::new(),
        };
        evidence.add("page", url, &content, at, warc);
        let mut known: HashSet<String> = HashSet::from([url.to_owned()]);
        let mut wanted: VecDeque<String> = requisites(url, &content).into();
        while let Some(next) = wanted.pop_front() {
            if known.len() >= MOST || !known.insert(next.clone()) {
                continue;
            }
            match evidence.capture(&next, visit.time.0, contents)? {
                Some(content) => wanted.extend(requisites(&next, &content)),
                None => evidence.missing.push(next),
            }
        }
        Ok(Some(evidence))
    }

    /// Adds the capture of a requisite that is nearest to a time; `None` where there is none.
    fn capture(
        &mut self,
        url: &str,
        at: Time,
        contents: &mut Contents,
    ) -> Result<Option<Content>, ExportError> {
        let Some(capture) = contents.nearest(url, at)? else { return Ok(None) };
        let Some(place) = place_of_capture(&capture) else { return Ok(None) };
        let Some(content) = contents.read_at(place, &capture.warc)? else { return Ok(None) };
        self.add("requisite", &capture.url, &content, place, capture.warc);
        Ok(Some(content))
    }

    fn add(
        &mut self,
        role: &'static str,
        url: &str,
        content: &Content,
        at: RecordAt,
        warc: String,
    ) {
        self.records.push(EvidenceRecord::new(role, url, &content.own, at, &warc));
        self.places.push((at, warc));
    }

    /// Writes all records to a package, and beside them what was noted and how to check it.
    pub fn write(&self, package: &mut Wacz, contents: &mut Contents) -> Result<(), ExportError> {
        let mut copier = WarcCopier::new(true);
        for (at, warc) in &self.places {
            let copied = copier.copy_place(contents, *at, warc)?;
            for stored in copied.records {
                package.file.write(&stored.member)?;
            }
        }
        let records = serde_json::to_vec_pretty(self).unwrap_or_default();
        package.attach("evidence/records.json", records);
        package.attach("evidence/readme.txt", self.instructions().into_bytes());
        Ok(())
    }

    /// How to check the package without the program that made it.
    fn instructions(&self) -> String {
        let page = self.records.first();
        let line = |name: &str, value: Option<&str>| match value {
            Some(value) => format!("  {name:<12} {value}\n"),
            None => format!("  {name:<12} not recorded\n"),
        };
        let mut facts = String::new();
        facts += &line("page", Some(&self.url));
        facts += &line("visited", Some(&self.time));
        facts += &line("status", page.map(|page| page.status.as_str()));
        facts += &line("address", page.and_then(|page| page.address.as_deref()));
        let protocols = page.map(|page| page.protocols.join(", ")).filter(|text| !text.is_empty());
        facts += &line("protocols", protocols.as_deref());
        facts += &line("cipher", page.and_then(|page| page.cipher_suite.as_deref()));
        facts += &line("digest", page.and_then(|page| page.payload_digest.as_deref()));
        let missing: String = self.missing.iter().map(|url| format!("  {url}\n")).collect();
        let missing = match missing.is_empty() {
            true => "Everything that the page refers to for its looks is here.\n".to_owned(),
            false => format!("Not archived, and so not here:\n{missing}"),
        };
        format!("{facts}\n{missing}\n{INSTRUCTIONS}")
    }
}

/// What everybody can do who has the package.
const INSTRUCTIONS: &str = "\
This file is part of a WACZ package: a ZIP file with WARC records. records.json, beside this file,
lists every record with the time, the server's address, the encryption and the digests that the
crawler noted.

Look at the page
  Open the package in https://replayweb.page/ (it stays on your machine), or in pywb:
    wb-manager init page && wb-manager add --unpack-wacz page PACKAGE.wacz && wayback

Check that nothing was altered since the package was made
  unzip PACKAGE.wacz -d package && cd package
  sha256sum datapackage.json           must be the hash in datapackage-digest.json
  sha256sum archive/data.warc.gz       must be the hash in datapackage.json; so for every file
  pip install wacz warcio
  wacz validate -f PACKAGE.wacz        does the same for all files
  warcio check -v archive/data.warc.gz  computes the digests of all records again

Check one digest by hand
  warcio extract --payload archive/data.warc.gz OFFSET | openssl dgst -sha1 -binary | base32
  with the OFFSET of a record in indexes/index.cdx. The result is the digest in records.json.

Check who made the package, if it is signed (signedData in datapackage-digest.json)
  python3 -c 'import json,base64,sys; s=json.load(open(\"datapackage-digest.json\"))[\"signedData\"];
  open(\"hash\",\"w\").write(s[\"hash\"]); open(\"sig\",\"wb\").write(base64.b64decode(s[\"signature\"]));
  open(\"key\",\"wb\").write(base64.b64decode(s[\"publicKey\"]))'
  openssl dgst -sha256 -verify key -keyform DER -signature sig hash
  Then compare the public key with the one that the maker published elsewhere.

What this shows, and what not
  The digests show that the package is as it was made. The signature shows who made it. Neither shows
  that the server sent this: TLS does not sign what is sent, so the records are the crawler's word.
  A second, independent capture, such as one by a public web archive at the same time, supports it.
";

impl EvidenceRecord {
    fn new(role: &'static str, url: &str, record: &Record, at: RecordAt, warc: &str) -> Self {
        let own = |name: &str| record.header(name).map(str::to_owned);
        let status = record.http_head().split(|byte| *byte == b'\n').next().unwrap_or_default();
        let protocols =
            record.headers().filter(|(name, _)| name.eq_ignore_ascii_case("WARC-Protocol"));
        EvidenceRecord {
            url: url.to_owned(),
            role,
            time: own("WARC-Date"),
            status: String::from_utf8_lossy(status).trim().to_owned(),
            address: own("WARC-IP-Address"),
            protocols: protocols.map(|(_, value)| value.to_owned()).collect(),
            cipher_suite: own("WARC-Cipher-Suite"),
            record_id: own("WARC-Record-ID"),
            record_type: own("WARC-Type").unwrap_or_default(),
            payload_digest: own("WARC-Payload-Digest"),
            block_digest: own("WARC-Block-Digest"),
            warc: warc.to_owned(),
            offset: at.offset,
            length: at.length,
        }
    }
}

/// What a document is made of: the addresses of images, styles, scripts, fonts and frames, or where it redirects to.
fn requisites(url: &str, content: &Content) -> Vec<String> {
    let Ok(base) = Url::parse(url) else { return Vec::new() };
    let is_redirect = content.own.http_head().get(9) == Some(&b'3');
    let found = match content.header("location").filter(|_| is_redirect) {
        Some(location) => vec![location],
        None => named_in(url, content),
    };
    let absolute = found.iter().filter_map(|address| {
        let mut url = base.join(address.trim()).ok()?;
        url.set_fragment(None);
        matches!(url.scheme(), "http" | "https").then(|| String::from(url))
    });
    absolute.collect()
}

fn named_in(url: &str, content: &Content) -> Vec<String> {
    let body = content.body();
    let declared = content.header("content-type");
    let kind = sniff(&body, declared.as_deref(), url);
    let header = declared.as_deref().and_then(header_charset);
    let is_style = declared.as_deref().is_some_and(|kind| kind.contains("text/css"));
    let is_page = matches!(kind, ContentKind::Html | ContentKind::Xhtml);
    if !is_style && !is_page {
        return Vec::new();
    }
    let Some(text) = decode_text(&body, header, None) else { return Vec::new() };
    let mut found = Vec::new();
    if is_style {
        read_css(&text.text, &mut |address| found.push(address.to_owned()));
        return found;
    }
    let options = HtmlOptions { sources: LinkSources::Requisites, ..HtmlOptions::default() };
    let mut extractor = Extractor::new();
    let page = extractor.extract_html(&text.text, &options);
    let is_part = |kind: LinkKind| matches!(kind, LinkKind::Embed | LinkKind::Frame);
    let base = page.base.as_deref().and_then(|base| Url::parse(url).ok()?.join(base).ok());
    for link in page.links.iter().filter(|link| is_part(link.kind)) {
        found.push(match &base {
            Some(base) => base.join(link.href).map_or_else(|_| link.href.to_owned(), String::from),
            None => link.href.to_owned(),
        });
    }
    found
}
