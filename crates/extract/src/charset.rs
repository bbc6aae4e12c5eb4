//! Which characters are these bytes? From bytes of any encoding to UTF-8, as browsers decide it.
//!
//! The first of these that answers is believed: a byte order mark, the HTTP header, a declaration
//! in the first kilobyte, the bytes being valid UTF-8, and last a guess by letter frequencies.

mod prescan;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Most bytes that the guess looks at: it costs more than all the rest, and learns little later.
const GUESS_FROM: usize = 64 << 10;

/// A document's characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText<'a> {
    /// The text, borrowed when the bytes were UTF-8 already.
    pub text: Cow<'a, str>,
    /// The encoding's standard name, such as `windows-1252`.
    pub charset: &'static str,
    /// How the encoding became known.
    pub source: CharsetSource,
}

/// How browsers write the queries of links on a page that is not in UTF-8. All else of a URL is in UTF-8.
#[derive(Clone, Copy, Debug)]
pub struct QueryEncoding(&'static Encoding);

impl QueryEncoding {
    /// That of a page in this encoding; `None` where it is UTF-8 too.
    pub fn from_name(charset: &str) -> Option<Self> {
        let encoding = Encoding::for_label(charset.as_bytes())?.output_encoding();
        (encoding != UTF_8).then_some(QueryEncoding(encoding))
    }

    /// The bytes of a query; a character that the encoding lacks becomes its number, as in `%26%239731%3B`.
    pub fn encode<'a>(&self, query: &'a str) -> Cow<'a, [u8]> {
        let (bytes, _, lacking) = self.0.encode(query);
        if !lacking {
            return bytes;
        }
        let of_character = |character: char| match self.0.encode(character.encode_utf8(&mut [0; 4]))
        {
            (_, _, true) => format!("%26%23{}%3B", u32::from(character)).into_bytes(),
            (bytes, _, false) => bytes.into_owned(),
        };
        query.chars().flat_map(of_character).collect()
    }
}

/// What determined the encoding of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharsetSource {
    /// A byte order mark.
    Mark,
    /// The charset of the `Content-Type` header.
    Header,
    /// A `<meta>` element or XML declaration in the document.
    Declared,
    /// The bytes are valid UTF-8, and nothing contradicts it.
    Valid,
    /// The likeliest encoding by letter frequencies.
    Guessed,
}

/// Decodes `bytes`, or gives nothing for encodings that no longer may be decoded (browsers treat
/// them as binary, since they were used to smuggle markup past filters).
///
/// `header` is the charset of the `Content-Type`; `host` helps the guess by its top-level domain.
pub fn decode_text<'a>(
    bytes: &'a [u8],
    header: Option<&str>,
    host: Option<&str>,
) -> Option<DecodedText<'a>> {
    let (encoding, source, skip) = find_encoding(bytes, header, host);
    if encoding == REPLACEMENT {
        return None;
    }
    let (text, _) = encoding.decode_without_bom_handling(bytes.get(skip..).unwrap_or_default());
    Some(DecodedText { text, charset: encoding.name(), source })
}

/// The charset parameter of a `Content-Type` header.
pub fn header_charset(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

fn find_encoding(
    bytes: &[u8],
    header: Option<&str>,
    host: Option<&str>,
) -> (&'static Encoding, CharsetSource, usize) {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return (encoding, CharsetSource::Mark, length);
    }
    if let Some(encoding) = header.and_then(|label| Encoding::for_label(label.as_bytes())) {
        return (encoding, CharsetSource::Header, 0);
    }
    if let Some(encoding) = prescan::declared(bytes) {
        return (encoding, CharsetSource::Declared, 0);
    }
    // As fast as the decoder, which looks by as many bytes at a time as the processor can.
    if Encoding::utf8_valid_up_to(bytes) == bytes.len() {
        return (UTF_8, CharsetSource::Valid, 0);
    }
    (guess_encoding(bytes, host), CharsetSource::Guessed, 0)
}

/// What a declaration inside the document can mean: it was read as ASCII, so it is not UTF-16.
fn as_declared(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return Some(UTF_8);
    }
    Some(if encoding == X_USER_DEFINED { WINDOWS_1252 } else { encoding })
}

