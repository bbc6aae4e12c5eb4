//! Which element and which attribute is this? Only those that matter to links and text have a name.

use super::text::every;

/// An element, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    A,
    AnnotationXml,
    Area,
    Base,
    /// `<blockquote>`: a block that may name its source.
    Blockquote,
    /// `<table>`, `<td>` and the like: blocks that may have a background image.
    Backed,
    Body,
    /// `<del>`, `<ins>`, `<q>`: inline, and may name their source.
    Cited,
    Desc,
    /// `<embed>`, `<track>`, `<audio>`, `<source>`: something with a `src`.
    Sourced,
    ForeignObject,
    Form,
    Frame,
    Frameset,
    Html,
    Iframe,
    Image,
    Img,
    Input,
    Link,
    Math,
    /// `<mi>`, `<mtext>` and the like, inside which HTML is HTML again.
    MathText,
    Meta,
    Noembed,
    Noframes,
    Noscript,
    Object,
    Plaintext,
    Script,
    Style,
    Svg,
    Template,
    Textarea,
    Title,
    Use,
    Video,
    Xmp,
    /// Anything else that stands apart from the text around it.
    Block,
    /// Anything else.
    Inline,
}

impl Tag {
    #[inline]
    pub(super) fn of(name: &Name) -> Tag {
        name.short().map_or_else(|| name.with_bytes(Tag::of_long), |letters| TAGS.get(letters))
    }

    fn of_long(name: &[u8]) -> Tag {
        match name {
            b"annotation-xml" => Tag::AnnotationXml,
            b"blockquote" => Tag::Blockquote,
            b"foreignobject" => Tag::ForeignObject,
            b"plaintext" => Tag::Plaintext,
            b"figcaption" => Tag::Block,
            _ => Tag::Inline,
        }
    }

    /// Whether words before and after its edge are different words.
    pub(super) fn separates(self) -> bool {
        use Tag::{
            Backed, Block, Blockquote, Body, Form, Frameset, Iframe, Object, Plaintext, Textarea,
            Video, Xmp,
        };
        matches!(
            self,
            Block
                | Backed
                | Blockquote
                | Body
                | Form
                | Frameset
                | Iframe
                | Object
                | Plaintext
                | Textarea
                | Video
                | Xmp
        )
    }

    /// Whether its attributes are of interest.
    pub(super) fn may_hold_text(self) -> bool {
        use Tag::{
            Block, Desc, ForeignObject, Frameset, Inline, Math, MathText, Noembed, Noframes,
            Noscript, Plaintext, Style, Svg, Textarea, Title, Xmp,
        };
        !matches!(
            self,
            Block
                | Desc
                | ForeignObject
                | Frameset
                | Inline
                | Math
                | MathText
                | Noembed
                | Noframes
                | Noscript
                | Plaintext
                | Style
                | Svg
                | Textarea
                | Title
                | Xmp
        )
    }
}

/// Whether an HTML element inside SVG or MathML shows that its author is back in HTML.
pub(super) fn ends_foreign_content(name: &Name) -> bool {
    name.with_bytes(|name| name == b"blockquote" || HTML_ONLY.binary_search(&name).is_ok())
}

const HTML_ONLY: [&[u8]; 43] = [
    b"b", b"big", b"body", b"br", b"center", b"code", b"dd", b"div", b"dl", b"dt", b"em", b"embed",
    b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"head", b"hr", b"i", b"img", b"li", b"listing",
    b"menu", b"meta", b"nobr", b"ol", b"p", b"pre", b"ruby", b"s", b"small", b"span", b"strike",
    b"strong", b"sub", b"sup", b"table", b"tt", b"u", b"ul", b"var",
];

/// An attribute, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attr {
    Action,
    Background,
    Cite,
    Class,
    Content,
    Data,
    Encoding,
    Href,
    Hreflang,
    HttpEquiv,
    Id,
    ImageSrcset,
    Lang,
    Method,
    Name,
    Poster,
    Rel,
    ShadowRootMode,
    Src,
    Srcset,
    Type,
    XlinkHref,
}

impl Attr {
    /// How many there are.
    pub(super) const COUNT: usize = Attr::XlinkHref as usize + 1;

    #[inline]
    pub(super) fn of(name: &Name) -> Option<Attr> {
        name.short()
            .map_or_else(|| name.with_bytes(Attr::of_long), |letters| ATTRIBUTES.get(letters))
    }

