//! Which addresses does a document name that is no page: a style sheet, a script, data, an image made of markup?

use crate::css::read_css;
use crate::html::{HtmlOptions, LinkKind, LinkPlace, LinkSink, LinkSources, json_links};
use crate::sniff::ContentKind;
use crate::strings::{ScriptBase, read_script, read_text};
use crate::web_manifest::{is_manifest, read_manifest};
use crate::{Document, Extractor};

/// What a text is written in, as far as it decides where addresses stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Css,
    Script,
    Json,
    Manifest,
    Plain,
}

impl Extractor {
    /// Reads where a text leads that is no page, as far as `options` ask for it.
    pub(crate) fn read_links_of_text(
        &mut self,
        kind: ContentKind,
        document: &Document<'_>,
        text: &str,
        options: &HtmlOptions,
    ) {
        self.page.clear();
        if options.sources == LinkSources::Pages {
            return;
        }
        let mut cut = false;
        let mut sink =
            LinkSink { links: &mut self.page.links, max: options.max_links, cut: &mut cut };
        let all = options.sources == LinkSources::All;
        match language(kind, document, text) {
            Some(Language::Css) => {
                read_css(text, &mut |a| sink.add(a, LinkKind::Embed, LinkPlace::Style));
            }
            Some(Language::Manifest) => read_manifest(text, &mut sink),
            Some(Language::Script) if all => {
                let mut found = |a: &str| sink.add(a, LinkKind::Mention, LinkPlace::Script);
                read_script(text, ScriptBase::Unknown, &mut found);
            }
            Some(Language::Json) if all => json_links(text, &mut sink),
            Some(Language::Plain) if all => {
                read_text(text, false, &mut |a| {
                    sink.add(a, LinkKind::Mention, LinkPlace::Text);
                });
            }
            _ => {}
        }
    }

    /// Reads where an image leads that is made of markup.
    pub(crate) fn read_links_of_svg(&mut self, document: &Document<'_>, options: &HtmlOptions) {
        let text = String::from_utf8_lossy(document.bytes);
        let options = HtmlOptions { max_text: 0, ..options.clone() };
        self.extract_xhtml(&text, &options);
    }
}

/// Whether a document is an image made of markup.
pub(crate) fn is_svg(document: &Document<'_>) -> bool {
    document.content_type.is_some_and(|found| found.trim_start().starts_with("image/svg+xml"))
}

fn language(kind: ContentKind, document: &Document<'_>, text: &str) -> Option<Language> {
    let declared = document.content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let declared = declared.trim().to_ascii_lowercase();
    let path = document.url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let named = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
    let is_vague = matches!(declared.as_str(), "" | "text/plain" | "application/octet-stream");
    Some(match kind {
        ContentKind::Robots => return None,
        ContentKind::Json if is_manifest(document.content_type, document.url, text) => {
            Language::Manifest
        }
        ContentKind::Json => Language::Json,
        _ if declared == "text/css" || is_vague && named(&[".css"]) => Language::Css,
        _ if declared.contains("javascript") || declared.contains("ecmascript") => Language::Script,
        _ if is_vague && named(&[".js", ".mjs"]) => Language::Script,
        _ => Language::Plain,
    })
}
