//! What does the index of one WARC file say of its records, by their places? For readers who go through many of them.

use std::collections::HashMap;
use std::io::{self, BufRead};

use crate::captures::Capture;
use crate::files;
use crate::segments::{SegmentId, SegmentReader, SegmentStore, Stage};

/// What the index of a WARC file says of its records.
#[derive(Debug)]
pub struct IndexNotes {
    index: SegmentId,
    /// How far the index has been read while it grew; `None` once it was read as a sealed one.
    read: Option<u64>,
    /// By the offset of a record: its media type, and why its payload is not whole, as places in `words`.
    notes: HashMap<u64, (u16, u16)>,
    words: Vec<String>,
}

/// What the index says of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexNote<'a> {
    /// The media type of the response; `warc/revisit` for a record without a payload.
    pub media_type: &'a str,
    /// Why the payload is not whole, in WARC's words, if it is not.
    pub truncated: Option<&'a str>,
}

/// More different media types than this are cut: no archive has them, but a server could make them up.
const MOST_WORDS: usize = 10_000;

impl IndexNotes {
    /// Of the WARC file called `warc`; nothing is read yet.
    pub fn of(warc: &str) -> Self {
        let words = vec![String::new()];
        IndexNotes { index: files::index_of(warc), read: Some(0), notes: HashMap::new(), words }
    }

    /// What the index says of the record at `offset`; `None` where it has no line for it.
    pub fn at(
        &mut self,
        segments: &dyn SegmentStore,
        offset: u64,
    ) -> io::Result<Option<IndexNote<'_>>> {
        if !self.notes.contains_key(&offset) {
            self.read_more(segments)?;
        }
        let note = self.notes.get(&offset);
        Ok(note.map(|(media_type, truncated)| IndexNote {
            media_type: self.word(*media_type),
            truncated: Some(self.word(*truncated)).filter(|word| !word.is_empty()),
        }))
    }

    fn word(&self, at: u16) -> &str {
        self.words.get(usize::from(at)).map_or("", String::as_str)
    }

    /// Reads what has been added to the index, or all of it once it is sealed, for then it is in another order.
    fn read_more(&mut self, segments: &dyn SegmentStore) -> io::Result<()> {
        let Some(from) = self.read else { return Ok(()) };
        let growing = SegmentId { name: self.index.name.clone(), stage: Stage::Growing };
        match self.read_lines(segments, self.index.clone(), 0) {
            Ok(_) => self.read = None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match self.read_lines(segments, growing, from) {
                    Ok(end) => self.read = Some(end),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Reads whole lines from `place` on; says where the last one ended.
    fn read_lines(
        &mut self,
        segments: &dyn SegmentStore,
        index: SegmentId,
        place: u64,
    ) -> io::Result<u64> {
        let mut reader = SegmentReader::in_pieces(segments, index, place, 1 << 18);
        let (mut end, mut line) = (place, Vec::new());
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                return Ok(end);
            }
            end += line.len() as u64;
            self.take(&line);
        }
    }

    fn take(&mut self, line: &[u8]) {
        let Some(Note { offset, media_type, truncated }) = Note::read(line) else { return };
        let (media_type, truncated) = (self.place_of(&media_type), self.place_of(&truncated));
        self.notes.insert(offset, (media_type, truncated));
    }

    fn place_of(&mut self, word: &str) -> u16 {
        let known = self.words.iter().position(|known| known == word);
        let place = known.or_else(|| {
            (self.words.len() < MOST_WORDS).then(|| {
                self.words.push(word.to_owned());
                self.words.len() - 1
            })
        });
        place.and_then(|place| u16::try_from(place).ok()).unwrap_or(0)
    }
}

/// What is read of a line.
struct Note<'a> {
    offset: u64,
    media_type: std::borrow::Cow<'a, str>,
    truncated: std::borrow::Cow<'a, str>,
}

impl<'a> Note<'a> {
    /// In most lines there is nothing to unescape, so the words are cut out.
    fn read(line: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        let field = |name: &str| {
            let start = text.rfind(name)? + name.len();
            text[start..].split('"').next()
        };
        let truncated = field(",\"truncated\":\"").unwrap_or_default();
        let media_type = field(",\"mime\":\"").filter(|word| !word.contains('\\'));
        match (media_type, field(",\"offset\":\"").and_then(|digits| digits.parse().ok())) {
            (Some(media_type), Some(offset)) => {
                Some(Note { offset, media_type: media_type.into(), truncated: truncated.into() })
            }
            _ => Capture::parse(text).map(|capture| Note {
                offset: capture.offset,
                media_type: capture.media_type.into(),
                truncated: String::new().into(),
            }),
        }
    }
}

/// Whether the WARC file called `warc` is finished.
pub fn is_sealed_warc(segments: &dyn SegmentStore, warc: &str) -> bool {
    segments.read(&SegmentId::sealed(warc), 0, &mut [0]).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::MemorySegments;

    const NAME: &str = "a-20200101000000000-00001-h";

    fn line(offset: u64, media_type: &str, more: &str) -> String {
        format!(
            "org,a)/ 20200101000000 {{\"url\":\"http://a.org/\",\"mime\":\"{media_type}\",\"status\":\"200\",\
             \"digest\":\"D\"{more},\"length\":\"9\",\"offset\":\"{offset}\",\"filename\":\"{NAME}.warc.gz\"}}\n"
        )
    }

    #[test]
    fn a_growing_index_is_read_on_and_a_sealed_one_anew() {
        let segments = MemorySegments::default();
        let (index, warc) = (files::index_name(NAME), files::warc_name(NAME));
        let mut notes = IndexNotes::of(&warc);
        assert_eq!(notes.at(&segments, 0).unwrap(), None);
        let first = line(7, "text/html", "");
        segments.create(&index).unwrap();
        segments.append(&index, 0, first.as_bytes()).unwrap();
        assert_eq!(notes.at(&segments, 7).unwrap().unwrap().media_type, "text/html");
        assert_eq!(notes.at(&segments, 8).unwrap(), None);
        let next = line(8, "a\\\"b", ",\"truncated\":\"length\"")
            + &line(9, "image/png", ",\"truncated\":\"time\"");
        segments.append(&index, first.len() as u64, next.as_bytes()).unwrap();
        assert_eq!(notes.at(&segments, 8).unwrap().unwrap().media_type, "a\"b");
        let want = IndexNote { media_type: "image/png", truncated: Some("time") };
        assert_eq!(notes.at(&segments, 9).unwrap(), Some(want));
        segments.seal(&index, &index).unwrap();
        assert_eq!(notes.at(&segments, 10).unwrap(), None);
        assert_eq!(notes.read, None, "it does not change any more");
        assert!(!is_sealed_warc(&segments, &warc));
    }
}
