//! Where do text and tags begin and end? A reader of the markup that pages are made of.
//!
//! It takes the states of the HTML standard in one step each, by searching for the bytes that end
//! them. What hardly any page has (zero bytes, CDATA sections, scripts within comments within
//! scripts) is left to html5gum, which then reads the rest of the page. Both speak to the same
//! sink, and tests hold one against the other.

use html5gum::{Emitter, State, Tokenizer};
use memchr::{memchr, memchr2, memmem};

use super::emitter::Sink;
use super::names::{Name, Tag};
use super::references;

/// Reads all of `markup`.
pub(super) fn read(markup: &str, sink: Sink<'_>) {
    if memchr(0, markup.as_bytes()).is_some() {
        return read_rare(markup, State::Data, sink);
    }
    let bytes = markup.as_bytes();
    MarkupReader { markup, bytes, at: 0, sink, resolved: Vec::new() }.run();
}

/// Reads all of `markup` by every letter of the standard.
pub(super) fn read_rare(markup: &str, state: State, sink: Sink<'_>) {
    let mut tokenizer = Tokenizer::new_with_emitter(markup, sink);
    tokenizer.set_state(state);
    // A slice in memory gives no read errors, and the sink gives no tokens.
    let Ok(()) = tokenizer.finish();
}

struct MarkupReader<'a> {
    markup: &'a str,
    bytes: &'a [u8],
    at: usize,
    sink: Sink<'a>,
    /// Text and values whose references were resolved.
    resolved: Vec<u8>,
}

/// How reading continues.
enum NextStep {
    In(State),
    /// With html5gum, from here.
    Rare,
    /// Not at all: the markup ended.
    End,
}

impl<'a> MarkupReader<'a> {
    fn run(mut self) {
        let mut state = State::Data;
        loop {
            let step = match state {
                State::Data => self.data(),
                State::RcData | State::RawText => self.raw_text(state == State::RcData),
                State::ScriptData => self.script(),
                State::PlainText | State::CdataSection => NextStep::Rare,
            };
            match step {
                NextStep::In(next) => state = next,
                NextStep::Rare => {
                    let rest = self.markup.get(self.at..).unwrap_or_default();
                    return read_rare(rest, state, self.sink);
                }
                NextStep::End => return self.sink.emit_eof(),
            }
        }
    }

    /// Text, and the tag or reference that ends it.
    fn data(&mut self) -> NextStep {
        let rest = self.rest();
        let Some(length) = end_of_text(rest) else {
            self.sink.emit_string(rest);
            return NextStep::End;
        };
        if length > 0 {
            self.sink.emit_string(&rest[..length]);
            self.at += length;
        }
        if rest[length] == b'<' {
            return self.markup();
        }
        let after = &rest[length + 1..];
        let more = end_of_text(after).unwrap_or(after.len());
        self.references(self.at + 1 + more);
        NextStep::In(State::Data)
    }

    /// What begins with `<`.
    fn markup(&mut self) -> NextStep {
        match self.rest() {
            [_, b'a'..=b'z' | b'A'..=b'Z', ..] => self.tag(false),
            [_, b'/', b'a'..=b'z' | b'A'..=b'Z', ..] => self.tag(true),
            [_, b'/', _, ..] => self.skip_past_end(2),
            [_, b'!', ..] => self.declaration(),
            [_, b'?', ..] => self.skip_past_end(1),
            [_, b'/'] => {
                self.sink.emit_string(b"</");
                NextStep::End
            }
            _ => {
                self.sink.emit_string(b"<");
                self.at += 1;
                NextStep::In(State::Data)
            }
        }
    }

    /// Skips what begins here, is at least `least` bytes long and ends with `>`.
    fn skip_past_end(&mut self, least: usize) -> NextStep {
        let Some(length) = memchr(b'>', &self.rest()[least..]) else { return NextStep::End };
        self.at += least + length + 1;
        NextStep::In(State::Data)
    }

