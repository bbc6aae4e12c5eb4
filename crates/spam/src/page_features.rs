//! What does a reader see of a page, what is hidden, and where is the reader sent?

use std::collections::BTreeSet;

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use xxhash_rust::xxh3::xxh3_64;

/// The most text of a page that is read, in bytes, of each kind.
const MOST_TEXT: usize = 256 << 10;

/// The most hidden links and classes of a page that are read.
const MOST_HIDDEN_LINKS: usize = 200;
const MOST_CLASSES: usize = 200;

/// A page as its reader finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFeatures {
    /// Its title.
    pub title: String,
    /// The text that a reader sees, a paragraph, cell or item of a list a line.
    pub text: String,
    /// The text that styles written on the spot hide from a reader.
    pub hidden: String,
    /// How many links it has.
    pub links: usize,
    /// Where links lead that styles hide, as they are written: some of them.
    pub hidden_links: Vec<String>,
    /// What its elements are called by their classes, as hashes, each once: what its template is made of.
    pub classes: BTreeSet<u64>,
    /// Where a reader is sent at once, by an element or a script.
    pub sends_to: Option<String>,
}

impl PageFeatures {
    /// Reads an HTML page. External styles are not known, so what they hide counts as visible.
    pub fn of_html(html: &str) -> Self {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut reader = FeatureReader::default();
        for token in Tokenizer::new_with_emitter(html, emitter) {
            match token {
                Ok(Token::StartTag(tag)) => reader.open(&tag),
                Ok(Token::EndTag(tag)) => reader.close(&tag.name),
                Ok(Token::String(text)) => reader.read_text(&String::from_utf8_lossy(&text)),
                _ => {}
            }
        }
        reader.features
    }
}

