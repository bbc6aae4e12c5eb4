//! Is this change what a watch waits for, and which passage shows it?

use std::borrow::Cow;
use std::collections::BTreeMap;

use evercrawl_regions::{PageFields, PageTree, Price};

use crate::facts::{Facts, Field};
use crate::folded::Folded;
use crate::passages::{WordChanges, around, shortened, word_changes};
use crate::watch::{Materials, Watch};

/// A page as it was at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageVersion {
    /// Its source, where it is HTML.
    pub html: Option<String>,
    /// What readers see, a line a block.
    pub text: String,
}

/// A page was visited, or came to another state.
#[derive(Clone, Debug, Default)]
pub struct Observation<'a> {
    /// Its URL.
    pub url: &'a str,
    /// Its host.
    pub host: &'a str,
    /// Its tags.
    pub tags: &'a [String],
    /// What the visit found: `new`, `changed`, `near`, `same`, `gone`.
    pub change: &'a str,
    /// The HTTP status.
    pub status: Option<u16>,
    /// Whether it may not be fetched from now on.
    pub refused: bool,
    /// The version before.
    pub before: Option<&'a PageVersion>,
    /// The version that the visit found.
    pub now: Option<&'a PageVersion>,
    /// The words that changed, without what is known as noise; `None` where nothing but noise did.
    pub news: Option<&'a WordChanges>,
    /// For how many seconds it has not changed, and since when.
    pub unchanged: Option<(f64, &'a str)>,
    /// For how many seconds it is gone, and since when.
    pub gone: Option<(f64, &'a str)>,
}

/// What a watch found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The passage that shows it.
    pub quote: String,
    /// The title of the page.
    pub title: Option<String>,
    /// The fields that the condition asks for, as people are told.
    pub fields: BTreeMap<String, String>,
    /// What is told: a finding with the same evidence on the same page is the same state of affairs. Empty where it
    /// tells of something that happened.
    pub evidence: String,
    /// Whether the same held before this change.
    pub held_before: bool,
    /// Whether it is a fault: the region that is watched is missing.
    pub region_missing: bool,
}

impl Watch {
    /// Whether it watches this page at all.
    pub fn is_about(&self, url: &str, host: &str, tags: &[String]) -> bool {
        let host_is = |wanted: &String| {
            let bare = host.split(':').next().unwrap_or(host);
            host == wanted
                || bare == wanted
                || bare.strip_suffix(wanted.as_str()).is_some_and(|rest| rest.ends_with('.'))
        };
        let by = |chosen: &crate::watch::Chosen| {
            chosen.hosts.iter().any(host_is)
                || chosen.tags.iter().any(|tag| tags.contains(tag))
                || chosen.urls.iter().any(|url_is| url_is.is_match(url))
        };
        let is_meant = self.of.is_empty()
            || (self.of.hosts.is_empty() || self.of.hosts.iter().any(host_is))
                && (self.of.tags.is_empty() || self.of.tags.iter().any(|tag| tags.contains(tag)))
                && (self.of.urls.is_empty() || self.of.urls.iter().any(|of| of.is_match(url)));
        is_meant && !by(&self.except)
    }

    /// Judges what was seen of a page. `is_false` says which passages were decided to be false alarms.
    pub fn judge(
        &self,
        seen: &Observation<'_>,
        materials: &Materials,
        is_false: &dyn Fn(&str) -> bool,
    ) -> Option<Finding> {
        let before = seen.before.map(|version| self.part_of(version));
        let now = seen.now.map(|version| self.part_of(version));
        if let Some(Part { found: false, .. }) = now {
            return self.missing_region(seen, before.as_ref());
        }
        // A region that was not there before has nothing to be compared with.
        let before = before.filter(|part| part.found);
        let mut facts = self.facts(seen, before.as_ref(), now.as_ref());
        self.look_for(&mut facts, materials, is_false);
        if !self.when.holds(&facts) {
            return None;
        }
        let quote = self.quote(&facts);
        if is_false(&quote) {
            return None;
        }
        let fields = self.when.fields();
        let shown =
            fields.iter().filter_map(|field| Some((field.name().to_owned(), facts.shown(*field)?)));
        let mut finding = Finding {
            title: facts.fields.title.clone(),
            fields: shown.collect(),
            evidence: self.evidence(&facts, seen, &quote),
            quote,
            ..Finding::default()
        };
        finding.held_before =
            self.held_before(seen, before, materials, is_false, &finding.evidence);
        Some(finding)
    }

