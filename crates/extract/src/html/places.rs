//! Where else does a page name addresses than in the markup that every reader knows? A second pass over the page, made
//! only where it is asked for.
//!
//! What the first pass finds is not looked for again. html5gum reads the markup: it gives all attributes, whatever
//! their names, and comments.

mod attributes;
mod forms;
mod meta;

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use self::attributes::Attributes;
use self::forms::Form;
use super::emitter::Syntax;
use super::links::{LinkKind, LinkPlace, LinkSink};
use super::{Extractor, HtmlOptions, HtmlPage, LinkSources};
use crate::css::read_css;
use crate::strings::{
    Context, JsonString, ScriptBase, is_address, read_json, read_script, read_text,
};

/// How deep markup within attributes and comments is read.
const DEEPEST: u8 = 2;
/// The most markup within one attribute or comment that is read.
const LONGEST_INNER: usize = 256 << 10;

/// Adds the links to a page that stand in places which `options` ask for, beyond those it has.
pub(super) fn read_places(
    markup: &str,
    syntax: Syntax,
    options: &HtmlOptions,
    page: &mut HtmlPage,
) {
    read_inner(markup, syntax, options, 0, page);
}

fn read_inner(markup: &str, syntax: Syntax, options: &HtmlOptions, depth: u8, page: &mut HtmlPage) {
    if options.sources == LinkSources::Pages {
        return;
    }
    let sink =
        LinkSink { links: &mut page.links, max: options.max_links, cut: &mut page.links_cut };
    let mut reader = PlaceReader {
        sink,
        options,
        depth,
        attributes: Attributes::default(),
        content: Content::Text,
        form: None,
        in_noframes: false,
    };
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        reader.event(event);
        None::<Infallible>
    });
    emitter.naively_switch_states(syntax == Syntax::Html);
    let tokenizer = Tokenizer::new_with_emitter(markup, emitter);
    // A slice in memory gives no read errors, and the emitter gives no tokens.
    tokenizer.for_each(drop);
}

/// What the characters after a start tag are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Text,
    Script,
    Json,
    Style,
    /// Markup that the tokenizer hands over as text.
    Markup,
    /// Markup that a program fills in.
    Template,
    /// Nothing that holds addresses.
    Other,
}

struct PlaceReader<'a> {
    sink: LinkSink<'a>,
    options: &'a HtmlOptions,
    depth: u8,
    attributes: Attributes,
    content: Content,
    form: Option<Form>,
    in_noframes: bool,
}