    fn declaration(&mut self) -> NextStep {
        let rest = self.rest();
        if rest[2..].starts_with(b"--") {
            return self.comment();
        }
        let is_cdata = rest[2..].starts_with(b"[CDATA[");
        if is_cdata && self.sink.adjusted_current_node_present_but_not_in_html_namespace() {
            return NextStep::Rare;
        }
        self.skip_past_end(2)
    }

    /// A comment ends with `-->` or `--!>`, and with `>` or `->` right where it began.
    fn comment(&mut self) -> NextStep {
        self.at += 4;
        let comment = self.rest();
        let mut from = 0;
        while let Some(found) = memchr(b'>', &comment[from..]) {
            let end = from + found;
            let inside = &comment[..end];
            if matches!(inside, [] | [b'-']) || inside.ends_with(b"--") || inside.ends_with(b"--!")
            {
                self.at += end + 1;
                return NextStep::In(State::Data);
            }
            from = end + 1;
        }
        NextStep::End
    }

    fn tag(&mut self, is_end: bool) -> NextStep {
        if is_end {
            self.sink.init_end_tag();
            self.at += 2;
        } else {
            self.sink.init_start_tag();
            self.at += 1;
        }
        let name = self.name([b'/', b'>']);
        self.sink.set_tag_name(name);
        if !self.attributes() {
            return NextStep::End;
        }
        NextStep::In(self.sink.emit_current_tag().unwrap_or(State::Data))
    }

    /// The attributes of a tag up to its end; false where the markup ends before.
    fn attributes(&mut self) -> bool {
        loop {
            self.skip_spaces();
            match self.rest() {
                [] => return false,
                [b'>', ..] => {
                    self.at += 1;
                    return true;
                }
                [b'/', b'>', ..] => {
                    self.at += 2;
                    self.sink.set_self_closing();
                    return true;
                }
                [b'/', ..] => self.at += 1,
                _ if !self.attribute() => return false,
                _ => {}
            }
        }
    }

    fn attribute(&mut self) -> bool {
        let wanted = self.sink.begin_attribute();
        let ends = [b'/', b'>', b'='];
        if wanted {
            let name = self.name(ends);
            self.sink.set_attribute_name(name);
        } else {
            self.skip_name(ends);
        }
        self.skip_spaces();
        if self.bytes.get(self.at) != Some(&b'=') {
            return true;
        }
        self.at += 1;
        self.skip_spaces();
        let wanted = wanted && self.sink.begin_value();
        let Some((quote, value)) = self.value() else { return false };
        if !wanted {
            return true;
        }
        if memchr2(b'&', b'\r', value).is_some() {
            references::in_value(value, quote, &mut self.resolved);
            self.sink.push_attribute_value(&self.resolved);
        } else {
            self.sink.push_attribute_value(value);
        }
        true
    }

    /// The name of a tag or an attribute in small letters, up to white space or what else ends it.
    #[inline]
    fn name<const N: usize>(&mut self, ends: [u8; N]) -> Name {
        let rest = self.rest();
        let length = name_length(rest, ends);
        self.at += length;
        Name::of(rest, length)
    }

    /// Skips what [`name`](Self::name) would return.
    #[inline]
    fn skip_name<const N: usize>(&mut self, ends: [u8; N]) {
        self.at += name_length(self.rest(), ends);
    }

    /// The value of an attribute with its quotation mark, if it has one; `None` where the markup
    /// ends before it does.
    fn value(&mut self) -> Option<(Option<u8>, &'a [u8])> {
        let rest = self.rest();
        let &first = rest.first()?;
        if matches!(first, b'"' | b'\'') {
            let length = memchr(first, &rest[1..])?;
            self.at += length + 2;
            return Some((Some(first), &rest[1..=length]));
        }
        let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
        let length = rest.iter().position(ends)?;
        self.at += length;
        Some((None, &rest[..length]))
    }