    fn missing_region(&self, seen: &Observation<'_>, before: Option<&Part<'_>>) -> Option<Finding> {
        let css = self.region_css.as_deref().unwrap_or_default();
        Some(Finding {
            quote: format!("nothing on the page matches `{css}`"),
            evidence: "region missing".to_owned(),
            held_before: before.is_some_and(|before| !before.found),
            title: seen.now.and_then(|now| PageFields::read(now.html.as_deref()?).title),
            region_missing: true,
            ..Finding::default()
        })
    }

    /// The part of a version that is watched.
    fn part_of<'v>(&self, version: &'v PageVersion) -> Part<'v> {
        let (Some(region), Some(html)) = (&self.region, &version.html) else {
            return Part {
                found: self.region.is_none() || version.html.is_some(),
                text: Cow::Borrowed(&version.text),
                html: version.html.as_deref().map(Cow::Borrowed),
                page: version.html.as_deref(),
            };
        };
        let content = region.read(html);
        let found = content.is_some();
        let content = content.unwrap_or_default();
        Part {
            found,
            text: Cow::Owned(content.text),
            html: Some(Cow::Owned(content.html)),
            page: Some(html),
        }
    }

    fn facts<'f>(
        &self,
        seen: &Observation<'f>,
        before: Option<&Part<'_>>,
        now: Option<&Part<'_>>,
    ) -> Facts<'f> {
        // In a declared region nothing is noise.
        let words = match (&self.region, before, now) {
            (Some(_), Some(before), Some(now)) => Some(word_changes(&before.text, &now.text)),
            (Some(_), ..) => None,
            (None, ..) => seen.news.cloned(),
        };
        Facts {
            url: seen.url,
            host: seen.host,
            change: self.change_of(seen, words.as_ref()),
            status: seen.status,
            refused: seen.refused,
            unchanged_for: seen.unchanged.map(|(seconds, _)| seconds),
            gone_for: seen.gone.map(|(seconds, _)| seconds),
            words,
            fields: now.map(|now| self.fields_of(now)).unwrap_or_default(),
            fields_before: before.map(|before| self.fields_of(before)).unwrap_or_default(),
            text: now.map(|now| now.text.clone().into_owned()),
            text_before: before.map(|before| before.text.clone().into_owned()),
            ..Facts::default()
        }
    }

    /// What the change is, seen from the region.
    fn change_of<'f>(&self, seen: &Observation<'f>, words: Option<&WordChanges>) -> &'f str {
        match (&self.region, words, seen.change) {
            (None, ..) | (_, _, "new" | "gone") => seen.change,
            (Some(_), Some(words), _) if words.added + words.removed > 0 => "changed",
            (Some(_), ..) => "same",
        }
    }

    /// The declared fields of the region; what it does not declare, of the page; a price, where the region is small, as
    /// readers see it.
    fn fields_of(&self, part: &Part<'_>) -> PageFields {
        let Some(page) = part.page else { return PageFields::default() };
        let mut fields = PageFields::read_in(&PageTree::read(page));
        if self.region.is_some()
            && let Some(html) = &part.html
        {
            let own = PageFields::read_in(&PageTree::read(html));
            let as_read = || Price::in_text(&part.text).filter(|_| part.text.len() < LONGEST_PRICE);
            fields.price = own.price.or_else(as_read).or(fields.price);
            fields.availability = own.availability.or(fields.availability);
        }
        fields
    }

    fn look_for(
        &self,
        facts: &mut Facts<'_>,
        materials: &Materials,
        is_false: &dyn Fn(&str) -> bool,
    ) {
        let Some(text) = &facts.text else { return };
        facts.phrase =
            materials.phrases.as_ref().and_then(|phrases| phrases.first_use(text, is_false));
        facts.copied = materials.works.as_ref().and_then(|works| works.copied_in(text));
        if facts.copied.as_ref().is_some_and(|copied| is_false(&copied.passage)) {
            facts.copied = None;
        }
    }

    /// The passage that shows it best.
    fn quote(&self, facts: &Facts<'_>) -> String {
        let fields = self.when.fields();
        let asks = |field| fields.contains(&field);
        if let Some(found) = facts.phrase.as_ref().filter(|_| asks(Field::Phrase)) {
            return found.passage.clone();
        }
        if let Some(found) = facts.copied.as_ref().filter(|_| asks(Field::CopiedWords)) {
            return found.passage.clone();
        }
        for wanted in self.when.words() {
            let text = facts.text.as_deref().unwrap_or_default();
            let (folded, wanted) = (Folded::of(text), Folded::of(wanted).text);
            if let Some(at) = folded.text.find(&wanted) {
                let words = folded.word_at(at + 1)..folded.word_at(at + wanted.len() - 2) + 1;
                return around(text, folded.range(words));
            }
        }
        let asks_words =
            [Field::Change, Field::Score, Field::WordsAdded, Field::WordsRemoved, Field::Appears];
        match &facts.words {
            Some(words) if asks_words.into_iter().any(asks) => changed_words(words),
            _ => String::new(),
        }
    }

    /// What tells one state of affairs from another.
    fn evidence(&self, facts: &Facts<'_>, seen: &Observation<'_>, quote: &str) -> String {
        let fields = self.when.fields();
        if fields.iter().any(|field| field.is_event()) {
            return String::new();
        }
        let mut parts = Vec::new();
        for field in fields {
            let says = match field {
                Field::UnchangedFor => seen.unchanged.map(|(_, since)| since.to_owned()),
                Field::GoneFor => seen.gone.map(|(_, since)| since.to_owned()),
                Field::Phrase | Field::CopiedWords | Field::Contains => Some(quote.to_owned()),
                Field::Price => facts.number(field).map(|price| price.to_string()),
                _ => facts
                    .text(field)
                    .or_else(|| facts.number(field).map(|number| number.to_string())),
            };
            parts.push(format!("{}={}", field.name(), says.unwrap_or_default()));
        }
        parts.join("; ")
    }

    /// Whether the version before gave the same evidence.
    fn held_before(
        &self,
        seen: &Observation<'_>,
        before: Option<Part<'_>>,
        materials: &Materials,
        is_false: &dyn Fn(&str) -> bool,
        evidence: &str,
    ) -> bool {
        if evidence.is_empty() {
            return false;
        }
        if self.when.fields().into_iter().any(Field::is_lasting) {
            return true;
        }
        let Some(before) = before else { return false };
        let earlier = Observation { before: None, news: None, ..seen.clone() };
        let mut facts = self.facts(&earlier, None, Some(&before));
        self.look_for(&mut facts, materials, is_false);
        self.when.holds(&facts) && self.evidence(&facts, &earlier, &self.quote(&facts)) == evidence
    }
}

/// The longest region of which the first amount is its price.
const LONGEST_PRICE: usize = 300;

/// The part of a version that is watched.
struct Part<'a> {
    found: bool,
    text: Cow<'a, str>,
    html: Option<Cow<'a, str>>,
    page: Option<&'a str>,
}

fn changed_words(words: &WordChanges) -> String {
    let line = |mark: &str, text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then(|| format!("{mark} {}", shortened(&text)))
    };
    let lines = [line("−", &words.removed_text), line("+", &words.added_text)];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}
