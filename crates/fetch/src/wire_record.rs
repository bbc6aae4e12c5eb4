//! Which bytes exactly were the request, and which the head of the response?
//!
//! hyper shows headers parsed, never as they were sent; an archive wants the very bytes. So the
//! connection is tapped, and this tape keeps what an archive needs: the request, the response head
//! and any interim (1xx) heads. Body bytes are only counted, since hyper hands them over anyway.

use std::mem;

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;

/// The record of one exchange on a connection.
#[derive(Debug)]
pub(crate) struct WireRecord {
    is_text: bool,
    sent: BytesMut,
    interim: BytesMut,
    head: BytesMut,
    reading: HeadState,
    line: LineState,
    room: usize,
    received: u64,
    first_byte: Option<Instant>,
    /// What came instead of a head, where it is of another protocol.
    other_protocol: Option<String>,
}

/// How much of what is no HTTP is shown.
const SHOWN: usize = 20;
/// What every HTTP/1 answer begins with. HTTP/2 and later are not told by a status line.
const HTTP_1: &[u8] = b"HTTP/1.";
/// Where the minor version stands in a status line.
const MINOR_VERSION: usize = HTTP_1.len();

/// What the next byte received belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadState {
    Head,
    HeadTooLarge,
    Rest,
}

/// What the current line of the head holds so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineState {
    Nothing,
    CarriageReturn,
    Text,
}

/// The head outgrew its cap.
#[derive(Debug, thiserror::Error)]
#[error("the response headers are too large")]
pub(crate) struct HeadTooLarge;

impl WireRecord {
    /// A tape that only counts, until it is rewound.
    pub(crate) fn new() -> Self {
        WireRecord {
            is_text: false,
            sent: BytesMut::new(),
            interim: BytesMut::new(),
            head: BytesMut::new(),
            reading: HeadState::Rest,
            line: LineState::Nothing,
            room: 0,
            received: 0,
            first_byte: None,
            other_protocol: None,
        }
    }

    /// Starts over for the next exchange, with room for `room` bytes of heads.
    pub(crate) fn rewind(&mut self, room: usize) {
        *self = WireRecord { is_text: true, reading: HeadState::Head, room, ..WireRecord::new() };
    }

    /// Starts over for the next exchange of a protocol whose heads are not text: `request` is its
    /// head in other words, and what passes is only counted.
    pub(crate) fn rewind_counting(&mut self, request: &[u8]) {
        *self = WireRecord { sent: BytesMut::from(request), ..WireRecord::new() };
    }

    /// Notes bytes that went out.
    pub(crate) fn record_sent(&mut self, bytes: &[u8]) {
        if self.is_text {
            self.sent.extend_from_slice(bytes);
        }
    }

    /// Notes bytes that came in, and returns where in them the minor version of an `HTTP/1.x` other than 1.1 stands.
    /// Fails once the heads outgrow their room.
    pub(crate) fn record_received(&mut self, bytes: &[u8]) -> Result<Vec<usize>, HeadTooLarge> {
        let mut others = Vec::new();
        if bytes.is_empty() {
            return Ok(others);
        }
        self.received += bytes.len() as u64;
        self.first_byte.get_or_insert_with(Instant::now);
        let mut rest = bytes;
        while self.reading == HeadState::Head && !rest.is_empty() {
            let (begun, before) = (bytes.len() - rest.len(), self.head.len());
            if before <= MINOR_VERSION {
                others.extend(self.other_minor_version(rest).map(|at| begun + at));
            }
            rest = self.read_line(rest);
        }
        if self.reading == HeadState::HeadTooLarge { Err(HeadTooLarge) } else { Ok(others) }
    }

    /// Where in `bytes`, which go on with the head, the last digit of `HTTP/1.0`, `HTTP/1.2` and so on stands.
    fn other_minor_version(&self, bytes: &[u8]) -> Option<usize> {
        let at = MINOR_VERSION - self.head.len();
        let before = self.head.iter().chain(bytes).take(MINOR_VERSION);
        let minor = bytes.get(at).filter(|minor| minor.is_ascii_digit() && **minor != b'1');
        (minor.is_some() && before.eq(HTTP_1)).then_some(at)
    }

    /// The request as it was sent.
    pub(crate) fn request(&mut self) -> Bytes {
        mem::take(&mut self.sent).freeze()
    }

