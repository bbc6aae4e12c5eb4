//! Which element and which attribute is this? Only those that matter to links and text have a name.

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
    pub(super) fn named(name: &[u8]) -> Tag {
        match name {
            b"a" => Tag::A,
            b"annotation-xml" => Tag::AnnotationXml,
            b"area" => Tag::Area,
            b"base" => Tag::Base,
            b"blockquote" => Tag::Blockquote,
            b"table" | b"tbody" | b"td" | b"tfoot" | b"th" | b"thead" | b"tr" => Tag::Backed,
            b"body" => Tag::Body,
            b"del" | b"ins" | b"q" => Tag::Cited,
            b"desc" => Tag::Desc,
            b"audio" | b"embed" | b"source" | b"track" => Tag::Sourced,
            b"foreignobject" => Tag::ForeignObject,
            b"form" => Tag::Form,
            b"frame" => Tag::Frame,
            b"frameset" => Tag::Frameset,
            b"html" => Tag::Html,
            b"iframe" => Tag::Iframe,
            b"image" => Tag::Image,
            b"img" => Tag::Img,
            b"input" => Tag::Input,
            b"link" => Tag::Link,
            b"math" => Tag::Math,
            b"mi" | b"mn" | b"mo" | b"ms" | b"mtext" => Tag::MathText,
            b"meta" => Tag::Meta,
            b"noembed" => Tag::Noembed,
            b"noframes" => Tag::Noframes,
            b"noscript" => Tag::Noscript,
            b"object" => Tag::Object,
            b"plaintext" => Tag::Plaintext,
            b"script" => Tag::Script,
            b"style" => Tag::Style,
            b"svg" => Tag::Svg,
            b"template" => Tag::Template,
            b"textarea" => Tag::Textarea,
            b"title" => Tag::Title,
            b"use" => Tag::Use,
            b"video" => Tag::Video,
            b"xmp" => Tag::Xmp,
            b"address" | b"article" | b"aside" | b"br" | b"button" | b"caption" | b"center"
            | b"dd" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt" | b"fieldset"
            | b"figcaption" | b"figure" | b"footer" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5"
            | b"h6" | b"head" | b"header" | b"hgroup" | b"hr" | b"legend" | b"li" | b"listing"
            | b"main" | b"menu" | b"nav" | b"ol" | b"optgroup" | b"option" | b"p" | b"pre"
            | b"search" | b"section" | b"select" | b"summary" | b"ul" => Tag::Block,
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
    pub(super) fn speaks(self) -> bool {
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
pub(super) fn ends_foreign_content(name: &[u8]) -> bool {
    name == b"blockquote" || HTML_ONLY.binary_search(&name).is_ok()
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
    Content,
    Data,
    Encoding,
    Href,
    Hreflang,
    HttpEquiv,
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

    pub(super) fn named(name: &[u8]) -> Option<Attr> {
        Some(match name {
            b"action" => Attr::Action,
            b"background" => Attr::Background,
            b"cite" => Attr::Cite,
            b"content" => Attr::Content,
            b"data" => Attr::Data,
            b"encoding" => Attr::Encoding,
            b"href" => Attr::Href,
            b"hreflang" => Attr::Hreflang,
            b"http-equiv" => Attr::HttpEquiv,
            b"imagesrcset" => Attr::ImageSrcset,
            b"lang" => Attr::Lang,
            b"method" => Attr::Method,
            b"name" => Attr::Name,
            b"poster" => Attr::Poster,
            b"rel" => Attr::Rel,
            b"shadowrootmode" => Attr::ShadowRootMode,
            b"src" => Attr::Src,
            b"srcset" => Attr::Srcset,
            b"type" => Attr::Type,
            b"xlink:href" => Attr::XlinkHref,
            _ => return None,
        })
    }
}

/// A name being read: short, since all names of interest are.
#[derive(Clone, Copy, Default)]
pub(super) struct Name {
    bytes: [u8; Name::LONGEST],
    length: usize,
}

impl Name {
    /// A name that is longer is none that we know.
    pub(super) const LONGEST: usize = 16;

    /// Adds a letter.
    #[inline]
    pub(super) fn add(&mut self, byte: u8) {
        if let Some(free) = self.bytes.get_mut(self.length) {
            *free = byte;
        }
        self.length += 1;
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// Adds a piece; a name that grows too long is no name that we know.
    #[inline]
    pub(super) fn push(&mut self, piece: &[u8]) {
        let end = self.length.saturating_add(piece.len());
        if let Some(free) = self.bytes.get_mut(self.length..end) {
            free.copy_from_slice(piece);
        }
        self.length = end;
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_to_search_is_sorted() {
        assert!(HTML_ONLY.is_sorted());
        assert!(ends_foreign_content(b"var") && !ends_foreign_content(b"path"));
    }

    #[test]
    fn names_that_are_too_long_are_unknown() {
        let mut name = Name::default();
        name.push(b"a");
        assert_eq!(Tag::named(name.as_bytes()), Tag::A);
        for _ in 0..5 {
            name.push(b"aaaaaaa");
        }
        assert_eq!(Tag::named(name.as_bytes()), Tag::Inline);
    }
}