fn guess_encoding(bytes: &[u8], host: Option<&str>) -> &'static Encoding {
    let part = bytes.get(..GUESS_FROM).unwrap_or(bytes);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(part, part.len() == bytes.len());
    let tld = host.and_then(top_level_domain);
    detector.guess(tld.as_deref().map(str::as_bytes), Utf8Detection::Allow)
}

/// The last label in the form that the detector insists on: lower-case letters, digits, hyphens.
fn top_level_domain(host: &str) -> Option<String> {
    let label = host.trim_end_matches('.').rsplit('.').next()?;
    let plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (plain && !label.is_empty()).then(|| label.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(
        bytes: &'a [u8],
        header: Option<&str>,
    ) -> (Cow<'a, str>, &'static str, CharsetSource) {
        let found = decode_text(bytes, header, Some("www.example.ru")).unwrap();
        (found.text, found.charset, found.source)
    }

    #[test]
    fn the_first_witness_that_answers_is_believed() {
        let meta = b"<meta charset=iso-8859-2>\xe6";
        let marked = b"\xef\xbb\xbf<meta charset=koi8-r>\xc3\xa9";
        for (bytes, header, text, charset, source) in [
            (&marked[..], Some("koi8-r"), "<meta charset=koi8-r>é", "UTF-8", CharsetSource::Mark),
            (
                &meta[..],
                Some("latin1"),
                "<meta charset=iso-8859-2>æ",
                "windows-1252",
                CharsetSource::Header,
            ),
            (&meta[..], None, "<meta charset=iso-8859-2>ć", "ISO-8859-2", CharsetSource::Declared),
            (
                &meta[..],
                Some("nonsense"),
                "<meta charset=iso-8859-2>ć",
                "ISO-8859-2",
                CharsetSource::Declared,
            ),
            ("caf\u{e9}".as_bytes(), None, "café", "UTF-8", CharsetSource::Valid),
            (b"\xff\xfea\0b\0", None, "ab", "UTF-16LE", CharsetSource::Mark),
            (b"\xfe\xff\0a\0b", None, "ab", "UTF-16BE", CharsetSource::Mark),
            (
                b"<meta charset=utf-16>\xc3\xa9",
                None,
                "<meta charset=utf-16>é",
                "UTF-8",
                CharsetSource::Declared,
            ),
            (
                b"<?xml version='1.0' encoding='koi8-r'?>\xc1",
                None,
                "<?xml version='1.0' encoding='koi8-r'?>а",
                "KOI8-R",
                CharsetSource::Declared,
            ),
        ] {
            assert_eq!(read(bytes, header), (text.into(), charset, source));
        }
    }

    #[test]
    fn guesses_from_letters_and_from_the_country() {
        let (russian, _, _) =
            encoding_rs::WINDOWS_1251.encode("Съешь же ещё этих мягких французских булок");
        assert_eq!(read(&russian, None).1, "windows-1251");
        assert_eq!(read(&russian, None).2, CharsetSource::Guessed);
        for host in
            [None, Some(""), Some("..."), Some("пример.рф"), Some("EXAMPLE.RU."), Some("10.0.0.1")]
        {
            assert!(decode_text(&russian, None, host).is_some(), "{host:?}");
        }
    }

    #[test]
    fn utf8_is_not_copied_and_banned_encodings_are_binary() {
        assert!(matches!(read("naïve".as_bytes(), Some("utf-8")).0, Cow::Borrowed(_)));
        assert!(matches!(read(b"plain", Some("windows-1252")).0, Cow::Borrowed(_)));
        assert!(decode_text(b"abc", Some("iso-2022-kr"), None).is_none());
    }

    #[test]
    fn reads_the_charset_parameter_as_servers_write_it() {
        for (header, want) in [
            ("text/html; charset=utf-8", Some("utf-8")),
            ("text/html;Charset=\"UTF-8\"", Some("UTF-8")),
            ("text/html; boundary=x ; charset = 'koi8-r' ; q=1", Some("koi8-r")),
            ("text/html; charset=", None),
            ("text/html", None),
            ("charset=utf-8", None),
        ] {
            assert_eq!(header_charset(header), want, "{header}");
        }
    }
}