    fn of_long(name: &[u8]) -> Option<Attr> {
        Some(match name {
            b"background" => Attr::Background,
            b"http-equiv" => Attr::HttpEquiv,
            b"imagesrcset" => Attr::ImageSrcset,
            b"shadowrootmode" => Attr::ShadowRootMode,
            b"xlink:href" => Attr::XlinkHref,
            _ => return None,
        })
    }
}

/// The elements with short names.
static TAGS: PerfectNameTable<Tag, 512> = PerfectNameTable::new(
    0xA00A_F562_D75E_4495,
    Tag::Inline,
    &[
        (Tag::A, &["a"]),
        (Tag::Area, &["area"]),
        (Tag::Base, &["base"]),
        (Tag::Backed, &["table", "tbody", "td", "tfoot", "th", "thead", "tr"]),
        (Tag::Body, &["body"]),
        (Tag::Cited, &["del", "ins", "q"]),
        (Tag::Desc, &["desc"]),
        (Tag::Sourced, &["audio", "embed", "source", "track"]),
        (Tag::Form, &["form"]),
        (Tag::Frame, &["frame"]),
        (Tag::Frameset, &["frameset"]),
        (Tag::Html, &["html"]),
        (Tag::Iframe, &["iframe"]),
        (Tag::Image, &["image"]),
        (Tag::Img, &["img"]),
        (Tag::Input, &["input"]),
        (Tag::Link, &["link"]),
        (Tag::Math, &["math"]),
        (Tag::MathText, &["mi", "mn", "mo", "ms", "mtext"]),
        (Tag::Meta, &["meta"]),
        (Tag::Noembed, &["noembed"]),
        (Tag::Noframes, &["noframes"]),
        (Tag::Noscript, &["noscript"]),
        (Tag::Object, &["object"]),
        (Tag::Script, &["script"]),
        (Tag::Style, &["style"]),
        (Tag::Svg, &["svg"]),
        (Tag::Template, &["template"]),
        (Tag::Textarea, &["textarea"]),
        (Tag::Title, &["title"]),
        (Tag::Use, &["use"]),
        (Tag::Video, &["video"]),
        (Tag::Xmp, &["xmp"]),
        (
            Tag::Block,
            &[
                "address", "article", "aside", "br", "button", "caption", "center", "dd",
                "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figure", "footer",
                "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr", "legend",
                "li", "listing", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre",
                "search", "section", "select", "summary", "ul",
            ],
        ),
    ],
);

/// The attributes with short names.
static ATTRIBUTES: PerfectNameTable<Option<Attr>, 64> = PerfectNameTable::new(
    0x91B7_584A_2265_B1F5,
    None,
    &[
        (Some(Attr::Action), &["action"]),
        (Some(Attr::Cite), &["cite"]),
        (Some(Attr::Class), &["class"]),
        (Some(Attr::Content), &["content"]),
        (Some(Attr::Data), &["data"]),
        (Some(Attr::Encoding), &["encoding"]),
        (Some(Attr::Href), &["href"]),
        (Some(Attr::Hreflang), &["hreflang"]),
        (Some(Attr::Id), &["id"]),
        (Some(Attr::Lang), &["lang"]),
        (Some(Attr::Method), &["method"]),
        (Some(Attr::Name), &["name"]),
        (Some(Attr::Poster), &["poster"]),
        (Some(Attr::Rel), &["rel"]),
        (Some(Attr::Src), &["src"]),
        (Some(Attr::Srcset), &["srcset"]),
        (Some(Attr::Type), &["type"]),
    ],
);

/// What names of up to eight letters mean, each in a place of its own: found without a branch that depends on
/// the name, as a choice among names is, which no processor foresees.
struct PerfectNameTable<T, const N: usize> {
    factor: u64,
    letters: [u64; N],
    meanings: [T; N],
    otherwise: T,
}

impl<T: Copy, const N: usize> PerfectNameTable<T, N> {
    /// The lists of names for each meaning. A factor that gives two names one place does not compile.
    const fn new(factor: u64, otherwise: T, lists: &[(T, &[&str])]) -> Self {
        let mut names =
            PerfectNameTable { factor, letters: [0; N], meanings: [otherwise; N], otherwise };
        let mut list = 0;
        while list < lists.len() {
            let (meaning, of) = lists[list];
            let mut at = 0;
            while at < of.len() {
                let letters = letters(of[at].as_bytes());
                let place = names.place(letters);
                assert!(names.letters[place] == 0, "two names in one place");
                (names.letters[place], names.meanings[place]) = (letters, meaning);
                at += 1;
            }
            list += 1;
        }
        names
    }

