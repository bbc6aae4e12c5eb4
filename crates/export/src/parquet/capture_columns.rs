//! Which columns has a capture, and what stands in them? Common Crawl's in its order, then ours.

use evercrawl_archive::{IndexNote, surt};
use evercrawl_extract::ContentKind;
use evercrawl_extract::charset::{decode_text, header_charset};
use evercrawl_extract::sniff::sniff;
use evercrawl_maintext::three_letters;
use evercrawl_query::{LogRow, VisitView};

use super::table::ColumnKind::{self, Double, Int, Label, Long, Short, Text, Time};
use super::table::{Row, TableWriter};
use super::url_columns::{URL_COLUMNS, UrlColumns};
use crate::contents::Content;
use crate::page_text::page_text;

/// What follows the columns of a URL: Common Crawl's up to `warc_segment`, then ours.
const REST: [(&str, ColumnKind); 26] = [
    ("fetch_time", Time),
    ("fetch_status", Short),
    ("fetch_redirect", Text),
    ("content_digest", Text),
    ("content_mime_type", Label),
    ("content_mime_detected", Label),
    ("content_charset", Label),
    ("content_languages", Label),
    ("content_truncated", Label),
    ("warc_filename", Label),
    ("warc_record_offset", Int),
    ("warc_record_length", Int),
    ("warc_segment", Label),
    ("visit_id", Long),
    ("change", Label),
    ("change_score", Double),
    ("interval_seconds", Double),
    ("lambda_hat", Double),
    ("http_etag", Text),
    ("http_last_modified", Text),
    ("depth", Int),
    ("via", Text),
    ("tags", Label),
    ("seed", ColumnKind::Flag),
    ("bytes", Long),
    ("duration_ms", Long),
];

const COUNT: usize = 2 + URL_COLUMNS.len() + REST.len();

/// All columns.
pub(super) const COLUMNS: [(&str, ColumnKind); COUNT] = {
    let mut all = [("url_surtkey", Text); COUNT];
    all[1] = ("url", Text);
    let mut n = 0;
    while n < URL_COLUMNS.len() {
        all[2 + n] = URL_COLUMNS[n];
        n += 1;
    }
    n = 0;
    while n < REST.len() {
        all[2 + URL_COLUMNS.len() + n] = REST[n];
        n += 1;
    }
    all
};

/// The directory of the archive that WARC files are in: the only segment that there is.
const SEGMENT: &str = "archive";

/// What is known of a capture.
pub(super) struct Capture<'a> {
    pub(super) row: &'a LogRow,
    pub(super) visit: &'a VisitView,
    /// What the index says of it.
    pub(super) note: Option<IndexNote<'a>>,
    /// Its record, where records are read.
    pub(super) content: Option<&'a Content>,
}

/// What only a record says.
#[derive(Default)]
struct FromRecord {
    redirect: Option<String>,
    media_type: Option<String>,
    detected: Option<&'static str>,
    charset: Option<String>,
    language: Option<String>,
}

impl Capture<'_> {
    /// Adds it to a table.
    pub(super) fn add_to(&self, table: &mut TableWriter, urls: &mut UrlColumns) {
        let (page, visit) = (&self.row.page, self.visit);
        let found = self.content.map(|content| of_record(&page.url, content)).unwrap_or_default();
        let mut row = table.row();
        row.text(Some(&surt(&page.url))).text(Some(&page.url));
        urls.fill(&page.url, &mut row);
        let media_type = self.note.map(|note| note.media_type);
        row.time(Some(visit.time.0))
            .int(visit.status.and_then(|status| i16::try_from(status).ok()));
        row.text(found.redirect.as_deref());
        row.text(visit.digest.as_deref().map(|digest| digest.trim_start_matches("sha1:")));
        row.text(found.media_type.as_deref().or(media_type)).text(found.detected);
        row.text(found.charset.as_deref()).text(found.language.as_deref());
        row.text(self.note.and_then(|note| note.truncated)).text(visit.warc.as_deref());
        row.fitting(visit.offset).fitting(visit.length.map(u64::from)).text(Some(SEGMENT));
        self.add_ours(&mut row);
    }

    fn add_ours(&self, row: &mut Row<'_>) {
        let (page, visit) = (&self.row.page, self.visit);
        let watched = page.watched_seconds;
        let rate = (watched > 0.0).then(|| f64::from(page.changes) / watched);
        row.long(Some(self.row.number)).text(Some(visit.change.text())).double(Some(visit.score));
        row.double(page.interval_seconds).double(rate);
        row.text(page.etag.as_deref()).text(page.last_modified.as_deref());
        row.int(Some(page.depth)).text(page.via.as_deref());
        row.text(tags(&page.tags).as_deref()).flag(page.seed);
        row.long(Some(visit.bytes)).long(Some(visit.ms.into()));
    }
}

/// Tags as one text, with a space between them.
pub(super) fn tags(tags: &[String]) -> Option<String> {
    (!tags.is_empty()).then(|| tags.join(" "))
}

fn of_record(url: &str, content: &Content) -> FromRecord {
    let body = content.body();
    let declared = content.header("content-type");
    let kind = sniff(&body, declared.as_deref(), url);
    let header = declared.as_deref().and_then(header_charset);
    let is_text = !matches!(kind, ContentKind::Other(_));
    let charset = || Some(decode_text(&body, header, None)?.charset);
    let language = page_text(content, url, &|_| false).and_then(|page| page.main.language);
    FromRecord {
        redirect: content.header("location"),
        media_type: content.media_type(),
        detected: Some(kind.mime()),
        charset: is_text.then(charset).flatten().map(|name| name.to_string()),
        language: language.map(|two| three_letters(&two).map_or(two, str::to_owned)),
    }
}