    /// The final response head as it was received; empty where there was none.
    pub(crate) fn head(&mut self) -> Bytes {
        mem::take(&mut self.head).freeze()
    }

    /// The beginning of what came in, where that is not HTTP/1.
    pub(crate) fn other_protocol(&self) -> Option<String> {
        self.other_protocol.clone()
    }

    /// The interim heads as they were received, one after the other.
    pub(crate) fn interim(&mut self) -> Bytes {
        mem::take(&mut self.interim).freeze()
    }

    /// How many bytes came in.
    pub(crate) fn bytes_received(&self) -> u64 {
        self.received
    }

    /// When the first byte came in.
    pub(crate) fn first_byte(&self) -> Option<Instant> {
        self.first_byte
    }

    /// Takes bytes up to the end of a line, or all if there is none, and returns the others.
    fn read_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let (line, others) = bytes.split_at(end.map_or(bytes.len(), |at| at + 1));
        self.line = match (self.line, line) {
            (LineState::Nothing, b"\r" | b"\r\n") => LineState::CarriageReturn,
            (LineState::Nothing, b"\n") | (LineState::CarriageReturn, b"\n") => self.line,
            _ => LineState::Text,
        };
        let is_blank = end.is_some() && self.line != LineState::Text;
        // Blank lines before the status line are noise that clients are told to skip.
        if !(self.head.is_empty() && self.line != LineState::Text) {
            self.keep(line);
        }
        if end.is_some() {
            self.line = LineState::Nothing;
        }
        if is_blank && !self.head.is_empty() && self.reading == HeadState::Head {
            self.end_head();
        }
        others
    }

    fn keep(&mut self, bytes: &[u8]) {
        if !self.head.iter().chain(bytes).zip(HTTP_1).all(|(got, wanted)| got == wanted) {
            let start: Vec<u8> = self.head.iter().chain(bytes).take(SHOWN).copied().collect();
            self.other_protocol = Some(start.escape_ascii().to_string());
            self.head.clear();
            self.reading = HeadState::Rest;
        } else if self.head.len() + self.interim.len() + bytes.len() > self.room {
            self.reading = HeadState::HeadTooLarge;
        } else {
            self.head.extend_from_slice(bytes);
        }
    }

    fn end_head(&mut self) {
        if is_interim(&self.head) {
            self.interim.unsplit(mem::take(&mut self.head));
        } else {
            self.reading = HeadState::Rest;
        }
    }
}