    const fn place(&self, letters: u64) -> usize {
        (letters.wrapping_mul(self.factor) >> (64 - N.trailing_zeros())) as usize
    }

    #[inline]
    fn get(&self, letters: u64) -> T {
        let place = self.place(letters);
        if self.letters[place] == letters { self.meanings[place] } else { self.otherwise }
    }
}

/// Up to eight letters as a number, the first in the lowest byte.
const fn letters(name: &[u8]) -> u64 {
    let (mut letters, mut at) = (0, name.len());
    while at > 0 {
        at -= 1;
        letters = letters << 8 | name[at] as u64;
    }
    letters
}

/// A name being read: short, since all names of interest are. A number rather than bytes: what was written byte
/// by byte cannot be read as a whole before it has gone a long way.
#[derive(Clone, Copy, Default)]
pub(super) struct Name {
    /// Its letters, the first in the lowest byte.
    letters: u128,
    length: usize,
}

impl Name {
    /// A name that is longer is none that we know.
    pub(super) const LONGEST: usize = 16;

    /// The first `length` bytes of `rest` in small letters.
    #[inline]
    pub(super) fn of(rest: &[u8], length: usize) -> Self {
        match rest.first_chunk() {
            Some(&first) if (1..=8).contains(&length) => {
                let letters = lower_case(u64::from_le_bytes(first)) & u64::MAX >> (64 - 8 * length);
                Name { letters: letters.into(), length }
            }
            _ => Self::of_bytes(rest.get(..length).unwrap_or_default()),
        }
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let mut name = Name::default();
        bytes.iter().for_each(|byte| name.add(byte.to_ascii_lowercase()));
        name
    }

    /// Adds a letter.
    #[inline]
    pub(super) fn add(&mut self, byte: u8) {
        if self.length < Self::LONGEST {
            self.letters |= u128::from(byte) << (8 * self.length);
        }
        self.length += 1;
    }

    pub(super) fn clear(&mut self) {
        *self = Name::default();
    }

    /// Adds a piece; a name that grows too long is unknown.
    pub(super) fn push(&mut self, piece: &[u8]) {
        piece.iter().for_each(|&byte| self.add(byte));
    }

    /// Its letters as a number, where they are no more than eight.
    #[inline]
    fn short(&self) -> Option<u64> {
        (self.length <= 8).then_some(self.letters as u64)
    }

    /// Asks something of its letters; a name that is too long has none.
    pub(super) fn with_bytes<T>(&self, what: impl FnOnce(&[u8]) -> T) -> T {
        what(self.letters.to_le_bytes().get(..self.length).unwrap_or_default())
    }
}

/// Eight bytes with capitals as small letters.
#[inline]
fn lower_case(bytes: u64) -> u64 {
    let low_bits = bytes & every(0x7F);
    // Adding carries into the top bit from `A` on, and once more behind `Z`.
    let [from_a, past_z] = [0x80 - b'A', 0x7F - b'Z'].map(|more| low_bits + every(more));
    bytes | (from_a & !past_z & !bytes & every(0x80)) >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_to_search_is_sorted() {
        assert!(HTML_ONLY.is_sorted());
        let ends = |name: &[u8]| ends_foreign_content(&Name::of_bytes(name));
        assert!(ends(b"var") && ends(b"blockquote") && !ends(b"path"));
    }

    #[test]
    fn names_that_are_too_long_are_unknown() {
        let mut name = Name::default();
        name.push(b"a");
        assert_eq!(Tag::of(&name), Tag::A);
        for _ in 0..5 {
            name.push(b"aaaaaaa");
        }
        assert_eq!(Tag::of(&name), Tag::Inline);
    }

    #[test]
    fn names_are_read_at_once_as_they_are_letter_by_letter() {
        let rest = b"AZaz@[`{09-:\xC1\xFAblockquote x y z";
        for start in 0..12 {
            for length in 0..rest.len() - start {
                let [at_once, singly] =
                    [Name::of(&rest[start..], length), Name::of_bytes(&rest[start..][..length])];
                assert_eq!((at_once.letters, at_once.length), (singly.letters, singly.length));
            }
        }
    }
}