#[derive(Default)]
struct FeatureReader {
    features: PageFeatures,
    /// The element around the current position whose text is not content.
    within: Option<Within>,
    /// The outermost hiding element, and how many of its name are open within it, itself included.
    hiding: Option<(Vec<u8>, u32)>,
    preformatted: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Within {
    Title,
    Script,
    /// Elements that are never displayed.
    Other,
}

impl FeatureReader {
    fn open(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        if !is_inline(name) {
            self.read("\n");
        }
        self.read_classes(tag);
        self.preformatted |= name == b"pre";
        self.within = match name {
            b"title" if self.features.title.is_empty() => Some(Within::Title),
            // Drawings in a page have titles of their own.
            b"title" => Some(Within::Other),
            b"script" => Some(Within::Script),
            b"style" | b"noscript" | b"template" => Some(Within::Other),
            _ => self.within,
        };
        match name {
            b"a" => self.read_link(tag),
            b"meta" => self.read_refresh(tag),
            b"body" => self.read_script(&attribute(tag, b"onload")),
            b"frame" | b"iframe" => self.read_frame(tag),
            _ => {}
        }
        match &mut self.hiding {
            Some((hiding, open)) if hiding == name => *open += 1,
            None if !is_empty(name) && !tag.self_closing && is_hidden(tag) => {
                self.hiding = Some((name.to_vec(), 1));
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        if matches!(name, b"title" | b"script" | b"style" | b"noscript" | b"template") {
            self.within = None;
        }
        if let Some((hiding, open)) = &mut self.hiding
            && hiding == name
        {
            *open -= 1;
            if *open == 0 {
                // What is hidden here and there is no text that goes on.
                self.read("\n");
                self.hiding = None;
            }
        }
        self.preformatted &= name != b"pre";
        if !is_inline(name) {
            self.read("\n");
        }
    }

    fn read_link(&mut self, tag: &StartTag<()>) {
        self.features.links += 1;
        if self.hiding.is_some() && self.features.hidden_links.len() < MOST_HIDDEN_LINKS {
            self.features.hidden_links.push(attribute(tag, b"href"));
        }
    }

    fn read_classes(&mut self, tag: &StartTag<()>) {
        let Some(classes) = tag.attributes.get(&b"class"[..]) else { return };
        for class in classes.split(u8::is_ascii_whitespace).filter(|class| !class.is_empty()) {
            if self.features.classes.len() < MOST_CLASSES {
                self.features.classes.insert(xxh3_64(class));
            }
        }
    }

    /// Line breaks are mere spaces unless they are shown.
    fn read_text(&mut self, text: &str) {
        if self.preformatted || !text.contains('\n') {
            self.read(text);
        } else {
            self.read(&text.replace('\n', " "));
        }
    }

    fn read(&mut self, text: &str) {
        let target = match (self.within, &self.hiding) {
            (Some(Within::Title), _) => &mut self.features.title,
            (Some(Within::Script), _) => return self.read_script(text),
            (Some(Within::Other), _) => return,
            (None, Some(_)) => &mut self.features.hidden,
            (None, None) => &mut self.features.text,
        };
        if target.len() + text.len() <= MOST_TEXT {
            target.push_str(text);
        }
    }

    /// `<meta http-equiv=refresh content="0; url=...">`, if the reader has no time to read.
    fn read_refresh(&mut self, tag: &StartTag<()>) {
        let is_refresh = attribute(tag, b"http-equiv").eq_ignore_ascii_case("refresh");
        let content = attribute(tag, b"content");
        let Some((seconds, target)) = content.split_once([';', ',']).filter(|_| is_refresh) else {
            return;
        };
        let at_once = seconds.trim().parse::<f64>().is_ok_and(|seconds| seconds <= 5.0);
        let target = target.trim();
        let target = match target.get(..4) {
            Some(word) if word.eq_ignore_ascii_case("url=") => &target[4..],
            _ => target,
        };
        if at_once {
            self.features.sends_to = Some(target.trim_matches(['"', '\'', ' ']).to_owned());
        }
    }

    /// A page of another's that lies over all of this one.
    fn read_frame(&mut self, tag: &StartTag<()>) {
        let style: String = attribute(tag, b"style").to_ascii_lowercase() + ";";
        let style: String = style.split_whitespace().collect();
        let whole = |name: &str| {
            style.contains(&format!("{name}:100"))
                || attribute(tag, name.as_bytes()).trim() == "100%"
        };
        let over = style.contains("position:fixed") || style.contains("position:absolute");
        let covers = tag.name.as_slice() == b"frame" || over && whole("width") && whole("height");
        if covers && self.features.sends_to.is_none() {
            self.features.sends_to = Some(attribute(tag, b"src"));
        }
    }

    /// A script that sends the reader on at once.
    fn read_script(&mut self, script: &str) {
        const LONG: usize = 4000;
        if script.len() <= LONG && self.features.sends_to.is_none() {
            let places = script.match_indices("location").map(|(at, _)| at);
            self.features.sends_to = places.filter_map(|at| script_redirect(script, at)).next();
        }
    }
}

/// Where `location`, at this place of a script, is set to an address, unless that waits for something that the
/// reader does.
fn script_redirect(script: &str, at: usize) -> Option<String> {
    let rest = &script[at..];
    let (before, quoted) = rest.split_at(rest.find(['"', '\''])?);
    let set = before.trim_end().ends_with('=') && !before.trim_end().ends_with("==");
    let called = ["replace(", "assign("].iter().any(|call| before.trim_end().ends_with(call));
    let plain = before.len() <= "location.replace (".len() && (set || called);
    let target = &quoted[1..=quoted[1..].find(['"', '\''])?];
    let sends = plain && target.contains('/') && is_run(&script[..at]);
    sends.then(|| target.to_owned())
}

/// Whether what follows some part of a script is run while the page is read, as far as brackets tell: not within a
/// function, unless a clock or the page's own arrival calls it.
fn is_run(before: &str) -> bool {
    const CALLERS: [&str; 4] = ["settimeout", "onload", "ready", "addeventlistener"];
    let mut open = Vec::new();
    for (at, c) in before.char_indices() {
        match c {
            '{' => open.push(at),
            '}' => drop(open.pop()),
            _ => {}
        }
    }
    open.iter().all(|&at| {
        let lead = before[..at].rsplit(['{', '}', ';']).next().unwrap_or_default();
        let lead = lead.to_ascii_lowercase();
        !lead.contains("function") && !lead.contains("=>")
            || lead.trim_start().starts_with("(function")
            || CALLERS.iter().any(|caller| lead.contains(caller))
    })
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> String {
    let value = tag.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned());
    value.unwrap_or_default()
}

/// Whether a tag hides its content.
fn is_hidden(tag: &StartTag<()>) -> bool {
    let style: String = attribute(tag, b"style").to_ascii_lowercase().split_whitespace().collect();
    let of = |name: &str| {
        let mut rules = style.split(';').filter_map(|rule| rule.split_once(':'));
        rules.find(|(rule, _)| *rule == name).map(|(_, value)| value)
    };
    let far_off = |name: &str| of(name).is_some_and(|value| value.starts_with("-9"));
    let is = |name: &str, values: &[&str]| of(name).is_some_and(|value| values.contains(&value));
    let background = of("background-color").or_else(|| of("background"));
    tag.attributes.contains_key(&b"hidden"[..])
        || is("display", &["none"])
        || is("visibility", &["hidden"])
        || is("font-size", &["0", "0px", "0pt", "0em", "1px"])
        || is("opacity", &["0", "0.0"])
        || ["text-indent", "left", "top", "margin-left"].into_iter().any(far_off)
        || of("color").is_some_and(|color| background == Some(color))
}

/// Elements that have no end, and so nothing in them.
fn is_empty(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"source"
            | b"track"
            | b"wbr"
    )
}

/// Elements within a word or a line.
fn is_inline(name: &[u8]) -> bool {
    matches!(
        name,
        b"a" | b"abbr"
            | b"b"
            | b"code"
            | b"em"
            | b"font"
            | b"i"
            | b"mark"
            | b"small"
            | b"span"
            | b"strong"
            | b"sub"
            | b"sup"
            | b"tt"
            | b"u"
            | b"wbr"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn what_is_hidden_is_told_from_what_is_seen() {
        for hiding in [
            "style='display: NONE'",
            "hidden",
            "style=\"color:#fff; background-color:#fff\"",
            "style='position:absolute;left:-9999px'",
            "style='font-size:0px'",
        ] {
            let html = format!("<p>seen</p><div {hiding}>a<div>b</div>c</div><p>too</p>");
            let features = PageFeatures::of_html(&html);
            assert_eq!(words(&features.text), ["seen", "too"], "{html}");
            assert_eq!(words(&features.hidden), ["a", "b", "c"], "{html}");
        }
        let apart = PageFeatures::of_html("x <i hidden>one two</i> y <i hidden>three</i> z");
        assert_eq!(apart.hidden.lines().collect::<Vec<_>>(), ["one two", "three"]);
        let open =
            PageFeatures::of_html("<div style='display:block;color:red'>a</div><input hidden>b");
        assert_eq!((words(&open.text).len(), open.hidden.as_str()), (2, ""));
    }

    #[test]
    fn scripts_styles_and_titles_are_not_text() {
        let html = "<title>T &amp; t</title><style>x{}</style><script>var y</script>a<b>b</b> c\
                    <svg><title>icon</title></svg>";
        let features = PageFeatures::of_html(html);
        assert_eq!((features.title.as_str(), words(&features.text)), ("T & t", vec!["ab", "c"]));
    }

    #[test]
    fn what_stands_apart_stands_on_lines_of_its_own() {
        let html = "<p>one\ntwo <b>three</b></p><ul><li>four<li>five</ul><pre>six\nseven</pre>";
        let features = PageFeatures::of_html(html);
        let lines: Vec<&str> = features.text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, ["one two three", "four", "five", "six", "seven"]);
    }

    #[test]
    fn readers_who_are_sent_on_are_noticed() {
        for (html, target) in [
            (
                "<meta http-equiv=Refresh content='0; URL=http://x.example/'>",
                Some("http://x.example/"),
            ),
            ("<meta http-equiv=refresh content='300;url=/'>", None),
            ("<meta http-equiv=refresh content=30>", None),
            (
                "<script>window.location.href = 'http://y.example/z';</script>",
                Some("http://y.example/z"),
            ),
            ("<script>location.replace(\"/a\")</script>", Some("/a")),
            ("<script>if (location == 'x') f()</script>", None),
            ("<script>print(location)</script>", None),
            ("<script>if (location == 'x/') f()</script>", None),
            ("<script>function go() { location = '/a' }</script>", None),
            ("<script>x.onclick = () => { location.href = '/a' }</script>", None),
            (
                "<script>var a = {}; setTimeout(function () { document.location = '/a' }, 9)</script>",
                Some("/a"),
            ),
            ("<script>(function () { if (a) { top.location.href='/a' } })()</script>", Some("/a")),
            ("<body onload=\"window.location='/a'\">", Some("/a")),
            ("<frameset rows='100%,*'><frame src='http://x.example/'>", Some("http://x.example/")),
            (
                "<iframe src='http://x.example/' width='100%' height='100%' style='position:fixed'>",
                Some("http://x.example/"),
            ),
            ("<iframe src='http://x.example/' width='100%'></iframe>", None),
        ] {
            assert_eq!(PageFeatures::of_html(html).sends_to.as_deref(), target, "{html}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_look(html in "(<[a-z]{1,5} (style|hidden|content)=['\"]?|</div>|é|\"|location='|[ -~]{0,6}){0,60}") {
            let features = PageFeatures::of_html(&html);
            prop_assert!(features.text.len() + features.hidden.len() <= 4 * html.len() + 8);
        }
    }
}