    fn skip_spaces(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Text in which only the end tag of its element is markup.
    fn raw_text(&mut self, has_references: bool) -> NextStep {
        let end = self.end_of_raw_text();
        let text_end = end.unwrap_or(self.bytes.len());
        if has_references {
            self.references(text_end);
        } else {
            self.sink.emit_string(&self.bytes[self.at..text_end]);
            self.at = text_end;
        }
        if end.is_some() { self.tag(true) } else { NextStep::End }
    }

    /// A script; its content is not text.
    fn script(&mut self) -> NextStep {
        let Some(end) = self.end_of_raw_text() else { return NextStep::End };
        let script = &self.bytes[self.at..end];
        if let Some(comment) = memmem::find(script, b"<!--")
            && script[comment..].windows(7).any(|word| word.eq_ignore_ascii_case(b"<script"))
        {
            return NextStep::Rare;
        }
        self.at = end;
        self.tag(true)
    }

    /// Where the end tag of the element stands whose raw text this is.
    fn end_of_raw_text(&self) -> Option<usize> {
        let mut from = self.at;
        loop {
            let at = from + memchr(b'<', &self.bytes[from..])?;
            from = at + 1;
            if self.bytes.get(from) == Some(&b'/') && self.is_named(from + 1) {
                return Some(at);
            }
        }
    }

    /// True when the name that begins at `start` is complete, and that of the element being read.
    fn is_named(&self, start: usize) -> bool {
        let rest = &self.bytes[start..];
        let mut name = Name::default();
        let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic());
        let length =
            letters.take(Name::LONGEST).map(|byte| name.add(byte.to_ascii_lowercase())).count();
        let after = rest.get(length);
        let complete = after.is_some_and(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>'));
        complete && Tag::of(&name) == self.sink.last_start()
    }

    /// Text up to `end` in which references may stand, and no markup.
    fn references(&mut self, end: usize) {
        let text = &self.bytes[self.at..end];
        if memchr(b'&', text).is_some() {
            references::in_text(text, &mut self.resolved);
            self.sink.emit_string(&self.resolved);
        } else {
            self.sink.emit_string(text);
        }
        self.at = end;
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }
}

/// Where the next tag or reference begins. Much of what stands between tags is but a line end, too short for
/// a call to be worth its while.
#[inline]
fn end_of_text(rest: &[u8]) -> Option<usize> {
    let Some((first, after)) = rest.split_first_chunk::<8>() else {
        return rest.iter().position(|byte| matches!(byte, b'<' | b'&'));
    };
    let ends = bytes_that_are(*first, b'<') | bytes_that_are(*first, b'&');
    match ends {
        0 => memchr2(b'<', b'&', after).map(|length| first.len() + length),
        _ => Some((ends.trailing_zeros() / u8::BITS) as usize),
    }
}

/// Where a name ends: at white space or one of `ends`. Whatever stands first belongs to it, also a `=`.
#[inline]
fn name_length<const N: usize>(rest: &[u8], ends: [u8; N]) -> usize {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || ends.contains(byte);
    if let Some(first) = rest.first_chunk() {
        let found =
            ends.iter().fold(up_to_space(*first), |all, &end| all | bytes_that_are(*first, end));
        let length = (found & !0xFF).trailing_zeros() as usize / 8;
        // Most names are short; a control character that is not white space is none of their ends.
        if first.get(length).is_some_and(is_end) {
            return length;
        }
    }
    rest.iter().skip(1).position(is_end).map_or(rest.len(), |more| 1 + more)
}

/// The top bit of the first byte that is a space or less, and perhaps of some behind it.
#[inline]
fn up_to_space(bytes: [u8; 8]) -> u64 {
    let bytes = u64::from_le_bytes(bytes);
    bytes.wrapping_sub(u64::from_le_bytes([b' ' + 1; 8])) & !bytes & u64::from_le_bytes([0x80; 8])
}

/// The top bit of the first byte that is `wanted`, and perhaps of some behind it.
#[inline]
fn bytes_that_are(bytes: [u8; 8], wanted: u8) -> u64 {
    let differ = u64::from_le_bytes(bytes) ^ u64::from_le_bytes([wanted; 8]);
    differ.wrapping_sub(u64::from_le_bytes([1; 8])) & !differ & u64::from_le_bytes([0x80; 8])
}

#[cfg(test)]
mod tests {
    use html5gum::State;
    use proptest::prelude::*;