/// Whether `head` is of the kind after which the real one follows: 1xx, but for 101 which ends HTTP.
fn is_interim(head: &[u8]) -> bool {
    matches!(head.get(8..12), Some([b' ', b'1', b'0'..=b'9', b'0'..=b'9']))
        && !head.get(12).is_some_and(u8::is_ascii_digit)
        && &head[9..12] != b"101"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heads(room: usize, chunks: &[&[u8]]) -> Result<(Bytes, Bytes), HeadTooLarge> {
        let mut tape = WireRecord::new();
        tape.rewind(room);
        for chunk in chunks {
            tape.record_received(chunk)?;
        }
        assert_eq!(tape.bytes_received(), chunks.iter().map(|c| c.len() as u64).sum::<u64>());
        Ok((tape.interim(), tape.head()))
    }

    const CASES: [(&str, &str, &str); 11] = [
        ("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n", "", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
        ("HTTP/1.1 200 OK\nA: b\n\nbody", "", "HTTP/1.1 200 OK\nA: b\n\n"),
        ("HTTP/1.1 200 OK\r\nA: b\n\r\nbody", "", "HTTP/1.1 200 OK\r\nA: b\n\r\n"),
        ("\r\n\n\r\nHTTP/1.1 200 OK\r\n\r\nbody", "", "HTTP/1.1 200 OK\r\n\r\n"),
        ("HTTP/1.1 200\r\nA: b\r\n c\r\n \r\n\r\nx", "", "HTTP/1.1 200\r\nA: b\r\n c\r\n \r\n\r\n"),
        (
            "HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 E\r\nL: x\r\n\r\nHTTP/1.1 204 N\r\n\r\n",
            "HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 E\r\nL: x\r\n\r\n",
            "HTTP/1.1 204 N\r\n\r\n",
        ),
        ("HTTP/1.1 101 S\r\n\r\nHTTP/1.1 200\r\n\r\n", "", "HTTP/1.1 101 S\r\n\r\n"),
        ("<html>\r\n\r\nHTTP/1.1 200\r\n\r\n", "", ""),
        ("ICY 200 OK\r\n\r\nbody", "", ""),
        ("HTTP/2 200 OK\r\n\r\nbody", "", ""),
        ("HTTP/1.1 1000 x\r\n\r\nbody", "", "HTTP/1.1 1000 x\r\n\r\n"),
    ];

    #[test]
    fn heads_are_told_from_bodies_however_they_arrive() {
        for (text, interim, head) in CASES {
            let want = (Bytes::from(interim), Bytes::from(head));
            assert_eq!(heads(1000, &[text.as_bytes()]).unwrap(), want, "{text:?} at once");
            let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(heads(1000, &single).unwrap(), want, "{text:?} byte by byte");
        }
    }

    #[test]
    fn heads_stay_within_their_room() {
        let head = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n";
        assert!(heads(head.len(), &[head, b"a body of any length"]).is_ok());
        assert!(heads(head.len() - 1, &[head]).is_err());
        let endless = [&b"HTTP/1.1 100 Continue\r\n\r\n"[..]; 100];
        assert!(heads(1000, &endless).is_err(), "interim heads share the room");
    }

    #[test]
    fn a_minor_version_other_than_1_is_found_however_it_arrives() {
        for (text, zeros) in [
            ("HTTP/1.0 200 OK\r\n\r\nHTTP/1.0", &[7][..]),
            ("\r\n\r\nHTTP/1.0 200 OK\r\n\r\n", &[11]),
            ("HTTP/1.0 100 \r\n\r\nHTTP/1.0 200 OK\r\n\r\n", &[7, 24]),
            ("HTTP/1.1 200 OK\r\n\r\n", &[]),
            ("HTTP/1.0", &[7]),
            ("HTTP/1.2 200 OK\r\n\r\n", &[7]),
            ("HTTP/1.x 200 OK\r\n\r\n", &[]),
            ("HTTP/1.", &[]),
            ("SSH-2.00", &[]),
        ] {
            for size in 1..=text.len() {
                let (mut tape, mut found) = (WireRecord::new(), Vec::new());
                tape.rewind(1000);
                for (n, chunk) in text.as_bytes().chunks(size).enumerate() {
                    let at = tape.record_received(chunk).unwrap();
                    found.extend(at.into_iter().map(|at| n * size + at));
                }
                assert_eq!(found, zeros, "{text:?} by {size} bytes");
            }
        }
    }

    #[test]
    fn a_rewound_tape_holds_only_the_new_exchange() {
        let mut tape = WireRecord::new();
        tape.rewind(100);
        tape.record_sent(b"GET /1");
        tape.record_received(b"HTTP/1.1 200 OK\r\n\r\nbody").unwrap();
        assert!(tape.first_byte().is_some());
        tape.rewind(100);
        assert_eq!((tape.bytes_received(), tape.first_byte()), (0, None));
        tape.record_sent(b"GET /");
        tape.record_sent(b"2");
        assert_eq!((tape.request(), tape.head()), (Bytes::from("GET /2"), Bytes::new()));
        tape.rewind_counting(b"GET /3");
        tape.record_sent(b"\0\0\x12");
        tape.record_received(b"\0\0\x04").unwrap();
        assert_eq!((tape.request(), tape.head()), (Bytes::from("GET /3"), Bytes::new()));
        assert_eq!(tape.bytes_received(), 3);
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_changes_nothing(
            case in 0..CASES.len(), tail in "[\r\nHTP/1 0:a]{0,40}", cuts in prop::collection::vec(1usize..9, 0..40)
        ) {
            let text = format!("{}{tail}", CASES[case].0);
            let mut rest = text.as_bytes();
            let mut chunks = Vec::new();
            for cut in cuts {
                let (chunk, others) = rest.split_at(cut.min(rest.len()));
                chunks.push(chunk);
                rest = others;
            }
            chunks.push(rest);
            let whole = heads(1000, &[text.as_bytes()]).unwrap();
            prop_assert_eq!(heads(1000, &chunks).unwrap(), whole);
        }
    }
}