impl PlaceReader<'_> {
    fn event(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => self.attributes.begin(name),
            CallbackEvent::AttributeName { name } => self.attributes.name(name),
            CallbackEvent::AttributeValue { value } => self.attributes.value(value),
            CallbackEvent::CloseStartTag { .. } => self.start_tag(),
            CallbackEvent::EndTag { name } => self.end_tag(name),
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { value } => self.comment(&String::from_utf8_lossy(value)),
            CallbackEvent::Doctype { system_identifier: Some(address), .. } => {
                self.mention(&String::from_utf8_lossy(address), LinkPlace::Markup);
            }
            _ => {}
        }
    }

    fn reads_all(&self) -> bool {
        self.options.sources == LinkSources::All
    }

    fn start_tag(&mut self) {
        let attributes = std::mem::take(&mut self.attributes);
        let tag = attributes.tag.as_str();
        self.content = content_of(tag, attributes.get("type").unwrap_or_default());
        self.in_noframes |= tag == "noframes";
        self.take_attributes(&attributes);
        if self.reads_all() {
            self.take_form(&attributes);
        }
        self.attributes = attributes;
    }

    fn end_tag(&mut self, name: &[u8]) {
        self.content = Content::Text;
        match name {
            b"noframes" => self.in_noframes = false,
            b"form" => self.end_form(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let all = self.reads_all();
        match self.content {
            Content::Style => self.style(text),
            Content::Script if all => self.script(text),
            Content::Json if all => self.json(text),
            Content::Markup => self.inner(text, LinkPlace::Markup),
            Content::Template if all => self.inner(text, LinkPlace::Script),
            Content::Text if all => {
                let sink = &mut self.sink;
                read_text(text, false, &mut |a| sink.add(a, LinkKind::Mention, LinkPlace::Text));
            }
            _ => {}
        }
    }

    /// A comment may hide markup, from all browsers or from some.
    fn comment(&mut self, text: &str) {
        if let Some(instruction) = text.strip_prefix("?xml-stylesheet") {
            return self.stylesheet_instruction(instruction);
        }
        if !self.reads_all() {
            return;
        }
        if text.contains('<') {
            return self.inner(text, LinkPlace::Comment);
        }
        let sink = &mut self.sink;
        read_text(text, false, &mut |a| sink.add(a, LinkKind::Mention, LinkPlace::Comment));
    }

    /// `<?xml-stylesheet href="a.xsl"?>` has its address where a tag would.
    fn stylesheet_instruction(&mut self, text: &str) {
        let Some((_, value)) = text.split_once("href=") else { return };
        let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return };
        let address = value[1..].split(quote).next().unwrap_or_default();
        self.sink.add(address, LinkKind::Embed, LinkPlace::Markup);
    }

    fn style(&mut self, css: &str) {
        let sink = &mut self.sink;
        read_css(css, &mut |a| sink.add(a, LinkKind::Embed, LinkPlace::Style));
    }

    fn script(&mut self, script: &str) {
        let sink = &mut self.sink;
        let mut found = |a: &str| sink.add(a, LinkKind::Mention, LinkPlace::Script);
        read_script(script, ScriptBase::Page, &mut found);
    }

    fn json(&mut self, json: &str) {
        json_links(json, &mut self.sink);
    }

    /// Markup inside of markup: all that it leads to.
    fn inner(&mut self, markup: &str, place: LinkPlace) {
        if self.depth >= DEEPEST || markup.len() > LONGEST_INNER || !markup.contains(['<', '/']) {
            return;
        }
        let room = self.sink.max.saturating_sub(self.sink.links.len());
        let options = HtmlOptions { max_links: room, max_text: 0, ..self.options.clone() };
        let mut extractor = Extractor::new();
        extractor.read(markup, Syntax::Html, &options);
        read_inner(markup, Syntax::Html, &options, self.depth + 1, &mut extractor.page);
        for link in extractor.page.links.iter() {
            let is_guess = matches!(place, LinkPlace::Comment | LinkPlace::Script);
            let kind = match link.kind {
                kind if !is_guess || kind == LinkKind::Embed => kind,
                _ => LinkKind::Mention,
            };
            let place = if link.place == LinkPlace::Markup { place } else { link.place };
            self.sink.add(link.href, kind, place);
        }
        *self.sink.cut |= extractor.page.links_cut;
    }

    /// An address that only strict judgement tells from other values.
    fn mention(&mut self, value: &str, place: LinkPlace) {
        let value = value.trim_ascii();
        if self.reads_all() && is_address(value, Context::Bare) {
            self.sink.add(value, LinkKind::Mention, place);
        }
    }
}

/// What stands inside an element.
fn content_of(tag: &str, media_type: &str) -> Content {
    match tag {
        "script" => {
            let media_type = media_type.trim_ascii().to_ascii_lowercase();
            match media_type.as_str() {
                kind if kind.contains("json") => Content::Json,
                "importmap" | "speculationrules" => Content::Json,
                "" | "module" | "jsx" | "text/babel" => Content::Script,
                kind if kind.contains("javascript") || kind.contains("ecmascript") => {
                    Content::Script
                }
                kind if kind.contains("html") || kind.contains("template") => Content::Template,
                _ => Content::Other,
            }
        }
        "style" => Content::Style,
        "noembed" | "noscript" | "iframe" => Content::Markup,
        "textarea" => Content::Other,
        _ => Content::Text,
    }
}

/// Adds the addresses in a JSON document.
pub(crate) fn json_links(json: &str, sink: &mut LinkSink<'_>) {
    read_json(json, &mut |JsonString { key, value }| {
        let Some(context) = json_context(key) else { return };
        if is_address(value, context) {
            sink.add(value, LinkKind::Mention, LinkPlace::Json);
        }
    });
}

/// What a key says of its value; `None` where it names formats and not addresses.
fn json_context(key: &str) -> Option<Context> {
    const FORMATS: [&str; 6] = ["@context", "@type", "@vocab", "$schema", "xmlns", "namespace"];
    const ADDRESSES: [&str; 8] =
        ["url", "href", "link", "uri", "src", "permalink", "path", "location"];
    if FORMATS.contains(&key) {
        return None;
    }
    let key = key.to_ascii_lowercase();
    let named = ADDRESSES.iter().any(|name| key.ends_with(name));
    Some(if named { Context::Named } else { Context::Bare })
}