    use super::*;
    use crate::html::emitter::Syntax;
    use crate::html::{Extractor, HtmlOptions, HtmlPage};

    fn both(markup: &str, syntax: Syntax) -> [HtmlPage; 2] {
        let options = HtmlOptions { anchor_text: true, ..HtmlOptions::default() };
        let by = |reader: fn(&str, Sink<'_>)| {
            Extractor::new().read_with(markup, syntax, &options, reader).clone()
        };
        [by(read), by(|markup, sink| read_rare(markup, State::Data, sink))]
    }

    /// Pieces of which markup is made, whole and broken.
    fn piece() -> impl Strategy<Value = String> {
        let tag = "(</?|<)(a|A|p|tItle|script|style|textarea|svg|math|table|td|iframe|xmp|noframes|noscript|template|plaintext|frameset|body|meta|base|img|input|html|foreignObject|b=c|x-very-long-name-of-a-tag)";
        let attribute =
            "[ \t\n\r\x0c]{0,2}(href|HREF|src|srcset|content|name|rel|type|lang|x|=|\"|')?( ?= ?)?";
        let value = "(\"[a-z&;#<>'=/ \r\n]{0,8}\"|'[a-z&;#<>\"=/ ]{0,8}'|[a-z&;#'\"=/]{0,6})";
        let end = "( ?/?>|/x>|>)?";
        let known = prop::sample::select(vec![
            "<!--",
            "-->",
            "--!>",
            "<!-->",
            "<!--->",
            "<!doctype html>",
            "<!DOCTYPE a \">",
            "<![CDATA[",
            "]]>",
            "<?php x ?>",
            "</>",
            "</ x>",
            "<",
            "</",
            "&amp;",
            "&amp",
            "&lt;b",
            "&copy",
            "&#x41;",
            "&#",
            "&",
            "</script>",
            "</SCRIPT ",
            "</title>",
            "</title/",
            "</style x=y>",
            "<script><!--<script>",
            "\0",
            "é",
            "\r\n",
            " ",
        ]);
        prop_oneof![
            6 => (tag, attribute, value, end).prop_map(|(a, b, c, d)| format!("{a}{b}{c}{d}")),
            2 => known.prop_map(str::to_owned),
            2 => "[a-z é\n]{1,24}",
            1 => "[<>&;/='\"!-]{0,6}",
        ]
    }

    proptest! {
        #[test]
        fn text_ends_at_the_first_tag_or_reference(text in "[a;=<&\u{e9}%'\n]{0,20}") {
            let expected = text.find(['<', '&']);
            prop_assert_eq!(end_of_text(text.as_bytes()), expected);
        }

        #[test]
        fn names_end_at_the_first_byte_that_ends_them(text in "[a=<.!\u{e9}\x01/> \x0b\n0]{1,20}") {
            let is_end = |byte: &u8| b"/>= \t\n\x0c\r".contains(byte);
            let bytes = text.as_bytes();
            let expected = (1..bytes.len()).find(|&at| is_end(&bytes[at])).unwrap_or(bytes.len());
            prop_assert_eq!(name_length(bytes, [b'/', b'>', b'=']), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

        #[test]
        fn any_markup_is_read_as_html5gum_reads_it(pieces in prop::collection::vec(piece(), 0..12)) {
            let markup = pieces.concat();
            for syntax in [Syntax::Html, Syntax::Xml] {
                let [ours, theirs] = both(&markup, syntax);
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}
